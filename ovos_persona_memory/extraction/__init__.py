"""From an utterance to candidate facts: rules, a trained tagger and its calibration."""

from __future__ import annotations

from ovos_persona_memory.extraction.assertion import RecentStatement, as_speaker, may_correct, refusal_in
from ovos_persona_memory.extraction.coreference import DialogueContext
from ovos_persona_memory.extraction.dialogue_state import NAMING, STALE_S, DialogueState
from ovos_persona_memory.extraction.fusion import calibration
from ovos_persona_memory.extraction.pipeline import ExtractionContext, extract, is_echo
from ovos_persona_memory.extraction.redaction import without_secrets
from ovos_persona_memory.extraction.schema import SLOTS, Candidate
from ovos_persona_memory.extraction.segmentation import LanguageResources
from ovos_persona_memory.extraction.tagger import release_memory

__all__ = [
    "NAMING",
    "SLOTS",
    "STALE_S",
    "Candidate",
    "DialogueContext",
    "DialogueState",
    "ExtractionContext",
    "LanguageResources",
    "RecentStatement",
    "as_speaker",
    "calibration",
    "extract",
    "is_echo",
    "may_correct",
    "refusal_in",
    "release_memory",
    "without_secrets",
]
