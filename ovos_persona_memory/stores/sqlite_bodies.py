"""Texts in the SQLite store: rows of ``body``, only ever appended, then emptied in place (schema/001.sql says why)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ovos_persona_memory.stores.sqlite_rows import Body


def add_body(sql: sqlite3.Connection, body: Body) -> int:
    """The number of a new row."""
    cursor = sql.execute("INSERT INTO body (text, words, speaker, name, data) VALUES (?, ?, ?, ?, ?)", body)
    return int(cursor.lastrowid or 0)


def empty_bodies(sql: sqlite3.Connection, nums: Sequence[int]) -> None:
    """Take the texts out of these rows; the next purge makes them gone."""
    sql.executemany(
        "UPDATE body SET text = NULL, words = NULL, speaker = NULL, name = NULL, data = NULL WHERE num = ?",
        [(num,) for num in sorted(nums)],
    )
    for table in ("vector_0", "vector_1"):
        sql.executemany(f"UPDATE {table} SET vector = NULL WHERE body = ?", [(num,) for num in sorted(nums)])
    sql.execute("INSERT OR IGNORE INTO pending (what) VALUES ('purge')")


def replaced_body(sql: sqlite3.Connection, num: int, body: Body) -> int:
    """The number of the new row; the same where nothing changed."""
    if sql.execute("SELECT text, words, speaker, name, data FROM body WHERE num = ?", (num,)).fetchone() == body:
        return num
    empty_bodies(sql, [num])
    return add_body(sql, body)
