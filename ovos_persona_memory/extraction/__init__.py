"""From an utterance to candidate facts: a small trained reader of all languages, naming, and policy."""

from __future__ import annotations

from ovos_persona_memory.extraction.candidate import Candidate
from ovos_persona_memory.extraction.dialogue_state import NAMING, STALE_S, DialogueState
from ovos_persona_memory.extraction.naming import NamingWords, bare_stems, naming_words
from ovos_persona_memory.extraction.pipeline import (
    ExtractionContext,
    asked_in,
    asks,
    asks_about_something,
    asks_several,
    asks_what_was_said,
    extract,
    has_learned,
    is_echo,
    looks_for,
    may_ask,
    may_ask_several,
    reply_in,
    surely_asks,
    surely_to_forget,
    takes_back,
    to_forget,
    unstated_reason,
    wants_all,
)
from ovos_persona_memory.extraction.reader import answering
from ovos_persona_memory.extraction.redaction import without_secrets
from ovos_persona_memory.extraction.slots import SLOTS
from ovos_persona_memory.extraction.statements import DialogueContext

__all__ = [
    "NAMING",
    "SLOTS",
    "STALE_S",
    "Candidate",
    "DialogueContext",
    "DialogueState",
    "ExtractionContext",
    "NamingWords",
    "answering",
    "asked_in",
    "asks",
    "asks_about_something",
    "asks_several",
    "asks_what_was_said",
    "bare_stems",
    "extract",
    "has_learned",
    "is_echo",
    "looks_for",
    "may_ask",
    "may_ask_several",
    "naming_words",
    "reply_in",
    "surely_asks",
    "surely_to_forget",
    "takes_back",
    "to_forget",
    "unstated_reason",
    "wants_all",
    "without_secrets",
]
