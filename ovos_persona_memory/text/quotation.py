"""Quotations of what people said, as they are said back: where they end, and whether they are worth saying."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.index_terms import fold
from ovos_persona_memory.text.languages import Language, sentences_of

LONGEST = 240
"""Characters at most of one quotation."""
SAID_BACK, LETTERS_SAID_BACK = 24, 180
"""Words and characters at most of a statement that is said back whole: of a longer one nobody checks each word."""
COUNTING = 2
"""The least number that is worth checking: "one" and "a" are said without counting."""
TOLD_EXACTLY = ("name", "allergy")
"""Slots of ``asked_with.list`` whose words tell what must not be misheard: "is called", "allergic"."""
NOUNS_IN_CAPITALS = frozenset({"de", "lb"})
"""Languages that write every noun with a capital letter."""
_ENDS = " .,;:!"


def until_its_end(text: str, spoken: Language, longest: int = LONGEST) -> str:
    """The text up to where a statement ends, without its last full stop: no "and" is left over.

    A text over ``longest`` characters is cut after its last whole sentence, else after a whole word.
    """
    if len(text) <= longest:
        return _without(_joining(spoken.tag), text)
    cut = text[: longest + 1]
    sentences = sentences_of(cut)
    whole = " ".join(sentences[:-1])
    if len(sentences) > 1 and len(whole) >= longest // 2:
        return whole.rstrip(_ENDS)
    return _without(_joining(spoken.tag) | spoken.stop_words, cut.rpartition(" ")[0] or text[:longest])


def _without(small: frozenset[str], text: str) -> str:
    """The text without such words at its end; the text itself where it has no others."""
    tokens = text.rstrip(_ENDS).split()
    left = len(tokens)
    while left and set(fold(tokens[left - 1])) <= small:
        left -= 1
    return " ".join(tokens[:left]).rstrip(_ENDS) if left else text.rstrip(_ENDS)


def is_long(text: str) -> bool:
    """Whether a statement is too long to be said back whole."""
    return len(text) > LETTERS_SAID_BACK or len(text.split()) > SAID_BACK


def is_worth_checking(text: str, spoken: Language) -> bool:
    """Whether a statement has something that is easily misheard and matters: a name, a number, a day, a month, an
    allergy."""
    said = frozenset(spoken.words(text))
    if any(not said.isdisjoint(spoken.asking_words.get(slot, ())) for slot in TOLD_EXACTLY):
        return True
    padded = spoken.padded(text)
    if any(phrase in padded for phrase in _days_to_come(spoken.tag)):
        return True
    checked = _checked(spoken.tag)
    for sentence in sentences_of(text):
        tokens = sentence.split()
        words = [word for token in tokens for word in fold(token)]
        if any(word in checked or any(map(str.isdigit, word)) for word in words):
            return True
        if any(_may_be_name(tokens, place, spoken) for place in range(1, len(tokens))):
            return True
    return False


def _may_be_name(tokens: Sequence[str], place: int, spoken: Language) -> bool:
    """Whether a word within a sentence names somebody or something, by its capital letter.

    Where every noun has one, only behind another such word: "Frau Bell", but not "die Katze".
    """
    if not _has_capital(tokens[place], spoken):
        return False
    return spoken.primary not in NOUNS_IN_CAPITALS or (place > 1 and _has_capital(tokens[place - 1], spoken))


def _has_capital(token: str, spoken: Language) -> bool:
    return token.strip("'\"(")[:1].isupper() and not all(word in spoken.stop_words for word in fold(token))


@lru_cache(maxsize=64)
def _checked(tag: str) -> frozenset[str]:
    """Folded words for a number, a day of the week or a month."""
    spoken = languages.for_language(tag)
    numbers = (words for words, value in spoken.table("numbers.list").items() if value >= COUNTING)
    files = ("weekdays.list", "weekly.list", "months.list")
    days = (day for name in files for line in spoken.lines(name) for day in line.split(","))
    return frozenset(word for words in (*numbers, *days) for word in fold(words)) - spoken.stop_words


@lru_cache(maxsize=64)
def _days_to_come(tag: str) -> tuple[str, ...]:
    """The phrases of a language for a day after today."""
    spoken = languages.for_language(tag)
    pairs = spoken.pairs("coming_days.list")
    return tuple(spoken.padded(phrase) for phrase, meant in pairs if int(meant.split()[1]) > 0)


@lru_cache(maxsize=64)
def _joining(tag: str) -> frozenset[str]:
    """Folded words with which no statement ends: "and", "or", "but"."""
    return frozenset(word for line in languages.for_language(tag).lines("joining.list") for word in fold(line))
