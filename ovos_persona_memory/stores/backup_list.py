"""The list of the backups that were made of a folder's memory: paths, and where their keys are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

LIST = "backups.json"
OWN, PLAIN = "own", "plain"
"""The key of a backup: that of the memory, or none. Anything else is a setting as ``encryption.key``."""


@dataclass(frozen=True)
class BackupNote:
    """One backup."""

    path: str
    key: str = OWN
    is_stale: bool = False
    """Whether something was forgotten since it was written."""

    def stale(self) -> BackupNote:
        """The same, as it is when something was forgotten."""
        return replace(self, is_stale=True)

    def fresh(self) -> BackupNote:
        """The same, as it is when it was just written."""
        return replace(self, is_stale=False)

    def key_setting(self, memorys: str | None) -> str | None:
        """Where its key is; None where it is not encrypted. ``memorys``: where the memory's own is."""
        return {OWN: memorys, PLAIN: None}.get(self.key, self.key)


def listed_backups(folder: Path) -> list[BackupNote]:
    """The backups of the memory in a folder; none where the list is missing or cannot be read."""
    try:
        return msgspec.json.decode((folder / LIST).read_bytes(), type=list[BackupNote])
    except (OSError, msgspec.MsgspecError):
        return []


def list_backups(folder: Path, notes: Sequence[BackupNote]) -> None:
    """Replace the list."""
    beside = folder / f".{LIST}-{os.getpid()}"
    beside.touch(mode=0o600)
    beside.write_bytes(msgspec.json.encode(sorted(notes, key=lambda one: one.path)))
    beside.replace(folder / LIST)


def note_backup(folder: Path, path: Path, key: str) -> None:
    """Enter a backup that was just written."""
    note = BackupNote(str(path.absolute()), key)
    list_backups(folder, [*(one for one in listed_backups(folder) if one.path != note.path), note])
