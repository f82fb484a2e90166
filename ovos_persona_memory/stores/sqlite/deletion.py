"""Deletion in the SQLite store: which rows of turns, memories and notes a selection takes, and deleting them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ovos_persona_memory.records import Selection
from ovos_persona_memory.stores.sql.where_clause import Where
from ovos_persona_memory.stores.sqlite import rows
from ovos_persona_memory.stores.sqlite.postings import SqlitePostings
from ovos_persona_memory.stores.sqlite.rows import empty_bodies
from ovos_persona_memory.stores.sqlite.session_notes import NoteRow, SqliteSessionNotes
from ovos_persona_memory.stores.sqlite.turn_queries import newest_turns

CHUNK = 2000
DELETED = (
    "SELECT r.seq, r.owner, r.body, b.words FROM json_each(?) j"
    " CROSS JOIN {table} r ON r.seq = j.value CROSS JOIN body b ON b.num = r.body"
)


@dataclass(frozen=True)
class SelectedRows:
    """The rows that a selection takes."""

    turns: Sequence[int]
    """The ``seq`` of each turn, newest first."""
    entries: Sequence[int]
    notes: Sequence[NoteRow]


class SqliteDeletion:
    """Works on the store's connection, within the store's transactions and under its lock."""

    def __init__(self, connection: sqlite3.Connection, index: SqlitePostings, notes: SqliteSessionNotes) -> None:
        self._sql = connection
        self._index = index
        self._notes = notes

    def chosen(self, selection: Selection, owner: int | None) -> SelectedRows:
        """The selected rows; ``owner`` is the number of its user, None for everybody's."""
        turns, entries = self.records(selection, owner)
        return SelectedRows(turns, entries, self._notes.chosen(selection, turns))

    def records(self, selection: Selection, owner: int | None) -> tuple[list[int], list[int]]:
        """The ``seq`` of each selected turn, and of each memory, newest first."""
        of_entries = rows.chosen_entries(selection, owner)
        if selection.words is None:
            return newest_turns(self._sql, selection, owner, None), self._seqs("entry r", of_entries)
        held = self._index.holding(selection.words, owner)
        of_turns = rows.chosen_turns(selection, owner)
        turns = self._seqs("json_each(?) j CROSS JOIN turn r ON r.seq = j.value", of_turns, held)
        return turns, self._seqs("json_each(?) j CROSS JOIN entry r ON r.seq = -j.value", of_entries, held)

    def _seqs(self, source: str, where: Where | None, held: Collection[int] | None = None) -> list[int]:
        if where is None:
            return []
        listed = () if held is None else (json.dumps(list(held)),)
        found = self._sql.execute(f"SELECT r.seq FROM {source}{where} ORDER BY r.seq DESC", (*listed, *where.values))
        return [seq for (seq,) in found]

    def turn_ids(self, chosen: SelectedRows) -> list[str]:
        """The ids of the selected turns."""
        sql = "SELECT t.id FROM json_each(?) j CROSS JOIN turn t ON t.seq = j.value"
        return [turn_id for (turn_id,) in self._sql.execute(sql, (json.dumps(list(chosen.turns)),))]

    def ids_among(self, chosen: SelectedRows, turn_ids: Sequence[str]) -> set[str]:
        """Those of these turns that are selected."""
        seqs = set(chosen.turns)
        found = self._sql.execute(
            "SELECT t.id, t.seq FROM json_each(?) j CROSS JOIN turn t ON t.id = j.value", (json.dumps(list(turn_ids)),)
        )
        return {turn_id for turn_id, seq in found if seq in seqs}

    def delete(self, chosen: SelectedRows) -> None:
        """Delete the selected rows; the next purge makes them gone."""
        self._notes.delete(chosen.notes)
        self._delete_rows("turn", 1, chosen.turns)
        self._delete_rows("entry", -1, chosen.entries)

    def _delete_rows(self, table: str, sign: int, seqs: Sequence[int]) -> None:
        for start in range(0, len(seqs), CHUNK):
            part = json.dumps(seqs[start : start + CHUNK])
            gone = self._sql.execute(DELETED.format(table=table), (part,)).fetchall()
            for owner in {row[1] for row in gone}:
                self._index.remove(owner, [(sign * seq, words) for seq, num, _, words in gone if num == owner])
                self._index.drop_owner(owner)
            empty_bodies(self._sql, [body for _, _, body, _ in gone])
            self._sql.executemany(f"DELETE FROM {table} WHERE seq = ?", [(row[0],) for row in gone])
