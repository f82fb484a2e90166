"""Who somebody is whose relation is said behind the name: "that was gethin on the phone that's my little brother"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext
from ovos_persona_memory.extraction.fusion.tagged_utterance import TaggedUtterance
from ovos_persona_memory.extraction.fusion.template_spans import place_of
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources
from ovos_persona_memory.extraction.templates.template import SHORT_IS
from ovos_persona_memory.text import Lexicon, Tokens, languages, lexicon

SLOT = "family"
BACK = 12
"""Words at most from a name to what takes it up."""
SMALL = 3
"""Words at most between "is" and "my"."""
BETWEEN = 2
"""Words at most between two names that are said side by side: "stefan (und den) uwe"."""
ADJECTIVES = 2
"""Words at most before a relation: "my (only little) brother"."""


@dataclass(frozen=True)
class Relation:
    """ "that is my little brother"."""

    first: int
    """The number of the word that takes up a name."""
    words: Tokens
    """Of the relation alone."""
    owns: bool
    """Whether it is but somebody of hers: "that's my sister's friend"."""


def introduced_behind(spoken: LanguageResources, words: Tokens, before: DialogueContext) -> Iterator[Candidate]:
    """The names, of those that people bear or that are known, whose relation is said behind them."""
    known = spoken.templates
    for relation in (one for one in _relations(known, words) if not one.owns):
        start = max(relation.first - BACK, 0)
        named = [n for n in range(start, relation.first) if _is_name(known, words.folded[n], before)]
        if len({words.folded[n] for n in named}) == 1:
            yield _introduced(spoken, words, named[-1], relation)
    for relation in _appositions(known, words):
        if _is_name(known, words.folded[relation.first - 1], before):
            yield _introduced(spoken, words, relation.first - 1, relation)


def _introduced(spoken: LanguageResources, words: Tokens, named: int, relation: Relation) -> Candidate:
    name = words.part(named, named + 1)
    span = (words.spans[relation.first][0], relation.words.spans[-1][1])
    said = words.text[name.spans[0][0] : span[1]]
    thing = " ".join(spoken.language.words(relation.words.spelled))
    return Candidate("learned", "stated", said, SLOT, "", thing, name.spelled, span)


def is_introduced(heard: TaggedUtterance, one: Candidate) -> bool:
    """Whether the relation to a name that people bear is said behind it, so that nobody need doubt it."""
    told = introduced_behind(heard.spoken, heard.words, heard.before) if one.slot == SLOT else ()
    return any((two.thing, two.value) == (one.thing, one.value) for two in told)


def as_outsiders(spoken: LanguageResources, told: Sequence[Candidate]) -> list[Candidate]:
    """The same, with the names of dentists, bosses and climbing partners as what they are: no family."""
    return [one if one.slot != SLOT or _in_family(spoken, one) else replace(one, slot="detail") for one in told]


def _in_family(spoken: LanguageResources, one: Candidate) -> bool:
    """Whether a name is told of a relation, or of nobody, as where a relation is named apart from it."""
    related, outside = _related_as(spoken.language.tag), _outside(spoken.language.tag)
    ends = spoken.language.words(" ".join(spoken.templates.words_of(one.thing).folded))
    for_itself = not ends or one.thing == " ".join(spoken.language.words(one.value or ""))
    return for_itself or (one.thing not in outside and any(" ".join(ends[n:]) in related for n in range(len(ends))))


@cache
def _related_as(tag: str) -> frozenset[str]:
    """The stems of all relations, as things are named: "sister", "mother in law"."""
    known, words = lexicon.for_language(tag), languages.for_language(tag).words
    said = (*known.lists.get("relation", ()), *known.lists.get("kin", ()), *known.same, *known.same.values())
    return frozenset(" ".join(words(phrase)) for phrase in said) - _outside(tag)


@cache
def _outside(tag: str) -> frozenset[str]:
    """The stems of who is of no family, as things are named: "dentist", "best friend"."""
    known, words = lexicon.for_language(tag), languages.for_language(tag).words
    said = (phrase for name in ("at_service", "outsider", "acquaintance") for phrase in known.lists.get(name, ()))
    return frozenset(" ".join(words(phrase)) for phrase in said if phrase not in known.lists.get("relation", ()))


def with_relations(heard: TaggedUtterance, told: Sequence[Candidate]) -> list[Candidate]:
    """The same, each name that stands for itself with the relation that is said behind it; and without those who are
    not that relation but somebody of hers."""
    relations = list(_relations(heard.known, heard.words))
    related = [_related(heard, one, relations) for one in told] if relations else [*told]
    return _together(heard, [one for one in related if one is not None])


def _related(heard: TaggedUtterance, one: Candidate, relations: Sequence[Relation]) -> Candidate | None:
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
    return replace(one, thing=relation) if _for_itself(heard, one) else one


def _together(heard: TaggedUtterance, told: Sequence[Candidate]) -> list[Candidate]:
    """The same, those named side by side of one relation ("reto und gian so heißen meine brüder"), and none twice."""
    named = [one for one in told if one.slot == SLOT and place_of(heard.known, heard.words, one) is not None]
    named.sort(key=lambda one: place_of(heard.known, heard.words, one) or (0, 0))
    of = {id(one): one.thing for one in named if not _for_itself(heard, one)}
    for one, two in [*pairwise(named), *pairwise(reversed(named))]:
        if id(one) in of and id(two) not in of and _side_by_side(heard, one, two):
            of[id(two)] = of[id(one)]
    found = [replace(one, thing=of.get(id(one), one.thing)) for one in told]
    known = {one.value for one in found if one.slot == SLOT and not _for_itself(heard, one)}
    return [one for one in found if one.slot != SLOT or one.value not in known or not _for_itself(heard, one)]


def _for_itself(heard: TaggedUtterance, one: Candidate) -> bool:
    """Whether nothing is known of somebody but the name."""
    return one.thing == " ".join(heard.spoken.language.words(one.value or ""))


def are_beside(heard: TaggedUtterance, one: Candidate, two: Candidate) -> bool:
    """Whether two of one relation are named side by side."""
    alike = one.slot == two.slot == SLOT and one.thing == two.thing
    places = [place_of(heard.known, heard.words, each) for each in (one, two)]
    return alike and None not in places and _side_by_side(heard, one, two)


def _side_by_side(heard: TaggedUtterance, one: Candidate, two: Candidate) -> bool:
    """Whether nothing but "and" stands between two names."""
    places = sorted(place for place in (place_of(heard.known, heard.words, each) for each in (one, two)) if place)
    between = heard.words.folded[places[0][1] : places[1][0]]
    return len(between) <= BETWEEN and all(heard.known.has_word(("listing", "article"), word) for word in between)


def _is_name(known: Lexicon, word: str, before: DialogueContext) -> bool:
    return word in known.opening("given_name") or (word in before.names and bool(before.names[word].subject))


def _relations(known: Lexicon, words: Tokens) -> Iterator[Relation]:
    held = words.folded
    for first in range(1, len(held) - 1):
        own = _owned_at(known, held, first)
        for place in range(own, min(own + ADJECTIVES + 1, len(held))) if own else ():
            size = known.starts_at(held, place, "relation")
            behind = "".join(held[place + size : place + size + 1])
            if size and not (behind in known.third and known.starts_at(held, first, "that_is")):
                yield Relation(first, words.part(own, place + size), behind == SHORT_IS)
                break  # "also mein schwager heißt goran" tells of nobody before it


def _appositions(known: Lexicon, words: Tokens) -> Iterator[Relation]:
    """ "ring (lewis) my big brother tonight"; not "tell (lewis) my brother is ill"."""
    held = words.folded
    for first in range(1, len(held) - 1):
        for place in (
            range(first + 1, min(first + 2 + ADJECTIVES, len(held))) if held[first] in known.opening("own") else ()
        ):
            size = known.starts_at(held, place, "relation")
            behind = "".join(held[place + size : place + size + 1])
            if size and behind not in known.third and behind != SHORT_IS:
                yield Relation(first, words.part(first + 1, place + size), False)
                break


def _owned_at(known: Lexicon, held: tuple[str, ...], first: int) -> int:
    """The number of the word behind "that is (after all) my", "i mean my", or of a relation that needs no "my"; 0 where
    a word begins nothing of the kind."""
    size = known.starts_at(held, first, "that_is")
    if size and known.has_word(("first_my",), "".join(held[first + size : first + size + 1])):
        return first + size + 1
    taken_up = known.opening("taken_up") | known.opening("resumed") | known.opening("he_she")
    if held[first] not in taken_up or held[first + 1] not in {*known.opening("is"), SHORT_IS}:
        return 0
    for place in range(first + 2, min(first + 3 + SMALL, len(held))):
        if known.starts_at(held, place, "kin"):
            return place
        if held[place] in known.opening("first_my"):
            return place + 1
        if held[place] not in known.opening("skip"):
            return 0
    return 0
