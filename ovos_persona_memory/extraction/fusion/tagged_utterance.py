"""An utterance as a model reads it: its guesses, what each belongs to, and the clause in which it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ovos_persona_memory.extraction.assertion.assertion import offsets
from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext
from ovos_persona_memory.extraction.schema.slots import SLOTS
from ovos_persona_memory.extraction.segmentation import spelled_codes
from ovos_persona_memory.extraction.segmentation.clauses import (
    between_commas,
    clauses,
    split_run_on,
    strip_function_words,
)
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources, said
from ovos_persona_memory.extraction.tagger.tagger import Guess
from ovos_persona_memory.text import Lexicon, Tokens

DENIED = ("allergy", "diet", "dislikes")
"""Slots of what somebody does without: "no walnuts" is no correction."""
MARKED = frozenset(",.")
"""Marks that speech recognition may set."""
SUBJECT = 5
"""Words at most before the verb of what lies somewhere."""
_NO_SUBJECT = (
    *("speaker", "he_she", "pronoun", "asking", "own_one"),
    *("relation", "kin", "given_name", "acquaintance", "pet"),
)
"""Lists of words that no thing holds."""


@dataclass(frozen=True)
class TaggedUtterance:
    """An utterance, and what a model makes of it."""

    spoken: LanguageResources
    words: Tokens
    before: DialogueContext
    guesses: Sequence[Guess]
    refused: str = ""
    """Why templates refused what fits them."""

    @property
    def known(self) -> Lexicon:
        return self.spoken.templates

    @property
    def says_i(self) -> bool:
        """Whether its speaker names themselves: not in "i want it remembered that ..."."""
        names = ("speaker", "first_my", "own", "mine", "own_one", "me")
        told = self.known.words_of(self.spoken.language.without_lead(self.words.text)).folded
        return any(not self.known.opening(name).isdisjoint(told) for name in names)

    @cached_property
    def edges(self) -> list[int]:
        """Where clauses begin, characters, in order."""
        return sorted(_edges(self))

    def of_kind(self, kind: str) -> list[Guess]:
        return [one for one in self.guesses if one.kind == kind]

    def part(self, guess: Guess) -> Tokens:
        return self.words.part(guess.first, guess.last)


def whole(known: Lexicon, words: Tokens, guesses: Sequence[Guess]) -> list[Guess]:
    """The guesses with all of a value that is said sign by sign, and none of it elsewhere: "k l seven two b c d".

    It is as sure as what it belongs to: nothing else is said like that.
    """
    found = [_with_name(known, words, _from_preposition(known, words, one)) for one in guesses]
    for value in [one for one in found if one.kind in SLOTS]:
        runs = (spelled_codes.run_at(known, words, place) for place in range(value.first, value.last))
        first, last = next((run for run in runs if run[0] < run[1]), (value.last, value.first))
        if last < first or value not in found:
            continue
        if known.loose.isdisjoint(words.folded[last : last + 1]):
            last = max(last, value.last)
        things = [one for one in found if one.kind == "thing" and one.first < first]
        kind = "detail" if things and value.kind == "home" else value.kind  # a postcode
        sure = max([value.sure, *(one.sure for one in things)])
        spelled = Guess(kind, min(first, value.first), last, sure)
        others = (_outside(one, spelled) for one in found if one is not value)
        found = sorted([*(one for one in others if one.first < one.last), spelled], key=lambda one: one.first)
    return found


def _with_name(known: Lexicon, words: Tokens, guess: Guess) -> Guess:
    """A title with the name that it stands before: "my gp is doctor | shah"."""
    titled = guess.kind in SLOTS and known.ends(words.part(guess.first, guess.last), "title") > 0
    return replace(guess, last=guess.last + 1) if titled and guess.last < len(words.folded) else guess


def _from_preposition(known: Lexicon, words: Tokens, guess: Guess) -> Guess:
    """A place with the preposition that stands right before it: "on the | back of the door"."""
    before = words.part(0, guess.first)
    while known.ends(before, "article"):
        before = before.part(0, len(before.folded) - 1)
    size = known.ends(before, "preposition")
    if guess.kind != "location" or not size or known.starts(words.part(guess.first, guess.last), "preposition"):
        return guess
    return replace(guess, first=len(before.folded) - size)


def _outside(one: Guess, other: Guess) -> Guess:
    """The words of a guess that stand before another where they overlap, else those behind it."""
    if one.first < other.first:
        return replace(one, last=min(one.last, other.first))
    return replace(one, first=max(one.first, other.last)) if one.first < other.last else one


def beside(heard: TaggedUtterance, guess: Guess, kind: str) -> Guess | None:
    """The person or the thing that a value belongs to: the last before it, else the first behind it up to the next
    value. Where somebody speaks of themselves in between ("my mum is a nurse and i am a cook"), it is nobody."""
    first = _first_listed(heard, guess) if kind == "thing" else guess
    if first is not guess:
        return beside(heard, first, kind)
    before = [one for one in heard.of_kind(kind) if one.last <= guess.first and not _with_speaker(heard, one)]
    if before:
        last = before[-1].last
        if kind == "who":
            own = heard.known.opening("speaker") | heard.known.opening("first_my")
            return before[-1] if own.isdisjoint(heard.words.folded[last : guess.first]) else None
        if not any(one.kind in SLOTS and last <= one.first < guess.first for one in heard.guesses):
            return before[-1]
    behind = (one for one in heard.guesses if one.first >= guess.last and (one.kind == kind or one.kind in SLOTS))
    following = next(behind, None)
    return following if following is not None and following.kind == kind else None


def _with_speaker(heard: TaggedUtterance, whose: Guess) -> bool:
    """ "me and (aisha)", "(aisha) and i": what is told is the speaker's, too."""
    known, held = heard.known, heard.words.folded
    own, listing = ("speaker", "me"), known.opening("listing")
    before, behind = held[max(whose.first - 2, 0) : whose.first], held[whose.last : whose.last + 2]
    if len(before) == 2 and known.has_word(own, before[0]) and before[1] in listing:
        return True
    return len(behind) == 2 and behind[0] in listing and known.has_word(own, behind[1])


