"""The provenance of a memory, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ovos_persona_memory.records.core import Role


@dataclass(frozen=True)
class Use:
    """The uses of a record: it was handed to a persona, or quoted."""

    at: float
    """The time of the last use, seconds since the epoch, UTC."""
    times: int
    """The number of uses, as far as the log of episodes reaches."""
    question: str | None = None
    """The question that it answered; None where that was forgotten, or not heard."""


@dataclass(frozen=True)
class Origin:
    """The provenance of a record: speaker, time, place, original words, confidence and last use."""

    id: str
    kind: Literal["turn", "memory", "fact"]
    text: str
    at: float
    """When it was said, or first stored, seconds since the epoch, UTC."""
    user_id: str
    role: Role = "user"
    """The role of the speaker: the user, or the assistant."""
    speaker: str | None = None
    session_id: str | None = None
    site_id: str | None = None
    persona_id: str | None = None
    skill_id: str | None = None
    lang: str | None = None
    key: str | None = None
    """The key of a memory."""
    sure: float | None = None
    """The confidence of a fact, 0 to 1, at the time of asking; None: it was not weighed."""
    turn_id: str | None = None
    """The id of the turn in which it was said; None where that was not heard, or was redacted."""
    said: str | None = None
    """The text of that turn."""
    used: Use | None = None
    """Its last use; None where it was never used."""
