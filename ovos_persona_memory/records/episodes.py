"""Episodes, the log of events, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ovos_persona_memory.records.core import HOUSEHOLD, Scope

EpisodeKind = Literal["exchange", "intent", "tool_call", "turn_completed", "recall"]
EPISODE_KINDS: tuple[EpisodeKind, ...] = ("exchange", "intent", "tool_call", "turn_completed", "recall")


@dataclass(frozen=True)
class Episode:
    """One event. What was said in it is in the turns, and only there."""

    kind: EpisodeKind
    """exchange: an utterance was handled; intent: a skill was chosen for it; tool_call: a persona used a tool;
    turn_completed: a program recorded a turn and said what it took; recall: something remembered was handed to a
    persona, or quoted."""
    at: float
    """When it began, seconds since the epoch, UTC."""
    id: str = ""
    seq: int = 0
    """Order of arrival in the log, given by the store."""
    user_id: str = HOUSEHOLD
    session_id: str | None = None
    persona_id: str | None = None
    site_id: str | None = None
    utterance_id: str | None = None
    turn_id: str | None = None
    """The id of the user turn that it belongs to; of a tool call that was handed in, of the turn that called."""
    skill_id: str | None = None
    name: str | None = None
    """The name of the intent or the tool."""
    outcome: str | None = None
    """handled, failed, unmatched; ok or error for a tool; None: not known yet."""
    latency_ms: float | None = None
    """From its beginning to its end; for an exchange, to its first answer."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """Of an exchange: tokens and tools; of an intent: its slots; of a tool call: its arguments and error; of a
    completed turn: what the program said of it."""
    used: tuple[str, ...] = ()
    """For a recall the ids of the records, best first."""
    said: str | None = None
    """The text of the user turn that it belongs to, where that was asked for and still exists; it is never stored with
    the episode."""
    speaker: str | None = None
    """The name of who said that, likewise; None where it is not known."""


@dataclass(frozen=True)
class EpisodesWanted:
    """A query for episodes."""

    scope: Scope
    kinds: frozenset[str] = frozenset({"exchange", "intent", "tool_call", "turn_completed"})
    since: float | None = None
    until: float | None = None
    """Only episodes that began in [since, until), seconds since the epoch, UTC."""
    limit: int | None = None
