"""From a session's turns to history and prompt: pure functions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ovos_persona_memory.conversation import (
        compaction,
        extractive,
        history,
        linking,
        prompt,
        quoting,
        snapshots,
        strategies,
    )
    from ovos_persona_memory.conversation.exchanges import blocks, blocks_by_session
    from ovos_persona_memory.conversation.history import Grouping
    from ovos_persona_memory.conversation.prompt import Recalled
    from ovos_persona_memory.conversation.snapshots import MessageLike, Snapshot, turns_of
    from ovos_persona_memory.conversation.window import (
        INSTRUCTIONS,
        Window,
        estimate_tokens,
        message_tokens,
        shorten_message,
    )

__all__ = [
    "INSTRUCTIONS",
    "Grouping",
    "MessageLike",
    "Recalled",
    "Snapshot",
    "Window",
    "blocks",
    "blocks_by_session",
    "compaction",
    "estimate_tokens",
    "extractive",
    "history",
    "linking",
    "message_tokens",
    "prompt",
    "quoting",
    "shorten_message",
    "snapshots",
    "strategies",
    "turns_of",
]

_PLACES = {
    "Grouping": "ovos_persona_memory.conversation.history",
    "INSTRUCTIONS": "ovos_persona_memory.conversation.window",
    "MessageLike": "ovos_persona_memory.conversation.snapshots",
    "Recalled": "ovos_persona_memory.conversation.prompt",
    "Snapshot": "ovos_persona_memory.conversation.snapshots",
    "Window": "ovos_persona_memory.conversation.window",
    "blocks": "ovos_persona_memory.conversation.exchanges",
    "blocks_by_session": "ovos_persona_memory.conversation.exchanges",
    "compaction": "ovos_persona_memory.conversation.compaction",
    "estimate_tokens": "ovos_persona_memory.conversation.window",
    "extractive": "ovos_persona_memory.conversation.extractive",
    "history": "ovos_persona_memory.conversation.history",
    "linking": "ovos_persona_memory.conversation.linking",
    "message_tokens": "ovos_persona_memory.conversation.window",
    "prompt": "ovos_persona_memory.conversation.prompt",
    "quoting": "ovos_persona_memory.conversation.quoting",
    "shorten_message": "ovos_persona_memory.conversation.window",
    "snapshots": "ovos_persona_memory.conversation.snapshots",
    "strategies": "ovos_persona_memory.conversation.strategies",
    "turns_of": "ovos_persona_memory.conversation.snapshots",
}
"""From a name to the module that holds it, or that it is: imported when somebody asks for it."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PLACES[name])
    return getattr(module, name, module)
