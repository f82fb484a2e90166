"""Vectors kept apart from their texts: what such a place does, and one that is made of a document store."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ovos_persona_memory.records import Document, Entry, Namespace, Turn
from ovos_persona_memory.stores.base import Store
from ovos_persona_memory.stores.selecting import kind_of
from ovos_persona_memory.stores.vectors import doc_of, entry_text
from ovos_persona_memory.vectors import Bytes, Floats, normalised, quantised


@dataclass(frozen=True)
class Label:
    """What a vector belongs to."""

    doc: int
    """A turn's ``seq``, or minus an entry's."""
    user_id: str
    kind: str
    """turn or memory."""
    name: str
    """A turn's id, or an entry's key."""
    digest: str
    """Of the text that the vector was made from."""


def label_of(record: Turn | Entry) -> Label:
    """The label of a record's vector as its text is now."""
    name = record.id if isinstance(record, Turn) else record.key
    return Label(doc_of(record), record.user_id, kind_of(record), name, digest_of(text_of(record)))


def text_of(record: Turn | Entry) -> str:
    """What of a record is embedded."""
    return record.text if isinstance(record, Turn) else entry_text(record.key, record.text)


def digest_of(text: str) -> str:
    """A text, as far as it must be told from others."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class Shelf(ABC):
    """Vectors [dim] by index, user and ``Label.doc``. Driver errors arrive as a StoreError. Thread-safe."""

    @abstractmethod
    def keep(self, index: str, labels: Sequence[Label], rows: Bytes) -> None:
        """Keep vectors [n, dim], in place of those that the same docs of the same users had."""

    @abstractmethod
    def remove(self, index: str, user_id: str, docs: Sequence[int]) -> None:
        """Take vectors away; those that are not there stay away."""

    @abstractmethod
    def nearest(self, index: str, user_id: str, query: Floats, limit: int) -> list[tuple[Label, Bytes]]:
        """The ``limit`` vectors of a user that are nearest to ``query`` [dim], by and large, nearest first."""

    @abstractmethod
    def held(self, index: str, user_id: str, docs: Sequence[int]) -> Mapping[int, tuple[Label, Bytes]]:
        """The vectors of these docs of a user, as far as there are any."""

    @abstractmethod
    def labels(self, index: str) -> Iterator[Label]:
        """The label of every vector of every user, in no particular order."""

    @abstractmethod
    def drop(self, index: str) -> None:
        """Take all vectors of an index away."""


class DocumentShelf(Shelf):
    """Documents without text in a store of their own: any backend can keep vectors for any other."""

    def __init__(self, store: Store) -> None:
        self._store, self._documents = store, store.document_store

    def keep(self, index: str, labels: Sequence[Label], rows: Bytes) -> None:
        given = normalised(rows.astype(np.float32))
        with self._store.transaction():
            for label, row in zip(labels, given, strict=True):
                metadata = {"kind": label.kind, "name": label.name, "digest": label.digest}
                document = Document(str(label.doc), "", metadata, index, label.user_id)
                self._documents.put(document, "", row)

    def remove(self, index: str, user_id: str, docs: Sequence[int]) -> None:
        if docs:
            self._documents.delete(Namespace(user_id, index), [str(doc) for doc in docs])

    def nearest(self, index: str, user_id: str, query: Floats, limit: int) -> list[tuple[Label, Bytes]]:
        space = Namespace(user_id, index)
        if self._documents.dimension(space) != len(query):
            return []
        near = [int(one.id) for one in self._documents.nearest(normalised(query), space, limit)]
        held = self.held(index, user_id, near)
        return [held[doc] for doc in near if doc in held]

    def held(self, index: str, user_id: str, docs: Sequence[int]) -> Mapping[int, tuple[Label, Bytes]]:
        found = {doc: self._documents.get(Namespace(user_id, index), str(doc)) for doc in docs}
        return {
            doc: (_label(one.document), quantised(one.embedding))
            for doc, one in found.items()
            if one is not None and one.embedding is not None
        }

    def labels(self, index: str) -> Iterator[Label]:
        for user_id in self._store.users():
            for one in self._documents.held(Namespace(user_id, index)):
                yield _label(one.document)

    def drop(self, index: str) -> None:
        for user_id in self._store.users():
            self._documents.delete(Namespace(user_id, index))


def _label(document: Document) -> Label:
    told = document.metadata
    return Label(int(document.id), document.user_id, told["kind"], told["name"], told["digest"])
