"""Vectors in this process's memory; the searches are the plain scans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Entry, Namespace, Scope, Turn
from ovos_persona_memory.stores.base.documents import StoredDocument
from ovos_persona_memory.stores.base.selection import kind_of
from ovos_persona_memory.stores.base.vector_math import Bytes
from ovos_persona_memory.stores.base.vectors import PendingText, VectorIndex, VectorStore, doc_of, entry_text, is_held
from ovos_persona_memory.stores.inmemory.undo_log import UndoLog


class InMemoryVectors(VectorStore):
    """Two dicts: documents with the version of their text, and vectors with the version they were made from."""

    def __init__(
        self,
        changes: UndoLog,
        documents: Callable[[], dict[int, tuple[Namespace, StoredDocument]]],
    ) -> None:
        """``documents``: each by a number that is new whenever it is put."""
        self._numbered = documents
        self._of_documents: dict[tuple[str, int], Bytes] = {}
        self._transaction, self._put, self._gone = changes.transaction, changes.put, changes.gone
        self._documents: dict[int, tuple[Turn | Entry, int]] = {}
        self._indexes: dict[str, VectorIndex] = {}
        self._done_to: dict[str, int] = {}
        self._vectors: dict[tuple[str, int], tuple[int, Bytes]] = {}
        self._last = 0

    # notifications of the store

    def wrote(self, record: Turn | Entry) -> None:
        """Take note of a document that is new or was changed."""
        doc = doc_of(record)
        known = self._documents.get(doc)
        same = known is not None and _text(known[0]) == _text(record)
        if known is None or not same:
            self._last += 1
            self._take_out(doc)
            self.wake()
        self._put(self._documents, doc, (record, known[1] if known and same else self._last))

    def deleted(self, record: Turn | Entry) -> None:
        """Take note of a document that was deleted."""
        self._take_out(doc_of(record))
        self._put(self._documents, doc_of(record), self._gone)

    def _take_out(self, doc: int) -> None:
        for place in [place for place in self._vectors if place[1] == doc]:
            self._put(self._vectors, place, self._gone)

    # indexes

    def indexes(self) -> list[VectorIndex]:
        with self._transaction():
            return list(self._indexes.values())

    def start(self, index: VectorIndex) -> None:
        with self._transaction():
            if index.name in self._indexes:
                return
            if len(self._indexes) > 1:
                raise StoreError("there are two indexes already")
            self._put(self._indexes, index.name, index)
            self._put(self._done_to, index.name, 0)

    def drop(self, name: str) -> bool:
        with self._transaction():
            tables: tuple[dict[Any, Any], ...] = (self._vectors, self._of_documents)
            for held in tables:
                for place in [place for place in held if place[0] == name]:
                    self._put(held, place, self._gone)
            for table in (self._indexes, self._done_to):
                if name in table:
                    self._put(table, name, self._gone)
        return True

    def lag(self, name: str | None) -> int:
        with self._transaction():
            done_to = self._done_to.get(name or "", 0)
            new = sum(version > done_to for _, version in self._documents.values())
            return new + len(self._new_documents(name or "", None))

    def _new_documents(self, name: str, limit: int | None) -> list[PendingText]:
        new = [(number, held) for number, (_, held) in self._numbered().items()]
        texts = [(number, held.document.text if held.embedding is None else "") for number, held in new]
        return [PendingText("document", n, n, text) for n, text in texts if (name, n) not in self._of_documents][:limit]

    def pending(self, name: str, limit: int) -> list[PendingText]:
        with self._transaction():
            done_to = self._done_to[name]
            new = [(version, record) for record, version in self._documents.values() if version > done_to]
        new.sort(key=lambda one: one[0])
        taken = [
            PendingText(kind_of(record), doc_of(record), version, _text(record)) for version, record in new[:limit]
        ]
        return taken or self._new_documents(name, limit)

    def put(self, name: str, taken: Sequence[PendingText], vectors: Bytes) -> None:
        with self._transaction():
            if taken and taken[0].kind == "document":
                return self._put_documents(name, taken, vectors)
            for one, vector in zip(taken, vectors, strict=True):
                known = self._documents.get(one.doc)
                if known is not None and known[1] == one.version and vector.any():
                    self._put(self._vectors, (name, one.doc), (one.version, vector.copy()))
            if taken:
                self._put(self._done_to, name, taken[-1].version)
        return None

    def _put_documents(self, name: str, taken: Sequence[PendingText], vectors: Bytes) -> None:
        there = self._numbered()
        for place in [place for place in self._of_documents if place[1] not in there]:
            self._put(self._of_documents, place, self._gone)
        for one, vector in zip(taken, vectors, strict=True):
            if one.doc in there:
                self._put(self._of_documents, (name, one.doc), vector.copy())

    def documents(self, name: str, space: Namespace) -> list[tuple[str, Bytes]]:
        with self._transaction():
            held = [(number, one) for number, (where, one) in self._numbered().items() if where == space]
            known = [(one.document.id, self._of_documents.get((name, number))) for number, one in held]
        return [(document_id, vector) for document_id, vector in known if vector is not None and vector.any()]

    def held(self, name: str, scope: Scope, kinds: frozenset[str]) -> Iterator[tuple[Turn | Entry, Bytes]]:
        with self._transaction():
            vectors = [(doc, vector) for (index, doc), (_, vector) in self._vectors.items() if index == name]
            found = [(self._documents[doc][0], vector) for doc, vector in vectors]
        return ((record, vector) for record, vector in found if is_held(record, scope, kinds))


def _text(record: Turn | Entry) -> str:
    return record.text if isinstance(record, Turn) else entry_text(record.key, record.text, record.private)
