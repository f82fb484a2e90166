"""Times that people name: "the last five minutes", "yesterday", "on Tuesday"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ovos_persona_memory.language import Language, fold


@dataclass(frozen=True)
class Span:
    """A time that was named: [since, until), seconds since the epoch, UTC."""

    since: float
    until: float


def zone(name: str | None) -> tzinfo | None:
    """The time zone of this name; None, which stands for the device's own, where it is not known."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def duration_s(phrase: str, spoken: Language) -> float | None:
    """How long the phrase says, seconds: "five minutes", "an hour", "two and a half hours" says two."""
    units, numbers = spoken.table("units.list"), spoken.table("numbers.list")
    count = 1.0
    for word in fold(phrase):
        if word in units:
            return count * units[word]
        if word.isdecimal():
            count = float(word)
        elif word in numbers:
            count = numbers[word]
    return None


def span(phrase: str, spoken: Language, now: datetime) -> Span | None:
    """The time that the phrase names, ending now at the latest; None where it names none.

    Days are the person's, from midnight to midnight in the zone of ``now``.
    """
    named = _day(phrase, spoken, now)
    if named is not None:
        start = (now - timedelta(days=named[0])).replace(hour=0, minute=0, second=0, microsecond=0)
        end = min(start + timedelta(days=named[1]), now)
        return Span(start.timestamp(), end.timestamp())
    seconds = duration_s(phrase, spoken)
    return None if seconds is None else Span(now.timestamp() - seconds, now.timestamp())


def _day(phrase: str, spoken: Language, now: datetime) -> tuple[int, int] | None:
    """How many days ago the named time began, and how many days it lasted."""
    said = f" {' '.join(fold(phrase))} "
    for words, days in spoken.table("day_words.list").items():
        if f" {words} " in said:
            return int(days), 1
    for words, weeks in spoken.table("week_words.list").items():
        if f" {words} " in said:
            return now.weekday() + 7 * int(weeks), 7
    for number, name in enumerate(spoken.phrases("weekdays.list")):
        if any(f" {one} " in said for one in map(" ".join, map(fold, name.split("/")))):
            return (now.weekday() - number) % 7 or 7, 1
    return None
