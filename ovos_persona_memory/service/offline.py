"""Offline mode: while the shared store is away, events and requests are queued, and delivered later."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import msgspec
from ovos_utils.log import LOG

from ovos_persona_memory.config import MemoryConfig, encryption_key
from ovos_persona_memory.errors import (
    NotAllowed,
    PersonaMemoryError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreUnavailable,
    WasForgotten,
)
from ovos_persona_memory.extraction import without_secrets
from ovos_persona_memory.memory import PersonaMemory, capture, tombstones
from ovos_persona_memory.records import Heard, Pause, Request, replace_fast, text_of
from ovos_persona_memory.service.authorization import changes_something
from ovos_persona_memory.service.inbox import GROUP, Arrival
from ovos_persona_memory.service.verb_handlers import answer
from ovos_persona_memory.stores import OfflineQueue, QueuedArrival, open_store, own_waiting
from ovos_persona_memory.text import languages, tells_secret


def record_of(arrival: Arrival, tried: bool, bare: bool = False) -> QueuedArrival:
    """The queued form of an arrival. ``tried``: the store may hold it already; ``bare``: its text is left out."""
    what = arrival.what
    if isinstance(what, Heard):
        body = encoded(replace(what, text="", question="", detail={}, secret=True) if bare else _without_secret(what))
        return QueuedArrival(what.id, "heard", arrival.at, body, arrival.owner, tried)
    data = {**what.data, "turns": [_turn_without_secret(turn) for turn in what.data.get("turns", ())]}
    body = encoded(replace_fast(what, data=data if what.verb == "record" else what.data, context={}))
    return QueuedArrival(what.id, "request", arrival.at, body, arrival.owner, tried)


def encoded(what: Heard | Request) -> bytes:
    """The body of a queued arrival."""
    return msgspec.json.encode(what)


def read_record(kept: QueuedArrival) -> Heard | Request:
    """The event or request of a queued arrival."""
    if kept.kind == "heard":
        return msgspec.json.decode(kept.body, type=Heard)
    return msgspec.json.decode(kept.body, type=Request)


def _without_secret(heard: Heard) -> Heard:
    """The event without its secret: secrets never reach a disk."""
    if not any(tells_secret(text, heard.lang) for text in (heard.text, heard.question)):
        return heard
    left = without_secrets(heard.text, heard.lang) if heard.what in ("utterance", "matched") else ""
    return replace(heard, text=left, question="", detail={}, secret=True)


def _turn_without_secret(turn: Mapping[str, Any]) -> Mapping[str, Any]:
    text = text_of(turn.get("text", ""))
    if not tells_secret(text, turn.get("lang")):
        return {**turn, "text": text}
    return {**turn, "text": without_secrets(text, turn.get("lang")) if turn.get("role") == "user" else ""}


Outcome = dict[str, Any]
Told = tuple[Heard | Request, Outcome | None]

TRY_S = 1.0
"""Interval between two attempts to reach the store, seconds."""
RECENT, RECENT_S = 400, 600.0
"""Newest arrivals that are kept in RAM, and their maximum age, seconds: a session goes on with them."""
LOOKED_S = 1.0
"""Minimum interval between two checks whether another device has forgotten something, seconds."""
SHOWN = 2000
"""Newest queued arrivals that answers can draw on."""
LOCAL = frozenset(
    {
        "context",
        "recall",
        "history",
        "turn",
        "sessions",
        "get",
        "list",
        "why",
        "facts",
        "episodes",
        "capture",
        "users",
        "status",
    }
)
"""Verbs that are answered from this device's own knowledge."""
ASKED_THERE = LOCAL - {"context", "history", "capture", "users", "status"}
"""Those of these verbs that a store answers that can be read and not written."""
OURS = frozenset({"ready", "nothing"})
"""Events without any speech."""


class Clock:
    """The time; for a late delivery, the time of arrival. For the worker alone."""

    def __init__(self) -> None:
        self._at: float | None = None

    def __call__(self) -> float:
        return time.time() if self._at is None else self._at

    @contextmanager
    def stands(self, at: float) -> Iterator[None]:
        """Within this context the time is ``at``, seconds since the epoch."""
        self._at = at
        try:
            yield
        finally:
            self._at = None


