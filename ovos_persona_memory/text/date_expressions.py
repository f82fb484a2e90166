"""Date expressions in a question: months, weekdays and days relative to today, by the language's lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.index_terms import fold, plain
from ovos_persona_memory.text.languages import Language

DAY = timedelta(1)


@dataclass(frozen=True)
class DaySpan:
    """A span of days, both ends included."""

    first: date
    last: date
    words: frozenset[str] = frozenset()
    """The folded words that name the days."""
    by_itself: bool = True
    """Whether a text with these words means the same days whenever it was said; "yesterday" does not."""

    @property
    def short(self) -> bool:
        """Whether the span is at most a week."""
        return self.last - self.first < 7 * DAY

    def holds(self, day: date | None) -> bool:
        """Whether a day is in the span."""
        return day is not None and self.first <= day <= self.last


Dates = Callable[[str, str, datetime], Sequence[DaySpan]]
"""A date parser: from text, language tag and moment of asking (in the asker's time zone) to the spans of days named."""

_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"([0-3]?\d)(?:st|nd|rd|th|er|e)?")
_EAST_ASIAN = re.compile(r"(?:(\d{4})\s*[年년])?\s*(?<!\d)(\d{1,2})\s*[月월]\s*(?:(\d{1,2})\s*[日號号일])?")
_NUMERALS = ("十二", "十一", "十", "九", "八", "七", "六", "五", "四", "三", "二", "一")
_VERBS = frozenset({"may"})
"""Month names that are also verbs: they are months only behind a preposition of time."""
_BEFORE_A_MONTH = frozenset({"in", "of", "last", "this", "since", "until", "during", "by", "early", "late"})


def zone(name: str | None) -> tzinfo | None:
    """The time zone with this IANA name; None, which means the device's own, where there is no such zone."""
    try:
        return ZoneInfo(name) if name else None
    except (OSError, ValueError, KeyError):  # unknown zone, no zone data, or no name
        return None


def named_days(text: str, lang: str, at: datetime) -> list[DaySpan]:
    """The spans of days that a text names, by the lists of its language; empty where it names none.

    A date without a year gives this year's and last year's; a weekday is the last one before today.
    """
    spoken, today = languages.for_language(lang), at.date()
    relative = list(_relative(text, spoken, today))
    return relative or [*_weekdays(text, spoken, today), *_months(text, spoken, today)]


def _relative(text: str, spoken: Language, today: date) -> Iterator[DaySpan]:
    said = spoken.padded(text)
    listed = sorted(spoken.pairs("relative_days.list"), key=lambda pair: -len(pair[0]))
    for phrase, meant in listed:
        wanted = spoken.padded(phrase)
        if wanted in said:
            said = said.replace(wanted, " ")
            unit, steps = meant.split()
            yield replace(_span(unit, int(steps), today), words=frozenset(fold(phrase)), by_itself=False)


def _span(unit: str, steps: int, today: date) -> DaySpan:
    monday = today - today.weekday() * DAY
    if unit == "day":
        return DaySpan(today + steps * DAY, today + steps * DAY)
    if unit == "week":
        return DaySpan(monday + 7 * steps * DAY, monday + 7 * steps * DAY + 6 * DAY)
    if unit == "weekend":  # the last weekend, which may be the present one
        saturday = today - ((today.weekday() - 5) % 7) * DAY
        return DaySpan(saturday, saturday + DAY)
    if unit == "month":
        months = today.year * 12 + today.month - 1 + steps
        return _month(months // 12, months % 12 + 1)
    return DaySpan(date(today.year + steps, 1, 1), date(today.year + steps, 12, 31))


def _month(year: int, month: int, words: frozenset[str] = frozenset()) -> DaySpan:
    following = date(year + month // 12, month % 12 + 1, 1)
    return DaySpan(date(year, month, 1), following - DAY, words)


def _weekdays(text: str, spoken: Language, today: date) -> Iterator[DaySpan]:
    said = spoken.padded(text)
    for number, names in enumerate(spoken.lines("weekdays.list")):
        found = [name for name in names.split(",") if spoken.padded(name) in said]
        if found:
            day = today - ((today.weekday() - number - 1) % 7 + 1) * DAY
            yield DaySpan(day, day, frozenset(fold(found[0])))


def _months(text: str, spoken: Language, today: date) -> Iterator[DaySpan]:
    named = _in_pairs(text, spoken) if spoken.uses_bigrams else _by_name(text, spoken)
    for year, month, day, words in named:
        for guess in [year] if year else [today.year, today.year - 1]:
            span = _days(guess, month, day, words)
            if span and (year or span.first <= today):
                yield span


def _days(year: int, month: int, day: int | None, words: frozenset[str]) -> DaySpan | None:
    try:
        return DaySpan(date(year, month, day), date(year, month, day), words) if day else _month(year, month, words)
    except (ValueError, OverflowError):  # no such day, or a day beyond the calendar's end
        return None


_Named = tuple[int | None, int, int | None, frozenset[str]]


def _in_pairs(text: str, spoken: Language) -> Iterator[_Named]:
    """Months as numerals, or by a name that no blank separates from its day."""
    low = plain(text)
    if spoken.primary == "th":
        for month, name in enumerate(spoken.lines("months.list"), 1):
            for found in re.finditer(rf"(?:(\d{{1,2}})\s*)?{re.escape(plain(name))}", low):
                yield None, month, int(found[1]) if found[1] else None, frozenset(fold(found[0]))
        return
    for value, numeral in zip(range(12, 0, -1), _NUMERALS, strict=True):
        low = re.sub(rf"(?<![一二三四五六七八九十]){numeral}(?=[月])", str(value), low)
    for dated in _EAST_ASIAN.finditer(low):
        year, number, day = (int(part) if part else None for part in dated.groups())
        if number is not None and 1 <= number <= 12:
            yield year, number, day, frozenset(fold(dated[0]))


def _by_name(text: str, spoken: Language) -> Iterator[_Named]:
    """Months by their names, or the first three letters of one beside a number; days and years as numbers."""
    months, full = spoken.months(), {" ".join(fold(line)) for line in spoken.lines("months.list")}
    words = fold(text)
    for place, word in enumerate(words):
        month = months.get(word)
        if month is None:
            continue
        day, year = _numbers_near(words, place)
        before = words[place - 1] if place else ""
        alone = word in full and (word not in _VERBS or before in _BEFORE_A_MONTH)
        if alone or day or year:
            yield year, month, day, frozenset({word, str(day)} if day else {word})


def _numbers_near(words: Sequence[str], place: int) -> tuple[int | None, int | None]:
    """The day and the year beside a month."""
    near = [words[i] for i in (place - 1, place + 1) if 0 <= i < len(words)]
    if place > 1 and len(words[place - 1]) <= 3:  # "the 10th of May"
        near.append(words[place - 2])
    wider = [words[i] for i in range(max(place - 2, 0), min(place + 3, len(words))) if i != place]
    day = next((int(m[1]) for w in near if (m := _DAY.fullmatch(w)) and 1 <= int(m[1]) <= 31), None)
    return day, next((int(w) for w in wider if _YEAR.fullmatch(w)), None)
