"""Quoting of other people's text, so that nothing in it can pass for instructions or markup."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache

MARKS = frozenset("<[`\u1fef\ufe47\ufe64\uff02\uff1c\uff3b\ufe68\uff3c\uff40")
"""Characters that a chat template, a tag or Markdown interprets, and all that NFKC, which some tokenizers apply, turns
into one of these, a double quotation mark or a backslash."""
BETWEEN_WORDS = "\u200b\u200c"
"""Zero-width characters that stand between words: a blank replaces them."""
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]")
"""Letters and marks that show nothing, in which text can be hidden (Unicode: Default_Ignorable_Code_Point)."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def quoted(text: str) -> str:
    """The text on one line, between double quotation marks that nothing in it closes.

    ``json.loads`` gives ``visible_text(text)`` back: quotation marks, backslashes and MARKS are escaped.
    """
    return f'"{"".join(map(_escaped, visible_text(text)))}"'


def visible_text(text: str) -> str:
    """The visible text on one line: without control, direction and zero-width characters."""
    return " ".join("".join(map(_seen, text)).split())


def as_json(value: object) -> str:
    """The value as JSON, in whose strings MARKS and invisible characters are escaped; nothing is lost."""
    written = json.dumps(value, ensure_ascii=False)
    return _STRING.sub(lambda string: "".join(map(_escaped_in_json, string[0])), written)


@lru_cache(maxsize=4096)
def _seen(character: str) -> str:
    if character.isspace() or character in BETWEEN_WORDS:
        return " "
    hidden = unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs") or UNSEEN.match(character)
    return "" if hidden else character


@lru_cache(maxsize=4096)
def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return _by_number(character) if character in MARKS else character


@lru_cache(maxsize=4096)
def _escaped_in_json(character: str) -> str:
    return _by_number(character) if character in MARKS or _seen(character) != character else character


def _by_number(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
