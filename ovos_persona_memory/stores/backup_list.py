"""The list of the backups that were made of a folder's memory: paths, and where their keys are."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

LIST = "backups.json"
_changing = threading.Lock()  # held while the list is read, and written anew
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


def change_backups(folder: Path, change: Callable[[list[BackupNote]], Iterable[BackupNote]]) -> None:
    """Replace the list by what is made of it. Thread-safe: one is made, and one deleted, while others are renewed."""
    with _changing:
        notes = sorted(change(listed_backups(folder)), key=lambda one: one.path)
        beside = folder / f".{LIST}-{os.getpid()}"
        beside.touch(mode=0o600)
        beside.write_bytes(msgspec.json.encode(notes))
        beside.replace(folder / LIST)


def note_backup(folder: Path, note: BackupNote) -> None:
    """Enter a backup that was just written, in the place of what was known of its path."""
    change_backups(folder, lambda notes: [*(one for one in notes if one.path != note.path), note])
