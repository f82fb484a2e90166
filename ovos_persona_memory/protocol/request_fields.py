"""The types of fields that several verbs take, with their limits."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from ovos_persona_memory.records import LATEST, LONGEST_S, Role, Unfit, text_of

MAX_TEXT = 16384
MAX_TURNS = 1000
MAX_BLOCKS = 64
MAX_METADATA = 16384
MAX_DIM = 8192

Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
Few = Annotated[int, msgspec.Meta(ge=0, le=1000)]
Embedding = Annotated[list[float], msgspec.Meta(max_length=MAX_DIM)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=LONGEST_S)]
EpochSeconds = Annotated[float, msgspec.Meta(ge=0, le=LATEST)]
"""When something was said or is asked, seconds since the epoch, UTC."""


class ScopeFields(msgspec.Struct, kw_only=True):
    """Which records; over the bus only what the message itself carries is reached."""

    session_id: Name | None = None
    user_id: Name | None = None
    persona_id: Name | None = None
    site_id: Name | None = None
    task_id: Name | None = None
    any_persona: bool = False
    """For the person rather than for a persona: whichever persona it belongs to, or the one that is named."""
    everyone: bool = False


class ToolCallFields(msgspec.Struct, kw_only=True):
    """One tool invocation."""

    id: Name
    name: Name
    arguments: dict[str, Any] = {}


class TurnFields(msgspec.Struct, kw_only=True):
    """One turn to record."""

    role: Role
    text: Text | Annotated[list[dict[str, Any]], msgspec.Meta(max_length=MAX_BLOCKS)]
    at: EpochSeconds | None = None
    speaker: Name | None = None
    lang: Name | None = None
    tool_calls: Annotated[list[ToolCallFields], msgspec.Meta(max_length=64)] = []
    tool_call_id: Name | None = None
    name: Name | None = None

    def __post_init__(self) -> None:
        """Content blocks are read as the text that they are."""
        if isinstance(self.text, str):
            return
        try:
            self.text = text_of(self.text)
        except Unfit as unfit:
            raise unfit.inside("text") from None
        if len(self.text) > MAX_TEXT:
            raise Unfit(f"has {len(self.text)} characters, at most {MAX_TEXT} are kept", ".text")
