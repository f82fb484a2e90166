"""Something that came in, read, and the way back; and the queue of all that comes in."""

from __future__ import annotations

import queue
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ovos_utils.log import LOG

from ovos_persona_memory.protocol import messages, requests, topics
from ovos_persona_memory.records import Heard, Request, replace_fast
from ovos_persona_memory.service.authorization import changes_something

Reply = Callable[[bytes], Any]

GROUP = 64
"""Arrivals at most that share a commit."""
GATHER_S = 0.0008
"""While the disk is busy with a crowd, the next one waits so long for more to share its commit, seconds."""


def is_ours(topic: str) -> bool:
    """Whether what comes on a topic is heard or answered."""
    return topic in messages.HEARD_TOPICS or topics.verb_of(topic) is not None


@dataclass
class Arrival:
    """Something that came in, read, and the way back."""

    what: Heard | Request
    reply: Reply
    owner: bool
    received: float
    """time.perf_counter() at arrival."""
    at: float = 0.0
    """When it came in, seconds since the epoch, UTC."""

    @cached_property
    def writes(self) -> bool:
        """Whether its answer has to wait for a commit."""
        return isinstance(self.what, Heard) or changes_something(self.what)

    @cached_property
    def alone(self) -> bool:
        """Whether it shares no commit: forgetting ends only when nothing is left in the journal."""
        if isinstance(self.what, Heard):
            return self.what.what in ("cancelled", "clear_data")
        return self.what.verb in requests.FORGETS


@dataclass(frozen=True)
class _Frame:
    frame: bytes
    reply: Reply
    owner: bool
    received: float
    received_at: float


class Arrivals:
    """What the receiving threads put in, the worker takes out, in order."""

    def __init__(self, named: bool) -> None:
        """``named``: each gets a name for good, since it may come to the store twice."""
        self._queue: queue.SimpleQueue[_Frame | None] = queue.SimpleQueue()
        self._twins = messages.DuplicateFilter()
        self._named = named

    def put(self, frame: bytes, reply: Reply, owner: bool) -> None:
        """Put in what came over the bus, or through the ``owner``'s door. Thread-safe."""
        self._queue.put(_Frame(frame, reply, owner, time.perf_counter(), messages.now()))

    def wake(self) -> None:
        """Have the worker go on with nothing, though nothing came. Thread-safe."""
        self._queue.put(None)

    def empty(self) -> bool:
        """Whether nothing waits."""
        return self._queue.empty()

    def take(self, within_s: float | None, gathers: Callable[[], bool]) -> list[Arrival] | None:
        """What came in, as much as shares a commit; None where nothing came within this time.

        ``gathers``: whether to wait a little for more, told anew each time.
        """
        try:
            item = self._queue.get(timeout=within_s)
        except queue.Empty:
            return None
        raw: list[_Frame] = []
        while item is not None:
            raw.append(item)
            if len(raw) == GROUP or (self._queue.empty() and not gathers()):
                break
            try:
                item = self._queue.get(timeout=GATHER_S)
            except queue.Empty:
                break
        return [arrival for item in raw if (arrival := self._read(item)) is not None]

    def _read(self, item: _Frame) -> Arrival | None:
        try:
            message = messages.decode(item.frame, item.received_at)
            if self._twins.is_copy(message):
                return None
            what = messages.at_the_door(message) if item.owner else messages.from_the_bus(message)
        except messages.MalformedSession:
            LOG.warning("a message with a malformed session was dropped")
            return None
        except Exception:  # whatever a hostile frame does, the daemon lives
            LOG.exception("a message could not be read")
            return None
        if what is None:
            return None
        if self._named:
            what = replace_fast(what, id=uuid.uuid4().hex)
        return Arrival(what, item.reply, item.owner, item.received, item.received_at)
