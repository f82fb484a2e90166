"""What a part of an utterance comes to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from ovos_persona_memory.extraction.slots import SLOTS
from ovos_persona_memory.records import Decay

Outcome = Literal["learned", "kept", "waiting", "ended", "refused"]
"""A fact of a slot; something to remember as it was said; a fact for review; one that holds no more; none."""


@dataclass(frozen=True)
class Candidate:
    """What a part of an utterance comes to."""

    outcome: Outcome
    reason: str
    """A code: why."""
    text: str
    """The sentence or clause in the speaker's own words."""
    slot: str | None = None
    subject: str = ""
    """The relation or name of whom it is about; empty for the speaker."""
    thing: str = ""
    """Stems of what the value belongs to; without a slot the stems of what is told of."""
    value: str | None = None
    span: tuple[int, int] = field(default=(0, 0), compare=False)
    """Where in the text the value stands: first character, and the one behind the last."""

    def waiting(self, reason: str) -> Candidate:
        """The same, put up for review."""
        return replace(self, outcome="waiting", reason=reason)

    @property
    def decay(self) -> Decay:
        """How the fact fades."""
        return SLOTS[self.slot].decay if self.slot else "slow"

    @property
    def topics(self) -> tuple[str, ...]:
        """What the fact matters to."""
        return SLOTS[self.slot].topics if self.slot else ()
