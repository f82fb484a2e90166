"""How a request reaches the daemon and its answer comes back: over the bus, or through the owner's door."""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from ovos_persona_memory.errors import NoAnswer, Unanswered
from ovos_persona_memory.protocol import messages, requests, topics
from ovos_persona_memory.protocol.bus_connection import BusConnection
from ovos_persona_memory.records import HOUSEHOLD, Scope, Turn, text_of

DOOR = "door.sock"
"""Name of the owner's socket in the data folder."""


_LIVES = topics.ALIVE + topics.RESPONSE
_WANTED = frozenset({topics.FORGOTTEN, topics.ALIVE, _LIVES, *(topics.response(verb) for verb in topics.VERBS)})


@dataclass(frozen=True)
class Patience:
    """How long an answer is waited for."""

    timeout_s: float
    """Where nobody is there, or nothing is known of that, seconds."""
    busy_s: float = 0.0
    """So much longer where the daemon says meanwhile that it lives, or the bus is what is slow, seconds."""
    bus_s: float = 0.0
    """How long a bus that is away is waited for, seconds: it comes back in half a second."""


class Transport(Protocol):
    """Carries one request to the daemon and its answer back."""

    def ask(self, verb: str, data: dict[str, Any], scope: Scope, patience: Patience) -> dict[str, Any]:
        """The answer's data; NoAnswer when none came in time, and Unanswered where what was to be changed may have been
        changed all the same. Thread-safe."""

    def close(self) -> None:
        """Release the connection."""


class HurriedTransport:
    """Requests over another transport that share a time: all together they are waited for no longer than this."""

    def __init__(self, transport: Transport, within_s: float) -> None:
        """The time, seconds, begins now."""
        self._transport, self._until = transport, time.monotonic() + within_s

    def ask(self, verb: str, data: dict[str, Any], scope: Scope, patience: Patience) -> dict[str, Any]:
        """See Transport. Once the time is over nothing is asked any more, and NoAnswer raised."""
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise NoAnswer(f"no time is left to ask {verb}")
        return self._transport.ask(verb, data, scope, replace(patience, timeout_s=min(patience.timeout_s, left_s)))

    def close(self) -> None:
        """Nothing: the other transport is for others, too."""


