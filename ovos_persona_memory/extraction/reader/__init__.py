"""The trained reader: what an utterance says of people, in all languages by one model."""

from __future__ import annotations

from ovos_persona_memory.extraction.reader.answering import answering
from ovos_persona_memory.extraction.reader.reader import Reading, Statement, read

__all__ = ["Reading", "Statement", "answering", "read"]
