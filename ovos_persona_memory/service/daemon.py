"""One process, one writer: events and requests in the order of arrival, commits in groups."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ovos_utils.log import LOG
from ovos_utils.process_utils import ProcessStatus, StatusCallbackMap

from ovos_persona_memory import web
from ovos_persona_memory.config import MemoryConfig, device_languages, device_timezone, encryption_key
from ovos_persona_memory.errors import PersonaMemoryError, StoreBusy, StoreError, StoreUnavailable, WrongKey
from ovos_persona_memory.memory import PersonaMemory, Removed
from ovos_persona_memory.protocol import BusConnection, messages, topics
from ovos_persona_memory.records import Heard, Request, Turn
from ovos_persona_memory.service import date_parser
from ovos_persona_memory.service.announcement import Announcement
from ovos_persona_memory.service.backups import FolderBackups, Swap
from ovos_persona_memory.service.durable_replies import Acknowledging
from ovos_persona_memory.service.embedder_plugins import open_embedder
from ovos_persona_memory.service.inbox import Arrival, Arrivals, is_ours
from ovos_persona_memory.service.job_worker import JobWorker
from ovos_persona_memory.service.notifications import PendingNotifications, learned_late
from ovos_persona_memory.service.offline import LOOKED_S, Clock, Offline, is_away
from ovos_persona_memory.service.owner_socket import Door
from ovos_persona_memory.service.preloading import Languages
from ovos_persona_memory.service.verb_handlers import answer
from ovos_persona_memory.stores import is_shared, restore_backup, sqlite_folder

if TYPE_CHECKING:
    from ovos_persona_memory.web import PageServer

NEWEST = 500
"""Answers of each verb that are kept."""


class Latencies:
    """Latencies of the newest answers. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _took_ms
        self._took_ms: dict[str, deque[float]] = {}

    def note(self, verb: str, took_ms: float) -> None:
        """Add the latency of one answer."""
        with self._lock:
            self._took_ms.setdefault(verb, deque(maxlen=NEWEST)).append(took_ms)

    def by_verb(self) -> dict[str, dict[str, float]]:
        """Median, 95th percentile, both in milliseconds, and number of the newest answers of each verb asked."""
        with self._lock:
            took = {verb: sorted(newest) for verb, newest in self._took_ms.items()}
        return {
            verb: {
                "p50": round(ranked[len(ranked) // 2], 3),
                "p95": round(ranked[int(len(ranked) * 0.95)], 3),
                "asked": len(ranked),
            }
            for verb, ranked in took.items()
        }


QUIET_S, UNTOLD = 0.05, 256
"""When nothing has arrived for so long, seconds, everybody is told of changes, and what was put off is done; of
changes also when so many wait."""
CROWD = 3
"""So many arrivals at once are a crowd: the worker goes on with what comes next while the disk takes them in."""
READ_WITHIN_S = 2.0
"""Languages are loaded when the memory is ready: loading them first would hold that up. Where no bus is found within
this time, seconds, they are loaded without one."""
NEXT_STEP_S = 0.005
"""Between two steps of what was put off, seconds."""
BUSY_S = 2.0
"""How long a start waits for another process, a command perhaps, to let go of the folder, seconds."""
TRY_AGAIN_S = 5.0
"""Between two attempts to open a store that could not be opened."""
BATCHES = 2
"""Of what waited for a store that was away, so many are handed to it before those who ask are answered again."""

TALK = frozenset({"record", "context"})
"""Verbs that say that somebody talks, as everything does that is heard."""
PATIENT = frozenset({"record", "context", "recall", "history", "turn", "turns", "sessions", "status"})
"""Verbs that do not wait for what is still to be learned: they find the turns themselves."""


class Daemon:
    """Wires the bus and the owner's door to one PersonaMemory.

    The receiving threads only put what arrives on a queue; one worker does everything else: nothing overtakes anything.
    """

    def __init__(self, config: MemoryConfig, ready: Callable[[], None] = lambda: None, **address: Any) -> None:
        self._config = config
        self._languages = Languages(device_languages() if config.facts.learn else ())
        """While they are being read what is said is kept, and learned from later: it waits for none."""
        self._say_ready: Callable[[], None] | None = ready
        self._clock = Clock()
        self._arrivals = Arrivals(named=is_shared(config))
        self._offline = Offline(config, self._clock, self._arrivals.wake) if is_shared(config) else None
        self._memory: PersonaMemory | None = None
        """None while it is not open, or its store is away."""
        self._door: Door | None = None
        self._page = page_of(config, lambda frame, reply: self._arrivals.put(frame, reply, True), self._swap_later)
        self._swap: Swap | None = None
        self._failure: PersonaMemoryError = StoreUnavailable("the memory is starting")
        self._last_error: str | None = None
        self._ended = False
        self._untidy: Literal["waiting", "begun"] | None = "waiting"
        self._try_at = 0.0
        self._read_by = 0.0
        self._untold, self._latencies = PendingNotifications(), Latencies()
        self._just_heard: Turn | None = None
        self._jobs = JobWorker(lambda: self._memory, config.models, config.named_models, self._arrivals.wake)
        self._answers = Acknowledging(lambda: self._opened().sync())
        self.bus = BusConnection(is_ours, lambda frame: self._arrivals.put(frame, self.bus.send, False), **address)
        self.bus.opened = self._bus_opened
        self._announcement = Announcement(self.bus.send)
        self.status = ProcessStatus("persona_memory", self.bus, StatusCallbackMap(on_ready=tell_ready))
        self._worker = threading.Thread(target=self._work, name="worker", daemon=True)

    def start(self) -> None:
        """Open the store, the door and the bus; returns when all are under way. A bus may come later.

        StoreBusy where another process has the folder, WrongKey where it is encrypted with another key.
        """
        self.status.set_alive()
        self._languages.start()
        self._read_by = time.monotonic() + READ_WITHIN_S
        self._try_to_open()
        given_up_at = time.monotonic() + BUSY_S
        while self._memory is None and isinstance(self._failure, StoreBusy):
            if time.monotonic() > given_up_at:
                raise self._failure  # two daemons on one folder would both answer every request
            time.sleep(0.1)
            self._try_to_open()
        if self._memory is None and isinstance(self._failure, WrongKey):
            raise self._failure  # no waiting helps
        self._answers.start()
        self._worker.start()
        self._jobs.start()
        self.bus.start()

    def stop(self) -> None:
        """End what is under way and close everything."""
        self.status.set_stopping()
        self._ended = True
        if self._page is not None:
            self._page.stop()
        self._arrivals.wake()
        self._worker.join(timeout=1.0)
        self._jobs.stop()
        self._answers.stop(timeout_s=0.5)
        if self._door is not None:
            self._door.close()
        self.bus.close()
        for kept in (self._memory, self._offline):
            if kept is not None and not self._worker.is_alive():
                kept.close()

    def _bus_opened(self) -> None:
        LOG.info("connected to the messagebus")
        self._ready_if_complete()
        self._announcement.connected()

    # the one worker

    def _work(self) -> None:
        while not self._ended:
            if self._memory is None and not self._is_offline and time.monotonic() >= self._try_at:
                self._try_to_open()
            arrivals = self._arrivals.take(self._patience_s(), lambda: self._answers.busy)
            if arrivals is None:
                self._tell()
                self._tidy()
                if self._offline is not None and self._memory is not None:
                    self._lost(self._offline.note(self._memory, ()))
            elif not self._ended:  # at the end what still waits is left: it was not acknowledged
                self._handle(arrivals)
                self._foresee()
            if self._offline is not None and self._offline.reached is not None:
                self._deliver(self._offline, BATCHES)
            if self._swap is not None:
                self._put_back(self._swap)
        self._tell()

    def _foresee(self) -> None:
        """A persona may ask in a moment about what was just heard: find it while the assistant is still thinking."""
        turn, memory = self._just_heard, self._memory
        if turn is None or memory is None or not self._arrivals.empty():
            return
        try:
            self._just_heard = None
            if not memory.prefetch(turn, lambda: not self._arrivals.empty()):
                self._just_heard = turn  # whoever waits comes first; what was judged by then is kept
        except Exception as error:  # whoever asks is told, and the worker lives
            LOG.debug("could not look ahead: %s", error)

    def _changed(self, heard: Turn | None = None) -> None:
        """What was found beforehand holds no more; ``heard``: what may be asked about next."""
        self._just_heard = heard
        if self._memory is not None:
            self._memory.finding.invalidate()

    def _patience_s(self) -> float | None:
        if self._untold:
            return QUIET_S
        if self._memory is None:
            is_back = self._offline is not None and self._offline.reached is not None
            return 0.0 if is_back else TRY_AGAIN_S
        if self._memory.facts.has_learned_late:
            return QUIET_S
        due_in_s = self._memory.retention.due_in_s()
        later_s = None if due_in_s is None else max(due_in_s, TRY_AGAIN_S)
        if self._offline is not None and self._offline.holds_talk:
            later_s = LOOKED_S if later_s is None else min(later_s, LOOKED_S)
        return {"waiting": QUIET_S, "begun": NEXT_STEP_S, None: later_s}[self._untidy]

    def _tell(self) -> None:
        """Tell everybody what was done; in a quiet moment, since each message costs every client on the bus."""
        told = self._untold.take()
        self._answers.add(lambda _: self._tell_all(told), written=False)

    def _tell_all(self, told: Sequence[bytes]) -> None:
        for event in told:
            self.bus.send(event)
            if self._page is not None:
                self._page.told(event)

    def _tidy(self) -> None:
        """In a quiet moment: a little of what was put off."""
        if time.monotonic() >= self._read_by:
            self._languages.go_on()
        if self._memory is None or self._languages.busy:
            return
        has_learned = self._memory.facts.has_learned_late
        if self._untidy is None and not has_learned and self._memory.retention.due_in_s() != 0.0:
            return
        try:
            self._untidy = "begun" if self._memory.tidy(lambda: not self._arrivals.empty()) else None
            late = self._memory.facts.take_learned_late()
            if late:
                self._changed()
            self._tell_all(learned_late(late))
        except Exception as error:  # it is tried again after the next change, and the worker lives
            self._untidy = None
            self._failed(error)
            self._lost(error)

    def _handle(self, arrivals: Sequence[Arrival]) -> None:
        if any(isinstance(arrival.what, Heard) or arrival.what.verb in TALK for arrival in arrivals):
            self._jobs.talked()
        for alone, group in groupby(arrivals, key=lambda arrival: arrival.alone):
            self._handle_group(list(group), alone)
        if any(isinstance(arrival.what, Request) and arrival.what.verb == "introspect" for arrival in arrivals):
            self._jobs.wake()

    def _handle_group(self, group: Sequence[Arrival], alone: bool) -> None:
        offline = self._offline
        if offline is not None and offline.reached is not None and any(map(offline.needs_store, group)):
            self._deliver(offline)
        if offline is not None and offline.active:
            self._send(offline.take(group))
        elif alone or not any(arrival.writes for arrival in group):
            for arrival in group:
                self._send([(arrival, self._outcome(arrival))])
        else:
            self._write_together(group)
        if offline is not None and self._memory is not None:
            self._lost(offline.note(self._memory, group))

    def _write_together(self, group: Sequence[Arrival]) -> None:
        """One commit for all, then the answers; if it fails, each alone, so that one cannot spoil the others.

        What only reads sees what was written before it, and waits for the disk too: nothing is
        shown that the disk does not have.
        """
        try:
            opened = self._opened()
            crowd = (len(group) >= CROWD or self._languages.busy) and opened.transcript.backlog.may_grow
            whole = self._offline is not None
            with opened.transcript.undoing(), opened.transaction(crowded=crowd):
                outcomes = [(arrival, self._outcome(arrival, grouped=whole or arrival.writes)) for arrival in group]
        except PersonaMemoryError as error:
            if self._offline is not None and self._lost(error):
                self._send(self._offline.take(group, tried=True))
            else:
                self._one_by_one(group, error)
            return
        self._send(outcomes, written=crowd)

    def _opened(self) -> PersonaMemory:
        if self._memory is None:
            raise self._failure
        return self._memory

    def _one_by_one(self, group: Sequence[Arrival], error: PersonaMemoryError) -> None:
        for arrival in group:
            if not arrival.writes:
                self._send([(arrival, self._outcome(arrival))])
            elif len(group) == 1:
                self._send([(arrival, self._failed(error))])
            else:
                self._write_together([arrival])

    def _outcome(self, arrival: Arrival, grouped: bool = False) -> dict[str, Any] | None:
        """What to answer: None for an event. Inside a group a failing store is raised, and what fails of
        an event, to undo the group."""
        try:
            if isinstance(arrival.what, Heard):
                return self._hear(self._opened(), arrival.what, grouped)
            if arrival.what.verb not in PATIENT:
                self._opened().facts.settle()
            if arrival.writes:
                self._changed()
            return {"ok": True, **answer(self._opened(), self._config, arrival.what, arrival.owner)}
        except StoreError as error:
            if grouped:
                raise
            if self._offline is not None and self._lost(error):
                return self._offline.take([arrival], tried=True)[0][1]
            return self._failed(error)
        except Exception as error:
            if grouped and isinstance(arrival.what, Heard):
                raise _as_ours(error) from error
            return self._failed(error)

    def _failed(self, error: Exception) -> dict[str, Any]:
        error = _as_ours(error)
        if isinstance(error, StoreError) or error.code == PersonaMemoryError.code:
            self._last_error = f"{error.code}: {error.reason}"
        if isinstance(error, StoreError):
            LOG.error("the store failed: %s", error.reason)
        return {"ok": False, "error": error.code, "reason": error.reason}

    def _send(self, outcomes: Sequence[tuple[Arrival, dict[str, Any] | None]], written: bool = False) -> None:
        """Answer; ``written``: when the disk has it."""
        self._answers.add(lambda failure: self._leave(outcomes, failure), written)
        self._untidy = "waiting"
        self._untold.add((arrival.what, outcome) for arrival, outcome in outcomes)
        if len(self._untold) > UNTOLD:
            self._tell()

    def _leave(
        self, outcomes: Sequence[tuple[Arrival, dict[str, Any] | None]], failure: PersonaMemoryError | None
    ) -> None:
        for arrival, outcome in outcomes:
            if outcome is not None and isinstance(arrival.what, Request):
                told = self._failed(failure) if failure and outcome["ok"] else outcome
                self._answer(arrival, arrival.what, told)

    def _answer(self, arrival: Arrival, asked: Request, outcome: dict[str, Any]) -> None:
        if asked.verb == "status" and outcome["ok"]:
            latency = self._latencies.by_verb()
            outcome |= {"last_error": self._last_error, "latency_ms": latency, "bus": self.bus.connected}
            outcome["waiting"] = self._offline.waiting if self._offline is not None else 0
            outcome["web"] = self._page.url if self._page is not None else None
        took_ms = (time.perf_counter() - arrival.received) * 1000
        self._latencies.note(asked.verb, took_ms)
        arrival.reply(messages.response(asked, {**outcome, "took_ms": round(took_ms, 3)}))

    # events

    def _tell_removed(self, removed: Removed) -> None:
        self._changed()
        self.bus.send(messages.frame(topics.FORGOTTEN, {"forgotten": removed.total, "retention": asdict(removed)}))

    def _hear(self, memory: PersonaMemory, heard: Heard, grouped: bool) -> dict[str, Any]:
        if heard.what == "clear_data":
            closed = self._config.bus.changes == "closed"
            self._changed()
            return {"ok": True, "forgotten": 0 if closed else memory.users.clear(heard)}
        added = memory.hear_within(heard) if grouped else memory.hear(heard)
        learned = memory.transcript.learned
        if added or learned or heard.what == "cancelled":
            self._changed(next((turn for turn in added if turn.role == "user"), None))
        self._announcement.heard(heard.what, memory)
        return {"ok": True, "ids": [turn.id for turn in added], "learned": learned}

    # a store that is away

    @property
    def _is_offline(self) -> bool:
        return self._offline is not None and self._offline.active

    def _lost(self, error: Exception | None) -> bool:
        """Go on without the store where it is one that others share, and away; whether it is."""
        if self._offline is None or not isinstance(error, PersonaMemoryError) or not is_away(error):
            return False
        if not self._offline.active:
            LOG.error("the store is away, what comes in waits for it: %s", error.reason)
            memory, self._memory = self._memory, None
            self._failure, self._last_error = error, f"{error.code}: {error.reason}"
            self._offline.begin(memory, error, self._open)
        return True

    def _deliver(self, offline: Offline, batches: int | None = None) -> None:
        """Hand over some of what waits, None: all of it; then the store is used again."""
        try:
            while offline.waiting and batches != 0:
                self._untold.add(offline.deliver())
                batches = None if batches is None else batches - 1
        except PersonaMemoryError as error:
            self._last_error = f"{error.code}: {error.reason}"
            offline.begin(offline.reached, error, self._open)
            return
        if not offline.waiting:
            LOG.info("the store is there again, and everything is delivered")
            self._settle(offline.end())

    # the store

    def _open(self) -> PersonaMemory:
        memory = PersonaMemory.open(config=self._config, clock=self._clock, opener=open_embedder, load_wait_s=0.0)
        memory.learns_later = True
        return memory

    def _swap_later(self, swap: Swap) -> None:
        """Have a backup put in the memory's place, once what waits is answered. Thread-safe."""
        self._swap = swap
        self._arrivals.wake()

    def _put_back(self, swap: Swap) -> None:
        self._swap = None
        self._failure = StoreUnavailable("a backup is being put in place")
        try:
            self._answers.stop_for(lambda: self._exchange(swap.file))
            LOG.info("a backup was put in the place of the memory")
        except PersonaMemoryError as error:
            swap.error = error
        except Exception as error:  # the worker lives
            LOG.exception("a backup could not be put in place")
            swap.error = PersonaMemoryError(f"it failed inside: {type(error).__name__}")
        self._try_to_open()
        swap.done.set()

    def _exchange(self, file: Path) -> None:
        memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()
        restore_backup(self._config, file, encryption_key(self._config.encryption.key))

    def _try_to_open(self) -> None:
        self._try_at = time.monotonic() + TRY_AGAIN_S
        try:
            memory = self._open()
        except PersonaMemoryError as error:
            if error.reason != self._failure.reason:
                LOG.error("the memory cannot be opened: %s", error.reason)
            self._failure, self._last_error = error, f"{error.code}: {error.reason}"
            self.status.set_error(error.reason)
            if not isinstance(error, StoreBusy) and self._lost(error):
                self._serve()
            return
        self._settle(memory)
        self._announcement.begin(memory, self._config.announce)

    def _settle(self, memory: PersonaMemory) -> None:
        """Take a memory into use."""
        memory.finding.dates, memory.finding.timezone = date_parser.days_at_once, device_timezone()
        self._memory, self._last_error, self._untidy = memory, None, "waiting"
        memory.retention.told = self._tell_removed
        self._jobs.serve(memory)
        for aside in memory.status()["store"].get("set_aside", ()):
            LOG.warning("%s was set aside: %s", aside["path"], aside["reason"])
        self._serve()

    def _serve(self) -> None:
        """Whoever asks is answered from now on."""
        if self._door is None:
            self._open_door()
            if self._page is not None:
                self._page.start()
        self.status.set_ready()
        self._ready_if_complete()

    def _ready_if_complete(self) -> None:
        """Say once that the store is open and the bus is there."""
        if self._say_ready and (self._memory is not None or self._is_offline) and self.bus.connected:
            say, self._say_ready = self._say_ready, None
            say()
            self._languages.go_on()

    def _open_door(self) -> None:
        self._door = Door(self._config.folder, lambda frame, reply: self._arrivals.put(frame, reply, True))
        try:
            self._door.open()
        except OSError as error:
            self._last_error = f"the owner's door cannot be opened: {error}"
            LOG.error(self._last_error)
            self._door = None


def page_of(
    config: MemoryConfig, put: Callable[[bytes, Callable[[bytes], None]], None], swap: Callable[[Swap], None]
) -> PageServer | None:
    """The owner's page, to be started; None where the settings do not want it or the extra is not installed.

    ``swap``: puts a backup in the memory's place.
    """
    if not config.web.enabled:
        return None
    if not web.is_installed():
        LOG.debug("no page is served: the extra web is not installed")
        return None
    backups = None if sqlite_folder(config) is None else FolderBackups(config, swap)
    return web.PageServer(config, put, backups)


def _as_ours(error: Exception) -> PersonaMemoryError:
    """The error itself, or what is told of one that no code was written for."""
    if isinstance(error, PersonaMemoryError):
        return error
    LOG.error("it failed inside", exc_info=error)
    return PersonaMemoryError(f"it failed inside: {type(error).__name__}")


def tell_ready() -> None:
    """Send READY=1 where systemd asks for it (sd_notify(3))."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.connect("\0" + address[1:] if address.startswith("@") else address)
            notify.sendall(b"READY=1")
    except OSError as error:
        LOG.warning("systemd could not be told: %s", error)
