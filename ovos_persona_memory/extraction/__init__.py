"""From an utterance to candidate facts: rules, a trained tagger and its calibration."""

from __future__ import annotations

from ovos_persona_memory.extraction.assertion import Stated, as_speaker, may_correct
from ovos_persona_memory.extraction.coreference import Before
from ovos_persona_memory.extraction.dialogue_state import NAMING, STALE_S, Around
from ovos_persona_memory.extraction.fusion import calibration
from ovos_persona_memory.extraction.pipeline import Circumstances, is_echo, judge
from ovos_persona_memory.extraction.redaction import without_secrets
from ovos_persona_memory.extraction.schema import SLOTS, Verdict
from ovos_persona_memory.extraction.segmentation import Spoken
from ovos_persona_memory.extraction.tagger import rest

__all__ = [
    "NAMING",
    "SLOTS",
    "STALE_S",
    "Around",
    "Before",
    "Circumstances",
    "Spoken",
    "Stated",
    "Verdict",
    "as_speaker",
    "calibration",
    "is_echo",
    "judge",
    "may_correct",
    "rest",
    "without_secrets",
]
