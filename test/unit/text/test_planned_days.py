from __future__ import annotations

from datetime import date, datetime

import pytest

from ovos_persona_memory.text import coming_days, languages, words_naming

THURSDAY = datetime(2026, 11, 26, 15)


def days(tag: str, text: str, said: datetime = THURSDAY) -> list[str]:
    spans = coming_days(text, languages.for_language(tag), said).spans
    return [
        f"{span.first:%m-%d}" if span.first == span.last else f"{span.first:%m-%d}/{span.last:%m-%d}" for span in spans
    ]


@pytest.mark.parametrize(
    ("tag", "text", "meant"),
    [
        ("en-US", "the dentist is tomorrow", ["11-27"]),
        ("en-US", "the dentist is the day after tomorrow", ["11-28"]),
        ("en-US", "the plumber comes on monday", ["11-30"]),
        ("en-US", "school starts on the 3rd of december", ["12-03"]),
        ("en-US", "we are away next week", ["11-30/12-06"]),
        ("en-US", "what do I have at the weekend", ["11-28/11-29"]),
        ("en-US", "the shop is closed", []),
        ("en-US", "we went to the zoo last saturday", []),
        ("fr-FR", "samedi dernier nous étions au zoo", []),
        ("fr-FR", "samedi passé, nous étions au zoo", []),
        ("fr-FR", "l'infirmière passe samedi à huit heures", ["11-28"]),
        ("de-DE", "übermorgen kommt der Klempner", ["11-28"]),
        ("de-DE", "heute Morgen war es kalt", ["11-26"]),
        ("es-ES", "el fontanero viene mañana por la mañana", ["11-27"]),
        ("es-ES", "por la mañana tomo café", []),
        ("fr-FR", "le plombier vient après-demain", ["11-28"]),
        ("en-US", "next week on wednesday we fly", ["12-02"]),
        ("en-US", "the fitter is not coming today he comes on saturday", ["11-26", "11-28"]),
        ("gl-ES", "esta semana teño garda o venres", ["11-27"]),
        ("de-DE", "was hab ich heut", ["11-26"]),
        ("ja-JP", "明日", []),  # no list
    ],
)
def test_days_are_seen_from_when_they_were_said(tag: str, text: str, meant: list[str]) -> None:
    assert days(tag, text) == meant


def test_a_weekday_that_is_today_may_be_a_week_away() -> None:
    assert days("en-US", "the plumber comes on thursday") == ["11-26", "12-03"]


def test_a_date_that_is_past_is_that_of_the_next_year() -> None:
    english = languages.for_language("en-US")
    (span,) = coming_days("the fair is on the 3rd of may", english, THURSDAY).spans
    assert span.first == date(2027, 5, 3)
    (span,) = coming_days("the fair was on the 3rd of may 2026", english, THURSDAY).spans
    assert span.first == date(2026, 5, 3)


def test_a_birthday_comes_every_year_and_a_habit_every_week() -> None:
    english = languages.for_language("en-US")
    birthday = coming_days("Emma's birthday is on the 3rd of may", english, THURSDAY)
    assert birthday.holds(date(2031, 5, 3))
    assert not birthday.holds(date(2031, 5, 4))
    bins = coming_days("the bins go out on tuesdays", english, THURSDAY)
    assert bins.holds(date(2031, 5, 6))
    assert not bins.holds(date(2031, 5, 7))


def test_a_question_meets_the_statements_of_its_days_alone() -> None:
    english = languages.for_language("en-US")
    asked = coming_days("what do I have tomorrow", english, THURSDAY)
    assert coming_days("the plumber comes on friday", english, datetime(2026, 11, 24)).meets(asked)
    assert not coming_days("the plumber comes on friday", english, datetime(2026, 11, 17)).meets(asked)
    assert coming_days("we are away this week", english, datetime(2026, 11, 24)).meets(asked)
    assert not coming_days("tomorrow", english, datetime(2026, 11, 1)).meets(asked)


def test_every_wording_of_the_asked_days_is_looked_for() -> None:
    english = languages.for_language("en-US")
    words = words_naming(coming_days("tomorrow", english, THURSDAY), english)
    assert {"tomorrow", "friday", "fridays", "November"} <= {word.strip() for word in words}
    assert "monday" not in words


def test_the_day_itself_is_told_from_a_week_that_holds_it() -> None:
    english = languages.for_language("en-US")
    asked = coming_days("what do I have tomorrow", english, THURSDAY)
    widths = [
        coming_days(text, english, THURSDAY).width_for(asked) for text in ("the plumber comes tomorrow", "this week")
    ]
    assert widths == [1, 7]
