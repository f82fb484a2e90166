"""Tombstones in the SQLite store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from ovos_persona_memory.stores.base.tombstones import ANSWERED, FORGOTTEN, KEPT, TombstoneStore

LISTS = {FORGOTTEN: 0, ANSWERED: 1}
Context = Callable[[], AbstractContextManager[None]]


class SqliteTombstones(TombstoneStore):
    """Works on the store's connection, within the store's transactions and under its lock."""

    def __init__(self, connection: sqlite3.Connection, transaction: Context, reading: Context) -> None:
        self._sql = connection
        self._transaction = transaction
        self._reading = reading

    def add(self, name: str, hashes: Iterable[int], at: float) -> None:
        with self._transaction():
            self._sql.executemany(
                "INSERT OR REPLACE INTO ledger (list, hash, at) VALUES (?, ?, ?)",
                [(LISTS[name], number, at) for number in sorted(set(hashes))],
            )

    def at(self, name: str, number: int) -> float | None:
        with self._reading():
            sql = "SELECT at FROM ledger WHERE list = ? AND hash = ?"
            row = self._sql.execute(sql, (LISTS[name], number)).fetchone()
        return row[0] if row else None

    def remove(self, name: str, hashes: Iterable[int]) -> None:
        with self._transaction():
            gone = [(LISTS[name], number) for number in set(hashes)]
            self._sql.executemany("DELETE FROM ledger WHERE list = ? AND hash = ?", gone)

    def shorten(self, name: str) -> None:
        of_list = "SELECT hash FROM ledger WHERE list = ?1 ORDER BY at DESC, hash DESC LIMIT -1 OFFSET ?2"
        with self._transaction():
            self._sql.execute(f"DELETE FROM ledger WHERE list = ?1 AND hash IN ({of_list})", (LISTS[name], KEPT[name]))

    def listed(self, name: str) -> list[tuple[int, float]]:
        with self._reading():
            return self._sql.execute("SELECT hash, at FROM ledger WHERE list = ?", (LISTS[name],)).fetchall()
