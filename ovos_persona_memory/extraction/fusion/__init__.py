"""Pattern and tagger as one: merging, attribution, filters and calibration."""

from __future__ import annotations

from ovos_persona_memory.extraction.fusion.candidates import add_tagger_candidates

__all__ = ["add_tagger_candidates"]
