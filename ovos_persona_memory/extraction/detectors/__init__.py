"""What several words together tell: recurring days, health, moods."""

from __future__ import annotations

from ovos_persona_memory.extraction.detectors.health import with_ailments
from ovos_persona_memory.extraction.detectors.moods import with_moods
from ovos_persona_memory.extraction.detectors.recurring_days import with_days

__all__ = ["with_ailments", "with_days", "with_moods"]