def is_away(error: Exception) -> bool:
    """Whether an error says that the store can keep nothing at the moment, whatever it is given."""
    return isinstance(error, (StoreUnavailable, StoreBusy, StoreFull, StoreDamaged))


class Offline:
    """Takes the memory's place while its store is away. Used by the worker alone, but for ``reached``.

    Events and requests are applied to a memory in RAM, by the same rules as in the memory itself, and are queued in a
    file before they are acknowledged. Once the store is reached the queue is delivered, oldest first and each at its
    time of arrival, while new arrivals join the end. A number that is committed with them tells how far the delivery
    went: each is kept once.
    """

    def __init__(self, config: MemoryConfig, clock: Clock, wake: Callable[[], None]) -> None:
        """``wake`` is called, on another thread, when the store is reached.

        StoreBusy where another daemon has the folder.
        """
        self._config, self._clock, self._wake = config, clock, wake
        self._lock = own_waiting(config)
        try:
            self._file = OfflineQueue(config.folder, key=encryption_key(config.encryption.key))
        except BaseException:
            self._lock.release()
            raise
        self._mark = f"delivered {self._file.device}"
        self._recent: deque[Arrival] = deque(maxlen=RECENT)
        self._pauses: list[Pause] | None = self._file.pauses()
        self._looked_at = 0.0
        self._forgotten_at: str | None = None
        self._here: PersonaMemory | None = None
        self._memory: PersonaMemory | None = None
        self._failure: PersonaMemoryError = StoreUnavailable("the store is away")
        self._readable = False
        self._ended = threading.Event()
        self._trying: threading.Thread | None = None
        self.reached: PersonaMemory | None = None
        """The memory, once its store was reached and until it is lost again."""

    @property
    def waiting(self) -> int:
        """Number of arrivals that are not delivered yet."""
        return len(self._file)

    @property
    def active(self) -> bool:
        """Whether this takes the memory's place now."""
        return self._here is not None

    @property
    def holds_talk(self) -> bool:
        """Whether it holds turns that another device may forget: for a while after the last arrival."""
        if self._recent and self._recent[-1].at < time.time() - RECENT_S:
            self._recent.clear()
        return bool(self._recent)

    def needs_store(self, arrival: Arrival) -> bool:
        """Whether a request can be answered by the store alone."""
        return isinstance(arrival.what, Request) and self._needs_store(arrival.what)

    def _needs_store(self, asked: Request) -> bool:
        return not self._may_wait(asked) and (changes_something(asked) or asked.verb not in LOCAL)

    def close(self) -> None:
        """Stop the attempts and close the file, and a memory that was reached and not taken."""
        self._ended.set()
        if self._trying is not None:
            self._trying.join(0.5)
        if self._memory is not None and not (self._trying is not None and self._trying.is_alive()):
            self._memory.close()
        self._file.close()
        self._lock.release()

    # while the store is there

    def note(self, memory: PersonaMemory, done: Sequence[Arrival]) -> StoreError | None:
        """Keep the newest arrivals in RAM, and pauses on the disk; a StoreError where that fails."""
        for arrival in done:
            if arrival.alone:
                self._recent.clear()
            elif isinstance(arrival.what, Heard) or arrival.what.verb == "record":
                self._recent.append(arrival)
        self._note_pauses(memory.captures.known())
        if time.monotonic() < self._looked_at + LOOKED_S:
            return None
        self._looked_at = time.monotonic()
        try:
            forgotten_at = memory.state(tombstones.LAST)
        except StoreError as error:
            return error
        if forgotten_at != self._forgotten_at:
            self._recent.clear()
            memory.transcript.forget_texts()
            languages.forget_texts()
            self._forgotten_at = forgotten_at
        return None

    def _note_pauses(self, pauses: list[Pause]) -> None:
        if pauses == self._pauses:
            return
        try:
            self._file.keep_pauses(pauses)
            self._pauses = pauses
        except StoreError as error:
            LOG.error("what is paused cannot be noted on this device: %s", error.reason)

    # while it is away

    def begin(
        self, memory: PersonaMemory | None, error: PersonaMemoryError, opened: Callable[[], PersonaMemory]
    ) -> None:
        """Start offline mode, and try to reach the store in the background.

        ``memory``: the store's memory; None where it could not be opened: ``opened`` then opens it.
        """
        self._memory, self._failure, self.reached, self._readable = memory, error, None, False
        if self._here is None:
            self._here = self._started()
        self._trying = threading.Thread(target=self._try, args=(opened,), name="reaching", daemon=True)
        self._trying.start()

    def _try(self, opened: Callable[[], PersonaMemory]) -> None:
        while not self._ended.wait(TRY_S):
            try:
                if self._memory is None:
                    self._memory = opened()
                self._readable = self._is_readable(self._memory)
                with self._memory.transaction():
                    self._memory.put_state(f"reached {self._file.device}", "")
                self.reached = self._memory
                self._wake()
                return
            except PersonaMemoryError as error:
                self._failure = error
            except Exception:
                LOG.exception("the store could not be tried")

    @staticmethod
    def _is_readable(memory: PersonaMemory) -> bool:
        try:
            memory.state(tombstones.LAST)
        except StoreError:
            return False
        return True

    def _started(self) -> PersonaMemory:
        """A memory in RAM with the newest arrivals and the queue."""
        store = open_store("inmemory", None)
        unknown = [Pause(capture.EVERYTHING, since=0.0, until=None, write=False, read=False)]
        for pause in unknown if self._pauses is None else self._pauses:
            store.put_pause(pause)
        here = PersonaMemory(store, self._config, self._clock)
        since = time.time() - RECENT_S
        known = [(one.at, one.what, one.owner) for one in self._recent if one.at > since]
        for at, what, owner in [
            *known,
            *((one.at, read_record(one), one.owner) for one in self._file.newest(SHOWN)),
        ]:
            with self._clock.stands(at):
                try:
                    self._taken(here, what, owner)
                except PersonaMemoryError as error:
                    LOG.debug("something that waits could not be read: %s", error)
        return here

    def take(self, arrivals: Sequence[Arrival], tried: bool = False) -> list[tuple[Arrival, Outcome | None]]:
        """The answer to each arrival, None for an event; the queue is on the disk when this returns.

        ``tried``: the store may have taken them before it was lost.
        """
        outcomes: list[tuple[Arrival, Outcome | None]] = [(one, self._outcome(one)) for one in arrivals]
        waiting = [
            (one, outcome.pop("bare", False)) for one, outcome in outcomes if outcome and outcome.pop("waits", False)
        ]
        waits = [record_of(one, tried, bare) for one, bare in waiting]
        try:
            if waits:
                self._file.add(waits)
        except StoreError as error:
            LOG.error("what was said cannot be kept on this device: %s", error.reason)
            failed = _refusal(error)
            outcomes = [(one, dict(failed) if one.writes else outcome) for one, outcome in outcomes]
        return [(one, None if isinstance(one.what, Heard) else outcome) for one, outcome in outcomes]

    def _outcome(self, arrival: Arrival) -> Outcome:
        here = self._here
        assert here is not None  # begin made it
        try:
            return self._taken(here, arrival.what, arrival.owner)
        except PersonaMemoryError as error:
            return _refusal(error)
        except Exception as error:
            LOG.exception("it failed inside")
            return _refusal(PersonaMemoryError(f"it failed inside: {type(error).__name__}"))

    def _taken(self, here: PersonaMemory, what: Heard | Request, owner: bool) -> Outcome:
        """The answer that needs no store; ``waits``: whether the arrival is to be delivered."""
        if isinstance(what, Heard):
            return {"ok": True, "waits": self._heard(here, what), "bare": here.transcript.is_bare(what.id)}
        if self._needs_store(what):
            raise type(self._failure)(f"the memory's store is away, and {what.verb} needs it: {self._failure.reason}")
        there = self._memory if self._readable and what.verb in ASKED_THERE else None
        if there is not None:
            try:
                return {"ok": True, "degraded": True, **answer(there, self._config, what, owner)}
            except StoreError:
                self._readable = False
        told = answer(here, self._config, what, owner)
        if what.verb == "status":
            told["store"] = {"away": self._failure.reason}
        waits = self._may_wait(what) and (what.verb != "record" or bool(told["ids"]))
        return {
            "ok": True,
            "degraded": True,
            **{name: told[name] for name in told if name != "learned"},
            "waits": waits,
        }

    def _heard(self, here: PersonaMemory, heard: Heard) -> bool:
        if heard.what in OURS:
            return False
        if heard.what == "clear_data":
            if self._config.bus.changes == "closed":
                return False
            here.users.clear(heard)
            return True
        here.hear(heard)
        return here.transcript.latest is not None or heard.skill_id in self._config.capture.exclude_skills

    @staticmethod
    def _may_wait(asked: Request) -> bool:
        """Whether a change needs nothing from the store."""
        if asked.verb == "remember":
            return asked.data.get("secret") is not True  # a secret is never queued
        return asked.verb == "record" or (asked.verb == "capture" and changes_something(asked))

    # when it is there again

    def deliver(self) -> list[Told]:
        """Deliver the oldest arrivals of the queue, as many as share a commit; the outcome of each.

        A StoreError for which ``is_away`` holds: the store was lost again, no arrival is lost.
        """
        memory = self.reached
        assert memory is not None
        self._leave_out_delivered(memory)
        batch = self._file.oldest(GROUP)
        if not batch:
            return []
        try:
            told = self._together(memory, batch)
        except Exception as error:
            if is_away(error):
                raise
            told = [done for one in batch for done in self._alone(memory, one)]
        self._file.empty(batch[-1].num)
        return told

    def _leave_out_delivered(self, memory: PersonaMemory) -> None:
        delivered = memory.state(self._mark)
        if delivered:
            first = self._file.oldest(1)
            if first and first[0].num <= int(delivered):
                self._file.empty(int(delivered))

    def _together(self, memory: PersonaMemory, batch: Sequence[QueuedArrival]) -> list[Told]:
        with memory.transcript.undoing(), memory.transcript.ledger.sweeps.late(time.time()), memory.transaction():
            told = [done for one in batch if (done := self._delivered(memory, one)) is not None]
            memory.put_state(self._mark, str(batch[-1].num))
        return told

    def _alone(self, memory: PersonaMemory, one: QueuedArrival) -> list[Told]:
        try:
            return self._together(memory, [one])
        except Exception as error:
            if is_away(error):
                raise
            what = read_record(one)
            private = isinstance(error, NotAllowed) and not isinstance(error, WasForgotten)
            if private and isinstance(what, Request) and what.data.get("key") is not None:
                # the key is taken by a private memory: the acknowledged one gets another key
                return self._alone(
                    memory,
                    replace(one, body=encoded(replace_fast(what, data={**what.data, "key": None}))),
                )
            # a request refused for its content will always be refused
            LOG.warning("something that waited for the store was refused: %s", type(error).__name__)
            memory.put_state(self._mark, str(one.num))
            return []

    def _delivered(self, memory: PersonaMemory, one: QueuedArrival) -> Told | None:
        what = read_record(one)
        if one.tried and memory.transcript.holds(one.id):
            return None
        with self._clock.stands(one.at):
            if isinstance(what, Request):
                return what, {"ok": True, **answer(memory, self._config, what, one.owner)}
            if what.what == "clear_data":
                return what, {"ok": True, "forgotten": memory.users.clear(what)}
            ids = [turn.id for turn in memory.hear_within(what)]
            return what, {"ok": True, "ids": ids, "learned": memory.transcript.learned}

    def end(self) -> PersonaMemory:
        """The memory, which takes its place again when the queue is empty."""
        memory, self._memory = self.reached, None
        assert memory is not None
        self.reached = self._here = None
        return memory


def _refusal(error: PersonaMemoryError) -> Outcome:
    return {"ok": False, "error": error.code, "reason": error.reason}
