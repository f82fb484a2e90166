"""The daemon on the stable line's messagebus, talked with as that line talks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ovos_bus_client import Message, MessageBusClient
from support.servers.bus import HOST, Bus, Daemon, Wire, wait_until
from support.servers.ports import free_port

from ovos_persona_memory.errors import UnknownEntry
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Capture, ContextRequest, Scope, Turn

Said = tuple[str, str]


@pytest.fixture
def stock(daemon: Daemon, bus: Bus) -> Iterator[MessageBusClient]:
    """A client as any skill of the stable line has it."""
    client = MessageBusClient(host=HOST, port=bus.port)
    client.run_in_thread()
    assert client.connected_event.wait(10)
    yield client
    client.close()


@pytest.fixture
def memory(daemon: Daemon, bus: Bus) -> Iterator[MemoryClient]:
    """Our client, over this line's bus-client."""
    with MemoryClient.over_bus(host=HOST, port=bus.port) as client:
        yield client


def said(daemon: Daemon, session_id: str) -> list[Said]:
    """The whole history of a session, seen from the owner's door."""
    with daemon.door() as owner:
        return [(one.role, one.text) for one in owner.history(Scope(session_id=session_id), max_history=None)]


def turns(daemon: Daemon, session_id: str) -> int:
    """How many turns the log holds of a session."""
    with daemon.door() as owner:
        return sum(one.turns for one in owner.sessions(Scope(session_id=session_id)))


def envelope(session_id: str) -> dict[str, Any]:
    """What the stable line's messages travel with: a session and no utterance id."""
    return {"session": {"session_id": session_id, "lang": "en-US"}, "source": "test", "destination": ["skills"]}


def hear(wire: Wire, session_id: str, *exchange: Said) -> None:
    """Say it on the bus under the old topic names; all of it is recorded when this returns."""
    for role, text in exchange:
        if role == "user":
            wire.send("recognizer_loop:utterance", {"utterances": [text], "lang": "en-US"}, envelope(session_id))
        else:
            wire.send("speak", {"utterance": text, "expect_response": False, "meta": {}}, envelope(session_id))
    wire.ask("status")


def test_what_is_heard_under_the_old_topic_names_is_recorded_once(wire: Wire, daemon: Daemon) -> None:
    talk = [("user", "what time is it"), ("assistant", "ten o'clock"), ("user", "and now"), ("assistant", "eleven")]
    hear(wire, "old-names", *talk)
    assert said(daemon, "old-names") == talk
    assert turns(daemon, "old-names") == 4


def test_what_a_stock_client_emits_is_recorded_once(stock: MessageBusClient, daemon: Daemon) -> None:
    stock.emit(Message("recognizer_loop:utterance", {"utterances": ["good morning"]}, envelope("stock")))
    stock.emit(Message("speak", {"utterance": "the sun is up"}, envelope("stock")))
    answer = stock.wait_for_response(Message("ovos.persona.memory.status", {}, envelope("stock")))
    assert answer.data["ok"]
    assert said(daemon, "stock") == [("user", "good morning"), ("assistant", "the sun is up")]
    assert turns(daemon, "stock") == 2


def test_speech_answers_the_newest_question_where_there_are_no_utterance_ids(wire: Wire, daemon: Daemon) -> None:
    hear(wire, "no-ids", ("user", "one"), ("user", "two"), ("assistant", "first"), ("assistant", "second"))
    assert said(daemon, "no-ids") == [("user", "two"), ("assistant", "first\nsecond")]
    assert turns(daemon, "no-ids") == 4


def test_the_twin_frames_of_a_sender_of_the_current_line_are_recorded_once(wire: Wire, daemon: Daemon) -> None:
    # as ovos-bus-client 2.11.29a1 puts them on the wire: the new name first, then a marked copy under the old one
    question, answer = {"utterances": ["who are you"], "lang": "en-US"}, {"utterance": "your assistant", "meta": {}}
    identified = {**envelope("twins"), "utterance_id": "u-1"}
    mark = {"_namespace_compat_twin": True}
    wire.send("ovos.utterance.handle", question, envelope("twins"))
    wire.send("recognizer_loop:utterance", question, envelope("twins") | mark)
    wire.send("ovos.utterance.speak", answer, identified)
    wire.send("speak", answer, identified | mark)
    wire.ask("status")
    assert said(daemon, "twins") == [("user", "who are you"), ("assistant", "your assistant")]
    assert turns(daemon, "twins") == 2


