"""Two clients on one bus: every answer reaches its own asker, and no session or persona hears another's talk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.servers.bus import Wire

from ovos_persona_memory.protocol import MemoryClient, topics
from ovos_persona_memory.records import ContextRequest, Scope, Turn

HANDS = 4
"""Threads of each client, so that its own requests overlap too."""


@pytest.fixture
def clients(daemon: Callable[..., object], bus_address: tuple[str, int]) -> Iterator[tuple[MemoryClient, MemoryClient]]:
    daemon()
    host, port = bus_address
    with (
        MemoryClient.over_bus(30.0, host=host, port=port) as alice,
        MemoryClient.over_bus(30.0, host=host, port=port) as bob,
    ):
        yield alice, bob


@pytest.fixture
def wire(bus_address: tuple[str, int]) -> Iterator[Wire]:
    with Wire(bus_address[1]) as connection:
        yield connection


def ask(client: MemoryClient, name: str, number: int) -> int:
    """One request to which nobody else's answer would be right; how many requests that took."""
    scope = Scope(session_id=f"{name} {number % HANDS}")
    key, text = f"{name} key {number}", f"{name} keeps the number {number}"
    if number % 4 == 0:
        assert client.remember(text, scope, key=key).text == text
        found = client.get(key, scope)
        assert found is not None
        assert (found.key, found.text) == (key, text)
        return 2
    if number % 4 == 1:
        assert client.get(key, scope) is None
        return 1
    if number % 4 == 2:
        utterance = f"{name} says {number}"
        request = ContextRequest(utterance=utterance, scope=scope, recall=0)
        assert client.context(request).messages[-1].text == utterance
        return 1
    turns = [Turn(role="user", text=f"{name} asks {number}"), Turn(role="assistant", text=f"{name} hears {number}")]
    assert len(client.record(turns, scope)) == 2
    return 1


def requests_and_answers(wire: Wire) -> tuple[Counter[str], Counter[str]]:
    """How often each request_id was asked with, and answered, up to the capture request that ends the test."""
    requests: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    asked, answered = {topics.request(v) for v in topics.VERBS}, {topics.response(v) for v in topics.VERBS}
    while True:
        message = wire.receive(60)
        assert message is not None, "the bus fell silent"
        topic = message.get("type")
        if topic in asked:
            requests[message["data"]["request_id"]] += 1
        elif topic in answered:
            answers[message["data"]["request_id"]] += 1
        if topic == topics.response("capture"):
            return requests, answers


def test_of_two_thousand_interleaved_requests_each_is_answered_once_to_its_asker(
    clients: tuple[MemoryClient, MemoryClient], wire: Wire
) -> None:
    """Both ask at once; a bystander counts the requests and the answers on the bus."""
    with ThreadPoolExecutor(2 * HANDS + 1) as pool:
        watching = pool.submit(requests_and_answers, wire)
        asked = [
            pool.submit(ask, client, name, number)
            for number in range(1_000)
            for client, name in zip(clients, ("alice", "bob"), strict=True)
        ]
        sent = sum(one.result() for one in asked)
        clients[0].status()
        clients[0].capture(Scope(session_id="the end"))
        requests, answers = watching.result(60)
    assert sent >= 2_000
    assert sum(requests.values()) == sent + 2
    assert set(requests.values()) == {1}
    not_once = {asked for asked in requests | answers if answers[asked] != 1}
    assert not not_once, f"{len(not_once)} were not answered exactly once"  # the whole difference takes pytest an hour


def test_two_sessions_at_once_never_see_each_others_turns(clients: tuple[MemoryClient, MemoryClient]) -> None:
    def talk(client: MemoryClient, name: str) -> None:
        scope = Scope(session_id=f"{name}'s talk")
        for number in range(40):
            turns = [
                Turn(role="user", text=f"{name} asks {number}"),
                Turn(role="assistant", text=f"{name} hears {number}"),
            ]
            client.record(turns, scope)
            history = client.history(scope, max_history=None)
            request = ContextRequest(utterance="and now", scope=scope, max_history=None, recall=0)
            assert [m.text for m in history] == [
                t for n in range(number + 1) for t in (f"{name} asks {n}", f"{name} hears {n}")
            ]
            assert [m.text for m in client.context(request).messages] == [*(m.text for m in history), "and now"]

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(talk, *one) for one in zip(clients, ("alice", "bob"), strict=True)]:
            done.result()


def test_two_sessions_that_talk_on_the_bus_at_once_keep_their_own_turns(
    clients: tuple[MemoryClient, MemoryClient], wire: Wire
) -> None:
    for number in range(30):
        for name in ("kitchen", "garden"):
            context = {"session": {"session_id": name}}
            heard = {**context, "utterance_id": f"{name}-{number}"}
            wire.send("recognizer_loop:utterance", {"utterances": [f"{name} asks {number}"], "lang": "en-US"}, context)
            wire.send("ovos.intent.matched", {"utterance": f"{name} asks {number}"}, heard)
        for name in ("garden", "kitchen"):
            heard = {"session": {"session_id": name}, "utterance_id": f"{name}-{number}"}
            wire.send("speak", {"utterance": f"{name} hears {number}", "expect_response": False}, heard)
            wire.send("ovos.utterance.handled", {}, heard)
    for name in ("kitchen", "garden"):
        answer = wire.ask("history", {"max_history": None}, name)
        texts = [message["text"] for message in answer["messages"]]
        assert texts == [text for number in range(30) for text in (f"{name} asks {number}", f"{name} hears {number}")]


@pytest.mark.parametrize("by", ["bus", "door"])
def test_a_persona_sees_its_own_turns_and_those_of_no_persona(
    daemon: Callable[..., object], bus_address: tuple[str, int], wire: Wire, by: str
) -> None:
    running = daemon()
    session_id = f"personas by {by}"

    def said(persona: str | None, text: str) -> dict[str, object]:
        session = {"session_id": session_id} | ({"persona_id": persona} if persona else {})
        turns = [{"role": "user", "text": f"asked {text}"}, {"role": "assistant", "text": f"answered {text}"}]
        wire.send(topics.request("record"), {"turns": turns, "request_id": wire.new_id()}, {"session": session})
        return dict(wire.until(topics.response("record"))[-1]["data"])

    def history(persona: str | None, **scope: bool) -> list[str]:
        if by == "door":
            with MemoryClient.over_door(running.data) as client:  # type: ignore[attr-defined]  # conftest's Daemon
                messages = client.history(Scope(session_id=session_id, persona_id=persona), max_history=None)
            return [message.text for message in messages]
        session = {"session_id": session_id} | ({"persona_id": persona} if persona else {})
        asked = {"max_history": None, "request_id": wire.new_id(), "scope": scope}
        wire.send(topics.request("history"), asked, {"session": session})
        return [message["text"] for message in wire.until(topics.response("history"))[-1]["data"]["messages"]]

    for persona, text in (("Alice", "one"), (None, "two"), ("Bob", "three"), ("Alice", "four")):
        assert said(persona, text)["ok"]

    def exchanges(*texts: str) -> list[str]:
        return [f"{role} {text}" for text in texts for role in ("asked", "answered")]

    assert history("Alice") == exchanges("one", "two", "four")
    assert history("Bob") == exchanges("two", "three")
    assert history("Carol") == exchanges("two")
    everything = exchanges("one", "two", "three", "four")
    assert history("Bob", any_persona=True) == (everything if by == "bus" else exchanges("two", "three"))
    assert history(None) == (exchanges("two") if by == "bus" else everything), "over the bus it is the default's"