class BusTransport:
    """Requests over the messagebus, each matched with its answer by ``request_id``."""

    def __init__(self, **address: Any) -> None:
        self._prefix = uuid.uuid4().hex[:12]
        self._numbers = itertools.count(1)
        self._waiting: dict[str, _Slot] = {}
        self._lock = threading.Lock()  # guards _waiting
        self._lived_at = 0.0
        """When the daemon last said that it lives, on the monotonic clock."""
        self.listeners: list[Callable[[str, Mapping[str, Any]], None]] = []
        """Told of every answer, with its request_id, on the receiving thread."""
        self.told_of_forgetting: list[Callable[[], None]] = []
        """Called when something was forgotten, whatever it was, on the receiving thread."""
        self.bus = BusConnection(_WANTED.__contains__, self._arrived, **address)

    @property
    def connected(self) -> bool:
        """Whether the bus is there right now."""
        return self.bus.connected

    def wait_connected(self, timeout_s: float) -> bool:
        """Whether the bus is there, waiting at most so long for it."""
        return bool(self.bus.connected_event.wait(timeout_s))

    def ask(self, verb: str, data: dict[str, Any], scope: Scope, patience: Patience) -> dict[str, Any]:
        """See Transport. A bus that is away is a NoAnswer."""
        request_id, slot = self._slot()
        try:
            if patience.bus_s:
                self.wait_connected(patience.bus_s)
            self.tell(verb, {**data, "request_id": request_id}, scope)
            if not self._is_answered(request_id, slot, patience):
                late = NoAnswer if slot.is_away else _unanswered(verb, data)
                raise late(f"the memory did not answer {verb} within {patience.timeout_s:g} s")
            return slot.data
        finally:
            with self._lock:
                self._waiting.pop(request_id, None)

    def tell(self, verb: str, data: dict[str, Any], scope: Scope, context: Mapping[str, Any] | None = None) -> None:
        """Send a request without waiting for its answer; NoAnswer where the bus is away.

        ``context``: what the message travels with; that of the caller's message where it is None.
        """
        context = messages.context_of_caller(scope) if context is None else context
        frame = messages.encode(topics.request(verb), {**data, **_wire_scope(scope, verb, over_bus=True)}, context)
        if not self.bus.send(frame):
            raise NoAnswer("the messagebus is away")

    def close(self) -> None:
        """Leave the bus."""
        self.bus.close()

    def _slot(self) -> tuple[str, _Slot]:
        request_id = f"{self._prefix}-{next(self._numbers)}"
        slot = _Slot()
        with self._lock:
            self._waiting[request_id] = slot
        return request_id, slot

    def _slot_of(self, request_id: str) -> _Slot | None:
        with self._lock:
            return self._waiting.get(request_id)

    def _is_answered(self, request_id: str, slot: _Slot, patience: Patience) -> bool:
        if not patience.busy_s:
            return slot.answered.wait(patience.timeout_s)
        half_s = patience.timeout_s / 2
        if slot.answered.wait(half_s):
            return True
        # a daemon says that it lives also while it waits for its disk
        asked_at = time.monotonic()
        until = asked_at + half_s + patience.busy_s
        asked = self.bus.send(messages.frame(topics.ALIVE, {"request_id": request_id}))
        if slot.answered.wait(half_s):
            return True
        # the bus sends everything back to whoever sent it: until then it, or this process, is what is slow
        if asked and not slot.carried.is_set():
            slot.carried.wait(patience.busy_s)
            if slot.answered.wait(half_s):
                return True
        lives = self._lived_at > asked_at
        slot.is_away = slot.carried.is_set() and not lives
        return lives and slot.answered.wait(max(until - time.monotonic(), 0.0))

    def _arrived(self, frame: bytes) -> None:
        arrived = messages.decode(frame, 0.0)
        if arrived.topic == _LIVES:
            self._lived_at = time.monotonic()
        elif arrived.topic == topics.ALIVE:
            self._carried(arrived.data)
        elif arrived.topic == topics.FORGOTTEN:
            self._forgotten()
        else:
            self._answered(arrived.data)

    def _carried(self, question: Mapping[str, Any]) -> None:
        slot = self._slot_of(str(question.get("request_id")))
        if slot is not None:
            slot.carried.set()

    def _forgotten(self) -> None:
        for tell in self.told_of_forgetting:
            tell()

    def _answered(self, answer: Mapping[str, Any]) -> None:
        request_id = str(answer.get("request_id"))
        slot = self._slot_of(request_id)
        if slot is not None:
            slot.data = dict(answer)
            slot.answered.set()
        for listener in self.listeners:
            listener(request_id, answer)


class _Slot:
    def __init__(self) -> None:
        self.answered = threading.Event()
        self.carried = threading.Event()
        """The bus brought back the question whether the daemon lives."""
        self.is_away = False
        """Nobody said that the daemon lives."""
        self.data: dict[str, Any] = {}


_shared: dict[tuple[tuple[str, Any], ...], BusTransport] = {}
_shared_lock = threading.Lock()


def shared_transport(**address: Any) -> BusTransport:
    """This process's one connection to the bus at an address, connecting in the background."""
    with _shared_lock:
        key = tuple(sorted(address.items()))
        if key not in _shared:
            _shared[key] = BusTransport(**address)
            _shared[key].bus.start()
        return _shared[key]


