"""What one sentence comes to: what a template took, as a fact that can be kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from ovos_persona_memory.extraction.assertion.assertion import bounds, things_listed
from ovos_persona_memory.extraction.coreference.clause_subjects import ResolvedClause
from ovos_persona_memory.extraction.coreference.person_mentions import PersonRef
from ovos_persona_memory.extraction.schema.slots import SLOTS, Slot
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources, Span
from ovos_persona_memory.extraction.templates.template import PatternMatch
from ovos_persona_memory.records import Decay
from ovos_persona_memory.text import Tokens

Outcome = Literal["learned", "kept", "waiting", "ended", "refused"]


@dataclass(frozen=True)
class Candidate:
    """What one sentence comes to."""

    outcome: Outcome
    reason: str
    """A code: why."""
    text: str
    """The sentence in the speaker's own words."""
    slot: str | None = None
    subject: str = ""
    thing: str = ""
    """Folded and stemmed; for a verdict without a slot its own words."""
    value: str | None = None
    span: Span = field(default=(0, 0), compare=False)
    """Where in its sentence it is said."""

    def waiting(self, reason: str) -> Candidate:
        """The same, put up for review."""
        return replace(self, outcome="waiting", reason=reason)

    @property
    def decay(self) -> Decay:
        """How the fact fades."""
        return SLOTS[self.slot].decay if self.slot else "slow"

    @property
    def topics(self) -> tuple[str, ...]:
        """What the fact matters to."""
        return SLOTS[self.slot].topics if self.slot else ()


def named_verdict(spoken: LanguageResources, who: PersonRef, words: Tokens) -> Candidate:
    """What "my cousin danny ..." says of the cousin's name."""
    thing = " ".join(spoken.language.words(who.relation))
    name = who.name.spelled if who.name else who.subject
    slot = "pet" if who.pet else "family"
    owner = "" if who.subject in (who.relation, name) else who.subject
    return Candidate("learned", "stated", who.said, slot, owner, thing, name, bounds(words, len(words.folded)))


def typed(spoken: LanguageResources, reading: ResolvedClause, told: PatternMatch, slot: Slot) -> Candidate:
    value = told.value.spelled if told.value else told.thing.spelled if told.thing else None
    made = Candidate(
        outcome="ended" if told.ends else "learned",
        reason="taken_back" if told.ends else "stated",
        text=spelled(reading),
        slot=told.slot,
        subject=spoken.templates.same.get(told.subject, told.subject),
        thing=_thing(spoken, told, told.value, slot),
        value=value,
        span=reading.span or bounds(reading.words, told.words),
    )
    who = reading.who
    if who is None:
        return made
    if told.slot == "name" and not made.thing and who.relation:  # "her name is ana"
        relation = " ".join(spoken.language.words(who.relation))
        owner = who.subject.removesuffix(f" {who.relation}") if who.subject.endswith(f" {who.relation}") else ""
        return replace(made, slot="pet" if who.pet else "family", subject=owner, thing=relation)
    subjects = (spoken.templates.same.get(one, one) for one in (who.subject, told.subject) if one)
    return replace(made, subject=" ".join(subjects))


def each_of(spoken: LanguageResources, value: Tokens, slot: Slot) -> Iterator[Tokens]:
    """The things of a list, where a slot holds several side by side."""
    return things_listed(spoken.templates, value) if slot.several else iter((value,))


def _thing(spoken: LanguageResources, told: PatternMatch, value: Tokens | None, slot: Slot) -> str:
    named = told.named if told.named is not None else "*" if slot.of_value and told.thing is None else None
    if named is not None:
        return " ".join(spoken.language.words(named.replace("*", _without_articles(spoken, value))))
    return " ".join(spoken.language.words(_without_articles(spoken, told.thing)))


def _without_articles(spoken: LanguageResources, words: Tokens | None) -> str:
    if words is None:
        return ""
    articles = set(spoken.templates.lists.get("determiner", ()))
    kept = [word for word in words.folded if word not in articles]
    return " ".join(kept or words.folded)


def spelled(reading: ResolvedClause) -> str:
    start, end = bounds(reading.words, len(reading.words.folded))
    said = " ".join(reading.words.text[start:end].split())
    return f"{reading.before}: {said}" if reading.before else said
