from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovos_persona_memory.conversation.exchanges import blocks_by_session
from ovos_persona_memory.conversation.history import history, messages, raw_history
from ovos_persona_memory.conversation.window import Window, newest, repair, window
from ovos_persona_memory.records import ContextMessage, ToolCall, Turn

NOW = 1_763_750_000.0
LOOK_UP = ToolCall("c1", "look_up", {"word": "cat"})
ANYTHING = Window()


def user(text: str, utterance_id: str | None = None, **more: object) -> Turn:
    return Turn("user", text, utterance_id=utterance_id, **more)  # type: ignore[arg-type]  # fields by name


def spoken(text: str, utterance_id: str | None = None, **more: object) -> Turn:
    return Turn("assistant", text, utterance_id=utterance_id, **more)  # type: ignore[arg-type]  # fields by name


def timer(text: str, utterance_id: str | None = None) -> Turn:
    return spoken(text, utterance_id, announcement=True)


def calling(text: str = "") -> Turn:
    return spoken(text, tool_calls=(LOOK_UP,), source="record")


def result(text: str = "a pet", call_id: str = "c1") -> Turn:
    return Turn("tool", text, source="record", tool_call_id=call_id, name="look_up")


def handed_in(batch: str, *turns: Turn) -> list[Turn]:
    return [replace(turn, source="record", batch=batch) for turn in turns]


def said(turns: list[Turn]) -> list[tuple[str, str]]:
    return brief(history(turns, ANYTHING, NOW))


def brief(listed: list[ContextMessage]) -> list[tuple[str, str]]:
    return [(message.role[0].upper(), message.text) for message in listed]


CASES = {
    "a reply to a question answers it and is answered under the first id": (
        [
            user("weather", "1"),
            spoken("city?", "1", expects_reply=True),
            user("Lisbon", "2"),
            spoken("sunny", "1"),
        ],
        [("U", "weather"), ("A", "city?"), ("U", "Lisbon"), ("A", "sunny")],
    ),
    "a timer joins the answer before it and not the utterance that set it": (
        [
            user("timer", "1"),
            spoken("set", "1"),
            user("joke", "2"),
            spoken("joke", "2"),
            timer("over", "1"),
        ],
        [("U", "timer"), ("A", "set"), ("U", "joke"), ("A", "joke\nover")],
    ),
    "answers find their questions by id": (
        [user("one", "1"), user("two", "2"), spoken("A", "1"), spoken("B", "2")],
        [("U", "one"), ("A", "A"), ("U", "two"), ("A", "B")],
    ),
    "without ids all answers go to the newest question": (
        [user("one"), user("two"), spoken("A"), spoken("B")],
        [("U", "two"), ("A", "A\nB")],
    ),
    "a late part of an answer joins it and the silent stop hangs": (
        [user("story", "1"), spoken("once", "1"), user("stop", "2"), spoken("upon", "1")],
        [("U", "story"), ("A", "once\nupon")],
    ),
    "an announcement joins the answer before it and an unanswered question hangs": (
        [user("hello", "1"), spoken("hi", "1"), timer("post"), user("bye", "2")],
        [("U", "hello"), ("A", "hi\npost")],
    ),
    "an announcement does not answer the question after it": (
        [user("hello", "1"), spoken("hi", "1"), timer("post"), user("bye", "2"), spoken("ciao", "2")],
        [("U", "hello"), ("A", "hi\npost"), ("U", "bye"), ("A", "ciao")],
    ),
    "an announcement with nothing before it is left out": (
        [timer("post"), user("hello", "1"), spoken("hi", "1")],
        [("U", "hello"), ("A", "hi")],
    ),
    "an utterance that nothing answered hangs": (
        [user("lights on", "1"), user("thanks", "2"), spoken("welcome", "2")],
        [("U", "thanks"), ("A", "welcome")],
    ),
    "the same question and answer twice are both there": (
        [user("time", "1"), spoken("noon", "1"), user("time", "2"), spoken("noon", "2")],
        [("U", "time"), ("A", "noon"), ("U", "time"), ("A", "noon")],
    ),
}


@pytest.mark.parametrize(("turns", "expected"), CASES.values(), ids=list(CASES))
def test_the_table_of_the_rules_of_history(turns: list[Turn], expected: list[tuple[str, str]]) -> None:
    assert said(turns) == expected


# who answers whom


