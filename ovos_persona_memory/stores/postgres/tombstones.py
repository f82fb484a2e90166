"""Tombstones in the PostgreSQL store."""

from __future__ import annotations

from collections.abc import Iterable

from ovos_persona_memory.stores.base.tombstones import KEPT, TombstoneStore
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase

ADD = (
    "INSERT INTO ledger (household, list, hash, at) SELECT %s, %s, n, %s FROM unnest(%s::bigint[]) n"
    " ON CONFLICT (household, user_id, list, hash) DO UPDATE SET at = excluded.at"
)
SHORTEN = (
    "DELETE FROM ledger l USING (SELECT hash FROM ledger WHERE household = %s AND list = %s"
    " ORDER BY at DESC, hash DESC OFFSET %s) g WHERE l.household = %s AND l.list = %s AND l.hash = g.hash"
)


class PostgresTombstones(TombstoneStore):
    """Runs in the store's transactions."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._db, self._home = database, database.settings.household

    def add(self, name: str, hashes: Iterable[int], at: float) -> None:
        with self._db.transaction():
            self._db.run(ADD, self._home, name, at, sorted(set(hashes)))

    def at(self, name: str, number: int) -> float | None:
        sql = "SELECT at FROM ledger WHERE household = %s AND user_id = '' AND list = %s AND hash = %s"
        row = self._db.one(sql, self._home, name, number)
        return row[0] if row else None

    def remove(self, name: str, hashes: Iterable[int]) -> None:
        sql = "DELETE FROM ledger WHERE household = %s AND user_id = '' AND list = %s AND hash = ANY(%s)"
        with self._db.transaction():
            self._db.run(sql, self._home, name, list(set(hashes)))

    def shorten(self, name: str) -> None:
        with self._db.transaction():
            self._db.run(SHORTEN, self._home, name, KEPT[name], self._home, name)

    def listed(self, name: str) -> list[tuple[int, float]]:
        sql = "SELECT hash, at FROM ledger WHERE household = %s AND user_id = '' AND list = %s"
        return [(number, at) for number, at in self._db.all(sql, self._home, name)]
