"""A fact about a person, how it changed, and what was decided about it: plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ovos_persona_memory.records.core import HOUSEHOLD

FactStatus = Literal["active", "superseded", "waiting"]
ListedStatus = Literal["active", "superseded", "waiting", "all"]
"""Of the facts to list."""
Decay = Literal["never", "slow", "place", "mood"]


@dataclass(frozen=True)
class Fact:
    """A memory that says something about a person, learned from what the person said."""

    text: str
    """In the speaker's own words and language."""
    slot: str | None = None
    """What it tells, where that is known: name, home, pet and so on (docs/facts.md); None: kept as it was said."""
    subject: str = ""
    """Whom it is about: empty for the speaker, else a relation as it was said ("wife")."""
    thing: str = ""
    """What of the slot it is about, folded ("cat"); where there is no slot, the fact's own words."""
    value: str | None = None
    """What is told, in the speaker's words; None where there is no slot."""
    id: str = ""
    seq: int = 0
    user_id: str = HOUSEHOLD
    speaker: str | None = None
    lang: str | None = None
    topics: tuple[str, ...] = ()
    """What it matters to: food, health, home and so on."""
    confidence: float = 1.0
    """0 to 1, as it was at ``last_seen_at``; answers give it as it is now."""
    decay: Decay = "slow"
    """How it fades: never, slow (years), place (weeks) or mood (days)."""
    created_at: float = 0.0
    """When it was first said, seconds since the epoch, UTC."""
    last_seen_at: float = 0.0
    """When it was last said."""
    valid_from: float = 0.0
    valid_until: float | None = None
    """When something else took its place, or it was taken back; None: it holds."""
    status: FactStatus = "active"
    superseded_by: str | None = None
    """The id of the fact that took its place."""
    turn_id: str | None = None
    """The turn that it was learned from."""
    session_id: str | None = None
    persona_id: str | None = None
    site_id: str | None = None
    task_id: str | None = None
    trust: str = "none"
    """How its person was known: none, configured or session."""
    private: int = 0
    """How surely its user must be known to whom it is given, 0 to 5."""

    @property
    def place(self) -> str:
        """What it is about: of one place one fact is active, and a newer one supersedes it."""
        kind = "likes" if self.slot == "dislikes" else self.slot or ""
        return "\n".join((self.speaker or "", self.subject, kind, self.thing))


@dataclass(frozen=True)
class FactChange:
    """One change of a fact."""

    fact_id: str
    what: str
    """learned, said_again, superseded, ended, corrected, reinstated, accepted or waiting."""
    at: float
    """When what caused it was said or done, seconds since the epoch, UTC."""
    user_id: str = HOUSEHOLD
    turn_id: str | None = None
    """The turn that caused it; None where no turn did."""
    old: str | None = None
    new: str | None = None
    """Texts before and after, where they differ."""


@dataclass(frozen=True)
class Decision:
    """What was decided about a candidate for a fact, without its text."""

    outcome: str
    """learned, kept, waiting, ended or refused."""
    reason: str
    """A code (docs/facts.md)."""
    at: float
    """When it was decided, seconds since the epoch, UTC."""
    user_id: str = HOUSEHOLD
    turn_id: str | None = None
    fact_id: str | None = None
    slot: str | None = None


@dataclass(frozen=True)
class Trouble:
    """One kind of trouble that an audit looked for."""

    what: str
    """duplicates, near_duplicates, stale, secrets, recall_loops, waiting or refused_proposals."""
    count: int
    ids: list[str]
    """Of the facts and memories that are in it, at most 100; of refused proposals the look at a session, the tool and
    the reason."""
    advice: str
    """What to do; empty where there is nothing to do."""


@dataclass(frozen=True)
class Story:
    """How a fact came about."""

    facts: list[Fact]
    """All that was ever known about the same thing, oldest first."""
    changes: list[FactChange]
    """What happened to them, in order."""
