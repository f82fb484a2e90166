"""What a judge of answers makes of hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from types import MappingProxyType

import pytest

from ovos_persona_memory.records import Hit, answers_to_tell, belonging_perhaps
from ovos_persona_memory.search.answer_judge import (
    ANSWERS_FROM,
    LATER_FROM,
    LEAD_MOST,
    MARGIN_ALONE,
    MARGIN_MOST,
    ONE,
    judged,
    leads,
    probabilities,
    signs,
)
from ovos_persona_memory.search.query import Question
from ovos_persona_memory.search.recall import CALLED_OFF, TIER

ASKED = "who do i have to call about the boiler"


class Judge:
    """Gives remarks the probabilities that a test says; texts that end with a "huh" ask, and others go on about a
    remark as ``later`` says."""

    def __init__(
        self, shares: Mapping[str, float], later: Mapping[tuple[str, str], float] = MappingProxyType({})
    ) -> None:
        self.shares, self.later = shares, later
        self.given: list[str] = []
        self.names: list[str | None] = []

    def has_learned(self, text: str, lang: str | None) -> bool:
        return lang != "ru-RU"

    def asks(self, text: str, lang: str | None) -> bool:
        return self.looks_for(text, lang)

    def looks_for(self, text: str, lang: str | None) -> bool:
        return text == ASKED or text.endswith("huh")

    def asked_in(self, text: str, lang: str | None) -> str:
        return text

    def to_forget(self, text: str, lang: str | None) -> str | None:
        return "it" if text.startswith("out with") else None

    def asks_what_was_said(self, text: str, lang: str | None) -> bool:
        return False

    def asks_several(self, text: str, lang: str | None) -> bool:
        return "who" in text and "what" in text

    def may_ask_several(self, text: str, lang: str | None) -> bool:
        return "which" in text

    def surely_asks(self, text: str, lang: str | None) -> bool:
        return self.looks_for(text, lang)

    def answering(self, question: str, remarks: Sequence[tuple[str, str | None]]) -> list[float]:
        self.given += [text for text, _ in remarks]
        self.names += [name for _, name in remarks]
        if not self.looks_for(question, None):
            return [self.later.get((question, text), 0.0) for text, _ in remarks]
        return [self.shares.get(text, 0.0) for text, _ in remarks]


def hit(text: str, at: float = 0.0, answers: bool = False, sure: bool = False, role: str = "user") -> Hit:
    return Hit(
        id=text,
        kind="turn",
        text=text,
        score=1.0,
        sure=sure or answers,
        reason="",
        at=at,
        role=role,  # type: ignore[arg-type]  # a plain text
        lang="en-US",
        answers=answers,
    )


def told(hits: Sequence[Hit]) -> list[str]:
    return [one.text for one in hits if one.answers]


def told_as_unsure(hits: Sequence[Hit]) -> list[str]:
    return [one.text for one in hits if one.may_answer]


def test_what_the_judge_is_sure_of_answers_and_comes_first() -> None:
    hits = [hit("the boiler is in the cellar"), hit("mr okafor repairs the heating")]
    found = judged(hits, Question(ASKED, "en-US"), Judge({"mr okafor repairs the heating": 0.95}))
    assert told(found) == [found[0].text] == ["mr okafor repairs the heating"]
    assert told(judged(hits, Question(ASKED, "en-US"), Judge({"mr okafor repairs the heating": 0.05}))) == []


def test_what_answers_by_the_judge_alone_is_sure_only_where_it_almost_surely_does() -> None:
    sure, probable = hit("mr okafor repairs the heating"), hit("the boiler man is tom")
    for share, is_sure in ((0.999, True), (0.9, False)):
        judge = Judge({sure.text: share})
        found = judged([sure], Question(ASKED, "en-US"), judge)
        assert (found[0].answers, found[0].sure) == (True, is_sure)
    known = replace(probable, sure=True)
    assert judged([known], Question(ASKED, "en-US"), Judge({known.text: 0.6}))[0].sure


def test_what_the_judge_doubts_does_not_answer_however_far_it_is_above_the_others() -> None:
    hits = [hit("i met ann at the boiler"), hit("the cat is black"), hit("the rain stopped")]
    for share, answers in ((0.45, []), (0.6, [hits[0].text])):
        judge = Judge({hits[0].text: share})
        assert told(judged(hits, Question(ASKED, "en-US"), judge)) == answers


def test_only_what_several_say_as_one_user_is_judged_with_the_name_of_who_said_it() -> None:
    judge = Judge({})
    ours = replace(hit("the boiler is white"), speaker="Ann")
    judged([ours, replace(ours, id="b", user_id="ann")], Question(ASKED, "en-US", asker="Bo"), judge)
    assert (ours.user_id, judge.names) == ("household", ["Ann", None])
    judged([ours], Question(ASKED, "en-US"), judge)
    assert judge.names[2:] == [None], "nobody knows who asks"


def test_of_answers_that_are_about_as_good_the_newest_comes_first() -> None:
    hits = [hit("it is tom", at=1.0, answers=True), hit("now it is ann", at=2.0), hit("it is me", at=3.0)]
    judge = Judge({"it is tom": 0.97, "now it is ann": 0.75, "it is me": 0.45})
    assert told(judged(hits, Question(ASKED, "en-US"), judge)) == ["now it is ann", "it is tom"]


def test_what_was_said_later_of_what_answers_is_told_before_it() -> None:
    owed = hit("i owe tom forty for the boiler", at=2.0)
    paid, before, other = (
        hit("i saw tom and gave him his money", at=3.0),
        hit("tom came by", at=1.0),
        hit("tom rang", at=4.0),
    )
    later = {(paid.text, owed.text): LATER_FROM, (before.text, owed.text): 0.99, (other.text, owed.text): 0.3}
    judge = Judge({owed.text: 0.97, paid.text: 0.05}, later)
    found = judged([owed, before, other, paid], Question(ASKED, "en-US"), judge)
    assert [one.text for one in answers_to_tell(found)] == [paid.text, owed.text]
    assert found[0].goes_on and found[0].answers and not found[1].goes_on
    unlikely = Judge(judge.shares, {(paid.text, owed.text): LATER_FROM - 0.01})
    assert [one.text for one in answers_to_tell(judged([owed, paid], Question(ASKED, "en-US"), unlikely))] == [
        owed.text
    ]


def test_what_goes_on_about_what_is_not_sure_is_not_sure_either() -> None:
    owed, paid = hit("i owe tom forty for the boiler", at=2.0), hit("i saw tom and gave him his money", at=3.0)
    judge = Judge({owed.text: 0.85, "i like boilers": 0.59}, {(paid.text, owed.text): 0.9})
    found = judged([owed, paid, hit("i like boilers")], Question(ASKED, "en-US"), judge)
    assert (told(found), told_as_unsure(found)) == ([], [paid.text, owed.text])
    assert [one.text for one in answers_to_tell(found)] == [paid.text, owed.text]


def test_what_was_told_twice_is_not_less_sure() -> None:
    hits = [hit("mr okafor repairs it", at=1.0), hit("it is repaired by mr okafor", at=2.0), hit("i like boilers")]
    twice = Judge({hits[0].text: 0.97, hits[1].text: 0.96})
    assert told(judged(hits, Question(ASKED, "en-US"), twice)) == [hits[1].text, hits[0].text]
    doubted = judged(hits, Question(ASKED, "en-US"), Judge({hits[0].text: 0.85, hits[1].text: 0.7}))
    assert (told(doubted), told_as_unsure(doubted)) == ([], [hits[0].text])


def test_words_that_answer_do_so_unless_the_judge_refuses_them() -> None:
    hits = [hit("the boiler is white", answers=True), hit("the boiler man is tom", answers=True)]
    judge = Judge({"the boiler is white": 0.01, "the boiler man is tom": 0.8})
    assert told(judged(hits, Question(ASKED, "en-US"), judge)) == ["the boiler man is tom"]


def test_what_the_asker_says_of_themselves_answers_no_question_about_the_assistant() -> None:
    hits, judge = [hit("my name is ann"), hit("your name is scribe")], Judge({"my name is ann": 0.9})
    judge.shares["your name is scribe"] = 0.9
    question = Question("what is your name huh", "en-US")
    assert told(judged(hits, question, judge)) == ["your name is scribe"]


def test_the_judge_the_lead_of_a_hit_and_that_of_its_judgement_each_tell_something() -> None:
    sure, ahead, alone, none = probabilities([(-0.8, 0.5, 0.0), (-0.8, 0.0, 2.0), (-0.8, 0.0, 0.0), (-2.0, 0.0, 0.0)])
    assert min(sure, ahead) > alone > none
    assert probabilities([(-9.0, 0.5, 2.0)])[0] < ANSWERS_FROM <= probabilities([(9.0, -0.5, 0.0)])[0]


def test_a_judgement_is_compared_with_the_best_of_the_others() -> None:
    found = [(hit("one"), 0.5), (hit("two"), 0.9), (hit("three"), 0.0)]
    assert [round(margin, 2) for _, _, margin in signs(found)] == [-2.2, 2.2, -MARGIN_MOST]
    assert signs(found[:1])[0] == (0.0, 0.0, MARGIN_ALONE)


def test_a_lead_is_over_the_best_of_the_others_and_knows_no_tiers() -> None:
    scores = (1.5, TIER + 1.0, 2 * TIER + 1.25)
    assert leads([replace(hit(str(one)), score=one) for one in scores]) == pytest.approx([0.25, -0.5, -0.25])
    assert leads([hit("alone")]) == [0.0] and leads([]) == []
    assert leads([replace(hit("far ahead"), score=3.0), replace(hit("behind"), score=0.5)]) == [LEAD_MOST, -2.5]


def test_a_turn_that_is_a_fact_is_refused_only_where_it_surely_does_not_answer() -> None:
    hits = [hit("the boiler is white", answers=True), hit("my boiler man is tom", answers=True), hit("i like boilers")]
    certain = {"my boiler man is tom", "i like boilers"}
    doubted = Judge({one.text: 0.3 for one in hits})
    assert told(judged(hits, Question(ASKED, "en-US"), doubted, certain)) == ["my boiler man is tom"]
    assert told(judged(hits, Question(ASKED, "en-US"), Judge({}), certain)) == []


def test_what_states_in_the_very_words_what_is_asked_answers_whatever_the_judge_says() -> None:
    asked = Question("is bram allergic to peanuts", "en-US")

    class Doubting(Judge):
        def looks_for(self, text: str, lang: str | None) -> bool:
            return text == asked.text

    hits = [hit("bram is allergic to peanuts", answers=True), hit("bram has a red bike")]
    assert told(judged(hits, asked, Doubting({}))) == [hits[0].text]
    assert told(judged([replace(hits[0], text=asked.text), hits[1]], asked, Doubting({}))) == []


def test_less_is_enough_where_the_words_answer_too() -> None:
    texts = ("mr okafor repairs the heating", "i saw the boiler")
    for answers, said in ((True, [texts[0]]), (False, [])):
        hits = [hit(texts[0], answers=answers), hit(texts[1])]
        assert told(judged(hits, Question(ASKED, "en-US"), Judge({texts[0]: 0.55, texts[1]: 0.1}))) == said


def test_what_calls_off_what_is_asked_for_is_never_refused() -> None:
    off = replace(hit("the boiler man is not coming", answers=True), reason=CALLED_OFF)
    assert told(judged([off], Question(ASKED, "en-US"), Judge({}), {off.id})) == [off.text]


def test_what_only_asks_and_what_the_assistant_said_answers_nothing() -> None:
    hits = [
        hit("the boiler man was called when huh", sure=True),
        hit("forget the boiler", sure=True),
        hit("out with the boiler man", sure=True),
        hit("i called him", role="assistant"),
    ]
    judge = Judge({one.text: 0.99 for one in hits})
    found = judged(hits, Question(ASKED, "en-US"), judge)
    assert told(found) == [] and not any(one.sure for one in found) and judge.given == []


def test_a_remark_is_no_question_and_nothing_is_judged_for_it() -> None:
    hits, judge = [hit("mr okafor repairs the heating")], Judge({"mr okafor repairs the heating": 0.95})
    assert judged(hits, Question("we called mr okafor", "en-US"), judge) == hits and judge.given == []


def test_in_a_language_that_the_judge_has_not_learned_words_alone_decide() -> None:
    hits, judge = [hit("mr okafor repairs the heating")], Judge({"mr okafor repairs the heating": 0.95})
    assert judged(hits, Question(ASKED, "ru-RU"), judge) == hits and judge.given == []


def test_no_more_than_a_few_hits_are_judged() -> None:
    judge = Judge({})
    judged([hit(f"remark {number}") for number in range(2 * ONE.at_most)], Question(ASKED, "en-US"), judge)
    assert len(judge.given) == ONE.at_most


def test_what_probably_does_not_answer_though_its_words_do_bears_on_the_question_all_the_same() -> None:
    hits = [hit("the boiler man is tom", answers=True), hit("the boiler is white", answers=True)]
    found = judged([*hits, hit("i like boilers")], Question(ASKED, "en-US"), Judge({}))
    assert [(one.text, one.answers) for one in found if one.sure] == [(one.text, False) for one in hits]


def test_where_several_things_are_asked_for_all_parts_are_told_the_surest_first() -> None:
    shares = {"ned is allergic to shrimps": 0.87, "ruth drinks no milk": 0.9, "we have two cats": 0.25}
    hits = [replace(hit(text, at=float(at)), score=1.0 - at / 4) for at, text in enumerate(shares)]
    found = judged(hits, Question("who cannot eat what huh", "en-US"), Judge(shares))
    assert [(one.text, one.part) for one in found if one.answers] == [(one.text, True) for one in (hits[1], hits[0])]
    assert [one.text for one in belonging_perhaps(found)] == ["we have two cats"]


def test_of_what_may_ask_for_several_things_all_are_told_where_several_are_known() -> None:
    known = {"ruth drinks no milk": 0.9, "ned is allergic to shrimps": 0.85}
    hits = [hit(text, at=float(at)) for at, text in enumerate([*known, "we have two cats"])]
    asked = Question("which of us cannot eat that huh", "en-US")
    several = judged(hits, asked, Judge(known))
    assert {one.text for one in several if one.part} == set(known)
    one = judged(hits, asked, Judge({"ruth drinks no milk": 0.95, "ned is allergic to shrimps": 0.1}))
    assert told(one) == ["ruth drinks no milk"]
    assert not any(hit.part for hit in one)


def test_the_newest_of_something_else_comes_behind() -> None:
    shares = {"ruth drinks no milk": 0.9, "ned is allergic to shrimps": 0.78, "we have two cats": 0.25}
    hits = [replace(hit(text, at=float(at)), score=1.0 - at / 4) for at, text in enumerate(shares)]
    assert told(judged(hits, Question("who cannot eat that huh", "en-US"), Judge(shares))) == list(shares)[:2]


def test_where_a_number_is_asked_for_all_that_was_told_bit_by_bit_answers() -> None:
    shares = {"i lose one of my teeth": 0.6, "another one came out": 0.63, "i found my scarf": 0.1, "it rains": 0.05}
    hits = [hit(text, at=float(at)) for at, text in enumerate(shares)]
    found = judged(hits, Question("how many teeth did i lose huh", "en-US"), Judge(shares))
    assert set(told(found)) == {"another one came out", "i lose one of my teeth"}
    assert told(judged(hits, Question("when did i lose one huh", "en-US"), Judge(shares))) == []


@pytest.mark.parametrize("asked", ["who of us does what tomorrow huh", "who of us does what on thursday huh"])
def test_of_a_coming_day_nothing_is_told_that_names_another(asked: str) -> None:
    wednesday = datetime(2027, 6, 9, 12, tzinfo=timezone.utc).timestamp()
    shares = {"ann sings on thursday": 0.8, "bo swims tomorrow": 0.9, "cy cooks on friday": 0.9, "di bakes": 0.02}
    hits = [hit(text, at=wednesday - 60) for text in shares]
    hits.append(hit("ed dives tomorrow", at=wednesday - 3 * 86400))
    found = judged(
        hits, Question(asked, "en-US", at=wednesday, timezone="UTC"), Judge({**shares, "ed dives tomorrow": 0.9})
    )
    assert set(told(found)) == {"bo swims tomorrow", "ann sings on thursday"}


def test_a_judge_is_told_no_name_of_who_asks() -> None:
    judge = Judge({})
    ours = [replace(hit("the boiler is white"), speaker="Ann"), replace(hit("the boiler is old"), speaker="Bo")]
    judged(ours, Question(ASKED, "en-US", asker="Bo"), judge)
    assert judge.names == ["Ann", None]


def test_of_answers_that_are_about_as_good_those_of_who_asks_come_first() -> None:
    asked = "where do i keep my skates huh"
    hits = [
        replace(hit("they are in the shed", at=1.0), speaker="Ann"),
        replace(hit("my skates are in the loft", at=2.0), speaker="Bo"),
        replace(hit("ann has hers in the hall", at=3.0), speaker="Bo"),
    ]
    judge = Judge({one.text: 0.99 for one in hits})
    shed, loft, hall = (one.text for one in hits)
    assert told(judged(hits, Question(asked, "en-US", asker="Ann"), judge)) == [hall, shed, loft]
    assert told(judged(hits, Question(asked, "en-US", asker="Bo"), judge)) == [hall, loft, shed]
    assert told(judged(hits, Question(asked, "en-US"), judge)) == [hall, loft, shed]
    assert told(judged(hits, Question("where are ann's skates huh", "en-US"), judge)) == [hall, shed, loft]


def test_whose_a_remark_is_the_words_tell_where_nobody_knows_the_speakers_and_the_judge_where_they_are_known() -> None:
    text, asked = "my brother lives in Bath", "where do i live huh"
    judge = Judge({text: 0.9})
    assert told(judged([hit(text)], Question(asked, "en-US"), judge)) == [] == judge.given
    named = replace(hit(text), speaker="Bo")
    assert told(judged([named], Question(asked, "en-US", asker="Ann"), judge)) == [text]
    assert (judge.given, judge.names) == ([text], ["Bo"])


def test_what_names_only_other_numbers_than_a_question_does_not_answer_it() -> None:
    shares = {"ann takes a forty": 0.99, "bo takes a forty five": 0.97, "bo has the black boots": 0.7}
    hits = [hit(text, at=float(at)) for at, text in enumerate(shares)]
    found = judged(hits, Question("who takes a forty five huh", "en-US"), Judge(shares))
    assert told(found) == ["bo has the black boots", "bo takes a forty five"]
    moved = [hit("the match begins at one now")]
    assert told(judged(moved, Question("is the match still at two huh", "en-US"), Judge({moved[0].text: 0.9})))


def test_each_hit_that_was_judged_says_how_likely_it_answers_and_others_do_not() -> None:
    hits = [hit("mr okafor repairs the heating"), hit("the boiler is in the cellar"), hit("huh", role="assistant")]
    sure, unlikely, of_assistant = judged(hits, Question(ASKED, "en-US"), Judge({hits[0].text: 0.95}))
    assert sure.confidence is not None and sure.confidence >= ANSWERS_FROM and not sure.may_answer
    assert unlikely.confidence is not None and unlikely.confidence < 0.1 and not unlikely.may_answer
    assert of_assistant.confidence is None and not of_assistant.may_answer
    assert judged(hits, Question("the boiler", "en-US"), Judge({hits[0].text: 0.95}))[0].confidence is None


def test_what_does_not_answer_surely_enough_may_still_be_told() -> None:
    hits = [hit("mr okafor repairs the heating"), hit("the boiler is in the cellar")]
    for share, may_answer in ((0.9, [hits[0].text]), (0.65, [])):  # it is not far enough above the other one
        found = judged(hits, Question(ASKED, "en-US"), Judge({hits[0].text: share, hits[1].text: share - 0.1}))
        assert told(found) == []
        assert told_as_unsure(found) == may_answer
