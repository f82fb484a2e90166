"""Sentences, clauses and the order of words."""

from __future__ import annotations

from ovos_persona_memory.extraction.segmentation.clauses import all_clauses
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources

__all__ = ["LanguageResources", "all_clauses"]
