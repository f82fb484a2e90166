"""What one message on the bus says or asks, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ovos_persona_memory.records.core import NOBODY, Claim, Scope

DEFAULT_SESSION = "default"


@dataclass(frozen=True)
class Heard:
    """What one event on the bus says, in our words."""

    what: str
    """A name out of ``_WHAT``: utterance, speech, handled, cancelled, matched and so on."""
    scope: Scope
    at: float
    text: str = ""
    lang: str | None = None
    utterance_id: str | None = None
    skill_id: str | None = None
    persona_id: str | None = None
    intent: str | None = None
    dialog: str | None = None
    expects_reply: bool = False
    scheduled: bool = False
    session_id: str = DEFAULT_SESSION
    question: str = ""
    """For an out-of-band answer: what was asked."""
    names_user: str | None = None
    """For a request to clear data: whose, as the message says."""
    clears: tuple[object, ...] = ()
    """For a request to clear data: what, as the message says."""
    claim: Claim = NOBODY
    """Whose it is by its own words: of weight only where an utterance first arrives."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What an episode keeps of it."""
    id: str = ""
    """Names it for good where it may come to the store twice: the id of its turn."""
    secret: bool = False
    """It told a secret, and its words were taken out."""


@dataclass(frozen=True)
class Request:
    """One request for a verb, not yet checked against what the verb takes."""

    verb: str
    data: Mapping[str, Any]
    scope: Scope
    """What the message itself carries: its session, site and persona."""
    request_id: Any = None
    lang: str | None = None
    utterance_id: str | None = None
    timezone: str | None = None
    unreadable: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    claim: Claim = NOBODY
    id: str = ""
    """Names it for good where it may come to the store twice."""
