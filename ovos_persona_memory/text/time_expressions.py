"""Time expressions: "the last five minutes", "yesterday", "on Tuesday", "at three"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ovos_persona_memory.text.index_terms import fold
from ovos_persona_memory.text.languages import Language, beginning

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
    phrase = beginning(phrase)
    named = _relative(phrase, spoken, now) or _weekday(phrase, spoken, now)
    if named is not None:
        start, end = named
        return TimeSpan(start.timestamp(), min(end, now).timestamp())
    seconds = duration_s(phrase, spoken)
    return None if seconds is None else TimeSpan(max(now.timestamp() - seconds, 0.0), now.timestamp())


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
