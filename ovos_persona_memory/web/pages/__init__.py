"""The pages: each reads a visit, calls verbs, and shows the answer."""

from __future__ import annotations

from ovos_persona_memory.web.pages import (
    entry,
    forget,
    health,
    known,
    move,
    people,
    preview,
    remembering,
    removal,
    review,
    timeline,
)
from ovos_persona_memory.web.visit import View

__all__ = ["ADDRESSES", "timeline"]

ADDRESSES: tuple[tuple[str, str, View], ...] = (
    *entry.ADDRESSES,
    *timeline.ADDRESSES,
    *known.ADDRESSES,
    *preview.ADDRESSES,
    *forget.ADDRESSES,
    *removal.ADDRESSES,
    *review.ADDRESSES,
    *people.ADDRESSES,
    *remembering.ADDRESSES,
    *move.ADDRESSES,
    *health.ADDRESSES,
)
"""Method, path and view of everything that can be asked for."""
