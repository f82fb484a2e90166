"""Where records are kept: the only place where backends are named."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.stores.base import Store

BACKENDS = ("inmemory", "sqlite")


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
