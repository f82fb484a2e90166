"""What somebody says they do not have, are not or do not fear."""

from __future__ import annotations

from ovos_persona_memory.extraction.fusion.tagged_utterance import DENIED, TaggedUtterance, clause_around
from ovos_persona_memory.extraction.tagger.tagger import Guess
from ovos_persona_memory.text import Lexicon, Tokens

NEAR = 4
"""Words at most between "not" and what it denies."""
PLAIN = ("name", "birthday", "age", "origin", "home", "work")
"""Slots that nobody fills by what they do not do: "i can't resist cake" tells a taste."""
HAD = ("health", "pet")
"""Slots of what somebody has: "no asthma" tells none; "no nuts" tells of an allergy."""


LASTING = ("activity", "health", "work", "home", "pet", "detail")
"""Slots of what can come to an end."""
_ANEW = ("speaker", "he_she", "own", "me", "finite")
"""Lists of words with which something else is said: "no i hate mustard"."""


def denied(heard: TaggedUtterance, guess: Guess, named: Guess | None) -> bool:
    """Whether a value is denied: "orange isn't my favourite colour any more", but not "my colour is not orange but
    teal"; where something is not, may stand before where it is, and what holds no more has ended."""
    if has_ended(heard, guess):
        return False
    if _lacked(heard, guess) or averse_to_nothing(heard, guess) or _run_out(heard, guess) or _visited(heard, guess):
        return True
    if guess.kind in PLAIN and _with_not(heard, guess):
        return True
    if guess.kind == "location":
        return False
    return _is_not_that(heard, guess, named) if named is not None else _is_no_favourite(heard, guess)


def has_ended(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether a value is told as what holds no more: "i've stopped taking | metformin", "i don't play | chess any
    more", "mit | yoga hab ich aufgehört"."""
    known, words = heard.known, heard.words
    if guess.kind not in LASTING and not (guess.kind == "diet" and known.ends(heard.part(guess), "diet")):
        return False  # "i gave up sugar" is what somebody eats
    clause = clause_around(heard, guess.first, guess.last)
    first = next(n for n, span in enumerate(words.spans) if span == clause.spans[0])
    before = words.part(max(first, guess.first - NEAR), guess.first)
    behind = words.part(guess.last, min(first + len(clause.folded), guess.last + NEAR))
    if known.has(before, "stopping") or known.has(behind, "stopping_behind") or known.ends(clause, "stopping"):
        return True  # "judo ist nicht mehr montags sondern dienstags" goes on
    if guess.kind == "health" and known.ends(known.without(before, "determiner"), "taken_off"):
        return True
    no_more = known.has(behind, "no_more") or known.has(before, "no_more")
    return no_more and not known.opening("denying").isdisjoint(before.folded)


def averse_to_nothing(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether a dislike is denied: "i'm not afraid of dogs", "ich hasse montage nicht"."""
    known, held = heard.known, _clause(heard, guess)
    if guess.kind != "dislikes" or "averse" not in known.lists:
        return False
    no, averse = _places(known, held, "denying"), _places(known, held, "averse")
    last = "verb_second" in known.lists and _places(known, held, "no")[-1:] == [len(held.folded) - 1]
    near = ((one, place) for one in no for place in averse if 0 < place - one <= NEAR)
    return bool(last and averse) or any(
        not any(known.has_word(_ANEW, word) for word in held.folded[one + 1 : at]) for one, at in near
    )


def _clause(heard: TaggedUtterance, guess: Guess) -> Tokens:
    """The clause of a value; all that follows where it is cut behind the value: "spiders | don't scare me"."""
    clause = clause_around(heard, guess.first, guess.last)
    if clause.spans[-1:] != heard.words.spans[guess.last - 1 : guess.last] or clause.folded != heard.part(guess).folded:
        return clause
    return heard.words.part(guess.first, min(guess.last + NEAR, len(heard.words.folded)))


def _places(known: Lexicon, words: Tokens, name: str) -> list[int]:
    held = known.opening(name)
    return [n for n, word in enumerate(words.folded) if word in held]


def _lacked(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether "no" or "not" stands right before a value, or before who has it: "i'm not strictly vegetarian", "i don't
    have asthma", "nobody here has asthma"; what somebody does without is told like that, too."""
    known = heard.known
    before = known.without(heard.words.part(0, guess.first), "skip")
    value = heard.part(guess)
    ill = is_illness(heard, guess)
    food = guess.kind in DENIED and not ill and not known.ends(value, "diet")
    if not food and (known.ends(before, "no") or (len(before.folded) > 1 and known.ends(before, "denying"))):
        return True  # "no" alone answers
    if guess.kind not in HAD and not ill:
        return False
    while before.folded and known.has_word(("having", "article"), before.folded[-1]):
        before = before.part(0, len(before.folded) - 1)
        if known.ends(before, "denying"):
            return True
    return False


def _run_out(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether nothing is left of a food: "wir haben keine milch mehr"."""
    known, behind = heard.known, heard.words.part(guess.last, len(heard.words.folded))
    before = heard.words.part(0, guess.first)
    size = known.ends(before, "denying")
    having = known.ends(before.part(0, len(before.folded) - size), "having")
    return guess.kind in DENIED and bool(size and having and known.starts(behind, "left_over"))


def _visited(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether somebody is only there: "i'm at the dentist"."""
    known, before = heard.known, heard.words.part(0, guess.first)
    there = before.part(0, len(before.folded) - known.ends(before, "article"))
    placed = known.ends(there, "preposition")
    being = known.ends(there.part(0, len(there.folded) - placed), "being")
    return guess.kind == "work" and bool(placed and being and known.has(heard.part(guess), "at_service"))


def is_illness(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether a value, or the word behind it, says itself that it is an allergy: "nut allergy", "laktoseintoleranz"."""
    endings = tuple(heard.known.opening("illness"))
    return any(word.endswith(endings) for word in heard.words.folded[guess.last - 1 : guess.last + 1])


def _is_not_that(heard: TaggedUtterance, guess: Guess, named: Guess) -> bool:
    """Whether "not" stands between a value and its thing, and nothing else instead."""
    between = heard.words.part(min(guess.last, named.last), max(guess.first, named.first))
    no = not heard.known.opening("no").isdisjoint(between.folded)
    again = any(
        heard.known.has_word(("he_she",), word) for word in between.folded
    )  # "isn't socks any more he's | waffle"
    return no and not again and not heard.known.has(between, "but_now")


def _is_no_favourite(heard: TaggedUtterance, guess: Guess) -> bool:
    """ "teal isn't my favourite colour", where no thing was made out."""
    held = heard.words.part(guess.last, min(guess.last + NEAR, len(heard.words.folded)))
    no = not heard.known.opening("no").isdisjoint(held.folded)
    return guess.kind == "favourite" and no and not heard.known.has(held, "but_now")


def _with_not(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether the verb of a value is denied: "we don't live in | leeds", but not "... in leeds but in | york"."""
    known, held = heard.known, heard.words.folded
    no = next((n for n in range(guess.first - 1, -1, -1) if held[n] in known.opening("no")), -1)
    between = held[no + 1 : guess.first]
    lists = ("speaker", "he_she", "own", "but_now", "joint")
    return no >= 0 and len(between) <= NEAR and not any(known.has_word(lists, word) for word in between)
