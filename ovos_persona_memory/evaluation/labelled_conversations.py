"""Conversations with questions and labelled evidence, read from JSON lines; docs/recall.md describes the format."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import Role

GZIP = b"\x1f\x8b"
"""Magic number of a gzip file: RFC 1952, section 2.3.1."""


class Timestamp(float):
    """Seconds since the epoch; ISO 8601 in a file, local time where it names no zone."""


@dataclass(frozen=True)
class LabelledTurn:
    """One turn of a conversation, with the id by which evidence names it."""

    id: str
    role: Role
    text: str
    session: str | None = None
    at: Timestamp | None = None
    speaker: str | None = None


@dataclass(frozen=True)
class LabelledQuestion:
    """A question, and the turns that answer it."""

    question: str
    kind: str
    evidence: list[str]
    """Ids of turns; empty where the answer was never said."""
    asked_at: Timestamp | None = None
    """None: at the end of the conversation."""


@dataclass(frozen=True)
class LabelledConversation:
    """One line of a file."""

    conversation: str
    language: str
    turns: list[LabelledTurn]
    """Oldest first."""
    questions: list[LabelledQuestion]
    dataset: str = ""

    @property
    def name(self) -> str:
        """Name for people."""
        return f"{self.dataset} {self.conversation}".strip()

    def in_time_order(self) -> list[LabelledTurn]:
        """The turns by time; a turn without a time has that of the turn before it."""
        at = next((turn.at for turn in self.turns if turn.at is not None), None)
        dated = []
        for turn in self.turns:
            at = turn.at if turn.at is not None else at
            dated.append(replace(turn, at=at))
        return sorted(dated, key=lambda turn: turn.at or 0.0)

    def without_names(self, question: str) -> str:
        """The question without the names of this conversation's speakers, whole or in part."""
        parts = {part for name in self._names() for part in (name, *name.split())}
        if not parts:
            return question
        longest_first = "|".join(re.escape(part) for part in sorted(parts, key=len, reverse=True))
        bare = re.sub(rf"(?<!\w)(?:{longest_first})(?:['\u2019]s)?(?!\w)", " ", question, flags=re.IGNORECASE)
        return " ".join(bare.split())

    def _names(self) -> set[str]:
        """Names of people: a file may repeat the role where it knows no name."""
        return {turn.speaker for turn in self.turns if turn.speaker and turn.speaker != turn.role}

    def missing_evidence(self) -> list[tuple[str, str]]:
        """Evidence that is no turn of the conversation, as (field, id): no ranker can find it."""
        known = {turn.id for turn in self.turns}
        return [
            (f"questions[{number}].evidence", one)
            for number, asked in enumerate(self.questions)
            for one in asked.evidence
            if one not in known
        ]


def read_conversations(path: Path, limit: int | None = None) -> list[LabelledConversation]:
    """The first ``limit`` conversations of a file, plain or gzip; at least one.

    InvalidRequest naming file, line and field where the file is not as documented.
    """
    found = [_conversation(path, number, line) for number, line in islice(lines_of(path), limit)]
    if not found:
        raise InvalidRequest(str(path), "holds no conversation")
    return found


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The non-blank lines of a file, with their numbers."""
    try:
        packed = path.read_bytes()
        content = gzip.decompress(packed) if packed.startswith(GZIP) else packed
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidRequest(str(path), f"cannot be read: {error}") from error
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            yield number, line


def _conversation(path: Path, number: int, line: bytes) -> LabelledConversation:
    place = f"{path}, line {number}"
    try:
        read_in = msgspec.json.decode(line, type=LabelledConversation, dec_hook=parse_timestamp)
    except msgspec.ValidationError as error:
        problem, _, where = str(error).partition(" - at `$.")
        raise InvalidRequest(f"{place}, {where.rstrip('`')}" if where else place, problem) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(place, f"is no JSON: {error}") from error
    _refuse_doubles(place, read_in)
    return read_in


def _refuse_doubles(place: str, conversation: LabelledConversation) -> None:
    known: set[str] = set()
    for number, turn in enumerate(conversation.turns):
        if turn.id in known:
            raise InvalidRequest(f"{place}, turns[{number}].id", f"{turn.id!r} is the id of another turn too")
        known.add(turn.id)


def parse_timestamp(_: type, value: Any) -> Timestamp:
    """A time in a file as seconds; ValueError where it is none."""
    if not isinstance(value, str):
        raise ValueError("Expected a time in ISO 8601")
    try:
        # Python 3.10 knows no Z
        return Timestamp(datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", value)).timestamp())
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{value!r} is no time in ISO 8601") from None
