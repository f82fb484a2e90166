"""Writes test/data/household_weeks.jsonl.gz: eight weeks of six made-up households, to measure recall on.

Two households in English, German and French each, in the format of docs/recall.md. The same seed makes the same lines.
What they say is in household_texts/; no two households of one language speak of the same things, so that the questions
of one should find nothing in the other.

    python test/data/generators/household.py [FILE]
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

TEXTS = Path(__file__).parent / "household_texts"
TARGET = Path(__file__).parents[3] / "test" / "data" / "household_weeks.jsonl.gz"
LANGUAGES = ("en", "de", "fr")
SEED = 20260105
FIRST_DAY = date(2026, 1, 5)
"""A Monday."""
WEEKS = 8
ASKED_ON = FIRST_DAY + timedelta(weeks=WEEKS)
"""The Monday after: "last week" is the eighth week, and the latest Tuesday is in it."""
TURN_S = 20


@dataclass(frozen=True)
class Line:
    """One thing said; evidence names it by its mark."""

    role: str
    speaker: str
    text: str
    mark: str | None = None


@dataclass(frozen=True)
class Event:
    """Something that somebody did on a day."""

    mark: str
    what: str
    who: str
    day: int


@dataclass
class Household:
    """One household while it is written."""

    texts: dict[str, Any]
    own: dict[str, Any]
    chance: random.Random
    said: dict[int, list[list[Line]]] = field(default_factory=dict)
    """By day, counted from the first: exchanges that matter, in order."""
    questions: list[tuple[str, str, list[str]]] = field(default_factory=list)
    """(question, kind, marks of the evidence)."""

    def somebody(self) -> str:
        return str(self.chance.choice(self.own["people"]))

    def tell(self, day: int, who: str, text: str, mark: str | None) -> None:
        """A person says something, and the assistant takes note."""
        reply = self.chance.choice(self.texts["acks"])
        self.said.setdefault(day, []).append([Line("user", who, text, mark), Line("assistant", "assistant", reply)])

    def ask(self, day: int, who: str, text: str, reply: str, mark: str | None = None) -> None:
        """A person asks something, and the assistant says something."""
        self.said.setdefault(day, []).append([Line("user", who, text), Line("assistant", "assistant", reply, mark)])


def facts(home: Household) -> None:
    """Statements; some are corrected later, and half are asked about in vain, in other people's words."""
    for number, (say, near, far, *corrected) in enumerate(home.own["facts"]):
        who, day, mark = home.somebody(), home.chance.randrange(0, 35), f"fact{number}"
        home.tell(day, who, say, mark)
        if corrected:
            day, mark = day + home.chance.randrange(5, 14), f"corrected{number}"
            home.tell(day, who, corrected[0], mark)
        if number % 2:
            day += home.chance.randrange(1, 6)
            home.ask(day, home.somebody(), near, home.chance.choice(home.texts["unsure"]))
        kinds = ("corrected", "corrected") if corrected else ("fact", "reworded")
        home.questions += [(near, kinds[0], [mark]), (far.format(who=who), kinds[1], [mark])]


def views(home: Household) -> None:
    """Two people speak of the same thing; one question is about each, one about who said it."""
    for number, (topic, *said, who_said, whose) in enumerate(home.own["views"]):
        day = home.chance.randrange(0, 7 * WEEKS)
        for place, (who, text) in enumerate(zip(home.chance.sample(home.own["people"], 2), said, strict=True)):
            home.tell(day, who, text, f"view{number}.{place}")
            about = home.texts["say_about"].format(who=who, topic=topic)
            home.questions.append((about, "who_said", [f"view{number}.{place}"]))
        home.questions.append((who_said, "who_said", [f"view{number}.{whose}"]))


def told(home: Household) -> None:
    """What the assistant told."""
    for number, (asked, answer, later) in enumerate(home.own["told"]):
        home.ask(home.chance.randrange(0, 7 * WEEKS), home.somebody(), asked, answer, f"told{number}")
        home.questions.append((later, "assistant", [f"told{number}"]))


def events(home: Household) -> None:
    """What happened on one day a week or two, and questions that name a time or ask for one."""
    for number, kind in enumerate(home.own["events"]):
        happened = list(_happenings(home, number, kind))
        for event in happened:
            home.tell(event.day, event.who, kind["say"].format(x=event.what), event.mark)
        last = next(event for event in happened if event.day >= 7 * (WEEKS - 1))
        earlier = [event for event in happened if 7 <= event.day < 7 * (WEEKS - 1)]
        dated, plain = home.chance.sample(earlier, 2)
        for one, window in ((last, "weekday"), (last, "last_week"), (dated, "date"), (happened[0], "month")):
            _ask_about(home, kind["day"], window, one, happened)
        home.questions.append((kind["when"].format(x=plain.what, who=plain.who), "when", [plain.mark]))


