"""The HTTP requests of a conversation with tool calls: the real persona, agent loop and chat engine, bus and daemon."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import pytest
from ovos_bus_client import Message
from ovos_bus_client.session import Session
from ovos_persona import Persona
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole, ToolCall
from support.servers.bus import HOST, Bus, Daemon
from support.servers.ports import free_port
from support.tool_model_server import Call, ToolModelServer

from ovos_persona_memory.config import bus_address
from ovos_persona_memory.protocol import shared_transport
from ovos_persona_memory.records import Inject, Scope, Turn

LOOP, OPENAI = "ovos-native-toolcall-loop", "ovos-chat-openai-plugin"
TOOLS, MEMORY = "ovos-persona-memory-tools", "ovos-persona-memory-plugin"
CATS = ("my cat is called Bob", "my cat eats tuna", "my cat sleeps on the piano")
SIZES = range(12)
Sent = dict[str, Any]


@pytest.fixture(scope="module")
def model() -> Iterator[ToolModelServer]:
    """The model server of every persona here."""
    server = ToolModelServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a bus with a daemon on it that knows of a cat from another session."""
    folder, port = tmp_path_factory.mktemp("requests"), free_port()
    bus = Bus(folder / "bus", port)
    daemon = Daemon(folder / "daemon", folder / "data", port).wait_ready()
    transport = shared_transport(**bus_address(HOST, port))
    assert transport.wait_connected(10)
    with daemon.door() as owner:
        owner.record([Turn("user", text) for text in CATS], Scope(session_id="elsewhere"))
        owner.remember(CATS[0])
    yield port
    transport.close()
    daemon.end()
    bus.end()


def persona(model: ToolModelServer, port: int, **block: Any) -> Persona:
    """A persona with an agent loop and the memory's tools, as a persona file sets one up."""
    here = {"host": HOST, "port": port, "timeout_s": 10.0}
    brain = {"api_url": model.url, "key": "none", "model": "test", "allow_system_prompts": True}
    loop = {"brain": OPENAI, OPENAI: brain, "toolboxes": [TOOLS], TOOLS: here}
    prompt = "You are Ada.\n{memory}\nBe brief."
    memory = {**here, "system_prompt": prompt, "recall": 8, **block}
    return Persona("Ada", {"handlers": [LOOP], LOOP: loop, "memory_module": MEMORY, MEMORY: memory})


def talk(ada: Persona, session_id: str, utterance: str) -> str:
    """What ovos-persona does with an utterance: asks the memory, asks the handlers, tells the memory."""
    session = Session(session_id)

    def handler(message: Message) -> str:
        answer: str = ada.chat(ada.get_messages(utterance, session), session)
        ada.remember(utterance, answer, session)
        return answer

    return handler(Message("persona:query", {"persona": "Ada"}, {"session": {"session_id": session_id}}))


def converse(ada: Persona, model: ToolModelServer, session_id: str) -> None:
    """Questions whose answers take tools, and what another loop hands over with the calls that it made."""
    look_up = Call("memory_recall", {"query": "cat"})
    for utterance, replies in [
        ("turn on the lamp", ["It is on."]),
        ("tell me about my cat", [look_up, "It is called Bob."]),
        (CATS[1], [Call("memory_add", {"content": "the bins go out on Tuesday"}), look_up, "Noted."]),
    ]:
        model.will(*replies)
        assert talk(ada, session_id, utterance) == replies[-1]
    handed = [
        AgentMessage(MessageRole.USER, "how warm is it"),
        AgentMessage(MessageRole.ASSISTANT, "", tool_calls=[ToolCall("w1", "warmth", {}), ToolCall("w2", "wind", {})]),
        AgentMessage(MessageRole.TOOL, "still", tool_call_id="w2", name="wind"),
        AgentMessage(MessageRole.TOOL, "20", tool_call_id="w1", name="warmth"),
        AgentMessage(MessageRole.ASSISTANT, "Twenty degrees."),
    ]
    failed = [
        AgentMessage(MessageRole.USER, "is it windy"),
        AgentMessage(MessageRole.ASSISTANT, "", tool_calls=[ToolCall("w3", "wind", {})]),
        AgentMessage(MessageRole.ASSISTANT, "I cannot tell."),
    ]
    ada.memory.update_history(handed, session_id)
    ada.memory.update_history(failed, session_id)
    model.will(look_up, "It sleeps on the piano.")
    assert talk(ada, session_id, "where does my cat sleep on the piano") == "It sleeps on the piano."


def refused(sent: Sequence[Sent]) -> list[str]:
    """Why a strict model server would refuse these messages, in words."""
    talk = [message for message in sent if message["role"] not in ("system", "developer")]
    wrong = [] if talk[0]["role"] == "user" else ["it begins with no question"]
    wrong += [] if talk[-1]["role"] in ("user", "tool") else ["it ends with no question"]
    missing: set[str] = set()
    for message in [*talk, {"role": "end"}]:
        if message["role"] == "tool":
            wrong += [] if message["tool_call_id"] in missing else ["a result without its call"]
            missing.discard(message["tool_call_id"])
            continue
        wrong += ["a call without all its results"] if missing else []
        missing = {call["id"] for call in message.get("tool_calls") or ()}
    return wrong


def handed(sent: Sequence[Sent]) -> tuple[list[str], int]:
    """The texts of what the memory handed over, without the utterance; and its results of tools."""
    asked = max(n for n, message in enumerate(sent) if message["role"] == "user")
    notes = str(sent[asked]["content"]).split("\n\n")[:-1]  # in mode user they stand before the utterance
    texts = [*(str(message["content"] or "") for message in sent[:asked]), *notes]
    return texts, sum(message["role"] == "tool" for message in sent[:asked])


def times(text: str, texts: Sequence[str]) -> int:
    """How often a text stands in these, whatever its marks."""
    words = " | ".join(" ".join(re.findall(r"\w+", one.lower())) for one in texts)
    return len(re.findall(f"(?= {text.lower()} )", f" {words} "))


@pytest.mark.parametrize("mode", get_args(Inject))
def test_no_request_is_refused_or_says_anything_twice(mode: Inject, model: ToolModelServer, port: int) -> None:
    recalled, results = 0, 0
    for size in SIZES:
        before = len(model.requests)
        converse(persona(model, port, inject_mode=mode, max_history=size), model, f"{mode}-{size}")
        sent = [request["messages"] for request in model.requests[before:]]
        assert len(sent) == 8
        for request in sent:
            assert refused(request) == [], request
            texts, by_tools = handed(request)
            counts = [times(text, texts) for text in CATS]
            assert max(counts) <= 1, request
            recalled += sum(counts)
            results += by_tools if mode != "tool" else by_tools > 1
    assert recalled >= len(SIZES) * 3, "what was said elsewhere is handed over"
    assert results >= 4, "calls with their results are in the history"


def test_what_a_server_refuses_is_noticed() -> None:
    user, answer = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    result = {"role": "tool", "content": "c", "tool_call_id": "1"}
    assert refused([{"role": "system", "content": "s"}, user, call, result, answer, user]) == []
    assert refused([user, call, result]) == []
    assert refused([answer, user]) == ["it begins with no question"]
    assert refused([user, call, user]) == ["a call without all its results"]
    assert refused([user, result]) == ["a result without its call"]
