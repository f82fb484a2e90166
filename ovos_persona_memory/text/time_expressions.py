"""Time expressions, and the days that a text names: "the last five minutes", "yesterday", "on Tuesday", "in May"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.index_terms import fold, plain
from ovos_persona_memory.text.languages import Language, beginning

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


def named_days(text: str, lang: str, at: datetime) -> list[DaySpan]:
    """The spans of days that a text names, by the lists of its language; empty where it names none.

    A date without a year gives this year's and last year's; a weekday is the last one before today.
    """
    spoken, today = languages.for_language(lang), at.date()
    relative = list(_relative_days(text, spoken, today))
    return relative or [*_weekdays(text, spoken, today), *_months(text, spoken, today)]


def _relative_days(text: str, spoken: Language, today: date) -> Iterator[DaySpan]:
    said = spoken.padded(text)
    for wanted, words, unit, steps in _relative_phrases(spoken):
        if wanted in said:
            said = said.replace(wanted, " ")
            yield replace(span_of(unit, steps, today), words=words, by_itself=False)


@lru_cache(maxsize=32)
def _relative_phrases(spoken: Language) -> list[tuple[str, frozenset[str], str, int]]:
    """Each phrase that names a day by its distance, padded, the longest first; its words, and unit and steps."""
    listed = sorted(spoken.pairs("relative_days.list"), key=lambda pair: -len(pair[0]))
    meant = [(phrase, *distance.split()) for phrase, distance in listed]
    return [(spoken.padded(phrase), frozenset(fold(phrase)), unit, int(steps)) for phrase, unit, steps in meant]


def span_of(unit: str, steps: int, today: date) -> DaySpan:
    """The day, week, month or year at this distance from the present one; a weekend is the last one, which may be the
    present one."""
    monday = today - today.weekday() * DAY
    if unit == "day":
        return DaySpan(today + steps * DAY, today + steps * DAY)
    if unit == "week":
        return DaySpan(monday + 7 * steps * DAY, monday + 7 * steps * DAY + 6 * DAY)
    if unit == "weekend":
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
    said = spoken.padded(with_parts_apart(text, spoken))
    for number, names in enumerate(_weekday_names(spoken)):
        found = [words for name, words in names if name in said]
        if found:
            day = today - ((today.weekday() - number - 1) % 7 + 1) * DAY
            yield DaySpan(day, day, found[0])


@lru_cache(maxsize=32)
def _weekday_names(spoken: Language) -> list[list[tuple[str, frozenset[str]]]]:
    """The names of each weekday, from Monday on: padded, and their words."""
    listed = [names.split(",") for names in spoken.lines("weekdays.list")]
    return [[(spoken.padded(name), frozenset(fold(name))) for name in names] for names in listed]


def _months(text: str, spoken: Language, today: date) -> Iterator[DaySpan]:
    for year, month, day, words in months_named(text, spoken):
        for guess in [year] if year else [today.year, today.year - 1]:
            span = _days(guess, month, day, words)
            if span and (year or span.first <= today):
                yield span


def months_named(text: str, spoken: Language) -> Iterator[_Named]:
    """Each month that a text names, with its year and its day where these are named, and the words of that."""
    return _in_pairs(text, spoken) if spoken.uses_bigrams else _by_name(text, spoken)


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
    months, full = spoken.months, spoken.month_names
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


LONGEST_NUMBER = 5
"""Words at most of a number: "quatre vingt dix sept"."""


@dataclass(frozen=True)
class TimeSpan:
    """A span of time: [since, until), seconds since the epoch, UTC."""

    since: float
    until: float


def zone(name: str | None) -> tzinfo | None:
    """The time zone with this IANA name; None, which means the device's own, where there is no such zone."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def duration_s(phrase: str, spoken: Language) -> float | None:
    """The duration that a phrase names, seconds: "five minutes", "an hour and a half"; None where it names none."""
    count: float | None = None
    total = unit = 0.0
    ended = 0  # end of the last number or unit; the next part of a duration follows a unit within a word
    for value, is_unit, start, end in _measures(fold(phrase), spoken):
        if total and start > ended + 1:
            break
        if not is_unit:
            count = _joined(count, value, start == ended)
        elif total and value >= unit:
            break
        else:
            total, unit, count = total + (1.0 if count is None else count) * value, value, None
        ended = end
    if total and count is not None and count < 1:
        total += count * unit  # "an hour and a half"
    return total or None


