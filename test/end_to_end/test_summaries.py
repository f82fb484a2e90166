"""Summaries of a running daemon by a real plugin and a server on loopback: slow, killed, ended, while people talk."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.model_server import ModelServer

from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import ContextRequest, Scope, Turn

from .conftest import Daemon, own_environment, wait_until

HERE = Scope(session_id="s1")
PLUGIN = "ovos-chat-openai-plugin"
WAIT_S = 30.0
Start = Callable[..., Daemon]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer("Bob is a cat.")
    yield made
    made.close()


def settings(server: ModelServer, **models: Any) -> dict[str, object]:
    plugin = {"api_url": server.url, "key": "none", "model": "test"}
    return {
        "history": {"strategy": "summary", "summary_threshold": 6, "window_size": 4},
        "models": {"summary": PLUGIN, "plugins": {PLUGIN: plugin}, "quiet_s": 0.0, **models},
    }


def talk(memory: MemoryClient, rounds: int = 4) -> None:
    for number in range(rounds):
        memory.record([Turn("user", f"question {number}"), Turn("assistant", f"answer {number}")], HERE)


def shown(memory: MemoryClient) -> list[str]:
    messages = memory.context(ContextRequest("and now", HERE, recall=0)).messages
    return [one.text for one in messages if one.role in ("user", "assistant")][:-1]


def texts(numbers: range) -> list[str]:
    return [f"{kind} {number}" for number in numbers for kind in ("question", "answer")]


def is_summarised(memory: MemoryClient) -> bool:
    return memory.snapshot(HERE)["summary"] == "Bob is a cat."


def test_a_slow_model_holds_up_no_answer_and_its_summary_comes_when_it_comes(
    daemon: Start, server: ModelServer
) -> None:
    server.faults = ["slow"]
    running = daemon(settings=settings(server))
    with MemoryClient.over_door(running.data) as memory:
        talk(memory)
        assert server.arrived.acquire(timeout=WAIT_S), "the model was never asked"
        assert shown(memory) == texts(range(4))
        memory.record([Turn("user", "question 4"), Turn("assistant", "answer 4")], HERE)
        assert shown(memory) == texts(range(5))
        assert memory.status()["models"]["jobs"] == 1
        server.go_on.set()
        wait_until(lambda: is_summarised(memory), "the summary")
        assert shown(memory) == texts(range(2, 5))
        where = server.url.removeprefix("http://").removesuffix("/v1")
        wait_until(lambda: memory.status()["models"]["jobs"] == 0, "the end of the job")
        told = memory.status()["models"]
        assert told["summary"] == {"plugin": PLUGIN, "where": where, "leaves_device": False}
        assert (told["calls"], told["problem"]) == (1, None)


def test_killed_while_the_model_works_the_daemon_summarises_after_its_start(
    daemon: Start, server: ModelServer, tmp_path: Path
) -> None:
    server.faults = ["slow"]
    running = daemon(settings=settings(server))
    with MemoryClient.over_door(running.data) as memory:
        talk(memory)
        assert server.arrived.acquire(timeout=WAIT_S)
    running.end(signal.SIGKILL)
    again = daemon(data=running.data, settings=settings(server))
    with MemoryClient.over_door(again.data) as memory:
        wait_until(lambda: is_summarised(memory), "the summary")
        assert shown(memory) == texts(range(2, 4))
    assert [len(server.requests), memory_calls(again)] == [2, 2]


def memory_calls(running: Daemon) -> int:
    with MemoryClient.over_door(running.data) as memory:
        return int(memory.status()["models"]["calls"])


def test_it_ends_at_once_while_the_model_works_and_what_it_did_waits(daemon: Start, server: ModelServer) -> None:
    server.faults = ["slow"]
    running = daemon(settings=settings(server))
    with MemoryClient.over_door(running.data) as memory:
        talk(memory)
        assert server.arrived.acquire(timeout=WAIT_S)
    assert running.end() == 0
    again = daemon(data=running.data, settings=settings(server))
    with MemoryClient.over_door(again.data) as memory:
        wait_until(lambda: is_summarised(memory), "the summary")


def test_a_model_that_fails_is_told_of_and_what_was_said_is_not_in_the_log(daemon: Start, server: ModelServer) -> None:
    server.faults = ["error"]
    running = daemon(settings=settings(server))
    with MemoryClient.over_door(running.data) as memory:
        talk(memory)
        wait_until(lambda: bool(memory.status()["models"]["problem"]), "the failure")
        assert memory.status()["models"]["problem"] == f"{PLUGIN}: RequestException"
        assert shown(memory) == texts(range(4))
    assert "question" not in running.said()


def test_doctor_and_status_say_which_model_it_is_and_where_it_asks(daemon: Start, server: ModelServer) -> None:
    running = daemon(settings=settings(server))
    where = server.url.removeprefix("http://").removesuffix("/v1")
    with MemoryClient.over_door(running.data) as memory:
        wait_until(lambda: bool(memory.status()["models"]["summary"]["where"]), "the plugin is loaded")
    home = running.log.parent
    for command, said in (
        ("status", f"{PLUGIN}, asked at {where}\n"),
        ("doctor", f"language model: for summaries: {PLUGIN}, which asks this device, {where}\n"),
    ):
        line = [sys.executable, "-m", "ovos_persona_memory", command, "--data", str(running.data)]
        answer = subprocess.run(line, env=own_environment(home), cwd=home, capture_output=True, text=True, check=False)
        assert said in answer.stdout.replace("\n         ", " "), answer.stdout + answer.stderr


def test_without_a_model_a_daemon_summarises_with_what_was_said(daemon: Start, server: ModelServer) -> None:
    of_words = settings(server) | {"models": {"quiet_s": 0.0}}
    running = daemon(settings=of_words)
    with MemoryClient.over_door(running.data) as memory:
        talk(memory)
        wait_until(lambda: memory.snapshot(HERE)["summary"] is not None, "the summary")
        assert str(memory.snapshot(HERE)["summary"]).splitlines() == [
            *("the user: question 0", "the assistant: answer 0", "the user: question 1", "the assistant: answer 1"),
        ]
        assert memory.status()["models"]["summary"] == {"plugin": None, "where": "", "leaves_device": None}
    assert server.requests == []
