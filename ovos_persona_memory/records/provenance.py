"""Where a memory comes from, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ovos_persona_memory.records.core import Role


@dataclass(frozen=True)
class Use:
    """That something remembered was handed to a persona, or quoted."""

    at: float
    """Seconds since the epoch, UTC."""
    times: int
    """How often, as far as the log of episodes reaches."""
    question: str | None = None
    """What was asked; None where that was forgotten, or not heard."""


@dataclass(frozen=True)
class Origin:
    """Who told something, when, where and in whose words, how sure it is, and when it was last used."""

    id: str
    kind: Literal["turn", "memory", "fact"]
    text: str
    at: float
    """When it was said, or first kept, seconds since the epoch, UTC."""
    user_id: str
    role: Role = "user"
    """Whose words they are: the user's, or the assistant's."""
    speaker: str | None = None
    session_id: str | None = None
    site_id: str | None = None
    persona_id: str | None = None
    skill_id: str | None = None
    lang: str | None = None
    key: str | None = None
    """Of a memory."""
    sure: float | None = None
    """Of a fact, 0 to 1, as it is now; None: it was not weighed."""
    turn_id: str | None = None
    """The turn in which it was said; None where that was not heard, or lost its words."""
    said: str | None = None
    """The words of that turn."""
    used: Use | None = None
    """Its last use; None where it was never used."""
