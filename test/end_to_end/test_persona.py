"""Real ovos-core, real ovos-persona, real messagebus: what a persona is handed, and what Scribe says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.assistants import PATIENT_S, Assistant
from support.model_server import ModelServer
from support.servers.ports import free_port


@dataclass(frozen=True)
class Restarted:
    """An assistant that was talked with, whose every process was killed, and that was started anew."""

    assistant: Assistant
    told: list[list[str]]
    """What was answered before."""
    turns: int
    """How many it has kept of that."""


@contextmanager
def restarted(folder: Path, *utterances: str, persona: Path | None = None) -> Iterator[Restarted]:
    """All tests of a persona share one: each talks in sessions of its own."""
    more = ["--persona-file", str(persona)] if persona is not None else []
    with Assistant(folder / "data", folder / "home", free_port(), *more) as before:
        told = before.talk("s1", *utterances)
        before.kill()
    with Assistant(folder / "data", folder / "home", free_port(), *more) as after:
        with after.owner() as owner:
            turns = owner.status()["counts"]["turns"]
        yield Restarted(after, told, turns)


@pytest.fixture(scope="module")
def scribe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restarted]:
    """An assistant with the persona that it ships with."""
    folder = tmp_path_factory.mktemp("scribe")
    with restarted(folder, "my cat is called Bob", "my sister lives in Lisbon") as assistant:
        yield assistant


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """A model server that gives a different reply each time."""
    with closing(
        ModelServer("First reply.", "Second reply. It has two sentences.", "Third reply.", "A reply.")
    ) as server:
        yield server


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Restarted]:
    """An assistant with a persona that asks the model server."""
    folder = tmp_path_factory.mktemp("ada")
    path = written(folder, model)
    with restarted(folder, "my boat is called Argo", "it leaks a little", persona=path) as assistant:
        yield assistant


def written(folder: Path, model: ModelServer) -> Path:
    """A persona with a model behind it and our memory plugin, as the README sets one up."""
    definition = {
        "name": "Ada",
        "handlers": ["ovos-chat-openai-plugin"],
        "ovos-chat-openai-plugin": {
            "api_url": model.url,
            "key": "none",
            "model": "test",
            "allow_system_prompts": True,
        },
        "memory_module": "ovos-persona-memory-plugin",
        "ovos-persona-memory-plugin": {"system_prompt": "You are Ada.", "max_history": 20, "timeout_s": PATIENT_S},
    }
    path = folder / "Ada.json"
    path.write_text(json.dumps(definition))
    return path


def test_the_model_gets_the_earlier_exchanges_once_each_after_a_kill_of_everything(
    ada: Restarted, model: ModelServer
) -> None:
    ada.assistant.talk("s1", "what should I do about that")

    assert model.messages() == [
        ("system", "You are Ada."),
        ("user", "my boat is called Argo"),
        ("assistant", "First reply."),
        ("user", "it leaks a little"),
        ("assistant", "Second reply.\nIt has two sentences."),
        ("user", "what should I do about that"),
    ]


def test_what_was_said_in_another_session_is_recalled_as_quoted_data(ada: Restarted, model: ModelServer) -> None:
    ada.assistant.talk("evening", "what is my boat called")
    roles = [role for role, _ in model.messages()]
    system = model.messages()[0][1]
    assert roles == ["system", "user"]
    assert system.startswith("You are Ada.")
    assert 'the user, today: "my boat is called Argo"' in system


def test_what_a_skill_spoke_is_in_the_next_request_of_its_session_alone(ada: Restarted, model: ModelServer) -> None:
    before = len(model.requests)
    [[spoken]] = ada.assistant.talk("kitchen", SKILL_QUESTION)
    assert len(model.requests) == before

    ada.assistant.talk("kitchen", "that was interesting")
    assert ("user", SKILL_QUESTION) in model.messages()
    assert ("assistant", spoken) in model.messages()
    ada.assistant.talk("study", "and what now")
    assert spoken not in json.dumps(model.messages())


SKILL_QUESTION = "who made you"
"""Answered by ovos-skill-personal, not by a persona."""


def test_scribe_keeps_what_it_is_told_and_quotes_it_after_a_restart(scribe: Restarted) -> None:
    assert scribe.told == [["I'll remember: my cat is called Bob."], ["I'll remember: my sister lives in Lisbon."]]
    assert scribe.turns == 5  # two exchanges, and the announcement of the first start

    answers = scribe.assistant.talk("s2", "what is my cat called", "what is my cat called", "what is my sister's job")
    assert answers[:2] == [["You told me today: my cat is called Bob."]] * 2
    assert answers[2] == ["I know nothing about that."]
    with scribe.assistant.owner() as owner:
        assert owner.status()["counts"]["turns"] == scribe.turns + 6


def test_scribe_says_so_when_it_is_not_remembering(scribe: Restarted) -> None:
    with scribe.assistant.owner() as owner:
        before = owner.status()["counts"]["turns"]
        owner.capture(write=False)
        try:
            assert scribe.assistant.talk("s3", "my hen is called Bo") == [
                ["I am not remembering anything at the moment."]
            ]
            assert owner.status()["counts"]["turns"] == before
        finally:
            owner.capture(write=True)


def test_scribe_speaks_german(scribe: Restarted) -> None:
    replies = scribe.assistant.talk("s4", "meine Katze heißt Bob", "wie heißt meine Katze", lang="de-DE")
    assert replies == [["Ich merke mir: meine Katze heißt Bob."], ["Du hast mir heute gesagt: meine Katze heißt Bob."]]
