"""Vectors beside stores that hold the texts: kept consistent, and never believed without a look at the text."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ovos_persona_memory.records import Entry, Namespace, Scope, Turn
from ovos_persona_memory.stores.base import BOTH, Counts, Store
from ovos_persona_memory.stores.shelf import Label, Shelf, label_of, text_of
from ovos_persona_memory.stores.vectors import Index, Near, Pending, VectorStore, is_held
from ovos_persona_memory.vectors import Bytes, Floats, cosines

MORE = 4
"""So many times as many vectors are asked for as are wanted: some may be out of scope, or stale."""
TOGETHER = 500
"""Vectors that are read at once."""
LOOKED_AT = 1000
"""Documents that wait for a vector are counted up to this many where their store holds texts of other kinds, too."""


@dataclass(frozen=True)
class Texts:
    """What vectors stand beside."""

    turn: Callable[[str], Turn | None]
    entry: Callable[[str, str], Entry | None]
    documents: Callable[[Scope, frozenset[str]], Iterator[tuple[Turn | Entry, str]]]
    counts: Callable[[], Counts]
    transaction: Callable[[], AbstractContextManager[None]]


class VectorsBeside(VectorStore):
    """Vectors of turns and entries on a shelf; those of documents stay with them, in the inner store.

    What waits for a vector is known in memory alone: when an index is first looked at, labels and texts are
    compared, what is missing waits, and what has no text any more, or another, goes. The lock guards what
    waits; no store is called under it.
    """

    def __init__(self, texts: Texts, shelf: Shelf, semantic: Store, inside: frozenset[str]) -> None:
        """``semantic``: holds documents, and ``inside`` are the kinds of texts that it holds besides."""
        self._texts, self._shelf, self._inside = texts, shelf, inside
        self._inner, self._documents = semantic.vector_store, semantic.document_store
        self._inner.listener = self.wake
        self._lock = threading.RLock()
        self._waiting: dict[str, dict[tuple[str, str, str], int]] = {}
        self._version = 0
        self._given: dict[tuple[str, int], Label] = {}
        self._inner_taken: list[Pending] = []

    # what the store tells

    def wrote(self, record: Turn | Entry) -> None:
        """A text is new or was changed."""
        label = label_of(record)
        with self._lock:
            for waiting in self._waiting.values():
                self._version += 1
                waiting.pop(_key(label), None)
                waiting[_key(label)] = self._version
        if label.kind not in self._inside:  # else its own store says so
            self.wake()

    def went(self, records: Sequence[Turn | Entry]) -> None:
        """Texts have gone, or are about to be written anew."""
        by_user: dict[str, list[int]] = {}
        with self._lock:
            for record in records:
                label = label_of(record)
                by_user.setdefault(label.user_id, []).append(label.doc)
                for waiting in self._waiting.values():
                    waiting.pop(_key(label), None)
        for index in self._inner.indexes():
            for user_id, docs in by_user.items():
                self._shelf.remove(index.name, user_id, docs)

    def moved(self, before: Turn, after: Turn) -> None:
        """A turn whose text stays has got another user."""
        old, new = label_of(before), label_of(after)
        with self._lock:
            for waiting in self._waiting.values():
                if _key(old) in waiting:
                    waiting[_key(new)] = waiting.pop(_key(old))
        for index in self._inner.indexes():
            held = self._shelf.held(index.name, old.user_id, [old.doc])
            self._shelf.remove(index.name, old.user_id, [old.doc])
            for _, vector in held.values():
                self._shelf.keep(index.name, [new], vector[None, :])

    def undone(self) -> None:
        """A transaction failed: what waits is found anew."""
        with self._lock:
            self._waiting.clear()

    # indexes

    def indexes(self) -> list[Index]:
        return self._inner.indexes()

    def start(self, index: Index) -> None:
        self._inner.start(index)

    def drop(self, name: str) -> bool:
        with self._texts.transaction():
            self._shelf.drop(name)
            with self._lock:
                self._waiting.pop(name, None)
            return self._inner.drop(name)

    def lag(self, name: str | None) -> int:
        if name not in {index.name for index in self._inner.indexes()}:
            counts = self._texts.counts()
            return counts.turns + counts.entries + self._documents.count(None)
        waiting = self._waits(name or "")
        if not self._inside:
            return len(waiting) + self._inner.lag(name)
        return len(waiting) + sum(one.kind == "document" for one in self._inner.pending(name or "", LOOKED_AT))

    def _waits(self, name: str) -> list[tuple[tuple[str, str, str], int]]:
        with self._lock:
            known = name in self._waiting
            if not known:
                self._waiting[name] = {}
        if not known:
            self._compare(name)
        with self._lock:
            return list(self._waiting.get(name, {}).items())

    def _compare(self, name: str) -> None:
        """Mend an index: what it lacks waits, what it should not have goes."""
        held = {(label.user_id, label.doc): label for label in self._shelf.labels(name)}
        for record, _ in self._texts.documents(Scope.everyone(), BOTH):
            label = label_of(record)
            there = held.pop((label.user_id, label.doc), None)
            if there == label:
                continue
            with self._lock:
                self._version += 1
                self._waiting.setdefault(name, {}).setdefault(_key(label), self._version)
        for user_id in {user_id for user_id, _ in held}:
            self._shelf.remove(name, user_id, [doc for user, doc in held if user == user_id])

    def pending(self, name: str, limit: int) -> list[Pending]:
        taken: list[Pending] = []
        for key, version in self._waits(name):
            if len(taken) >= limit:
                break
            record = self._record(*key)
            if record is None:
                with self._lock:
                    self._waiting.get(name, {}).pop(key, None)
                continue
            label = label_of(record)
            self._given[name, label.doc] = label
            taken.append(Pending(label.kind, label.doc, version, text_of(record)))
        return taken or self._pending_documents(name, limit)

    def _pending_documents(self, name: str, limit: int) -> list[Pending]:
        while inner := self._inner.pending(name, limit):
            self._inner_taken = inner
            if documents := [one for one in inner if one.kind == "document"]:
                return documents
            self._put_documents(name, [], np.zeros((0, 1), dtype=np.int8))
        return []

    def _record(self, kind: str, name: str, user_id: str) -> Turn | Entry | None:
        found = self._texts.turn(name) if kind == "turn" else self._texts.entry(name, user_id)
        return found if found is not None and found.user_id == user_id else None

    def put(self, name: str, taken: Sequence[Pending], vectors: Bytes) -> None:
        if taken and taken[0].kind == "document":
            self._put_documents(name, taken, vectors)
            return
        with self._texts.transaction():
            labels, rows = [], []
            for one, vector in zip(taken, vectors, strict=True):
                label = self._given.pop((name, one.doc), None)
                if label is not None and self._is_due(name, label, one.version) and vector.any():
                    labels.append(label)
                    rows.append(vector)
            if labels:
                self._shelf.keep(name, labels, np.stack(rows))

    def _is_due(self, name: str, label: Label, version: int) -> bool:
        """Whether the text is still the one that was embedded; then it does not wait any longer."""
        record = self._record(label.kind, label.name, label.user_id)
        with self._lock:
            waiting = self._waiting.get(name, {})
            if waiting.get(_key(label)) != version:
                return False
            del waiting[_key(label)]
        return record is not None and label_of(record) == label

    def _put_documents(self, name: str, taken: Sequence[Pending], vectors: Bytes) -> None:
        """What the inner store gave, with zeros for what is not its business here."""
        made = {(one.doc, one.version): vector for one, vector in zip(taken, vectors, strict=True)}
        dim = next(index.dim for index in self._inner.indexes() if index.name == name)
        none = np.zeros(dim, dtype=np.int8)
        inner, self._inner_taken = self._inner_taken, []
        rows = [made.get((one.doc, one.version), none) if one.kind == "document" else none for one in inner]
        self._inner.put(name, inner, np.stack(rows) if rows else np.zeros((0, dim), dtype=np.int8))

    # finding

    def held(self, name: str, scope: Scope, kinds: frozenset[str]) -> Iterator[tuple[Turn | Entry, Bytes]]:
        every = self._texts.documents(scope, kinds)
        while some := [record for record, _ in islice(every, TOGETHER)]:
            labels = {label_of(record): record for record in some}
            for user_id in {label.user_id for label in labels}:
                docs = [label.doc for label in labels if label.user_id == user_id]
                for label, vector in self._shelf.held(name, user_id, docs).values():
                    if label in labels:
                        yield labels[label], vector

    def nearest(self, name: str, query: Floats, scope: Scope, kinds: frozenset[str], limit: int) -> list[Near]:
        if name not in {index.name for index in self._inner.indexes()} or limit <= 0:
            return []
        near = self._shelf.nearest(name, scope.user_id or "", query, limit * MORE)
        found = self._believed(near, query, scope, kinds)
        # a narrow scope may hold none of them: then it is small enough to be looked through
        return found[:limit] if len(found) >= limit else super().nearest(name, query, scope, kinds, limit)

    def _believed(
        self, near: Sequence[tuple[Label, Bytes]], query: Floats, scope: Scope, kinds: frozenset[str]
    ) -> list[Near]:
        """Those whose very text is still there, and in scope; nearest first, of equal ones the newer."""
        held = [(self._record(label.kind, label.name, label.user_id), label, vector) for label, vector in near]
        there = [(one, vector) for one, label, vector in held if one is not None and label_of(one) == label]
        within = [(one, vector) for one, vector in there if is_held(one, scope, kinds)]
        if not within:
            return []
        scores = cosines(np.stack([vector for _, vector in within]), query).tolist()
        found = [Near(one, score) for (one, _), score in zip(within, scores, strict=True)]
        return sorted(found, key=lambda one: (-one.cosine, -one.record.seq))

    def cosines(self, name: str, query: Floats, docs: Iterable[int], user_id: str) -> Mapping[int, float]:
        if name not in {index.name for index in self._inner.indexes()}:
            return {}
        held = self._shelf.held(name, user_id, list(dict.fromkeys(docs)))
        if not held:
            return {}
        scores = cosines(np.stack([vector for _, vector in held.values()]), query).tolist()
        return dict(zip(held, scores, strict=True))

    def documents(self, name: str, space: Namespace) -> list[tuple[str, Bytes]]:
        return self._inner.documents(name, space)

    def warm(self, name: str) -> None:
        self._waits(name)
        self._inner.warm(name)


def _key(label: Label) -> tuple[str, str, str]:
    return (label.kind, label.name, label.user_id)
