"""The order of candidates for one question, and whether it was talked about."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import pytest

from ovos_persona_memory.search.query import AnalysedQuery
from ovos_persona_memory.search.ranking import (
    BY_PERSON,
    COVER,
    DAYS_AFTER,
    DECAY,
    HELD,
    IN_SESSION,
    NEAR_S,
    ON_DATE,
    SHORT,
    WITH_TIME,
    RankedCandidate,
    RankingCandidate,
    is_known,
    rank,
)
from ovos_persona_memory.stores.base.store import Statistics
from ovos_persona_memory.text.time_expressions import DaySpan

WORDS = ["cat", "dog", "boat", "lamp", "soap", "milk", "tree", "rain"]
KNOWN = Statistics(documents=1000, mean_length=10.0, frequency=dict.fromkeys(WORDS, 10))
"""Every word of a question is as rare as the other."""
BARE = AnalysedQuery(("cat", "dog"), of_assistant=True)
"""Nothing but words counts."""


def turn(
    doc: int, *words: str, by_user: bool = True, session: str = "s", speaker: str | None = None
) -> RankingCandidate:
    """A turn of ten words that stands alone; ten minutes after the one before it."""
    times = {word: words.count(word) for word in words}
    return RankingCandidate(doc, times, 10, at=doc * 600.0, session=session, by_user=by_user, speaker=speaker)


def told(*turns: RankingCandidate) -> list[RankingCandidate]:
    """Turns one after the other, each linked with the next."""
    docs: list[int | None] = [None, *(one.doc for one in turns), None]
    return [replace(one, before=docs[n], after=docs[n + 2]) for n, one in enumerate(turns)]


def scores(
    candidates: Sequence[RankingCandidate], asked: AnalysedQuery = BARE, known: Statistics = KNOWN
) -> dict[int, float]:
    return {one.candidate.doc: one.score for one in rank(candidates, asked, known)}


def order(candidates: Sequence[RankingCandidate], asked: AnalysedQuery = BARE, known: Statistics = KNOWN) -> list[int]:
    return [one.candidate.doc for one in rank(candidates, asked, known)]


def mixed(share: float, of_session: float = 1.0) -> float:
    """The score of a turn with these shares of the best words and of the best session, beside one with all."""
    return (share + IN_SESSION * of_session) / (1 + IN_SESSION)


# words


def test_the_turn_with_more_of_the_words_comes_first() -> None:
    assert order([turn(1, "cat", "dog"), turn(2, "cat"), turn(3)]) == [1, 2, 3]


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    known = replace(KNOWN, frequency={"cat": 2, "dog": 500})
    assert order([turn(1, "cat"), turn(2, "dog")], known=known) == [1, 2]


def test_a_word_said_again_adds_less_than_another_word() -> None:
    assert order([turn(1, "cat", "dog"), turn(2, "cat", "cat", "cat")]) == [1, 2]


def test_a_word_said_again_adds_something() -> None:
    assert order([turn(1, "cat", "cat"), turn(2, "cat")]) == [1, 2]


def test_a_short_turn_comes_before_a_long_one_with_the_same_words() -> None:
    assert order([turn(1, "cat"), replace(turn(2, "cat"), length=40)]) == [1, 2]


def test_equal_turns_come_newer_first() -> None:
    assert order([turn(2, "cat"), turn(3, "cat"), turn(1, "cat")]) == [3, 2, 1]


def test_without_a_word_found_every_score_is_naught() -> None:
    assert scores([turn(1), turn(2)]) == {1: 0.0, 2: 0.0}


def test_a_question_without_words_ranks_by_the_rest_and_covers_nothing() -> None:
    ranked = rank([turn(1), turn(2, by_user=False)], AnalysedQuery(()), KNOWN)
    assert [(one.score, one.cover_near) for one in ranked] == [(BY_PERSON, 0.0), (0.0, 0.0)]


def test_of_nothing_comes_nothing() -> None:
    assert rank([], BARE, Statistics(0, 0.0, {})) == []


def test_the_order_in_which_candidates_are_handed_in_changes_nothing() -> None:
    chance = random.Random(7)
    turns = [turn(doc, *chance.choices(WORDS, k=chance.randrange(4)), session=f"{doc // 8}") for doc in range(40)]
    candidates = [one for n in range(0, 40, 8) for one in told(*turns[n : n + 8])]
    asked = AnalysedQuery(tuple(WORDS))
    straight = rank(candidates, asked, KNOWN)
    chance.shuffle(candidates)
    mixed_up = rank(candidates, asked, KNOWN)
    assert [one.candidate.doc for one in mixed_up] == [one.candidate.doc for one in straight]
    assert [one.score for one in mixed_up] == pytest.approx([one.score for one in straight])


# the talk around a turn


def test_a_neighbour_with_the_other_words_lifts_more_than_one_that_repeats_the_same() -> None:
    other = told(turn(1, "cat"), turn(2, "dog"))
    same = told(turn(11, "cat"), turn(12, "cat"))
    assert order([*other, *same])[:2] == [2, 1]


def test_a_word_counts_once_as_the_root_of_the_sum_of_squares() -> None:
    pair, alone = told(turn(1, "cat"), turn(2, "cat")), turn(11, "cat")
    assert scores([*pair, alone])[11] == pytest.approx(mixed(1 / math.sqrt(1 + DECAY[1] ** 2)))


@pytest.mark.parametrize("step", [-2, -1, 1, 2])
def test_a_word_is_worth_less_the_further_away_it_was_said(step: int) -> None:
    talk = told(*(turn(doc, *(["cat"] if doc == 3 else [])) for doc in range(1, 6)))
    assert scores(talk)[3 - step] == pytest.approx(mixed(DECAY[step]))


def test_three_turns_away_is_no_neighbour() -> None:
    talk = told(turn(1, "cat"), turn(2), turn(3), turn(4))
    assert scores(talk)[4] == pytest.approx(mixed(0))


def test_a_turn_of_another_session_is_no_neighbour_however_near() -> None:
    assert scores([turn(1, "cat"), turn(2, session="t")])[2] == 0.0


@pytest.mark.parametrize(("later_s", "share"), [(NEAR_S, DECAY[-1]), (NEAR_S + 1, 0.0)])
def test_a_neighbour_was_told_within_thirty_minutes(later_s: float, share: float) -> None:
    talk = told(turn(1, "cat"), replace(turn(2), at=600.0 + later_s))
    assert scores(talk)[2] == pytest.approx(mixed(share))


def test_thirty_minutes_are_half_an_hour() -> None:
    assert NEAR_S == 30 * 60


def test_a_pause_ends_the_talk_for_what_stands_behind_it() -> None:
    first, second, third = told(turn(1, "cat"), replace(turn(2), at=9000.0), turn(3))
    assert scores([first, second, third])[3] == pytest.approx(mixed(0))


def test_a_neighbour_that_was_not_fetched_is_none() -> None:
    assert scores([replace(turn(1, "cat"), after=2), replace(turn(5), before=4)])[5] == pytest.approx(mixed(0))


def test_a_neighbour_without_a_time_is_one() -> None:
    talk = told(turn(1, "cat"), replace(turn(2), at=None))
    assert scores(talk)[2] == pytest.approx(mixed(DECAY[-1]))


# the session


def test_of_two_equal_turns_the_one_whose_session_holds_the_other_words_comes_first() -> None:
    there = [turn(1, "cat", session="there"), turn(2, "dog", session="there")]
    assert order([*there, turn(3, "cat", session="elsewhere")]) == [2, 1, 3]


def test_a_session_adds_its_share_of_the_words() -> None:
    there = [turn(1, "cat", session="there"), turn(2, "dog", session="there")]
    found = scores([*there, turn(3, "cat", session="elsewhere"), turn(4, session="there")])
    assert found == pytest.approx({1: 1.0, 2: 1.0, 3: mixed(1.0, 0.5), 4: mixed(0.0)})


def test_a_session_that_says_a_word_often_holds_it_once() -> None:
    often = [turn(1, "cat", session="often"), turn(2, "cat", session="often")]
    assert scores([*often, turn(3, "cat", session="once")]) == pytest.approx({1: 1.0, 2: 1.0, 3: 1.0})


# who, and when


def test_what_the_named_speaker_said_gets_a_bonus_and_what_others_said_none() -> None:
    asked = AnalysedQuery(("cat",), speaker="anna")
    candidates = [turn(1, "cat", speaker="anna"), turn(2, "cat", speaker="tom"), turn(3, "cat")]
    assert scores(candidates, asked) == pytest.approx({1: 1 + BY_PERSON, 2: 1.0, 3: 1.0})
    assert order(candidates, asked) == [1, 3, 2]


def test_where_nobody_has_a_name_what_the_user_said_gets_the_bonus() -> None:
    candidates, asked = [turn(1, "cat"), turn(2, "cat", by_user=False)], AnalysedQuery(("cat",))
    assert scores(candidates, asked) == pytest.approx({1: 1 + BY_PERSON, 2: 1.0})
    assert order(candidates, asked) == [1, 2]


def test_where_anybody_has_a_name_the_users_words_get_no_bonus() -> None:
    found = scores([turn(1, "cat"), turn(2, "cat", by_user=False, speaker="tom")], AnalysedQuery(("cat",)))
    assert found == pytest.approx({1: 1.0, 2: 1.0})


def test_the_users_words_get_no_bonus_when_it_is_asked_what_the_assistant_said() -> None:
    asked = AnalysedQuery(("cat",), of_assistant=True)
    assert scores([turn(1, "cat"), turn(2, "cat", by_user=False)], asked) == pytest.approx({1: 1.0, 2: 1.0})


def on(day: date, *named: DaySpan) -> bool:
    """Whether a turn of this day gets the bonus for a question that names these days."""
    [score] = scores([replace(turn(1, "cat"), day=day)], replace(BARE, dates=named)).values()
    assert score == pytest.approx(1 + ON_DATE) or score == pytest.approx(1.0)
    return score > 1


FIFTH = DaySpan(date(2023, 5, 5), date(2023, 5, 5))


@pytest.mark.parametrize(
    ("named", "first", "last"),
    [
        (FIFTH, date(2023, 5, 4), date(2023, 5, 15)),
        (DaySpan(date(2023, 12, 1), date(2023, 12, 31)), date(2023, 11, 30), date(2024, 1, 10)),
    ],
)
def test_days_are_told_of_from_the_day_before_to_ten_days_after(named: DaySpan, first: date, last: date) -> None:
    before, after = date.fromordinal(first.toordinal() - 1), date.fromordinal(last.toordinal() + 1)
    assert [on(day, named) for day in (before, first, last, after)] == [False, True, True, False]
    assert DAYS_AFTER == 10


def test_one_of_several_dates_is_enough_and_two_count_once() -> None:
    assert on(date(2023, 5, 5), DaySpan(date(2022, 1, 1), date(2022, 1, 1)), FIFTH)
    assert on(date(2023, 5, 5), FIFTH, FIFTH)


def test_a_memory_without_a_day_is_of_no_date() -> None:
    assert scores([turn(1, "cat")], replace(BARE, dates=(FIFTH,))) == {1: 1.0}


def test_time_words_count_when_the_question_asks_for_a_time_and_only_then() -> None:
    candidates = [replace(turn(1, "cat"), has_time=True), turn(2, "cat")]
    asked = replace(BARE, asks_time=True)
    assert scores(candidates, asked) == pytest.approx({1: 1 + WITH_TIME, 2: 1.0})
    assert order(candidates, asked) == [1, 2]
    assert scores(candidates) == pytest.approx({1: 1.0, 2: 1.0})


# whether it was talked about


def ask(words: int) -> AnalysedQuery:
    """A question of so many words, each as rare as the other."""
    return AnalysedQuery(tuple(WORDS[:words]))


def known_of(candidates: Sequence[RankingCandidate], asked: AnalysedQuery, known: Statistics = KNOWN) -> bool:
    return is_known(rank(candidates, asked, known))


def test_three_of_six_equally_rare_words_at_one_place_are_enough_and_three_of_seven_are_not() -> None:
    assert known_of([turn(1, *WORDS[:3])], ask(6))
    assert not known_of([turn(1, *WORDS[:3])], ask(7))
    assert 3 / 7 < COVER <= 3 / 6


def test_two_words_are_too_few_even_where_they_are_all() -> None:
    assert not known_of([turn(1, "cat", "dog")], ask(2))


def test_one_word_three_times_is_one_word() -> None:
    assert not known_of([turn(1, "cat", "cat", "cat")], ask(3))
    assert HELD == 3


def test_the_share_of_the_words_is_by_rarity() -> None:
    rare = replace(KNOWN, frequency={word: 1 if word in WORDS[:3] else 300 for word in WORDS})
    common = replace(KNOWN, frequency={word: 300 if word in WORDS[:3] else 1 for word in WORDS})
    assert known_of([turn(1, *WORDS[:3])], ask(8), rare)
    assert not known_of([turn(1, *WORDS[:3])], ask(6), common)


def test_words_at_two_places_do_not_add_up() -> None:
    assert not known_of([turn(1, "cat", "dog"), turn(2, "boat")], ask(3))


def test_the_place_that_holds_enough_need_not_be_ranked_first() -> None:
    often = turn(1, *(["cat", "dog"] * 9))
    ranked = rank([often, replace(turn(2, "cat", "dog", "boat"), length=200)], ask(3), KNOWN)
    assert [one.candidate.doc for one in ranked] == [1, 2]
    assert is_known(ranked)


def test_of_several_places_with_enough_words_the_best_one_decides() -> None:
    three, four = turn(1, *(WORDS[:3] * 9)), replace(turn(2, *WORDS[:4]), length=200)
    ranked = rank([three, four], ask(8), KNOWN)
    assert [one.candidate.doc for one in ranked] == [1, 2]
    assert is_known(ranked)


@pytest.mark.parametrize("replied_first", [True, False])
def test_what_a_short_reply_right_beside_holds_counts(replied_first: bool) -> None:
    said, reply = turn(1, "cat", "dog"), turn(2, "boat", by_user=False)
    if replied_first:
        said, reply = replace(said, doc=2), replace(reply, doc=1)
    assert known_of(told(*sorted((said, reply), key=lambda one: one.doc)), ask(3))


def test_a_reply_of_another_speaker_counts() -> None:
    assert known_of(told(turn(1, "cat", "dog", speaker="anna"), turn(2, "boat", speaker="tom")), ask(3))


def test_the_next_statement_of_the_same_person_is_no_reply() -> None:
    assert not known_of(told(turn(1, "cat", "dog"), turn(2, "boat")), ask(3))
    assert not known_of(told(turn(1, "cat", "dog", speaker="anna"), turn(2, "boat", speaker="anna")), ask(3))


def test_a_reply_two_turns_away_is_not_beside() -> None:
    assert not known_of(told(turn(1, "cat", "dog"), turn(2), turn(3, "boat", by_user=False)), ask(3))


@pytest.mark.parametrize(("length", "counts"), [(SHORT, True), (SHORT + 1, False)])
def test_a_page_is_no_short_reply(length: int, counts: bool) -> None:
    page = replace(turn(2, "boat", by_user=False), length=length)
    assert known_of(told(turn(1, "cat", "dog"), page), ask(3)) is counts


def test_what_the_assistant_alone_said_was_not_talked_about() -> None:
    assert not known_of([turn(1, *WORDS[:3], by_user=False)], ask(3))


def test_a_turn_of_a_named_speaker_is_a_persons_whatever_its_role() -> None:
    assert known_of([turn(1, *WORDS[:3], by_user=False, speaker="tom")], ask(3))


def test_nothing_found_is_not_known() -> None:
    assert not is_known([])
    assert not is_known([RankedCandidate(turn(1), 0.0, 1.0, 0)])
