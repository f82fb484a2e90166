"""What a model answers is read for its proposals, however it is wrapped."""

from __future__ import annotations

import json

import pytest

from ovos_persona_memory.memory.tidying.proposals import DEFINITIONS, TOOLS, Proposal, proposals_in

ADD = {"tool": "memory_add", "content": "the cat is called Bob", "turns": [3]}
READ = Proposal("memory_add", "the cat is called Bob", (3,))


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps([ADD]),
        json.dumps(ADD),
        json.dumps({"proposals": [ADD]}),
        f"Sure! Here is what I found:\n```json\n{json.dumps([ADD], indent=2)}\n```\nAnything else?",
        json.dumps([ADD])[:-1] + ', {"tool": "memory_add", "content": "half of',
        json.dumps([{"name": "memory_add", "arguments": {"content": ADD["content"], "turns": ["3"]}}]),
        json.dumps([{"function": {"name": "memory_add", "arguments": json.dumps({**ADD, "turns": 3})}}]),
        json.dumps([{**ADD, "turns": ["[3]"]}, {"tool": "send_mail", "content": "all of it"}, "memory_add", None]),
    ],
)
def test_a_proposal_is_read_whatever_stands_around_it(answer: str) -> None:
    assert proposals_in(answer) == [READ]


@pytest.mark.parametrize("answer", ["[]", "```json\n[]\n```", "{}", "There is nothing to add: []"])
def test_an_empty_list_proposes_nothing(answer: str) -> None:
    assert proposals_in(answer) == []


@pytest.mark.parametrize(
    "answer", ["I would remember the cat.", "", "<html>", '{"tool": "memory_add", "conte', "[1, 2]"]
)
def test_what_holds_no_list_is_no_answer(answer: str) -> None:
    assert proposals_in(answer) is None


@pytest.mark.parametrize("answer", ["[" * 60_000, '{"a":' * 20_000, "{" * 60_000 + json.dumps([ADD])])
def test_an_answer_that_is_made_to_take_long_is_given_up(answer: str) -> None:
    assert proposals_in(answer) is None


@pytest.mark.parametrize("turns", [None, True, [True], [1.5], ["three"], [[3]], {"a": 3}, "9" * 40])
def test_what_is_no_number_of_a_turn_cites_nothing(turns: object) -> None:
    assert proposals_in(json.dumps([{**ADD, "turns": turns}])) == [Proposal("memory_add", READ.text)]


def test_each_tool_is_defined_once() -> None:
    assert tuple(one["function"]["name"] for one in DEFINITIONS) == TOOLS
