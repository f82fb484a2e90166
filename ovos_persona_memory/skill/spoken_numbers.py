"""Spoken numbers: a count, a day of the month, a year, each in the words of the language."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ovos_persona_memory.text import Language

try:
    from ovos_number_parser import pronounce_number, pronounce_ordinal
except ImportError:  # the stable line need not have it: voices read digits, too
    pronounce_number = pronounce_ordinal = None

FEMININE = {
    "ca": {"un": "una", "dos": "dues"},
    "es": {"uno": "una", "veintiuno": "veintiuna"},
    "fr": {"un": "une"},
    "gl": {"un": "unha", "dous": "dúas"},
    "pt": {"um": "uma", "dois": "duas"},
}
"""The last word of a number before a feminine noun; other languages have none, or say the same."""
MASCULINE = {"es": {"uno": "un", "veintiuno": "veintiún"}}
"""The last word of a number before any other noun."""
FIRST = {"fr": "premier", "it": "primo"}
"""The first of a month, in languages whose other days are cardinal numbers."""
DAYS: dict[str, Callable[[str], str]] = {
    "en": lambda ordinal: f"the {ordinal} of",
    "de": lambda ordinal: f"{ordinal}n",
    "da": lambda ordinal: ordinal,
}
"""Languages that say the days of a month as ordinals: from the ordinal to the text before the month."""


COUNTS_THINGS = frozenset({"forget_about_ask", "forget_time_ask", "how_much", "how_much_said", "hours", "waiting_many"})
"""Dialogs whose numbers count things or hours, which are feminine nouns where a language has them."""
COUNTS = frozenset({"minutes"})
"""Dialogs whose numbers count other nouns. In all other dialogs a number stands for itself."""


def sentence(spoken: Language, dialog: str, **slots: object) -> str:
    """A sentence of the language, its numeric slots in words."""
    feminine = True if dialog in COUNTS_THINGS else False if dialog in COUNTS else None
    told = {n: number_in_words(v, spoken.tag, feminine) if isinstance(v, int) else str(v) for n, v in slots.items()}
    return spoken.say(dialog, **told)


def number_in_words(number: int, tag: str, feminine: bool | None = None) -> str:
    """The number in words; digits where no words are available. ``feminine``: gender of the counted noun; None: no
    noun."""
    plain = _words(number, tag)
    if feminine is None:
        return plain
    ends = (FEMININE if feminine else MASCULINE).get(_language(tag), {})
    start, blank, last = plain.rpartition(" ")
    return f"{start}{blank}{ends.get(last, last)}"


def day_in_words(day: int, tag: str) -> str:
    """The day of a month, as it stands before the month's name."""
    name = _language(tag)
    if day == 1 and name in FIRST and pronounce_number is not None:
        return FIRST[name]
    return DAYS[name](_ordinal(day, tag)) if name in DAYS and pronounce_ordinal is not None else _words(day, tag)


def _language(tag: str) -> str:
    return tag.partition("-")[0].lower()


@lru_cache(maxsize=512)
def _words(number: int, tag: str) -> str:
    return _said(pronounce_number, number, tag)


@lru_cache(maxsize=512)
def _ordinal(number: int, tag: str) -> str:
    return _said(pronounce_ordinal, number, tag)


def _said(pronounce: Callable[[int, str], str] | None, number: int, tag: str) -> str:
    if pronounce is None:
        return str(number)
    try:
        return str(pronounce(number, tag)).replace(",", "").strip()
    except Exception:  # a failure of another project's parser must not silence the answer
        return str(number)
