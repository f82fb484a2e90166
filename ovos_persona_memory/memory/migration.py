"""Everything that one store holds, put into another: in order, in parts, verified; the source stays as it is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, cached_property
from itertools import groupby, islice
from typing import Any

import msgspec

from ovos_persona_memory.errors import ConfigError, StoreError
from ovos_persona_memory.memory import retention
from ovos_persona_memory.memory.privacy import tombstones
from ovos_persona_memory.records import Decision, Entry, Episode, Fact, FactChange, Namespace, Note, Pause, Scope, Turn
from ovos_persona_memory.search import index_words
from ovos_persona_memory.stores import DECISIONS_KEPT, EVERY_STATUS, KEPT, Store, StoredDocument
from ovos_persona_memory.text import counted

STATE = "migration"
"""How far a migration has come, in the target: with the records of the same commit."""
TOGETHER = 1000
"""Records that share a commit."""
STATES = (tombstones.KEY, tombstones.LAST, retention.STATE)
ALL = Scope.everyone()

Told = Callable[[str, int, int], None]
"""Hears of a section, how many of its records are done, and how many there are."""


@dataclass(frozen=True)
class Digest:
    """What a section holds, as far as it can be compared."""

    section: str
    count: int
    sha256: str
    """Over all records in their order; the stores' own numbers are left out."""


@dataclass(frozen=True)
class Section:
    """One sort of records: how they are read, and how each is put."""

    name: str
    shape: Any
    """The type of a record as it is read and put."""
    read: Callable[[Store], Iterator[Any]]
    """In the same order whenever it is called."""
    put: Callable[[Store, list[Any]], None]
    """In one transaction."""
    told: Callable[[Any], Any]
    """What of a record is compared."""


class Migration:
    """From one store to an empty one, or to one in which the same migration was cut short."""

    def __init__(  # more than five: what comes along besides the records
        self,
        source: Store,
        target: Store,
        namespaces: Sequence[str] = ("default",),
        states: Sequence[str] = (),
        secrets: bool = False,
    ) -> None:
        """``namespaces``: of the documents, whose names no store tells; ``states``: small values besides our own.

        ``secrets``: those that somebody asked to keep come along, too.
        """
        self._source, self._target = source, target
        memories = Scope.whole() if secrets else ALL
        self._sections = sections(tuple(namespaces), (*STATES, *states), memories)
        self.left_out = 0 if secrets else sum(one.secret for one in source.entries(Scope.whole()))
        """Secrets that stay behind."""

    def run(self, told: Told = lambda *_: None) -> list[Digest]:
        """Put everything over and compare; the digests, which are the same for both.

        ConfigError where the target holds something else, or where documents are in namespaces that were not
        named; StoreError where the two differ in the end.
        """
        self._refuse_unnamed()
        begun = self._begun()
        for number, section in enumerate(self._sections):
            done = begun[1] if number == begun[0] else 0
            if number >= begun[0]:
                self._put_section(number, section, done, told)
        self._mend_notes()
        return self._compared()

    def _refuse_unnamed(self) -> None:
        refuse_unnamed(self._source, self._sections)

    def _begun(self) -> tuple[int, int]:
        """The section that is under way, and how many of its records are done."""
        with self._target.transaction():  # Redis finishes there what was committed and not yet written down everywhere
            kept = self._target.state(STATE)
        if kept:
            begun = json.loads(kept)
            if begun["of"] != self._identity:
                raise ConfigError("the target holds a part of another migration: give an empty one")
            return begun["section"], begun["done"]
        if self._target.users():
            raise ConfigError("the target is not empty: give an empty one")
        return 0, 0

    @cached_property
    def _identity(self) -> str:
        counts = asdict(self._source.counts())
        newest = [turn.id for turn in self._source.turns(ALL, limit=1)]
        return hashlib.sha256(json.dumps([counts, newest], sort_keys=True).encode()).hexdigest()

    def _put_section(self, number: int, section: Section, done: int, told: Told) -> None:
        of, total = self._identity, self._total(section)
        records = islice(section.read(self._source), done, None)
        while part := list(islice(records, TOGETHER)):
            with self._target.transaction():
                section.put(self._target, part)
                done += len(part)
                self._target.put_state(STATE, json.dumps({"of": of, "section": number, "done": done}))
            told(section.name, done, total)

    def _total(self, section: Section) -> int:
        if section.name == "turns":
            return self._source.counts().turns
        return sum(1 for _ in section.read(self._source))

    def _mend_notes(self) -> None:
        with self._target.transaction():
            mend_notes(self._target, list(_notes(self._source)))

    def _compared(self) -> list[Digest]:
        before = [digest_of(section, self._source) for section in self._sections]
        after = [digest_of(section, self._target) for section in self._sections]
        differing = [one.section for one, other in zip(before, after, strict=True) if one != other]
        if differing:
            raise StoreError(f"the two differ in {', '.join(differing)}: was something changed meanwhile?")
        self._target.put_state(STATE, "")
        self._target.purge()
        return after


