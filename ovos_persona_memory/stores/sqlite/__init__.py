"""The SQLite backend."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ovos_persona_memory.stores.sqlite.offline_queue import OfflineQueue, QueuedArrival
    from ovos_persona_memory.stores.sqlite.store import SqliteStore

__all__ = ["OfflineQueue", "QueuedArrival", "SqliteStore"]

_PLACES = {
    "QueuedArrival": "ovos_persona_memory.stores.sqlite.offline_queue",
    "SqliteStore": "ovos_persona_memory.stores.sqlite.store",
    "OfflineQueue": "ovos_persona_memory.stores.sqlite.offline_queue",
}
"""From a name to the module that holds it, or that it is: imported when somebody asks for it."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PLACES[name])
    return getattr(module, name, module)