def _measures(words: list[str], spoken: Language) -> Iterator[tuple[float, bool, int, int]]:
    """Each number and each unit of time among the words: its value, whether it is a unit, first and last as a range."""
    units, numbers = spoken.table("units.list"), spoken.table("numbers.list")
    place = 0
    while place < len(words):
        ends = range(min(place + LONGEST_NUMBER, len(words)), place, -1)
        named = ((" ".join(words[place:end]), end) for end in ends)
        phrase, end = next((one for one in named if one[0] in units or one[0] in numbers), (words[place], place + 1))
        if phrase in units or phrase in numbers or phrase.isdecimal():
            value = units.get(phrase) or numbers.get(phrase) or float(phrase)
            yield value, phrase in units, place, end
        place = end


def _joined(before: float | None, value: float, is_next: bool) -> float:
    """The value of two numbers before one unit: "three quarters", "two and a half", "half an"."""
    if before is None or (value >= 1 and not (before < 1 and value == 1)):
        return value
    if value >= 1:
        return before
    return before * value if is_next and not (before > 1 and value == 0.5) else before + value


def ends_at(phrase: str, spoken: Language, now: datetime) -> float | None:
    """The end of a time that a phrase names from now on, seconds since the epoch: "two hours", "midnight", "ten".

    An hour is the next one of this name. None where the phrase names no time.
    """
    seconds = duration_s(phrase, spoken)
    if seconds is not None:
        return now.timestamp() + seconds
    today, said = now.replace(hour=0, minute=0, second=0, microsecond=0), f" {' '.join(fold(phrase))} "
    hours = next((hour for words, hour in spoken.table("ends.list").items() if f" {words} " in said), None)
    if hours is None:
        hours = next((value for value, is_unit, *_ in _measures(fold(phrase), spoken) if not is_unit), None)
        if hours is None or hours not in range(1, 25):
            return None
        hours += 12 if hours < 12 and now >= today + timedelta(hours=hours) else 0
    end = today + timedelta(hours=hours)
    return (end if end > now else end + timedelta(days=1)).timestamp()


def parse_time_span(phrase: str, spoken: Language, now: datetime) -> TimeSpan | None:
    """The span that the phrase names, ending now at the latest; None where it names none.

    Days are the person's, from midnight to midnight in the zone of ``now``.
    """
    phrase = with_parts_apart(beginning(phrase), spoken)
    named = _relative(phrase, spoken, now) or _weekday(phrase, spoken, now)
    if named is not None:
        start, end = _part_of_day(phrase, spoken, now, *named)
        return TimeSpan(start.timestamp(), min(end, now).timestamp())
    seconds = duration_s(phrase, spoken)
    return None if seconds is None else TimeSpan(max(now.timestamp() - seconds, 0.0), now.timestamp())


def with_parts_apart(phrase: str, spoken: Language) -> str:
    """The phrase with weekdays apart from the part of the day that is joined to them: "freitagabend"."""
    days, parts = _weekdays_and_parts(spoken)
    said = fold(phrase)
    apart = [one for word in said for one in _apart(word, days, parts)]
    return " ".join(apart) if len(apart) > len(said) else phrase


def _apart(word: str, days: frozenset[str], parts: frozenset[str]) -> tuple[str, ...]:
    day = next((one for one in days if word.startswith(one) and word[len(one) :] in parts), None)
    return (word,) if day is None else (day, word[len(day) :])


@lru_cache(maxsize=32)
def _weekdays_and_parts(spoken: Language) -> tuple[frozenset[str], frozenset[str]]:
    """The single words for weekdays and for parts of a day."""
    parts = [one for left, _ in spoken.pairs("day_parts.list") for one in left.split(",")]
    days = [word for names in _weekday_names(spoken) for _, words in names if len(words) == 1 for word in words]
    return frozenset(days), frozenset(words[0] for one in parts if len(words := fold(one)) == 1)


def _part_of_day(
    phrase: str, spoken: Language, now: datetime, start: datetime, end: datetime
) -> tuple[datetime, datetime]:
    """The part of a day that the phrase names, "this morning"; the span itself where it names none, or is no day, or
    that part is not begun."""
    said = f" {' '.join(fold(phrase))} "
    listed = [(fold(one), hours.split()) for left, hours in spoken.pairs("day_parts.list") for one in left.split(",")]
    named = [(words, hours) for words, hours in listed if f" {' '.join(words)} " in said]
    if not named or end - start > DAY:
        return start, end
    _, (first, last) = max(named, key=lambda one: len(one[0]))
    begin = start + timedelta(hours=int(first))
    return (begin, min(start + timedelta(hours=int(last)), end)) if begin < now else (start, end)


