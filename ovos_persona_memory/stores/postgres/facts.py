"""Facts in the PostgreSQL store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ovos_persona_memory.records import Decision, Fact, FactChange, Scope
from ovos_persona_memory.stores.base import facts
from ovos_persona_memory.stores.base.facts import ACTIVE, DECISIONS_KEPT, DECISIONS_KEPT_S, FactQuery, FactStore
from ovos_persona_memory.stores.base.store import refuse_unstorable
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase
from ovos_persona_memory.stores.postgres.rows import NEXT, assigned, column_list, marks, within
from ovos_persona_memory.stores.sql.where_clause import Where

FIELDS = [*facts.FIELDS, "text", "speaker"]
COLUMNS = ["place", "words", "data", *FIELDS]
FACTS = f"SELECT r.seq, r.words, r.data, {column_list(FIELDS)} FROM fact r"
ADD = (
    f"INSERT INTO fact (household, seq, {', '.join(COLUMNS)}) VALUES (%s, {NEXT}, {marks(len(COLUMNS))}) RETURNING seq"
)
CHANGE = f"UPDATE fact SET {assigned(COLUMNS)} WHERE household = %s AND id = %s RETURNING seq"
CHANGED = "fact_id, what, at, user_id, turn_id, old, new"
DECIDED = "outcome, reason, at, user_id, turn_id, fact_id, slot"
SHORTEN = (
    "DELETE FROM decision WHERE household = %s AND (at < %s OR num <= (SELECT num FROM decision WHERE household = %s"
    f" ORDER BY num DESC OFFSET {DECISIONS_KEPT} LIMIT 1))"
)


class PostgresFacts(FactStore):
    """Runs in the store's transactions. A user's facts are few: the search is the plain scan."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._db, self._home = database, database.settings.household

    def put(self, fact: Fact, words: str) -> Fact:
        refuse_unstorable(fact, words, *fact.topics)
        data = json.dumps([fact.subject, fact.thing, fact.value, list(fact.topics)])
        values = [fact.place, words, data, *(getattr(fact, name) for name in FIELDS)]
        with self._db.transaction():
            known = self._db.one(CHANGE, *values, self._home, fact.id)
            (seq,) = known or self._db.one(ADD, self._home, *values)
        return replace(fact, seq=seq)

    def fact(self, fact_id: str) -> Fact | None:
        refuse_unstorable(None, fact_id)
        found = self._read(self._mine().also("r.id = %s", fact_id))
        return found[0][0] if found else None

    def _mine(self, user_id: str | None = None) -> Where:
        return within(self._home, Scope(user_id=user_id))

    def _read(self, where: Where, order: str = "", *more: Any) -> list[tuple[Fact, str]]:
        return [_fact_of(row) for row in self._db.all(f"{FACTS}{where}{order}", *where.values, *more)]

    def facts(self, wanted: FactQuery) -> list[Fact]:
        where = within(self._home, wanted.scope, "fact").also("r.status = ANY(%s)", sorted(wanted.statuses))
        if wanted.slot is not None:
            where = where.also("r.slot = %s", wanted.slot)
        if wanted.topic is not None:
            where = where.also("jsonb_exists(r.data::jsonb -> 3, %s)", wanted.topic)
        if wanted.at is not None:
            where = where.also("r.valid_from <= %s", wanted.at)
            where = where.also("(r.valid_until IS NULL OR r.valid_until > %s)", wanted.at)
        order = " ORDER BY r.last_seen_at DESC, r.seq DESC LIMIT %s OFFSET %s"
        return [fact for fact, _ in self._read(where, order, wanted.limit, wanted.offset)]

    def at_place(self, user_id: str, place: str, limit: int | None = None) -> list[Fact]:
        refuse_unstorable(None, user_id, place)
        where = self._mine(user_id).also("md5(r.place) = md5(%s)", place).also("r.place = %s", place)
        found = self._read(where, " ORDER BY r.valid_from DESC, r.seq DESC LIMIT %s", limit)
        return [fact for fact, _ in reversed(found)]

    def of_turns(self, turn_ids: Sequence[str]) -> list[Fact]:
        found = self._read(self._mine().also("r.turn_id = ANY(%s)", list(turn_ids)), " ORDER BY r.seq")
        return [fact for fact, _ in found]

    def held(self, user_id: str | None, statuses: frozenset[str] = ACTIVE) -> list[tuple[Fact, str]]:
        return self._read(self._mine(user_id).also("r.status = ANY(%s)", sorted(statuses)), " ORDER BY r.seq")

    # changes and decisions

    def add_change(self, change: FactChange) -> None:
        refuse_unstorable(change)
        values = [getattr(change, name) for name in CHANGED.split(", ")]
        with self._db.transaction():
            self._db.run(
                f"INSERT INTO fact_change (household, num, {CHANGED}) VALUES (%s, {NEXT}, {marks(len(values))})",
                *(self._home, *values),
            )

    def changes(self, fact_ids: Sequence[str]) -> list[FactChange]:
        sql = f"SELECT {CHANGED} FROM fact_change WHERE household = %s AND fact_id = ANY(%s) ORDER BY num"
        return [FactChange(*row) for row in self._db.all(sql, self._home, list(fact_ids))]

    def add_decision(self, decision: Decision) -> None:
        refuse_unstorable(decision)
        values = [getattr(decision, name) for name in DECIDED.split(", ")]
        with self._db.transaction():
            self._db.run(
                f"INSERT INTO decision (household, num, {DECIDED}) VALUES (%s, {NEXT}, {marks(len(values))})",
                *(self._home, *values),
            )
            self._db.run(SHORTEN, self._home, decision.at - DECISIONS_KEPT_S, self._home)

    def decisions(self, user_id: str | None, limit: int) -> list[Decision]:
        where = self._mine(user_id)
        sql = f"SELECT {DECIDED} FROM decision r{where} ORDER BY num DESC LIMIT %s"
        return [Decision(*row) for row in self._db.all(sql, *where.values, max(limit, 0))]

    # forgetting and moving

    def rename_user(self, user_id: str, into: str) -> None:
        refuse_unstorable(None, user_id, into)
        with self._db.transaction(), self._db.patiently():
            for table in ("fact", "fact_change", "decision"):
                sql = f"UPDATE {table} SET user_id = %s WHERE household = %s AND user_id = %s"
                self._db.run(sql, into, self._home, user_id)

    def delete(self, fact_ids: Sequence[str]) -> int:
        ids = sorted(set(fact_ids))
        with self._db.transaction():
            sql = "DELETE FROM fact WHERE household = %s AND id = ANY(%s) RETURNING id"
            gone = [one for (one,) in self._db.all(sql, self._home, ids)]
            self._db.run(
                "DELETE FROM fact_change WHERE household = %s AND fact_id = ANY(%s)",
                self._home,
                gone,
            )
        return len(gone)

    def delete_decisions_before(self, at: float) -> int:
        where = self._mine().also("r.at < %s", at)
        with self._db.transaction():
            return self._db.run(f"DELETE FROM decision r{where}", *where.values)

    def delete_decisions(self, user_id: str | None) -> None:
        where = self._mine(user_id)
        with self._db.transaction():
            self._db.run(f"DELETE FROM decision r{where}", *where.values)


def _fact_of(row: tuple[Any, ...]) -> tuple[Fact, str]:
    seq, words, data, *values = row
    subject, thing, value, topics = json.loads(data)
    fields = dict(zip(FIELDS, values, strict=True))
    return Fact(seq=seq, subject=subject, thing=thing, value=value, topics=tuple(topics), **fields), words
