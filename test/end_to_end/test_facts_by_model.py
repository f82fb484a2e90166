"""Facts that a language model finds for a running daemon: while people talk, when it is killed, and who is told."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from support.model_server import ModelServer
from support.servers.bus import Wire

from ovos_persona_memory.protocol import MemoryClient, topics
from ovos_persona_memory.records import ContextRequest, Scope, Turn

from .conftest import Address, Daemon, wait_until

HERE = Scope(session_id="s1")
PLUGIN = "ovos-chat-openai-plugin"
TOLD = "so my sister well she's like anna you know"
LONG = " ".join(["There is a thing that was said."] * 300)
"""More than the memory's own rules read of one text."""
WAIT_S = 30.0
Start = Callable[..., Daemon]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer(json.dumps([{"turn": 1, "says": "My sister is called Anna."}]))
    yield made
    made.close()


def settings(server: ModelServer) -> dict[str, Any]:
    plugin = {"api_url": server.url, "key": "none", "model": "test"}
    return {"models": {"facts": PLUGIN, "plugins": {PLUGIN: plugin}, "quiet_s": 0.0}}


def say(memory: MemoryClient, text: str) -> None:
    memory.record([Turn("user", text, lang="en-US"), Turn("assistant", "Noted.", lang="en-US")], HERE)


def waiting(memory: MemoryClient) -> list[str | None]:
    return [one.value for one in memory.facts.list(status="waiting")]


def test_facts_come_when_they_come_and_hold_up_no_answer(daemon: Start, server: ModelServer) -> None:
    server.faults = ["slow"]
    running = daemon(settings=settings(server))
    with MemoryClient.over_door(running.data) as memory:
        say(memory, TOLD)
        before = waiting(memory)
        assert server.arrived.acquire(timeout=WAIT_S), "the model was never asked"
        assert memory.context(ContextRequest("who is my sister", HERE)).messages
        assert waiting(memory) == before
        server.go_on.set()
        wait_until(lambda: "Anna" in waiting(memory), "the fact")
        wait_until(lambda: memory.status()["models"]["jobs"] == 0, "the end of the job")
        where = server.url.removeprefix("http://").removesuffix("/v1")
        told = memory.status()["models"]["facts"]
        assert told == {"plugin": PLUGIN, "where": where, "leaves_device": False}


def test_killed_while_the_model_works_the_daemon_asks_again_after_its_start(daemon: Start, server: ModelServer) -> None:
    server.faults = ["slow"]
    running = daemon(settings=settings(server))
    with MemoryClient.over_door(running.data) as memory:
        say(memory, TOLD)
        assert server.arrived.acquire(timeout=WAIT_S)
    running.end(signal.SIGKILL)
    again = daemon(data=running.data, settings=settings(server))
    with MemoryClient.over_door(again.data) as memory:
        wait_until(lambda: waiting(memory).count("Anna") == 1, "the fact")
    assert len(server.requests) == 2


def test_everybody_is_told_of_what_was_learned_though_nobody_says_anything_more(
    daemon: Start, bus_address: Address
) -> None:
    server = ModelServer(json.dumps([{"turn": 1, "says": "My cat is called Bob."}]))
    daemon(settings=settings(server))
    with Wire(bus_address[1]) as wire:
        turns = [{"role": "user", "text": f"{LONG} My cat is called Bob.", "lang": "en-US"}]
        wire.send(topics.request("record"), {"turns": turns}, {"session": {"session_id": "s1"}})
        heard = iter(lambda: wire.receive(WAIT_S), None)
        told = next((one for one in heard if one.get("type") == topics.LEARNED), None)
    assert told is not None and len(told["data"]["ids"]) == 1
    server.close()
