"""Session notes in the SQLite store: summaries, descriptions and trim marks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from ovos_persona_memory.records import Note, Scope, Selection
from ovos_persona_memory.stores.base.selection import takes_note
from ovos_persona_memory.stores.sql.where_clause import Where
from ovos_persona_memory.stores.sqlite.rows import add_body, empty_bodies, replaced_body

NOTES = (
    "SELECT n.user_id, n.session_id, n.body, b.text, b.name, n.trimmed_to, n.updated_at, n.summarised_at"
    " FROM note n JOIN body b ON b.num = n.body"
)
NoteRow = tuple[str, str, int]
"""User, session and number of the body."""
RETOLD = (
    "SELECT DISTINCT n.user_id, n.session_id, n.body FROM json_each(?) j CROSS JOIN turn r ON r.seq = j.value"
    " CROSS JOIN owner o ON o.num = r.owner"
    " CROSS JOIN note n ON n.user_id = o.user_id AND n.session_id = r.session_id AND n.seq >= r.seq"
)


class SqliteSessionNotes:
    """Works on the store's connection, within the store's transactions and under its lock."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def note(self, user_id: str, session_id: str) -> Note | None:
        """See Store.note."""
        row = self._sql.execute(f"{NOTES} WHERE n.user_id = ? AND n.session_id = ?", (user_id, session_id)).fetchone()
        return Note(*row[3:]) if row else None

    def put(self, user_id: str, session_id: str, note: Note) -> None:
        """See Store.put_note."""
        body = (note.summary, "", None, note.description, None)
        old = self._sql.execute(
            "SELECT body FROM note WHERE user_id = ? AND session_id = ?", (user_id, session_id)
        ).fetchone()
        num = replaced_body(self._sql, old[0], body) if old else add_body(self._sql, body)
        self._sql.execute(
            "INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?, (SELECT coalesce(max(seq), 0) FROM turn), ?, ?)",
            (user_id, session_id, num, note.trimmed_to, note.updated_at, note.summarised_at),
        )

    def chosen(self, selection: Selection, seqs: Sequence[int]) -> list[NoteRow]:
        """The notes that are selected, or may retell one of these turns."""
        return sorted({*self.retelling(seqs), *self._within(selection)})

    def retelling(self, seqs: Sequence[int]) -> list[NoteRow]:
        """The notes that may retell one of these turns."""
        return self._sql.execute(RETOLD, (json.dumps(seqs),)).fetchall()

    def named(self, names: Sequence[tuple[str, str]]) -> list[NoteRow]:
        """The notes of these users and sessions."""
        sql = f"{NOTES} WHERE n.user_id = ? AND n.session_id = ?"
        found = (self._sql.execute(sql, name).fetchone() for name in set(names))
        return [row[:3] for row in found if row]

    def held(self, scope: Scope) -> list[tuple[str, str, Note]]:
        """See Store.notes."""
        return [(row[0], row[1], Note(*row[3:])) for row in self._in_scope(scope)]

    def delete(self, gone: Sequence[NoteRow]) -> None:
        """Delete these notes."""
        if gone:
            empty_bodies(self._sql, [body for _, _, body in gone])
            self._sql.executemany("DELETE FROM note WHERE user_id = ? AND session_id = ?", [row[:2] for row in gone])

    def _within(self, selection: Selection) -> list[NoteRow]:
        found = self._in_scope(selection.scope)
        return [row[:3] for row in found if takes_note(selection, row[0], row[1], Note(*row[3:]))]

    def _in_scope(self, scope: Scope) -> list[tuple[Any, ...]]:
        where = Where()
        if scope.user_id is not None:
            where = where.also("n.user_id = ?", scope.user_id)
        if scope.session_id is not None:
            where = where.also("n.session_id = ?", scope.session_id)
        return self._sql.execute(f"{NOTES}{where}", where.values).fetchall()
