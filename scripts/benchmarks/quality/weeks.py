"""Weeks of households with their assistant, as files: what is said, what is asked, and how the answers were judged.

A file, named by its language (``en-US.week``), holds one line for everything that is said:

    # anna: mother, 41
    == monday morning
    anna: i put the passports in the blue drawer
    anna?same_words: where did i put the passports => in the blue drawer

``# name: who`` presents a person, ``== day part`` lets time go by, ``name: words`` is told, ``name?kind: words =>
answer`` is a question and what a right answer says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

MONDAY = datetime(2027, 6, 7, tzinfo=timezone.utc)
"""The day on which a week begins."""
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
PARTS = {"morning": 8.0, "noon": 12.25, "midday": 12.25, "afternoon": 15.5, "evening": 19.0, "night": 22.0}
"""The hours at which the parts of a day begin."""
VERDICTS = ("right", "partly", "wrong", "outdated", "silent", "invented")
TAG = re.compile(r"([a-z]{2,3}-[A-Z]{2})(?![A-Za-z])")
SAID = re.compile(r"(?P<person>[^\s:?#=][^:?]*?)\s*(?:\?\s*(?P<kind>\w+)\s*)?:\s*(?P<words>.*)")


class WeekError(ValueError):
    """A file that cannot be read as a week, or verdicts that do not fit one; the text says where and why."""


@dataclass(frozen=True)
class WeekLine:
    """Something that is said."""

    number: int
    """Of the line in its file, from 1."""
    heading: str
    at: datetime
    """When the part of the week begins in which it is said, UTC."""
    person: str
    words: str
    kind: str | None = None
    """The kind of a question; None for everything else."""
    expected: str | None = None
    """What a right answer to the question says; "nothing" where it was never told."""


@dataclass(frozen=True)
class Week:
    """A household's week."""

    path: Path
    lang: str
    people: dict[str, str]
    """Who each is, by name."""
    lines: tuple[WeekLine, ...]


@dataclass(frozen=True)
class Verdict:
    """How the reply to a question was judged."""

    lang: str
    kind: str
    verdict: str


@dataclass
class _Reading:
    """What is known so far of a file that is being read."""

    people: dict[str, str] = field(default_factory=dict)
    heading: str = ""
    at: datetime = MONDAY
    lines: list[WeekLine] = field(default_factory=list)

    def take(self, number: int, line: str) -> None:
        """Read one more line."""
        if line.startswith("=="):
            self.heading = line.strip("= ")
            self.at = moment(self.heading, self.at)
        elif line.startswith("#"):
            name, colon, who = line.lstrip("# ").partition(":")
            if colon:
                self.people[name.strip()] = who.strip()
        elif line:
            self.lines.append(self._said(number, line))

    def _said(self, number: int, line: str) -> WeekLine:
        found = SAID.fullmatch(line)
        names = {name.casefold(): name for name in self.people}
        if found is None or found["person"].casefold() not in names:
            raise WeekError(f"{line!r}: nobody of {', '.join(self.people) or 'nobody'} says that")
        if not self.heading:
            raise WeekError("something is said before the first heading")
        words, arrow, expected = found["words"].partition("=>")
        if bool(arrow) != bool(found["kind"]) or (arrow and not expected.strip()) or not words.strip():
            raise WeekError(f"{line!r}: a question has a kind, words and an answer, anything else only words")
        answer = expected.strip() if arrow else None
        person = names[found["person"].casefold()]
        return WeekLine(number, self.heading, self.at, person, words.strip(), found["kind"], answer)


def read(path: Path) -> Week:
    """The week of a file; WeekError names the line that cannot be read."""
    reading = _Reading()
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        try:
            reading.take(number, line.strip())
        except WeekError as error:
            raise WeekError(f"{path}, line {number}: {error}") from None
    return Week(path, language_of(path), reading.people, tuple(reading.lines))


def language_of(path: Path) -> str:
    """The language tag in a file's name."""
    found = TAG.search(path.name)
    if found is None:
        raise WeekError(f"{path}: the name of the file begins with no language tag, as en-US.week does")
    return found[1]


