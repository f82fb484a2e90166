"""Write-behind queue of a vector server: vectors change after the commit of their texts, and unfinished work is
stored."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from ovos_persona_memory.stores.base.vector_backend import (
    TextSource,
    VectorBackend,
    VectorLabel,
    key_of,
    label_of,
    records_of,
)
from ovos_persona_memory.stores.base.vector_math import Bytes, Floats
from ovos_persona_memory.stores.chroma.http_client import CHANGE_S, WORK_S
from ovos_persona_memory.stores.chroma.vectors import ChromaVectors

DUE = "vectors_due"
"""Name of the store's small value that lists the vectors still to be deleted on the server."""
AT_ONCE = 1_000
"""More deletions than this are left to the background, so that no caller waits for them."""
IN_PARTS_OF = 5_000
"""Deletions after which the remaining work is stored."""
Pair = tuple[str, str]
"""The server's id of a vector, and the digest of its text."""


class PendingVectorDeletions(msgspec.Struct):
    """Deletions that the server has not confirmed yet."""

    pairs: dict[str, list[Pair]] = {}
    """Vectors to delete, by index."""
    indexes: list[str] = []
    """Indexes to be dropped whole."""

    @property
    def number(self) -> int:
        """How many vectors and indexes are still to be deleted."""
        return len(self.indexes) + sum(map(len, self.pairs.values()))

    def without(self, done: Mapping[str, Iterable[Pair]]) -> PendingVectorDeletions:
        """The rest when these deletions are done, or cancelled."""
        gone = {index: set(pairs) for index, pairs in done.items()}
        left = {
            index: [pair for pair in pairs if pair not in gone.get(index, ())] for index, pairs in self.pairs.items()
        }
        return PendingVectorDeletions({index: pairs for index, pairs in left.items() if pairs}, self.indexes)


@dataclass
class _TransactionChanges:
    """The vector changes of one transaction."""

    kept: dict[str, dict[VectorLabel, Bytes]] = field(default_factory=dict)
    moved: dict[str, dict[VectorLabel, VectorLabel]] = field(default_factory=dict)
    """New label mapped to the label that it replaces, by index."""
    gone: dict[str, dict[VectorLabel, None]] = field(default_factory=dict)
    dropped: dict[str, None] = field(default_factory=dict)


