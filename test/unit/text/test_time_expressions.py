"""The days that a question names."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from types import ModuleType
from typing import Any

import pytest

from ovos_persona_memory.service import date_parser as edge
from ovos_persona_memory.text import languages
from ovos_persona_memory.text.time_expressions import named_days, parse_time_span, zone

AT = datetime(2026, 5, 13, 18, tzinfo=timezone.utc)  # a Wednesday
D = date


def spans(text: str, lang: str = "en-US", at: datetime = AT) -> list[tuple[date, date]]:
    return [(span.first, span.last) for span in named_days(text, lang, at)]


TODAY, YESTERDAY = (D(2026, 5, 13), D(2026, 5, 13)), (D(2026, 5, 12), D(2026, 5, 12))
MONDAY, LAST_WEEK = (D(2026, 5, 11), D(2026, 5, 11)), (D(2026, 5, 4), D(2026, 5, 10))
LAST_MONTH, MAY = (D(2026, 4, 1), D(2026, 4, 30)), (D(2026, 5, 1), D(2026, 5, 31))
MAY_BEFORE = (D(2025, 5, 1), D(2025, 5, 31))


@pytest.mark.parametrize(
    ("lang", "yesterday", "last_week", "monday", "may"),
    [
        ("en-US", "yesterday", "last week", "on Monday", "in May"),
        ("de-DE", "gestern", "letzte Woche", "am Montag", "im Mai"),
        ("fr-FR", "hier", "la semaine dernière", "lundi", "en mai"),
        ("es-ES", "ayer", "la semana pasada", "el lunes", "en mayo"),
        ("it-IT", "ieri", "la settimana scorsa", "lunedì", "a maggio"),
        ("pt-PT", "ontem", "na semana passada", "na segunda-feira", "em maio"),
        ("nl-NL", "gisteren", "vorige week", "op maandag", "in mei"),
        ("ca-ES", "ahir", "la setmana passada", "dilluns", "al maig"),
        ("da-DK", "i går", "i sidste uge", "på mandag", "i maj"),
        ("gl-ES", "onte", "a semana pasada", "o luns", "en maio"),
        ("zh-CN", "昨天", "上周", "星期一", "五月"),
        ("ja-JP", "昨日", "先週", "月曜日", "5月"),
        ("ko-KR", "어제", "지난주", "월요일", "5월"),
        ("th-TH", "เมื่อวาน", "สัปดาห์ที่แล้ว", "วันจันทร์", "พฤษภาคม"),
        ("ru-RU", "вчера", "на прошлой неделе", "в понедельник", "5 мая"),
    ],
)
def test_days_are_named_in_every_language(lang: str, yesterday: str, last_week: str, monday: str, may: str) -> None:
    assert spans(yesterday, lang) == [YESTERDAY]
    assert spans(last_week, lang) == [LAST_WEEK]
    assert spans(monday, lang) == [MONDAY]
    if lang != "ru-RU":  # whose months stand in another case without a day
        assert spans(may, lang) == [MAY, MAY_BEFORE]


@pytest.mark.parametrize("tag", languages.known())
def test_each_line_of_the_lists_can_be_read(tag: str) -> None:
    spoken = languages.for_language(tag)
    assert len(spoken.lines("weekdays.list")) == 7
    for phrase, meant in spoken.pairs("relative_days.list"):
        unit, steps = meant.split()
        assert unit in ("day", "week", "weekend", "month", "year") and -2 <= int(steps) <= 0
        assert named_days(phrase, tag, AT), phrase


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("what happened the day before yesterday", [(D(2026, 5, 11), D(2026, 5, 11))]),
        ("what did I say today", [TODAY]),
        ("what did we do last month", [LAST_MONTH]),
        ("what did we do last year", [(D(2025, 1, 1), D(2025, 12, 31))]),
        ("what did we do last weekend", [(D(2026, 5, 9), D(2026, 5, 10))]),
        ("who came on Wednesday", [(D(2026, 5, 6), D(2026, 5, 6))]),
        ("what was on 5 May 2023", [(D(2023, 5, 5), D(2023, 5, 5))]),
        ("what was on May 5th, 2023", [(D(2023, 5, 5), D(2023, 5, 5))]),
        ("what was on the 10th of May 2023", [(D(2023, 5, 10), D(2023, 5, 10))]),
        ("who came on 3 Mar", [(D(2026, 3, 3), D(2026, 3, 3)), (D(2025, 3, 3), D(2025, 3, 3))]),
        ("what did we do in July", [(D(2025, 7, 1), D(2025, 7, 31))]),
        ("what did we do in July 2022", [(D(2022, 7, 1), D(2022, 7, 31))]),
        ("what was in December 2025", [(D(2025, 12, 1), D(2025, 12, 31))]),
        ("what was on 30 February 2023", []),
        ("may I have the recipe", []),
        ("what may the cat eat", []),
        ("who is on Mar", []),
        ("what happened on the 5th in 2023", []),
        ("what do we do on Mondays", []),
    ],
)
def test_days_are_named_by_words_and_numbers(text: str, named: list[tuple[date, date]]) -> None:
    assert spans(text) == named


def test_days_are_counted_where_the_person_is() -> None:
    late = datetime(2026, 5, 13, 2, tzinfo=timezone.utc)
    assert spans("yesterday", at=late) == [YESTERDAY]
    assert spans("yesterday", at=late.astimezone(timezone(timedelta(hours=-8)))) == [(D(2026, 5, 11), D(2026, 5, 11))]


def test_the_numbers_of_chinese_months_are_read_in_both_ways() -> None:
    assert spans("十二月五号", "zh-CN")[:1] == [(D(2025, 12, 1), D(2025, 12, 31))]
    assert spans("在5月6号我读了什么书", "zh-CN")[0] == (D(2026, 5, 6), D(2026, 5, 6))
    assert spans("2023年11月2日", "ja-JP") == [(D(2023, 11, 2), D(2023, 11, 2))]


def test_a_zone_that_there_is_not_is_the_devices() -> None:
    assert zone(None) is zone("") is zone("Nowhere/Land") is zone("../etc") is None
    assert str(zone("Europe/Berlin")) == "Europe/Berlin"


# with a parser


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A parser that answers what a test says, and notes what it was asked."""
    noted: dict[str, Any] = {"answer": None, "asked": []}

    def extract(text: str, lang: str, anchorDate: datetime) -> Any:  # noqa: N803 - the parser's own name
        noted["asked"].append((text, lang, anchorDate))
        if isinstance(noted["answer"], Exception):
            raise noted["answer"]
        return noted["answer"] and [noted["answer"], text]

    module = ModuleType("ovos_date_parser")
    module.extract_datetime = extract  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ovos_date_parser", module)
    edge._parser.cache_clear()
    yield noted
    edge._parser.cache_clear()


