"""Whom and what a clause speaks of: people, pronouns, what was left out."""

from __future__ import annotations

from ovos_persona_memory.extraction.coreference.clause_subjects import readings
from ovos_persona_memory.extraction.coreference.ellipsis import referring
from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext, people_in

__all__ = ["DialogueContext", "people_in", "readings", "referring"]
