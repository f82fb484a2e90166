"""A solver of the stable line that remembers, since a persona of the real ovos-persona 0.7.1 names it so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from ovos_plugin_manager.solvers import load_chat_solver_plugin
from ovos_plugin_manager.utils import find_plugins
from support.model_server import ModelServer
from support.servers.bus import HOST, Bus, Core, Daemon, Wire, wait_until

from ovos_persona_memory.cli.conversation import Conversation
from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.records import Scope

REMEMBER, SOLVER = "ovos-persona-memory-remember", "ovos-solver-openai-plugin"
STAGES = ["ovos-persona-pipeline-plugin-high", "ovos-persona-pipeline-plugin-low"]


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """A model server that answers in two sentences."""
    with closing(ModelServer("That is good. I like it.")) as server:
        yield server


def definition(model: ModelServer, **settings: Any) -> dict[str, Any]:
    """A persona whose solver is wrapped."""
    openai = {"api_url": model.url, "key": "none", "model": "test", "system_prompt": "You are Ada."}
    wrapped = {"brain": SOLVER, SOLVER: {**openai, "enable_memory": False}, "timeout_s": 5.0, **settings}
    return {"name": "Ada", "solvers": [REMEMBER], REMEMBER: wrapped}


@pytest.fixture(scope="module")
def say(
    bus: Bus, daemon: Daemon, model: ModelServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str, str], None]]:
    """Says an utterance in a session to an ovos-core whose default persona is Ada; back when all is spoken."""
    folder = tmp_path_factory.mktemp("core")
    personas = folder / "personas"
    personas.mkdir()
    (personas / "Ada.json").write_text(json.dumps(definition(model)))
    section = {"default_persona": "Ada", "handle_fallback": True, "personas_path": str(personas)}
    running = Core(folder, bus.port, intents={"persona": section, "pipeline": STAGES})

    def speak(session_id: str, utterance: str) -> None:
        with closing(Conversation(session_id, "en-US", lambda _: None, host=HOST, port=bus.port)) as conversation:
            assert conversation.start(10.0)
            conversation.say(utterance)
            assert conversation.wait(30.0), f"no end of {utterance!r}:\n{running.said()[-4000:]}"

    try:
        wait_until(lambda: running.check() or answers(bus.port), "the start of the persona", timeout_s=120)
        yield speak
    finally:
        running.end()


def answers(port: int) -> bool:
    with Wire(port) as wire:
        context = {"session": {"session_id": "early", "lang": "en-US"}}
        wire.send("recognizer_loop:utterance", {"utterances": ["hello"]}, context)
        while (message := wire.receive(0.5)) is not None:
            if message.get("type") == "speak":
                return True
    return False


def said(daemon: Daemon, session_id: str) -> list[tuple[str, str]]:
    with daemon.door() as owner:
        return [(one.role, one.text) for one in owner.history(Scope(session_id=session_id), max_history=None)]


def test_the_plugin_manager_finds_the_solver_and_no_engine() -> None:
    assert load_chat_solver_plugin(REMEMBER).__name__ == "RememberingSolver"
    assert REMEMBER not in find_plugins("opm.agents.chat")


def test_a_brain_that_is_none_is_named(model: ModelServer) -> None:
    for brain in (REMEMBER, "nothing", None):
        with pytest.raises(ConfigError, match="brain: "):
            load_chat_solver_plugin(REMEMBER)({"brain": brain})
    with pytest.raises(ConfigError, match="inject_mode: 'tool'"):
        load_chat_solver_plugin(REMEMBER)(definition(model, inject_mode="tool")[REMEMBER])


def test_what_was_said_in_another_session_is_handed_to_the_solver_and_the_talk_is_recorded_once(
    say: Callable[[str, str], None], daemon: Daemon, model: ModelServer
) -> None:
    with daemon.door() as owner:
        owner.forget(everything=True)  # what other tests have told
    say("ada-morning", "my newt is called Argo")
    assert model.messages() == [("system", "You are Ada."), ("user", "my newt is called Argo")]
    told = [("user", "my newt is called Argo"), ("assistant", "That is good. I like it.")]
    wait_until(lambda: said(daemon, "ada-morning") == told, "the record of the talk")
    say("ada-evening", "what is my newt called")
    (role, system), question = model.messages()
    assert (role, question) == ("system", ("user", "what is my newt called"))
    assert system.startswith("You are Ada.\n\n")
    assert 'the user, today: "my newt is called Argo"' in system
    wait_until(lambda: len(said(daemon, "ada-evening")) == 2, "the record of the second talk")
    with daemon.door() as owner:
        kept = {one.session_id: one.turns for one in owner.sessions()}
        facts = [fact.text for fact in owner.facts.list() if "newt" in fact.text]
    assert (kept["ada-morning"], kept["ada-evening"], facts) == (2, 2, ["my newt is called Argo"])
