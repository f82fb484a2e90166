"""Real ovos-core, real ovos-persona, real messagebus: what a persona is handed, and what Scribe says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from assistants import PATIENT_S, Assistant
from model_server import ModelServer
from servers import free_port

Starter = Callable[..., Assistant]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Starts an assistant on the one data folder of the test; each ends with the test."""
    with ExitStack() as running:

        def begin(*arguments: str) -> Assistant:
            assistant = Assistant(tmp_path / "data", tmp_path / "home", free_port(), *arguments)
            return running.enter_context(assistant)

        yield begin


@pytest.fixture(scope="module")
def scribe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    """An assistant for the tests that need no start of their own: each talks in sessions of its own."""
    folder = tmp_path_factory.mktemp("scribe")
    with Assistant(folder / "data", folder / "home", free_port()) as assistant:
        yield assistant


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Assistant, ModelServer]]:
    """The same with a persona that asks a model server."""
    folder = tmp_path_factory.mktemp("ada")
    with closing(ModelServer("A reply.")) as model:
        path = written(folder, model)
        with Assistant(folder / "data", folder / "home", free_port(), "--persona-file", str(path)) as assistant:
            yield assistant, model


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A model server that gives a different reply each time."""
    server = ModelServer("First reply.", "Second reply. It has two sentences.", "Third reply.", "Later reply.")
    yield server
    server.close()


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
    start: Starter, model: ModelServer, tmp_path: Path
) -> None:
    persona = written(tmp_path, model)
    before = start("--persona-file", str(persona))
    before.talk("s1", "my boat is called Argo", "it leaks a little")
    before.kill()

    after = start("--persona-file", str(persona))
    after.talk("s1", "what should I do about that")

    assert model.messages() == [
        ("system", "You are Ada."),
        ("user", "my boat is called Argo"),
        ("assistant", "First reply."),
        ("user", "it leaks a little"),
        ("assistant", "Second reply.\nIt has two sentences."),
        ("user", "what should I do about that"),
    ]


def test_what_was_said_in_another_session_is_recalled_as_quoted_data(ada: tuple[Assistant, ModelServer]) -> None:
    assistant, model = ada
    assistant.talk("morning", "my boat is called Argo")
    assistant.talk("evening", "what is my boat called")
    roles = [role for role, _ in model.messages()]
    system = model.messages()[0][1]
    assert roles == ["system", "user"]
    assert system.startswith("You are Ada.")
    assert 'the user, today: "my boat is called Argo"' in system


def test_what_a_skill_spoke_is_in_the_next_request_of_its_session_alone(ada: tuple[Assistant, ModelServer]) -> None:
    assistant, model = ada
    before = len(model.requests)
    [[spoken]] = assistant.talk("s1", SKILL_QUESTION)
    assert len(model.requests) == before

    assistant.talk("s1", "that was interesting")
    assert ("user", SKILL_QUESTION) in model.messages()
    assert ("assistant", spoken) in model.messages()
    assistant.talk("s2", "and what now")
    assert spoken not in json.dumps(model.messages())


SKILL_QUESTION = "who made you"
"""Answered by ovos-skill-personal, not by a persona."""


def test_scribe_keeps_what_it_is_told_and_quotes_it_after_a_restart(start: Starter) -> None:
    first = start()
    assert first.talk("s1", "my cat is called Bob") == [["I'll remember: my cat is called Bob."]]
    assert first.talk("s1", "my sister lives in Lisbon") == [["I'll remember: my sister lives in Lisbon."]]
    first.kill()

    second = start()
    answers = second.talk("s2", "what is my cat called", "what is my cat called", "what is my sister's job")
    assert answers[:2] == [["You told me today: my cat is called Bob."]] * 2
    assert answers[2] == ["I know nothing about that."]
    with second.owner() as owner:
        assert owner.status()["counts"]["turns"] == 11  # five exchanges, and the announcement of the first start


def test_scribe_says_so_when_it_is_not_remembering(scribe: Assistant) -> None:
    with scribe.owner() as owner:
        before = owner.status()["counts"]["turns"]
        owner.capture(write=False)
        try:
            assert scribe.talk("s1", "my cat is called Bob") == [["I am not remembering anything at the moment."]]
            assert owner.status()["counts"]["turns"] == before
        finally:
            owner.capture(write=True)


def test_scribe_speaks_german(scribe: Assistant) -> None:
    replies = scribe.talk("s2", "meine Katze heißt Bob", "wie heißt meine Katze", lang="de-DE")
    assert replies == [["Ich merke mir: meine Katze heißt Bob."], ["Du hast mir heute gesagt: meine Katze heißt Bob."]]
