"""Of whom and of what a guess tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ovos_persona_memory.extraction.coreference.person_mentions import (
    PersonMention,
    PersonRef,
    may_be,
    person_at,
    pronoun_at,
)
from ovos_persona_memory.extraction.coreference.self_introduction import thing_of
from ovos_persona_memory.extraction.fusion.tagged_utterance import TaggedUtterance, subject_before
from ovos_persona_memory.extraction.tagger.tagger import Guess
from ovos_persona_memory.extraction.templates.template import SHORT_IS
from ovos_persona_memory.text import Tokens

SURE = 0.25
"""From which a guess is looked at again, 0 to 1."""
NEAR = 4
"""Words before a value in which a person stands right before it."""
_BESIDE_NAMES = ("determiner", "article", "own", "whose", "he_she", "pronoun", "finite", "joint", "outsider")
"""Lists of words that are no name, though they stand beside one."""


def person_in(heard: TaggedUtterance, whose: Guess) -> PersonMention | None:
    """Who is meant; None where nobody knows."""
    held, after = heard.words.folded, whose.last + (heard.words.folded[whose.last : whose.last + 1] == (SHORT_IS,))
    if any(heard.known.starts_at(held, place, "outsider") for place in range(whose.first, min(after + 1, len(held)))):
        return None  # "my mum's best friend"
    earlier = [heard.words.part(0, whose.first)] if whose.first else []
    for place in range(whose.first, whose.last):
        found = person_at(heard.known, heard.words, place, heard.before.names)
        found = found or pronoun_at(heard.known, heard.words, place, earlier, heard.before)
        found = found or _introduced_before(heard, place)
        if found is not None:
            return found
    return None


def _introduced_before(heard: TaggedUtterance, place: int) -> PersonMention | None:
    """ "i've a nephew finn and (he)'s only three": a pronoun for the relative that an article introduces before it."""
    known, words = heard.known, heard.words
    pronouns = (known.opening("of_woman") | known.opening("of_man")) - known.opening("article")
    if words.folded[place] not in pronouns:
        return None
    named = (person_at(known, words, first, {}, any_article=True) for first in range(place - 1, -1, -1))
    last = next((found for found in named if found is not None and found.who.relation), None)
    if last is None or not may_be(known, words.folded[place], last.who):
        return None
    return replace(last, place=place, size=1, pronoun=True)


def right_before(heard: TaggedUtterance, guess: Guess) -> PersonMention | None:
    """ "damon's coeliac", "my mum is a vegan", whatever stands before that."""
    known, words = heard.known, heard.words
    for place in range(max(guess.first - NEAR, 0), guess.first):
        found = person_at(known, words, place, heard.before.names)
        end = place + found.size if found is not None else guess.first + 1
        between = words.folded[end : guess.first]
        if end <= guess.first and all(word in known.third or known.has_word(("article",), word) for word in between):
            return found
    return None


def only_person(heard: TaggedUtterance) -> PersonMention | None:
    """The one whom an utterance names that speaks of nobody else: "no walnuts for my sister"."""
    known, words = heard.known, heard.words
    if any(known.has_word(("speaker", "me"), word) for word in words.folded) or known.has(words, "mine"):
        return None
    named = [person_at(known, words, place, heard.before.names) for place in range(len(words.folded))]
    found = [one for one in named if one is not None]
    return found[0] if len({one.who.subject for one in found}) == 1 else None


def stranger(heard: TaggedUtterance, whose: Guess) -> PersonMention | None:
    """Somebody whom nobody introduced, by one word: a name, or who they are to the house ("the boy")."""
    known, held = heard.known, heard.words.folded
    taken = range(whose.first, whose.last)
    none = frozenset("s").union(*map(known.opening, _BESIDE_NAMES))
    named = [place for place in taken if held[place] not in none]
    asked = "verb_second" in known.lists and whose.first == 1 and held[0] in known.third  # "wohnt tilda in kassel"
    if asked or len(named) != 1 or known.has(heard.part(whose), "outsider"):
        return None
    if known.starts_at(held, whose.last, "known_from"):
        return None  # "claire from work"
    owned = known.opening("own") | known.opening("first_my")
    if whose.sure < SURE and not owned.isdisjoint(held[: named[0]]):
        return None  # "my best friend" is no name
    name = heard.words.part(named[0], named[0] + 1)
    return PersonMention(PersonRef(name.folded[0], name.spelled), whose.first, whose.last - whose.first)


def relative_named(heard: TaggedUtterance, named: Guess) -> PersonMention | None:
    """A relative that was taken for a thing: "karim is the (brother) of mine who's a pastry chef"."""
    known, words = heard.known, heard.words
    places = range(max(named.first - 1, 0), named.last)
    told = (person_at(known, words, place, heard.before.names, any_article=True) for place in places)
    return next((one for one in told if one is not None and one.who.relation), None)


def named_thing(heard: TaggedUtterance, named: Guess) -> Tokens:
    """What a value belongs to, without the "s" of "the landlord's called mr hughes"."""
    words = heard.part(named)
    return words.part(0, len(words.folded) - (len(words.folded) > 1 and words.folded[-1] == SHORT_IS))


def thing_meant(heard: TaggedUtterance, guess: Guess) -> Tokens | None:
    """What a place or a favourite is of, where it was named before: "it's in the drawer", "mine's green"."""
    thing: Sequence[str] = ()
    if guess.kind == "favourite":
        thing = heard.before.asked[1:]
    elif guess.kind == "location":
        known = heard.before.thing if heard.before.thing != heard.before.asked else ()  # no colour lies anywhere
        thing = thing_of(heard.known, heard.words.part(0, guess.first)) or known or subject_before(heard, guess)
    return heard.known.words_of(" ".join(thing)) if thing else None
