"""Everything that a memory holds as JSON lines, and those lines as a memory again: equal, record by record.

The first line names the format, the last one the digest of each section, and each line between them is one record:
``{"section": "turns", "record": {...}}``, oldest first. The words by which a record is found are made anew, vectors are
made anew when the memory is next opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import Any

import msgspec
import numpy as np

from ovos_persona_memory.errors import ConfigError, InvalidRequest, StoreError
from ovos_persona_memory.memory.migration import (
    ALL,
    STATES,
    TOGETHER,
    Digest,
    Section,
    Told,
    digest_of,
    mend_notes,
    refuse_unnamed,
    sections,
)
from ovos_persona_memory.memory.privacy import tombstones
from ovos_persona_memory.records import Document, Namespace, Scope
from ovos_persona_memory.stores import Store, StoredDocument

FORMAT, VERSION = "ovos-persona-memory", 1
OF_ONE_USER: dict[str, Callable[[Any], str]] = {
    "turns": lambda one: one.user_id,
    "memories": lambda one: one.user_id,
    "facts": lambda one: one[0].user_id,
    "changes": lambda one: one.user_id,
    "decisions": lambda one: one.user_id,
    "episodes": lambda one: one[0].user_id,
    "documents": lambda one: one.document.user_id,
    "notes": lambda one: one[0],
}
"""The sections of which a part belongs to one user, and whose a record is."""


@dataclass(frozen=True)
class Head:
    """The first line."""

    format: str
    version: int
    namespaces: list[str]
    counts: dict[str, int]
    """Records of each section."""
    user_id: str | None = None
    """Whose records these are; None: everything."""
    secrets: bool = False
    """Whether secrets that somebody asked to keep are among them."""


@dataclass(frozen=True)
class _Line:
    section: str
    record: Any


@dataclass(frozen=True)
class _Tail:
    digests: list[Digest]


@dataclass(frozen=True)
class _Document:
    """A stored document whose embedding is a list."""

    document: Document
    words: str
    embedding: list[float] | None


@dataclass(frozen=True)
class Wanted:
    """What is written."""

    namespaces: Sequence[str] = ("default",)
    user_id: str | None = None
    secrets: bool = False
    states: Sequence[str] = ()
    """Names of small values besides the memory's own."""

    @property
    def sections(self) -> list[Section]:
        """The sections in their order."""
        memories = Scope.whole() if self.secrets else ALL
        every = sections(tuple(self.namespaces), (*STATES, *self.states), memories)
        return (
            every if self.user_id is None else [_of_user(one, self.user_id) for one in every if one.name in OF_ONE_USER]
        )


def _of_user(section: Section, user_id: str) -> Section:
    whose, read = OF_ONE_USER[section.name], section.read
    return replace(section, read=lambda store: (one for one in read(store) if whose(one) == user_id))


def write_lines(store: Store, wanted: Wanted = Wanted(), told: Told = lambda *_: None) -> Iterator[bytes]:
    """The lines, each with its end. ConfigError where documents are in namespaces that are not named."""
    chosen = wanted.sections
    if wanted.user_id is None:
        refuse_unnamed(store, chosen)
    found = [digest_of(section, store) for section in chosen]
    counts = {one.section: one.count for one in found}
    yield _line(Head(FORMAT, VERSION, list(wanted.namespaces), counts, wanted.user_id, wanted.secrets))
    for section in chosen:
        for done, record in enumerate(section.read(store), start=1):
            yield _line(_Line(section.name, _plain(record)))
            if done % TOGETHER == 0 or done == counts[section.name]:
                told(section.name, done, counts[section.name])
    yield _line(_Tail(found))


def _line(value: Any) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def _plain(record: Any) -> Any:
    if isinstance(record, StoredDocument):
        embedding = None if record.embedding is None else record.embedding.tolist()
        return _Document(record.document, record.words, embedding)
    return record


def read_head(first: bytes) -> Head | None:
    """The head in a file's first line; None where it is another file."""
    try:
        head = msgspec.json.decode(first, type=Head)
    except msgspec.MsgspecError:
        return None
    if head.format != FORMAT:
        return None
    if head.version > VERSION:
        raise ConfigError(f"this export has format {head.version}, and this version knows {VERSION}: update first")
    return head


