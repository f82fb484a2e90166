"""Rows of the SQLite store: mapping to records, and conditions for scopes and selections."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from ovos_persona_memory.records import Entry, Scope, Selection, Turn
from ovos_persona_memory.stores.base.store import ExcludedTurn
from ovos_persona_memory.stores.sql.turn_rows import COLUMNS, FLAGS, calls_text, packed, turns_of
from ovos_persona_memory.stores.sql.where_clause import OWNER, PLACES, Where, between, narrowed, owner_name

IN_BODY = ("text", "speaker", "name")
TURN_FIELDS = [*(name for name in COLUMNS if name not in ("seq", "user_id", *IN_BODY)), *FLAGS]
_FROM_TURN = attrgetter(*TURN_FIELDS)
ENTRY_FIELDS = ["id", "lang", "created_at", "updated_at", "turn_id", "status", *PLACES]
ENTRY_COLUMNS = [*ENTRY_FIELDS, "private"]
BODY = "b.text, b.words, b.speaker, b.name, b.data"

# CROSS JOIN keeps SQLite from starting with the owner and sorting afterwards.
_TABLES = {"user_id": "o", **dict.fromkeys(IN_BODY, "b")}
TURN_COLUMNS = ", ".join([*(f"{_TABLES.get(name, 'r')}.{name}" for name in COLUMNS), packed("r.{}"), "b.data"])
TURNS = (
    f"SELECT {TURN_COLUMNS}, b.words"
    " FROM turn r CROSS JOIN owner o ON o.num = r.owner CROSS JOIN body b ON b.num = r.body"
)
TOLD = (
    f"SELECT {TURN_COLUMNS.replace('o.user_id', '?1')},"
    " coalesce((SELECT n.trimmed_to FROM note n WHERE n.user_id = ?1 AND n.session_id = ?2), 0)"
    " FROM turn r INDEXED BY turn_session CROSS JOIN body b ON b.num = r.body"
    " WHERE r.owner = (SELECT o.num FROM owner o WHERE o.user_id = ?1) AND r.session_id = ?2"
    " ORDER BY r.seq DESC LIMIT ?3"
)
"""The newest turns of a user's session, with a last column: the seq up to which the session's note replaces them."""
ENTRIES = (
    f"SELECT r.seq, o.user_id, {BODY}, {', '.join('r.' + name for name in ENTRY_FIELDS)}"
    " FROM entry r CROSS JOIN owner o ON o.num = r.owner CROSS JOIN body b ON b.num = r.body"
)
Body = tuple[str, str, "str | None", "str | None", "str | None"]


def hash_of(word: str) -> int:
    """A 64-bit hash of a word or a key; two of a million words share one with odds of 3 in 10^8."""
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big", signed=True)


def turn_of(row: tuple[Any, ...]) -> tuple[Turn, str]:
    """A row of ``TURNS`` as a turn and its words."""
    return turns_from([row])[0], row[-1]


def turns_from(rows: Iterable[tuple[Any, ...]]) -> list[Turn]:
    """Rows of ``TURNS`` or ``TOLD`` as turns."""
    return turns_of(rows)


def entry_of(row: tuple[Any, ...]) -> tuple[Entry, str]:
    """A row of ``ENTRIES`` as an entry and its words."""
    seq, user_id, text, words, _, key, data, *values = row
    metadata = json.loads(data) if data else {}
    fields = dict(zip(ENTRY_FIELDS, values, strict=True))
    return Entry(seq=seq, user_id=user_id, text=text, key=key, metadata=metadata, **fields), words


def turn_body(turn: Turn, words: str) -> Body:
    """The part of a turn that goes into ``body``."""
    return turn.text, words, turn.speaker, turn.name, calls_text(turn)


def entry_body(entry: Entry, words: str) -> Body:
    """The part of an entry that goes into ``body``."""
    return entry.text, words, None, entry.key, json.dumps(entry.metadata) if entry.metadata else None


def turn_values(turn: Turn) -> tuple[Any, ...]:
    """The values of ``TURN_FIELDS``."""
    values: tuple[Any, ...] = _FROM_TURN(turn)
    return values


def entry_values(entry: Entry) -> list[Any]:
    """The values of ``ENTRY_COLUMNS``."""
    return [getattr(entry, name) for name in ENTRY_COLUMNS]


def within(scope: Scope, owner: int | None, kind: str = "turn") -> Where:
    """Conditions for the rows in scope; ``owner`` is the number of its user, None for everybody's."""
    where = narrowed(Where(), scope, kind)
    return where if owner is None else Where(("r.owner = ?", *where.conditions), (owner, *where.values))


