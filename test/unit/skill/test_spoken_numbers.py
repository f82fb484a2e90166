"""Numbers, days and times as they are said, in each of the languages."""

from __future__ import annotations

import re
from datetime import datetime, timezone

import pytest

from ovos_persona_memory.skill.spoken_numbers import day_in_words, number_in_words, sentence
from ovos_persona_memory.text import languages

TEN = ("ca-ES", "da-DK", "de-DE", "en-US", "es-ES", "fr-FR", "gl-ES", "it-IT", "nl-NL", "pt-PT")
ON_THE_FIRST = {
    "ca-ES": "el un de maig de dos mil vint-i-sis",
    "da-DK": "den første maj to tusinde seksogtyve",
    "de-DE": "am ersten Mai zweitausendsechsundzwanzig",
    "en-US": "on the first of May two thousand twenty six",
    "es-ES": "el uno de mayo de dos mil veintiséis",
    "fr-FR": "le premier mai deux mille vingt-six",
    "gl-ES": "o un de maio de dous mil e vinte e seis",
    "it-IT": "il primo maggio duemilaventisei",
    "nl-NL": "op één mei tweeduizendzesentwintig",
    "pt-PT": "a um de maio de dois mil e vinte e seis",
}
TWO_HOURS = {
    "ca-ES": "dues hores",
    "da-DK": "to timer",
    "de-DE": "zwei Stunden",
    "en-US": "two hours",
    "es-ES": "dos horas",
    "fr-FR": "deux heures",
    "gl-ES": "dúas horas",
    "it-IT": "due ore",
    "nl-NL": "twee uur",
    "pt-PT": "duas horas",
}


@pytest.mark.parametrize("tag", TEN)
def test_a_day_of_long_ago_is_said_in_words(tag: str) -> None:
    said, now = datetime(2026, 5, 1, tzinfo=timezone.utc), datetime(2026, 11, 22, tzinfo=timezone.utc)
    when = languages.for_language(tag).when(
        said, now, lambda n: number_in_words(n, tag), lambda day: day_in_words(day, tag)
    )
    assert when == ON_THE_FIRST[tag]


@pytest.mark.parametrize("tag", TEN)
def test_hours_are_counted_in_words_that_agree_with_them(tag: str) -> None:
    assert sentence(languages.for_language(tag), "hours", count=2) == TWO_HOURS[tag]


@pytest.mark.parametrize("tag", TEN)
@pytest.mark.parametrize("number", [*range(0, 32), 60, 99, 100, 101, 365, 1000, 12345])
def test_no_digit_is_left(tag: str, number: int) -> None:
    for feminine in (None, True, False):
        assert re.fullmatch(r"[^\W\d_]+(?:[ -][^\W\d_]+)*", number_in_words(number, tag, feminine))
    if 0 < number < 32:
        assert not re.search(r"\d", day_in_words(number, tag))


def test_in_a_language_that_the_parser_does_not_know_digits_are_better_than_nothing() -> None:
    assert number_in_words(3, "xx-XX") == "3"
