from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovos_persona_memory.conversation.window import (
    INSTRUCTIONS,
    SHORTENED,
    Window,
    estimate_tokens,
    message_tokens,
    newest,
    repair,
    window,
)
from ovos_persona_memory.records import ContextMessage, Role, ToolCall

U, A, S = ContextMessage("user", "u"), ContextMessage("assistant", "a"), ContextMessage("system", "s")


def call(*ids: str, text: str = "") -> ContextMessage:
    return ContextMessage("assistant", text, tool_calls=tuple(ToolCall(i, "look_up") for i in ids))


def result(call_id: str | None) -> ContextMessage:
    return ContextMessage("tool", "found", tool_call_id=call_id)


C, R = call("1"), result("1")
ids = st.sampled_from(["1", "2", "3"])
roles: st.SearchStrategy[Role] = st.sampled_from(["system", "developer", "user", "assistant"])
any_message = st.one_of(
    st.builds(ContextMessage, roles, st.text("ab c", max_size=9)),
    st.builds(lambda chosen, text: call(*chosen, text=text), st.lists(ids, min_size=1), st.text("ab", max_size=3)),
    st.builds(result, st.one_of(st.none(), ids)),
)
any_messages = st.lists(any_message, max_size=14)
limit = st.one_of(st.none(), st.integers(-1, 12))
any_window = st.builds(Window, max_history=limit, max_rounds=limit, max_tokens=limit)
seeded = settings(derandomize=True, deadline=None)


def talk(messages: list[ContextMessage]) -> list[ContextMessage]:
    return [message for message in messages if message.role not in INSTRUCTIONS]


# cuts


def test_no_limit_keeps_everything() -> None:
    assert window([U, A, U], Window()) == [U, A, U]


def test_the_newest_messages_are_kept() -> None:
    assert window([U, A, U, A], Window(max_history=3)) == [A, U, A]


def test_system_messages_before_the_cut_stay() -> None:
    assert window([S, U, A, S, U, A], Window(max_history=2)) == [S, S, U, A]


@pytest.mark.parametrize("none", [Window(max_history=0), Window(max_tokens=0)])
def test_zero_keeps_no_talk(none: Window) -> None:
    assert window([S, U, A], none) == [S]


def test_below_zero_counts_as_zero() -> None:
    assert window([S, U, A], Window(max_history=-1)) == [S]
    assert window([S, U, A], Window(max_tokens=-1)) == [S]


@pytest.mark.parametrize("rounds", [0, -1])
def test_zero_rounds_are_no_limit(rounds: int) -> None:
    assert window([S, U, A, U, A], Window(max_rounds=rounds)) == [S, U, A, U, A]
    assert window([S, U, A, U, A], Window(max_history=2, max_rounds=rounds)) == [S, U, A]


def test_a_round_starts_with_a_user_message() -> None:
    assert window([U, A, U, C, R, A], Window(max_rounds=1)) == [U, C, R, A]
    assert window([A, U, A], Window(max_rounds=1)) == [U, A]


def test_fewer_rounds_than_wanted_are_all_kept() -> None:
    assert window([A, U, A], Window(max_rounds=2)) == [A, U, A]


def test_whole_messages_fit_the_tokens() -> None:
    long = ContextMessage("user", "x" * 41)  # 11 tokens
    assert window([long, A, U], Window(max_tokens=13)) == [long, A, U]
    assert window([U, A, long, A], Window(max_tokens=13)) == [A, long, A]
    assert window([U, A, long, A], Window(max_tokens=12)) == [long, A]


def test_a_message_that_does_not_fit_hides_the_shorter_ones_before_it() -> None:
    assert window([U, ContextMessage("assistant", "x" * 40), U], Window(max_tokens=5)) == [U]


def test_system_messages_take_from_the_tokens() -> None:
    assert window([S, U, A, U, A], Window(max_tokens=3)) == [S, U, A]
    assert window([S, U, A], Window(max_tokens=2)) == [S], "no answer without its question"


def test_a_counter_of_the_callers_is_used() -> None:
    words = Window(max_tokens=3, count_tokens=lambda text: len(text.split()))
    earlier, later = ContextMessage("user", "one two"), ContextMessage("assistant", "three")
    assert window([earlier, later, earlier, later], words) == [earlier, later]


def test_all_limits_hold_together() -> None:
    assert window([U, A] * 4, Window(max_history=6, max_rounds=2, max_tokens=7)) == [U, A, U, A]
    assert window([U, A] * 4, Window(max_history=3, max_rounds=2, max_tokens=7)) == [A, U, A]


