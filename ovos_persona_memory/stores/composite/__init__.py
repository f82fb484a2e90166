"""One store made of several: texts in one, vectors or documents in another."""

from __future__ import annotations

from ovos_persona_memory.stores.composite.store import StoreOpener, compose

__all__ = ["StoreOpener", "compose"]
