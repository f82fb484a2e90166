"""Pattern and tagger as one: merging, attribution, filters and calibration."""

from __future__ import annotations

from ovos_persona_memory.extraction.fusion.candidates import with_guesses

__all__ = ["with_guesses"]
