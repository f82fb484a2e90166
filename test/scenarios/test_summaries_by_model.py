"""Summaries by the real OpenAI plugins, against a server that misbehaves in every way that servers do."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.model_server import Fault, ModelServer

from ovos_persona_memory.config import MemoryConfig, parse
from ovos_persona_memory.memory import Call, PersonaMemory
from ovos_persona_memory.records import ContextRequest, Scope, Turn
from ovos_persona_memory.service import open_model

pytestmark = pytest.mark.full

HERE = Scope(session_id="s1")
PAGE = (Path(__file__).parent.parent.parent / "docs" / "models.md").read_text("utf-8")
SHOWN = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
BLOCKS = [block for block in SHOWN if "summary" in block["persona_memory"]["models"]]
NAMES = [block["persona_memory"]["models"]["summary"] for block in BLOCKS]


class Clock:
    now = 1_795_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def server() -> Iterator[ModelServer]:
    made = ModelServer("Bob is a cat.", "Bob is a cat, and Ann is allergic to nuts.")
    yield made
    made.close()


def shown_on_page(block: dict[str, Any], url: str, folder: Path) -> MemoryConfig:
    """The settings of the page, but for where the server, the key and the memory are."""
    section = copy.deepcopy(block["persona_memory"])
    for settings in section["models"]["plugins"].values():
        settings["api_url"] = url
        if settings["key"].startswith("file:"):
            (folder / "key").write_text("sesame")
            settings["key"] = f"file:{folder / 'key'}"
    section["history"] |= {"summary_threshold": 6, "window_size": 4, "max_age_s": 1e12}
    return parse({**section, "backend": "inmemory", "recall": {"embedder": "none"}})


@pytest.fixture(params=BLOCKS, ids=NAMES)
def config(request: pytest.FixtureRequest, server: ModelServer, tmp_path: Path) -> MemoryConfig:
    return shown_on_page(request.param, server.url, tmp_path)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(config: MemoryConfig, clock: Clock) -> Iterator[PersonaMemory]:
    with PersonaMemory.open(config=config, clock=clock) as opened:
        model = open_model("summary", config.models)
        assert model is not None and model.leaves_device is False
        opened.models["summary"] = model
        yield opened


def talk(memory: PersonaMemory, begin: int = 0, rounds: int = 4) -> None:
    for number in range(begin, begin + rounds):
        memory.record([Turn("user", f"question {number}", lang="en-US"), Turn("assistant", f"answer {number}")], HERE)


def work(memory: PersonaMemory) -> None:
    while memory.work():
        pass


def shown(memory: PersonaMemory) -> list[str]:
    messages = memory.context(ContextRequest("and now", HERE, recall=0)).messages
    return [one.text for one in messages if one.role in ("user", "assistant")][:-1]


def texts(numbers: range) -> list[str]:
    return [f"{kind} {number}" for number in numbers for kind in ("question", "answer")]


def test_the_settings_of_the_page_have_talk_summarised(memory: PersonaMemory, server: ModelServer) -> None:
    talk(memory)
    work(memory)
    assert memory.snapshot(HERE)["summary"] == "Bob is a cat."
    talk(memory, 4, 2)
    work(memory)
    assert memory.snapshot(HERE)["summary"] == "Bob is a cat, and Ann is allergic to nuts."
    role, asked = server.messages()[-1]
    assert role == "user"
    assert 'Summary so far:\n- "Bob is a cat."' in asked
    assert [number for number in range(6) if f'the user: "question {number}"' in asked] == [2, 3]
    assert shown(memory) == texts(range(4, 6))


ENVELOPES: dict[str, dict[str, Any]] = {
    "11434": {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1795000000, "model": "llama3.2",
        "system_fingerprint": "fp_ollama", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    },
    "8080": {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1795000000, "model": "model.gguf",
        "system_fingerprint": "b4200-1", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        "timings": {"prompt_n": 1, "prompt_ms": 1.5, "predicted_n": 1, "predicted_ms": 2.5},
    },
}  # fmt: skip
"""What stands around an answer, by the port on which the page finds its server: Ollama's, llama.cpp's."""


@pytest.mark.parametrize(("port", "envelope"), ENVELOPES.items())
def test_each_server_that_the_page_names_is_asked_at_its_path_and_understood(
    server: ModelServer, tmp_path: Path, port: str, envelope: dict[str, Any]
) -> None:
    [named] = {url for url in re.findall(r'"api_url": "http://127\.0\.0\.1:(\d+/\w+)"', PAGE) if url.startswith(port)}
    here, path = server.url.rsplit("/", 1)
    assert named == f"{port}/{path}"
    server.envelope = envelope
    config = shown_on_page(BLOCKS[0], f"{here}/{named.split('/')[1]}", tmp_path)
    with PersonaMemory.open(config=config) as memory:
        model = open_model("summary", config.models)
        assert model is not None
        memory.models["summary"] = model
        talk(memory)
        work(memory)
        assert memory.snapshot(HERE)["summary"] == "Bob is a cat."
    assert server.paths == ["/v1/chat/completions"]


@pytest.mark.parametrize("fault", ["error", "half", "dropped", "empty", "nonsense"])
def test_a_server_that_fails_loses_nothing_and_is_asked_again_later(
    memory: PersonaMemory, server: ModelServer, clock: Clock, fault: Fault
) -> None:
    talk(memory)
    work(memory)
    told: list[Call] = []
    memory.model_calls.told = told.append
    server.faults = [fault, fault]
    talk(memory, 4, 2)
    for _ in range(2):
        clock.now += 3600
        work(memory)
        assert memory.snapshot(HERE)["summary"] == "Bob is a cat."
        assert shown(memory) == texts(range(2, 6))
    assert {call.outcome for call in told} <= {"failed", "empty"} and len(told) == len(server.requests) - 1 == 2
    assert all("question" not in job.problem for job in memory.jobs.waiting())
    clock.now += 3600
    work(memory)
    assert memory.snapshot(HERE)["summary"] == "Bob is a cat, and Ann is allergic to nuts."
    assert shown(memory) == texts(range(4, 6))
    assert memory.jobs.waiting() == []


def test_status_says_which_plugin_works_and_where_it_asks(memory: PersonaMemory, server: ModelServer) -> None:
    talk(memory)
    work(memory)
    told = memory.status()["models"]
    where = re.sub(r"^http://|/v1$", "", server.url)
    assert told["summary"] == {"plugin": memory.models["summary"].name, "where": where, "leaves_device": False}
    assert (told["jobs"], told["calls"], told["problem"]) == (0, 1, None)
    assert told["tokens"] > 10


def test_a_key_reaches_the_server_and_no_status(server: ModelServer, tmp_path: Path) -> None:
    config = shown_on_page(BLOCKS[1], server.url, tmp_path)
    with PersonaMemory.open(config=config) as memory:
        model = open_model("summary", config.models)
        assert model is not None
        memory.models["summary"] = model
        talk(memory)
        work(memory)
        assert server.headers[-1]["Authorization"] == "Bearer sesame"
        assert "sesame" not in json.dumps(memory.status(), default=str) + repr(config)
