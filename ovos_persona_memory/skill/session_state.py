"""What the skill keeps in mind of each session for some minutes: a question, what is left to read, what "that" is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ovos_persona_memory.records import Scope

MOST = 200
"""Sessions that are kept in mind at most."""
LASTS_S = 300.0
"""How long after the last word "that" still means something, seconds."""


@dataclass(frozen=True)
class SpokenItem:
    """Something remembered that was just spoken of."""

    text: str
    at: float
    """When it was said or kept, seconds since the epoch, UTC."""
    key: str | None = None
    """Of a lasting memory."""
    speaker: str | None = None
    id: str | None = None
    """Of the record."""
    persona_id: str | None = None
    """The persona that it belongs to; None: to none."""
    told_as: str = "told_me"
    """The dialog in which it is quoted; where somebody else said it, one of the same name behind "somebody_"."""

    @property
    def scope(self) -> Scope:
        """Where its key means it and nothing else."""
        return Scope(persona_id=self.persona_id)


@dataclass
class PendingQuestion:
    """A question that waits for its answer. Its functions are given the talk in which something else was said."""

    answer: Callable[[Any], None]
    is_reply: Callable[[Any], bool]
    """Whether an utterance is a reply at all, and not something of its own."""
    passed_over: Callable[[Any], None]
    """Called where somebody goes on without a reply."""
    stopped: Callable[[], None]
    """Called where the person stops it all."""
    timer: threading.Timer


@dataclass
class SessionState:
    """One session."""

    pending: PendingQuestion | None = None
    left: list[str] = field(default_factory=list)
    """Sentences that are not read yet."""
    items: list[SpokenItem] = field(default_factory=list)
    """What was spoken of last: of a longer list what was read of it last."""
    unread: list[SpokenItem] = field(default_factory=list)
    """What of it is not read yet."""
    utterance: str = ""
    """What was said to the skill last."""
    heard: str = ""
    """The last utterance of all as it was heard, before anything rewrote it."""
    count: int = 0
    """How many utterances were heard."""
    count_then: int = 0
    """How many of them when something was spoken of last."""
    reads_until: float = 0.0
    """When what is being read aloud will have ended, about, by the clock."""
    touched: float = 0.0


class SessionStates:
    """The moments by session; the oldest go. Thread-safe."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._moments: dict[str, SessionState] = {}
        self._lock = threading.Lock()  # guards _moments

    def state(self, session_id: str) -> SessionState:
        """The session's moment, a fresh one where the last is long past."""
        with self._lock:
            moment = self._newest(session_id)
            if moment.pending is None and self._clock() - moment.touched > LASTS_S:
                moment = self._moments[session_id] = SessionState(heard=moment.heard, count=moment.count)
            moment.touched = self._clock()
            return moment

    def hear(self, session_id: str, text: str) -> None:
        """Note what was heard last in a session."""
        with self._lock:
            moment = self._newest(session_id)
            moment.heard, moment.count = text, moment.count + 1

    def _newest(self, session_id: str) -> SessionState:
        moment = self._moments.pop(session_id) if session_id in self._moments else SessionState()
        self._moments[session_id] = moment
        while len(self._moments) > MOST:
            self._drop_oldest()
        return moment

    def _drop_oldest(self) -> None:
        oldest = self._moments.pop(next(iter(self._moments)))
        if oldest.pending is not None:
            oldest.pending.timer.cancel()

    def existing_state(self, session_id: str) -> SessionState | None:
        """The session's moment as it is; None where there is none."""
        with self._lock:
            return self._moments.get(session_id)

    def take_pending(self, session_id: str, only: PendingQuestion | None = None) -> PendingQuestion | None:
        """The open question of a session, which is then closed; None where there is none, or not this one.

        Of a reply, a stop and the end of patience that come at once, one alone gets it.
        """
        with self._lock:
            moment = self._moments.get(session_id)
            pending = moment.pending if moment is not None else None
            if moment is None or (only is not None and pending is not only):
                return None
            moment.pending = None
        if pending is not None:
            pending.timer.cancel()
        return pending

    def clear(self) -> None:
        """Close every question."""
        for session_id in list(self._moments):
            self.take_pending(session_id)
