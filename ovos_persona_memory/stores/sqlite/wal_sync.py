"""Syncing SQLite's write-ahead log to the disk while SQLite goes on writing it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from ovos_persona_memory.errors import StoreError


class WalFile:
    """The write-ahead log of a database (sqlite.org/wal.html); it stays the same file as long as that is open.

    Thread-safe. SQLite holds no lock on this file, so that opening and closing it here releases none
    (sqlite.org/howtocorrupt.html, 2.2, is about the database itself).
    """

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}-wal")
        self._lock = threading.Lock()  # guards the descriptor
        self._descriptor: int | None = None

    def sync(self) -> None:
        """Return when everything written to it is on the disk; StoreError where it cannot be."""
        try:
            with self._lock:
                if self._descriptor is None:
                    self._descriptor = _opened(self._path)
                os.fdatasync(self._descriptor)
        except OSError as error:
            raise StoreError(f"{self._path} could not be brought to the disk: {error.strerror}") from error

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
            self._descriptor = None


def _opened(path: Path) -> int:
    """A descriptor of the file, whose directory entry is on the disk, too."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return os.open(path, os.O_RDWR)
