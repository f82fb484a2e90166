"""Offline queue: what waits on this device for a store that is away, in one SQLite file with the memory's
protections."""

from __future__ import annotations

import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from ovos_persona_memory.records import Pause
from ovos_persona_memory.stores.sqlite import driver
from ovos_persona_memory.stores.sqlite.database_file import (
    configure,
    create_private,
    driver_errors,
    mark,
    prepare_folder,
    refuse_key,
    set_aside,
)

DATABASE = "waiting.db"
APPLICATION_ID = 0x4F504D57  # OPMW
# As in schema/001.sql texts stand in rows that are only ever appended, then emptied in place.
TABLES = """
CREATE TABLE IF NOT EXISTS waiting (
    num INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, kind TEXT, at REAL, owner INTEGER, tried INTEGER, body BLOB);
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value BLOB NOT NULL);
"""


@dataclass(frozen=True)
class QueuedArrival:
    """One event or request in the queue."""

    id: str
    """An id made at its arrival, unique across devices."""
    kind: Literal["heard", "request"]
    at: float
    """When it arrived, seconds since the epoch, UTC."""
    body: bytes
    owner: bool = False
    """Whether it came through the owner's door."""
    tried: bool = False
    """Whether the store may hold it already: the connection was lost while it was written."""
    num: int = 0
    """Its number among everything ever queued, given by the file."""


class OfflineQueue:
    """A queue on disk, oldest first. Thread-safe. Every driver error arrives as a StoreError.

    Whatever ``add`` was given is on the disk when it returns: the journal is synced at each commit.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time, key: str | None = None) -> None:
        """A damaged file is set aside, and a new one is made. ``key``: of an encrypted file, as of a store."""
        prepare_folder(folder)
        self._path, self._key = folder / DATABASE, key
        refuse_key(self._path, key)
        self._lock = threading.RLock()  # guards the connection and the count
        self._guard = driver_errors(self._path, self._lock)
        with self._guard:
            try:
                self._sql = self._opened()
            except Exception as error:
                if not driver.is_driver_error(error) or not driver.is_damage(error):
                    raise
                set_aside(self._path, clock)
                self._sql = self._opened()
            self._length: int = self._sql.execute("SELECT count(body) FROM waiting").fetchone()[0]
        self.device = self._named()
        """This device's name in the shared store: unique, and new with each new file."""

    def _opened(self) -> sqlite3.Connection:
        create_private(self._path)
        if self._key is not None:
            mark(self._path, encrypted=True)
        connection = driver.connect(self._path, self._key, check_same_thread=False)
        try:
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("malformed")
            configure(connection)
            connection.executescript(f"{TABLES} PRAGMA application_id = {APPLICATION_ID:d};")
        except BaseException:
            connection.close()
            raise
        return connection

    def _named(self) -> str:
        found = self._state("device")
        if found is None:
            found = uuid.uuid4().hex.encode()
            self._put_state("device", found)
        return found.decode()

    def __len__(self) -> int:
        return self._length

    def close(self) -> None:
        """Release the file; a second call does nothing."""
        with self._guard:
            self._sql.close()

    def add(self, kept: Sequence[QueuedArrival]) -> None:
        """Append these, all or none; they are on the disk when this returns."""
        rows = [(one.id, one.kind, one.at, one.owner, one.tried, one.body) for one in kept]
        with self._guard:
            self._sql.execute("BEGIN IMMEDIATE")
            try:
                self._sql.executemany(
                    "INSERT INTO waiting (id, kind, at, owner, tried, body) VALUES (?, ?, ?, ?, ?, ?)", rows
                )
                self._sql.execute("COMMIT")
            except BaseException:
                if self._sql.in_transaction:
                    self._sql.execute("ROLLBACK")
                raise
            self._length += len(rows)

    def oldest(self, limit: int) -> list[QueuedArrival]:
        """At most ``limit`` items, the oldest first."""
        return self._some("ASC", limit)

    def newest(self, limit: int) -> list[QueuedArrival]:
        """At most ``limit`` of the newest items, oldest first."""
        return self._some("DESC", limit)[::-1]

    def _some(self, order: Literal["ASC", "DESC"], limit: int) -> list[QueuedArrival]:
        with self._guard:
            rows = self._sql.execute(
                "SELECT id, kind, at, body, owner, tried, num FROM waiting WHERE body IS NOT NULL"
                f" ORDER BY num {order} LIMIT ?",
                (limit,),
            ).fetchall()
        return [QueuedArrival(row[0], row[1], row[2], row[3], bool(row[4]), bool(row[5]), row[6]) for row in rows]

    def empty(self, up_to: int) -> None:
        """Delete the items up to this number, which were delivered: their texts are gone from the file and its
        journal."""
        with self._guard:
            self._sql.execute("UPDATE waiting SET body = NULL WHERE num <= ? AND body IS NOT NULL", (up_to,))
            self._length = self._sql.execute("SELECT count(body) FROM waiting").fetchone()[0]
            if not self._length:
                self._sql.execute("DELETE FROM waiting")  # rows without any text
            self._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    # pauses

    def pauses(self) -> list[Pause] | None:
        """The pauses of the shared store as last known; None where they never were."""
        found = self._state("pauses")
        return None if found is None else msgspec.json.decode(found, type=list[Pause])

    def keep_pauses(self, pauses: Sequence[Pause]) -> None:
        """Replace the known pauses."""
        self._put_state("pauses", msgspec.json.encode(pauses))

    def _state(self, name: str) -> bytes | None:
        with self._guard:
            row = self._sql.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def _put_state(self, name: str, value: bytes) -> None:
        with self._guard:
            self._sql.execute("INSERT OR REPLACE INTO state (name, value) VALUES (?, ?)", (name, value))
