"""The port of external vector backends, which keep vectors apart from their texts, and one built on a document
store."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ovos_persona_memory.errors import StoreUnavailable
from ovos_persona_memory.records import Document, Entry, Namespace, Scope, Selection, Turn
from ovos_persona_memory.stores.base.selection import BOTH, kind_of
from ovos_persona_memory.stores.base.store import Counts, Store
from ovos_persona_memory.stores.base.vector_math import Bytes, Floats, normalised, quantised
from ovos_persona_memory.stores.base.vectors import doc_of, entry_text


class VectorBackendAway(StoreUnavailable):
    """The place of the vectors cannot be reached: search goes by words alone until it can be."""


@dataclass(frozen=True)
class TextSource:
    """The store of texts, as far as a vector backend needs it."""

    select: Callable[[Selection], Sequence[Turn | Entry]]
    documents: Callable[[Scope, frozenset[str]], Iterator[tuple[Turn | Entry, str]]]
    counts: Callable[[], Counts]
    transaction: Callable[[], AbstractContextManager[None]]
    state: Callable[[str], str | None]
    put_state: Callable[[str, str], None]


@dataclass(frozen=True)
class VectorLabel:
    """The identity of a vector: its record and the text that it was made from."""

    doc: int
    """A turn's ``seq``, or minus an entry's."""
    user_id: str
    kind: str
    """turn or memory."""
    id: str
    """The record's id."""
    digest: str
    """Digest of the text that the vector was made from."""


def label_of(record: Turn | Entry) -> VectorLabel:
    """The label of a record's vector as its text is now."""
    return VectorLabel(
        doc_of(record), record.user_id, kind_of(record), record.id or "", digest_of(embedded_text(record))
    )


Key = tuple[str, str, str]
"""Kind, id and user of a record."""


def key_of(label: VectorLabel) -> Key:
    """The key of the label's record."""
    return label.kind, label.id, label.user_id


def records_of(texts: TextSource, keys: Iterable[Key]) -> dict[Key, Turn | Entry]:
    """The records with these keys that exist."""
    of_users: dict[str, list[str]] = {}
    for _, record_id, user_id in keys:
        of_users.setdefault(user_id, []).append(record_id)
    asked = [Selection(Scope(user_id=user), ids=tuple(ids), kinds=BOTH) for user, ids in of_users.items()]
    found = [record for selection in asked for record in texts.select(selection)]
    return {key_of(label_of(record)): record for record in found}


def embedded_text(record: Turn | Entry) -> str:
    """The text of a record that is embedded."""
    return record.text if isinstance(record, Turn) else entry_text(record.key, record.text, record.private)


