"""Messages of a persona as turns that can be recorded, whatever a model made of them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.opm.agent_messages import to_context, to_turn
from ovos_persona_memory.protocol import MAX_TEXT, messages, requests
from ovos_persona_memory.protocol.transport import wire_turn
from ovos_persona_memory.records import Scope, Turn

DEEP: Any = {}
for _ in range(99):
    DEEP = {"inner": [DEEP]}


def answer(content: Any = "", *calls: tuple[Any, Any, Any], **fields: Any) -> Turn:
    made = [SimpleNamespace(id=id, name=name, arguments=arguments) for id, name, arguments in calls]
    message = SimpleNamespace(role="assistant", content=content, tool_calls=made, **fields)
    return to_turn(to_context(message), "b1", 1.0, "s1")


ODD = {
    "no id": answer("", ("", "look_up", {"word": "cat"})),
    "no name": answer("", ("c1", None, {})),
    "a number for an id": answer("", (7, "look_up", {})),
    "a list for arguments": answer("", ("c1", "look_up", ["cat"])),
    "nothing for arguments": answer("", ("c1", "look_up", None)),
    "arguments without an end": answer("", ("c1", "look_up", {"word": "a" * 99_999})),
    "deep arguments": answer("", ("c1", "look_up", DEEP)),
    "half a character in arguments": answer("", ("c1", "look_up", {"word": "\ud83d", "\0": 1})),
    "no number in arguments": answer("", ("c1", "look_up", {"share": float("nan")})),
    "a long name": answer("", ("c" * 999, "n" * 999, {})),
    "calls without an end": answer("", *[(f"c{number}", "look_up", {}) for number in range(500)]),
    "an answer without an end": answer("and so on " * 9999),
    "half a character": answer("good \ud83d morning\0"),
    "a long name of its own": answer("hello", name="n" * 999),
}


@pytest.mark.parametrize("turn", ODD.values(), ids=ODD)
def test_whatever_a_model_answers_can_be_recorded_here_and_over_the_bus(turn: Turn) -> None:
    with PersonaMemory.open(config=MemoryConfig(backend="inmemory")) as memory:
        assert len(memory.record([Turn("user", "hello"), turn], Scope(session_id="s1"), as_passed=True)) == 2
    sent = json.loads(messages.encode("record", {"turns": [wire_turn(turn)]}, {}))["data"]
    [taken] = requests.read_request(messages.Request("record", sent, Scope())).turns
    assert (taken.text, len(taken.tool_calls)) == (turn.text, len(turn.tool_calls))


def test_what_can_be_kept_is_kept_as_it_came() -> None:
    turn = answer("Let me see.", ("c1", "look_up", {"words": [{"word": "cat"}, "dog"]}))
    assert (turn.text, turn.tool_calls[0].arguments) == ("Let me see.", {"words": [{"word": "cat"}, "dog"]})
    assert ODD["half a character"].text == "good  morning"
    assert len(ODD["an answer without an end"].text) <= MAX_TEXT
    assert len(ODD["calls without an end"].tool_calls) == 64


def test_a_call_without_an_id_and_its_result_belong_together() -> None:
    result = to_turn(
        to_context(SimpleNamespace(role="tool", content="found", tool_call_id="", name="look_up")), "b2", 2.0, "s1"
    )
    assert result.tool_call_id == ODD["no id"].tool_calls[0].id != ""
