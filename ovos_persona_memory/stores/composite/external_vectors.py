"""Vectors outside the stores of texts: kept consistent with the texts, and compared with them before they are used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Entry, Namespace, Scope, Turn
from ovos_persona_memory.stores.base.selection import BOTH
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.base.vector_backend import (
    Key,
    TextSource,
    VectorBackend,
    VectorBackendAway,
    VectorLabel,
    embedded_text,
    key_of,
    label_of,
    records_of,
)
from ovos_persona_memory.stores.base.vector_math import Bytes, Floats, cosines
from ovos_persona_memory.stores.base.vectors import NearDocument, PendingText, VectorIndex, VectorStore, is_held

MORE = 4
"""Factor of vectors requested over those wanted: some may be out of scope, or stale."""
TOGETHER = 500
"""Vectors that are read at once."""
LOOKED_THROUGH = 2_000
"""A scope with more documents is not scanned over a network: more of the nearest are requested instead."""
LOOKED_AT = 1000
"""Pending documents are counted up to this many where their store holds texts of other kinds, too."""


class ExternalVectors(VectorStore):
    """Vectors of turns and entries in a vector backend; those of documents stay with them, in the inner store.

    The pending texts are known in memory alone: when an index is first used, labels and texts are compared, missing
    vectors become pending, and a vector without a text, or with a changed one, is deleted. The lock guards the pending
    texts; no store is called under it.
    """

    def __init__(self, texts: TextSource, shelf: VectorBackend, semantic: Store, inside: frozenset[str]) -> None:
        """``semantic``: the store of documents; ``inside``: the kinds of texts that it holds besides."""
        self._texts, self._shelf, self._inside = texts, shelf, inside
        self._inner, self._documents = semantic.vector_store, semantic.document_store
        self._inner.listener = self.wake
        self._lock = threading.RLock()
        self._comparing = threading.Lock()
        self._waiting: dict[str, dict[Key, int]] = {}
        self._version = 0
        self._given: dict[tuple[str, int], VectorLabel] = {}
        self._inner_taken: list[PendingText] = []

    @property
    def problem(self) -> str | None:
        return self._shelf.problem

    # notifications of the store

    def wrote(self, record: Turn | Entry) -> None:
        """Take note of a text that is new or was changed."""
        label = label_of(record)
        with self._lock:
            for waiting in self._waiting.values():
                self._version += 1
                waiting.pop(key_of(label), None)
                waiting[key_of(label)] = self._version
        if label.kind not in self._inside:  # otherwise its own store notifies
            self.wake()

    def went(self, records: Sequence[Turn | Entry]) -> None:
        """Take note of texts that were deleted, or are about to be rewritten."""
        labels = [label_of(record) for record in records]
        with self._lock:
            for waiting in self._waiting.values():
                for label in labels:
                    waiting.pop(key_of(label), None)
        for index in self._inner.indexes() if labels else ():
            self._shelf.remove(index.name, labels)

    def moved(self, before: Turn, after: Turn) -> None:
        """Take note of a turn with the same text and another user."""
        old, new = label_of(before), label_of(after)
        with self._lock:
            for waiting in self._waiting.values():
                if key_of(old) in waiting:
                    waiting[key_of(new)] = waiting.pop(key_of(old))
        for index in self._inner.indexes():
            self._shelf.move(index.name, old, new)

    def undone(self) -> None:
        """A transaction or the vector backend failed: the pending texts are found anew."""
        with self._lock:
            self._waiting.clear()

    def ending(self) -> Callable[[], None] | None:
        """See VectorBackend.ending; work that could not be done is found anew."""
        late = self._shelf.ending()

        def then() -> None:
            try:
                if late is not None and late():
                    self.wake()
            except StoreError:
                self._lost()

        return then if late is not None else None

    def failing(self) -> None:
        """A transaction fails, and has not ended yet."""
        self._shelf.undone()

    def tidy(self) -> None:
        """Do the work that was left while the vector backend was away, where no background thread does it."""
        if self.listener is None:
            with suppress(VectorBackendAway):
                self._shelf.settle()

    def close(self) -> None:
        """Close the vector backend."""
        self._shelf.close()

    def details(self) -> Mapping[str, Any]:
        """Details of the vector backend, for the owner."""
        return self._shelf.details()

    def _lost(self) -> None:
        """The vector backend may have lost vectors: they are compared again, when it can be used."""
        self.undone()
        self.wake()

    # indexes

    def indexes(self) -> list[VectorIndex]:
        return self._inner.indexes()

    def start(self, index: VectorIndex) -> None:
        self._inner.start(index)

    def drop(self, name: str) -> bool:
        with self._texts.transaction():
            self._shelf.drop(name)
            with self._lock:
                self._waiting.pop(name, None)
            return self._inner.drop(name)

    def lag(self, name: str | None) -> int:
        waiting = self._waits_by_now(name) if name in {index.name for index in self._inner.indexes()} else None
        if name is None or waiting is None:
            counts = self._texts.counts()
            return counts.turns + counts.entries + self._documents.count(None)
        if not self._inside:
            return len(waiting) + self._inner.lag(name)
        return len(waiting) + sum(one.kind == "document" for one in self._inner.pending(name, LOOKED_AT))

    def _waits_by_now(self, name: str | None) -> list[tuple[Key, int]] | None:
        """The pending texts; None where they are not known, or another thread is about to find them."""
        if not self._comparing.acquire(blocking=False):
            return None
        try:
            return self._known_to_wait(name or "")
        except VectorBackendAway:
            return None
        finally:
            self._comparing.release()

    def _waits(self, name: str) -> list[tuple[Key, int]]:
        with self._comparing:
            return self._known_to_wait(name)

    def _known_to_wait(self, name: str) -> list[tuple[Key, int]]:
        with self._lock:
            known = name in self._waiting
            if not known:
                self._waiting[name] = {}
        if not known:
            self._compare(name)
        with self._lock:
            return list(self._waiting.get(name, {}).items())

    def _compare(self, name: str) -> None:
        """Repair an index: missing vectors become pending, superfluous ones are deleted."""
        try:
            lacking = self._shelf.mend(name, lambda: (label_of(one) for one, _ in self._every()))
        except BaseException:
            with self._lock:
                self._waiting.pop(name, None)
            raise
        with self._lock:
            for label in lacking:
                self._version += 1
                self._waiting.setdefault(name, {}).setdefault(key_of(label), self._version)

    def _every(self) -> Iterator[tuple[Turn | Entry, str]]:
        return self._texts.documents(Scope.everyone(), BOTH)

    def pending(self, name: str, limit: int) -> list[PendingText]:
        self._shelf.settle()
        waiting, taken = iter(self._waits(name)), list[PendingText]()
        while not taken and (some := list(islice(waiting, limit))):
            records = records_of(self._texts, [key for key, _ in some])
            self._pass_over(name, {key for key, _ in some} - records.keys())
            for key, version in some:
                if key in records:
                    label = label_of(records[key])
                    self._given[name, label.doc] = label
                    taken.append(PendingText(label.kind, label.doc, version, embedded_text(records[key])))
        return taken or self._pending_documents(name, limit)

    def _pass_over(self, name: str, gone: Iterable[Key]) -> None:
        with self._lock:
            for key in gone:
                self._waiting.get(name, {}).pop(key, None)

    def _pending_documents(self, name: str, limit: int) -> list[PendingText]:
        while inner := self._inner.pending(name, limit):
            self._inner_taken = inner
            if documents := [one for one in inner if one.kind == "document"]:
                return documents
            self._put_documents(name, [], np.zeros((0, 1), dtype=np.int8))
        return []

    def _those_of(self, labels: Iterable[VectorLabel]) -> dict[VectorLabel, Turn | Entry]:
        """The records whose exact text still exists, by the labels that the vector backend returns."""
        records = records_of(self._texts, {key_of(label) for label in labels})
        return {self._shelf.stored_label(label_of(record)): record for record in records.values()}

    def put(self, name: str, taken: Sequence[PendingText], vectors: Bytes) -> None:
        if taken and taken[0].kind == "document":
            self._put_documents(name, taken, vectors)
            return
        with self._texts.transaction():
            labels = [self._given.pop((name, one.doc), None) for one in taken]
            records = records_of(self._texts, [key_of(label) for label in labels if label is not None])
            due = [
                (label, vector)
                for one, label, vector in zip(taken, labels, vectors, strict=True)
                if label is not None and self._is_due(name, label, one.version, records) and vector.any()
            ]
            if due:
                self._shelf.keep(name, [label for label, _ in due], np.stack([vector for _, vector in due]))

    def _is_due(self, name: str, label: VectorLabel, version: int, records: Mapping[Key, Turn | Entry]) -> bool:
        """Whether the text is still the one that was embedded; it is then no longer pending."""
        with self._lock:
            waiting = self._waiting.get(name, {})
            if waiting.get(key_of(label)) != version:
                return False
            del waiting[key_of(label)]
        record = records.get(key_of(label))
        return record is not None and label_of(record) == label

    def _put_documents(self, name: str, taken: Sequence[PendingText], vectors: Bytes) -> None:
        """Store vectors of the inner store's documents, with zeros for its other texts."""
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
            labels = {self._shelf.stored_label(label_of(record)): record for record in some}
            for user_id in {label.user_id for label in labels}:
                docs = [label.doc for label in labels if label.user_id == user_id]
                held = self._shelf.held(name, user_id, docs).values()
                yield from ((labels[label], vector) for label, vector in held if label in labels)

    def nearest(self, name: str, query: Floats, scope: Scope, kinds: frozenset[str], limit: int) -> list[NearDocument]:
        if name not in {index.name for index in self._inner.indexes()} or limit <= 0:
            return []
        try:
            return self._nearest(name, query, scope, kinds, limit)
        except VectorBackendAway:
            self._lost()
            return []

    def _nearest(self, name: str, query: Floats, scope: Scope, kinds: frozenset[str], limit: int) -> list[NearDocument]:
        near = self._shelf.nearest(name, scope.user_id or "", query, limit * MORE)
        found = self._believed(near, query, scope, kinds)
        if len(found) >= limit:
            return found[:limit]
        # a narrow scope may hold none of the nearest: it is then small enough for a scan
        if not self._shelf.is_late or self._is_small(scope, kinds):
            return super().nearest(name, query, scope, kinds, limit)
        near = self._shelf.nearest(name, scope.user_id or "", query, limit * MORE**3)
        return self._believed(near, query, scope, kinds)[:limit]

    def _is_small(self, scope: Scope, kinds: frozenset[str]) -> bool:
        return sum(1 for _ in islice(self._texts.documents(scope, kinds), LOOKED_THROUGH)) < LOOKED_THROUGH

    def _believed(
        self, near: Sequence[tuple[VectorLabel, Bytes]], query: Floats, scope: Scope, kinds: frozenset[str]
    ) -> list[NearDocument]:
        """The documents whose exact text still exists and is in scope; nearest first, of equal ones the newer."""
        there = self._those_of(label for label, _ in near)
        held = [(there[label], vector) for label, vector in near if label in there]
        within = [(record, vector) for record, vector in held if is_held(record, scope, kinds)]
        if not within:
            return []
        scores = cosines(np.stack([vector for _, vector in within]), query).tolist()
        found = [NearDocument(one, score) for (one, _), score in zip(within, scores, strict=True)]
        return sorted(found, key=lambda one: (-one.cosine, -one.record.seq))

    def cosines(self, name: str, query: Floats, docs: Iterable[int], user_id: str) -> Mapping[int, float]:
        if name not in {index.name for index in self._inner.indexes()}:
            return {}
        try:
            held = self._shelf.held(name, user_id, list(dict.fromkeys(docs)))
        except VectorBackendAway:
            self._lost()
            return {}
        if self._shelf.is_late:
            there = self._those_of(label for label, _ in held.values())
            held = {doc: (label, vector) for doc, (label, vector) in held.items() if label in there}
        if not held:
            return {}
        scores = cosines(np.stack([vector for _, vector in held.values()]), query).tolist()
        return dict(zip(held, scores, strict=True))

    def documents(self, name: str, space: Namespace) -> list[tuple[str, Bytes]]:
        return self._inner.documents(name, space)

    def warm(self, name: str) -> None:
        try:
            self._waits(name)
        except VectorBackendAway:
            self.wake()
        self._inner.warm(name)

    def warm_others(self, name: str, stopped: Callable[[], bool]) -> None:
        self._inner.warm_others(name, stopped)
