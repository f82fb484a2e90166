"""Markup of talk: facts are marked in the text, as people write it; docs/facts.md describes the format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.evaluation.labelled_conversations import Timestamp
from ovos_persona_memory.evaluation.labelled_talk import LabelledFact, LabelledTalk, TalkTurn
from ovos_persona_memory.records import GUEST, Role
from ovos_persona_memory.text import languages

ENDING = ".talk"
"""The suffix of such files."""
TELEVISION = "tv"
BESIDE = ("who", "thing")
"""Marks that are no facts by themselves: the person whom a fact is about, and the object of a value."""
KEPT = "asked"
"""The mark of a request to remember that fits no slot."""
STATED = "stated"
TEACHES = (STATED, "asked")
"""The kinds of saying from which a fact is learned."""
SAYINGS = (*TEACHES, "over", "denied", "unsure", "quoted", "other")
"""What a mark says about its value: it holds, is to be remembered, holds no more, is denied or taken back, doubted, in
another's words, or told of somebody who is neither family nor of the household."""
BEGAN = datetime(2026, 9, 1, 7, tzinfo=timezone.utc)
BETWEEN_BLOCKS, BETWEEN_LINES = timedelta(minutes=30), timedelta(seconds=12)
_LINE = re.compile(r"(?P<name>[^:>!?]+)(?P<sign>[!?]?): ?(?P<text>.*)")
_MARK = re.compile(r"\[([^\]]+)\]\{([^}]+)\}")


@dataclass(frozen=True)
class FactMark:
    """A marked span of a turn: characters from ``first`` up to ``last``, ``last`` excluded."""

    kinds: tuple[str, ...]
    """Slots that are right, the best first; or "who", "thing" or "asked"."""
    first: int
    last: int
    saying: str = STATED
    """One of SAYINGS."""


@dataclass(frozen=True)
class MarkedTalk:
    """A talk, and the marks of its turns."""

    talk: LabelledTalk
    marks: dict[str, tuple[FactMark, ...]] = field(default_factory=dict)
    """Marks by the id of a turn; empty for a turn that must teach nothing."""
    questions: frozenset[str] = frozenset()
    """The ids of turns that ask something, with or without a question mark."""


@dataclass
class _TalkBuilder:
    """A talk while its file is parsed."""

    language: str
    at: datetime = BEGAN
    room: str = ""
    turns: list[TalkTurn] = field(default_factory=list)
    facts: list[LabelledFact] = field(default_factory=list)
    nothing: list[str] = field(default_factory=list)
    marks: dict[str, tuple[FactMark, ...]] = field(default_factory=dict)
    questions: set[str] = field(default_factory=set)


def read_marked(path: Path) -> MarkedTalk:
    """The talk in a file; InvalidRequest naming file and line where it is not as documented."""
    read = _TalkBuilder(_language_of(path))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            known = _read_line(read, line.strip())
        except InvalidRequest as error:
            raise InvalidRequest(f"{path}, line {number}", error.reason) from error
        if not known:
            raise InvalidRequest(f"{path}, line {number}", "is neither '@room', 'name: words' nor '> words'")
    talk = LabelledTalk(read.language, read.turns, read.facts, read.nothing, path.stem)
    return MarkedTalk(talk, read.marks, frozenset(read.questions))


def _read_line(read: _TalkBuilder, line: str) -> bool:
    """Parse one line; whether it could be read."""
    if not line:
        read.at += BETWEEN_BLOCKS
        return True
    if line.startswith("@"):
        read.room = line[1:].strip()
        return True
    if line.startswith(">"):
        _said(read, "", line[1:].lstrip("! "))
        return True
    match = _LINE.fullmatch(line)
    if match is not None:
        _said(read, match["name"].strip().lower(), match["text"], match["sign"])
    return match is not None


def _language_of(path: Path) -> str:
    """The language tag by which the nearest folder is named."""
    tag = next((folder.name for folder in path.absolute().parents if folder.name in languages.known()), None)
    if tag is None:
        raise InvalidRequest(str(path), "is in no folder named by its language, as en-US")
    return tag


def _said(read: _TalkBuilder, name: str, line: str, sign: str = "") -> None:
    """Add the turn of a line; ``name``: empty for the assistant; ``sign``: "!" teaches nothing, "?" asks something."""
    read.at += BETWEEN_LINES
    turn_id = f"t{len(read.turns) + 1}"
    text, marks = _unmarked(line)
    person = None if name in ("", TELEVISION) else GUEST if name.startswith(GUEST) else name
    role: Role = "user" if name else "assistant"
    speaker = name or None
    at = Timestamp(read.at.timestamp())
    read.turns.append(TalkTurn(turn_id, role, text, read.room, at, person, speaker, read.language))
    if sign == "?":
        read.questions.add(turn_id)
    if sign or person in (None, GUEST):
        read.nothing += [turn_id] if name else []
        return
    read.marks[turn_id] = marks
    if marks and not any(mark.saying in TEACHES and mark.kinds[0] not in BESIDE for mark in marks):
        read.nothing.append(turn_id)
    read.facts += _labels(turn_id, text, marks, person)


def _labels(turn_id: str, text: str, marks: tuple[FactMark, ...], person: str | None) -> Iterator[LabelledFact]:
    for mark in marks:
        if mark.kinds[0] not in BESIDE and mark.saying in TEACHES:
            slot = None if KEPT in mark.kinds else "|".join(mark.kinds)
            yield LabelledFact(turn_id, slot, text[mark.first : mark.last], person)


def _unmarked(line: str) -> tuple[str, tuple[FactMark, ...]]:
    """A line without its marks, and the spans of these in the rest."""
    text, marks, place = "", [], 0
    for match in _MARK.finditer(line):
        text += line[place : match.start()]
        slots, _, saying = match[2].partition(":")
        saying = saying or (KEPT if slots == KEPT else STATED)
        if saying not in SAYINGS:
            raise InvalidRequest("saying", f"{saying!r} is none of {', '.join(SAYINGS)}")
        marks.append(FactMark(tuple(slots.split("|")), len(text), len(text) + len(match[1]), saying))
        text += match[1]
        place = match.end()
    return text + line[place:], tuple(marks)
