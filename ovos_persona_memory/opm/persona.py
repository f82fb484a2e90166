"""Scribe, the bundled persona: answers from what was said, without a language model."""

from __future__ import annotations

from typing import Any

# The stable line has no chat engines: this import fails there, and Scribe is not offered.
from ovos_persona_memory.opm import chat  # noqa: F401 - imported for that alone

SCRIBE: dict[str, Any] = {
    "name": "Scribe",
    "handlers": ["ovos-persona-memory-recall-plugin"],
    "memory_module": "ovos-persona-memory-plugin",
    "ovos-persona-memory-plugin": {"max_history": 10},
}
