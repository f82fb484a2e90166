"""What is known of a question before anything is searched."""

from __future__ import annotations

import pytest

from ovos_persona_memory.question import Asked, NamedDate, Question, named_dates, understand

FAMILY = {"anna", "tom"}


def of(text: str, lang: str = "en-US") -> Asked:
    return understand(Question(text, lang), FAMILY)


# words and whom they are about


def test_content_words_are_folded_and_stemmed_and_come_once_in_their_order() -> None:
    assert of("Which cats did the Café's cat chase?").words == ("cat", "cafe", "chase")


def test_a_speaker_who_is_named_is_no_word_of_the_question() -> None:
    assert of("what does Anna's cat eat").words == ("cat", "eat")


def test_a_speaker_whose_name_the_stemmer_shortens_is_no_word_either() -> None:
    assert understand(Question("what does James eat", "en-US"), {"james"}).words == ("eat",)


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


@pytest.mark.parametrize(
    ("lang", "text", "named"),
    [
        ("en-US", "what did we do in July", (None, 7, None)),
        ("en-US", "what did we do in JULY 2022?", (2022, 7, None)),
        ("en-US", "what was on 5 May 2023", (2023, 5, 5)),
        ("en-US", "what was on May 5th, 2023", (2023, 5, 5)),
        ("en-US", "who came on March 3", (None, 3, 3)),
        ("en-US", "who came on 3 Mar", (None, 3, 3)),
        ("de-DE", "was war am 3. März", (None, 3, 3)),
        ("de-DE", "was war am 24. Dezember 2025", (2025, 12, 24)),
        ("de-DE", "was war im Oktober", (None, 10, None)),
        ("de-DE", "was war im Mai 2024", (2024, 5, None)),
    ],
)
def test_a_date_is_named_by_its_month_with_the_day_and_the_year_beside_it(
    lang: str, text: str, named: NamedDate
) -> None:
    assert named_dates(text, lang) == [named]
    assert of(text, lang).dates == (named,)


@pytest.mark.parametrize("text", ["may I have the recipe", "what may the cat eat", "who is on Mar"])
def test_three_letters_alone_are_no_month(text: str) -> None:
    assert of(text).dates == ()


def test_every_month_that_is_named_is_a_date() -> None:
    assert of("what happened between 30 June and 2 July 2023").dates == ((None, 6, 30), (2023, 7, 2))


def test_a_number_that_is_no_day_of_a_month_is_none() -> None:
    assert named_dates("the 32 July 45", "en-US") == [(None, 7, None)]


def test_a_year_or_a_day_without_a_month_is_no_date() -> None:
    assert of("what happened on the 5th in 2023").dates == ()


def test_months_are_those_of_the_questions_language() -> None:
    assert of("was war im Oktober", "en-US").dates == of("what was in October", "de-DE").dates == ()


def test_a_language_that_is_not_shipped_names_no_dates_and_asks_for_nothing() -> None:
    asked = of("when did you see Anna in October 2023", "fr-FR")
    assert (asked.speaker, asked.dates, asked.asks_time, asked.of_assistant) == ("anna", (), False, False)


def test_a_date_parser_that_is_handed_in_is_used_in_place_of_the_months() -> None:
    heard: list[tuple[str, str, float | None]] = []

    def parse(text: str, lang: str, at: float | None) -> list[NamedDate]:
        heard.append((text, lang, at))
        return [(2023, 5, 4)]

    question = Question("what did we do yesterday, not in July", "en-GB", at=1683244800.0, dates=parse)
    assert understand(question, FAMILY).dates == ((2023, 5, 4),)
    assert heard == [("what did we do yesterday, not in July", "en-US", 1683244800.0)]


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


def test_the_day_before_a_small_word_is_the_months() -> None:
    assert named_dates("what was on the 10th of May 2023", "en-US") == [(2023, 5, 10)]