def test_a_reply_can_be_asked_again_under_the_first_id() -> None:
    turns = [
        user("alarm", "1"),
        spoken("when?", "1", expects_reply=True),
        user("at eight", "2"),
        spoken("which day?", "1", expects_reply=True),
        user("Monday", "3"),
        spoken("set", "1"),
    ]
    assert said(turns) == [
        ("U", "alarm"),
        ("A", "when?"),
        ("U", "at eight"),
        ("A", "which day?"),
        ("U", "Monday"),
        ("A", "set"),
    ]


def test_only_the_first_user_turn_after_the_asking_one_is_the_reply() -> None:
    turns = [
        user("one", "1"),
        user("two", "2"),
        spoken("city?", "1", expects_reply=True),
        user("Lisbon", "3"),
        user("four", "4"),
        spoken("sunny", "1"),
        spoken("fine", "4"),
    ]
    assert said(turns) == [
        ("U", "one"),
        ("A", "city?"),
        ("U", "Lisbon"),
        ("A", "sunny"),
        ("U", "four"),
        ("A", "fine"),
    ]


def test_a_reply_that_nothing_answered_hangs() -> None:
    turns = [user("weather", "1"), spoken("city?", "1", expects_reply=True), user("never mind", "2")]
    assert said(turns) == [("U", "weather"), ("A", "city?")]


def test_a_reply_is_also_answered_under_its_own_id() -> None:
    turns = [
        user("weather", "1"),
        spoken("city?", "1", expects_reply=True),
        user("Lisbon", "2"),
        spoken("a moment", "2"),
        spoken("sunny", "1"),
    ]
    assert said(turns)[2:] == [("U", "Lisbon"), ("A", "a moment\nsunny")]


def test_speech_with_an_id_that_no_user_turn_holds_is_an_announcement() -> None:
    assert said([user("hello", "1"), spoken("hi", "1"), user("bye", "2"), spoken("post", "9")]) == [
        ("U", "hello"),
        ("A", "hi\npost"),
    ]


def test_speech_without_an_id_answers_a_question_of_the_last_five_minutes() -> None:
    turns = [user("hello", at=NOW), spoken("hi", at=NOW), user("story", at=NOW), spoken("long", at=NOW + 300)]
    assert said(turns)[2:] == [("U", "story"), ("A", "long")]


def test_speech_without_an_id_later_than_five_minutes_is_an_announcement() -> None:
    turns = [user("hello", at=NOW), spoken("hi", at=NOW), user("story", at=NOW), spoken("post", at=NOW + 301)]
    assert said(turns) == [("U", "hello"), ("A", "hi\npost")]


def test_an_answer_handed_in_belongs_to_the_turn_before_it_however_late() -> None:
    turns = [user("hello", at=NOW, source="record"), spoken("hi", at=NOW + 9_000, source="record")]
    assert said(turns) == [("U", "hello"), ("A", "hi")]


def test_an_announcement_during_a_question_joins_the_answer_heard_before() -> None:
    turns = [user("one", "1"), spoken("A", "1"), user("two", "2"), timer("over"), spoken("B", "2")]
    assert said(turns) == [("U", "one"), ("A", "A\nover"), ("U", "two"), ("A", "B")]


def test_an_announcement_skips_a_hanging_turn_and_what_was_taken_out() -> None:
    turns = [
        user("one", "1"),
        spoken("A", "1"),
        user("", "2", redacted=True),
        spoken("forgotten", "2"),
        user("lights on", "3"),
        timer("over"),
    ]
    assert said(turns) == [("U", "one"), ("A", "A\nover")]


@pytest.mark.parametrize("left_out", [{"machine": True}, {"redacted": True}, {"text": " "}])
def test_speech_that_takes_no_part_answers_nothing(left_out: dict[str, object]) -> None:
    turns = [user("what", "1"), replace(spoken("I do not understand", "1"), **left_out)]  # type: ignore[arg-type]  # fields by name
    assert said(turns) == []


def test_a_question_whose_words_were_taken_out_still_leads_to_its_reply() -> None:
    turns = [
        user("forget it all", "1"),
        spoken("", "1", redacted=True, expects_reply=True),
        user("yes", "2"),
        spoken("done", "1"),
    ]
    assert said(turns) == [("U", "yes"), ("A", "done")]


def test_a_turn_whose_words_were_taken_out_goes_with_its_answer() -> None:
    turns = [user("hello", "1"), spoken("hi", "1"), user("", "2", redacted=True), spoken("forgotten", "2")]
    assert said(turns) == [("U", "hello"), ("A", "hi")]


