"""The backups that the owner's page makes: in a folder beside the memory, and from there back in its place."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ovos_persona_memory import stores
from ovos_persona_memory.config import MemoryConfig, encryption_key
from ovos_persona_memory.errors import ConfigError, PersonaMemoryError, UnknownEntry
from ovos_persona_memory.web import Backup

FOLDER, ENDING = "backups", ".backup"
WITHIN_S = 600.0
"""How long it is waited for that a backup is in place, seconds."""


@dataclass
class Swap:
    """A backup that is to take the memory's place."""

    file: Path
    done: threading.Event = field(default_factory=threading.Event)
    error: PersonaMemoryError | None = None


class FolderBackups:
    """Backups in a folder of the memory's own, encrypted as the memory is. See web.BackupService."""

    def __init__(self, config: MemoryConfig, swap: Callable[[Swap], None]) -> None:
        """``swap``: has the memory closed, the backup put in its place, and the memory opened again."""
        memory = stores.sqlite_folder(config)
        if memory is None:
            raise ConfigError("the memory is on a server")
        self._config, self._swap = config, swap
        self._memory, self._folder = memory, config.folder / FOLDER
        self._lock = threading.Lock()  # guards the list of backups, and that one is made at a time

    def listed(self) -> Sequence[Backup]:
        """See web.BackupService."""
        stale = {note.path for note in stores.listed_backups(self._memory) if note.is_stale}
        found = [self._backup(path, str(path.absolute()) in stale) for path in self._folder.glob(f"*{ENDING}")]
        return sorted(found, key=lambda one: (one.at, one.name), reverse=True)

    def make(self) -> Backup:
        """See web.BackupService."""
        with self._lock:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            named = f"memory-{time.strftime('%Y-%m-%d-%H%M%S')}"
            taken = len(list(self._folder.glob(f"{named}*")))
            path = self._folder / f"{named}{f'-{taken + 1}' if taken else ''}{ENDING}"
            stores.write_backup(self._config, path, encryption_key(self._config.encryption.key))
            # entered in the list, it is written anew without what is forgotten later
            stores.note_backup(self._memory, stores.BackupNote(str(path.absolute())))
            return self._backup(path, is_stale=False)

    def file(self, name: str) -> Path:
        """See web.BackupService."""
        found = next((path for path in self._folder.glob(f"*{ENDING}") if path.name == name), None)
        if found is None:
            raise UnknownEntry(f"there is no backup {name[:80]!r}")
        return found

    def counts(self, name: str) -> Mapping[str, int]:
        """See web.BackupService."""
        file = self.file(name)
        with self._lock:
            return stores.counts_in(file, encryption_key(self._config.encryption.key))

    def put_back(self, name: str) -> None:
        """See web.BackupService."""
        swap = Swap(self.file(name))
        self.make()
        self._swap(swap)
        if not swap.done.wait(WITHIN_S):
            raise PersonaMemoryError("the backup is still being put in place")
        if swap.error is not None:
            raise swap.error

    def delete(self, name: str) -> None:
        """See web.BackupService."""
        path = self.file(name)
        with self._lock:
            path.unlink(missing_ok=True)
            gone = str(path.absolute())
            stores.change_backups(self._memory, lambda notes: [note for note in notes if note.path != gone])

    def _backup(self, path: Path, is_stale: bool) -> Backup:
        made = path.stat()
        return Backup(path.name, made.st_mtime, made.st_size, is_stale)
