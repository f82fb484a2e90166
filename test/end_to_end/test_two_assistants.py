"""The kitchen and the study: two messagebuses, two ovos-cores, two daemons, one PostgreSQL, and what befalls it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.assistants import Assistant
from support.servers.ports import free_port
from support.servers.postgres import FAST, Databases, PostgresServer

from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores.postgres.connection import PostgresSettings
from ovos_persona_memory.stores.postgres.store import open_postgres

from .conftest import Daemon, running_bus, wait_until

SOON_S = 1.0
"""What was said in one room is known in the other after this, seconds."""


class Room:
    """A messagebus, a daemon and an ovos-core, and somebody who talks there in one session."""

    def __init__(self, name: str, folder: Path, start: Callable[[], Daemon], port: int) -> None:
        self.name, self._start = name, start
        self.daemon = start()
        self.assistant = Assistant(folder / "assistant", folder / "home", port)
        self._talk = ExitStack()
        self.says = self._talk.enter_context(self.assistant.talking(name, site_id=name))
        self.said: list[str] = []

    def say(self, *texts: str) -> str:
        """What is answered to the last of these utterances."""
        spoken: list[str] = []
        for text in texts:
            self.said.append(text)
            spoken = self.says(text)
        return " ".join(spoken)

    def ask(self, question: str) -> list[str]:
        """What this device's daemon is sure of."""
        with MemoryClient.over_door(self.daemon.data) as owner:
            return [hit.text for hit in owner.recall(question, Scope()) if hit.sure]

    def record(self, text: str) -> None:
        """Hand in a question and its answer; returns when that is acknowledged."""
        with MemoryClient.over_door(self.daemon.data) as owner:
            owner.record([Turn("user", text), Turn("assistant", "noted")], Scope(f"{self.name} persona"))

    def is_whole(self) -> bool:
        """Whether the store is there and nothing waits."""
        with MemoryClient.over_door(self.daemon.data) as owner:
            status = owner.status()
        return not status["waiting"] and not status.get("degraded")

    def kill_and_start(self) -> None:
        """kill -9, and start it again on the same data."""
        self.daemon.end(signal.SIGKILL)
        self.daemon = self._start()

    def close(self) -> None:
        """End the talk and the assistant."""
        self._talk.close()
        self.assistant.end()


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    found = PostgresServer(**FAST | {"fsync": "on", "synchronous_commit": "on"})
    yield found
    found.close()


@pytest.fixture
def url(server: PostgresServer) -> str:
    return Databases(server).fresh()


@pytest.fixture
def rooms(tmp_path: Path, daemon: Callable[..., Daemon], url: str) -> Iterator[list[Room]]:
    settings = {"backend": "postgres", "connection": url}
    with ExitStack() as stack:

        def room(name: str) -> Room:
            port, folder = free_port(), tmp_path / name
            stack.enter_context(running_bus(folder / "bus", port))
            made = Room(name, folder, lambda: daemon(folder / "data", ("127.0.0.1", port), settings), port)
            stack.callback(made.close)
            return made

        with ThreadPoolExecutor(2) as both:
            yield list(both.map(room, ("kitchen", "study")))


def log(url: str, session_id: str) -> list[str]:
    """What the household said in a session as the database has it, in order; without what is kept without its words."""
    store = open_postgres(PostgresSettings(url))
    try:
        return [turn.text for turn in store.turns(Scope(session_id)) if turn.role == "user" and turn.text]
    finally:
        store.close()


def test_the_conversation_in_the_kitchen_and_the_study(rooms: list[Room], server: PostgresServer, url: str) -> None:
    kitchen, study = rooms
    kitchen.say("my parrot is called Ada")
    said_at = time.monotonic()
    wait_until(lambda: study.ask("what is my parrot called") != [], "the study's knowledge")
    assert time.monotonic() - said_at < SOON_S
    assert "Ada" in study.say("what is my parrot called")

    server.kill()
    kitchen.say("my sister lives in Lisbon")
    study.say("I put the keys in the blue bowl")
    kitchen.record("the plumber comes at nine")
    assert "Lisbon" in kitchen.say("where does my sister live")
    kitchen.kill_and_start()
    kitchen.say("the bins go out on Friday")
    kitchen.record("the heating was mended")
    server.start()
    for room in rooms:
        wait_until(room.is_whole, f"the delivery of the {room.name}")
    study.kill_and_start()
    assert "Lisbon" in study.say("where does my sister live")
    assert "bowl" in kitchen.say("where did I put the keys")
    for room in rooms:
        assert log(url, room.name) == room.said
    assert log(url, "kitchen persona") == ["the plumber comes at nine", "the heating was mended"]

    kitchen.say("guest mode on")
    wait_until(lambda: study.ask("what is my parrot called") == [], "guest mode in the study")
    assert "Ada" not in study.say("what is my parrot called")
    study.say("guest mode off")
    wait_until(lambda: kitchen.ask("what is my parrot called") != [], "the end of guest mode in the kitchen")
    study.say("forget everything about my parrot", "yes")
    assert kitchen.ask("what is my parrot called") == []
    assert "Ada" not in kitchen.say("what is my parrot called")
    assert not [text for room in rooms for text in log(url, room.name) if "Ada" in text]