def test_tokens_are_a_quarter_of_the_characters_rounded_up() -> None:
    assert [estimate_tokens("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_a_call_costs_its_name_and_arguments() -> None:
    asking = ContextMessage("assistant", "", tool_calls=(ToolCall("1", "look_up", {"word": "cat"}),))
    assert message_tokens(asking, len) == len('look_up{"word": "cat"}')


def test_the_plain_cut_keeps_no_system_message_before_it() -> None:
    assert newest([S, U, A], Window(max_history=1)) == [A]


# repair


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ([A, U, A], [U, A]),
        ([A, A, U, A], [U, A]),
        ([S, A, U, A], [S, U, A]),
        ([U, A, U], [U, A]),
        ([U, A, U, U], [U, A]),
        ([U, A, U, S], [U, A, S]),
        ([A], []),
        ([U], []),
        ([U, U, A, A], [U, U, A, A]),
        ([R, A, U, A], [U, A]),
        ([U, R, A], [U, A]),
        ([R, U, C, A], [U, A]),
        ([U, C, R, A], [U, C, R, A]),
        ([U, C, R], [U, C, R]),
        ([U, C, A], [U, A]),
        ([U, C, A, R], [U, A]),
        ([C, R, U, A], [U, A]),
        ([U, call("1", "2"), R, A], [U, A]),
        ([U, call("1", "2"), result("2"), R, A], [U, call("1", "2"), result("2"), R, A]),
        ([U, call("1", text="see"), A], [U, ContextMessage("assistant", "see"), A]),
        ([U, C, R, ContextMessage("tool", "again", tool_call_id="1"), A], [U, C, R, A]),
        ([U, C, result("2"), R, A], [U, C, R, A]),
        ([U, C, result(None), A], [U, A]),
        ([U, C, R, C, R, A], [U, C, R, C, R, A]),
        ([], []),
    ],
)
def test_a_repaired_list_has_no_orphan(broken: list[ContextMessage], whole: list[ContextMessage]) -> None:
    assert repair(broken) == whole


@seeded
@given(any_messages)
def test_whatever_is_repaired_begins_with_a_question_and_ends_with_an_answer(messages: list[ContextMessage]) -> None:
    kept = talk(repair(messages))
    assert not kept or (kept[0].role == "user" and kept[-1].role in ("assistant", "tool"))


@seeded
@given(any_messages)
def test_whatever_is_repaired_has_every_call_directly_before_exactly_its_results(
    messages: list[ContextMessage],
) -> None:
    wanted: set[str | None] = set()
    for message in [*repair(messages), S]:
        if message.role == "tool":
            assert message.tool_call_id in wanted
            wanted.remove(message.tool_call_id)
        else:
            assert not wanted
            wanted = {one.id for one in message.tool_calls}


@seeded
@given(any_messages)
def test_repair_of_a_repaired_list_changes_nothing(messages: list[ContextMessage]) -> None:
    assert repair(repair(messages)) == repair(messages)


@seeded
@given(any_messages)
def test_repair_leaves_system_messages_and_the_order_alone(messages: list[ContextMessage]) -> None:
    repaired = repair(messages)
    places = iter(message.text for message in messages)
    assert all(message.text in places for message in repaired)
    assert [m for m in repaired if m.role in INSTRUCTIONS] == [m for m in messages if m.role in INSTRUCTIONS]


@seeded
@given(any_messages, any_window)
def test_the_limits_hold_after_cut_and_repair(messages: list[ContextMessage], limits: Window) -> None:
    kept = repair(window(messages, limits))
    if limits.max_history is not None:
        assert len(talk(kept)) <= max(limits.max_history, 0)
    if limits.max_rounds is not None and limits.max_rounds > 0:
        assert sum(message.role == "user" for message in kept) <= max(limits.max_rounds, 0)
    if limits.max_tokens is not None and talk(kept):
        assert sum(message_tokens(message) for message in kept) <= limits.max_tokens


@seeded
@given(any_messages, st.integers(0, 14))
def test_one_message_more_never_shows_less(messages: list[ContextMessage], n: int) -> None:
    fewer, more = (window(messages, Window(max_history=size)) for size in (n, n + 1))
    assert len(fewer) <= len(more)


def test_an_ordinary_talk_alternates_after_any_cut() -> None:
    for n in range(9):
        kept = repair(window([U, A] * 4, Window(max_history=n)))
        assert all(one.role != other.role for one, other in pairwise(kept))


def test_a_message_over_half_the_budget_is_shortened_in_the_middle_visibly() -> None:
    long = [ContextMessage("user", "a" * 400), ContextMessage("assistant", "b" * 200 + "c" * 200)]
    cut = window(long, Window(max_tokens=100))
    assert [message.role for message in cut] == ["user", "assistant"]
    assert cut[1].text.startswith("bbb")
    assert " […] " in cut[1].text
    assert cut[1].text.endswith("ccc")
    assert sum(message_tokens(message) for message in cut) <= 100


def said(role: Role, tokens: int, letter: str = "x", **more: Any) -> ContextMessage:
    return ContextMessage(role, letter * (tokens * 4), **more)


def cost(messages: list[ContextMessage]) -> int:
    return sum(message_tokens(message) for message in messages)