def test_a_parser_finds_what_the_lists_do_not(parsed: dict[str, Any]) -> None:
    parsed["answer"] = AT - timedelta(days=21)
    (span,) = edge.days("what did we eat 3 weeks ago", "en-US", AT)
    assert (span.first, span.last) == (D(2026, 4, 22), D(2026, 4, 22))
    assert parsed["asked"] == [("what did we eat 3 weeks ago", "en-US", AT)]


@pytest.mark.parametrize("text", ["what did we eat yesterday", "where is the cat"])
def test_a_parser_is_not_asked_where_the_lists_find_days_or_nothing_tells_of_a_time(
    parsed: dict[str, Any], text: str
) -> None:
    parsed["answer"] = AT - timedelta(days=21)
    assert edge.days(text, "en-US", AT) == named_days(text, "en-US", AT)
    assert parsed["asked"] == []


@pytest.mark.parametrize("answer", [None, AT, AT + timedelta(days=1), ValueError("no such language")])
def test_what_a_parser_makes_of_today_of_what_comes_and_of_errors_is_no_day(
    parsed: dict[str, Any], answer: Any
) -> None:
    parsed["answer"] = answer
    assert edge.days("who comes at 5", "en-US", AT) == []


def test_a_parser_is_not_given_languages_that_it_does_not_know(parsed: dict[str, Any]) -> None:
    parsed["answer"] = AT - timedelta(days=21)
    assert edge.days("三周前 3", "zh-CN", AT) == []
    assert parsed["asked"] == []


def test_a_parser_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    running = threading.Event()

    def endless(*_: Any, **__: Any) -> Any:
        running.set()
        while True:
            pass

    monkeypatch.setattr(edge, "AT_MOST_S", 0.01)
    monkeypatch.setattr(edge, "_parser", lambda: endless)
    assert edge.days("who comes at 5", "en-US", AT) == []
    assert running.is_set()
    for thread in [one for one in threading.enumerate() if one.name == "date"]:
        thread.join(10)
        assert not thread.is_alive()


