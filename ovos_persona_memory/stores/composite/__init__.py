"""One store made of several: texts in one, vectors or documents in another."""

from __future__ import annotations

from ovos_persona_memory.stores.composite.store import Opening, compose

__all__ = ["Opening", "compose"]
