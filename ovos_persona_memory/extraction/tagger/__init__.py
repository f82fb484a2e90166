"""Which words tell what, as two trained models see it."""

from __future__ import annotations

from ovos_persona_memory.extraction.tagger.features import TemplateSpan
from ovos_persona_memory.extraction.tagger.tagger import Guess, release_memory

__all__ = ["Guess", "TemplateSpan", "release_memory"]