def _happenings(home: Household, number: int, kind: dict[str, Any]) -> Iterator[Event]:
    """One a week and two more, on different days; in the last week not on a Monday, the day of asking."""
    days = [7 * week + home.chance.randrange(1, 7) for week in range(WEEKS)]
    days += home.chance.sample([day for day in range(7 * WEEKS) if day % 7 and day not in days], 2)
    names = home.chance.sample(kind["values"], len(days))
    for place, (day, name) in enumerate(zip(sorted(days), names, strict=True)):
        yield Event(f"event{number}.{place}", name, home.somebody(), day)


def _ask_about(home: Household, question: str, window: str, one: Event, happened: list[Event]) -> None:
    when, within = _window(home.texts, window, one.day)
    same = [event for event in happened if event.day in within and ("{who}" not in question or event.who == one.who)]
    home.questions.append((question.format(when=when, who=one.who), window, [event.mark for event in same]))


def _window(texts: dict[str, Any], window: str, day: int) -> tuple[str, range]:
    """How a time is put into words, and the days that it means."""
    on = FIRST_DAY + timedelta(days=day)
    month = texts["months"][on.month - 1]
    if window == "weekday":
        return texts["weekdays"][on.weekday()], range(day, day + 1)
    if window == "last_week":
        return texts["last_week"], range(7 * (WEEKS - 1), 7 * WEEKS)
    if window == "date":
        return texts["on_date"].format(day=on.day, month=month), range(day, day + 1)
    ends = (date(on.year, on.month + 1, 1) - FIRST_DAY).days
    return texts["in_month"].format(month=month), range((date(on.year, on.month, 1) - FIRST_DAY).days, ends)


def small_talk(home: Household) -> list[Line]:
    """A command or chatter, with its reply."""
    pairs = home.texts["chatter"] if home.chance.random() < 0.45 else home.texts["commands"]
    slots = {"room": home.chance.choice(home.texts["rooms"]), "n": home.chance.choice((5, 10, 15, 20, 25))}
    asked, reply = home.chance.choice(pairs)
    return [Line("user", home.somebody(), asked.format(**slots)), Line("assistant", "assistant", reply.format(**slots))]


def turns(home: Household) -> Iterator[tuple[Line, str, datetime]]:
    """Everything said, in order, with its session and time: what matters, in the evening, amid small talk."""
    for day in range(7 * WEEKS):
        on = FIRST_DAY + timedelta(days=day)
        hours = sorted({7, home.chance.choice((12, 15)), 19} if home.chance.random() < 0.5 else {7, 19})
        for hour in hours:
            exchanges = [small_talk(home) for _ in range(home.chance.randrange(1, 4))]
            for exchange in home.said.get(day, []) if hour == 19 else ():
                exchanges.insert(home.chance.randrange(len(exchanges) + 1), exchange)
            at = datetime.combine(on, time(hour, home.chance.randrange(0, 50)))
            for place, line in enumerate(line for exchange in exchanges for line in exchange):
                yield line, f"{on:%m%d}-{hour:02}", at + timedelta(seconds=TURN_S * place)


def conversation(texts: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """One household as a line of the file."""
    home = Household(texts, own, random.Random(f"{SEED} {own['name']}"))
    for chapter in (facts, views, told, events):
        chapter(home)
    home.questions += [(question, "never_said", []) for question in own["never"]]
    written, ids = [], {}
    for number, (line, session, at) in enumerate(turns(home), start=1):
        ids[line.mark] = f"t{number}"
        said = {"role": line.role, "speaker": line.speaker, "text": line.text}
        written.append({"id": f"t{number}", "session": session, "at": at.isoformat(), **said})
    return {
        "dataset": "household_weeks",
        "conversation": own["name"],
        "language": texts["language"],
        "turns": written,
        "questions": [
            {
                "question": question,
                "kind": kind,
                "evidence": [ids[mark] for mark in marks],
                "asked_at": datetime.combine(ASKED_ON, time(18, place % 60)).isoformat(),
            }
            for place, (question, kind, marks) in enumerate(home.questions)
        ],
    }


def lines() -> bytes:
    """The whole file, not packed."""
    found = []
    for language in LANGUAGES:
        texts = json.loads((TEXTS / f"{language}.json").read_text(encoding="utf-8"))
        found += [conversation(texts, own) for own in texts["households"]]
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found).encode()


def main() -> None:
    """Write the file."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.write_bytes(gzip.compress(lines(), mtime=0))


if __name__ == "__main__":
    main()
