"""What the verbs about what happened take, and why something is known."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ovos_persona_memory.episode import EpisodeKind
from ovos_persona_memory.fields import EpochSeconds, Few, Name, ScopeFields, Seconds, Text


class EpisodesAsked(msgspec.Struct, kw_only=True):
    """Ask what happened."""

    kinds: Annotated[list[EpisodeKind], msgspec.Meta(max_length=8)] | None = None
    question: Text | None = None
    """Words that name a time: "yesterday", "today at three"."""
    since: Seconds | None = None
    until: Seconds | None = None
    session: bool = False
    """Only what happened in this session."""
    words: bool = False
    """With the words of each one's turn."""
    limit: Few = 20
    lang: Name | None = None
    at: EpochSeconds | None = None
    scope: ScopeFields | None = None


class WhyAsked(msgspec.Struct, kw_only=True):
    """Ask where a memory comes from."""

    id: Name | None = None
    key: Name | None = None
    scope: ScopeFields | None = None
