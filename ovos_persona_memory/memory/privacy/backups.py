"""The backups that this memory made: what is forgotten is soon gone from them, too.

A backup whose memory has forgotten something since is written anew from the memory as it is: what it held and the
memory holds no more is what was forgotten.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from ovos_persona_memory.errors import ConfigError, StoreError
from ovos_persona_memory.stores import BackupNote, change_backups, copy_live, listed_backups

ENDS_WITHIN_S = 30.0
"""How long closing the memory waits for a backup that is being written."""


class Backups:
    """Renews backups, beside everything else: they are read from the file by a connection of their own. Thread-safe."""

    def __init__(self, folder: Path | None, key: str | None) -> None:
        """``folder``: of the SQLite file that keeps everything, None: none. ``key``: as in the setting."""
        self._folder, self._key = folder, key
        self._lock = threading.Lock()  # guards the list of backups and what follows
        self._forgotten = 0
        self._due = True  # also at the start: a process may have ended before it renewed them
        self._thread: threading.Thread | None = None

    def forgotten(self) -> None:
        """Something was forgotten: every backup still holds it."""
        if self._folder is None:
            return
        with self._lock:
            self._forgotten += 1
            self._due = True
            if listed_backups(self._folder):
                change_backups(self._folder, lambda notes: [note.stale() for note in notes])

    def renew_soon(self) -> None:
        """Have ``renew`` done on a thread of its own, where anything is to be renewed."""
        if not self._due or (self._thread is not None and self._thread.is_alive()):
            return
        self._thread = threading.Thread(target=self.renew, name="backups", daemon=True)
        self._thread.start()

    def renew(self) -> None:
        """Write every stale backup anew that is there and whose key can be had."""
        folder, self._due = self._folder, False
        for note in [] if folder is None else listed_backups(folder):
            if folder is not None and note.is_stale and Path(note.path).is_file():
                self._renew(folder, note)

    def _renew(self, folder: Path, note: BackupNote) -> None:
        before = self._forgotten
        try:
            copy_live(folder, self._key, Path(note.path), note.key_setting(self._key))
        except (StoreError, ConfigError):
            return  # it stays stale, which ``state`` tells
        with self._lock:
            if self._forgotten == before:
                change_backups(folder, lambda notes: [one.fresh() if one.path == note.path else one for one in notes])

    def state(self) -> list[dict[str, Any]]:
        """Every backup that is known: its path, whether it is there, and whether it still holds what was forgotten."""
        return [
            {"path": note.path, "there": Path(note.path).is_file(), "stale": note.is_stale}
            for note in ([] if self._folder is None else listed_backups(self._folder))
        ]

    def close(self) -> None:
        """Wait for a backup that is being written."""
        if self._thread is not None:
            self._thread.join(ENDS_WITHIN_S)
