"""Short talks with facts that must be known at their end, and facts that must not; docs/facts.md has the format."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.evaluation.labelled_conversations import lines_of
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import GUEST, Fact, Role, Scope, Turn
from ovos_persona_memory.text import languages

STEP_S = 15.0
"""Time between two turns, seconds."""
ASSISTANT, TELEVISION = "assistant", "tv"
ASKED = "asked"
"""The slot of a request to remember that fits no other."""


@dataclass(frozen=True)
class ExpectedFact:
    """A fact that must be known, or must not."""

    slot: list[str]
    """Slots of which any is right; of one that must not be known: in which it must not stand; empty: any."""
    value: str
    about: str | None = None
    """Relation or name of whom it is about; null: the speaker, or anybody."""


@dataclass(frozen=True)
class Trap:
    """One line of a file."""

    id: str
    kind: str
    turns: list[tuple[str, str]]
    """Who, and what: a name, ``assistant``, ``guest`` or ``tv``; oldest first."""
    must: list[ExpectedFact] = field(default_factory=list)
    must_not: list[ExpectedFact] = field(default_factory=list)


@dataclass(frozen=True)
class TrapResult:
    """How a talk ended."""

    id: str
    kind: str
    missed: list[str]
    """What was not known and must be, in words."""
    wrong: list[str]
    """What was known and must not be."""
    known: list[str]
    """All that was known at the end."""

    @property
    def is_right(self) -> bool:
        """Whether everything ended as it must."""
        return not self.missed and not self.wrong


def is_trap_file(path: Path) -> bool:
    """Whether the first line of a file is such a talk."""
    first = next(iter(lines_of(path)), (0, b""))[1]
    return b'"must' in first and b'"turns"' in first


def read_traps(path: Path) -> list[Trap]:
    """The talks of a file; InvalidRequest naming file, line and field where it is not as documented."""
    found = []
    for number, line in lines_of(path):
        try:
            found.append(msgspec.json.decode(line, type=Trap))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidRequest(f"{path}, line {number}", str(error)) from error
    return found


def play_trap(trap: Trap, language: str) -> TrapResult:
    """Have a memory of its own hear the talk, and look at what it knows then."""
    now = 0.0
    with closing(PersonaMemory.open(config=MemoryConfig(backend="inmemory"), clock=lambda: now)) as memory:
        last, people = GUEST, set[str]()
        for who, text in trap.turns:
            now += STEP_S
            is_person = who not in (ASSISTANT, TELEVISION)
            last = (GUEST if who == GUEST else who) if is_person else last if who == ASSISTANT else GUEST
            people.add(last)
            role: Role = "assistant" if who == ASSISTANT else "user"
            memory.record([Turn(role, text, at=now, lang=language)], Scope(session_id="room", user_id=last))
            memory.facts.take_learned_late()
        held = [
            fact
            for person in sorted(people - {GUEST})
            for fact in memory.facts.list(Scope(user_id=person))
            if fact.status == "active"
        ]
    missed = [_worded(one) for one in trap.must if not any(_fits(fact, one, language, True) for fact in held)]
    others = {one.value for one in trap.must if one.about is not None}
    wrong = [
        _worded(one)
        for one in trap.must_not
        if any(
            _fits(fact, one, language, False)
            for fact in held
            if one.about is not None or one.value not in others or not fact.subject  # of the speaker, not the other
        )
    ]
    known = [
        f"{fact.slot or ASKED}{f' of {fact.subject}' if fact.subject else ''}: {fact.value or fact.text}"
        for fact in held
    ]
    return TrapResult(trap.id, trap.kind, missed, wrong, known)


def _worded(one: ExpectedFact) -> str:
    return f"{'/'.join(one.slot) or 'any'}{f' of {one.about}' if one.about else ''}: {one.value}"


def _fits(fact: Fact, wanted: ExpectedFact, language: str, strictly: bool) -> bool:
    """Whether a known fact is the one meant; ``strictly``: it must also be about whom it is said to be about."""
    if wanted.slot and (fact.slot or ASKED) not in wanted.slot and not (ASKED in wanted.slot and strictly):
        return False
    spoken = languages.for_language(language)
    told = set(spoken.words(fact.text if fact.slot is None or ASKED in wanted.slot else fact.value or ""))
    if not set(spoken.words(wanted.value)) <= told | (set(fact.thing.split()) if strictly else set()):
        return False
    if wanted.about is None:
        return not (strictly and fact.subject and fact.slot not in ("family", "pet"))
    about = set(spoken.words(f"{fact.subject} {fact.thing} {fact.text}"))
    return bool(fact.subject or fact.thing) and not about.isdisjoint(spoken.words(wanted.about))


def share_right(results: Sequence[TrapResult]) -> float:
    """The share of talks that ended right, 0 to 1; 0 of none."""
    return sum(one.is_right for one in results) / len(results) if results else 0.0
