"""Events and requests from the bus, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ovos_persona_memory.records.core import NOBODY, Claim, Scope

DEFAULT_SESSION = "default"


@dataclass(frozen=True)
class Heard:
    """One event on the bus."""

    what: str
    """The kind of event, a name out of ``_WHAT``: utterance, speech, handled, cancelled, matched and so on."""
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
    """The question of an out-of-band answer."""
    names_user: str | None = None
    """The user that a request to clear data names."""
    clears: tuple[object, ...] = ()
    """The data that a request to clear data names."""
    claim: Claim = NOBODY
    """The speaker that the message names: of weight only in the frame where an utterance first arrives."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """The part of the event that its episode keeps."""
    id: str = ""
    """A lasting id of an event that may reach the store twice: the id of its turn."""
    secret: bool = False
    """Whether it held a secret, so that its text was removed."""
    speaker: str | None = None
    """The name of who speaks in the utterance that it is or follows from: see ``Person.name``."""


@dataclass(frozen=True)
class Request:
    """One request for a verb, whose fields are not checked yet."""

    verb: str
    data: Mapping[str, Any]
    scope: Scope
    """The scope that the message itself carries: its session, site and persona."""
    request_id: Any = None
    lang: str | None = None
    utterance_id: str | None = None
    timezone: str | None = None
    unreadable: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    claim: Claim = NOBODY
    id: str = ""
    """A lasting id of a request that may reach the store twice."""
