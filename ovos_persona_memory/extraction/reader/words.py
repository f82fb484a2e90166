"""The words of an utterance as the reader takes them in: lower case, without punctuation."""

from __future__ import annotations

import re
from typing import NamedTuple

ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f"
"""Letters of scripts without blanks between words (kana, Han, Thai): each is a word of its own."""
_WORD = re.compile(rf"[{ALONE}]|[^\W_{ALONE}]+")


class Word(NamedTuple):
    """A word, and its characters in the text: from ``first`` up to ``last``, ``last`` excluded."""

    lower: str
    first: int
    last: int


def words_of(text: str) -> list[Word]:
    """The words of a text in order; an apostrophe or a hyphen divides words."""
    return [Word(match[0].lower(), match.start(), match.end()) for match in _WORD.finditer(text)]
