"""A chat engine that remembers, decorated or wrapped, by the real OpenAI plugin and against a server that misbehaves.

Nothing is lost, doubled or blocked, whichever way the engine is asked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from ovos_openai_plugin.chat import OpenAIChatEngine
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole
from requests import RequestException
from support.assistants import PATIENT_S
from support.model_server import Fault, ModelServer

from ovos_persona_memory.opm import remember
from ovos_persona_memory.opm.remembering_engine import RememberingChatEngine
from ovos_persona_memory.protocol import MAX_TEXT, MemoryClient
from ovos_persona_memory.records import ContextRequest, Scope

from .conftest import Address, Daemon, wait_until, write_settings

ANSWER = "That is good. I like it. What else is there to say?"
HEARD = "That is good. I like it."
"""What comes of the answer before a stream breaks off; more of it where the pieces are no sentences."""
METHODS = ("continue_chat", "stream_tokens", "stream_sentences")
SOON_S = 2.0
"""Whoever asks is not held up by a model that is: far less than a slow answer takes."""
LOOPS = 12
"""So often a model calls tools that never stops calling them."""
Said = list[tuple[str, str]]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with closing(ModelServer(ANSWER)) as made:
        yield made


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, bus_address: Address) -> Iterator[Daemon]:
    home = tmp_path_factory.mktemp("home")
    write_settings(home, persona_memory={"announce": False})
    process = Daemon(home, home / "memory", bus_address)
    wait_until(process.is_ready, "the start of the daemon")
    yield process
    process.end()


@dataclass
class Talk:
    """One session with an engine that remembers."""

    engine: Any
    method: str
    data: Any
    session_id: str

    def begin(self, *said: str | AgentMessage) -> Any:
        """What the engine answers to a talk: a message, or the pieces of a stream that are still to come."""
        talk = [AgentMessage(MessageRole.USER, one) if isinstance(one, str) else one for one in said]
        return getattr(self.engine, self.method)(talk, session_id=self.session_id, lang="en-US")

    def say(self, *said: str | AgentMessage) -> str:
        """The whole answer; what the engine raises."""
        answer = self.begin(*said)
        return answer.content if self.method == "continue_chat" else "".join(f"{one} " for one in answer)

    def recorded(self) -> Said:
        """Every turn that is kept of the session, the oldest first."""
        with MemoryClient.over_door(self.data) as memory:
            turns = memory.turns(Scope(session_id=self.session_id), limit=1000)
        return [(one.role, one.text) for one in sorted(turns, key=lambda one: one.seq)]

    def becomes(self, *expected: tuple[str, str]) -> None:
        """Just this is recorded in the end."""
        wait_until(lambda: len(self.recorded()) >= len(expected), f"{expected}, but {self.recorded()}", 10.0)
        assert self.recorded() == [*expected]


def decorated(address: Address, url: str) -> Any:
    made = type("Engine", (OpenAIChatEngine,), {})
    host, port = address
    return remember(store=f"{host}:{port}")(made)({"api_url": url, "key": "none", "model": "test"})


def wrapped(address: Address, url: str) -> Any:
    host, port = address
    brain = {"api_url": url, "key": "none", "model": "test"}
    block = {"brain": "ovos-chat-openai-plugin", "ovos-chat-openai-plugin": brain, "host": host, "port": port}
    return RememberingChatEngine({**block, "timeout_s": PATIENT_S})


@pytest.fixture(params=[decorated, wrapped], ids=["decorated", "wrapped"])
def engine(request: pytest.FixtureRequest, running: Daemon, bus_address: Address, server: ModelServer) -> Any:
    return request.param(bus_address, server.url)


@pytest.fixture(params=METHODS)
def talk(request: pytest.FixtureRequest, engine: Any, running: Daemon) -> Talk:
    return Talk(engine, request.param, running.data, f"talk-{uuid4().hex[:8]}")


def heard_of_half(method: str) -> str:
    """What came of an answer that broke off, by the way in which it was asked for."""
    return {"continue_chat": "", "stream_tokens": ANSWER[: ANSWER.index(" ", len(ANSWER) // 2)]}.get(method, HEARD)


@pytest.mark.parametrize("fault", ["error", "dropped", "half", "nonsense"])
def test_of_a_request_that_fails_what_was_said_is_recorded_once_and_the_next_one_is_whole(
    talk: Talk, server: ModelServer, fault: Fault
) -> None:
    server.faults = [fault]
    if fault == "nonsense" and talk.method != "continue_chat":
        assert talk.say("my hen is called Bo") == "", "a stream without a single piece of an answer"
    else:
        with pytest.raises(RequestException):
            talk.say("my hen is called Bo")
    heard = heard_of_half(talk.method) if fault == "half" else ""
    told: Said = [("user", "my hen is called Bo"), *([("assistant", heard)] if heard else [])]
    talk.becomes(*told)
    assert talk.say("and now").split() == ANSWER.split()
    talk.becomes(*told, ("user", "and now"), ("assistant", ANSWER))


@pytest.mark.parametrize(("fault", "reply"), [("empty", ""), ("", '[{"tool": "memory_add"'), ("", "我不知道。")])
def test_an_answer_without_words_or_in_others_than_were_expected_is_recorded_as_it_came(
    talk: Talk, server: ModelServer, fault: Fault, reply: str
) -> None:
    server.faults, server._replies = [fault], [reply or ANSWER]
    assert talk.say("my hen is called Bo").split() == reply.split()
    talk.becomes(("user", "my hen is called Bo"), *([("assistant", reply)] if reply else []))


def test_a_slow_model_holds_up_nobody_else_and_what_it_says_in_the_end_is_recorded_once(
    talk: Talk, server: ModelServer, engine: Any
) -> None:
    server.faults = ["slow"]
    answers: list[str] = []
    asking = Thread(target=lambda: answers.append(talk.say("my hen is called Bo")))
    asking.start()
    assert server.arrived.acquire(timeout=PATIENT_S), "the model was never asked"
    other, began = replace(talk, session_id=f"other-{uuid4().hex[:8]}"), time.monotonic()
    assert other.say("and now").split() == ANSWER.split()
    with MemoryClient.over_door(talk.data) as memory:
        assert memory.context(ContextRequest("what is my boat called", Scope(session_id=talk.session_id))).messages
    assert time.monotonic() - began < SOON_S
    other.becomes(("user", "and now"), ("assistant", ANSWER))
    assert (answers, talk.recorded()) == ([], [])
    server.go_on.set()
    asking.join(PATIENT_S)
    assert [one.split() for one in answers] == [ANSWER.split()]
    talk.becomes(("user", "my hen is called Bo"), ("assistant", ANSWER))


@pytest.mark.parametrize("method", METHODS[1:])
def test_of_a_slow_stream_that_is_left_what_was_handed_on_is_recorded_and_nobody_waits_for_the_rest(
    engine: Any, running: Daemon, server: ModelServer, method: str
) -> None:
    server.faults = ["slow"]
    talk = Talk(engine, method, running.data, f"talk-{uuid4().hex[:8]}")
    pieces, began = talk.begin("my hen is called Bo"), time.monotonic()
    first = next(iter(pieces))
    pieces.close()
    assert time.monotonic() - began < SOON_S
    talk.becomes(("user", "my hen is called Bo"), ("assistant", first.strip()))
    assert talk.say("and now").split() == ANSWER.split()
    talk.becomes(
        ("user", "my hen is called Bo"), ("assistant", first.strip()), ("user", "and now"), ("assistant", ANSWER)
    )


@pytest.mark.parametrize("fault", ["calls", "odd calls"])
def test_in_an_endless_loop_of_tools_each_call_is_recorded_once_and_no_prompt_holds_half_of_one(
    engine: Any, running: Daemon, server: ModelServer, fault: Fault
) -> None:
    server.faults = [fault] * LOOPS
    talk = Talk(engine, "continue_chat", running.data, f"talk-{uuid4().hex[:8]}")
    said = [AgentMessage(MessageRole.USER, "look up the word cat")]
    for number in range(LOOPS):
        said.append(talk.begin(*said))
        call = said[-1].tool_calls[0]
        said.append(AgentMessage(MessageRole.TOOL, f"result {number}", tool_call_id=call.id, name=call.name))
    assert talk.say(*said).split() == ANSWER.split()
    loop = [one for number in range(LOOPS) for one in (("assistant", ""), ("tool", f"result {number}"))]
    talk.becomes(("user", "look up the word cat"), *loop, ("assistant", ANSWER))
    with MemoryClient.over_door(talk.data) as memory:
        handed = memory.context(ContextRequest("and now", Scope(session_id=talk.session_id), max_history=None)).messages
    asked: list[str] = []
    for message in handed:
        assert message.role != "tool" or asked.pop(0) == message.tool_call_id, "a result behind its call"
        assert message.role == "tool" or not asked, "a call with its result"
        asked += [one.id for one in message.tool_calls]


def test_of_an_answer_that_does_not_end_the_beginning_and_the_end_are_kept(talk: Talk, server: ModelServer) -> None:
    server._replies = [f"It began. {'and so on ' * 3000}It ended."]
    assert len(talk.say("tell me everything")) > 30_000
    wait_until(lambda: len(talk.recorded()) == 2, "the record")
    question, (role, kept) = talk.recorded()
    assert (question, role, len(kept) <= MAX_TEXT) == (("user", "tell me everything"), "assistant", True)
    assert kept.startswith("It began. and so on") and kept.endswith("It ended.")


@pytest.mark.parametrize("method", METHODS[1:])
@pytest.mark.parametrize("fault", ["calls", "odd calls"])
def test_tools_that_a_stream_calls_though_it_was_offered_none_are_no_answer(
    engine: Any, running: Daemon, server: ModelServer, method: str, fault: Fault
) -> None:
    server.faults = [fault] * LOOPS
    talk = Talk(engine, method, running.data, f"talk-{uuid4().hex[:8]}")
    for number in range(LOOPS):
        assert talk.say(f"question {number}") == ""
    talk.becomes(*(("user", f"question {number}") for number in range(LOOPS)))
