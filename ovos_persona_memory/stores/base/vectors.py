"""The vector port: what every backend does, and the plain scans that fast searches are compared with."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ovos_persona_memory.records import SECRET_LEVEL, Entry, Namespace, Scope, Turn
from ovos_persona_memory.stores.base.selection import in_scope, kind_of
from ovos_persona_memory.stores.base.vector_math import Bytes, Floats, cosines

_GIVEN_KEY = re.compile(r"[0-9a-f]{12,}")


@dataclass(frozen=True)
class VectorIndex:
    """The vectors of one embedder."""

    name: str
    """The embedder's name; it stands for its version, too."""
    setting: str
    """The setting by which the embedder can be opened again."""
    dim: int
    """Dimension of a vector."""


@dataclass(frozen=True)
class PendingText:
    """A text that an index has no vector for yet."""

    kind: str
    """turn, memory or document."""
    doc: int
    """A turn's ``seq``, minus an entry's, or a document's number."""
    version: int
    """Version of the text: a new text has a higher number, across all documents."""
    text: str


@dataclass(frozen=True)
class NearDocument:
    """A document near to a query, with its cosine."""

    record: Turn | Entry
    cosine: float


class VectorStore(ABC):
    """Vectors of turns, entries and documents, with the promises of the Store that it belongs to.

    There are at most two indexes: one that answers, and one that is being built. A vector goes with its document and
    with its text: a changed or forgotten text has none.
    """

    listener: Callable[[], None] | None = None
    """Called, within the transaction, when a text was written that indexes have no vector for."""

    @property
    def problem(self) -> str | None:
        """Why search by meaning does not work at the moment, in one sentence; None where it works."""
        return None

    @abstractmethod
    def indexes(self) -> list[VectorIndex]:
        """The existing indexes, the one started first at the head."""

    @abstractmethod
    def start(self, index: VectorIndex) -> None:
        """Begin an empty index; nothing where there is one of its name. StoreError where there are two others."""

    @abstractmethod
    def drop(self, name: str) -> bool:
        """Delete some of an index's vectors; whether nothing of it is left. Call it again until it is so."""

    @abstractmethod
    def lag(self, name: str | None) -> int:
        """How many texts an index has no vector for; all of them where there is no such index.

        Turns, entries and documents count, also documents with an embedding of their own.
        """

    @abstractmethod
    def pending(self, name: str, limit: int) -> list[PendingText]:
        """The first ``limit`` texts that an index has no vector for, in order of version; some may be empty."""

    @abstractmethod
    def put(self, name: str, taken: Sequence[PendingText], vectors: Bytes) -> None:
        """Store the quantised vectors [n, dim] of texts that ``pending`` gave, in its order, none left out.

        A vector of zeros stands for none. Nothing is kept for a document that was changed or deleted meanwhile.
        """

    @abstractmethod
    def held(self, name: str, scope: Scope, kinds: frozenset[str]) -> Iterator[tuple[Turn | Entry, Bytes]]:
        """Every document in scope that has a vector [dim], in no particular order: what the plain scan reads."""

    def nearest(self, name: str, query: Floats, scope: Scope, kinds: frozenset[str], limit: int) -> list[NearDocument]:
        """The ``limit`` documents in scope that are nearest to ``query`` [dim], nearest first, of equal ones the newer.

        What is out of scope changes nothing. This is the plain scan; a backend may miss one of the
        last of them in a large store, and nothing else. The scope must name a user.
        """
        held = list(self.held(name, scope, kinds))
        if not held:
            return []
        scores = cosines(np.stack([vector for _, vector in held]), query).tolist()
        found = [NearDocument(record, score) for (record, _), score in zip(held, scores, strict=True)]
        return sorted(found, key=lambda near: (-near.cosine, -near.record.seq))[:limit]

    @abstractmethod
    def documents(self, name: str, space: Namespace) -> list[tuple[str, Bytes]]:
        """The ids of a namespace's documents that have a vector [dim] here, in no particular order, with it.

        A document with an embedding of its own has none.
        """

    def cosines(self, name: str, query: Floats, docs: Iterable[int], user_id: str) -> Mapping[int, float]:
        """The cosine of ``query`` [dim] and each of these documents of a user that has a vector."""
        asked = set(docs)
        both = frozenset({"turn", "memory"})
        held = [(doc_of(record), vector) for record, vector in self.held(name, Scope(user_id=user_id), both)]
        known = [(doc, vector) for doc, vector in held if doc in asked]
        if not known:
            return {}
        scores = cosines(np.stack([vector for _, vector in known]), query).tolist()
        return dict(zip((doc for doc, _ in known), scores, strict=True))

    def wake(self) -> None:
        """Tell the listener."""
        if self.listener is not None:
            self.listener()

    def warm(self, name: str) -> None:  # noqa: B027 - a backend that reads nothing has nothing to do
        """Read ahead what the first query would have to wait for; other threads get their turn meanwhile."""

    def warm_others(self, name: str, stopped: Callable[[], bool]) -> None:  # noqa: B027 - as above
        """Read ahead for every user, as far as memory allows and until ``stopped``, which may wait while others ask."""


def doc_of(record: Turn | Entry) -> int:
    """A turn's ``seq``, or minus an entry's."""
    return record.seq if isinstance(record, Turn) else -record.seq


def is_held(record: Turn | Entry, scope: Scope, kinds: frozenset[str]) -> bool:
    """Whether the record is in the scope and of one of the kinds."""
    return kind_of(record) in kinds and in_scope(record, scope)


def entry_text(key: str, text: str, private: int) -> str:
    """The text of an entry that is embedded: a key chosen by a person belongs to it; of a secret nothing."""
    if private >= SECRET_LEVEL:
        return ""
    return text if _GIVEN_KEY.fullmatch(key) else f"{key}: {text}"
