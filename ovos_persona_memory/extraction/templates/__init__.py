"""The patterns by which people tell facts, and how a clause is compared with them."""

from __future__ import annotations

from ovos_persona_memory.extraction.templates.loader import Templates
from ovos_persona_memory.extraction.templates.template import PatternMatch

__all__ = ["PatternMatch", "Templates"]
