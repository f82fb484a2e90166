"""Vectors in the SQLite store: int8 rows on disk, and a cache of the tables of the users last asked for."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import ACCEPTED, Entry, Namespace, Scope, Turn
from ovos_persona_memory.stores.base.vector_math import (
    EXACT,
    Bytes,
    Floats,
    VectorFilter,
    VectorPlacement,
    VectorTable,
    size_of,
)
from ovos_persona_memory.stores.base.vectors import (
    NearDocument,
    PendingText,
    VectorIndex,
    VectorStore,
    entry_text,
    is_held,
)
from ovos_persona_memory.stores.sqlite.rows import hash_of

CHUNK = 1000
"""Rows read or deleted at once: some 5 ms, in which no other thread has the store."""
CACHED_BYTES = max(32 * 1024 * 1024, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 16)
"""Maximum size of all cached tables: a sixteenth of the machine's memory. The table of the last user is kept whatever
its size."""
BREATH_S = 0.001
"""Pause between two parts that are read ahead: a lock that is taken again at once never reaches those who wait."""
SLOTS = (0, 1)
BOTH = frozenset({"turn", "memory"})

NEW = (
    "SELECT 'turn', r.seq, r.body, b.text, NULL, 0 FROM turn r INDEXED BY turn_body CROSS JOIN body b ON b.num = r.body"
    " WHERE r.body > ? ORDER BY r.body LIMIT ?",
    "SELECT 'memory', -r.seq, r.body, b.text, b.name, r.private"
    " FROM entry r INDEXED BY entry_body CROSS JOIN body b ON b.num = r.body"
    " WHERE r.body > ? ORDER BY r.body LIMIT ?",
    # documents with an embedding of their own need no vector
    "SELECT 'document', r.num, r.body, CASE WHEN r.dim IS NULL THEN b.text ELSE '' END, NULL, 0"
    " FROM document r INDEXED BY document_body CROSS JOIN body b ON b.num = r.body"
    " WHERE r.body > ? ORDER BY r.body LIMIT ?",
)
STILL_THERE = (
    "SELECT r.owner, r.session_id, r.persona_id, r.site_id, r.task_id, {more} FROM {table} r"
    " WHERE r.body = ? AND r.seq = ?"
)
OF_OWNER = (
    "SELECT r.seq, v.num, v.vector, r.session_id, r.persona_id, r.site_id, r.task_id, {more}"
    " FROM {table} r{index} CROSS JOIN vector_{slot:d} v ON v.body = r.body"
    " WHERE r.owner = ? AND r.seq > ? AND v.vector IS NOT NULL ORDER BY r.seq LIMIT ?"
)
OF_NAMESPACE = (
    "SELECT b.name, v.vector FROM namespace n CROSS JOIN document r ON r.namespace = n.num AND r.dim IS NULL"
    " CROSS JOIN vector_{slot:d} v ON v.body = r.body CROSS JOIN body b ON b.num = r.body"
    " WHERE n.user_id = ? AND n.name_hash = ? AND v.vector IS NOT NULL"
)
BY_NUM = "SELECT v.vector FROM json_each(?) j CROSS JOIN vector_{slot:d} v ON v.num = j.value"
MORE = {"turn": f"0, '{ACCEPTED}'", "entry": "r.private, r.status"}
"""Columns of level and status."""
TABLES = (("turn", 1), ("entry", -1))
KEPT_IN = ("turn", "entry", "document")
Records = Callable[[Sequence[int]], Mapping[int, "Turn | Entry"]]
Context = Callable[[], AbstractContextManager[None]]


@dataclass
class _Cached:
    """One user's vectors of one index; read so far up to ``read_to`` in each table."""

    table: VectorTable
    read_to: dict[str, int]