def but_for(where: Where, without: Sequence[ExcludedTurn]) -> Where:
    """Conditions for turns that are not left out."""
    if not without:
        return where
    return where.also(f"r.seq NOT IN ({', '.join('?' * len(without))})", *(one.seq for one in without))


def chosen_turns(selection: Selection, owner: int | None) -> Where | None:
    """Conditions for the turns of a selection; None where it can hold none."""
    if "turn" not in selection.kinds or selection.keys is not None:
        return None
    where = between(within(selection.scope, owner), "at", selection.since, selection.until)
    if selection.ids is not None:
        where = where.also("r.id IN (SELECT value FROM json_each(?))", json.dumps(selection.ids))
    if selection.source is not None:
        where = where.also("? IN (r.skill_id, r.persona_id)", selection.source)
    return _spared(where, selection)


def chosen_entries(selection: Selection, owner: int | None) -> Where | None:
    """Conditions for the entries of a selection; None where it can hold none."""
    if "memory" not in selection.kinds:
        return None
    where = between(within(selection.scope, owner, "memory"), "updated_at", selection.since, selection.until)
    if selection.keys is not None:
        hashes = json.dumps([hash_of(key) for key in selection.keys])
        where = where.also("r.key_hash IN (SELECT value FROM json_each(?))", hashes)
    if selection.owners is not None:
        owners = json.dumps([owner_name(persona_id) for persona_id in selection.owners])
        where = where.also(f"{OWNER} IN (SELECT value FROM json_each(?))", owners)
    if selection.ids is not None:
        where = where.also("r.id IN (SELECT value FROM json_each(?))", json.dumps(selection.ids))
    if selection.source is not None:
        where = where.also("r.persona_id = ?", selection.source)
    return _spared(where, selection)


def _spared(where: Where, selection: Selection) -> Where:
    if not selection.spare:
        return where
    return where.also("r.id NOT IN (SELECT value FROM json_each(?))", json.dumps(selection.spare))


TURNS_LISTED = TURNS.replace("FROM turn r", "FROM json_each(?) j CROSS JOIN turn r ON r.seq = j.value")
ENTRIES_LISTED = ENTRIES.replace("FROM entry r", "FROM json_each(?) j CROSS JOIN entry r ON r.seq = j.value")
ADD_TURN = (
    f"INSERT INTO turn (owner, body, {', '.join(TURN_FIELDS)}) VALUES ({', '.join('?' * (len(TURN_FIELDS) + 2))})"
)
CHANGE_TURN = f"UPDATE turn SET owner = ?, body = ?, {', '.join(f'{name} = ?' for name in TURN_FIELDS)} WHERE seq = ?"
ADD_ENTRY = (
    f"INSERT INTO entry (key_hash, owner, body, {', '.join(ENTRY_COLUMNS)})"
    f" VALUES ({', '.join('?' * (len(ENTRY_COLUMNS) + 3))})"
)
CHANGE_ENTRY = f"UPDATE entry SET body = ?, {', '.join(f'{name} = ?' for name in ENTRY_COLUMNS)} WHERE seq = ?"


def add_body(sql: sqlite3.Connection, body: Body) -> int:
    """The number of a new row."""
    cursor = sql.execute("INSERT INTO body (text, words, speaker, name, data) VALUES (?, ?, ?, ?, ?)", body)
    return int(cursor.lastrowid or 0)


def empty_bodies(sql: sqlite3.Connection, nums: Sequence[int]) -> None:
    """Empty the texts of these rows; the next purge makes them gone."""
    sql.executemany(
        "UPDATE body SET text = NULL, words = NULL, speaker = NULL, name = NULL, data = NULL WHERE num = ?",
        [(num,) for num in sorted(nums)],
    )
    for table in ("vector_0", "vector_1"):
        sql.executemany(f"UPDATE {table} SET vector = NULL WHERE body = ?", [(num,) for num in sorted(nums)])
    sql.execute("INSERT OR IGNORE INTO pending (what) VALUES ('purge')")


def replaced_body(sql: sqlite3.Connection, num: int, body: Body) -> int:
    """The number of the row with the new text; the same where nothing changed."""
    if sql.execute("SELECT text, words, speaker, name, data FROM body WHERE num = ?", (num,)).fetchone() == body:
        return num
    empty_bodies(sql, [num])
    return add_body(sql, body)
