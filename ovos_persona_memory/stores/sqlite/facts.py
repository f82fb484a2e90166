"""Facts in the SQLite store: texts in ``body``, words and places by hash in tables of their own."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from math import fsum
from typing import Any

from ovos_persona_memory.records import Decision, Fact, FactChange, Scope
from ovos_persona_memory.stores.base.bm25 import set_of
from ovos_persona_memory.stores.base.facts import (
    ACTIVE,
    DECISIONS_KEPT,
    DECISIONS_KEPT_S,
    FIELDS,
    FactQuery,
    FactStore,
    FoundFact,
    found_order,
    weight_of,
)
from ovos_persona_memory.stores.base.store import refuse_unstorable
from ovos_persona_memory.stores.sql.where_clause import Where, narrowed
from ovos_persona_memory.stores.sqlite.rows import Body, add_body, empty_bodies, hash_of, replaced_body

LISTED_FIELDS = ", ".join("r." + name for name in FIELDS)
FACTS = (
    f"SELECT r.seq, b.text, b.words, b.speaker, b.data, {LISTED_FIELDS} FROM fact r CROSS JOIN body b ON b.num = r.body"
)
BY_ID = f"{FACTS} WHERE r.id = ?"
ADD = f"INSERT INTO fact (place_hash, body, {', '.join(FIELDS)}) VALUES ({', '.join('?' * (len(FIELDS) + 2))})"
CHANGE = f"UPDATE fact SET place_hash = ?, body = ?, {', '.join(f'{name} = ?' for name in FIELDS)} WHERE seq = ?"
MATCHES = (
    "SELECT w.hash, r.seq, r.user_id, ({narrowed}) FROM json_each(?) j CROSS JOIN fact_word w ON w.hash = j.value"
    " CROSS JOIN fact r ON r.seq = w.fact{where}"
)
CHANGES = (
    "SELECT c.fact_id, c.what, c.at, c.user_id, c.turn_id, b.name, b.text"
    " FROM fact_change c LEFT JOIN body b ON b.num = c.body"
)
DECIDED = "outcome, reason, at, user_id, turn_id, fact_id, slot"
Context = Callable[[], AbstractContextManager[None]]


class SqliteFacts(FactStore):
    """Works on the store's connection, within the store's transactions and under its lock."""

    def __init__(self, connection: sqlite3.Connection, transaction: Context, reading: Context) -> None:
        self._sql = connection
        self._transaction = transaction
        self._reading = reading

    def put(self, fact: Fact, words: str) -> Fact:
        refuse_unstorable(fact, words, *fact.topics)
        found = words if fact.status == "active" else ""
        with self._transaction():
            known = self._sql.execute("SELECT seq, body FROM fact WHERE id = ?", (fact.id,)).fetchone()
            body = _body(fact, words)
            num = replaced_body(self._sql, known[1], body) if known else add_body(self._sql, body)
            values = (hash_of(fact.place), num, *(getattr(fact, name) for name in FIELDS))
            if known:
                seq = int(known[0])
                self._sql.execute(CHANGE, (*values, seq))
                self._sql.execute("DELETE FROM fact_word WHERE fact = ?", (seq,))
            else:
                seq = self._sql.execute(ADD, values).lastrowid or 0
            rows = [(hash_of(word), seq) for word in set_of(found)]
            self._sql.executemany("INSERT INTO fact_word (hash, fact) VALUES (?, ?)", rows)
        return replace(fact, seq=seq)

    def fact(self, fact_id: str) -> Fact | None:
        refuse_unstorable(None, fact_id)
        found = self._read(BY_ID, (fact_id,))
        return found[0][0] if found else None

    def _read(self, sql: str, values: Sequence[Any]) -> list[tuple[Fact, str]]:
        with self._reading():
            return [_fact(row) for row in self._sql.execute(sql, values).fetchall()]

    def facts(self, wanted: FactQuery) -> list[Fact]:
        where = _with_status(_of_user(wanted.scope), wanted.statuses)
        if wanted.slot is not None:
            where = where.also("r.slot = ?", wanted.slot)
        if wanted.topic is not None:
            where = where.also("EXISTS (SELECT 1 FROM json_each(b.data, '$[3]') t WHERE t.value = ?)", wanted.topic)
        if wanted.at is not None:
            where = where.also("r.valid_from <= ?", wanted.at)
            where = where.also("(r.valid_until IS NULL OR r.valid_until > ?)", wanted.at)
        limit = -1 if wanted.limit is None else wanted.limit
        sql = f"{FACTS}{where} ORDER BY r.last_seen_at DESC, r.seq DESC LIMIT ? OFFSET ?"
        return [fact for fact, _ in self._read(sql, (*where.values, limit, wanted.offset))]

    def at_place(self, user_id: str, place: str, limit: int | None = None) -> list[Fact]:
        refuse_unstorable(None, user_id, place)
        newest = "WHERE r.user_id = ? AND r.place_hash = ? ORDER BY r.valid_from DESC, r.seq DESC LIMIT ?"
        found = self._read(f"{FACTS} {newest}", (user_id, hash_of(place), -1 if limit is None else limit))
        return [fact for fact, _ in reversed(found)]

    def of_turns(self, turn_ids: Sequence[str]) -> list[Fact]:
        sql = f"{FACTS} WHERE r.turn_id IN (SELECT value FROM json_each(?)) ORDER BY r.seq"
        return [fact for fact, _ in self._read(sql, (json.dumps(list(turn_ids)),))]

    def held(self, user_id: str | None, statuses: frozenset[str] = ACTIVE) -> list[tuple[Fact, str]]:
        where = _with_status(_of_user(Scope(user_id=user_id)), statuses)
        return self._read(f"{FACTS}{where} ORDER BY r.seq", where.values)

    # finding

    def search(self, words: Sequence[str], scope: Scope, limit: int) -> list[FoundFact]:
        by_hash = {hash_of(word): word for word in words if word}
        of_user, inside = _of_user(Scope(user_id=scope.user_id)), narrowed(Where(), scope, "fact")
        sql = MATCHES.format(narrowed=" AND ".join(inside.conditions) or "1", where=of_user)
        with self._reading():
            rows = self._sql.execute(sql, (*inside.values, json.dumps(list(by_hash)), *of_user.values)).fetchall()
            scores = self._scores(rows)
            best = sorted(scores, key=lambda seq: (-scores[seq], -seq))[: max(limit, 0)]
            found = {fact.seq: fact for fact in self._of_seqs(best)}
        held: dict[int, set[str]] = {}
        for number, seq, _, _ in rows:
            held.setdefault(seq, set()).add(by_hash[number])
        return sorted((FoundFact(found[seq], scores[seq], frozenset(held[seq])) for seq in best), key=found_order)

    def _scores(self, rows: Sequence[tuple[int, int, str, int]]) -> dict[int, float]:
        """The scores of the facts in scope; a term's frequency counts all active facts of its user."""
        frequency = Counter((user_id, number) for number, _, user_id, _ in rows)
        sizes = {user_id: self._active(user_id) for user_id in {row[2] for row in rows}}
        parts: dict[int, list[float]] = {}
        for number, seq, user_id, inside in rows:
            if inside:
                parts.setdefault(seq, []).append(weight_of(frequency[user_id, number], sizes[user_id]))
        return {seq: fsum(each) for seq, each in parts.items()}

    def _active(self, user_id: str) -> int:
        sql = "SELECT count(*) FROM fact WHERE user_id = ? AND status = 'active'"
        return int(self._sql.execute(sql, (user_id,)).fetchone()[0])

    def _of_seqs(self, seqs: Sequence[int]) -> list[Fact]:
        sql = f"{FACTS} WHERE r.seq IN (SELECT value FROM json_each(?))"
        return [fact for fact, _ in self._read(sql, (json.dumps(list(seqs)),))]

    # changes and decisions

    def add_change(self, change: FactChange) -> None:
        refuse_unstorable(change)
        with self._transaction():
            told = change.old is not None or change.new is not None
            body = add_body(self._sql, (change.new or "", "", None, change.old, None)) if told else None
            self._sql.execute(
                "INSERT INTO fact_change (fact_id, user_id, what, at, turn_id, body) VALUES (?, ?, ?, ?, ?, ?)",
                (change.fact_id, change.user_id, change.what, change.at, change.turn_id, body),
            )

    def changes(self, fact_ids: Sequence[str]) -> list[FactChange]:
        with self._reading():
            sql = f"{CHANGES} WHERE c.fact_id IN (SELECT value FROM json_each(?)) ORDER BY c.num"
            rows = self._sql.execute(sql, (json.dumps(list(fact_ids)),)).fetchall()
        return [
            FactChange(fact_id, what, at, user_id, turn_id, old, new or None)
            for fact_id, what, at, user_id, turn_id, old, new in rows
        ]

    def add_decision(self, decision: Decision) -> None:
        refuse_unstorable(decision)
        with self._transaction():
            one = decision
            row = (one.outcome, one.reason, one.at, one.user_id, one.turn_id, one.fact_id, one.slot)
            added = self._sql.execute(
                f"INSERT INTO decision ({DECIDED}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            self._sql.execute(
                "DELETE FROM decision WHERE num <= ? OR at < ?",
                ((added.lastrowid or 0) - DECISIONS_KEPT, one.at - DECISIONS_KEPT_S),
            )

    def decisions(self, user_id: str | None, limit: int) -> list[Decision]:
        where = Where() if user_id is None else Where(("user_id = ?",), (user_id,))
        sql = f"SELECT {DECIDED} FROM decision{where} ORDER BY num DESC LIMIT ?"
        with self._reading():
            return [Decision(*row) for row in self._sql.execute(sql, (*where.values, max(limit, 0)))]

    # forgetting and moving

    def rename_user(self, user_id: str, into: str) -> None:
        refuse_unstorable(None, user_id, into)
        with self._transaction():
            for table in ("fact", "fact_change", "decision"):
                self._sql.execute(f"UPDATE {table} SET user_id = ? WHERE user_id = ?", (into, user_id))

    def delete(self, fact_ids: Sequence[str]) -> int:
        ids = json.dumps(sorted(set(fact_ids)))
        with self._transaction():
            gone = self._sql.execute(
                "SELECT f.seq, f.body FROM json_each(?) j CROSS JOIN fact f ON f.id = j.value", (ids,)
            ).fetchall()
            changes = self._sql.execute(
                "SELECT c.num, c.body FROM json_each(?) j CROSS JOIN fact_change c ON c.fact_id = j.value", (ids,)
            ).fetchall()
            bodies = [body for _, body in (*gone, *changes) if body is not None]
            if bodies:
                empty_bodies(self._sql, bodies)
            self._sql.executemany("DELETE FROM fact_change WHERE num = ?", [(num,) for num, _ in changes])
            for statement in ("DELETE FROM fact_word WHERE fact = ?", "DELETE FROM fact WHERE seq = ?"):
                self._sql.executemany(statement, [(seq,) for seq, _ in gone])
        return len(gone)

    def delete_decisions_before(self, at: float) -> int:
        with self._transaction():
            return max(self._sql.execute("DELETE FROM decision WHERE at < ?", (at,)).rowcount, 0)

    def delete_decisions(self, user_id: str | None) -> None:
        where = Where() if user_id is None else Where(("user_id = ?",), (user_id,))
        with self._transaction():
            self._sql.execute(f"DELETE FROM decision{where}", where.values)


def _of_user(scope: Scope) -> Where:
    where = narrowed(Where(), scope, "fact")
    return where if scope.user_id is None else where.also("r.user_id = ?", scope.user_id)


def _with_status(where: Where, statuses: frozenset[str]) -> Where:
    return where.also("r.status IN (SELECT value FROM json_each(?))", json.dumps(sorted(statuses)))


def _body(fact: Fact, words: str) -> Body:
    data = json.dumps([fact.subject, fact.thing, fact.value, list(fact.topics)])
    return fact.text, words, fact.speaker, None, data


def _fact(row: tuple[Any, ...]) -> tuple[Fact, str]:
    seq, text, words, speaker, data, *values = row
    fields = dict(zip(FIELDS, values, strict=True))
    subject, thing, value, topics = json.loads(data)
    fact = Fact(
        text=text, seq=seq, speaker=speaker, subject=subject, thing=thing, value=value, topics=tuple(topics), **fields
    )
    return fact, words