def test_every_verb_of_our_client_works_over_the_stable_bus_client(memory: MemoryClient) -> None:
    scope = Scope(session_id="verbs")
    turns = [Turn("user", "my canary is called Pavarotti"), Turn("assistant", "What a name.")]
    ids = memory.record(turns, scope)
    assert len(set(ids)) == 2
    assert [one.text for one in memory.history(scope)] == ["my canary is called Pavarotti", "What a name."]
    assert [one.session_id for one in memory.sessions(scope)] == ["verbs"]

    hits = memory.recall("what is my canary called", Scope(session_id="elsewhere"))
    assert (hits[0].id, hits[0].text, hits[0].sure) == (ids[0], "my canary is called Pavarotti", True)
    known = memory.context(ContextRequest("what is my canary called", Scope(session_id="elsewhere")))
    assert [message.role for message in known.messages] == ["system", "user"]
    assert '"my canary is called Pavarotti"' in known.messages[0].text

    entry = memory.remember("the bins go out on Tuesday", scope, key="stable-bins")
    assert memory.get("stable-bins", scope) == entry
    assert memory.update("stable-bins", scope, text="the bins go out on Friday").text == "the bins go out on Friday"
    assert [one.key for one in memory.list(scope)] == ["stable-bins"]
    assert memory.forget(scope, key="stable-bins") == 1
    assert memory.get("stable-bins", scope) is None
    with pytest.raises(UnknownEntry):
        memory.update("stable-bins", scope, text="never")
    assert memory.clear_session(scope) == 2
    assert memory.recall("what is my canary called", scope) == []  # with the turns goes what was learned of them
    assert memory.list(scope) == []


def test_capture_is_switched_for_one_session_over_the_bus(memory: MemoryClient, wire: Wire, daemon: Daemon) -> None:
    scope = Scope(session_id="guests")
    paused = memory.capture(scope, write=False, session=True)
    assert paused == Capture(write=False, read=True, until=None, session_id="guests")
    hear(wire, "guests", ("user", "a secret"), ("assistant", "it is safe"))
    assert turns(daemon, "guests") == 0
    assert memory.capture(scope, write=True, session=True).write
    hear(wire, "guests", ("user", "no secret"), ("assistant", "it is known"))
    assert turns(daemon, "guests") == 2


def test_a_stock_client_is_answered_without_a_request_id(stock: MessageBusClient) -> None:
    def ask(verb: str, **data: Any) -> dict[str, Any]:
        answer = stock.wait_for_response(Message(f"ovos.persona.memory.{verb}", data, envelope("ten lines")))
        assert answer is not None, f"{verb} was not answered"
        assert answer.context["session"]["session_id"] == "ten lines"
        return dict(answer.data)

    recorded = ask("record", turns=[{"role": "user", "text": "my kettle whistles in B flat"}])
    assert recorded["ok"]
    assert "request_id" not in recorded
    assert ask("recall", question="my kettle whistles")["hits"][0]["id"] == recorded["ids"][0]
    assert ask("context", utterance="hello")["messages"][-1]["text"] == "hello"
    assert [one["text"] for one in ask("history", hanging=True)["messages"]] == ["my kettle whistles in B flat"]
    assert ask("capture")["capture"]["write"] is True
    assert ask("forget", ids=recorded["ids"])["forgotten"] == 1
    refused = ask("forget", ids="all")
    assert (refused["ok"], refused["error"]) == (False, "invalid")
    assert refused["reason"].startswith("ids: ")


def test_the_daemon_is_back_within_five_seconds_of_the_messagebus(tmp_path: Path) -> None:
    port = free_port()
    before = Bus(tmp_path / "bus", port)
    own = Daemon(tmp_path, tmp_path / "data", port).wait_ready()
    after: Bus | None = None
    try:
        before.kill()
        wait_until(lambda: not is_connected(own), "the loss of the bus")
        after = Bus(tmp_path / "bus", port)
        wait_until(lambda: is_connected(own), "the return of the daemon", timeout_s=5.0)
        with Wire(port) as wire:
            hear(wire, "s", ("user", "are you back"), ("assistant", "I am"))
        assert said(own, "s") == [("user", "are you back"), ("assistant", "I am")]
    finally:
        own.end()
        (after or before).end()


def is_connected(daemon: Daemon) -> bool:
    """What the daemon says at its door about its connection to the bus."""
    with daemon.door() as owner:
        return bool(owner.status()["bus"])


def test_sigterm_ends_the_daemon_in_two_seconds_with_everything_kept(tmp_path: Path, bus: Bus) -> None:
    own = Daemon(tmp_path, tmp_path / "data", bus.port).wait_ready()
    with own.door() as owner:
        owner.record([Turn("user", "keep this")], Scope(session_id="s"))
    began = time.monotonic()
    assert own.end(timeout_s=10) == 0
    assert time.monotonic() - began < 2.0
    again = Daemon(tmp_path, tmp_path / "data", bus.port).wait_ready()
    try:
        assert turns(again, "s") == 1
    finally:
        again.end()