def mend_notes(target: Store, notes: Sequence[tuple[str, str, Note, list[str]]]) -> None:
    """Put notes that tell by the number of another store which turns are left to them."""
    for user_id, session_id, note, (last,) in notes:
        turn = target.turn(last) if last else None
        target.put_note(user_id, session_id, replace(note, trimmed_to=turn.seq if turn else 0))


def refuse_unnamed(store: Store, sections: Sequence[Section]) -> None:
    """Raise ConfigError where documents are in namespaces of which the sections know nothing."""
    documents = next(one for one in sections if one.name == "documents")
    named, held = sum(1 for _ in documents.read(store)), store.document_store.count(None)
    if named != held:
        one, several = "document is in another namespace: name it", "documents are in other namespaces: name each"
        raise ConfigError(f"{counted(held - named, one, several)} with --namespace")


def digests(store: Store, namespaces: Sequence[str] = ("default",)) -> list[Digest]:
    """What a store holds, section by section; secrets are no part of it."""
    return [digest_of(section, store) for section in sections(tuple(namespaces), STATES, ALL)]


def digest_of(section: Section, store: Store) -> Digest:
    """What a store holds of one section."""
    sha, count = hashlib.sha256(), 0
    for record in section.read(store):
        sha.update(msgspec.json.encode(section.told(record), order="deterministic"))
        sha.update(b"\n")
        count += 1
    return Digest(section.name, count, sha.hexdigest())


def sections(namespaces: tuple[str, ...], states: tuple[str, ...], memories: Scope) -> list[Section]:
    """Everything that a store holds, in the order in which it is put. ``memories``: which of those come along."""
    put_entry = _each(lambda to, one: to.put_entry(one, index_words(one)))
    return [
        Section("turns", Turn, _turns, _put_turns, _without_numbers),
        Section("memories", Entry, lambda store: _entries(store, memories), put_entry, _without_numbers),
        *_learned(),
        Section(
            "documents",
            StoredDocument,
            lambda store: _documents(store, namespaces),
            _each(lambda to, one: to.document_store.put(one.document, one.words, one.embedding)),
            lambda one: [asdict(one.document), None if one.embedding is None else one.embedding.tolist()],
        ),
        *_kept_beside(states),
    ]


def _learned() -> list[Section]:
    """What was made of what was said: facts with their stories, and episodes."""
    return [
        Section(
            "facts",
            tuple[Fact, str],
            lambda store: iter(store.fact_store.held(None, EVERY_STATUS)),
            _each(lambda to, one: to.fact_store.put(*one)),
            lambda one: _without_numbers(one[0]),
        ),
        Section("changes", FactChange, _changes, _each(lambda to, one: to.fact_store.add_change(one)), asdict),
        Section(
            "decisions",
            Decision,
            lambda store: reversed(store.fact_store.decisions(None, DECISIONS_KEPT)),
            _each(lambda to, one: to.fact_store.add_decision(one)),
            asdict,
        ),
        Section(
            "episodes",
            tuple[Episode, str],
            _episodes,
            _each(lambda to, one: to.episode_store.add(*one)),
            lambda one: _without_numbers(one[0]),
        ),
    ]