def moment(heading: str, before: datetime) -> datetime:
    """When a part of the week begins; never before ``before``: a weekday that is past is that of the next week."""
    words = re.findall(r"\w+", heading.casefold())
    days, parts = [word for word in words if word in DAYS], [word for word in words if word in PARTS]
    if len(days) != 1 or len(parts) != 1:
        raise WeekError(f"{heading!r}: a heading names a day and one of {', '.join(PARTS)}, in English")
    at = MONDAY + timedelta(days=DAYS.index(days[0]), hours=PARTS[parts[0]])
    while at.date() < before.date():
        at += timedelta(days=7)
    if at < before:
        raise WeekError(f"{heading!r}: that is before the heading above it")
    return at


def verdicts_of(path: Path) -> list[Verdict]:
    """The verdicts of a file of JSON lines (``file``, ``number``, ``verdict``), one for each question of its weeks.

    ``file`` is the path of the week, from here or from the folder of the verdicts. WeekError where a question has no
    verdict or two, or a verdict is about no question.
    """
    given: dict[Path, dict[int, str]] = {}
    for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
        item = json.loads(line)
        of_week = given.setdefault(_week_at(item["file"], path.parent), {})
        if item["verdict"] not in VERDICTS or item["number"] in of_week:
            raise WeekError(f"{line}: a question is judged once, and as one of {', '.join(VERDICTS)}")
        of_week[item["number"]] = item["verdict"]
    return [verdict for week, judged in given.items() for verdict in _of_week(read(week), judged)]


def _week_at(name: str, folder: Path) -> Path:
    for path in (Path(name), folder / name):
        if path.is_file():
            return path.resolve()
    raise WeekError(f"{name}: there is no such week, here or in {folder}")


def _of_week(week: Week, judged: dict[int, str]) -> Iterator[Verdict]:
    kinds = {line.number: line.kind for line in week.lines if line.kind is not None}
    if differing := sorted(kinds.keys() ^ judged.keys()):
        missing = ", ".join(map(str, differing))
        raise WeekError(f"{week.path}: in these lines is a question or a verdict, but not both: {missing}")
    return (Verdict(week.lang, kind, judged[number]) for number, kind in kinds.items())


def shares(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The share of each verdict, percent."""
    return {name: 100 * sum(one.verdict == name for one in verdicts) / len(verdicts) for name in VERDICTS}


def by_language(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """For each language, and for all together under "all": how many questions, and the share of each verdict, percent,
    over all kinds and for each of them."""
    found: dict[str, Any] = {}
    for lang in [*sorted({one.lang for one in verdicts}), "all"]:
        mine = [one for one in verdicts if lang in (one.lang, "all")]
        kinds = {kind: [one for one in mine if one.kind == kind] for kind in dict.fromkeys(one.kind for one in mine)}
        each = {kind: {"questions": len(of_kind), **shares(of_kind)} for kind, of_kind in kinds.items()}
        found[lang] = {"questions": len(mine), **shares(mine), "kinds": each}
    return found


def table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The share that is right of each kind, percent, a column for each language, and the share of every verdict."""
    figures = by_language(verdicts)
    kinds = list(figures["all"]["kinds"])
    width = max(len(name) for name in (*kinds, *VERDICTS, "questions")) + 2
    yield f"{'right, %':<{width}}" + "".join(f"{lang:>8}" for lang in figures)
    for kind in kinds:
        cells = (figures[lang]["kinds"].get(kind, {}).get("right") for lang in figures)
        yield f"{kind:<{width}}" + "".join(f"{'' if cell is None else f'{cell:.0f}':>8}" for cell in cells)
    yield f"{'of all, %':<{width}}"
    for name in VERDICTS:
        yield f"{name:<{width}}" + "".join(f"{figures[lang][name]:>8.1f}" for lang in figures)
    yield f"{'questions':<{width}}" + "".join(f"{figures[lang]['questions']:>8}" for lang in figures)