@pytest.mark.parametrize("budget", [8, 20, 31, 32, 60, 99])
@pytest.mark.parametrize(("asked", "answered"), [(50, 50), (10, 90), (90, 10), (4, 400), (400, 4)])
def test_the_newest_question_is_never_cut_from_its_answer(budget: int, asked: int, answered: int) -> None:
    round_ = [said("user", asked, "q"), said("assistant", answered, "a")]
    for before in ([], [U, A], [said("user", 3), said("assistant", 300)]):
        kept = window([*before, *round_], Window(max_tokens=budget))[-2:]
        assert [message.role for message in kept] == ["user", "assistant"]
        assert [message.text[0] for message in kept] == ["q", "a"]
        assert cost(kept) <= budget


def test_what_fits_of_question_and_answer_is_left_whole() -> None:
    short, long = said("user", 5, "q"), said("assistant", 90, "a")
    question, answer = window([short, long], Window(max_tokens=25))
    assert question == short
    assert message_tokens(answer) > 15


def test_tools_go_before_the_question_and_the_answer() -> None:
    call = ContextMessage("assistant", "", tool_calls=(ToolCall("1", "look_up"),))
    result = said("tool", 30, "r", tool_call_id="1")
    round_ = [said("user", 20, "q"), call, result, said("assistant", 20, "a")]
    assert window(round_, Window(max_tokens=100)) == round_
    for budget in (44, 60):
        kept = repair(window(round_, Window(max_tokens=budget)))
        assert [message.text[:1] for message in kept] == ["q", "a"], budget
        assert cost(kept) <= budget


def test_a_later_tool_stays_where_an_earlier_one_goes() -> None:
    calls = [ContextMessage("assistant", "", tool_calls=(ToolCall(str(n), "look_up"),)) for n in range(2)]
    results = [said("tool", 10, str(n), tool_call_id=str(n)) for n in range(2)]
    round_ = [U, calls[0], results[0], calls[1], results[1], A]
    kept = repair(window(round_, Window(max_tokens=20)))
    assert kept == [U, calls[1], results[1], A]


def test_an_instruction_in_the_newest_round_stays_in_its_place() -> None:
    kept = window([S, said("user", 90, "q"), S, said("assistant", 90, "a")], Window(max_tokens=22))
    assert [message.role for message in kept] == ["system", "user", "system", "assistant"]
    assert cost(kept) <= 22


def test_a_budget_in_which_nothing_of_both_can_be_said_holds_neither() -> None:
    assert window([said("user", 90), said("assistant", 90)], Window(max_tokens=4)) == []


@pytest.mark.parametrize("limits", [Window(max_history=2), Window(max_tokens=2), Window(max_history=3, max_tokens=2)])
def test_the_plain_cut_begins_with_no_tools_result(limits: Window) -> None:
    assert newest([U, C, R, A], limits)[0].role != "tool"
    assert newest([R, U, A], Window(max_history=3)) == [R, U, A], "as it was passed, nothing was cut"


def test_the_plain_cut_by_rounds_or_tokens_keeps_the_system_messages_before_it() -> None:
    assert newest([S, U, A, U, A], Window(max_rounds=1)) == [S, U, A]
    assert newest([S, U, A, U], Window(max_tokens=2)) == [S, U]


@pytest.mark.parametrize("budget", [0, 1, 4, 10, 30, 100])
def test_the_plain_cut_to_tokens_keeps_the_newest_question_though_nobody_answered_it(budget: int) -> None:
    question = said("user", 200, "q")
    for messages in ([question], [S, U, A, question], [S, question, C, said("tool", 90, "r", tool_call_id="1")]):
        kept = newest(messages, Window(max_tokens=budget))
        [shown] = [message for message in kept if message.role == "user"]
        assert shown.text.startswith("q") and SHORTENED in shown.text
        assert cost(kept) <= max(budget, 4 + cost([S]) + cost([ContextMessage("user", SHORTENED)]))
        assert [message for message in kept if message.role == "system"] == [one for one in messages if one == S]
    assert newest([U], Window(max_tokens=budget)) == [U]


def test_the_plain_cut_to_tokens_keeps_the_newest_question_too() -> None:
    kept = newest([U, A, said("user", 50, "q"), said("assistant", 50, "a")], Window(max_tokens=30))
    assert [message.text[0] for message in kept] == ["q", "a"]
    assert cost(kept) <= 30


@seeded
@given(any_messages, st.integers(12, 60))
def test_whatever_is_cut_to_tokens_holds_the_newest_question_that_was_answered(
    messages: list[ContextMessage], budget: int
) -> None:
    whole = repair(messages)
    asked = [message.text for message in whole if message.role == "user"]
    spoken = [message for message in whole if message.role not in INSTRUCTIONS]
    kept = repair(window(whole, Window(max_tokens=budget)))
    spare = budget - cost([message for message in whole if message.role in INSTRUCTIONS])
    if spoken and spoken[-1].role == "assistant" and spare >= 8:
        assert asked[-1] in [message.text for message in kept if message.role == "user"]


def test_a_message_within_half_the_budget_and_a_system_message_stay_as_they_are() -> None:
    whole = [ContextMessage("system", "s" * 900), ContextMessage("user", "a" * 200)]
    assert window(whole, Window(max_tokens=400)) == whole
