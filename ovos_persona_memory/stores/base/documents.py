"""The document port: what every backend does, and the plain scans that fast searches are compared with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from ovos_persona_memory.records import Document, Namespace, Selection
from ovos_persona_memory.stores.base.bm25 import bm25, words_of
from ovos_persona_memory.stores.base.selection import BOTH
from ovos_persona_memory.stores.base.vector_math import Floats

ALONG = 1e-6
"""Cosines <= this are rounding errors: such documents have nothing in common with the query."""


@dataclass(frozen=True)
class StoredDocument:
    """A document with its index terms and embedding."""

    document: Document
    words: str
    embedding: Floats | None
    """float32 [dim], normalised."""


class DocumentStore(ABC):
    """Documents by user and namespace, with the promises of the Store that it belongs to.

    Each namespace has statistics of its own. ``wanted``: only documents whose metadata hold all of
    these pairs. Found documents carry their score, best first, of equal ones the last put first.
    """

    @abstractmethod
    def put(self, document: Document, words: str, embedding: Floats | None) -> None:
        """Keep a document, in place of the one with its id in its namespace.

        ``embedding``: float32 [dim], normalised, of the namespace's dimension.
        """

    @abstractmethod
    def get(self, space: Namespace, document_id: str) -> StoredDocument | None:
        """The document with this id; None where there is none."""

    @abstractmethod
    def held(self, space: Namespace) -> Iterator[StoredDocument]:
        """Every document, in the order in which they were put: what the plain scans read."""

    @abstractmethod
    def delete(self, space: Namespace, ids: Sequence[str] | None = None) -> int:
        """Delete the documents with these ids, None: all; how many they were. The Store's ``purge`` makes it gone."""

    @abstractmethod
    def delete_of_user(self, user_id: str | None) -> int:
        """Delete a user's documents in all namespaces, None: everybody's; how many they were."""

    @abstractmethod
    def holding(self, user_id: str | None, groups: Sequence[frozenset[str]]) -> list[int]:
        """Numbers of a user's documents, None: of everybody's, that hold at least one word of each group."""

    @abstractmethod
    def oldest(self, before: float, limit: int) -> list[int]:
        """Numbers of the documents of everybody that were last put before a time, the oldest first."""

    @abstractmethod
    def delete_numbered(self, numbers: Sequence[int]) -> int:
        """Delete the documents with these numbers; how many they were."""

    @abstractmethod
    def count(self, user_id: str | None) -> int:
        """How many documents a user has in all namespaces, None: everybody."""

    @abstractmethod
    def merge_user(self, user_id: str, into: str) -> int:
        """Make one user's documents another's; how many they were.

        Where both have a document with one id in a namespace, the newer keeps it and the older gets a
        number behind it. An embedding of another dimension than the namespace's is left behind.
        """

    def delete_selected(self, selection: Selection) -> int:
        """Delete a user's documents where the selection takes everything of the user, or all records that hold some
        words."""
        user_id = selection.scope.user_id
        if not takes_documents(selection):
            return 0
        if selection.words is None:
            return self.delete_of_user(user_id)
        return self.delete_numbered(self.holding(user_id, selection.words))

    def count_selected(self, selection: Selection) -> int:
        """How many ``delete_selected`` would delete."""
        user_id = selection.scope.user_id
        if not takes_documents(selection):
            return 0
        return self.count(user_id) if selection.words is None else len(self.holding(user_id, selection.words))

    def dimension(self, space: Namespace) -> int | None:
        """The dimension of the namespace's embeddings; None where there is none."""
        return next((len(one.embedding) for one in self.held(space) if one.embedding is not None), None)

    def by_words(
        self, words: Sequence[str], space: Namespace, limit: int, wanted: Mapping[str, Any] | None = None
    ) -> list[Document]:
        """The best ``limit`` documents that hold at least one of the words, by BM25."""
        every = list(self.held(space))
        lengths = [len(words_of(one.words)) for one in every]
        asked = set(words)
        frequency = Counter(word for one in every for word in asked.intersection(words_of(one.words)))
        found = []
        for one in reversed(every):
            score = bm25(words, one.words, frequency, len(every), sum(lengths) / len(every))
            if score > 0 and fits(one.document, wanted):
                found.append(replace(one.document, score=score))
        return sorted(found, key=lambda document: -document.score)[: max(limit, 0)]

    def nearest(
        self, embedding: Floats, space: Namespace, limit: int, wanted: Mapping[str, Any] | None = None
    ) -> list[Document]:
        """The ``limit`` documents whose embedding is nearest, by cosine above zero.

        ``embedding``: float32 [dim], normalised, of the namespace's dimension.
        """
        found = []
        for one in reversed(list(self.held(space))):
            score = 0.0 if one.embedding is None else float(one.embedding @ embedding)
            if score > ALONG and fits(one.document, wanted):
                found.append(replace(one.document, score=score))
        return sorted(found, key=lambda document: -document.score)[: max(limit, 0)]


def free_name(name: str, is_free: Callable[[str], bool]) -> str:
    """The name with the first number behind it, from 2 on, that is free."""
    return next(one for number in count(2) if is_free(one := f"{name}-{number}"))


def fits(document: Document, wanted: Mapping[str, Any] | None) -> bool:
    """Whether the metadata hold all the wanted pairs."""
    held = document.metadata
    return all(name in held and held[name] == value for name, value in (wanted or {}).items())


def takes_documents(selection: Selection) -> bool:
    """Whether a selection takes everything of a user, or all records that hold some words: documents go too."""
    scope = selection.scope
    narrower = (selection.keys, selection.ids, selection.since, selection.until, selection.source)
    return selection.kinds >= BOTH and all(
        one is None for one in (*narrower, scope.session_id, scope.site_id, scope.task_id)
    )
