"""State of each session for some minutes: an open question, sentences left to read, the antecedent of "that"."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ovos_persona_memory.records import Scope
from ovos_persona_memory.text import is_small_talk, languages

MOST = 200
"""Sessions whose state is kept at most."""
LASTS_S = 300.0
"""Lifetime of an antecedent after the last utterance, seconds."""


@dataclass(frozen=True)
class SpokenItem:
    """A record that was just spoken of."""

    text: str
    at: float
    """When it was said or kept, seconds since the epoch, UTC."""
    key: str | None = None
    """The key of a lasting memory."""
    speaker: str | None = None
    id: str | None = None
    """The id of the record."""
    persona_id: str | None = None
    """The persona that owns it; None for no persona."""
    told_as: str = "told_me"
    """The dialog in which it is quoted; for another speaker's words, "somebody_" before the same name."""
    more: tuple[SpokenItem, ...] = ()
    """What was said right after it and only goes on with it: it is quoted in one sentence with it."""

    @property
    def scope(self) -> Scope:
        """The scope in which its key names exactly it."""
        return Scope(persona_id=self.persona_id)


@dataclass
class PendingQuestion:
    """A question that waits for its answer. Its functions are given the context of the next utterance."""

    answer: Callable[[Any], None]
    is_reply: Callable[[Any], bool]
    """Whether an utterance is a reply at all, and not a new request."""
    passed_over: Callable[[Any], None]
    """Called where the next utterance is no reply."""
    stopped: Callable[[], None]
    """Called where the person says stop."""
    timer: threading.Timer


@dataclass
class SessionState:
    """The state of one session."""

    pending: PendingQuestion | None = None
    left: list[str] = field(default_factory=list)
    """Sentences that are not read yet."""
    perhaps: str = ""
    """A sentence behind them, with what may belong there."""
    items: list[SpokenItem] = field(default_factory=list)
    """The records last spoken of; of a longer list those last read."""
    unread: list[SpokenItem] = field(default_factory=list)
    """Records of the list that are not read yet."""
    utterance: str = ""
    """The last utterance to the skill."""
    heard: str = ""
    """The last utterance to the assistant as it was heard, before anything rewrote it."""
    count: int = 0
    """Number of utterances heard that are no small talk."""
    count_then: int = 0
    """That number when a record was last spoken of."""
    reads_until: float = 0.0
    """Estimated end of the current reading, by the clock."""
    touched: float = 0.0

    @property
    def has_more(self) -> bool:
        """Whether there is more to read."""
        return bool(self.left or self.perhaps)


class SessionStates:
    """The state of each session; the oldest are dropped. Thread-safe."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._moments: dict[str, SessionState] = {}
        self._lock = threading.Lock()  # guards _moments

    def state(self, session_id: str) -> SessionState:
        """The session's state, a fresh one where the last is older than ``LASTS_S``."""
        with self._lock:
            moment = self._newest(session_id)
            if moment.pending is None and self._clock() - moment.touched > LASTS_S:
                moment = self._moments[session_id] = SessionState(heard=moment.heard, count=moment.count)
            moment.touched = self._clock()
            return moment

    def hear(self, session_id: str, text: str, lang: str | None = None) -> None:
        """Note the last utterance of a session; after a "thank you" the antecedent of "that" is what it was before."""
        counts = not is_small_talk(text, languages.for_text(lang, text))
        with self._lock:
            moment = self._newest(session_id)
            moment.heard, moment.count = text, moment.count + counts

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
        """The session's state, unchanged; None where there is none."""
        with self._lock:
            return self._moments.get(session_id)

    def take_pending(self, session_id: str, only: PendingQuestion | None = None) -> PendingQuestion | None:
        """The open question of a session, which is then closed; None where there is none, or not this one.

        Of a reply, a stop and a timeout that come at once, only the first gets it.
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
        """Close every open question."""
        for session_id in list(self._moments):
            self.take_pending(session_id)
