"""The store in one SQLite file: the default."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace

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
    refuse_unstorable,
)
from ovos_persona_memory.stores.sql.where_clause import (
    OWNER,
    Where,
    holding_parts,
    is_whole_session,
    narrowed,
    owner_name,
)
from ovos_persona_memory.stores.sqlite import rows
from ovos_persona_memory.stores.sqlite.connection import SqliteDatabase
from ovos_persona_memory.stores.sqlite.deletion import CHUNK, SelectedRows, SqliteDeletion
from ovos_persona_memory.stores.sqlite.documents import SqliteDocuments
from ovos_persona_memory.stores.sqlite.episodes import SqliteEpisodes
from ovos_persona_memory.stores.sqlite.facts import SqliteFacts
from ovos_persona_memory.stores.sqlite.postings import BUDGET, TABLES, SqlitePostings, SqlitePostingsQuery
from ovos_persona_memory.stores.sqlite.rows import add_body, replaced_body
from ovos_persona_memory.stores.sqlite.session_notes import SqliteSessionNotes
from ovos_persona_memory.stores.sqlite.tombstones import SqliteTombstones
from ovos_persona_memory.stores.sqlite.turn_queries import SESSIONS, SqliteNeighbourQuery, around, newest_turns, talk
from ovos_persona_memory.stores.sqlite.users import NOBODY, SqliteUsers
from ovos_persona_memory.stores.sqlite.vectors import SqliteVectors

USERS = (
    "SELECT user_id FROM owner UNION SELECT user_id FROM fact UNION SELECT user_id FROM note"
    " UNION SELECT user_id FROM namespace"
)
OLDEST = "SELECT r.id FROM owner o CROSS JOIN turn r INDEXED BY turn_at ON r.owner = o.num WHERE r.at < ? LIMIT ?"
MIN_BUDGET = 100
NEWER = 2**62
"""A number above every seq."""
TIDIED, CHECKPOINTED = 50, 500
"""Turns that one step of tidying enters into the index, and after how many the journal is checkpointed."""
NEWEST = (
    "SELECT r.owner, r.seq, b.words FROM {table} r JOIN body b ON b.num = r.body WHERE r.seq <= ? ORDER BY r.seq DESC"
)
NEWEST_WORDS = "SELECT b.words FROM {table} r JOIN body b ON b.num = r.body{where} ORDER BY r.seq DESC LIMIT ?"


HAS_SECRETS = "SELECT 1 FROM entry WHERE owner = ? AND private = ? LIMIT 1"


class SqliteStore(SqliteDatabase):
    """Durable; owns its folder until closed. Texts are in ``body``, index terms in ``SqlitePostings``."""

    _untidy = 0
    """Turns entered into the index since the last checkpoint."""

    def _settle(self, connection: sqlite3.Connection) -> None:
        self._sql, self._index, self._notes = connection, SqlitePostings(connection), SqliteSessionNotes(connection)
        self._owners = SqliteUsers(connection)
        self._deletions = SqliteDeletion(connection, self._index, self._notes)
        self.episode_store = SqliteEpisodes(connection, self.transaction, self._reading)
        self.ledger_store = SqliteTombstones(connection, self.transaction, self._reading)
        both = (self.transaction, self.unsynced)
        self.vector_store = self._vectors = SqliteVectors(connection, both, self._reading, self._records)
        self.document_store = SqliteDocuments(connection, self.transaction, self._reading, self._vectors.wake)
        self.fact_store = SqliteFacts(connection, self.transaction, self._reading)
        if not self._index_works():
            self._rebuild_index()
        if self._pending():
            self.purge()
            self.compact()

    def _undone(self) -> None:
        self._index.undone()
        self._vectors.undone()

    def tidy(self) -> bool:
        with self.transaction():
            before, left = self._index.entered_to, self._index.enter(TIDIED)
            self._untidy += self._index.entered_to - before
        if not left and self._untidy >= CHECKPOINTED:
            self._untidy = 0
            with self._reading():
                self._one("PRAGMA wal_checkpoint(PASSIVE)")
        return left > 0

    # users and bodies

    def _owner_in(self, scope: Scope) -> int | None:
        """The number of the scope's user, ``NOBODY`` for an unknown user; None: everybody."""
        if scope.user_id is None:
            return None
        return self._owners.number(scope.user_id) or NOBODY

    def _replaced_body(self, num: int, body: rows.Body) -> int:
        return replaced_body(self._sql, num, body)

    def _reindex(self, doc: int, old: tuple[int, str], new: tuple[int, str]) -> None:
        """Replace the postings of a document; ``old`` and ``new`` are owner and words."""
        if old != new:
            self._index.remove(old[0], [(doc, old[1])])
            self._index.add(new[0], doc, new[1])
            self._index.drop_owner(old[0])

    # turns

    def add_turn(self, turn: Turn, words: str) -> Turn:
        return self.add_turns([(turn, words)])[0]

    def add_turns(self, turns: Sequence[tuple[Turn, str]], fresh: bool = False) -> list[Turn]:
        for turn, words in turns:
            refuse_unstorable(turn, words)
        with self._reading():
            if not fresh and any(self._one("SELECT 1 FROM turn WHERE id = ?", turn.id) for turn, _ in turns):
                raise StoreError("there is a turn with this id already")
            with self.transaction():
                users = dict.fromkeys((turn.user_id, turn.lang) for turn, _ in turns)
                owners = {user_id: self._owners.made(user_id, lang) for user_id, lang in users}
                kept = [self._added(turn, words, owners[turn.user_id]) for turn, words in turns]
                self._vectors.wake()
                return kept

    def _added(self, turn: Turn, words: str, owner: int) -> Turn:
        body = add_body(self._sql, rows.turn_body(turn, words))
        seq = self._sql.execute(rows.ADD_TURN, (owner, body, *rows.turn_values(turn))).lastrowid or 0
        self._index.add(owner, seq, words)
        return replace_fast(turn, seq=seq)

    def change_turn(self, turn: Turn, words: str) -> None:
        refuse_unstorable(turn, words)
        with self._reading():
            old = self._one(
                "SELECT r.seq, r.owner, r.body, b.words FROM turn r JOIN body b ON b.num = r.body WHERE r.id = ?",
                turn.id,
            )
            if not old:
                raise UnknownEntry("there is no turn with this id")
            with self.transaction():
                seq, old_owner, old_body, old_words = old
                owner = self._owners.made(turn.user_id, turn.lang)
                body = self._replaced_body(old_body, rows.turn_body(turn, words))
                self._sql.execute(rows.CHANGE_TURN, (owner, body, *rows.turn_values(turn), seq))
                self._reindex(seq, (old_owner, old_words), (owner, words))
                self._vectors.moved(seq, (old_owner, old_body), (owner, body), turn)

    def turn(self, turn_id: str) -> Turn | None:
        with self._reading():
            row = self._one(f"{rows.TURNS} WHERE r.id = ?", turn_id)
        return rows.turn_of(row)[0] if row else None

    def turns(
        self, scope: Scope, limit: int | None = None, since: float | None = None, until: float | None = None
    ) -> list[Turn]:
        with self._reading():
            owner = self._owner_in(scope)
            seqs = newest_turns(self._sql, Selection(scope, since=since, until=until), owner, limit)
            return [turn for turn, _ in self._turns_of(seqs[::-1])]

    def talk(self, scope: Scope, limit: int | None = None) -> tuple[list[Turn], int]:
        with self._reading():
            return talk(self._sql, scope, limit) if is_whole_session(scope) else super().talk(scope, limit)

    def moments(self, scope: Scope, since: float | None = None) -> list[tuple[float, str]]:
        with self._reading():
            where = rows.within(scope, self._owner_in(scope))
            where = where if since is None else where.also("r.at >= ?", since)
            return list(self._sql.execute(f"SELECT r.at, r.role FROM turn r{where}", where.values))

    def latest(self, user_id: str | None, limit: int) -> list[tuple[Turn, str]]:
        with self._reading():
            where = rows.within(Scope(), self._owner_in(Scope(user_id=user_id)))
            found = self._sql.execute(f"{rows.TURNS}{where} ORDER BY r.seq DESC LIMIT ?", (*where.values, limit))
            return [rows.turn_of(row) for row in found]

    def _turns_of(self, seqs: Sequence[int]) -> Iterator[tuple[Turn, str]]:
        """The turns with their words, in this order."""
        for start in range(0, len(seqs), CHUNK):
            part = json.dumps(seqs[start : start + CHUNK])
            found = self._sql.execute(rows.TURNS_LISTED, (part,)).fetchall()
            yield from zip(rows.turns_from(found), (row[-1] for row in found), strict=True)

    def oldest_turns(self, until: float, limit: int) -> list[str]:
        with self._reading():
            found = self._sql.execute(OLDEST, (until, limit))
            return [turn_id for (turn_id,) in found]

    def sessions(self, scope: Scope, limit: int | None = None) -> list[Session]:
        with self._reading():
            owner = self._owner_in(scope)
            where = rows.within(scope, owner).also("r.session_id IS NOT NULL")
            sql = SESSIONS.format(where=where)
            return [Session(*row) for row in self._sql.execute(sql, (*where.values, -1 if limit is None else limit))]

    def note(self, user_id: str, session_id: str) -> Note | None:
        with self._reading():
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
                kept = replace(entry, id=known.id, seq=known.seq, created_at=known.created_at)
                self._replace_entry(kept, words)
                return kept
            owner = self._owners.made(entry.user_id, entry.lang)
            body = add_body(self._sql, rows.entry_body(entry, words))
            values = (rows.hash_of(entry.key), owner, body, *rows.entry_values(entry))
            seq = self._sql.execute(rows.ADD_ENTRY, values).lastrowid or 0
            self._index.add(owner, -seq, words)
            self._vectors.wake()
            return replace(entry, seq=seq)

    def _replace_entry(self, entry: Entry, words: str) -> None:
        owner, old_body, old_words = self._one(
            "SELECT r.owner, r.body, b.words FROM entry r JOIN body b ON b.num = r.body WHERE r.seq = ?", entry.seq
        )
        body = self._replaced_body(old_body, rows.entry_body(entry, words))
        self._sql.execute(rows.CHANGE_ENTRY, (body, *rows.entry_values(entry), entry.seq))
        self._reindex(-entry.seq, (owner, old_words), (owner, words))
        self._vectors.moved(-entry.seq, (owner, old_body), (owner, body), entry)

    def entry(self, key: str, user_id: str, persona_id: str | None = None) -> Entry | None:
        refuse_unstorable(None, key, user_id, persona_id or "")
        with self._reading():
            sql = f"{rows.ENTRIES} WHERE r.owner = ? AND r.key_hash = ? AND {OWNER} = ?"
            row = self._one(sql, self._owners.number(user_id), rows.hash_of(key), owner_name(persona_id))
        return rows.entry_of(row)[0] if row else None

    def entries(self, scope: Scope, limit: int | None = None, offset: int = 0) -> list[Entry]:
        with self._reading():
            owner = self._owner_in(scope)
            where = rows.within(scope, owner, "memory")
            sql = f"{rows.ENTRIES}{where} ORDER BY r.updated_at DESC, r.seq DESC LIMIT ? OFFSET ?"
            values = (*where.values, -1 if limit is None else limit, offset)
            return [rows.entry_of(row)[0] for row in self._sql.execute(sql, values)]

    def has_secrets(self, user_id: str) -> bool:
        with self._reading():
            found = self._one(HAS_SECRETS, self._owners.number(user_id), SECRET_LEVEL)
        return found is not None

    # finding

    def documents(self, scope: Scope, kinds: frozenset[str]) -> Iterator[tuple[Turn | Entry, str]]:
        for kind, select, read in (("turn", rows.TURNS, rows.turn_of), ("memory", rows.ENTRIES, rows.entry_of)):
            last = 0
            while kind in kinds:
                where = narrowed(Where(), scope, kind).also("r.seq > ?", last)
                if scope.user_id is not None:
                    where = where.also("o.user_id = ?", scope.user_id)
                with self._reading():
                    found = self._sql.execute(f"{select}{where} ORDER BY r.seq LIMIT {CHUNK}", where.values).fetchall()
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
        with self._reading():
            owner = self._owner_in(scope)
            owners = self._index.owners_of(asked) if owner is None else [owner]
            gone = self._by_owner(without)
            query = SqlitePostingsQuery(
                scope, tuple(sorted(kinds)), limit, max(BUDGET // max(len(owners), 1), MIN_BUDGET)
            )
            queries = {owner: replace_fast(query, without=gone.get(owner, ())) for owner in owners} if gone else {}
            matches = [
                match for owner in owners for match in self._index.search(owner, asked, queries.get(owner, query))
            ]
            matches.sort(key=lambda match: match.order)
            best = matches[:limit]
            found = self._records([match.doc for match in best])
        return [FoundRecord(found[match.doc], match.score, match.words) for match in best]

    def _by_owner(self, without: Sequence[ExcludedTurn]) -> dict[int, list[ExcludedTurn]]:
        found: dict[int, list[ExcludedTurn]] = {}
        for one in without:
            found.setdefault(self._owners.number(one.user_id) or NOBODY, []).append(one)
        return found

    def _records(self, docs: Sequence[int]) -> dict[int, Turn | Entry]:
        turns = {turn.seq: turn for turn, _ in self._turns_of([doc for doc in docs if doc > 0])}
        entries = {-entry.seq: entry for entry in self._entries_of([-doc for doc in docs if doc < 0])}
        return {**turns, **entries}

    def statistics(self, words: Sequence[str], user_id: str, without: Sequence[ExcludedTurn] = ()) -> Statistics:
        mine = [one for one in without if one.user_id == user_id]
        with self._reading():
            return self._index.statistics(self._owners.number(user_id) or NOBODY, words, mine)

    def languages(self, user_id: str, without: Sequence[ExcludedTurn] = ()) -> frozenset[str]:
        with self._reading():
            return self._owners.languages(user_id, without)

    def newest_words(  # more than five: a scope, and what is left out of it
        self,
        scope: Scope,
        kinds: frozenset[str],
        limit: int,
        without: Sequence[ExcludedTurn] = (),
        parts: Sequence[str] = (),
    ) -> list[str]:
        with self._reading():
            owner, newest = self._owner_in(scope), []
            for kind in sorted(kinds):
                where = rows.within(scope, owner, kind)
                where = rows.but_for(where, without) if kind == "turn" else where
                where = holding_parts(where, "instr(b.words, ?)", parts)
                sql = NEWEST_WORDS.format(table=TABLES[kind], where=where)
                newest += [words for (words,) in self._sql.execute(sql, (*where.values, limit))]
            return newest

    def around(
        self, turns: Sequence[Turn], reach: int, persona_id: str | None = None, without: Sequence[ExcludedTurn] = ()
    ) -> list[list[NeighbourTurn]]:
        with self._reading():
            owners = {user_id: self._owners.number(user_id) or NOBODY for user_id in {turn.user_id for turn in turns}}
            of_whom = [(turn, owners[turn.user_id]) for turn in turns]
            return around(self._sql, of_whom, SqliteNeighbourQuery(reach, persona_id, without))

    def _entries_of(self, seqs: Sequence[int]) -> Iterator[Entry]:
        for row in self._sql.execute(rows.ENTRIES_LISTED, (json.dumps(seqs),)):
            yield rows.entry_of(row)[0]

    def _index_works(self) -> bool:
        """Whether the newest documents are found by their words, and the index holds as many as there are."""
        turn = self._one(f"{NEWEST.format(table='turn')} LIMIT 1", self._index.entered_to)
        entry = self._one(f"{NEWEST.format(table='entry')} LIMIT 1", NEWER)
        held = all(self._index.holds(row[0], sign * row[1], row[2]) for row, sign in ((turn, 1), (entry, -1)) if row)
        counts = self._one("SELECT (SELECT count(*) FROM turn) + (SELECT count(*) FROM entry)")
        return held and self._index.documents() == counts[0]

    def _rebuild_index(self) -> None:
        self._repaired = True
        with self.transaction():
            self._index.clear()
            for record, words in self.documents(Scope.whole(), frozenset({"turn", "memory"})):
                doc = record.seq if isinstance(record, Turn) else -record.seq
                self._index.add(self._owners.made(record.user_id), doc, words)

    # forgetting

    def select(self, selection: Selection, limit: int | None = None) -> list[Turn | Entry]:
        with self._reading():
            turns, entries = self._deletions.records(selection, self._owner_in(selection.scope))
            return [*(turn for turn, _ in self._turns_of(turns[:limit])), *self._entries_of(entries)]

    def count(self, selection: Selection) -> Forgotten:
        with self._reading():
            chosen = self._deletions.chosen(selection, self._owner_in(selection.scope))
            return self._counted(selection, chosen)

    def delete(self, selection: Selection) -> Forgotten:
        with self.transaction():
            chosen = self._deletions.chosen(selection, self._owner_in(selection.scope))
            counted = self._counted(selection, chosen)
            self.episode_store.delete(self.episode_store.going(selection, self._deletions.turn_ids(chosen)))
            self._deletions.delete(chosen)
            self._vectors.deleted([*chosen.turns, *(-seq for seq in chosen.entries)])
            self.document_store.delete_selected(selection)
            self.fact_store.delete_selected(selection)
        return counted

    def _counted(self, selection: Selection, chosen: SelectedRows) -> Forgotten:
        documents = self.document_store.count_selected(selection)
        facts = self.fact_store.chosen(selection)
        sources = self._deletions.ids_among(chosen, [fact.turn_id for fact in facts if fact.turn_id])
        turns, entries, notes = len(chosen.turns), len(chosen.entries), len(chosen.notes)
        episodes = len(self.episode_store.going(selection, self._deletions.turn_ids(chosen)))
        return Forgotten(
            turns, entries, documents, notes, facts=count_learned_elsewhere(facts, sources), episodes=episodes
        )

    def notes(self, scope: Scope) -> list[tuple[str, str, Note]]:
        with self._reading():
            return self._notes.held(scope)

    def notes_retelling(self, turns: Sequence[Turn]) -> list[tuple[str, str]]:
        with self._reading():
            return [(user_id, session_id) for user_id, session_id, _ in self._notes.retelling([t.seq for t in turns])]

    def delete_notes(self, names: Sequence[tuple[str, str]]) -> int:
        with self.transaction():
            gone = self._notes.named(names)
            self._notes.delete(gone)
        return len(gone)

    # small state

    def pauses(self) -> list[Pause]:
        with self._reading():
            found = self._sql.execute("SELECT kind, name, since, until, may_write, may_read FROM pause ORDER BY since")
            return [Pause(Place(*names), since, until, bool(w), bool(r)) for *names, since, until, w, r in found]

    def put_pause(self, pause: Pause) -> None:
        refuse_unstorable(pause.place)
        values = (pause.place.kind, pause.place.name, pause.since, pause.until, pause.write, pause.read)
        with self.transaction():
            self._sql.execute("INSERT OR REPLACE INTO pause VALUES (?, ?, ?, ?, ?, ?)", values)

    def delete_pauses(self, pauses: Sequence[Pause]) -> None:
        names = [(pause.place.kind, pause.place.name, pause.since) for pause in pauses]
        with self.transaction():
            self._sql.executemany("DELETE FROM pause WHERE kind = ? AND name = ? AND since = ?", names)

    def state(self, name: str) -> str | None:
        with self._reading():
            row = self._one("SELECT b.text FROM state s JOIN body b ON b.num = s.body WHERE s.name = ?", name)
        return row[0] if row else None

    def put_state(self, name: str, value: str) -> None:
        refuse_unstorable(None, name, value)
        with self.transaction():
            old = self._one("SELECT body FROM state WHERE name = ?", name)
            body: rows.Body = (value, "", None, None, None)
            num = self._replaced_body(old[0], body) if old else add_body(self._sql, body)
            self._sql.execute("INSERT OR REPLACE INTO state (name, body) VALUES (?, ?)", (name, num))

    def users(self) -> list[str]:
        with self._reading():
            return [user_id for (user_id,) in self._sql.execute(USERS)]

    def counts(self) -> Counts:
        with self._reading():
            entries = self._one("SELECT count(*) FROM entry")[0]
            sessions = self._one(
                "SELECT count(*) FROM (SELECT DISTINCT owner, session_id FROM turn WHERE session_id IS NOT NULL)"
            )[0]
            facts = self._one("SELECT count(*) FROM fact WHERE status = 'active'")[0]
            return Counts(self._index.documents() - entries, entries, sessions, len(self.users()), facts)
