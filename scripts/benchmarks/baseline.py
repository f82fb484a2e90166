"""Bare statements on the tables of a store: what is new in them, the same rows written, turns written and read."""

from __future__ import annotations

import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg

from ovos_persona_memory.records import Turn
from ovos_persona_memory.search.record_terms import index_words
from ovos_persona_memory.stores.postgres import rows
from ovos_persona_memory.stores.sqlite import rows as sqlite_rows
from ovos_persona_memory.stores.sqlite.rows import add_body
from ovos_persona_memory.stores.sqlite.store import SqliteStore

CONNECTIONS = 8
"""Concurrent writers where each session commits by itself."""
SCHEMA = "-c search_path=persona_memory,public"
Row = tuple[Any, ...]
Rows = dict[str, list[Row]]
"""Rows of each table."""


class BareTables(ABC):
    """One connection beside the store's own."""

    mark: str
    """The placeholder of a value in this dialect."""
    keys: Mapping[str, tuple[list[str], list[str]]]
    """For each table its columns, and those of its primary key."""

    @abstractmethod
    def news(self) -> Rows:
        """Rows that are new or changed since the last call; deleted rows are not reported."""

    def put(self, rows: Rows) -> None:
        """Write rows as they are, in one commit."""
        self.put_together([rows])

    @abstractmethod
    def put_together(self, parts: Sequence[Rows]) -> None:
        """Write one part after the other, all in one commit."""

    def put_each(self, parts: Sequence[Rows]) -> list[float]:
        """Write each part in a commit of its own, all requested at once: the seconds until each was durable."""
        began, waited = time.perf_counter(), []
        for part in parts:
            self.put(part)
            waited.append(time.perf_counter() - began)
        return waited

    @abstractmethod
    def keep(self, turns: Sequence[Turn]) -> None:
        """Write turns, their own rows alone, in one commit."""

    @abstractmethod
    def read(self, turn: Turn, limit: int) -> None:
        """Read the newest turns of a session."""

    @abstractmethod
    def close(self) -> None:
        """End the connection."""

    def _upsert(self, table: str) -> str:
        columns, key = self.keys[table]
        others = [name for name in columns if name not in key]
        then = "UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in others) if others else "NOTHING"
        marks = ", ".join([self.mark] * len(columns))
        names, keyed = ", ".join(columns), ", ".join(key)
        return f"INSERT INTO {table} ({names}) VALUES ({marks}) ON CONFLICT ({keyed}) DO {then}"


class BarePostgres(BareTables):
    """See BareTables."""

    mark = "%s"

    def __init__(self, url: str) -> None:
        self._url, self._others = url, list[psycopg.Connection[Any]]()
        self._sql = psycopg.connect(url, autocommit=True, options=SCHEMA)
        self._read = f"{rows.TURNS} WHERE r.household = %s AND r.user_id = %s AND r.session_id = %s"
        found = self._sql.execute(
            "SELECT c.relname, array_agg(a.attname ORDER BY a.attnum),"
            " array_agg(a.attname ORDER BY a.attnum) FILTER"
            " (WHERE a.attnum = ANY((i.indkey::int2[])[0:i.indnkeyatts - 1]))"
            " FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary"
            " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
            " WHERE c.relnamespace = 'persona_memory'::regnamespace AND c.relname <> 'schema_step' GROUP BY 1"
        ).fetchall()
        self.keys = {table: (columns, key) for table, columns, key in found}
        self._since = 0

    def news(self) -> Rows:
        since = self._since
        (self._since,) = self._sql.execute("SELECT pg_current_xact_id()::text::bigint").fetchone() or (0,)
        return {
            table: self._sql.execute(
                f"SELECT {', '.join(columns)} FROM {table} WHERE xmin::text::bigint > %s", (since,)
            ).fetchall()
            for table, (columns, _) in self.keys.items()
        }

    def put_together(self, parts: Sequence[Rows]) -> None:
        self._put(self._sql, parts)

    def _put(self, sql: psycopg.Connection[Any], parts: Sequence[Rows]) -> None:
        with sql.transaction(), sql.cursor() as cursor:
            for table, every in (one for part in parts for one in part.items()):
                if every:
                    cursor.executemany(self._upsert(table), every)

    def put_each(self, parts: Sequence[Rows]) -> list[float]:
        """See BareTables; over some connections at a time, as many sessions would share them."""
        while len(self._others) < CONNECTIONS:
            self._others.append(psycopg.connect(self._url, autocommit=True, options=SCHEMA))
        began = time.perf_counter()

        def put(number: int) -> list[float]:
            waited = []
            for part in parts[number::CONNECTIONS]:
                self._put(self._others[number], [part])
                waited.append(time.perf_counter() - began)
            return waited

        with ThreadPoolExecutor(CONNECTIONS) as pool:
            return [one for each in pool.map(put, range(CONNECTIONS)) for one in each]

    def keep(self, turns: Sequence[Turn]) -> None:
        self._sql.execute("BEGIN")
        for turn in turns:
            values = rows.turn_values(turn, index_words(turn))
            self._sql.execute(rows.ADD_TURN, ("home", turn.user_id, *values)).fetchone()
        self._sql.execute("COMMIT")

    def read(self, turn: Turn, limit: int) -> None:
        names = ("home", turn.user_id, turn.session_id, limit)
        self._sql.execute(f"{self._read} ORDER BY r.seq DESC LIMIT %s", names).fetchall()

    def close(self) -> None:
        for sql in (self._sql, *self._others):
            sql.close()


