"""Which words tell what, as two trained models see it."""

from __future__ import annotations

from ovos_persona_memory.extraction.tagger.features import Hint
from ovos_persona_memory.extraction.tagger.tagger import Guess, rest

__all__ = ["Guess", "Hint", "rest"]
