"""Inflections of one word, as against other words of the same stem: "gardeners" is "gardener", "garden" is not."""

from __future__ import annotations

from functools import lru_cache

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.index_terms import fold
from ovos_persona_memory.text.languages import Language

SHORTEST = 2
"""Letters at least with which two inflections of one word begin alike."""


def is_same_word(one: str, other: str, spoken: Language) -> bool:
    """Whether two folded words differ by nothing but their endings; of a language without such a list, always."""
    if one == other:
        return True
    endings = _endings(spoken.tag)
    if not endings:
        return True
    pairs = enumerate(zip(one, other, strict=False))
    start = next((place for place, (first, second) in pairs if first != second), min(len(one), len(other)))
    return start >= SHORTEST and any(
        _is_ending(one, place, endings) and _is_ending(other, place, endings) for place in (start, start - 1)
    )


def _is_ending(word: str, place: int, endings: frozenset[str]) -> bool:
    """Whether a word ends so behind this place; a letter may be doubled there: "swimming"."""
    rest = word[place:]
    return rest in endings or (rest[:1] == word[place - 1] and rest[1:] in endings)


def says_another_word(text: str, topic: str, spoken: Language) -> bool:
    """Whether a text has, in the place of a word of the topic, another word of the same stem alone."""
    said = set(fold(text))
    for wanted in spoken.bare_words(topic):
        if wanted in said:
            continue
        terms = languages.forms(wanted, spoken, languages.known())  # as records are searched
        near = [word for word in said if not terms.isdisjoint(spoken.words(word))]
        if near and not any(is_same_word(word, wanted, spoken) for word in near):
            return True
    return False


@lru_cache(maxsize=64)
def _endings(tag: str) -> frozenset[str]:
    """The endings of a language, none among them; empty where it has no list."""
    lines = languages.for_language(tag).lines("inflections.list")
    listed = {ending for line in lines for word in line.split() for ending in fold(word)}
    return frozenset({*listed, ""}) if listed else frozenset()