def test_without_a_parser_the_lists_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ovos_date_parser", None)
    edge._parser.cache_clear()
    assert edge.days("what did we eat 3 weeks ago", "en-US", AT) == []
    edge._parser.cache_clear()


def test_a_parser_that_is_still_being_loaded_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    may_load = threading.Event()
    asked = ("what did I say three weeks ago", "en", datetime(2026, 11, 22, 12))

    def slow() -> Any:
        assert may_load.wait(10)
        return lambda text, lang, anchorDate: (datetime(2026, 11, 1), "")  # noqa: N803  # the parser's own name

    monkeypatch.setattr(edge, "_parser", slow)
    edge._loading.cache_clear()
    try:
        assert edge.days_at_once(*asked) == named_days(*asked)
        may_load.set()
        edge._loading().join(10)
        assert [span.first.isoformat() for span in edge.days_at_once(*asked)] == ["2026-11-01"]
    finally:
        edge._loading.cache_clear()


def test_of_a_day_to_come_no_parser_is_asked_and_none_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(edge, "_parser_if_loaded", lambda: loaded.append("parser"))
    monday = datetime(2026, 11, 30, 9)
    assert edge.days_at_once("what do I have tomorrow", "en-US", monday) == []
    assert loaded == []
    edge.days_at_once("what did I say 3 weeks ago", "en-US", monday)
    assert loaded == ["parser"]


MORNING, AFTERNOON, EVENING = (4, 12), (12, 18), (17, 24)


@pytest.mark.parametrize(
    ("lang", "said", "day", "hours"),
    [
        ("en-US", "what did I say this morning", 13, MORNING),
        ("en-US", "what did I say yesterday evening", 12, EVENING),
        ("en-US", "what did I say on monday afternoon", 11, AFTERNOON),
        ("de-DE", "was habe ich heute früh gesagt", 13, MORNING),
        ("de-DE", "was habe ich gestern Abend gesagt", 12, EVENING),
        ("fr-FR", "qu'est-ce que j'ai dit ce matin", 13, MORNING),
        ("es-ES", "qué dije ayer por la mañana", 12, MORNING),
        ("it-IT", "cosa ho detto ieri sera", 12, EVENING),
        ("pt-PT", "o que disse ontem de manhã", 12, MORNING),
        ("gl-ES", "que dixen onte pola mañá", 12, MORNING),
        ("ca-ES", "què vaig dir ahir al matí", 12, MORNING),
        ("nl-NL", "wat zei ik vanochtend", 13, MORNING),
        ("da-DK", "hvad sagde jeg i morges", 13, MORNING),
    ],
)
def test_a_part_of_a_day_is_that_part(lang: str, said: str, day: int, hours: tuple[int, int]) -> None:
    span = parse_time_span(said, languages.for_language(lang), AT)
    start = datetime(2026, 5, day, tzinfo=timezone.utc)
    assert span is not None
    assert (span.since, span.until) == tuple((start + timedelta(hours=hour)).timestamp() for hour in hours)


def test_a_part_of_the_day_that_is_not_begun_is_the_day() -> None:
    noon = AT.replace(hour=12)
    span = parse_time_span("what did I say this evening", languages.for_language("en-US"), noon)
    assert span is not None
    assert (span.since, span.until) == (AT.replace(hour=0).timestamp(), noon.timestamp())


@pytest.mark.parametrize(
    ("lang", "text", "hours"),
    [
        ("de-DE", "was habe ich am montagabend erzählt", (17, 24)),
        ("de-DE", "am Montagvormittag", (4, 12)),
        ("nl-NL", "wat zei ik maandagmiddag", (12, 18)),
        ("da-DK", "hvad sagde jeg mandagaften", (17, 24)),
        ("de-DE", "am Montag", (0, 24)),
    ],
)
def test_a_part_of_a_day_may_be_joined_to_the_weekday(lang: str, text: str, hours: tuple[int, int]) -> None:
    found = parse_time_span(text, languages.for_language(lang), AT)
    begun = datetime(2026, 5, 11, tzinfo=timezone.utc)
    assert found is not None
    assert (found.since, found.until) == tuple((begun + timedelta(hours=hour)).timestamp() for hour in hours)
    assert spans(text, lang) == [MONDAY]
