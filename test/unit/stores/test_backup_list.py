"""The list of backups: what several threads enter and change in it at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from ovos_persona_memory.stores import BackupNote, change_backups, listed_backups, note_backup

EACH = 60


def test_what_several_threads_enter_and_change_is_all_there(tmp_path: Path) -> None:
    def enter(thread: int) -> None:
        for number in range(EACH):
            note_backup(tmp_path, BackupNote(f"/{thread}/{number}"))
            change_backups(tmp_path, lambda notes: [note.stale() for note in notes])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(enter, range(4)))
    assert {note.path for note in listed_backups(tmp_path)} == {f"/{one}/{n}" for one in range(4) for n in range(EACH)}


def test_a_backup_that_is_written_again_is_listed_once_as_it_is_now(tmp_path: Path) -> None:
    note = BackupNote("/a.backup", is_stale=True)
    for one in (note, BackupNote("/b.backup"), replace(note, is_stale=False)):
        note_backup(tmp_path, one)
    assert listed_backups(tmp_path) == [BackupNote("/a.backup"), BackupNote("/b.backup")]
