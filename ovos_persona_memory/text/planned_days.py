"""Coming days that a text names, seen from the day on which it was said: "tomorrow", "on Friday", "every Monday"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.languages import Language
from ovos_persona_memory.text.time_expressions import DAY, DaySpan, months_named, span_of

LONGEST = timedelta(days=31)
"""A span of more days is no day that somebody has planned."""
PART = "part"
"""The unit of a phrase that names a part of a day, and no day: "por la mañana", beside "mañana"."""
YEARLY = "birthday"
"""The slot of ``asked_with.list`` whose words tell of a day that comes again each year."""
_MARKS = ".,;:!?"


@dataclass(frozen=True)
class ComingDays:
    """The days that a text names."""

    spans: tuple[DaySpan, ...] = ()
    weekdays: frozenset[int] = frozenset()
    """Days of every week, 0 is Monday."""
    yearly: frozenset[tuple[int, int]] = frozenset()
    """Months and days of every year."""

    def __bool__(self) -> bool:
        return bool(self.spans or self.weekdays or self.yearly)

    def holds(self, day: date) -> bool:
        """Whether a day is one of them."""
        each = day.weekday() in self.weekdays or (day.month, day.day) in self.yearly
        return each or any(span.holds(day) for span in self.spans)

    def meets(self, asked: ComingDays) -> bool:
        """Whether one of the days that a question asks for is among them."""
        return any(self.holds(day) for span in asked.spans for day in _days_of(span))

    def width_for(self, asked: ComingDays) -> int:
        """The number of days of the shortest span that meets the question; 1 for a day of every week or year."""
        days = {day for span in asked.spans for day in _days_of(span)}
        met = [(span.last - span.first).days + 1 for span in self.spans if any(span.holds(day) for day in days)]
        return min(met, default=1)


def coming_days(text: str, spoken: Language, said: datetime) -> ComingDays:
    """The days that a text, said at this time, names as coming; a weekday is the next one, or today."""
    today = said.date()
    dated = [(month, day) for _, month, day, _ in months_named(text, spoken) if day is not None]
    weekly = frozenset() if dated else frozenset(_named_in("weekly.list", text, spoken))
    relative = tuple(_relative(text, spoken, today))
    weekdays = () if dated else tuple(_next_weekdays(text, spoken, today, weekly))
    if weekdays:  # "this week on Wednesday" is a day of that week; "not today, on Friday" names two
        within = [day for span in relative for day in _days_of(span) if span.first < span.last]
        named = {day.first.weekday() for day in weekdays}
        narrowed = tuple(DaySpan(day, day) for day in within if day.weekday() in named)
        relative = tuple(span for span in relative if span.first == span.last)
        weekdays = narrowed or weekdays
    comes_again = not spoken.asking_words.get(YEARLY, frozenset()).isdisjoint(spoken.words(text))
    dates = () if comes_again else tuple(_dates(text, spoken, today))
    return ComingDays((*relative, *weekdays, *dates), weekly, frozenset(dated) if comes_again else frozenset())


def words_naming(asked: ComingDays, spoken: Language) -> list[str]:
    """Every wording with which a statement may name the days that a question asks for."""
    days = {day for span in asked.spans for day in _days_of(span)}
    found = [phrase for phrase, _ in spoken.pairs("coming_days.list")]
    for name in ("weekdays.list", "weekly.list"):
        lines = spoken.lines(name)
        found += [word for day in sorted(days) for word in lines[day.weekday()].split(",")] if lines else []
    months = spoken.lines("months.list")
    return list(dict.fromkeys([*found, *(months[day.month - 1] for day in sorted(days) if months)]))


def _days_of(span: DaySpan) -> Iterator[date]:
    number = min(span.last - span.first, LONGEST).days
    return (span.first + place * DAY for place in range(number + 1))


def _relative(text: str, spoken: Language, today: date) -> Iterator[DaySpan]:
    said = spoken.padded(text)
    for phrase, unit, steps in _listed(spoken.tag):
        if phrase in said:
            said = said.replace(phrase, " " if not spoken.uses_bigrams else "\n")
            if unit != PART:
                yield _coming(unit, steps, today)


def _coming(unit: str, steps: int, today: date) -> DaySpan:
    if unit == "weekend":  # of this week, or of a later one
        saturday = today + (5 - today.weekday() + 7 * steps) * DAY
        return DaySpan(saturday, saturday + DAY)
    return span_of(unit, steps, today)


@lru_cache(maxsize=64)
def _listed(tag: str) -> tuple[tuple[str, str, int], ...]:
    """The phrases of a language, the longest first, each with its unit and distance."""
    spoken = languages.for_language(tag)
    pairs = sorted(spoken.pairs("coming_days.list"), key=lambda pair: -len(pair[0]))
    return tuple(
        (spoken.padded(phrase), unit, int(steps)) for phrase, meant in pairs for unit, steps in [meant.split()]
    )


def _named_in(name: str, text: str, spoken: Language) -> Iterator[int]:
    """The weekdays of a list that a text names."""
    said = spoken.padded(text)
    for number, names in enumerate(spoken.lines(name)):
        if any(spoken.padded(one) in said for one in names.split(",")):
            yield number


def _orders(one: str, other: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return (one, other), (other, one)


def _next_weekdays(text: str, spoken: Language, today: date, weekly: frozenset[int]) -> Iterator[DaySpan]:
    over = set(_past_weekdays(text, spoken))
    for number in sorted({*_named_in("weekdays.list", text, spoken), *weekly} - over):
        day = today + (number - today.weekday()) % 7 * DAY
        yield DaySpan(day, day)
        if day == today:  # on a Friday, "on Friday" may be that of the week to come
            yield DaySpan(day + 7 * DAY, day + 7 * DAY)


def _past_weekdays(text: str, spoken: Language) -> Iterator[int]:
    """The weekdays that are over, "last Thursday", as they are said: "jeudi passé", but not "il passe jeudi"."""
    said = f" {' '.join(word.strip(_MARKS) for word in text.casefold().split())} "
    for number, names in enumerate(spoken.lines("weekdays.list")):
        pairs = (
            (past.casefold(), name.strip().casefold())
            for past in spoken.lines("past_days.list")
            for name in names.split(",")
        )
        if any(f" {first} {second} " in said for past, name in pairs for first, second in _orders(past, name)):
            yield number


def _dates(text: str, spoken: Language, today: date) -> Iterator[DaySpan]:
    for year, month, day, _ in months_named(text, spoken):
        if day is None:
            continue
        for guess in [year] if year else [today.year, today.year + 1]:
            found = _date(guess, month, day)
            if found is not None and (year or found >= today):
                yield DaySpan(found, found)
                break


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None