def _first_listed(heard: TaggedUtterance, guess: Guess) -> Guess:
    """The first of the values that stand one behind the other: "the pigs are called (crumb) and flake"."""
    listing = heard.known.opening("listing")
    for one in heard.of_kind(guess.kind):
        between = heard.words.folded[one.last : guess.first]
        if one.last < guess.first and len(between) == 1 and between[0] in listing:
            return _first_listed(heard, one)
    return guess


def pronoun_before(heard: TaggedUtterance, guess: Guess) -> Guess | None:
    """ "she", where nobody speaks of themselves between it and the value."""
    known, held = heard.known, heard.words.folded
    own = known.opening("speaker") | known.opening("first_my")
    pronouns = (known.opening("of_woman") | known.opening("of_man")) - known.opening("article")
    subjects = known.opening("he_she") - known.opening("article") - known.opening("of_thing")

    def means(n: int) -> bool:
        return held[n] in own or held[n] in pronouns or (held[n] in subjects and held[n + 1] in known.third)

    place = next((n for n in range(guess.first - 1, -1, -1) if means(n)), None)
    return None if place is None or held[place] in own else Guess("who", place, place + 1, guess.sure)


def subject_before(heard: TaggedUtterance, guess: Guess) -> Sequence[str]:
    """What the clause of a value begins with, up to its verb: "bedding for guests | is in the chest"."""
    known = heard.known
    clause = clause_around(heard, guess.first, guess.last)
    verb = next((n for n, word in enumerate(clause.folded) if word in known.third), 0)
    held = strip_function_words(known, clause.part(0, verb)).folded if 0 < verb <= SUBJECT else ()
    if not held or known.has_word(("preposition", "place", "binding"), held[0]):
        return ()
    return () if any(known.has_word(_NO_SUBJECT, word) for word in held) else held


def clause_around(heard: TaggedUtterance, first: int, last: int) -> Tokens:
    """The clauses that hold the words from one to another."""
    words = heard.words
    start, end = words.spans[first][0], words.spans[last - 1][1]
    edges = heard.edges[1:]  # the first clause has what opens it, too: "no walnuts ..."
    begin = max((edge for edge in edges if edge <= start), default=0)
    while begin and _points_back(heard, begin):
        begin = max((edge for edge in edges if edge < begin), default=0)
    over = min((edge for edge in edges if edge >= end), default=len(words.text))
    inside = [n for n, (one, two) in enumerate(words.spans) if one >= begin and two <= over]
    while len(inside) > 1 and inside[0] < first and words.folded[inside[0]] in heard.known.opening("joint"):
        inside.pop(0)
    return words.part(inside[0], inside[-1] + 1) if inside else words


def _points_back(heard: TaggedUtterance, begin: int) -> bool:
    """Whether the clause that begins at a place, characters, says nothing alone: "(one thing i hate) it's liver"."""
    known, place = heard.known, sum(start < begin for start, _ in heard.words.spans)
    rest = heard.words.part(place, len(heard.words.folded))
    somebody = rest.folded and known.has_word(("speaker", "he_she", "whose", "own"), rest.folded[0])
    return not somebody and known.starts(rest, "it_is") > 0


def without_correcting(heard: TaggedUtterance, clause: Tokens, value: Guess) -> Tokens:
    """Without the words that contradict what was said before: "no | my cormorant is called hubert"."""
    size = heard.known.starts(clause, "correcting")
    denied = value.kind in DENIED and clause.spans[size : size + 1] == heard.words.spans[value.first : value.first + 1]
    return clause.part(size, len(clause.folded)) if 0 < size < len(clause.folded) and not denied else clause


def _edges(heard: TaggedUtterance) -> Iterator[int]:
    """Where clauses begin, characters."""
    text = heard.words.text
    parts = [part for sentence in said(heard.spoken, text) for part in between_commas(sentence)]
    for offset, part in zip(offsets(text, parts), parts, strict=True):
        for clause in clauses(heard.spoken, heard.words.within(offset, offset + len(part))):
            yield from (
                min(start for start, _ in piece.spans) for piece in split_run_on(heard.spoken.templates, clause)
            )
