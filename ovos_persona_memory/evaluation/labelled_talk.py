"""Talk with labelled facts, read from JSON lines; docs/facts.md describes the format."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.evaluation.labelled_conversations import Timestamp, lines_of, parse_timestamp
from ovos_persona_memory.records import HOUSEHOLD, Role


@dataclass(frozen=True)
class TalkTurn:
    """One turn, with its speaker."""

    id: str
    role: Role
    text: str
    session: str | None = None
    at: Timestamp | None = None
    person: str | None = HOUSEHOLD
    """The user; "guest" for a guest, null where nobody is known, as for a television."""
    speaker: str | None = None
    language: str | None = None
    """The language where it is not that of the talk."""


@dataclass(frozen=True)
class LabelledFact:
    """A fact that a turn states."""

    turn: str
    slot: str | None = None
    """The slot; null for a request to remember that fits no slot. Several, divided by bars: any of these."""
    value: str | None = None
    """The value; without a slot the words to remember."""
    person: str | None = None
    """The person whose fact it is; null: the speaker of the turn."""
    subject: str | None = None
    """The relation of the person whom it is about; null: any."""
    thing: str | None = None
    """The object of the value; compared only where the fact states an identity, or the kind of a pet."""

    @property
    def slots(self) -> list[str]:
        """The slots that are right; an empty name where none fits."""
        return (self.slot or "").split("|")


@dataclass(frozen=True)
class LabelledTalk:
    """One line of a file."""

    language: str
    turns: list[TalkTurn]
    """In order of arrival, which need not be that of their times."""
    facts: list[LabelledFact] = field(default_factory=list)
    nothing: list[str] = field(default_factory=list)
    """Ids of turns that must teach nothing: questions, the assistant, the television, a guest, ..."""
    conversation: str = ""
    dataset: str = ""
    implied: list[LabelledFact] = field(default_factory=list)
    """Facts that no turn states, but a listener may conclude: learning them is neither right nor wrong."""


def read_talks(path: Path) -> list[LabelledTalk]:
    """The talks of a file, plain or gzip; InvalidRequest naming file, line and field where it is not as documented."""
    found = [_talk(path, number, line) for number, line in lines_of(path)]
    if not found:
        raise InvalidRequest(str(path), "holds no talk")
    return found


def _talk(path: Path, number: int, line: bytes) -> LabelledTalk:
    place = f"{path}, line {number}"
    try:
        talk = msgspec.json.decode(line, type=LabelledTalk, dec_hook=parse_timestamp)
    except msgspec.ValidationError as error:
        problem, _, where = str(error).partition(" - at `$.")
        raise InvalidRequest(f"{place}, {where.rstrip('`')}" if where else place, problem) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(place, f"is no JSON: {error}") from error
    known = {turn.id for turn in talk.turns}
    if len(known) < len(talk.turns):
        raise InvalidRequest(f"{place}, turns", "an id is given to two turns")
    labels = {"facts": talk.facts, "implied": talk.implied}
    named = [(f"{name}[{n}].turn", fact.turn) for name, facts in labels.items() for n, fact in enumerate(facts)]
    for where, turn_id in [*named, *((f"nothing[{n}]", one) for n, one in enumerate(talk.nothing))]:
        if turn_id not in known:
            raise InvalidRequest(f"{place}, {where}", f"no turn is {turn_id!r}")
    return talk
