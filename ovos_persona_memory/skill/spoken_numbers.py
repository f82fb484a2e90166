"""Numbers as they are said: a count, a day of the month, a year, each in the words of the language."""

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
"""The last word of a number that counts things of a feminine name; other languages have none, or say the same."""
MASCULINE = {"es": {"uno": "un", "veintiuno": "veintiún"}}
"""... before any other name of a thing."""
FIRST = {"fr": "premier", "it": "primo"}
"""The first of a month, where its other days are plain numbers."""
DAYS: dict[str, Callable[[str], str]] = {
    "en": lambda ordinal: f"the {ordinal} of",
    "de": lambda ordinal: f"{ordinal}n",
    "da": lambda ordinal: ordinal,
}
"""Languages that say the days of a month as ordinals, from the ordinal to what stands before the month."""


COUNTS_THINGS = frozenset({"forget_about_ask", "forget_time_ask", "how_much", "how_much_said", "hours", "waiting_many"})
"""Dialogs whose numbers count things, or hours: of feminine names where a language has such."""
COUNTS = frozenset({"minutes"})
"""Dialogs whose numbers count something else. In all others a number stands for itself."""


def sentence(spoken: Language, dialog: str, **slots: object) -> str:
    """A sentence of the language; slots that are numbers stand in it as words."""
    feminine = True if dialog in COUNTS_THINGS else False if dialog in COUNTS else None
    told = {n: in_words(v, spoken.tag, feminine) if isinstance(v, int) else str(v) for n, v in slots.items()}
    return spoken.say(dialog, **told)


def in_words(number: int, tag: str, feminine: bool | None = None) -> str:
    """The number in words; digits where they cannot be had. ``feminine``: what is counted; None: nothing is."""
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
    except Exception:  # what a parser of another project cannot do is no reason to say nothing
        return str(number)
