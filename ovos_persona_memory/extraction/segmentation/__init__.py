"""Sentences, clauses and the order of words."""

from __future__ import annotations

from ovos_persona_memory.extraction.segmentation.clauses import flat
from ovos_persona_memory.extraction.segmentation.sentences import Spoken

__all__ = ["Spoken", "flat"]