def test_out_of_band_questions_are_no_part_of_the_history() -> None:
    assert said([user("hello", source="query"), spoken("hi", source="query")]) == []


def test_no_turns_make_an_empty_history() -> None:
    assert said([]) == []


# tools and instructions


def test_a_call_and_its_result_stay_messages_of_their_own() -> None:
    turns = [user("cat", "1"), calling("let me see"), result(), spoken("a pet", "1")]
    assert said(turns) == [("U", "cat"), ("A", "let me see"), ("T", "a pet"), ("A", "a pet")]
    assert history(turns, ANYTHING, NOW)[1].tool_calls == (LOOK_UP,)


def test_speech_between_a_call_and_its_result_comes_after_them() -> None:
    turns = [user("cat", "1"), calling(), spoken("a moment", "1"), result(), spoken("a pet", "1")]
    assert said(turns) == [("U", "cat"), ("A", ""), ("T", "a pet"), ("A", "a moment\na pet")]


def test_an_announcement_does_not_come_between_a_call_and_its_result() -> None:
    turns = [user("hi", "1"), spoken("hello", "1"), user("cat", "2"), calling(), timer("over"), result()]
    assert said(turns) == [("U", "hi"), ("A", "hello\nover"), ("U", "cat"), ("A", ""), ("T", "a pet")]


def test_an_announcement_joins_no_message_that_calls_a_tool() -> None:
    turns = [user("cat", "1"), spoken("one moment", "1"), calling(), result(), timer("over")]
    assert said(turns) == [("U", "cat"), ("A", "one moment\nover"), ("A", ""), ("T", "a pet")]


def test_a_result_finds_its_call_after_the_next_question() -> None:
    turns = [user("cat", "1"), calling(), user("dog", "2"), result(), spoken("a pet", "1"), spoken("too", "2")]
    assert said(turns) == [("U", "cat"), ("A", ""), ("T", "a pet"), ("A", "a pet"), ("U", "dog"), ("A", "too")]


def test_the_results_of_one_message_keep_their_order() -> None:
    both = replace(calling(), tool_calls=(LOOK_UP, replace(LOOK_UP, id="c2")))
    turns = [user("cat", "1"), both, spoken("a moment", "1"), result("one"), result("two", "c2")]
    assert said(turns) == [("U", "cat"), ("A", ""), ("T", "one"), ("T", "two"), ("A", "a moment")]


def test_a_call_that_answers_nobody_is_left_out() -> None:
    turns = [user("cat", "1"), spoken("a pet", "1"), replace(calling("see"), utterance_id="9"), result()]
    assert said(turns) == [("U", "cat"), ("A", "a pet")]


def test_a_result_without_its_call_is_left_out() -> None:
    assert said([user("cat"), spoken("a pet"), result(call_id="c2")]) == [("U", "cat"), ("A", "a pet")]


def test_an_instruction_keeps_its_place() -> None:
    turns = [Turn("system", "first"), user("cat"), Turn("system", "brief"), spoken("a pet")]
    assert said(turns) == [("S", "first"), ("U", "cat"), ("S", "brief"), ("A", "a pet")]


def test_an_instruction_stays_where_the_turn_before_it_hangs() -> None:
    assert said([user("cat", "1"), Turn("system", "brief"), user("dog", "2"), spoken("a pet", "2")]) == [
        ("S", "brief"),
        ("U", "dog"),
        ("A", "a pet"),
    ]


# batches


def test_a_batch_is_kept_as_it_was_passed() -> None:
    turns = handed_in("b", user("one"), user("two"), spoken("A"), spoken("B"))
    assert said(turns) == [("U", "one"), ("U", "two"), ("A", "A"), ("A", "B")]


def test_a_question_that_ends_a_batch_goes_when_a_heard_exchange_follows() -> None:
    turns = [*handed_in("b", user("one"), spoken("A"), user("two")), user("three", "3"), spoken("C", "3")]
    assert said(turns) == [("U", "one"), ("A", "A"), ("U", "three"), ("A", "C")]


def test_an_answer_that_begins_a_batch_joins_the_answer_before_it() -> None:
    turns = [user("one", "1"), spoken("A", "1"), *handed_in("b", spoken("B"), user("two"), spoken("C"))]
    assert said(turns) == [("U", "one"), ("A", "A\nB"), ("U", "two"), ("A", "C")]


