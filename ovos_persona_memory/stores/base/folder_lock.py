"""The locks that let one process at a time own a data folder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from ovos_persona_memory.errors import StoreBusy, StoreUnavailable

LOCK_FILE = "memory.lock"
"""The lock of the folder's memory: its holder has the memory open."""
WAITING_LOCK_FILE = "waiting.lock"
"""The lock of the offline queue: its holder, a daemon, queues for a shared store, also while nobody can open that."""


class FolderLock:
    """Held from construction to ``release`` or the end of the process, however that comes.

    StoreBusy, naming the process, where another holds it. Across processes, and across two
    stores of one process.
    """

    def __init__(self, folder: Path, name: str = LOCK_FILE) -> None:
        path = folder / name
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreUnavailable(
                f"{path} cannot be written ({error.strerror}): make it yours, or remove it"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip() or "unknown"
            self.release()
            raise StoreBusy(f"process {holder} has the memory in {folder} open") from error
        self._note_pid()

    def _note_pid(self) -> None:
        os.fchmod(self._file, 0o600)
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        except OSError:
            pass  # a full disk: the lock holds, only its holder is not named

    def release(self) -> None:
        """Let go; a second call does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