class SqliteVectors(VectorStore):
    """Works on the store's connection, within the store's transactions and under its lock."""

    def __init__(
        self, connection: sqlite3.Connection, transactions: tuple[Context, Context], reading: Context, records: Records
    ) -> None:
        """``transactions``: a durable one, and one that does not wait for the disk; ``records`` gives the documents
        with these numbers."""
        self._sql = connection
        self._transaction, self._unsynced = transactions
        self._reading = reading
        self._records = records
        self._tables: OrderedDict[tuple[int, int], _Cached] = OrderedDict()

    # notifications of the store

    def moved(self, doc: int, old: tuple[int, int], new: tuple[int, int], record: Turn | Entry) -> None:
        """Take note of a changed document; ``old`` and ``new`` are its owner and body."""
        same_place = old == new
        for (_, owner), cached in self._tables.items():
            if owner == old[0]:
                cached.table.move(doc, _place(record)) if same_place else cached.table.drop([doc])
        if old[0] != new[0]:
            self._forget_owner(new[0])
        if old[1] != new[1]:
            self.wake()

    def deleted(self, docs: Sequence[int]) -> None:
        """Take note of deleted documents; their rows went with their bodies."""
        for cached in self._tables.values():
            cached.table.drop(docs)

    def undone(self) -> None:
        """Called after a rollback: the cache may differ from the file."""
        self._tables.clear()

    def _forget_owner(self, owner: int) -> None:
        for key in [key for key in self._tables if key[1] == owner]:
            del self._tables[key]

    # indexes

    def indexes(self) -> list[VectorIndex]:
        with self._reading():
            rows = self._sql.execute("SELECT name, setting, dim FROM vector_index ORDER BY started").fetchall()
        return [VectorIndex(*row) for row in rows]

    def start(self, index: VectorIndex) -> None:
        with self._reading():
            if index.name in {known.name for known in self.indexes()}:
                return
            taken = {slot for (slot,) in self._sql.execute("SELECT slot FROM vector_index")}
            free = [slot for slot in SLOTS if slot not in taken]
            if not free:
                raise StoreError("there are two indexes already")
            with self._transaction():
                self._sql.execute(
                    "INSERT INTO vector_index (slot, name, setting, dim, done_to, started)"
                    " VALUES (?, ?, ?, ?, 0, (SELECT coalesce(max(started), 0) + 1 FROM vector_index))",
                    (free[0], index.name, index.setting, index.dim),
                )

    def drop(self, name: str) -> bool:
        with self._transaction():
            slot = self._slot(name)
            if slot is None:
                return True
            for key in [key for key in self._tables if key[0] == slot]:
                del self._tables[key]
            # rows go in order, never from the middle: whole pages are freed, and secure_delete overwrites those
            last = self._sql.execute(f"SELECT num FROM vector_{slot:d} ORDER BY num LIMIT 1 OFFSET {CHUNK}").fetchone()
            if last:
                self._sql.execute(f"DELETE FROM vector_{slot:d} WHERE num < ?", last)
                return False
            self._sql.execute(f"DELETE FROM vector_{slot:d}")
            self._sql.execute("DELETE FROM vector_index WHERE slot = ?", (slot,))
            return True

    def _slot(self, name: str | None) -> int | None:
        row = self._sql.execute("SELECT slot FROM vector_index WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def _done_to(self, name: str | None) -> int:
        row = self._sql.execute("SELECT done_to FROM vector_index WHERE name = ?", (name,)).fetchone()
        return row[0] if row else 0

    def _dim(self, slot: int) -> int:
        dim: int = self._sql.execute("SELECT dim FROM vector_index WHERE slot = ?", (slot,)).fetchone()[0]
        return dim

    # taking up

    def lag(self, name: str | None) -> int:
        with self._reading():
            done_to = self._done_to(name)
            counted = "SELECT count(*) FROM {table} INDEXED BY {table}_body WHERE body > ?"
            return sum(self._sql.execute(counted.format(table=table), (done_to,)).fetchone()[0] for table in KEPT_IN)

    def pending(self, name: str, limit: int) -> list[PendingText]:
        with self._reading():
            done_to = self._done_to(name)
            rows = [row for sql in NEW for row in self._sql.execute(sql, (done_to, limit))]
        rows.sort(key=lambda row: row[2])
        return [
            PendingText(kind, doc, body, entry_text(key, text, private) if kind == "memory" else text)
            for kind, doc, body, text, key, private in rows[:limit]
        ]

    def put(self, name: str, taken: Sequence[PendingText], vectors: Bytes) -> None:
        with self._unsynced():  # vectors lost in a power failure are embedded again
            slot = self._slot(name)
            if slot is None or not taken:
                return
            for one, vector in zip(taken, vectors, strict=True):
                found = self._still_there(one)
                if found and vector.any():
                    self._add(slot, one, vector, found)
            self._sql.execute("UPDATE vector_index SET done_to = ? WHERE slot = ?", (taken[-1].version, slot))

    def _still_there(self, one: PendingText) -> Sequence[Any] | None:
        """The owner and placement of a text; None where it was changed or deleted."""
        if one.kind == "document":
            sql = "SELECT 0 FROM document WHERE body = ? AND num = ?"
        elif one.kind == "turn":
            sql = STILL_THERE.format(table="turn", more=MORE["turn"])
        else:
            sql = STILL_THERE.format(table="entry", more=MORE["entry"])
        found: Sequence[Any] | None = self._sql.execute(sql, (one.version, abs(one.doc))).fetchone()
        return found

    def _add(self, slot: int, one: PendingText, vector: Bytes, found: Sequence[Any]) -> None:
        row = (one.version, vector.tobytes())
        num = self._sql.execute(f"INSERT INTO vector_{slot:d} (body, vector) VALUES (?, ?)", row).lastrowid or 0
        cached = self._tables.get((slot, found[0]))
        if cached is not None and one.kind != "document":
            cached.table.put([one.doc], [num], [VectorPlacement(*found[1:])], vector[None, :])

    # finding

    def held(self, name: str, scope: Scope, kinds: frozenset[str]) -> Iterator[tuple[Turn | Entry, Bytes]]:
        with self._reading():
            table = self._of_user(name, scope.user_id)
            if table is None:
                return
            rows = table.everything()
            found = self._records([doc for doc, _ in rows])
        yield from ((found[doc], vector) for doc, vector in rows if is_held(found[doc], scope, kinds))

    def nearest(self, name: str, query: Floats, scope: Scope, kinds: frozenset[str], limit: int) -> list[NearDocument]:
        with self._reading():
            table = self._of_user(name, scope.user_id)
            if table is None:
                return []
            best = table.best(query, limit, table.within(_within(scope, kinds)))
            found = self._records([doc for doc, _ in best])
        return [NearDocument(found[doc], cosine) for doc, cosine in best if doc in found]

    def cosines(self, name: str, query: Floats, docs: Iterable[int], user_id: str) -> Mapping[int, float]:
        with self._reading():
            table = self._of_user(name, user_id)
            return {} if table is None else table.cosines(query, docs)

    def documents(self, name: str, space: Namespace) -> list[tuple[str, Bytes]]:
        with self._reading():
            slot = self._slot(name)
            if slot is None:
                return []
            rows = self._sql.execute(OF_NAMESPACE.format(slot=slot), (space.user_id, hash_of(space.name))).fetchall()
        return [(document_id, np.frombuffer(packed, dtype=np.int8)) for document_id, packed in rows]

    def warm(self, name: str) -> None:
        with self._reading():
            largest = self._sql.execute("SELECT num, documents FROM owner ORDER BY documents DESC LIMIT 1").fetchone()
        if largest and largest[1] > EXACT:
            self._warm_owner(name, largest[0], lambda: False)

    def warm_others(self, name: str, stopped: Callable[[], bool]) -> None:
        with self._reading():
            owners = self._sql.execute("SELECT num, documents FROM owner ORDER BY documents DESC").fetchall()
            slot = self._slot(name)
            dim = self._dim(slot) if slot is not None else 0
        left = CACHED_BYTES
        for owner, documents in owners:
            left -= size_of(documents, dim)
            if left < 0 or not self._warm_owner(name, owner, stopped):
                return

    def _warm_owner(self, name: str, owner: int, stopped: Callable[[], bool]) -> bool:
        """Read a user's vectors in parts; whether all were read."""
        more = True
        while more:
            if stopped():
                return False
            with self._reading():
                slot = self._slot(name)
                if slot is None:
                    return False
                more = self._read_on(self._cached(slot, owner), slot, owner)
            time.sleep(BREATH_S)
        return True

    # in memory

    def _of_user(self, name: str, user_id: str | None) -> VectorTable | None:
        slot = self._slot(name)
        row = self._sql.execute("SELECT num FROM owner WHERE user_id = ?", (user_id,)).fetchone()
        if slot is None or row is None:
            return None
        cached = self._cached(slot, row[0])
        while self._read_on(cached, slot, row[0]):
            pass
        return cached.table

    def _cached(self, slot: int, owner: int) -> _Cached:
        key = (slot, owner)
        if key not in self._tables:
            table = VectorTable(self._dim(slot), lambda nums: self._read(slot, nums))
            self._tables[key] = _Cached(table, {table: 0 for table, _ in TABLES})
        self._tables.move_to_end(key)
        while len(self._tables) > 1 and sum(one.table.bytes for one in self._tables.values()) > CACHED_BYTES:
            self._tables.popitem(last=False)
        return self._tables[key]

    def _read_on(self, cached: _Cached, slot: int, owner: int) -> bool:
        """Read the next part of a user's vectors; whether there was one."""
        for table, sign in TABLES:
            if table in cached.read_to:
                index = " INDEXED BY turn_owner" if sign > 0 else ""
                sql = OF_OWNER.format(table=table, slot=slot, more=MORE[table], index=index)
                rows = self._sql.execute(sql, (owner, cached.read_to[table], CHUNK)).fetchall()
                if rows:
                    docs, nums, packed = ([row[i] for row in rows] for i in range(3))
                    vectors = np.frombuffer(b"".join(packed), dtype=np.int8).reshape(len(rows), -1)
                    cached.table.put(
                        [sign * doc for doc in docs], nums, [VectorPlacement(*row[3:]) for row in rows], vectors
                    )
                    cached.read_to[table] = docs[-1]
                    return True
                del cached.read_to[table]
        return False

    def _read(self, slot: int, nums: Sequence[int]) -> Bytes:
        rows = self._sql.execute(BY_NUM.format(slot=slot), (json.dumps(list(nums)),)).fetchall()
        dim = self._dim(slot)
        packed = b"".join(row[0] or bytes(dim) for row in rows)
        return np.frombuffer(packed, dtype=np.int8).reshape(len(rows), dim)


def _place(record: Turn | Entry) -> VectorPlacement:
    private, status = (0, ACCEPTED) if isinstance(record, Turn) else (record.private, record.status)
    return VectorPlacement(record.session_id, record.persona_id, record.site_id, record.task_id, private, status)


def _within(scope: Scope, kinds: frozenset[str]) -> VectorFilter:
    place = VectorPlacement(scope.session_id, scope.persona_id, scope.site_id, scope.task_id, status=scope.status)
    return VectorFilter(place, scope.auth_level, "turn" in kinds, "memory" in kinds)
