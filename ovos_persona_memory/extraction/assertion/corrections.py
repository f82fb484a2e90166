"""What puts right what was just said: "no it's odette", "penicillin not peanuts"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ovos_persona_memory.text import Lexicon, Tokens

VALUE = 5
"""Words at most of what is right."""
NAME = 3
"""Words at most of a corrected value where the utterance does not name the wrong one."""
_ONE_WORD = ("birthday", "age", "name", "family", "pet", "home", "origin", "favourite")
"""The slots whose values look like nothing else that "no it's ..." may be followed by."""
CORRECTION = 16
"""Words at most of a sentence that puts something right."""
_NO_VALUE = ("speaker", "he_she", "pronoun", "asking", "finite")
"""Lists of words that are no part of what is right."""
_ENDS = ("break", "tail", "joint", "correcting", "repair", "preposition", "pronoun", "more")
"""Lists of phrases that what is right ends before."""


@dataclass(frozen=True)
class RecentStatement:
    """What was said a moment before."""

    slot: str
    subject: str
    thing: str
    value: tuple[str, ...]
    """Folded."""
    told: str = ""
    """The words that it was said with, up to the value; empty where they do not stand before it."""


def may_correct(known: Lexicon, text: str) -> bool:
    """Whether a sentence may put something right: quickly, and never wrong where it says no."""
    words = known.words_of(text)
    if not words.folded or len(words.folded) > CORRECTION or "correcting" not in known.lists:
        return False
    return _led(known, words) or not known.opening("no").isdisjoint(words.folded)


def as_speaker(known: Lexicon, swaps: Mapping[str, str], text: str) -> str:
    """What was told to somebody as they would say it: "you are nine" as "i am nine".

    ``swaps``: words of a speaker to those that the hearer says back.
    """
    own = {said: mine for mine, said in reversed(list(swaps.items()))}
    own |= {said: mine for mine, said in swaps.items() if mine in known.lists.get("elided_subject", ())}
    words, told = [], False
    for word in known.words_of(text).folded:
        verb = known.third.get(word, (word,))[0] if told else word
        words.append(own.get(word, verb))
        told = word in own and own[word] in known.lists.get("elided_subject", ())
    return " ".join(words)


def corrected(
    known: Lexicon, sentence: str, stated: Sequence[RecentStatement]
) -> tuple[RecentStatement, Tokens] | None:
    """What of the stated, the newest first, is put right, and what it is instead; None where nothing is."""
    words = known.words_of(sentence)
    led = _led(known, words)
    while size := known.ends(words, "correcting_end"):
        words, led = words.part(0, len(words.folded) - size), True
    words, spoken = _without_lead(known, words), words
    lead = spoken.part(0, len(spoken.folded) - len(words.folded))
    no = next((n for n, word in enumerate(words.folded) if word in known.opening("no")), None)
    if no is not None:
        return _instead(known, words.part(0, no), words.part(no + 1, len(words.folded)), stated)
    size = known.starts(words, "it_is")
    if not (led and stated and (size or known.ends(lead, "it_is"))):
        return None
    words = words.part(size, len(words.folded))
    value = _value(known, words.part(known.starts(words, "preposition"), len(words.folded)))  # "it's on the tenth"
    plain = value is not None and stated[0].slot in _ONE_WORD and len(value.folded) <= NAME
    return (stated[0], value) if plain and value is not None else None


def _instead(
    known: Lexicon, before: Tokens, behind: Tokens, stated: Sequence[RecentStatement]
) -> tuple[RecentStatement, Tokens] | None:
    """ "a not b", "not b it is a", "not b a": b is what was stated."""
    for one in stated:
        wrong = [n for n, word in enumerate(behind.folded) if word in one.value]
        value = _value(known, before if before.folded else behind.part(max(wrong, default=-1) + 1, len(behind.folded)))
        if wrong and value is not None and one.value != value.folded:
            return one, value
    told = _value(known, before if before.folded else _from_it_is(known, behind))  # the right one was stated before
    again = next((one for one in stated if told is not None and one.value == told.folded), None)
    return (again, told) if again is not None and told is not None else None


def _from_it_is(known: Lexicon, words: Tokens) -> Tokens:
    start = next((start for start, _ in known.places(words, "it_is")), len(words.folded))
    return words.part(start, len(words.folded))


def repaired(known: Lexicon, sentence: str) -> int | None:
    """Where somebody begins to put their own words right in a sentence, characters: "... no wait the tenth"."""
    words = known.words_of(sentence)
    meant = {start for start, _ in known.places(words, "in_earnest")}  # "i mean it"
    starts = [start for start, _ in known.places(words, "repair") if start and start not in meant]
    return words.spans[starts[0]][0] if starts else None


def right_value(known: Lexicon, text: str) -> Tokens | None:
    """What stands right behind the words that put somebody's own words right: "(the forty) no wait the forty two";
    None where that is no value."""
    words = _without_lead(known, known.words_of(text))
    size = known.starts(words, "preposition")
    ends = (n for n in range(size + 1, len(words.folded)) if known.starts_at(words.folded, n, "order"))
    value = _value(known, words.part(size, next(ends, len(words.folded))))
    if value is None or len(value.folded) > NAME:
        return None
    verbs = any(word in known.third or word in known.own_verbs for word in value.folded)
    return None if verbs or any(known.has_word(_NO_VALUE, word) for word in value.folded) else value


def _led(known: Lexicon, words: Tokens) -> bool:
    return _lead(known, words) > 0


def _lead(known: Lexicon, words: Tokens) -> int:
    return max(known.starts(words, "correcting"), known.starts(words, "repair"))


def _without_lead(known: Lexicon, words: Tokens) -> Tokens:
    while size := max(_lead(known, words), known.starts(words, "lead")):
        words = words.part(size, len(words.folded))
    return words


def _value(known: Lexicon, words: Tokens) -> Tokens | None:
    """The words that name what is right; None where there are none, or too many."""
    words = words.part(known.starts(words, "it_is"), len(words.folded))
    while words.folded and words.folded[0] in known.lists.get("determiner", ()):
        words = words.part(1, len(words.folded))
    parts = (words.part(n, len(words.folded)) for n in range(1, len(words.folded)))
    ends = (n for n, part in enumerate(parts, 1) if any(known.starts(part, name) for name in _ENDS))
    value = words.part(0, next(ends, len(words.folded)))
    while size := known.ends(value, "correcting_behind"):
        value = value.part(0, len(value.folded) - size)
    return value if 0 < len(value.folded) <= VALUE else None
