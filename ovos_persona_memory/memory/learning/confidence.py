"""How sure a fact is, and how it grows out of a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ovos_persona_memory.extraction import SLOTS, Candidate
from ovos_persona_memory.records import Decay, Fact, Turn
from ovos_persona_memory.search import index_words
from ovos_persona_memory.text import languages

DAY_S = 86400.0
FIRST = {"asked": 0.9, "stated": 0.8, "restated": 0.7}
"""How sure a fact is that somebody asked to remember, stated, or stated in words that a language model restated."""
DOUBTFUL = 0.4
"""How sure a fact is that waits for review."""
AGAIN = 0.5
"""What is said again takes away this share of what was missing."""
SAME_SAYING_S = 60.0
"""What comes again so soon is the same saying, told twice by the bus or repeated to a device, seconds."""

HalfLives = Mapping[Decay, float | None]
"""Days by kind of decay; None: it does not fade."""


def confidence_at(fact: Fact, at: float, half_lives: HalfLives) -> float:
    """How sure a fact is at a time: c * 2 ** (-age / half-life), its age counted from when it was last said.

    Source: forgetting as exponential decay with a half-life (Settles and Meeder 2016, A Trainable Spaced
    Repetition Model for Language Learning, section 3.1); the half-lives are settings. Times before it was
    said give what it was then.
    """
    half_life_d = half_lives[fact.decay]
    age_d = max(at - fact.last_seen_at, 0.0) / DAY_S
    return fact.confidence if half_life_d is None else fact.confidence * 2.0 ** (-age_d / half_life_d)


def confidence_said_again(confidence: float) -> float:
    """How sure a fact is when it is said once more: 1 - (1 - c) * (1 - AGAIN).

    Source: noisy or (Pearl 1988, Probabilistic Reasoning in Intelligent Systems, section 4.3.2): each
    saying alone would do. It never reaches 1.
    """
    return 1.0 - (1.0 - confidence) * (1.0 - AGAIN)


def fact_of(verdict: Candidate, turn: Turn, fact_id: str) -> Fact:
    """The fact that a verdict of a turn makes."""
    at = turn.at or 0.0
    return Fact(
        text=verdict.text,
        slot=verdict.slot,
        subject=verdict.subject,
        thing=verdict.thing,
        value=verdict.value,
        id=fact_id,
        user_id=turn.user_id,
        speaker=turn.speaker,
        lang=turn.lang,
        topics=verdict.topics,
        confidence=FIRST.get(verdict.reason, DOUBTFUL),
        decay=verdict.decay,
        created_at=at,
        last_seen_at=at,
        valid_from=at,
        status="waiting" if verdict.outcome == "waiting" else "active",
        turn_id=turn.id,
        session_id=turn.session_id,
        persona_id=turn.persona_id,
        site_id=turn.site_id,
        task_id=turn.task_id,
    )


def same(one: Fact, other: Fact) -> bool:
    """Whether two facts of one place say the same."""
    return one.slot == other.slot and _told(one) == _told(other)


def is_subsumed_by(one: Fact, other: Fact) -> bool:
    """Whether one fact of a place tells the same as another or less: "i play chess", known to be on mondays."""
    sides = (
        one.slot in SLOTS and SLOTS[one.slot].kept == "by_value"
    )  # "boston" is less than "new boston" and another town
    return same(one, other) or (sides and one.slot == other.slot and set(_told(one)) <= set(_told(other)))


def _told(fact: Fact) -> list[str]:
    return languages.for_text(fact.lang, fact.text).words(fact.text if fact.value is None else fact.value)


def words_of(fact: Fact) -> str:
    """The index words of a fact: those of its text and of what it tells."""
    return index_words(fact)


def at_now(fact: Fact, now: float, half_lives: HalfLives) -> Fact:
    """The fact as answers give it: its confidence as it is now, three digits."""
    return replace(fact, confidence=round(confidence_at(fact, now, half_lives), 3))
