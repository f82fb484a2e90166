"""One memory in every room: daemons on buses of their own, on one server."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.servers.bus import Wire
from support.servers.ports import free_port
from support.servers.redis import RedisServer

from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope

from .conftest import Daemon, running_bus, wait_until

KITCHEN, STUDY = "kitchen", "study"
SOON_S = 1.0
"""What was said in one room is known in another after this, seconds."""


class Room:
    """A bus and a daemon, and somebody who talks."""

    def __init__(self, name: str, port: int, daemon: Daemon) -> None:
        self.name, self.daemon = name, daemon
        self.wire = Wire(port)
        self.client = MemoryClient.over_bus(20.0, host="127.0.0.1", port=port)
        self.owner = MemoryClient.over_door(daemon.data, 20.0)

    def hear(self, text: str, session_id: str, utterance_id: str | None = None) -> None:
        """An utterance, as the listener of the room puts it on its bus."""
        context: dict[str, Any] = {"session": {"session_id": session_id, "site_id": self.name}}
        context |= {"utterance_id": utterance_id} if utterance_id else {}
        self.wire.send("recognizer_loop:utterance", {"utterances": [text], "lang": "en-US"}, context)

    def close(self) -> None:
        """End its connections."""
        self.wire.socket.close()
        self.client.close()
        self.owner.close()


@pytest.fixture(params=["redis", "postgres"])
def kinds(request: pytest.FixtureRequest) -> dict[str, object]:
    """The settings of every device."""
    if request.param == "postgres":
        return {"backend": "postgres", "connection": request.getfixturevalue("postgres")()}
    server: RedisServer = request.getfixturevalue("redis_server")
    place = {"backend": "redis", "connection": server.url}
    return {"kinds": dict.fromkeys(("conversational", "facts", "episodic"), place)}


@pytest.fixture
def rooms(tmp_path: Path, daemon: Callable[..., Daemon], kinds: dict[str, object]) -> Iterator[tuple[Room, Room]]:
    with ExitStack() as stack:
        found = []
        for name in (KITCHEN, STUDY):
            port = free_port()
            stack.enter_context(running_bus(tmp_path / f"bus {name}", port))
            started = daemon(tmp_path / name, ("127.0.0.1", port), kinds)
            found.append(Room(name, port, started))
            stack.callback(found[-1].close)
        yield found[0], found[1]


def texts(room: Room, session_id: str | None = None) -> list[str]:
    """What the room knows to have been said by the household, oldest first."""
    sessions = [session_id] if session_id else [one.session_id for one in room.owner.sessions(Scope())]
    return [one.text for name in sessions for one in room.owner.history(Scope(name), max_history=None, hanging=True)]


def known(room: Room, question: str) -> list[str]:
    return [hit.text for hit in room.owner.recall(question, Scope()) if hit.sure]


def test_what_was_said_in_the_kitchen_is_known_in_the_study(rooms: tuple[Room, Room]) -> None:
    kitchen, study = rooms
    kitchen.hear("my parrot is called Ada", "k1")
    wait_until(lambda: known(kitchen, "what is my parrot called") != [], "the kitchen's own knowledge")
    said_at = time.monotonic()
    wait_until(lambda: known(study, "what is my parrot called") != [], "the study's knowledge")
    assert time.monotonic() - said_at < SOON_S * 3  # a busy machine
    assert known(study, "what is my parrot called")[0] == "my parrot is called Ada"
    wait_until(lambda: study.owner.status()["counts"]["facts"] == 1, "the fact, learned in a quiet moment")
    kitchen.owner.facts.list()  # whoever lists them has what still waits learned first
    counts = study.owner.status()["counts"]
    assert (counts["turns"], counts["facts"]) == (1, 1)  # nothing twice
    study.hear("my parrot is called Grace", "s1")
    wait_until(lambda: "my parrot is called Grace" in known(kitchen, "what is my parrot called"), "the correction")


def test_one_session_in_two_rooms_keeps_the_order_of_arrival(rooms: tuple[Room, Room]) -> None:
    kitchen, study = rooms
    said = [f"line number {number}" for number in range(10)]
    for number, text in enumerate(said):
        (kitchen, study)[number % 2].hear(text, "walk")
        wait_until(lambda wanted=number + 1: kitchen.owner.status()["counts"]["turns"] == wanted, text)  # type: ignore[misc]
    found = [one.text for one in study.owner.history(Scope("walk"), max_history=None, hanging=True)]
    assert found == [one.text for one in kitchen.owner.history(Scope("walk"), max_history=None, hanging=True)]


def test_both_rooms_talk_at_once_and_nothing_is_lost_or_doubled(rooms: tuple[Room, Room]) -> None:
    def talk(room: Room) -> None:
        for number in range(40):
            room.hear(f"{room.name} says {number}", f"{room.name} {number % 3}")

    threads = [threading.Thread(target=talk, args=(room,)) for room in rooms]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for room in rooms:
        wait_until(lambda room=room: room.owner.status()["counts"]["turns"] == 80, "all turns")  # type: ignore[misc]


def test_guest_mode_and_forgetting_reach_every_device(rooms: tuple[Room, Room]) -> None:
    kitchen, study = rooms
    kitchen.hear("my parrot is called Ada", "k1", "u-1")
    wait_until(lambda: known(study, "what is my parrot called") != [], "the study's knowledge")
    kitchen.owner.capture(write=False, read=False)
    time.sleep(0.3)  # the devices look that often
    study.hear("the guest likes olives", "s1")
    assert study.wire.ask("status")["ok"]  # behind the utterance, on the same connection
    assert known(study, "what is my parrot called") == []
    study.owner.capture(write=True, read=True)
    time.sleep(0.3)
    assert known(kitchen, "what is my parrot called") != []
    assert known(kitchen, "who likes olives") == []
    assert study.owner.status()["counts"]["turns"] == 1
    assert study.owner.forget(Scope(), query="parrot") >= 1
    assert known(kitchen, "what is my parrot called") == []
    kitchen.hear("my parrot is called Ada", "k1")  # it is told again
    wait_until(lambda: known(study, "what is my parrot called") != [], "what is told again")


def test_a_device_that_was_killed_loses_nothing_and_stops_nobody(rooms: tuple[Room, Room], tmp_path: Path) -> None:
    kitchen, study = rooms
    kitchen.hear("my parrot is called Ada", "k1")
    wait_until(lambda: study.owner.status()["counts"]["turns"] == 1, "the first turn")
    for number in range(5):
        kitchen.hear(f"something else {number}", "k1")
    kitchen.daemon.end(signal.SIGKILL)
    study.hear("good evening", "s1")
    wait_until(lambda: known(study, "what is my parrot called") != [], "the study's knowledge")
    wait_until(lambda: study.owner.status()["counts"]["sessions"] == 2, "what the study heard")
    assert json.dumps(study.owner.status()["last_error"]) == "null"
