"""Where records are kept: the only place where backends are named."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.stores.base import Store

BACKENDS = ("inmemory", "sqlite")


def database_in(folder: Path) -> Path:
    """Where the sqlite backend keeps its records."""
    return folder / "memory.db"


def inspect(path: Path) -> str | None:
    """What is wrong with a database file; None where nothing is found. Changes nothing."""
    from ovos_persona_memory.stores import sqlite_file

    return sqlite_file.inspect(path)


def open_store(backend: str, folder: Path | None, clock: Callable[[], float] = time.time) -> Store:
    """The store of this name in the data folder (None where it needs none).

    ConfigError for an unknown name or a missing folder; a StoreError where it cannot be opened.
    """
    if backend == "inmemory":
        from ovos_persona_memory.stores.inmemory import InMemoryStore

        return InMemoryStore()
    if backend != "sqlite":
        raise ConfigError(f"there is no storage backend named {backend!r}; choose one of {', '.join(BACKENDS)}")
    if folder is None:
        raise ConfigError("the sqlite backend needs a data folder")
    from ovos_persona_memory.stores.sqlite import SqliteStore

    return SqliteStore(Path(folder), clock)
