"""Real ovos-core, ovos-persona and messagebus: a chat engine of others that remembers since its persona names it so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.assistants import PATIENT_S, Assistant
from support.model_server import ModelServer
from support.servers.bus import wait_until
from support.servers.ports import free_port

from ovos_persona_memory.records import Scope


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """A model server that answers in two sentences."""
    with closing(ModelServer("That is good. I like it.")) as server:
        yield server


@contextmanager
def persona(folder: Path, model: ModelServer, memory: str | None, **settings: Any) -> Iterator[Assistant]:
    """An assistant with a persona whose engine is wrapped. ``memory``: the memory plugin that the persona has, too."""
    openai = {"api_url": model.url, "key": "none", "model": "test", "allow_system_prompts": True}
    brain = {"brain": "ovos-chat-openai-plugin", "ovos-chat-openai-plugin": {**openai, "system_prompt": "You are Ada."}}
    definition = {
        "name": "Ada",
        "handlers": ["ovos-persona-memory-remember"],
        "ovos-persona-memory-remember": {**brain, "timeout_s": PATIENT_S, **settings},
        "memory_module": memory,
    }
    if memory is not None:
        definition[memory] = {"timeout_s": PATIENT_S}
    path = folder / "Ada.json"
    path.write_text(json.dumps(definition))
    with Assistant(folder / "data", folder / "home", free_port(), "--persona-file", str(path)) as assistant:
        yield assistant


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Assistant]:
    """A persona without a memory of its own: its engine alone remembers."""
    with persona(tmp_path_factory.mktemp("ada"), model, None) as assistant:
        yield assistant


@pytest.fixture(scope="module")
def eve(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Assistant]:
    """A persona with the memory plugin, too, from whose talks nothing is learned."""
    with persona(tmp_path_factory.mktemp("eve"), model, "ovos-persona-memory-plugin", extract=False) as assistant:
        yield assistant


def said(assistant: Assistant, session_id: str) -> list[tuple[str, str]]:
    with assistant.owner() as owner:
        return [(one.role, one.text) for one in owner.history(Scope(session_id=session_id), max_history=None)]


def turns(assistant: Assistant, session_id: str) -> int:
    with assistant.owner() as owner:
        return sum(one.turns for one in owner.sessions(Scope(session_id=session_id)))


ANSWER = "That is good.\nI like it."


def test_what_was_said_in_another_session_is_handed_to_the_engine_and_the_talk_is_recorded_once(
    ada: Assistant, model: ModelServer
) -> None:
    ada.talk("morning", "my boat is called Argo")
    assert model.messages() == [("system", "You are Ada."), ("user", "my boat is called Argo")]
    wait_until(lambda: said(ada, "morning") == [("user", "my boat is called Argo"), ("assistant", ANSWER)], "the talk")
    ada.talk("evening", "what is my boat called")
    (role, system), question = model.messages()
    assert (role, question) == ("system", ("user", "what is my boat called"))
    assert system.startswith("You are Ada.\n")
    assert 'the user, today: "my boat is called Argo"' in system
    wait_until(lambda: len(said(ada, "evening")) == 2, "the second talk")
    assert (turns(ada, "morning"), turns(ada, "evening")) == (3, 3)
    with ada.owner() as owner:
        assert [fact.text for fact in owner.facts.list()] == ["my boat is called Argo"]


def test_where_the_daemon_does_not_answer_the_engine_does(ada: Assistant, model: ModelServer) -> None:
    with ada.without_daemon():
        assert ada.talk("alone", "my hen is called Bo") == [["That is good.", "I like it."]]
        assert model.messages() == [("system", "You are Ada."), ("user", "my hen is called Bo")]
    wait_until(lambda: said(ada, "alone") == [("user", "my hen is called Bo"), ("assistant", ANSWER)], "the record")
    assert turns(ada, "alone") == 3


def test_beside_the_memory_plugin_nothing_is_handed_on_or_recorded_twice_and_nothing_is_learned(
    eve: Assistant, model: ModelServer
) -> None:
    eve.talk("morning", "my cat is called Bob")
    wait_until(lambda: said(eve, "morning") == [("user", "my cat is called Bob"), ("assistant", ANSWER)], "the talk")
    eve.talk("evening", "what is my cat called")
    assert json.dumps(model.messages()).count("my cat is called Bob") == 1
    eve.talk("morning", "and what else")
    assert json.dumps(model.messages()).count("my cat is called Bob") == 1
    assert turns(eve, "morning") == 6
    with eve.owner() as owner:
        wait_until(lambda: owner.facts.list() == [], "the taking out of what was learned when it was heard")
