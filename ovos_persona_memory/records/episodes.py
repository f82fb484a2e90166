"""Episodes: what happened, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ovos_persona_memory.records.core import HOUSEHOLD, Scope

EpisodeKind = Literal["exchange", "intent", "tool_call", "turn_completed", "recall"]
EPISODE_KINDS: tuple[EpisodeKind, ...] = ("exchange", "intent", "tool_call", "turn_completed", "recall")


@dataclass(frozen=True)
class Episode:
    """Something that happened. What was said in it is in the turns, and only there."""

    kind: EpisodeKind
    """exchange: an utterance was handled; intent: a skill was chosen for it; tool_call: a persona used a tool;
    turn_completed: a program recorded a turn and said what it took; recall: something remembered was handed to a
    persona, or quoted."""
    at: float
    """When it began, seconds since the epoch, UTC."""
    id: str = ""
    seq: int = 0
    """Order in which it was noted, given by the store."""
    user_id: str = HOUSEHOLD
    session_id: str | None = None
    persona_id: str | None = None
    site_id: str | None = None
    utterance_id: str | None = None
    turn_id: str | None = None
    """The user's turn that it belongs to."""
    skill_id: str | None = None
    name: str | None = None
    """Of the intent or the tool."""
    outcome: str | None = None
    """handled, failed, unmatched; ok or error of a tool; None: not known yet."""
    latency_ms: float | None = None
    """From its beginning to its end; of an exchange to its first answer."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """Of an exchange: tokens and tools; of an intent: its slots; of a tool call: its arguments and error; of a
    completed turn: what the program said of it."""
    used: tuple[str, ...] = ()
    """Of a recall: ids of the records, best first."""
    said: str | None = None
    """The words of its turn, where they were asked for and are still there; never kept with it."""


@dataclass(frozen=True)
class EpisodesWanted:
    """Which episodes to list."""

    scope: Scope
    kinds: frozenset[str] = frozenset({"exchange", "intent", "tool_call", "turn_completed"})
    since: float | None = None
    until: float | None = None
    """Those that began in [since, until), seconds since the epoch, UTC."""
    limit: int | None = None