class BareSqlite(BareTables):
    """See BareTables. Its file is made where there is none."""

    mark = "?"

    def __init__(self, folder: Path) -> None:
        if not folder.exists():
            SqliteStore(folder).close()
        self._sql = sqlite3.connect(folder / "memory.db", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "cache_size = -8000"):
            self._sql.execute(f"PRAGMA {pragma}")
        self._read = f"{sqlite_rows.TURNS} WHERE r.owner = ? AND r.session_id = ? ORDER BY r.seq DESC LIMIT ?"
        tables = self._sql.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        self.keys = {table: self._columns(table) for (table,) in tables.fetchall()}
        self._known: dict[str, set[Row]] = {}
        self._newest = 0

    def _columns(self, table: str) -> tuple[list[str], list[str]]:
        told = self._sql.execute(f"PRAGMA table_info({table})").fetchall()
        columns, key = [one[1] for one in told], [one[1] for one in told if one[5]]
        return (columns, key) if key else (["rowid", *columns], ["rowid"])

    def news(self) -> Rows:
        return {table: self._news(table) for table in self.keys}

    def _news(self, table: str) -> list[Row]:
        names = ", ".join(self.keys[table][0])
        if table == "posting":  # they are many, and never changed
            found = self._sql.execute(f"SELECT {names} FROM posting WHERE doc > ?", (self._newest,)).fetchall()
            self._newest = max([self._newest, *(row[1] for row in found)])
            return found
        every = set(self._sql.execute(f"SELECT {names} FROM {table}"))
        known, self._known[table] = self._known.get(table, set()), every
        return sorted(every - known, key=lambda row: row[0])

    def put_together(self, parts: Sequence[Rows]) -> None:
        self._sql.execute("BEGIN IMMEDIATE")
        for table, every in (one for part in parts for one in part.items()):
            if every:
                self._sql.executemany(self._upsert(table), every)
        self._sql.execute("COMMIT")

    def _owner(self, user_id: str) -> int:
        sql = "INSERT INTO owner (user_id) VALUES (?) ON CONFLICT DO UPDATE SET user_id = user_id RETURNING num"
        return int(self._sql.execute(sql, (user_id,)).fetchone()[0])

    def keep(self, turns: Sequence[Turn]) -> None:
        self._sql.execute("BEGIN IMMEDIATE")
        for turn in turns:
            body = add_body(self._sql, sqlite_rows.turn_body(turn, index_words(turn)))
            self._sql.execute(sqlite_rows.ADD_TURN, (self._owner(turn.user_id), body, *sqlite_rows.turn_values(turn)))
        self._sql.execute("COMMIT")

    def read(self, turn: Turn, limit: int) -> None:
        (owner,) = self._sql.execute("SELECT num FROM owner WHERE user_id = ?", (turn.user_id,)).fetchone()
        self._sql.execute(self._read, (owner, turn.session_id, limit)).fetchall()

    def close(self) -> None:
        self._sql.close()
