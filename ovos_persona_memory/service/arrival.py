"""Something that came in, read, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ovos_persona_memory import requests
from ovos_persona_memory.messages import Heard, Request
from ovos_persona_memory.service.reach import changes_something

Reply = Callable[[bytes], Any]


@dataclass(frozen=True)
class Arrival:
    """Something that came in, read, and the way back."""

    what: Heard | Request
    reply: Reply
    owner: bool
    received: float
    """time.perf_counter() at arrival."""

    @property
    def writes(self) -> bool:
        """Whether its answer has to wait for a commit."""
        return isinstance(self.what, Heard) or changes_something(self.what)

    @property
    def alone(self) -> bool:
        """Whether it shares no commit: forgetting ends only when nothing is left in the journal."""
        if isinstance(self.what, Heard):
            return self.what.what in ("cancelled", "clear_data")
        return self.what.verb in requests.FORGETS
