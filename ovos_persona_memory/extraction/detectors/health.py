"""What somebody calls theirs that only who is ill has: "remind me to take my naproxen", "mein heuschnupfen bringt mich
um"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ovos_persona_memory.extraction.assertion.assertion import refusal_in
from ovos_persona_memory.extraction.coreference.clause_subjects import ResolvedClause
from ovos_persona_memory.extraction.schema.candidate import Candidate, typed
from ovos_persona_memory.extraction.schema.slots import SLOTS
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources
from ovos_persona_memory.extraction.tagger import features
from ovos_persona_memory.extraction.templates.template import PatternMatch
from ovos_persona_memory.text import Tokens

SLOT = "health"
KINDS = frozenset({"illness", "medicine"})
LONGEST = 3
"""Words at most of an illness or a medicine."""


def with_ailments(spoken: LanguageResources, text: str, told: Sequence[Candidate]) -> list[Candidate]:
    """The same, and the illnesses and medicines that are whoever's speaks, where no verdict is about those words."""
    words = spoken.templates.words_of(text)
    if "soon_well" not in spoken.templates.lists:
        return [*told]
    found = (one for one in _ailments(spoken, words) if refusal_in(spoken, text, one.span) is None)
    more = [one for one in found if not any(_same(spoken, two, one) for two in told)]
    return [*(one for one in told if not any(_doubts(spoken, one, two) for two in more)), *more]


def _same(spoken: LanguageResources, told: Candidate, ailment: Candidate) -> bool:
    """Whether something that is learned holds the same words."""
    stems = spoken.language.words
    held = {*stems(told.value or ""), *told.thing.split()}
    return told.outcome != "waiting" and not held.isdisjoint(stems(ailment.value or ""))


def _doubts(spoken: LanguageResources, told: Candidate, ailment: Candidate) -> bool:
    """Whether a verdict waits for review of what is plainly an ailment."""
    words = spoken.templates.words_of
    shared = set(words(told.value or "").folded) & set(words(ailment.value or "").folded)
    return told.outcome == "waiting" and bool(shared)


def _ailments(spoken: LanguageResources, words: Tokens) -> Iterator[Candidate]:
    known, held = spoken.templates, words.folded
    for place in range(1, len(held)):
        if held[place - 1] not in known.opening("first_my") | known.opening("own"):
            continue
        size = _size(spoken, held, place)
        if size and known.starts_at(held, place, "soon_well") < size:
            value = words.part(place, place + size)
            clause = words.part(place - 1, place + size)
            yield typed(
                spoken, ResolvedClause(clause, None), PatternMatch(SLOT, False, value, value, "", None, 2), SLOTS[SLOT]
            )


def _size(spoken: LanguageResources, held: tuple[str, ...], place: int) -> int:
    """How many words an illness or a medicine has that stands at a place; 0: none does."""
    seen = features.for_language(spoken.language.tag)
    for size in range(min(LONGEST, len(held) - place), 1, -1):
        if not KINDS.isdisjoint(seen.by_word.get(" ".join(held[place : place + size]), ())):
            return size
    return int(not KINDS.isdisjoint(seen.kinds_of(held[place : place + 1])))
