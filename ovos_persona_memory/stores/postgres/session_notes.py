"""Session notes in the PostgreSQL store: summaries, descriptions and trim marks."""

from __future__ import annotations

from collections.abc import Sequence

from ovos_persona_memory.records import Note, Scope, Selection, Turn
from ovos_persona_memory.stores.base.selection import takes_note
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase
from ovos_persona_memory.stores.postgres.rows import NEXT, of_household

NOTES = (
    "SELECT r.user_id, r.session_id, r.summary, r.description, r.trimmed_to, r.updated_at, r.summarised_at FROM note r"
)
PUT = (
    "INSERT INTO note"
    " (household, user_id, session_id, seq, summary, description, trimmed_to, updated_at, summarised_at)"
    f" VALUES (%s, %s, %s, {NEXT}, %s, %s, %s, %s, %s) ON CONFLICT (household, user_id, session_id) DO UPDATE SET"
    " seq = excluded.seq, summary = excluded.summary, description = excluded.description,"
    " trimmed_to = excluded.trimmed_to, updated_at = excluded.updated_at, summarised_at = excluded.summarised_at"
)
RETELLING = (
    "SELECT DISTINCT r.user_id, r.session_id"
    " FROM unnest(%s::text[], %s::text[], %s::bigint[]) t (user_id, session, seq)"
    " JOIN note r ON r.household = %s AND r.user_id = t.user_id AND r.session_id = t.session AND r.seq >= t.seq"
)
Name = tuple[str, str]
"""User and session."""


class PostgresSessionNotes:
    """See the methods of Store of these names."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._db, self._home = database, database.settings.household

    def note(self, user_id: str, session_id: str) -> Note | None:
        """See Store.note."""
        sql = f"{NOTES} WHERE r.household = %s AND r.user_id = %s AND r.session_id = %s"
        row = self._db.one(sql, self._home, user_id, session_id)
        return Note(*row[2:]) if row else None

    def put(self, user_id: str, session_id: str, note: Note) -> None:
        """See Store.put_note: turns with a seq below the note's were there when it was put."""
        values = (note.summary, note.description, note.trimmed_to, note.updated_at, note.summarised_at)
        self._db.run(PUT, self._home, user_id, session_id, *values)

    def held(self, scope: Scope) -> list[tuple[str, str, Note]]:
        """See Store.notes."""
        where = of_household(self._home)
        if scope.user_id is not None:
            where = where.also("r.user_id = %s", scope.user_id)
        if scope.session_id is not None:
            where = where.also("r.session_id = %s", scope.session_id)
        return [(row[0], row[1], Note(*row[2:])) for row in self._db.all(f"{NOTES}{where}", *where.values)]

    def retelling(self, turns: Sequence[Turn]) -> list[Name]:
        """See Store.notes_retelling."""
        said = [turn for turn in turns if turn.session_id is not None]
        columns = [[turn.user_id for turn in said], [turn.session_id for turn in said], [turn.seq for turn in said]]
        return [(row[0], row[1]) for row in self._db.all(RETELLING, *columns, self._home)] if said else []

    def chosen(self, selection: Selection, turns: Sequence[Turn]) -> list[Name]:
        """The notes that are selected, or may retell one of these turns."""
        held = self.held(selection.scope)
        within = [(user, session) for user, session, note in held if takes_note(selection, user, session, note)]
        return sorted({*within, *self.retelling(turns)})

    def delete(self, names: Sequence[Name]) -> int:
        """See Store.delete_notes."""
        sql = "DELETE FROM note WHERE household = %s AND user_id = %s AND session_id = %s"
        return sum(self._db.run(sql, self._home, *name) for name in set(names))