def digest_of(text: str) -> str:
    """A digest that tells texts apart."""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class VectorBackend(ABC):
    """Vectors [dim] by index, user and ``VectorLabel.doc``. Driver errors arrive as a StoreError. Thread-safe."""

    is_late: bool = False
    """Whether changes are made only after the transaction has ended, so that a vector may outlive its text."""

    @property
    def problem(self) -> str | None:
        """Why it cannot be used at the moment, in one sentence; None as far as is known."""
        return None

    def stored_label(self, label: VectorLabel) -> VectorLabel:
        """The label in the form in which the backend returns it."""
        return label

    @abstractmethod
    def keep(self, index: str, labels: Sequence[VectorLabel], rows: Bytes) -> None:
        """Store vectors [n, dim], in place of those that the same docs of the same users had."""

    @abstractmethod
    def remove(self, index: str, labels: Sequence[VectorLabel]) -> None:
        """Delete vectors; a missing one is no error."""

    def move(self, index: str, before: VectorLabel, after: VectorLabel) -> None:
        """Give a vector, where there is one, another label."""
        held = self.held(index, before.user_id, [before.doc])
        self.remove(index, [before])
        for _, vector in held.values():
            self.keep(index, [after], vector[None, :])

    @abstractmethod
    def nearest(self, index: str, user_id: str, query: Floats, limit: int) -> list[tuple[VectorLabel, Bytes]]:
        """The ``limit`` vectors of a user that are approximately nearest to ``query`` [dim], nearest first."""

    @abstractmethod
    def held(self, index: str, user_id: str, docs: Sequence[int]) -> Mapping[int, tuple[VectorLabel, Bytes]]:
        """The existing vectors of these docs of a user."""

    @abstractmethod
    def mend(self, index: str, wanted: Callable[[], Iterable[VectorLabel]]) -> list[VectorLabel]:
        """Delete every vector that has none of these labels; the labels that have no vector. ``wanted`` is called after
        the existing vectors were listed, so that what is written meanwhile stays."""

    @abstractmethod
    def drop(self, index: str) -> None:
        """Delete all vectors of an index."""

    # for backends whose changes are late

    def ending(self) -> Callable[[], bool] | None:
        """Called at the end of a transaction, within it: the work for after the commit; None: nothing.

        The work returns whether something is left to ``settle``, and raises a StoreError where it cannot be done.
        """
        return None

    def undone(self) -> None:  # noqa: B027 - nothing to do where nothing is late
        """Called within a transaction that fails: its changes are dropped."""

    def settle(self) -> None:  # noqa: B027 - likewise
        """Do all the work that is left; VectorBackendAway where it still cannot be done."""

    def close(self) -> None:  # noqa: B027 - likewise
        """Release everything."""

    def details(self) -> Mapping[str, Any]:
        """Details for the owner."""
        return {}


class DocumentVectorBackend(VectorBackend):
    """Vectors as documents without text in a store of their own: any backend can keep vectors for any other."""

    def __init__(self, store: Store) -> None:
        self._store, self._documents = store, store.document_store

    def keep(self, index: str, labels: Sequence[VectorLabel], rows: Bytes) -> None:
        given = normalised(rows.astype(np.float32))
        with self._store.transaction():
            for label, row in zip(labels, given, strict=True):
                metadata = {"kind": label.kind, "id": label.id, "digest": label.digest}
                document = Document(str(label.doc), "", metadata, index, label.user_id)
                self._documents.put(document, "", row)

    def remove(self, index: str, labels: Sequence[VectorLabel]) -> None:
        for user_id in {label.user_id for label in labels}:
            docs = [str(label.doc) for label in labels if label.user_id == user_id]
            self._documents.delete(Namespace(user_id, index), docs)

    def nearest(self, index: str, user_id: str, query: Floats, limit: int) -> list[tuple[VectorLabel, Bytes]]:
        space = Namespace(user_id, index)
        if self._documents.dimension(space) != len(query):
            return []
        near = [int(one.id) for one in self._documents.nearest(normalised(query), space, limit)]
        held = self.held(index, user_id, near)
        return [held[doc] for doc in near if doc in held]

    def held(self, index: str, user_id: str, docs: Sequence[int]) -> Mapping[int, tuple[VectorLabel, Bytes]]:
        found = {doc: self._documents.get(Namespace(user_id, index), str(doc)) for doc in docs}
        return {
            doc: (_label(one.document), quantised(one.embedding))
            for doc, one in found.items()
            if one is not None and one.embedding is not None
        }

    def mend(self, index: str, wanted: Callable[[], Iterable[VectorLabel]]) -> list[VectorLabel]:
        held = {(label.user_id, label.doc): label for label in self._labels(index)}
        lacking = [label for label in wanted() if held.pop((label.user_id, label.doc), None) != label]
        self.remove(index, list(held.values()))
        return lacking

    def _labels(self, index: str) -> Iterator[VectorLabel]:
        for user_id in self._store.users():
            for one in self._documents.held(Namespace(user_id, index)):
                yield _label(one.document)

    def drop(self, index: str) -> None:
        for user_id in self._store.users():
            self._documents.delete(Namespace(user_id, index))


def _label(document: Document) -> VectorLabel:
    told = document.metadata
    return VectorLabel(int(document.id), document.user_id, told["kind"], told.get("id", ""), told["digest"])