def test_batches_of_one_utterance_join_like_any_others() -> None:
    turns = [*handed_in("b", user("one", "1"), spoken("A", "1")), *handed_in("c", spoken("B", "1"), spoken("C", "1"))]
    assert said(turns) == [("U", "one"), ("A", "A\nB"), ("A", "C")]


def test_the_seam_between_batches_loses_no_tool_call() -> None:
    turns = [*handed_in("b", user("cat"), spoken("see")), *handed_in("c", calling("look"), result())]
    assert said(turns) == [("U", "cat"), ("A", "see"), ("A", "look"), ("T", "a pet")]


def test_a_turn_whose_words_were_taken_out_goes_with_its_answer_from_a_batch() -> None:
    turns = handed_in("b", user("one"), spoken("A"), user("", redacted=True), spoken("gone"), user("two"), spoken("B"))
    assert said(turns) == [("U", "one"), ("A", "A"), ("U", "two"), ("A", "B")]


def test_speech_after_a_batch_answers_no_older_turn() -> None:
    turns = [user("one"), *handed_in("b", user("one!"), spoken("A")), spoken("post")]
    assert said(turns) == [("U", "one!"), ("A", "A\npost")]


def test_an_answer_handed_in_alone_answers_the_turn_heard_under_its_id() -> None:
    heard = [user("hi", "1"), spoken("hello", "1"), user("cat", "2")]
    assert said([*heard, *handed_in("b", spoken("a pet", "2"))])[2:] == [("U", "cat"), ("A", "a pet")]


def test_an_answer_with_tool_calls_handed_in_alone_stays_together() -> None:
    call, found, answer = handed_in("b", replace(calling(), utterance_id="1"), result(), spoken("a pet", "1"))
    turns = [user("cat", "1"), call, user("dog", "2"), spoken("too", "2"), found, answer]
    assert said(turns) == [("U", "cat"), ("A", ""), ("T", "a pet"), ("A", "a pet"), ("U", "dog"), ("A", "too")]


def test_a_batch_that_holds_its_question_takes_the_place_of_the_turn_heard() -> None:
    turns = [user("ask Alice about cats", "1"), *handed_in("b", user("cats", "1"), spoken("a pet", "1"))]
    assert said(turns) == [("U", "cats"), ("A", "a pet")]
    asked, answer = handed_in("b", user("cats"), spoken("a pet", "1"))
    assert said([user("ask Alice about cats", "1"), asked, answer]) == [("U", "cats"), ("A", "a pet")]


def test_speech_answers_the_question_that_ends_a_batch() -> None:
    turns = [*handed_in("b", user("one"), spoken("A"), user("two")), spoken("B")]
    assert said(turns) == [("U", "one"), ("A", "A"), ("U", "two"), ("A", "B")]


def test_speech_with_the_id_of_a_batch_joins_its_answer() -> None:
    turns = [user("one", "1"), *handed_in("b", user("one!", "1"), spoken("A", "1")), user("stop"), spoken("B", "1")]
    assert said(turns) == [("U", "one!"), ("A", "A\nB")]


def test_an_announcement_after_a_batch_that_ends_with_a_question_joins_the_answer_in_it() -> None:
    turns = [*handed_in("b", user("one"), spoken("A"), user("two")), timer("over")]
    assert brief(raw_history(turns, ANYTHING, NOW)) == [("U", "one"), ("A", "A\nover"), ("U", "two")]


# limits


def test_an_exchange_is_as_old_as_its_newest_turn() -> None:
    turns = [user("one", "1", at=NOW - 200), spoken("A", "1", at=NOW - 101), user("two", "2", at=NOW - 101)]
    late = spoken("B", "2", at=NOW - 100)
    assert brief(history([*turns, late], Window(max_age_s=100), NOW)) == [("U", "two"), ("A", "B")]


def test_an_announcement_makes_an_old_exchange_no_newer() -> None:
    turns = [user("one", "1", at=NOW - 200), spoken("A", "1", at=NOW - 200), replace(timer("over"), at=NOW)]
    assert history(turns, Window(max_age_s=100), NOW) == []


def test_turns_without_a_time_are_of_any_age() -> None:
    assert len(history([user("one"), spoken("A")], Window(max_age_s=100), NOW)) == 2


def test_a_cut_leaves_no_answer_without_its_question() -> None:
    turns = [user("one", "1"), spoken("A", "1"), user("two", "2"), spoken("B", "2")]
    assert brief(history(turns, Window(max_history=3), NOW)) == [("U", "two"), ("A", "B")]


