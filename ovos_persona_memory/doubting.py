"""What is asked in the words of a statement: "i play the violin do i", "is it true that i play it"."""

from __future__ import annotations

from ovos_persona_memory.template import Words
from ovos_persona_memory.templates import Templates

NEAR = 2
"""Words at most from "is it true" to who is spoken of."""
BEHIND = 4
"""Words at most from a value to what puts it in doubt."""
_SPEAKER = ("speaker", "own", "first_my")


def is_put_in_doubt(known: Templates, words: Words, first: int, last: int) -> bool:
    """Whether what the words from one to another tell is asked, by what stands before or behind it."""
    behind = range(first + 1, last + BEHIND + 1)  # a clause may hold it
    return _is_asked_back(known, words, behind) or _is_asked(known, words, first) or _or_else(known, words, behind)


def _is_asked_back(known: Templates, words: Words, behind: range) -> bool:
    """ "... isn't it", "... was meinst du"; "so do i" agrees."""
    size = known.ends(words, "asked_back")
    begins = len(words.folded) - size
    if not size or begins not in behind:
        return False
    return words.folded[begins - 1] not in known.opening("agreeing")


def _is_asked(known: Templates, words: Words, first: int) -> bool:
    """ "did i tell you that my sister ...", where nobody begins anew before the value."""
    for start, size in known.places(words, "asking_whether"):
        behind = words.folded[start + size : first]
        own = [n for n, word in enumerate(behind) if known.has_word(_SPEAKER, word)]
        if start < first and (own[0] if own else len(behind)) <= NEAR and len(own) <= 1:
            return True
    return False


def _or_else(known: Templates, words: Words, behind: range) -> bool:
    """ "... or is it the other one"."""
    return any(start in behind for start, _ in known.places(words, "or_else"))
