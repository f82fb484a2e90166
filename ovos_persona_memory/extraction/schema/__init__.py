"""What facts can tell, and what one clause yields."""

from __future__ import annotations

from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.schema.slots import SLOTS

__all__ = ["SLOTS", "Candidate"]
