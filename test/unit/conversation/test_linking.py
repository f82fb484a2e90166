from __future__ import annotations

from dataclasses import replace

import pytest

from ovos_persona_memory.conversation.linking import (
    already_recorded,
    claimant,
    heard_answer,
    heard_question,
    recorded_before,
)
from ovos_persona_memory.records import Turn

NOW = 1_763_750_000.0


def user(text: str, utterance_id: str | None = None, at: float = NOW, **more: object) -> Turn:
    return Turn("user", text, at=at, utterance_id=utterance_id, **more)  # type: ignore[arg-type]  # fields by name


def spoken(text: str, utterance_id: str | None = None, at: float = NOW, **more: object) -> Turn:
    return Turn("assistant", text, at=at, utterance_id=utterance_id, **more)  # type: ignore[arg-type]  # fields by name


def record(question: str, answer: str, utterance_id: str | None = None, at: float = NOW) -> list[Turn]:
    turns = [user(question, utterance_id, at), spoken(answer, utterance_id, at)]
    return [replace(turn, id=f"{answer}-{turn.role}", source="record", batch="b") for turn in turns]


# who takes a new id


def test_the_user_turn_takes_the_first_new_id_seen_after_it() -> None:
    one, two = user("one"), user("two")
    assert claimant([one, two], "1") is one
    assert claimant([replace(one, utterance_id="1"), two, spoken("A", "1")], "2") is two


def test_an_id_that_a_user_turn_holds_goes_to_nobody_else() -> None:
    assert claimant([user("one", "1"), user("two")], "1") is None


def test_nobody_takes_an_id_where_every_user_turn_has_one() -> None:
    assert claimant([user("one", "1"), spoken("A")], "2") is None
    assert claimant([], "2") is None


def test_what_was_matched_decides_between_two_turns() -> None:
    one, two = user("Turn on the light!"), user("What's the weather?")
    assert claimant([one, two], "2", "whats the  WEATHER") is two


def test_of_two_turns_in_the_same_words_the_older_takes_the_id() -> None:
    one, two = user("time"), user("time")
    assert claimant([one, two], "1", "time") is one


def test_a_turn_skipped_by_a_later_one_takes_an_id_by_its_text() -> None:
    one = user("one")
    assert claimant([one, user("two", "2"), user("three")], "1", "one") is one


def test_without_its_text_the_oldest_turn_after_the_last_known_one_takes_the_id() -> None:
    three = user("three")
    assert claimant([user("one"), user("two", "2"), three, user("four")], "3", "rewritten") is three


def test_a_skipped_turn_takes_an_id_when_no_later_one_waits() -> None:
    one = user("one")
    assert claimant([one, user("two", "2")], "1") is one


def test_a_turn_of_two_minutes_ago_still_takes_an_id_and_an_older_one_none() -> None:
    old = user("one", at=NOW - 120)
    assert claimant([old, spoken("A")], "1", "one") is old
    assert claimant([replace(old, at=NOW - 121), spoken("A")], "1", "one") is None


def test_only_what_was_heard_takes_an_id() -> None:
    assert claimant([*record("one", "A"), user("one", source="query")], "1", "one") is None


def test_an_empty_text_is_like_no_other() -> None:
    one = user("time")
    assert claimant([one, user("", redacted=True), user("?")], "1", "!") is one
    assert claimant([one, user("", redacted=True)], "1") is one


# the record after what was heard


def test_a_record_stands_for_what_was_heard_under_its_id() -> None:
    heard = [user("ask Alice about cats", "1"), spoken("Cats purr.", "1"), spoken("They do.", "1")]
    others = [user("time", "2"), spoken("noon", "2")]
    assert heard_answer([*heard, *others], record("cats", "Rewritten."), "1", NOW) == heard


def test_a_record_without_an_id_stands_for_the_sentences_that_make_it_up() -> None:
    heard = [user("ask Alice about cats", "1"), spoken("Cats  purr.", "1"), spoken("They do.", "1")]
    assert heard_answer(heard, record("cats", "Cats purr. They do."), None, NOW) == heard


def test_an_id_finds_the_user_turn_behind_a_later_one() -> None:
    one, two, answer = user("one", "1"), user("two", "2"), spoken("A", "1")
    assert heard_answer([one, two, answer], record("one", "A"), "1", NOW) == [one, answer]


def test_the_sentences_are_found_beside_other_speech() -> None:
    heard = [user("cats"), spoken("One moment."), spoken("Cats purr."), spoken("They do."), spoken("Bye.")]
    assert heard_answer(heard, record("cats", "Cats purr. They do."), None, NOW) == [heard[0], *heard[2:4]]


def test_an_announcement_and_machine_talk_are_no_sentence_of_an_answer() -> None:
    heard = [user("cats"), spoken("Cats purr."), spoken("Post!", announcement=True), spoken("Error.", machine=True)]
    end = spoken("They do.")
    assert heard_answer([*heard, end], record("cats", "Cats purr. They do."), None, NOW) == [*heard[:2], end]


@pytest.mark.parametrize(
    "answer", ["Cats purr.", "They do.", "Cats purr. They do. Yes.", "No. Cats purr. They do.", ""]
)
def test_a_record_of_other_words_was_not_heard(answer: str) -> None:
    heard = [user("cats"), spoken("Cats purr. They"), spoken("do.")]
    assert heard_answer(heard, record("cats", answer), None, NOW) == []


def test_of_two_answers_in_the_same_words_the_newest_not_yet_linked_is_meant() -> None:
    one, two = [user("time"), spoken("noon")], [user("time", at=NOW + 1), spoken("noon", at=NOW + 1)]
    assert heard_answer([*one, *two], record("time", "noon"), None, NOW) == two
    linked = [replace(turn, linked=True) for turn in two]
    assert heard_answer([*one, *linked], record("time", "noon"), None, NOW) == one