class WriteBehind(VectorBackend):
    """Thread-safe: the changes of a transaction are guarded by the lock of the store of texts, which it holds."""

    is_late = True

    def __init__(self, vectors: ChromaVectors, texts: TextSource) -> None:
        self._vectors, self._texts = vectors, texts
        self._changes = _TransactionChanges()
        self._settling = threading.Lock()

    @property
    def problem(self) -> str | None:
        return self._vectors.server.problem

    def stored_label(self, label: VectorLabel) -> VectorLabel:
        return self._vectors.stored_label(label)

    # within a transaction

    def keep(self, index: str, labels: Sequence[VectorLabel], rows: Bytes) -> None:
        for label, row in zip(labels, rows, strict=True):
            self._changes.gone.get(index, {}).pop(label, None)
            self._changes.kept.setdefault(index, {})[label] = row

    def remove(self, index: str, labels: Sequence[VectorLabel]) -> None:
        for label in labels:
            self._changes.kept.get(index, {}).pop(label, None)
            self._changes.moved.get(index, {}).pop(label, None)
            self._changes.gone.setdefault(index, {})[label] = None

    def move(self, index: str, before: VectorLabel, after: VectorLabel) -> None:
        row = self._changes.kept.get(index, {}).get(before)
        source = self._changes.moved.get(index, {}).get(before, before)
        self.remove(index, [before])
        if row is not None:
            self.keep(index, [after], row[None, :])
        else:
            self._changes.moved.setdefault(index, {})[after] = source

    def drop(self, index: str) -> None:
        for one in (self._changes.kept, self._changes.moved, self._changes.gone):
            one.pop(index, None)
        self._changes.dropped[index] = None

    def undone(self) -> None:
        self._changes = _TransactionChanges()

    def ending(self) -> Callable[[], bool] | None:
        changes, self._changes = self._changes, _TransactionChanges()
        if not any((changes.kept, changes.moved, changes.gone, changes.dropped)):
            return None
        self._write_down(changes)
        return lambda: self._apply(changes)

    def _write_down(self, changes: _TransactionChanges) -> None:
        due = self._due()
        back = {
            index: [self._pair(label) for label in (*changes.kept.get(index, ()), *changes.moved.get(index, ()))]
            for index in due.pairs
        }
        left = due.without(back)
        for index, labels in changes.gone.items():
            known = left.pairs.get(index, [])
            left.pairs[index] = list(dict.fromkeys([*known, *map(self._pair, labels)]))
        for index in changes.dropped:
            left.pairs.pop(index, None)
        left.indexes = list(dict.fromkeys([*left.indexes, *changes.dropped]))
        if left != due:
            self._put_due(left)

    def _pair(self, label: VectorLabel) -> Pair:
        return self._vectors.id_of(label.user_id, label.doc), self.stored_label(label).digest

    def _due(self) -> PendingVectorDeletions:
        known = self._texts.state(DUE)
        return msgspec.json.decode(known, type=PendingVectorDeletions) if known else PendingVectorDeletions()

    def _put_due(self, due: PendingVectorDeletions) -> None:
        self._texts.put_state(DUE, msgspec.json.encode(due).decode() if due.number else "")

    # after it

    def _apply(self, changes: _TransactionChanges) -> bool:
        for index, labels in changes.moved.items():
            self._keep(index, self._moved(index, labels), CHANGE_S)
        for index, rows in changes.kept.items():
            self._keep(index, rows, WORK_S)
        return self._due().number > AT_ONCE or self._settle(AT_ONCE)

    def _moved(self, index: str, labels: Mapping[VectorLabel, VectorLabel]) -> dict[VectorLabel, Bytes]:
        """Those vectors under the new labels that exist."""
        found: dict[VectorLabel, Bytes] = {}
        for user_id in {before.user_id for before in labels.values()}:
            docs = [before.doc for before in labels.values() if before.user_id == user_id]
            held = self._vectors.held(index, user_id, docs)
            for after, before in labels.items():
                told, row = held.get(before.doc, (None, None))
                if row is not None and told == self.stored_label(before):
                    found[after] = row
        return found

    def _keep(self, index: str, rows: Mapping[VectorLabel, Bytes], within_s: float) -> None:
        """Store vectors, and delete those again whose text changed or was deleted meanwhile."""
        if not rows:
            return
        labels = list(rows)
        self._vectors.keep(index, labels, np.stack(list(rows.values())), within_s)
        there = {label_of(record) for record in records_of(self._texts, map(key_of, labels)).values()}
        if stale := [label for label in labels if label not in there]:
            with self._texts.transaction():
                self.remove(index, stale)

    # what was not confirmed

    def settle(self) -> None:
        while self._settle(IN_PARTS_OF):
            continue

    def _settle(self, most: int) -> bool:
        """Delete some of the pending vectors; whether more are left."""
        if not self._due().number or not self._settling.acquire(timeout=CHANGE_S):
            return False
        try:
            due = self._due()
            for index in due.indexes:
                self._vectors.drop(index, CHANGE_S)
            done = self._deleted(due, most)
            with self._texts.transaction():
                left = self._due().without(done)
                left.indexes = [index for index in left.indexes if index not in due.indexes]
                self._put_due(left)
            return bool(left.number)
        finally:
            self._settling.release()

    def _deleted(self, due: PendingVectorDeletions, most: int) -> dict[str, list[Pair]]:
        done: dict[str, list[Pair]] = {}
        for index, pairs in due.pairs.items():
            done[index] = pairs[: max(most - sum(map(len, done.values())), 0)]
            self._vectors.remove(index, done[index], CHANGE_S)
        return done

    # reading

    def nearest(self, index: str, user_id: str, query: Floats, limit: int) -> list[tuple[VectorLabel, Bytes]]:
        return self._vectors.nearest(index, user_id, query, limit)

    def held(self, index: str, user_id: str, docs: Sequence[int]) -> Mapping[int, tuple[VectorLabel, Bytes]]:
        return self._vectors.held(index, user_id, docs)

    def mend(self, index: str, wanted: Callable[[], Iterable[VectorLabel]]) -> list[VectorLabel]:
        return self._vectors.mend(index, wanted)

    def close(self) -> None:
        self._vectors.server.close()

    def details(self) -> Mapping[str, Any]:
        return {"at": self._vectors.server.name, "problem": self.problem, "to_be_deleted": self._due().number}
