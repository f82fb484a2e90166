"""Facts about people, their changes and the decisions about them: plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ovos_persona_memory.records.core import HOUSEHOLD

FactStatus = Literal["active", "superseded", "waiting"]
ListedStatus = Literal["active", "superseded", "waiting", "all"]
"""The status by which facts are listed."""
Decay = Literal["never", "slow", "place", "mood"]


@dataclass(frozen=True)
class Fact:
    """A memory about a person, learned from what the person said."""

    text: str
    """In the speaker's own words and language."""
    slot: str | None = None
    """The kind of fact: name, home, pet and so on (docs/facts.md); None: a statement kept as it was said."""
    subject: str = ""
    """The person whom it is about: empty for the speaker, else a relation as it was said ("wife")."""
    thing: str = ""
    """The object of the slot, folded ("cat"); the fact's own words where there is no slot."""
    value: str | None = None
    """The value, in the speaker's words; None where there is no slot."""
    id: str = ""
    seq: int = 0
    user_id: str = HOUSEHOLD
    speaker: str | None = None
    lang: str | None = None
    topics: tuple[str, ...] = ()
    """The topics that it matters to: food, health, home and so on."""
    confidence: float = 1.0
    """Confidence, 0 to 1, at ``last_seen_at``; answers give it decayed to the time of asking."""
    decay: Decay = "slow"
    """The rate of decay: never, slow (years), place (weeks) or mood (days)."""
    created_at: float = 0.0
    """When it was first said, seconds since the epoch, UTC."""
    last_seen_at: float = 0.0
    """When it was last said, seconds since the epoch, UTC."""
    valid_from: float = 0.0
    valid_until: float | None = None
    """When another fact superseded it, or it was retracted; None: it holds."""
    status: FactStatus = "active"
    superseded_by: str | None = None
    """The id of the fact that superseded it."""
    turn_id: str | None = None
    """The id of the turn from which it was learned."""
    session_id: str | None = None
    persona_id: str | None = None
    site_id: str | None = None
    task_id: str | None = None
    trust: str = "none"
    """How its person was identified: none, configured or session."""
    private: int = 0
    """The level, 0 to 5, that its user must be known with to be given it."""

    @property
    def place(self) -> str:
        """The key of what it is about: speaker, subject, slot and thing. One fact is active for each; a newer one
        supersedes it."""
        kind = "likes" if self.slot == "dislikes" else self.slot or ""
        return "\n".join((self.speaker or "", self.subject, kind, self.thing))


@dataclass(frozen=True)
class FactChange:
    """One change of a fact."""

    fact_id: str
    what: str
    """learned, said_again, superseded, ended, corrected, reinstated, accepted, updated or waiting."""
    at: float
    """When its cause was said or done, seconds since the epoch, UTC."""
    user_id: str = HOUSEHOLD
    turn_id: str | None = None
    """The id of the turn that caused it; None where no turn did."""
    old: str | None = None
    new: str | None = None
    """The texts before and after, where they differ."""


@dataclass(frozen=True)
class Decision:
    """The decision about a candidate for a fact, without its text."""

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
    """One kind of problem that an audit looks for."""

    what: str
    """duplicates, near_duplicates, stale, secrets, recall_loops, waiting or refused_proposals."""
    count: int
    ids: list[str]
    """Ids of the facts and memories concerned, at most 100; for refused proposals the look at a session, the tool and
    the reason."""
    advice: str
    """The recommended remedy; empty where nothing is wrong."""


@dataclass(frozen=True)
class Story:
    """The history of a fact."""

    facts: list[Fact]
    """All facts ever learned about the same thing, oldest first."""
    changes: list[FactChange]
    """The changes of these facts, in order."""