def test_speech_under_another_id_is_not_meant_whatever_its_words() -> None:
    assert heard_answer([user("time", "1"), spoken("noon", "1")], record("time", "noon"), "2", NOW) == []


def test_an_answer_counts_by_its_words_for_thirty_seconds() -> None:
    heard = [user("time", at=NOW - 30), spoken("noon", at=NOW - 30)]
    assert heard_answer(heard, record("time", "noon"), None, NOW) == heard
    assert heard_answer(heard, record("time", "noon"), None, NOW + 1) == []


def test_a_user_turn_alone_is_no_answer() -> None:
    assert heard_answer([user("time", "1")], record("time", "noon"), "1", NOW) == []


def test_a_user_turn_linked_before_is_not_linked_again() -> None:
    asked, answer = user("time", "1", linked=True), spoken("noon", "1")
    assert heard_answer([asked, answer], record("time", "noon"), "1", NOW) == [answer]


def test_an_out_of_band_answer_is_not_what_a_persona_recorded() -> None:
    assert heard_answer([spoken("noon", source="query")], record("time", "noon"), None, NOW) == []


# what was heard after the record


def swallowed(turns: list[Turn], speech: list[Turn]) -> list[Turn]:
    """The pieces of speech that are taken for a part of a record, one after the other."""
    heard: dict[str, str] = {}
    parts = []
    for piece in speech:
        found = already_recorded(turns, piece, NOW, heard=heard)
        if found:
            parts.append(piece)
            heard[found.id] = heard.get(found.id, "") + piece.text
    return parts


@pytest.mark.parametrize("utterance_id", [None, "1"])
def test_the_sentences_of_a_recorded_answer_are_no_news(utterance_id: str | None) -> None:
    turns = [user("cats", utterance_id), *record("cats", "Yes. Cats  purr. Yes.", utterance_id)]
    speech = [spoken(text, utterance_id) for text in ("Yes.", "Cats purr.", "Yes.")]
    assert swallowed(turns, speech) == speech


@pytest.mark.parametrize("utterance_id", [None, "1"])
def test_a_sentence_said_once_more_is_news(utterance_id: str | None) -> None:
    turns = record("cats", "Yes. They purr.", utterance_id)
    speech = [spoken(text, utterance_id) for text in ("Yes.", "They purr.", "Yes.")]
    assert swallowed(turns, speech) == speech[:2]


def test_the_same_answer_to_a_later_question_is_news() -> None:
    turns = [user("time"), *record("time", "noon"), user("and now")]
    assert already_recorded(turns, spoken("noon"), NOW) is None


def test_the_same_answer_under_another_id_is_news() -> None:
    assert already_recorded(record("time", "noon", "1"), spoken("noon", "2"), NOW) is None


def test_an_id_tells_a_late_answer_from_that_to_a_later_question() -> None:
    turns = [user("time", "1"), *record("time", "noon", "1"), user("and now", "2")]
    assert already_recorded(turns, spoken("noon", "1"), NOW) is turns[2]


def test_an_id_lets_a_sentence_be_missed() -> None:
    turns = record("cats", "Yes. They purr.", "1")
    assert already_recorded(turns, spoken("They purr.", "1"), NOW) is turns[1]


def test_other_words_under_the_same_id_are_news() -> None:
    assert already_recorded(record("time", "noon", "1"), spoken("One moment.", "1"), NOW) is None


def test_without_an_id_a_word_from_the_middle_is_news() -> None:
    assert already_recorded(record("time", "It is noon"), spoken("is"), NOW) is None


def test_speech_without_words_is_part_of_nothing() -> None:
    assert already_recorded(record("time", "noon", "1"), spoken(" ", "1"), NOW) is None


def test_a_record_waits_thirty_seconds_for_its_speech() -> None:
    turns = record("time", "noon", at=NOW - 30)
    assert already_recorded(turns, spoken("noon"), NOW) is turns[1]
    assert already_recorded(turns, spoken("noon"), NOW + 1) is None


def test_a_linked_record_waits_for_nothing() -> None:
    turns = [replace(turn, linked=True) for turn in record("time", "noon", "1")]
    assert already_recorded(turns, spoken("noon", "1"), NOW) is None


def test_what_was_handed_in_outside_a_batch_waits_for_nothing() -> None:
    assert already_recorded([spoken("noon", source="record")], spoken("noon"), NOW) is None


# what is recorded without an answer, or twice


def test_a_record_without_an_answer_is_the_newest_question_of_its_words() -> None:
    old, new = user("What now?", at=NOW - 1), user("what now")
    assert heard_question([old, new], [user("what now", source="record")], NOW) == [new]
    for turns, given in (
        ([new, user("and then")], [user("what now")]),
        ([replace(new, linked=True)], [user("what now")]),
        ([new], [user("what then")]),
        ([new], [user("what now", "u1")]),
        ([new], record("what now", "this")),
        ([replace(new, at=NOW - 60)], [user("what now")]),
    ):
        assert heard_question(turns, given, NOW) == []


def test_a_second_record_of_an_answer_finds_the_first_by_its_utterance() -> None:
    first = record("what now", "this.\nthat.", "u1")
    assert recorded_before(first, record("what now", "this. that.", "u1"), "u1") == first
    assert recorded_before(first, record("what now", "something else", "u1"), "u1") == []
    assert recorded_before(first, record("what now", "this. that.", "u2"), "u2") == []
    assert recorded_before(record("what now", "this."), record("what now", "this."), None) == []
