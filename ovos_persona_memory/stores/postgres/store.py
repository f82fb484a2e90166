"""The store in a PostgreSQL database: for several devices, rooms or households with one memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ovos_persona_memory.errors import StoreError, UnknownEntry
from ovos_persona_memory.records import (
    SECRET_LEVEL,
    Entry,
    Forgotten,
    Note,
    Pause,
    Place,
    Scope,
    Selection,
    Session,
    Turn,
    replace_fast,
)
from ovos_persona_memory.stores.base.facts import count_learned_elsewhere
from ovos_persona_memory.stores.base.store import (
    Counts,
    ExcludedTurn,
    FoundRecord,
    NeighbourTurn,
    Statistics,
    Store,
    refuse_unstorable,
)
from ovos_persona_memory.stores.postgres import rows
from ovos_persona_memory.stores.postgres import turn_queries as walks
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase, PostgresSettings
from ovos_persona_memory.stores.postgres.documents import PostgresDocuments
from ovos_persona_memory.stores.postgres.episodes import PostgresEpisodes
from ovos_persona_memory.stores.postgres.facts import PostgresFacts
from ovos_persona_memory.stores.postgres.insert_batch import InsertBatch
from ovos_persona_memory.stores.postgres.learning_queue import PostgresLearningQueue
from ovos_persona_memory.stores.postgres.postings import BUDGET, PostgresPostings, PostgresPostingsQuery
from ovos_persona_memory.stores.postgres.session_notes import PostgresSessionNotes
from ovos_persona_memory.stores.postgres.tombstones import PostgresTombstones
from ovos_persona_memory.stores.postgres.vectors import PostgresVectors
from ovos_persona_memory.stores.sql.where_clause import OWNER, Where, between, holding_parts, owner_name

CHUNK = 2000
MIN_BUDGET = 100
TIDIED = 100
"""Turns that one step of tidying enters into the index."""
USERS = " UNION ".join(
    f"SELECT user_id FROM {table} WHERE household = %(home)s" for table in ("turn", "entry", "fact", "note", "document")
)
COUNTS = (
    "SELECT (SELECT count(*) FROM turn WHERE household = %(home)s),"
    " (SELECT count(*) FROM entry WHERE household = %(home)s),"
    " (SELECT count(*) FROM (SELECT DISTINCT user_id, session_id FROM turn"
    " WHERE household = %(home)s AND session_id IS NOT NULL) s),"
    f" (SELECT count(*) FROM ({USERS}) u),"
    " (SELECT count(*) FROM fact WHERE household = %(home)s AND status = 'active')"
)


def open_postgres(settings: PostgresSettings | str) -> PostgresStore:
    """The store with these settings, or at this URL; its tables are made where there are none.

    A StoreError that says what to do where it cannot be reached, used or migrated. Several processes may have it open
    at the same time.
    """
    return PostgresStore(PostgresSettings(settings) if isinstance(settings, str) else settings)


class PostgresStore(Store):
    """Durable as far as the server is (``synchronous_commit`` must be on)."""

    durable = True
    shared = True

    def __init__(self, settings: PostgresSettings) -> None:
        self._home = settings.household
        self._db = PostgresDatabase(settings)
        self._notes = PostgresSessionNotes(self._db)
        self._late = InsertBatch(self._db)
        self.episode_store = PostgresEpisodes(self._db)
        self.ledger_store = PostgresTombstones(self._db)
        self.vector_store = self._vectors = PostgresVectors(self._db)
        self.document_store = PostgresDocuments(self._db, self._vectors)
        self.fact_store = PostgresFacts(self._db)
        self.unlearned = PostgresLearningQueue(self._db)
        self._words = PostgresPostings(self._db)
        try:
            self._mend_index()
        except BaseException:
            self.close()
            raise

    def _mend_index(self) -> None:
        """Rebuild the index where it does not find the newest documents: a database that came from elsewhere."""
        if self._words.works():
            return
        with self.transaction(), self._db.patiently():
            memories = self.documents(Scope.whole(), frozenset({"memory"}))
            self._words.rebuild([(entry.user_id, -entry.seq, words) for entry, words in memories])

    def tidy(self) -> bool:
        if not self._words.any_waiting():
            return False
        with self.transaction():
            return self._words.enter(TIDIED) == TIDIED

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._db.transaction():
            yield

    # turns

    def add_turn(self, turn: Turn, words: str) -> Turn:
        refuse_unstorable(turn, words)
        with self.transaction():
            added = self._db.one(rows.ADD_TURN, self._home, turn.user_id, *rows.turn_values(turn, words))
            if added:
                self._late.added += 1
                self._words.added()
                self._vectors.wake()
        if not added:
            raise StoreError("there is a turn with this id already")
        return replace_fast(turn, seq=added[0])

    def add_turns(self, turns: Sequence[tuple[Turn, str]], fresh: bool = False) -> list[Turn]:
        if len(turns) == 1 and not (fresh and self._late.added):
            return [self.add_turn(*turns[0])]
        for turn, words in turns:
            refuse_unstorable(turn, words)
        with self.transaction():
            kept = self._late.add(turns)
            if not fresh:
                self._late.write()
            for _ in kept:
                self._words.added()
            self._vectors.wake()
        return kept

    def change_turn(self, turn: Turn, words: str) -> None:
        refuse_unstorable(turn, words)
        sql = "SELECT user_id, seq, version, text, words FROM turn WHERE household = %s AND id = %s"
        old = self._db.one(sql, self._home, turn.id)
        if not old:
            raise UnknownEntry("there is no turn with this id")
        user_id, seq, version, text, old_words = old
        same = text == turn.text
        with self.transaction():
            values = (turn.user_id, version if same else None, *rows.turn_values(turn, words))
            self._db.run(rows.CHANGE_TURN, *values, self._home, user_id, seq)
            self._words.changed((user_id, seq, old_words), (turn.user_id, seq, words))
            self._words.know_languages([(turn.user_id, turn.lang)])
            self._vectors.changed("turn", user_id, replace(turn, seq=seq), same)

    def turn(self, turn_id: str) -> Turn | None:
        row = self._db.one(f"{rows.TURNS} WHERE r.household = %s AND r.id = %s", self._home, turn_id)
        return rows.turn_of(row)[0] if row else None

    def turns(
        self, scope: Scope, limit: int | None = None, since: float | None = None, until: float | None = None
    ) -> list[Turn]:
        where = between(rows.within(self._home, scope), "at", since, until)
        sql = f"{rows.TURNS}{where} ORDER BY r.seq DESC LIMIT %s"
        return rows.turns_from(reversed(self._db.all(sql, *where.values, limit)))

    def talk(self, scope: Scope, limit: int | None = None) -> tuple[list[Turn], int]:
        return walks.talk(self._db, scope, limit)

    def latest(self, user_id: str | None, limit: int) -> list[tuple[Turn, str]]:
        where = rows.within(self._home, Scope(user_id=user_id))
        found = self._db.all(f"{rows.TURNS}{where} ORDER BY r.seq DESC LIMIT %s", *where.values, limit)
        return [rows.turn_of(row) for row in found]

    def oldest_turns(self, until: float, limit: int) -> list[str]:
        sql = "SELECT id FROM turn WHERE household = %s AND at < %s LIMIT %s"
        return [turn_id for (turn_id,) in self._db.all(sql, self._home, until, limit)]

    def sessions(self, scope: Scope, limit: int | None = None) -> list[Session]:
        return walks.sessions(self._db, scope, limit)

    def note(self, user_id: str, session_id: str) -> Note | None:
        return self._notes.note(user_id, session_id)

    def put_note(self, user_id: str, session_id: str, note: Note) -> None:
        refuse_unstorable(note, user_id, session_id)
        with self.transaction():
            self._notes.put(user_id, session_id, note)

    # lasting memories

    def put_entry(self, entry: Entry, words: str) -> Entry:
        refuse_unstorable(entry, words)
        with self.transaction():
            known = self.entry(entry.key, entry.user_id, entry.persona_id)
            if known:
                return self._replaced(known, entry, words)
            added = self._db.one(rows.ADD_ENTRY, self._home, entry.user_id, *rows.entry_values(entry, words))
            self._words.put([(entry.user_id, -added[0], words)])
            self._words.know_languages([(entry.user_id, entry.lang)])
            self._vectors.wake()
        return replace(entry, seq=added[0])

    def _replaced(self, known: Entry, entry: Entry, words: str) -> Entry:
        kept = replace(entry, id=known.id, seq=known.seq, created_at=known.created_at)
        version, old_words = self._db.one(
            "SELECT version, words FROM entry WHERE household = %s AND user_id = %s AND seq = %s",
            self._home,
            kept.user_id,
            kept.seq,
        )
        same = known.text == kept.text
        values = (version if same else None, *rows.entry_values(kept, words))
        self._db.run(rows.CHANGE_ENTRY, *values, self._home, kept.user_id, kept.seq)
        self._words.changed((kept.user_id, -kept.seq, old_words), (kept.user_id, -kept.seq, words))
        self._words.know_languages([(kept.user_id, kept.lang)])
        self._vectors.changed("memory", kept.user_id, kept, same)
        return kept

    def entry(self, key: str, user_id: str, persona_id: str | None = None) -> Entry | None:
        refuse_unstorable(None, key, user_id, persona_id or "")
        where = rows.within(self._home, Scope(user_id=user_id), "memory").also("md5(r.key) = md5(%s)", key)
        where = where.also(f"md5({OWNER}) = md5(%s)", owner_name(persona_id)).also("r.key = %s", key)
        row = self._db.one(f"{rows.ENTRIES}{where}", *where.values)
        return rows.entry_of(row)[0] if row else None

    def entries(self, scope: Scope, limit: int | None = None, offset: int = 0) -> list[Entry]:
        where = rows.within(self._home, scope, "memory")
        sql = f"{rows.ENTRIES}{where} ORDER BY r.updated_at DESC, r.seq DESC LIMIT %s OFFSET %s"
        return [rows.entry_of(row)[0] for row in self._db.all(sql, *where.values, limit, offset)]

    def has_secrets(self, user_id: str) -> bool:
        where = rows.within(self._home, Scope(user_id=user_id, secrets=True)).also("r.private = %s", SECRET_LEVEL)
        return self._db.one(f"SELECT 1 FROM entry r{where} LIMIT 1", *where.values) is not None

    # finding

    def documents(self, scope: Scope, kinds: frozenset[str]) -> Iterator[tuple[Turn | Entry, str]]:
        for kind, select, read in (("turn", rows.TURNS, rows.turn_of), ("memory", rows.ENTRIES, rows.entry_of)):
            last = 0
            while kind in kinds:
                where = rows.within(self._home, scope, kind).also("r.seq > %s", last)
                found = self._db.all(f"{select}{where} ORDER BY r.seq LIMIT {CHUNK}", *where.values)
                if not found:
                    break
                last = found[-1][0]
                yield from map(read, found)

    def search(
        self,
        words: Sequence[str],
        scope: Scope,
        kinds: frozenset[str],
        limit: int,
        without: Sequence[ExcludedTurn] = (),
    ) -> list[FoundRecord]:
        asked = list(dict.fromkeys(word for word in words if word))
        users = self._words.users_of(asked) if scope.user_id is None else [scope.user_id]
        budget = max(BUDGET // max(len(users), 1), MIN_BUDGET)
        gone = {user_id: [one for one in without if one.user_id == user_id] for user_id in users}
        queries = [PostgresPostingsQuery(one, scope, tuple(sorted(kinds)), limit, budget, gone[one]) for one in users]
        matches = [match for query in queries for match in self._words.search(asked, query)]
        matches.sort(key=lambda match: match.order)
        best = matches[: max(limit, 0)]
        found = self._vectors.records([match.doc for match in best], scope.user_id)
        return [FoundRecord(found[match.doc], match.score, match.words) for match in best if match.doc in found]

    def statistics(self, words: Sequence[str], user_id: str, without: Sequence[ExcludedTurn] = ()) -> Statistics:
        return self._words.statistics(user_id, words, [one for one in without if one.user_id == user_id])

    def languages(self, user_id: str, without: Sequence[ExcludedTurn] = ()) -> frozenset[str]:
        return self._words.languages(user_id, without)

    def newest_words(  # more than five: a scope, and what is left out of it
        self,
        scope: Scope,
        kinds: frozenset[str],
        limit: int,
        without: Sequence[ExcludedTurn] = (),
        parts: Sequence[str] = (),
    ) -> list[str]:
        newest: list[str] = []
        for kind in sorted(kinds):
            table, where = {"turn": "turn", "memory": "entry"}[kind], rows.within(self._home, scope, kind)
            where = rows.but_for(where, without) if kind == "turn" else where
            where = holding_parts(where, "strpos(r.words, %s)", parts)
            sql = f"SELECT r.words FROM {table} r{where} ORDER BY r.seq DESC LIMIT %s"
            newest += [words for (words,) in self._db.all(sql, *where.values, limit)]
        return newest

    def around(
        self, turns: Sequence[Turn], reach: int, persona_id: str | None = None, without: Sequence[ExcludedTurn] = ()
    ) -> list[list[NeighbourTurn]]:
        return walks.around(self._db, turns, walks.PostgresNeighbourQuery(reach, persona_id, without)) if turns else []

    # forgetting

    def select(self, selection: Selection, limit: int | None = None) -> list[Turn | Entry]:
        turns, entries = rows.chosen_turns(self._home, selection), rows.chosen_entries(self._home, selection)
        found: list[Turn | Entry] = []
        if turns is not None:
            found += [rows.turn_of(row)[0] for row in self._in_parts(rows.TURNS, turns, limit)]
        if entries is not None:
            found += [rows.entry_of(row)[0] for row in self._in_parts(rows.ENTRIES, entries, None)]
        return found

    def _in_parts(self, select: str, where: Where, limit: int | None) -> Iterator[tuple[Any, ...]]:
        """Rows, newest first, in parts: no statement takes long, however many rows there are."""
        left, part = limit, where
        while left is None or left > 0:
            most = CHUNK if left is None else min(left, CHUNK)
            found = self._db.all(f"{select}{part} ORDER BY r.seq DESC LIMIT %s", *part.values, most)
            yield from found
            if len(found) < most:
                return
            left = None if left is None else left - most
            part = where.also("r.seq < %s", found[-1][0])

    def count(self, selection: Selection) -> Forgotten:
        chosen = self.select(selection)
        return self._counted(selection, [one for one in chosen if isinstance(one, Turn)], chosen)

    def _counted(self, selection: Selection, turns: list[Turn], chosen: Sequence[Turn | Entry]) -> Forgotten:
        turn_ids = [turn.id for turn in turns]
        return Forgotten(
            len(turns),
            len(chosen) - len(turns),
            self.document_store.count_selected(selection),
            len(self._notes.chosen(selection, turns)),
            facts=count_learned_elsewhere(self.fact_store.chosen(selection), set(turn_ids)),
            episodes=len(self.episode_store.going(selection, turn_ids)),
        )

    def delete(self, selection: Selection) -> Forgotten:
        with self.transaction(), self._db.patiently():
            chosen = self.select(selection)
            turns = [one for one in chosen if isinstance(one, Turn)]
            counted = self._counted(selection, turns, chosen)
            self._notes.delete(self._notes.chosen(selection, turns))
            self.episode_store.delete(self.episode_store.going(selection, [turn.id for turn in turns]))
            self._vectors.deleted(chosen)
            for table, gone in (("turn", turns), ("entry", [one for one in chosen if isinstance(one, Entry)])):
                self._delete_rows(table, gone)
            self._words.clean(sorted({one.user_id for one in chosen}))
            self.document_store.delete_selected(selection)
            self.fact_store.delete_selected(selection)
        return counted

    def _delete_rows(self, table: str, gone: Sequence[Turn | Entry]) -> None:
        sign = "-" if table == "entry" else ""
        sql = (
            f"DELETE FROM {table} r USING unnest(%s::text[], %s::bigint[]) g (user_id, seq)"
            " WHERE r.household = %s AND r.user_id = g.user_id AND r.seq = g.seq"
            f" RETURNING r.user_id, {sign}r.seq, r.words"
        )
        for start in range(0, len(gone), CHUNK):
            part = gone[start : start + CHUNK]
            users, seqs = [one.user_id for one in part], [one.seq for one in part]
            deleted = self._db.all(sql, users, seqs, self._home)
            self._words.remove([(user_id, doc, words) for user_id, doc, words in deleted])

    def notes(self, scope: Scope) -> list[tuple[str, str, Note]]:
        return self._notes.held(scope)

    def notes_retelling(self, turns: Sequence[Turn]) -> list[tuple[str, str]]:
        return self._notes.retelling(turns)

    def delete_notes(self, names: Sequence[tuple[str, str]]) -> int:
        with self.transaction():
            return self._notes.delete(names)

    def purge_later(self) -> None:
        pass

    def purge(self) -> None:
        if self._db.depth:
            raise StoreError("forgetting is finished after a transaction, not within")

    # small state

    def pauses(self) -> list[Pause]:
        sql = "SELECT kind, name, since, until, may_write, may_read FROM pause WHERE household = %s ORDER BY since"
        return [Pause(Place(*row[:2]), *row[2:]) for row in self._db.all(sql, self._home)]

    def put_pause(self, pause: Pause) -> None:
        refuse_unstorable(pause.place)
        values = (pause.place.kind, pause.place.name, pause.since, pause.until, pause.write, pause.read)
        with self.transaction():
            self._db.run(
                "INSERT INTO pause (household, kind, name, since, until, may_write, may_read)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (household, user_id, kind, name, since)"
                " DO UPDATE SET until = excluded.until, may_write = excluded.may_write, may_read = excluded.may_read",
                self._home,
                *values,
            )

    def delete_pauses(self, pauses: Sequence[Pause]) -> None:
        sql = "DELETE FROM pause WHERE household = %s AND kind = %s AND name = %s AND since = %s"
        with self.transaction():
            for pause in pauses:
                self._db.run(sql, self._home, pause.place.kind, pause.place.name, pause.since)

    def state(self, name: str) -> str | None:
        row = self._db.one("SELECT value FROM state WHERE household = %s AND name = %s", self._home, name)
        return row[0] if row else None

    def put_state(self, name: str, value: str) -> None:
        refuse_unstorable(None, name, value)
        with self.transaction():
            self._db.run(
                "INSERT INTO state (household, name, value) VALUES (%s, %s, %s)"
                " ON CONFLICT (household, user_id, name) DO UPDATE SET value = excluded.value",
                *(self._home, name, value),
            )

    def users(self) -> list[str]:
        return [user_id for (user_id,) in self._db.all(USERS.replace("%(home)s", "%s"), *[self._home] * 5)]

    def counts(self) -> Counts:
        return Counts(*self._db.one(COUNTS.replace("%(home)s", "%s"), *[self._home] * 9))

    def details(self) -> dict[str, Any]:
        return self._db.details()
