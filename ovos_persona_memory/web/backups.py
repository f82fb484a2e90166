"""Backups as the page shows them, and what it wants of whoever makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Backup:
    """One backup on this device."""

    name: str
    """The name of its file."""
    at: float
    """When it was made, seconds since the epoch, UTC."""
    size: int
    """Bytes."""
    is_stale: bool
    """Whether it still holds something that was forgotten since."""


class BackupService(Protocol):
    """Makes backups of the memory, and puts them back. Thread-safe; errors are PersonaMemoryError."""

    def listed(self) -> Sequence[Backup]:
        """The newest first."""

    def make(self) -> Backup:
        """Back up what is in the memory now."""

    def file(self, name: str) -> Path:
        """The file of a backup; UnknownEntry where there is none of this name."""

    def counts(self, name: str) -> Mapping[str, int]:
        """How many turns, memories and facts a backup holds."""

    def put_back(self, name: str) -> None:
        """Put a backup in the place of the memory, which is backed up first; returns when it is in use."""

    def delete(self, name: str) -> None:
        """Delete a backup."""