class Loading:
    """Puts the lines of an export into a store, and compares what came of it."""

    def __init__(self, store: Store, head: Head, states: Sequence[str] = ()) -> None:
        self._store, self._head = store, head
        self._wanted = Wanted(head.namespaces, head.user_id, head.secrets, states)
        self._sections = {one.name: one for one in self._wanted.sections}
        self._is_empty = not store.users()
        self._ledger = tombstones.Tombstones(store, lambda: 0.0)
        self._new: set[str] = set()
        """Ids of the turns and facts that were put: what belongs to others stays out, too."""
        self.added, self.left_out = Counter[str](), Counter[str]()
        """Records that were put, and that were there already or were forgotten here, by section."""

    def run(self, lines: Iterable[bytes], told: Told = lambda *_: None) -> list[Digest]:
        """Put everything; the digests of the sections, empty where the store held something before.

        A store that holds something keeps what it has: of an export comes what is not there, and what was not
        forgotten here. InvalidRequest for lines that cannot be read, StoreError where what came of them is not what the
        export says.
        """
        tail: _Tail | None = None
        notes: list[Any] = []
        for name, group in groupby(self._decoded(lines), key=lambda one: one[0]):
            if not name:
                tail = next(record for _, record in group)
            elif name not in self._sections:
                self.left_out[name] += sum(1 for _ in group)
            else:
                self._put(self._sections[name], (record for _, record in group), notes, told)
        if tail is None:
            raise InvalidRequest("file", "ends before its last line: it was cut short")
        with self._store.transaction():
            mend_notes(self._store, notes)
        return self._compared(tail) if self._is_empty else []

    def _decoded(self, lines: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
        for number, line in enumerate(lines, start=2):
            try:
                read = msgspec.json.decode(line)
                if "digests" in read:
                    yield "", msgspec.convert(read, _Tail)
                else:
                    yield str(read["section"]), self._record(str(read["section"]), read["record"])
            except (msgspec.MsgspecError, KeyError, TypeError) as error:
                raise InvalidRequest("file", f"line {number} cannot be read: {error}") from None

    def _record(self, name: str, read: Any) -> Any:
        section = self._sections.get(name)
        if section is None:
            return None
        if section.shape is not StoredDocument:
            return msgspec.convert(read, section.shape)
        one = msgspec.convert(read, _Document)
        return StoredDocument(
            one.document, one.words, None if one.embedding is None else np.array(one.embedding, dtype=np.float32)
        )

    def _put(self, section: Section, records: Iterator[Any], notes: list[Any], told: Told) -> None:
        done, total = 0, self._head.counts.get(section.name, 0)
        while part := list(islice(records, TOGETHER)):
            done += len(part)
            with self._store.transaction():
                new = part if self._is_empty else [one for one in part if self._is_new(section.name, one)]
                section.put(self._store, new)
            self._noted(section.name, new)
            self.added[section.name] += len(new)
            self.left_out[section.name] += len(part) - len(new)
            if section.name == "notes":
                notes += new
            told(section.name, done, total)

    def _noted(self, name: str, new: Sequence[Any]) -> None:
        if name == "turns":
            self._new.update(one.id for one in new)
        elif name == "facts":
            self._new.update(fact.id for fact, _ in new)

    def _is_new(self, name: str, one: Any) -> bool:
        """Whether a store that holds something takes a record in."""
        store = self._store
        match name:
            case "turns":
                return store.turn(one.id) is None and not self._forgotten(one)
            case "memories":
                return store.entry(one.key, one.user_id, one.persona_id) is None and not self._forgotten(one)
            case "facts":
                return store.fact_store.fact(one[0].id) is None and not self._forgotten(one[0])
            case "changes":
                return one.fact_id in self._new
            case "decisions":
                return one.turn_id in self._new
            case "episodes":
                return one[0].turn_id in self._new
            case "documents":
                space = Namespace(one.document.user_id, one.document.namespace)
                return store.document_store.get(space, one.document.id) is None
            case "notes":
                return store.note(one[0], one[1]) is None
        return False  # what holds for a whole memory: pauses, what was forgotten, small values

    def _forgotten(self, one: Any) -> bool:
        return self._ledger.was_forgotten(one.user_id, one.text, one.lang)

    def _compared(self, tail: _Tail) -> list[Digest]:
        wanted = {one.section: one for one in tail.digests}
        found = [digest_of(section, self._store) for section in self._sections.values()]
        differing = [one.section for one in found if wanted.get(one.section, one) != one]
        if differing:
            raise StoreError(f"what was taken in differs from the export in {', '.join(differing)}")
        return found
