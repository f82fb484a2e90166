"""The backend in this process's memory, and the store that keeps nothing."""

from __future__ import annotations

from ovos_persona_memory.stores.inmemory.null_store import NullStore
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

__all__ = ["InMemoryStore", "NullStore"]
