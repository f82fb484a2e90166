"""An opened SQLite database: lock, transactions, purging and details."""

from __future__ import annotations

import sqlite3
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from ovos_persona_memory.errors import StoreBusy, StoreError
from ovos_persona_memory.stores.base.folder_lock import FolderLock
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.sqlite.copies import sweep_copies
from ovos_persona_memory.stores.sqlite.database_file import (
    driver_errors,
    open_database,
    prepare_folder,
    schema_step,
    set_aside_before,
)
from ovos_persona_memory.stores.sqlite.wal_sync import WalFile

DATABASE = "memory.db"
COMPACTED_PAGES = 1000
"""A file of fewer pages (4 MB) is not compacted, however empty it is."""


class SqliteDatabase(Store):
    """The part of the store that knows no table but ``pending``. Owns its folder until closed."""

    durable = True

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time, key: str | None = None) -> None:
        """``key``: of an encrypted database; None: it is not encrypted."""
        self._path = folder / DATABASE
        self._encrypted = key is not None
        self._lock = threading.RLock()  # guards the connection and the transaction's state
        self._guard = driver_errors(self._path, self._lock)
        self._whole = _Transaction(self._guard, self._begin, self._finish)
        self._emptied = False
        self._depth = 0
        self._failed = False
        self._repaired = False
        prepare_folder(folder)
        self._folder_lock = FolderLock(folder)
        try:
            sweep_copies(folder)
            self._sql, self._set_aside = open_database(self._path, clock, self._settle, key)
        except BaseException:
            self._folder_lock.release()
            raise
        # where the file system has no shared memory, SQLite keeps none
        has_journal = self._one("PRAGMA journal_mode")[0] == "wal"
        self._journal = WalFile(self._path) if has_journal else None

    @abstractmethod
    def _settle(self, connection: sqlite3.Connection) -> None:
        """Prepare a connection whose schema is current; called while opening."""

    def close(self) -> None:
        with self._guard:
            try:
                self._sql.close()
            finally:
                if self._journal is not None:
                    self._journal.close()
                self._folder_lock.release()

    def transaction(self) -> AbstractContextManager[None]:
        return self._whole

    def _begin(self) -> None:
        if not self._depth:
            self._sql.execute("BEGIN IMMEDIATE")
        self._depth += 1

    def _finish(self, failed: bool) -> None:
        try:
            self._failed = self._failed or failed
            if self._depth == 1 and not failed:
                self._commit()
        except BaseException:
            self._failed = True
            raise
        finally:
            self._depth -= 1
            if not self._depth:
                self._end()

    @contextmanager
    def unsynced(self) -> Iterator[None]:
        with self._unhurried(), self.transaction():
            yield

    @contextmanager
    def _unhurried(self) -> Iterator[None]:
        """Commits in this context do not wait for the disk; they are written in order with those before and after."""
        with self._reading():
            if self._depth or self._journal is None:
                yield
                return
            self._sql.execute("PRAGMA synchronous = NORMAL")
            try:
                yield
            finally:
                self._sql.execute("PRAGMA synchronous = FULL")

    def sync(self) -> None:
        if self._journal is not None:
            self._journal.sync()

    def _commit(self) -> None:
        if self._failed:
            raise StoreError("a part of the transaction failed")
        self._sql.execute("COMMIT")

    @abstractmethod
    def _undone(self) -> None:
        """Called after a rollback: caches of the tables are out of date."""

    def _end(self) -> None:
        if self._failed or self._sql.in_transaction:
            self._undone()
        self._failed = False
        if self._sql.in_transaction:
            self._sql.execute("ROLLBACK")

    def _reading(self) -> AbstractContextManager[None]:
        return self._guard

    def _one(self, sql: str, *values: Any) -> Any:
        """The first row; None where there is none."""
        return self._sql.execute(sql, values).fetchone()

    def purge(self) -> None:
        with self._reading():
            if self._depth:
                raise StoreError("forgetting is finished after a transaction, not within")
            if not self._pending():
                return
            if self._one("PRAGMA wal_checkpoint(TRUNCATE)")[0]:
                raise StoreBusy(f"another program is reading {self._path}: close it, then what was forgotten can go")
            self._sql.execute("DELETE FROM pending WHERE what <> 'compact'")
            self._emptied = True

    def compact(self) -> bool:
        with self._reading():
            due = self._has("compact") or (self._emptied and self._is_mostly_empty())
            self._emptied = False
            if not due or self._depth:
                return False
            # rows that are deleted leave copies of their neighbours behind, until the file is written anew:
            # where the rewriting is interrupted, opening repeats it
            with self.transaction():
                self._sql.execute("INSERT OR IGNORE INTO pending (what) VALUES ('compact')")
                self._sql.execute("DELETE FROM body WHERE text IS NULL AND num < (SELECT max(num) FROM body)")
            self._sql.execute("VACUUM")
            self._sql.execute("DELETE FROM pending WHERE what = 'compact'")
            self._one("PRAGMA wal_checkpoint(TRUNCATE)")
        return True

    def _is_mostly_empty(self) -> bool:
        pages, free = self._one("PRAGMA page_count")[0], self._one("PRAGMA freelist_count")[0]
        if pages < COMPACTED_PAGES:
            return False
        bodies, held = self._one("SELECT count(*), count(text) FROM body")
        return bool(free * 2 > pages or held * 2 < bodies)

    def purge_later(self) -> None:
        with self.transaction():
            self._sql.execute("INSERT OR IGNORE INTO pending (what) VALUES ('purge')")

    def _pending(self) -> bool:
        return self._has("purge") or self._has("compact")

    def _has(self, what: str) -> bool:
        return self._one("SELECT 1 FROM pending WHERE what = ?", what) is not None

    def details(self) -> dict[str, Any]:
        with self._reading():
            return {
                "path": str(self._path),
                "bytes": sum(file.stat().st_size for file in self._path.parent.glob(f"{DATABASE}*")),
                "schema": schema_step(self._sql),
                "sqlite": self._one("SELECT sqlite_version()")[0],
                "encrypted": self._encrypted,
                "set_aside": [*self._set_aside, *set_aside_before(self._path, self._set_aside)],
                "index_rebuilt": self._repaired,
            }


class _Transaction:
    """All or nothing. One object may be entered within itself, which costs less than a generator each time."""

    def __init__(self, guard: driver_errors, begin: Callable[[], None], finish: Callable[[bool], None]) -> None:
        self._guard = guard
        self._begin = begin
        self._finish = finish

    def __enter__(self) -> None:
        self._guard.__enter__()
        try:
            self._begin()
        except BaseException as error:
            self._guard.__exit__(type(error), error, None)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        try:
            self._finish(error is not None)
        except BaseException as failure:
            self._guard.__exit__(type(failure), failure, None)
            raise
        self._guard.__exit__(kind, error, traceback)
