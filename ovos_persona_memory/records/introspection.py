"""What a language model's look at a conversation came to: plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Introspection:
    """One look of a language model at what was said in a session, and what became of its proposals."""

    id: str
    user_id: str
    session_id: str
    at: float
    """When it was done, seconds since the epoch, UTC."""
    added: tuple[str, ...] = ()
    """Keys of the memories that it added."""
    drafted: tuple[str, ...] = ()
    """Keys of drafts that wait for somebody to accept them."""
    updated: tuple[str, ...] = ()
    """Keys of the memories that have another text since."""
    discarded: tuple[str, ...] = ()
    """Keys of the memories that it set aside."""
    summary: bool = False
    """Whether it put a new summary of the session."""
    description: bool = False
    """Whether it put a new description of the session."""
    refused: tuple[str, ...] = ()
    """Each refused proposal: its tool and the reason, a code (docs/models.md)."""
    undone: bool = False
    left_alone: int = 0
    """Where it was undone: so many of its changes were changed again since, and stay as they are."""
