"""What is known of a question before anything is searched."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timezone

import pytest

from ovos_persona_memory.records import Turn
from ovos_persona_memory.search.query import ITSELF_S, AnalysedQuery, Question, analyse_question
from ovos_persona_memory.text.time_expressions import DaySpan

FAMILY = {"anna", "tom"}


def of(text: str, lang: str = "en-US") -> AnalysedQuery:
    return analyse_question(Question(text, lang), FAMILY)


# words and whom they are about


def test_content_words_are_folded_and_stemmed_and_come_once_in_their_order() -> None:
    assert of("Which cats did the Café's cat chase?").words == ("cat", "cafe", "chase")


def test_a_speaker_who_is_named_is_no_word_of_the_question() -> None:
    assert of("what does Anna's cat eat").words == ("cat", "eat")


def test_a_speaker_whose_name_the_stemmer_shortens_is_no_word_either() -> None:
    assert analyse_question(Question("what does James eat", "en-US"), {"james"}).words == ("eat",)


def test_a_name_is_a_word_where_nothing_else_is_left() -> None:
    assert of("what did Anna say").words == ("anna",)


def test_a_name_of_nobody_who_speaks_here_is_a_word() -> None:
    asked = of("what does Minka eat")
    assert (asked.words, asked.speaker) == (("minka", "eat"), None)


def test_the_one_speaker_who_is_named_is_the_one_asked_about() -> None:
    assert of("what does ANNA like").speaker == "anna"


def test_of_several_speakers_nobody_is_the_one_asked_about_and_none_is_a_word() -> None:
    asked = of("what do Anna and Tom like")
    assert (asked.speaker, asked.words) == (None, ("like",))


def test_a_name_inside_a_longer_word_names_nobody() -> None:
    assert of("where are the tomatoes").speaker is None


# dates


def test_the_days_that_are_named_are_those_of_the_moment_and_the_zone_of_asking() -> None:
    question = Question("what did we do yesterday", "en-US", at=1683244800.0, timezone="UTC")  # 2023-05-05
    (span,) = analyse_question(question, FAMILY).dates
    assert (span.first, span.last) == (date(2023, 5, 4), date(2023, 5, 4))
    (west,) = analyse_question(replace(question, timezone="America/Los_Angeles"), FAMILY).dates
    assert west.first == date(2023, 5, 3)


def test_a_language_without_lists_names_no_dates_and_asks_for_nothing() -> None:
    asked = of("when did you see Anna in October 2023", "fi-FI")
    assert (asked.speaker, asked.dates, asked.asks_time, asked.of_assistant) == ("anna", (), False, False)


def test_a_date_parser_that_is_handed_in_is_used_in_place_of_the_lists() -> None:
    heard: list[tuple[str, str, datetime]] = []
    span = DaySpan(date(2023, 5, 4), date(2023, 5, 4))

    def parse(text: str, lang: str, at: datetime) -> list[DaySpan]:
        heard.append((text, lang, at))
        return [span]

    question = Question("what did we do then, not in July", "en-GB", at=1683244800.0, dates=parse, timezone="UTC")
    assert analyse_question(question, FAMILY).dates == (span,)
    moment = datetime(2023, 5, 5, tzinfo=timezone.utc)
    assert heard == [("what did we do then, not in July", "en-US", moment)]


# what is asked for


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en-US", "When did Tom move?"),
        ("en-US", "for how long was she away"),
        ("en-US", "on what day do the bins go out"),
        ("de-DE", "Seit wann wohnt Tom hier"),
        ("de-DE", "um wie viel Uhr fährt der Zug"),
        ("de-DE", "wie spät war es"),
    ],
)
def test_a_question_for_a_time_or_a_span_asks_for_time(lang: str, text: str) -> None:
    assert of(text, lang).asks_time


@pytest.mark.parametrize(
    ("lang", "text"),
    [("en-US", "where did Tom move"), ("en-US", "how longingly did he look"), ("de-DE", "wo wohnt Tom")],
)
def test_no_other_question_asks_for_time(lang: str, text: str) -> None:
    assert not of(text, lang).asks_time


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en-US", "which book did you recommend"),
        ("en-US", "what was the film YOU suggested"),
        ("de-DE", "welches Buch hast du empfohlen"),
        ("de-DE", "was war das, was du erklärt hast"),
    ],
)
def test_what_you_said_is_asked_of_the_assistant(lang: str, text: str) -> None:
    assert of(text, lang).of_assistant


@pytest.mark.parametrize(
    ("lang", "text"),
    [("en-US", "which book did your sister recommend"), ("en-US", "do you know my sister"), ("de-DE", "wer bist du")],
)
def test_nothing_else_is_asked_of_the_assistant(lang: str, text: str) -> None:
    assert not of(text, lang).of_assistant


# the question itself, and earlier askings

ASKED_AT = 5000.0
CAT = Question("what is my cat called", "en-US", utterance_id="u1", at=ASKED_AT)


def said(text: str, at: float = ASKED_AT - 1.0, **fields: str) -> Turn:
    return Turn("user", text, at, lang="en-US", **fields)  # type: ignore[arg-type]  # fields are texts


def test_a_turn_of_the_utterance_is_the_question_whatever_its_words_and_age() -> None:
    assert CAT.is_itself(said("ask Ada about my cat", 1.0, utterance_id="u1"))
    assert not CAT.is_itself(said("ask Ada about my cat", 1.0, utterance_id="u2"))
    assert not CAT.is_itself(replace(said("the cat is called Bob", utterance_id="u1"), role="assistant"))


@pytest.mark.parametrize(
    ("text", "at", "is_itself"),
    [
        ("What is my cat called?", ASKED_AT - 1.0, True),
        ("tell me what my cat is called", ASKED_AT - 1.0, True),
        ("what is my cat called", ASKED_AT - ITSELF_S, False),
        ("what is my cat fed", ASKED_AT - 1.0, False),
        ("my cat is called Bob", ASKED_AT - 1.0, False),
    ],
)
def test_what_just_asked_for_the_same_words_is_the_question(text: str, at: float, is_itself: bool) -> None:
    assert CAT.is_itself(said(text, at)) is is_itself


def test_an_utterance_that_is_answered_is_known_by_its_very_words_whatever_its_form() -> None:
    heard = Question("my cat is called Bob", "en-US", said_after=ASKED_AT - ITSELF_S, at=ASKED_AT)
    assert heard.is_itself(said("My cat is called Bob."))
    assert not heard.is_itself(said("my cat is called Bob today"))
    assert not replace(heard, said_after=None).is_itself(said("My cat is called Bob."))


def test_only_what_asks_the_very_same_was_asked_before() -> None:
    assert CAT.was_asked(said("What is my cat called?", 1.0), [])
    assert not CAT.was_asked(said("what is my cat called then", 1.0), [])
    assert not CAT.was_asked(replace(said("what is my cat called", 1.0), role="assistant"), [])
    assert not Question("my cat is called Bob", "en-US").was_asked(said("my cat is called Bob", 1.0), [])


def test_what_was_heard_of_a_question_tells_its_earlier_askings_too() -> None:
    topic, heard = Question("my cat", "en-US"), said("tell me about my cat")
    earlier = said("tell me about my cat", 1.0)
    assert topic.was_asked(earlier, [heard]) and not topic.was_asked(earlier, [])
