"""The older part of a session, and a session as something to take and put back."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from typing import Any

import msgspec
import pytest

from ovos_persona_memory.conversation.snapshots import beyond, older, overflowing, pieces, snapshot, turns_of
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import ContextMessage, ToolCall, Turn

NUMBERS = count(1)


def passed(role: str, text: str, **fields: Any) -> Turn:
    """A turn of one batch, as a restored session has them."""
    number = next(NUMBERS)
    return Turn(**{"role": role, "text": text, "id": f"t{number}", "seq": number, "batch": "b", **fields})


def calling(*call_ids: str) -> Turn:
    return passed("assistant", "", tool_calls=tuple(ToolCall(one, "lamp", {"on": [True]}) for one in call_ids))


def result(call_id: str, text: str = "done") -> Turn:
    return passed("tool", text, tool_call_id=call_id, name="lamp")


def talk(rounds: int) -> list[Turn]:
    return [passed(role, f"{role} {number}") for number in range(rounds) for role in ("user", "assistant")]


@pytest.mark.parametrize(("keep_recent", "left"), [(0, 10), (3, 7), (6, 4), (10, 0), (99, 0), (-1, 10)])
def test_all_but_the_newest_are_older(keep_recent: int, left: int) -> None:
    turns = talk(5)
    assert older(turns, keep_recent) == turns[:left]


def test_system_messages_do_not_count() -> None:
    turns = talk(2)
    assert older([passed("system", "be kind"), turns[0], passed("developer", "notes"), *turns[1:]], 2) == turns[:2]


def test_a_call_stays_with_its_results() -> None:
    asked, call, answer = passed("user", "light"), calling("1", "2"), passed("assistant", "both are on")
    turns = [*talk(1), asked, call, result("1"), result("2"), answer]
    for keep_recent in (1, 4):
        assert len(older(turns, keep_recent)) == len(turns) - keep_recent
    for keep_recent in (2, 3):
        assert older(turns, keep_recent) == turns[:3], "the cut moves to before the call"


def test_calls_within_each_other_are_all_kept_whole() -> None:
    turns = [passed("user", "light"), calling("1"), calling("2"), result("1"), result("2"), passed("assistant", "on")]
    assert older(turns, 2) == turns[:1]


def test_a_call_id_that_is_used_again_binds_the_nearest_call() -> None:
    turns = [passed("user", "a"), calling("1"), result("1"), passed("user", "b"), calling("1"), result("1")]
    assert older(turns, 1) == turns[:4]
    assert older(turns, 3) == turns[:3]


def test_what_takes_no_part_in_history_is_left_out() -> None:
    turns = [
        Turn("user", "weather", id="1", utterance_id="u"),
        Turn("assistant", "an error", id="2", machine=True),
        Turn("assistant", "sunny", id="3", utterance_id="u"),
        Turn("user", "out of band", id="4", source="query"),
        Turn("user", "", id="5", redacted=True),
        Turn("user", "thanks", id="6"),
    ]
    assert [turn.id for turn in older(turns, 0)] == ["1", "3", "6"]


def test_a_snapshot_holds_messages_and_summary() -> None:
    turns = [passed("system", "be kind"), passed("user", "hi"), calling("1"), result("1"), passed("user", "hanging")]
    taken = snapshot(turns, "they met", None)
    assert [message.role for message in taken["messages"]] == ["system", "user", "assistant", "tool", "user"]
    assert taken["messages"][2].tool_calls == turns[2].tool_calls
    assert taken["summary"] == "they met"
    assert snapshot([], "", None) == {"messages": [], "summary": None}
    assert [message.text for message in snapshot(turns, "", 1)["messages"]] == ["hanging"]
    assert snapshot(turns, "", 0)["messages"] == []


def test_a_snapshot_is_a_deep_copy_both_ways() -> None:
    call = calling("1")
    taken = snapshot([passed("user", "hi"), call, result("1")], "", None)
    taken["messages"][1].tool_calls[0].arguments["on"].append("changed")
    assert call.tool_calls[0].arguments == {"on": [True]}
    turns, _ = turns_of(taken)
    taken["messages"][1].tool_calls[0].arguments.clear()
    assert turns[1].tool_calls[0].arguments == {"on": [True, "changed"]}


def test_a_snapshot_or_a_plain_list_is_put_back() -> None:
    message = ContextMessage("user", "hi")
    plain = {"role": "assistant", "text": "", "tool_calls": [{"id": "1", "name": "lamp", "arguments": {"a": 1}}]}
    result = {"role": "tool", "text": "done", "tool_call_id": "1", "name": "lamp", "unknown": 1}
    turn = Turn("user", "later", at=5.0, speaker="Ana", lang="pt-PT", id="known", skill_id="skill", machine=True)
    given = [message, plain, result, turn]
    put_back = [
        Turn("user", "hi"),
        Turn("assistant", "", tool_calls=(ToolCall("1", "lamp", {"a": 1}),)),
        Turn("tool", "done", tool_call_id="1", name="lamp"),
        Turn("user", "later", at=5.0, speaker="Ana", lang="pt-PT"),
    ]
    assert turns_of(given) == (put_back, "")
    assert turns_of({"messages": given, "summary": "so far"}) == (put_back, "so far")
    assert turns_of({"messages": [], "summary": None}) == turns_of([]) == ([], "")


@pytest.mark.parametrize(
    ("taken", "field"),
    [
        ({"summary": "so far"}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": None}, "messages"),
        ({"messages": [], "summary": 5}, "summary"),
        ([{"role": "user"}], "messages[0]"),
        ([ContextMessage("user", "hi"), {"role": "robot", "text": "hi"}], "messages[1]"),
        (["hi"], "messages[0]"),
    ],
)
def test_what_is_no_snapshot_is_refused_by_the_name_of_its_field(taken: Any, field: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        turns_of(taken)
    assert refusal.value.field == field


# what leaves a window


def heard(role: str, text: str, utterance_id: str | None = None, **fields: Any) -> Turn:
    return passed(role, text, batch=None, utterance_id=utterance_id, **fields)


def test_nothing_leaves_a_window_before_the_threshold_and_then_all_but_what_is_kept() -> None:
    turns = talk(4)
    assert overflowing(turns, 8, 4) == []
    assert overflowing(turns, 7, 4) == turns[:4]


def test_no_exchange_is_split() -> None:
    turns = talk(4)
    assert overflowing(turns, 7, 3) == turns[:4], "an answer without its question would not be shown"
    first = talk(1)
    late = [heard("user", "one", "1"), heard("user", "two", "2"), heard("assistant", "a", "1"), *talk(2)]
    assert overflowing([*first, *late], 7, 5) == first
    assert overflowing(late, 6, 5) == late[:2], "unless nothing could leave the window then"


def test_what_answers_a_question_that_was_summarised_is_still_to_be_summarised() -> None:
    asked = heard("user", "story", "1")
    turns = [asked, heard("assistant", "once", "1"), heard("assistant", "upon a time", "1"), *talk(3)]
    assert overflowing(turns, 3, 2, trimmed_to=turns[1].seq) == turns[2:7]


def test_pieces_are_as_large_as_they_may_be_and_hold_every_turn_once() -> None:
    turns = [passed("user", "x" * 40) for _ in range(7)]
    assert [len(piece) for piece in pieces(turns, 30)] == [3, 3, 1]
    assert [turn for piece in pieces(turns, 30) for turn in piece] == turns
    assert pieces([], 30) == []


def test_a_turn_that_is_longer_than_a_piece_is_one_and_a_call_keeps_its_results() -> None:
    long = passed("user", "x" * 400)
    call, first, second = calling("1", "2"), result("1", "y" * 100), result("2", "y" * 100)
    turns = [passed("user", "light"), long, call, first, second, passed("assistant", "on")]
    assert pieces(turns, 30) == [turns[:1], [long], [call, first, second], turns[5:]]


@pytest.mark.parametrize(("max_tokens", "left"), [(100, 0), (30, 0), (29, 1), (12, 6), (11, 7), (6, 8), (5, 8), (0, 8)])
def test_the_oldest_go_until_the_rest_fits_and_the_newest_question_stays(max_tokens: int, left: int) -> None:
    turns = [passed(role, "x" * 12) for _ in range(5) for role in ("user", "assistant")]
    assert beyond(turns, max_tokens) == turns[:left]


def test_system_messages_stay_and_count() -> None:
    turns = [passed("system", "x" * 40), *(passed(role, "x" * 12) for _ in range(3) for role in ("user", "assistant"))]
    assert beyond(turns, 22) == turns[1:3]


def test_a_call_goes_with_its_results() -> None:
    asked, call = passed("user", "light" * 4), calling("1", "2")
    turns = [asked, call, result("1", "d" * 40), result("2", "d" * 40), *talk(1)]
    assert beyond(turns, 20) == turns[:4]
    assert beyond(turns, 24) == turns[:4]


def test_without_a_question_all_may_go() -> None:
    turns = [passed("assistant", "x" * 40)]
    assert beyond(turns, 5) == turns


def test_a_failed_tool_is_one_in_the_history_and_through_a_snapshot() -> None:
    failed = replace(result("c", "no such lamp"), is_error=True)
    taken = snapshot([passed("user", "light"), calling("c"), failed, passed("assistant", "No.")], "", None)
    assert [one.is_error for one in taken["messages"]] == [False, False, True, False]
    turns, _ = turns_of(json.loads(msgspec.json.encode(taken)))
    assert [one.is_error for one in turns] == [False, False, True, False]
