"""Which words are a statement, which correct one, and which ask to remember something."""

from __future__ import annotations

from ovos_persona_memory.extraction.assertion.assertion import refusal_in
from ovos_persona_memory.extraction.assertion.corrections import RecentStatement, as_speaker, may_correct
from ovos_persona_memory.extraction.assertion.remember_requests import requested

__all__ = ["RecentStatement", "as_speaker", "may_correct", "refusal_in", "requested"]
