"""Scribe, the bundled persona: answers from what was said, without a language model."""

from __future__ import annotations

from typing import Any

SCRIBE: dict[str, Any] = {
    "name": "Scribe",
    "handlers": ["ovos-persona-memory-recall-plugin"],
    "memory_module": "ovos-persona-memory-plugin",
    "ovos-persona-memory-plugin": {"max_history": 10},
}