def test_the_raw_history_is_cut_off_plainly_and_keeps_the_question_that_ends_a_batch() -> None:
    turns = handed_in("b", user("one"), spoken("A"), user("two"))
    assert brief(raw_history(turns, Window(max_history=2), NOW)) == [("A", "A"), ("U", "two")]


def test_the_raw_history_ends_with_the_last_question_where_nobody_answered_it() -> None:
    turns = [*handed_in("b", user("one"), spoken("A")), user("two", "2"), user("three", "3")]
    assert brief(raw_history(turns, ANYTHING, NOW)) == [("U", "one"), ("A", "A"), ("U", "three")]
    assert brief(raw_history(turns, Window(max_history=1), NOW)) == [("U", "three")]
    assert brief(raw_history([*turns, spoken("B", "3")], ANYTHING, NOW))[2:] == [("U", "three"), ("A", "B")]
    assert brief(history(turns, ANYTHING, NOW)) == [("U", "one"), ("A", "A")]


def test_a_lone_question_is_all_of_a_raw_history_and_none_of_it_without_its_words() -> None:
    assert brief(raw_history([user("one", "1")], ANYTHING, NOW)) == [("U", "one")]
    assert raw_history([user("", "1", redacted=True)], ANYTHING, NOW) == []


def test_in_the_raw_history_of_several_sessions_each_stays_as_it_ends() -> None:
    here, there = ({"session_id": name} for name in ("s1", "s2"))
    turns = [user("a", **here), user("b", **there), user("c", **here), spoken("to c", **here), user("d", **here)]
    assert brief(raw_history(turns, ANYTHING, NOW, blocks_by_session)) == [
        ("U", "b"),
        ("U", "c"),
        ("A", "to c"),
        ("U", "d"),
    ], "b ends its session, a does not"
    assert brief(raw_history(turns, Window(max_history=2), NOW, blocks_by_session)) == [("A", "to c"), ("U", "d")]
    assert brief(raw_history(turns[:3], ANYTHING, NOW, blocks_by_session)) == [("U", "b"), ("U", "c")]


def test_the_blocks_of_several_sessions_stand_in_the_order_in_which_they_began() -> None:
    here, there = ({"session_id": name} for name in ("s1", "s2"))
    turns = [user("a", **here), user("b", **there), spoken("to a", **here), spoken("to b", **there)]
    assert brief(history(turns, ANYTHING, NOW, blocks_by_session)) == [
        ("U", "a"),
        ("A", "to a"),
        ("U", "b"),
        ("A", "to b"),
    ]
    assert brief(history(turns, ANYTHING, NOW)) == [("U", "b"), ("A", "to a\nto b")]


def test_messages_are_the_whole_history() -> None:
    turns = [turn for i in range(20) for turn in (user(f"q{i}"), spoken(f"a{i}"))]
    assert len(messages(turns)) == 40


# only the newest blocks are looked at

roles = st.sampled_from(["user", "assistant", "system", "tool"])
names = st.one_of(st.none(), st.sampled_from(["1", "2"]))
calls = st.sampled_from([(), (), (LOOK_UP,)])
any_turn = st.builds(
    Turn,
    roles,
    st.sampled_from(["a", "b", ""]),
    at=st.sampled_from([None, NOW - 500.0, NOW - 400.0, NOW]),
    utterance_id=names,
    batch=names,
    source=st.sampled_from(["heard", "record", "query"]),
    expects_reply=st.booleans(),
    announcement=st.booleans(),
    redacted=st.sampled_from([False, False, True]),
    tool_calls=calls,
    tool_call_id=st.sampled_from([None, "c1"]),
)
numbers = st.one_of(st.none(), st.integers(-1, 8))
limits = st.builds(Window, max_history=numbers, max_rounds=numbers, max_tokens=numbers, max_age_s=st.just(450.0))


@settings(derandomize=True, deadline=None, max_examples=400)
@given(st.lists(any_turn, max_size=16), limits)
def test_a_history_is_what_the_limits_leave_of_all_messages(turns: list[Turn], limits: Window) -> None:
    assert history(turns, limits, NOW) == repair(window(messages(turns, NOW - 450.0), limits))
    assert raw_history(turns, limits, NOW) == newest(messages(turns, NOW - 450.0, hanging=True), limits)
