"""Letters and digits that are said one by one: "k l seven two b c d"."""

from __future__ import annotations

from dataclasses import replace

from ovos_persona_memory.extraction.templates.template import PatternMatch
from ovos_persona_memory.text import Lexicon, Tokens

FEWEST = 3
"""Signs that follow each other at least: "i a" may be words."""


def run_at(known: Lexicon, words: Tokens, place: int) -> tuple[int, int]:
    """The first sign and the one behind the last of those said in a row where a word stands; else that place twice."""
    held = words.folded
    if place >= len(held) or not _is_sign(known, held[place]):
        return place, place
    first = next((n + 1 for n in range(place, -1, -1) if not _is_sign(known, held[n])), 0)
    last = next((n for n in range(place, len(held)) if not _is_sign(known, held[n])), len(held))
    if last < len(held):  # "... seven two | i think"
        last = next((n for n in range(last, first, -1) if not _is_word(known, held[n - 1])), first)
    first = next((n for n in range(first, last) if not _is_word(known, held[n])), last)
    return (first, last) if last - first >= FEWEST and first <= place < last else (place, place)


def size(known: Lexicon, words: Tokens) -> int:
    """How many words these are, signs in a row counted as one."""
    counted = place = 0
    while place < len(words.folded):
        _, last = run_at(known, words, place)
        place = max(last, place + 1)
        counted += 1
    return counted


def completed(known: Lexicon, clause: Tokens, told: PatternMatch) -> PatternMatch:
    """What a template took, with the rest of the signs that its value ends in: "k l seven | two b c d by the way"."""
    _, last = run_at(known, clause, told.words - 1)
    if (
        not told.more
        or told.value is None
        or told.value.spans[-1] != clause.spans[told.words - 1]
        or last <= told.words
    ):
        return told
    return replace(told, value=clause.part(told.words - len(told.value.folded), last), words=last)


def _is_sign(known: Lexicon, word: str) -> bool:
    return (len(word) == 1 and word.isalnum()) or known.has_word(("digit", "number", "sign"), word)


def _is_word(known: Lexicon, word: str) -> bool:
    """Whether a letter is a word, too: "a", "i"."""
    return len(word) == 1 and known.has_word(("article", "speaker"), word)