def _kept_beside(states: tuple[str, ...]) -> list[Section]:
    """Notes of sessions, pauses, what was forgotten, and small values."""
    note, entered = tuple[str, str, Note, list[str]], tuple[str, float, list[int]]
    put_entered = _each(lambda to, one: to.ledger_store.add(one[0], one[2], one[1]))
    put_state = _each(lambda to, one: to.put_state(*one))
    return [
        Section("notes", note, _notes, _each(lambda to, one: to.put_note(*one[:3])), _told_note),
        Section("pauses", Pause, _pauses, _each(lambda to, one: to.put_pause(one)), asdict),
        Section("forgotten", entered, _entered, put_entered, list),
        Section("state", tuple[str, str], lambda store: _states(store, states), put_state, list),
    ]


def _each(put: Callable[[Store, Any], object]) -> Callable[[Store, list[Any]], None]:
    """Puts records one by one."""

    def put_all(to: Store, records: list[Any]) -> None:
        for record in records:
            put(to, record)

    return put_all


def _put_turns(to: Store, turns: list[Turn]) -> None:
    to.add_turns([(turn, index_words(turn)) for turn in turns])


def _turns(store: Store) -> Iterator[Turn]:
    return (one for one, _ in store.documents(ALL, frozenset({"turn"})) if isinstance(one, Turn))


def _entries(store: Store, memories: Scope) -> Iterator[Entry]:
    return iter(sorted(store.entries(memories), key=lambda one: (one.seq, one.id)))


def _changes(store: Store) -> Iterator[Any]:
    facts = [fact.id for fact, _ in store.fact_store.held(None, EVERY_STATUS)]
    return iter(store.fact_store.changes(facts))


def _episodes(store: Store) -> Iterator[Any]:
    return iter(sorted(store.episode_store.held(None), key=lambda one: one[0].seq))


def _documents(store: Store, namespaces: Sequence[str]) -> Iterator[Any]:
    for user_id in sorted(store.users()):
        for name in namespaces:
            yield from store.document_store.held(Namespace(user_id, name))


def _notes(store: Store) -> Iterator[tuple[str, str, Note, list[str]]]:
    for user_id, session_id, note in sorted(store.notes(ALL), key=lambda one: one[:2]):
        yield user_id, session_id, note, [_last_left(store, user_id, session_id, note) or ""]


def _last_left(store: Store, user_id: str, session_id: str, note: Note) -> str | None:
    """The id of the last turn that is left to a note; None where none is."""
    turns = store.turns(Scope(session_id, user_id)) if note.trimmed_to else []
    return next((turn.id for turn in reversed(turns) if turn.seq <= note.trimmed_to), None)


def _told_note(one: tuple[str, str, Note, list[str]]) -> Any:
    return [one[0], one[1], asdict(replace(one[2], trimmed_to=0)), one[3]]


def _pauses(store: Store) -> Iterator[Any]:
    return iter(sorted(store.pauses(), key=lambda one: (one.place.kind, one.place.name, one.since)))


def _entered(store: Store) -> Iterator[tuple[str, float, list[int]]]:
    for name in sorted(KEPT):
        listed = sorted((at, number) for number, at in store.ledger_store.listed(name))
        for at, numbers in groupby(listed, key=lambda one: one[0]):
            yield name, at, [number for _, number in numbers]


def _states(store: Store, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    held = ((name, store.state(name)) for name in sorted(names))
    return ((name, value) for name, value in held if value is not None)


def _without_numbers(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in _names(record.__class__)}


@cache
def _names(kind: type[Any]) -> list[str]:
    return [one.name for one in fields(kind) if one.name != "seq"]
