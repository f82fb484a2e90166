"""How long an answer over the bus is waited for: of a daemon that is away, and of one that lives and is busy."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ovos_persona_memory.errors import NoAnswer, Unanswered
from ovos_persona_memory.protocol import door_address, messages, topics
from ovos_persona_memory.protocol.transport import BusTransport, DoorTransport, HurriedTransport, Patience
from ovos_persona_memory.records import Scope

SHORT = Patience(timeout_s=0.2)
WITH_BUSY = Patience(timeout_s=0.2, busy_s=20.0, bus_s=0.2)


class Wire:
    """A transport whose bus is a function of what is sent; what it says comes back on a thread, as from a bus."""

    def __init__(self, answers: Callable[[str], list[tuple[float, str]]]) -> None:
        self.transport = BusTransport()
        self.transport.bus.connected_event.set()
        self.sent: list[str] = []
        self._answers = answers
        self.transport.bus.send = self._send  # type: ignore[method-assign]

    def _send(self, frame: bytes) -> bool:
        if not self.transport.connected:
            return False
        told = json.loads(frame)
        self.sent.append(told["type"])
        request_id = told["data"].get("request_id")
        for after_s, topic in self._answers(told["type"]):
            answer = messages.frame(topic, {"ok": True, "request_id": request_id})
            threading.Timer(after_s, self.transport.bus._arrived, [answer]).start()
        return True


@pytest.fixture
def wired() -> Iterator[Callable[..., Wire]]:
    made: list[Wire] = []

    def make(after_s: float | None, lives: bool, carried_s: float | None = 0.0) -> Wire:
        """``carried_s``: how long the bus takes; None: for good."""

        def answers(topic: str) -> list[tuple[float, str]]:
            if topic == topics.ALIVE and carried_s is None:
                return []
            if topic == topics.ALIVE:
                return [(carried_s or 0.0, topic), *([(carried_s or 0.0, topic + topics.RESPONSE)] if lives else [])]
            return [] if after_s is None else [(after_s, topics.response("list"))]

        made.append(Wire(answers))
        return made[-1]

    yield make
    for one in made:
        one.transport.close()


def ask(wire: Wire, patience: Patience, verb: str = "list", **data: object) -> dict[str, object]:
    return wire.transport.ask(verb, data, Scope(), patience)


def test_an_answer_in_time_is_given_and_nobody_is_asked_whether_the_daemon_lives(wired: Callable[..., Wire]) -> None:
    wire = wired(0.0, lives=True)
    assert ask(wire, WITH_BUSY)["ok"] is True
    assert wire.sent == [topics.request("list")]


def test_of_a_daemon_that_is_away_no_answer_is_waited_for_longer(wired: Callable[..., Wire]) -> None:
    wire = wired(None, lives=False)
    began = time.monotonic()
    with pytest.raises(NoAnswer):
        ask(wire, WITH_BUSY)
    assert time.monotonic() - began < WITH_BUSY.busy_s
    assert wire.sent == [topics.request("list"), topics.ALIVE]


def test_requests_that_share_a_time_are_answered_within_it_and_not_asked_behind_it(wired: Callable[..., Wire]) -> None:
    wire = wired(0.0, lives=True)
    shared = HurriedTransport(wire.transport, within_s=0.5)
    assert shared.ask("list", {}, Scope(), WITH_BUSY)["ok"] is True
    time.sleep(0.6)
    with pytest.raises(NoAnswer):
        shared.ask("list", {}, Scope(), WITH_BUSY)
    assert wire.sent == [topics.request("list")]


def test_a_slow_answer_leaves_less_time_for_the_next_request(wired: Callable[..., Wire]) -> None:
    wire = wired(None, lives=True)
    shared = HurriedTransport(wire.transport, within_s=0.3)
    for _ in range(2):
        with pytest.raises(NoAnswer):
            shared.ask("list", {}, Scope(), Patience(timeout_s=60.0))
    assert wire.sent == [topics.request("list")]


def test_a_daemon_that_lives_and_is_busy_is_waited_for(wired: Callable[..., Wire]) -> None:
    assert ask(wired(1.0, lives=True), WITH_BUSY)["ok"] is True


@pytest.mark.parametrize("lives", [True, False])
def test_while_the_bus_brings_nothing_back_the_daemon_is_not_taken_for_away(
    wired: Callable[..., Wire], lives: bool
) -> None:
    assert ask(wired(1.1, lives, carried_s=1.05), WITH_BUSY)["ok"] is True


def test_once_the_bus_brought_the_question_back_a_silent_daemon_is_away(wired: Callable[..., Wire]) -> None:
    wire = wired(None, lives=False, carried_s=0.5)
    began = time.monotonic()
    with pytest.raises(NoAnswer):
        ask(wire, WITH_BUSY)
    assert 0.5 <= time.monotonic() - began < WITH_BUSY.busy_s


def test_with_patience_a_bus_that_comes_back_in_time_is_waited_for(wired: Callable[..., Wire]) -> None:
    wire = wired(0.0, lives=True)
    wire.transport.bus.connected_event.clear()
    with pytest.raises(NoAnswer, match="the messagebus is away"):
        ask(wire, SHORT)
    threading.Timer(0.05, wire.transport.bus.connected_event.set).start()
    assert ask(wire, WITH_BUSY)["ok"] is True
    wire.transport.bus.connected_event.clear()
    with pytest.raises(NoAnswer, match="the messagebus is away"):
        ask(wire, WITH_BUSY)


@pytest.mark.parametrize(("patience", "lives"), [(SHORT, True), (WITH_BUSY, False)])
def test_without_such_patience_or_a_word_from_it_it_is_not(
    wired: Callable[..., Wire], patience: Patience, lives: bool
) -> None:
    with pytest.raises(NoAnswer):
        ask(wired(1.0, lives=lives), patience)


def test_that_it_lived_before_the_question_counts_for_nothing(wired: Callable[..., Wire]) -> None:
    wire = wired(None, lives=False)
    wire.transport.bus._arrived(messages.frame(topics.ALIVE + topics.RESPONSE, {"status": True}))
    with pytest.raises(NoAnswer):
        ask(wire, WITH_BUSY)


# what is known where no answer came


def reason_of(wire: Wire, patience: Patience, verb: str = "remember", **data: object) -> type[NoAnswer]:
    with pytest.raises(NoAnswer) as raised:
        ask(wire, patience, verb, **data)
    return raised.type


def test_of_a_daemon_that_lives_and_does_not_answer_nobody_knows_what_it_did(wired: Callable[..., Wire]) -> None:
    assert reason_of(wired(None, lives=True), Patience(0.2, 0.1)) is Unanswered


def test_while_the_bus_brings_nothing_back_nobody_knows_either(wired: Callable[..., Wire]) -> None:
    assert reason_of(wired(None, lives=False, carried_s=None), Patience(0.2, 0.1)) is Unanswered


def test_who_does_not_ask_whether_the_daemon_lives_does_not_know(wired: Callable[..., Wire]) -> None:
    assert reason_of(wired(None, lives=True), SHORT) is Unanswered


def test_a_daemon_that_nobody_hears_of_did_nothing(wired: Callable[..., Wire]) -> None:
    assert reason_of(wired(None, lives=False), WITH_BUSY) is NoAnswer


@pytest.mark.parametrize(("verb", "data"), [("recall", {}), ("forget", {"preview": True}), ("capture", {})])
def test_what_was_only_to_be_looked_at_changed_nothing(
    wired: Callable[..., Wire], verb: str, data: dict[str, object]
) -> None:
    assert reason_of(wired(None, lives=True), SHORT, verb, **data) is NoAnswer


def test_what_never_left_was_not_done(wired: Callable[..., Wire]) -> None:
    wire = wired(None, lives=True)
    wire.transport.bus.connected_event.clear()
    assert reason_of(wire, SHORT) is NoAnswer


def test_at_the_door_what_was_asked_of_a_daemon_that_ends_may_have_been_done(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door, door_address(tmp_path) as address:
        door.bind(address)
        door.listen()
        transport = DoorTransport(tmp_path)
        taken, _ = door.accept()
        asked = threading.Thread(target=lambda: (taken.recv(1), taken.close()), daemon=True)
        asked.start()
        with pytest.raises(Unanswered):
            transport.ask("remember", {}, Scope(), Patience(5.0))
        with pytest.raises(NoAnswer) as raised:
            transport.ask("remember", {}, Scope(), Patience(5.0))
        assert raised.type is NoAnswer
        transport.close()