def happened_at(question: str, spoken: Language, now: datetime) -> TimeSpan | None:
    """The span that a question about events names: a day, an hour of it, or some last minutes.

    An hour without a day is the last one of this name: at noon "at three" is this night's.
    """
    question = beginning(question)
    day = _relative(question, spoken, now) or _weekday(question, spoken, now)
    clock = _clock(question, spoken)
    if clock is None:
        return parse_time_span(question, spoken, now)
    hour, minute, sure = clock
    start = (day[0] if day else now).replace(hour=hour, minute=minute or 0, second=0, microsecond=0)
    if not sure and hour < 12 and start.replace(hour=hour + 12) <= now and (day or now.hour >= hour + 12):
        start = start.replace(hour=hour + 12)  # of three at night and three in the afternoon, the later one
    if day is None and start > now:
        start -= timedelta(days=1)
        start = start.replace(hour=hour + 12) if not sure and hour < 12 else start
    length = timedelta(hours=1) if minute is None else timedelta(minutes=30)
    since = start if minute is None else start - timedelta(minutes=15)
    return TimeSpan(since.timestamp(), min(since + length, max(now, since)).timestamp())


_CLOCK = re.compile(r"(?<![\d.:])(\d{1,2})(?:[:.](\d{2}))?\s*([ap])?\.?(?:m\b)?", re.IGNORECASE)


def _clock(text: str, spoken: Language) -> tuple[int, int | None, bool] | None:
    """Hour, minute (None: not named) and whether the hour is surely of 24; None where no time of day is named.

    A number is an hour where a colon or "pm" marks it, or where it ends the text after a stop word ("at three").
    """
    for found in _CLOCK.finditer(text):
        hour, half = int(found[1]), (found[3] or "").lower()
        if (found[2] or half) and hour < 24:
            hour = hour % 12 + (12 if half == "p" else 0) if half else hour
            return hour, int(found[2]) if found[2] else None, bool(half) or hour > 12
    *_, before, last = ["", "", *fold(text)]
    number = float(last) if last.isdecimal() else spoken.table("numbers.list").get(last)
    if number is None or number not in range(24) or before not in spoken.stop_words:
        return None
    return int(number), None, number > 12


def _relative(phrase: str, spoken: Language, now: datetime) -> tuple[datetime, datetime] | None:
    """The span of "yesterday", "last week" and their like, by the list of the language."""
    said = f" {' '.join(fold(phrase))} "
    pairs = (line.partition(":") for line in spoken.phrases("relative_days.list"))
    named = [(" ".join(fold(left)), right.split()) for left, _, right in pairs]
    found = max((pair for pair in named if f" {pair[0]} " in said), key=lambda pair: len(pair[0]), default=None)
    return None if found is None else _stretch(found[1][0], int(found[1][1]), now)


def _stretch(unit: str, distance: int, now: datetime) -> tuple[datetime, datetime]:
    """The day, weekend, week, month or year at this distance from the present one."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        return today + timedelta(days=distance), today + timedelta(days=distance + 1)
    if unit in ("week", "weekend"):
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=distance)
        first = monday + timedelta(days=5 if unit == "weekend" else 0)
        return first, monday + timedelta(days=7)
    if unit == "month":
        months = now.year * 12 + now.month - 1 + distance
        return _first_of(today, months), _first_of(today, months + 1)
    return _first_of(today, (now.year + distance) * 12), _first_of(today, (now.year + distance + 1) * 12)


def _first_of(day: datetime, months: int) -> datetime:
    return day.replace(year=months // 12, month=months % 12 + 1, day=1)


def _weekday(phrase: str, spoken: Language, now: datetime) -> tuple[datetime, datetime] | None:
    """The last day of this name before today."""
    said = f" {' '.join(fold(phrase))} "
    for number, names in enumerate(spoken.phrases("weekdays.list")):
        if any(f" {' '.join(fold(name))} " in said for name in names.split(",")):
            start = now.replace(hour=0, minute=0, second=0, microsecond=0)
            start -= timedelta(days=(now.weekday() - number) % 7 or 7)
            return start, start + timedelta(days=1)
    return None
