"""The backups beside a memory: made, listed, deleted, and put back by whoever has the memory open."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from ovos_persona_memory import stores
from ovos_persona_memory.config import MemoryConfig, RecallConfig
from ovos_persona_memory.errors import PersonaMemoryError, StoreDamaged, UnknownEntry
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.service.backups import FolderBackups, Swap


@pytest.fixture
def config(tmp_path: Path) -> MemoryConfig:
    return replace(MemoryConfig(recall=RecallConfig(embedder="none")), data_dir=str(tmp_path))


def exchanged(config: MemoryConfig) -> FolderBackups:
    """Backups of a memory that nobody has open."""

    def swap(wanted: Swap) -> None:
        try:
            stores.restore_backup(config, wanted.file, None)
        except PersonaMemoryError as error:
            wanted.error = error
        wanted.done.set()

    return FolderBackups(config, swap)


def keys(config: MemoryConfig) -> set[str]:
    with PersonaMemory.open(config=config) as memory:
        return {one.key for one in memory.list()}


def keep(config: MemoryConfig, key: str) -> None:
    with PersonaMemory.open(config=config) as memory:
        memory.remember(f"something about {key}", key=key)


def test_a_backup_is_listed_is_the_owners_alone_and_takes_part_in_forgetting(config: MemoryConfig) -> None:
    keep(config, "one")
    backups = exchanged(config)
    assert backups.listed() == []
    made = backups.make()
    again = backups.make()
    assert {one.name for one in backups.listed()} == {made.name, again.name}
    assert len({made.name, again.name}) == 2
    assert stat.S_IMODE(backups.file(made.name).stat().st_mode) == 0o600
    assert backups.counts(made.name)["memories"] == 1
    assert {Path(note.path).name for note in stores.listed_backups(config.folder)} == {made.name, again.name}
    backups.delete(made.name)
    assert [one.name for one in backups.listed()] == [again.name]
    assert [Path(note.path).name for note in stores.listed_backups(config.folder)] == [again.name]


def test_put_back_it_holds_what_it_held_and_what_was_there_is_a_backup(config: MemoryConfig) -> None:
    keep(config, "one")
    backups = exchanged(config)
    made = backups.make()
    keep(config, "two")
    backups.put_back(made.name)
    assert keys(config) == {"one"}
    [before] = [one for one in backups.listed() if one.name != made.name]
    backups.put_back(before.name)
    assert keys(config) == {"one", "two"}


def test_a_damaged_backup_is_not_put_back(config: MemoryConfig) -> None:
    keep(config, "one")
    backups = exchanged(config)
    made = backups.make()
    backups.file(made.name).write_bytes(b"SQLite format 3\0" + bytes(5000))
    with pytest.raises(StoreDamaged):
        backups.put_back(made.name)
    assert keys(config) == {"one"}


@pytest.mark.parametrize("name", ["", "memory.backup", "../memory.db", "/etc/passwd"])
def test_there_is_no_file_of_another_name(config: MemoryConfig, name: str) -> None:
    keep(config, "one")
    backups = exchanged(config)
    backups.make()
    for ask in (backups.file, backups.counts, backups.put_back, backups.delete):
        with pytest.raises(UnknownEntry):
            ask(name)