class DoorTransport:
    """Requests through the owner's door: one JSON object a line."""

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()  # guards the connection: one request at a time
        self._numbers = itertools.count(1)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with door_address(folder) as address:
                self._socket.connect(address)
        except OSError as error:
            self._socket.close()
            raise NoAnswer(f"no daemon answers at {folder / DOOR}") from error
        self._lines = self._socket.makefile("rb")

    def ask(self, verb: str, data: dict[str, Any], scope: Scope, patience: Patience) -> dict[str, Any]:
        """See Transport. Who holds the door open lives."""
        timeout_s = patience.timeout_s + patience.busy_s
        request_id = f"door-{next(self._numbers)}"
        asked = {**data, "request_id": request_id, **_wire_scope(scope, verb, over_bus=False)}
        with self._lock:
            self._socket.settimeout(timeout_s)
            try:
                self._socket.sendall(messages.encode(topics.request(verb), asked, {}) + b"\n")
            except OSError as error:
                raise NoAnswer("the daemon closed the door") from error
            try:
                if (answer := self._answer_to(request_id)) is not None:
                    return answer
            except OSError as error:
                raise _unanswered(verb, data)(f"the daemon did not answer {verb} within {timeout_s:g} s") from error
            raise _unanswered(verb, data)("the daemon closed the door")

    def _answer_to(self, request_id: str) -> dict[str, Any] | None:
        # what was asked before and given up may still be answered first
        while line := self._lines.readline():
            answer = messages.decode(line, 0.0).data
            if answer.get("request_id") == request_id:
                return dict(answer)
        return None

    def close(self) -> None:
        """Close the connection."""
        self._lines.close()
        self._socket.close()


class LocalTransport:
    """Requests to the daemon of this very process, as its owner's: what comes and goes are the door's lines."""

    def __init__(self, put: Callable[[bytes, Callable[[bytes], None]], None]) -> None:
        """``put``: hands a line to the daemon, with the function that is called with the answer, on any thread."""
        self._put = put
        self._numbers = itertools.count(1)

    def ask(self, verb: str, data: dict[str, Any], scope: Scope, patience: Patience) -> dict[str, Any]:
        """See Transport."""
        return self.carry(verb, {**data, **_wire_scope(scope, verb, over_bus=False)}, patience.timeout_s)

    def carry(self, verb: str, data: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """The answer to a request whose data names its scope itself; the errors of ``ask``."""
        slot = _Slot()

        def reply(frame: bytes) -> None:
            slot.data = dict(messages.decode(frame, 0.0).data)
            slot.answered.set()

        asked = {**data, "request_id": f"page-{next(self._numbers)}"}
        self._put(messages.encode(topics.request(verb), asked, {}), reply)
        if not slot.answered.wait(timeout_s):
            raise _unanswered(verb, data)(f"the daemon did not answer {verb} within {timeout_s:g} s")
        return {name: value for name, value in slot.data.items() if name != "request_id"}

    def close(self) -> None:
        """Nothing is held open."""


def _unanswered(verb: str, data: Mapping[str, Any]) -> type[NoAnswer]:
    """What it means that a request was not answered by whoever may have got it."""
    return Unanswered if requests.changes(verb, data) else NoAnswer


@contextmanager
def door_address(folder: Path) -> Iterator[str]:
    """The door's address, valid inside the block also where the path is too long for a socket (107 bytes)."""
    path = str(folder / DOOR)
    if len(os.fsencode(path)) < 100:
        yield path
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{DOOR}"
    finally:
        os.close(descriptor)


def _wire_scope(scope: Scope, verb: str, over_bus: bool) -> dict[str, Any]:
    # over the bus session, site, persona and user travel in the message itself; another user is named where one may be
    other = ("user_id",) if verb in topics.OF_OTHERS and scope.user_id != HOUSEHOLD else ()
    if scope.any_persona:
        other = (*other, "persona_id")
    names = (
        ("task_id", "site_id", *other) if over_bus else ("session_id", "user_id", "persona_id", "site_id", "task_id")
    )
    fields: dict[str, Any] = {name: value for name in names if (value := getattr(scope, name)) is not None}
    if scope.any_persona and over_bus:
        fields["any_persona"] = True
    if scope.user_id is None and not over_bus:
        fields["everyone"] = True
    return {"scope": fields} if fields else {}


def wire_turn(turn: Turn) -> dict[str, Any]:
    """The fields of a turn that ``record`` takes."""
    data: dict[str, Any] = {"role": turn.role, "text": text_of(turn.text)}
    for name in ("at", "speaker", "lang", "tool_call_id", "name"):
        if getattr(turn, name) is not None:
            data[name] = getattr(turn, name)
    if turn.is_error:
        data["is_error"] = True
    if turn.tool_calls:
        data["tool_calls"] = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in turn.tool_calls]
    return data
