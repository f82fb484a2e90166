"""A store in this process's memory, for tests, guests and trials."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ovos_persona_memory.errors import StoreError, UnknownEntry
from ovos_persona_memory.records import Entry, Forgotten, Note, Pause, Place, Scope, Selection, Session, Turn
from ovos_persona_memory.stores.base.facts import EVERY_STATUS, count_learned_elsewhere
from ovos_persona_memory.stores.base.selection import in_scope, selected, takes_note
from ovos_persona_memory.stores.base.store import Counts, Store, refuse_unstorable
from ovos_persona_memory.stores.base.tombstones import KEPT, TombstoneStore
from ovos_persona_memory.stores.inmemory.documents import InMemoryDocuments
from ovos_persona_memory.stores.inmemory.episodes import InMemoryEpisodes
from ovos_persona_memory.stores.inmemory.facts import InMemoryFacts
from ovos_persona_memory.stores.inmemory.undo_log import UndoLog
from ovos_persona_memory.stores.inmemory.vectors import InMemoryVectors


class InMemoryTombstones(TombstoneStore):
    """One dict."""

    def __init__(self, changes: UndoLog) -> None:
        self._transaction, self._put, self._gone = changes.transaction, changes.put, changes.gone
        self._reading = changes.reading
        self._entered: MutableMapping[tuple[str, int], float] = changes.table("ledger")

    def add(self, name: str, hashes: Iterable[int], at: float) -> None:
        with self._transaction():
            for number in hashes:
                self._put(self._entered, (name, number), at)

    def at(self, name: str, number: int) -> float | None:
        with self._reading():
            return self._entered.get((name, number))

    def remove(self, name: str, hashes: Iterable[int]) -> None:
        with self._transaction():
            for place in {(name, number) for number in hashes} & self._entered.keys():
                self._put(self._entered, place, self._gone)

    def shorten(self, name: str) -> None:
        with self._transaction():
            listed = sorted((at, place) for place, at in self._entered.items() if place[0] == name)
            for _, place in listed[: -KEPT[name]]:
                self._put(self._entered, place, self._gone)

    def listed(self, name: str) -> list[tuple[int, float]]:
        with self._reading():
            return [(number, at) for (of, number), at in self._entered.items() if of == name]


_MISSING = object()


class InMemoryStore(Store):
    """Dicts; the search is the plain scan."""

    durable = False

    def __init__(self) -> None:
        self._lock = threading.RLock()  # guards everything below
        self._gone = _MISSING
        self._numbers: dict[str, int] = {}
        self._turns: MutableMapping[str, tuple[Turn, str]] = self._table("turn")
        self._entries: MutableMapping[tuple[str, ...], tuple[Entry, str]] = self._table("entry")
        self._pauses: MutableMapping[tuple[Place, float], Pause] = self._table("pause")
        self._states: MutableMapping[str, str] = self._table("state")
        self._notes: MutableMapping[tuple[str, str], tuple[Note, int]] = self._table("note")
        self._depth = 0
        self._failed = False
        self._undo: list[tuple[MutableMapping[Any, Any], Any, Any]] = []
        changes = self._changes()
        self.episode_store = InMemoryEpisodes(changes)
        self.ledger_store = InMemoryTombstones(changes)
        self.document_store = self._documents = InMemoryDocuments(changes, lambda: self.vector_store.wake())
        self.vector_store = self._vectors = InMemoryVectors(changes, self._documents.numbered)
        self.fact_store = InMemoryFacts(changes)

    def _changes(self) -> UndoLog:
        return UndoLog(self.transaction, self._reading, self._set, self._gone, self._table, self._next_number)

    def _table(self, name: str) -> MutableMapping[Any, Any]:
        return {}

    def _next_number(self, name: str) -> int:
        self._numbers[name] = self._numbers.get(name, 0) + 1
        return self._numbers[name]

    def close(self) -> None:
        pass

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._lock:
            self._depth += 1
            try:
                yield
                if self._failed and self._depth == 1:
                    raise StoreError("a part of the transaction failed")
            except BaseException:
                self._failed = True
                raise
            finally:
                self._depth -= 1
                if not self._depth:
                    self._end()

    def _end(self) -> None:
        undo, failed = self._undo, self._failed
        self._undo, self._failed = [], False
        for table, key, before in reversed(undo if failed else []):
            if before is _MISSING:
                table.pop(key, None)
            else:
                table[key] = before

    def _set(self, table: MutableMapping[Any, Any], key: Any, value: Any) -> None:
        self._undo.append((table, key, table.get(key, _MISSING)))
        if value is _MISSING:
            del table[key]
        else:
            table[key] = value

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
            yield

    def _last_seq(self) -> int:
        return self._numbers.get("seq", 0)

    def _next_seq(self) -> int:
        return self._next_number("seq")

    # turns

    def add_turn(self, turn: Turn, words: str) -> Turn:
        refuse_unstorable(turn, words)
        with self._lock:
            if turn.id in self._turns:
                raise StoreError("there is a turn with this id already")
            with self.transaction():
                kept = replace(turn, seq=self._next_seq())
                self._set(self._turns, kept.id, (kept, words))
                self._vectors.wrote(kept)
                return kept

    def change_turn(self, turn: Turn, words: str) -> None:
        refuse_unstorable(turn, words)
        with self._lock:
            if turn.id not in self._turns:
                raise UnknownEntry("there is no turn with this id")
            with self.transaction():
                seq = self._turns[turn.id][0].seq
                self._set(self._turns, turn.id, (replace(turn, seq=seq), words))
                self._vectors.wrote(replace(turn, seq=seq))

    def turn(self, turn_id: str) -> Turn | None:
        with self._reading():
            found = self._turns.get(turn_id)
        return found[0] if found else None

    def turns(
        self, scope: Scope, limit: int | None = None, since: float | None = None, until: float | None = None
    ) -> list[Turn]:
        window = Selection(scope, since=since, until=until)
        with self._reading():
            found = [turn for turn, _ in self._turns_in(scope) if selected(turn, window)]
        found.sort(key=lambda turn: turn.seq)
        return found if limit is None else found[max(len(found) - limit, 0) :]

    def sessions(self, scope: Scope, limit: int | None = None) -> list[Session]:
        by_session: dict[tuple[str, str], list[Turn]] = {}
        for turn in reversed(self.turns(scope)):
            if turn.session_id is not None:
                by_session.setdefault((turn.session_id, turn.user_id), []).append(turn)
        found = [_session(*names, turns) for names, turns in by_session.items()][:limit]
        return [replace(one, description=self._description(one)) for one in found]

    def _description(self, session: Session) -> str:
        note = self.note(session.user_id, session.session_id)
        return note.description if note else ""

    def note(self, user_id: str, session_id: str) -> Note | None:
        with self._reading():
            found = self._notes.get((user_id, session_id))
        return found[0] if found else None

    def put_note(self, user_id: str, session_id: str, note: Note) -> None:
        refuse_unstorable(note, user_id, session_id)
        with self.transaction():
            self._set(self._notes, (user_id, session_id), (note, self._last_seq()))

    # lasting memories

    def put_entry(self, entry: Entry, words: str) -> Entry:
        refuse_unstorable(entry, words)
        place = entry_key(entry)
        with self.transaction():
            if place in self._entries:
                old = self._entries[place][0]
                kept = replace(entry, id=old.id, seq=old.seq, created_at=old.created_at)
            else:
                kept = replace(entry, seq=self._next_seq())
            self._set(self._entries, place, (kept, words))
            self._vectors.wrote(kept)
            return kept

    def entry(self, key: str, user_id: str, persona_id: str | None = None) -> Entry | None:
        refuse_unstorable(None, key, user_id, persona_id or "")
        with self._reading():
            found = self._entries.get(_owned_key(user_id, key, persona_id))
        return found[0] if found else None

    def entries(self, scope: Scope, limit: int | None = None, offset: int = 0) -> list[Entry]:
        with self._reading():
            found = [entry for entry, _ in self._entries_in(scope) if in_scope(entry, scope)]
        found.sort(key=lambda entry: (-entry.updated_at, -entry.seq))
        return found[offset:] if limit is None else found[offset : offset + limit]

    # finding

    def documents(self, scope: Scope, kinds: frozenset[str]) -> Iterator[tuple[Turn | Entry, str]]:
        with self._reading():
            held: list[tuple[Turn | Entry, str]] = []
            held += sorted(self._turns_in(scope), key=_seq) if "turn" in kinds else ()
            held += sorted(self._entries_in(scope), key=_seq) if "memory" in kinds else ()
        return ((record, words) for record, words in held if in_scope(record, scope))

    def _turns_in(self, scope: Scope) -> Iterable[tuple[Turn, str]]:
        """The turns of a scope; others may be among them."""
        return self._turns.values()

    def _entries_in(self, scope: Scope) -> Iterable[tuple[Entry, str]]:
        """The entries of a scope; others may be among them."""
        return self._entries.values()

    # forgetting

    def count(self, selection: Selection) -> Forgotten:
        with self._reading():
            turns, entries, notes = self._chosen(selection)
            documents = self.document_store.count_selected(selection)
            facts = count_learned_elsewhere(self.fact_store.chosen(selection), {turn.id for turn in turns})
            episodes = len(self.episode_store.going(selection, [turn.id for turn in turns]))
        return Forgotten(len(turns), len(entries), documents, len(notes), facts=facts, episodes=episodes)

    def delete(self, selection: Selection) -> Forgotten:
        with self.transaction():
            count = self.count(selection)
            turns, entries, notes = self._chosen(selection)
            self.delete_notes(notes)
            self.episode_store.delete(self.episode_store.going(selection, [turn.id for turn in turns]))
            for turn in turns:
                self._vectors.deleted(turn)
                self._set(self._turns, turn.id, _MISSING)
            for entry in entries:
                self._vectors.deleted(entry)
                self._set(self._entries, entry_key(entry), _MISSING)
            self.document_store.delete_selected(selection)
            self.fact_store.delete_selected(selection)
        return count

    def _chosen(self, selection: Selection) -> tuple[list[Turn], list[Entry], list[tuple[str, str]]]:
        every, lasting = self._turns_in(selection.scope), self._entries_in(selection.scope)
        turns = [turn for turn, words in every if selected(turn, selection, words)]
        entries = [entry for entry, words in lasting if selected(entry, selection, words)]
        within = [names for names, (note, _) in self._notes.items() if takes_note(selection, *names, note)]
        return turns, entries, sorted({*within, *self.notes_retelling(turns)})

    def notes(self, scope: Scope) -> list[tuple[str, str, Note]]:
        with self._reading():
            held = [(*names, note) for names, (note, _) in self._notes.items()]
        return [one for one in held if scope.user_id in (None, one[0]) and scope.session_id in (None, one[1])]

    def notes_retelling(self, turns: Sequence[Turn]) -> list[tuple[str, str]]:
        with self._reading():
            last = {names: seq for names, (_, seq) in self._notes.items()}
        said = [((turn.user_id, turn.session_id or ""), turn.seq) for turn in turns]
        return sorted({names for names, seq in said if seq <= last.get(names, 0)})

    def delete_notes(self, names: Sequence[tuple[str, str]]) -> int:
        with self.transaction():
            held = [name for name in set(names) if name in self._notes]
            for name in held:
                self._set(self._notes, name, _MISSING)
        return len(held)

    def purge_later(self) -> None:
        pass

    def purge(self) -> None:
        pass

    # small state

    def pauses(self) -> list[Pause]:
        with self._reading():
            return list(self._pauses.values())

    def put_pause(self, pause: Pause) -> None:
        refuse_unstorable(pause.place)
        with self.transaction():
            self._set(self._pauses, (pause.place, pause.since), pause)

    def delete_pauses(self, pauses: Sequence[Pause]) -> None:
        with self.transaction():
            for names in {(pause.place, pause.since) for pause in pauses} & self._pauses.keys():
                self._set(self._pauses, names, _MISSING)

    def state(self, name: str) -> str | None:
        with self._reading():
            return self._states.get(name)

    def put_state(self, name: str, value: str) -> None:
        refuse_unstorable(None, name, value)
        with self.transaction():
            self._set(self._states, name, value)

    def users(self) -> list[str]:
        with self._reading():
            turns = {turn.user_id for turn, _ in self._turns.values()}
            entries, notes = {place[0] for place in self._entries}, {user_id for user_id, _ in self._notes}
            facts = {fact.user_id for fact, _ in self.fact_store.held(None, EVERY_STATUS)}
            return [*(turns | entries | facts | notes | self._documents.users())]

    def counts(self) -> Counts:
        with self._reading():
            turns = [turn for turn, _ in self._turns.values()]
            entries = [entry for entry, _ in self._entries.values()]
        sessions = {(turn.user_id, turn.session_id) for turn in turns if turn.session_id is not None}
        facts = len(self.fact_store.held(None))
        return Counts(len(turns), len(entries), len(sessions), len(self.users()), facts)


def entry_key(entry: Entry) -> tuple[str, ...]:
    """The key of an entry in its dict."""
    return _owned_key(entry.user_id, entry.key, entry.persona_id)


def _owned_key(user_id: str, key: str, persona_id: str | None) -> tuple[str, ...]:
    return (user_id, key) if persona_id is None else (user_id, key, persona_id)


def _session(session_id: str, user_id: str, turns: list[Turn]) -> Session:
    ats = [turn.at or 0.0 for turn in turns]
    return Session(session_id, user_id, len(turns), min(ats), max(ats))


def _seq(held: tuple[Turn | Entry, str]) -> int:
    return held[0].seq
