"""Who somebody is whose relation is said behind the name: "that was gethin on the phone that's my little brother"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ovos_persona_memory.heard import Heard
from ovos_persona_memory.hints import place_of
from ovos_persona_memory.people import Before
from ovos_persona_memory.sentences import Spoken
from ovos_persona_memory.template import SHORT_IS, Words
from ovos_persona_memory.templates import Templates
from ovos_persona_memory.verdict import Verdict

SLOT = "family"
BACK = 12
"""Words at most from a name to what takes it up."""
SMALL = 3
"""Words at most between "is" and "my"."""
ADJECTIVES = 2
"""Words at most before a relation: "my (only little) brother"."""


@dataclass(frozen=True)
class Relation:
    """ "that is my little brother"."""

    first: int
    """The number of the word that takes up a name."""
    words: Words
    """Of the relation alone."""
    owns: bool
    """Whether it is but somebody of hers: "that's my sister's friend"."""


def introduced_behind(spoken: Spoken, words: Words, before: Before) -> Iterator[Verdict]:
    """The names, of those that people bear or that are known, whose relation is said behind them."""
    known = spoken.templates
    for relation in (one for one in _relations(known, words) if not one.owns):
        start = max(relation.first - BACK, 0)
        named = [n for n in range(start, relation.first) if _is_name(known, words.folded[n], before)]
        if len({words.folded[n] for n in named}) == 1:
            name = words.part(named[-1], named[-1] + 1)
            span = (words.spans[relation.first][0], relation.words.spans[-1][1])
            said = words.text[name.spans[0][0] : span[1]]
            thing = " ".join(spoken.language.words(relation.words.spelled))
            yield Verdict("learned", "stated", said, SLOT, "", thing, name.spelled, span)


def is_introduced(heard: Heard, one: Verdict) -> bool:
    """Whether the relation to a name that people bear is said behind it, so that nobody need doubt it."""
    told = introduced_behind(heard.spoken, heard.words, heard.before) if one.slot == SLOT else ()
    return any((two.thing, two.value) == (one.thing, one.value) for two in told)


def with_relations(heard: Heard, told: Sequence[Verdict]) -> list[Verdict]:
    """The same, each name that stands for itself with the relation that is said behind it; and without those who are
    not that relation but somebody of hers."""
    relations = list(_relations(heard.known, heard.words))
    related = [_related(heard, one, relations) for one in told] if relations else [*told]
    return [one for one in related if one is not None]


def _related(heard: Heard, one: Verdict, relations: Sequence[Relation]) -> Verdict | None:
    stems = heard.spoken.language.words
    place = place_of(heard.known, heard.words, one)
    if one.slot != SLOT or place is None:
        return one
    behind = next((made for made in relations if place[1] <= made.first <= place[1] + BACK), None)
    if behind is None:
        return one
    relation = " ".join(stems(behind.words.spelled))
    if behind.owns:
        return None if one.thing == relation else one
    return replace(one, thing=relation) if one.thing == " ".join(stems(one.value or "")) else one


def _is_name(known: Templates, word: str, before: Before) -> bool:
    return word in known.opening("given_name") or (word in before.names and bool(before.names[word].subject))


def _relations(known: Templates, words: Words) -> Iterator[Relation]:
    held = words.folded
    for first in range(1, len(held) - 2):
        own = _owned_at(known, held, first)
        for place in range(own, min(own + ADJECTIVES + 1, len(held))) if own else ():
            size = known.starts_at(held, place, "relation")
            if size:
                yield Relation(
                    first, words.part(own, place + size), held[place + size : place + size + 1] == (SHORT_IS,)
                )
                break


def _owned_at(known: Templates, held: tuple[str, ...], first: int) -> int:
    """The number of the word behind "that is (after all) my"; 0 where a word begins nothing of the kind."""
    taken_up = known.opening("taken_up") | known.opening("resumed") | known.opening("he_she")
    if held[first] not in taken_up or held[first + 1] not in {*known.opening("is"), SHORT_IS}:
        return 0
    for place in range(first + 2, min(first + 3 + SMALL, len(held) - 1)):
        if held[place] in known.opening("first_my"):
            return place + 1
        if held[place] not in known.opening("skip"):
            return 0
    return 0
