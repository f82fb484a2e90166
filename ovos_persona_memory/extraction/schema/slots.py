"""The slots that facts fill, and which values each can hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ovos_persona_memory.extraction.segmentation import spelled_codes
from ovos_persona_memory.extraction.templates.template import PatternMatch
from ovos_persona_memory.records import Decay
from ovos_persona_memory.text import Lexicon, Tokens

_NUMBER = re.compile(r"\d{1,3}")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th)?|\d{4}")
_NUMERIC_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}(?:[./-]\d{1,4})?")
YEARS = range(0, 121)
SURE_WORDS = 5
"""Words at most of a taste in a letter: what is longer tells of an occasion."""


_NAMED = ("name", "family", "pet", "birthday", "age", "origin", "home", "detail")
"""The slots whose values are names, days and numbers: no verb stands in them."""


_PEOPLE = ("name", "family")
"""The slots whose values are names of people: no preposition stands in them."""


@dataclass(frozen=True)
class Slot:
    """What facts of one kind have in common."""

    decay: Decay
    topics: tuple[str, ...] = ()
    words: int = 6
    """Words of a value at most; letters and digits in a row count as one."""
    of_value: bool = False
    """Its thing is the value itself: facts stand side by side by what they tell."""
    several: bool = False
    """A list in one sentence ("nuts and eggs") makes several facts."""


SLOTS: dict[str, Slot] = {
    "name": Slot("never", ("person",), words=3),
    "birthday": Slot("never", ("person", "time")),
    "age": Slot("slow", ("person",), words=4),
    "origin": Slot("never", ("person",), words=5),
    "home": Slot("slow", ("person", "home"), words=7),
    "work": Slot("slow", ("person", "work"), words=7),
    "family": Slot("never", ("family",), words=6),
    "pet": Slot("slow", ("family", "pets"), words=5),
    "allergy": Slot("never", ("food", "health"), words=4, of_value=True, several=True),
    "diet": Slot("slow", ("food", "health"), words=3),
    "health": Slot("slow", ("health",), words=5, of_value=True),
    "favourite": Slot("slow", ("taste",), words=6),
    "likes": Slot("slow", ("taste",), words=6, of_value=True, several=True),
    "dislikes": Slot("slow", ("taste",), words=6, of_value=True, several=True),
    "activity": Slot("slow", ("activity",), words=10, of_value=True),
    "location": Slot("place", ("things",), words=8),
    "mood": Slot("mood", ("mood",), words=3),
    "detail": Slot("slow", ("person",), words=6),
}


def refused_value(known: Lexicon, told: PatternMatch, letter: bool) -> str | None:
    """Why what a template took cannot be a fact; None where it can. ``letter``: of a turn of many sentences."""
    for words in (told.value, told.thing):
        if words is not None and _is_nothing(known, words) and told.slot not in ("location", "mood"):
            return "no_value"
    none = (*known.lists.get("article", ()), *known.lists.get("open", ()))
    if told.value is not None and told.value.folded[-1] in none:
        return "no_value"
    if told.thing is not None and told.thing.folded[-1] in known.lists.get("article", ()):
        return "no_value"
    if told.value is not None and _holds_clause(known, told.value):
        return "no_value"
    if told.value is not None and spelled_codes.size(known, told.value) > SLOTS[told.slot].words:
        return "too_long"
    if told.slot in _NAMED and told.value is not None and _runs_on(known, told.value):
        return "no_value"
    if told.slot in _PEOPLE and told.value is not None and _is_place(known, told.value):
        return "no_value"
    check = _CHECKS.get(told.slot)
    return check(known, told, letter) if check and not (told.ends and told.value is None) else None


def _is_place(known: Lexicon, value: Tokens) -> bool:
    """Whether what should be a name ends with what no name does: "(put her) through"."""
    return known.has_word(("preposition", "separable", "particle"), value.folded[-1])


def _runs_on(known: Lexicon, value: Tokens) -> bool:
    """Whether a name or a day holds words of another clause: "bernice put her"."""
    none = {*known.lists.get("month", ()), *known.lists.get("whose", ())}
    said = (word for word in value.folded[1:] if word not in none)
    return any(known.has_word(("finite", "pronoun", "correcting"), word) for word in said)


def up_to_loose(known: Lexicon, told: PatternMatch) -> int:
    """How many words of a value stand before what only says more: "breuer | mit e u"; all where nothing does."""
    if told.value is None:
        return 0
    held = told.value.folded
    if "loose" not in known.lists or told.slot == "activity":
        return len(held)
    more = known.opening("preposition") if told.slot == "location" else frozenset[str]()
    loose = known.loose - more
    begins = (
        n for n in range(1, len(held)) if held[n] in loose and spelled_codes.run_at(known, told.value, n) == (n, n)
    )
    until = next(begins, len(held))
    open_ended = known.opening("preposition") | known.opening("determiner") | known.opening("skip") | loose
    return len(held) if held[until - 1] in open_ended else until


def in_place_of(known: Lexicon, told: PatternMatch) -> tuple[PatternMatch, PatternMatch] | None:
    """What is not so, and what is so instead: "(i'm not called) alex but alec"; None where nothing is said to be."""
    held = told.value.folded if told.value is not None and told.ends else ()
    place = next((n for n in range(1, len(held) - 1) if held[n] in known.lists.get("but_now", ())), 0)
    if told.value is None or not place:
        return None
    wrong, right = told.value.part(0, place), told.value.part(place + 1, len(held))
    both = replace(told, value=wrong), replace(told, ends=False, value=right)
    return None if any(refused_value(known, one, False) for one in both) else both


def _holds_clause(known: Lexicon, words: Tokens) -> bool:
    """Whether a clause begins in the midst of the words: "aylin | das weiß kaum einer"; not in "vor der arbeit"."""
    held = words.folded if "verb_second" in known.lists else ()
    return any(
        held[place] in known.opening("pronoun")
        and held[place + 1] in known.opening("finite")
        and held[place - 1] not in known.opening("preposition")
        for place in range(1, len(held) - 1)
    )


def _is_nothing(known: Lexicon, words: Tokens) -> bool:
    """Whether the words begin with a pronoun or its like, or speak of somebody else again."""
    if known.starts(words, "nothing_alone") == len(words.folded):
        return True
    return bool(known.starts(words, "nothing")) or any(
        word in known.lists.get("never_held", ()) for word in words.folded
    )


def _holds(known: Lexicon, words: Tokens | None, name: str) -> bool:
    return words is not None and known.has(words, name)


def _name(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    return "no_value" if _holds(known, told.value, "not_name") else None


def _birthday(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    """A date names a month or a day that everybody knows, or is written in numbers; "next week" is none."""
    if told.value is None:
        return "no_value"
    months = set(known.lists.get("month", ()))
    text = told.value.spelled
    dated = not months.isdisjoint(told.value.folded) or _NUMERIC_DATE.fullmatch(text.strip(" .")) is not None
    dated = dated or known.has(told.value, "holiday")
    year = len(told.value.folded) == 1 and re.fullmatch(r"(?:19|20)\d\d", told.value.folded[0]) is not None
    return None if dated or year else "no_value"


def _age(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    if told.value is None:
        return "no_value"
    counts = {*known.lists.get("number", ()), *known.lists.get("age_unit", ())}
    held = told.value.folded[: len(told.value.folded) - known.ends(told.value, "age_part")]  # "six | and a half"
    held = tuple(word.removesuffix(part) for word in held for part in known.lists.get("halved", ("",))[:1])
    fits = all(word in counts or (_NUMBER.fullmatch(word) and int(word) in YEARS) for word in held)
    return None if held and fits and len(held) <= 3 else "no_value"


def _no_date(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    if told.value is None:
        return "no_value"
    dated = any(_DAY.fullmatch(word) for word in told.value.folded)
    return "no_value" if dated or _first_is(known, told.value, "not_place") else None


def _first_is(known: Lexicon, words: Tokens | None, name: str) -> bool:
    """Whether a list holds the first word that is no article, or all of the words."""
    if words is None:
        return False
    articles = set(known.lists.get("determiner", ()))
    kept = [word for word in words.folded if word not in articles] or list(words.folded)
    phrases = known.lists.get(name, ())
    return kept[0] in phrases or " ".join(kept) in phrases or " ".join(words.folded) in phrases


def unsettled(known: Lexicon, words: Tokens) -> bool:
    """Whether words behind "at" name no place: "at the moment"."""
    return " ".join(_without_determiners(known, words).folded) in known.lists.get("not_place", ())


def _home(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    """A place: neither "ramen", nor "under the deck"."""
    if told.value is not None and known.starts(told.value, "not_home"):
        return "no_value"
    return "no_value" if _first_is(known, told.value, "not_place") else None


def _work(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    """Where a language says no article before a profession (<no_job>), one with it is played: "ein polizist"."""
    if told.value is not None and told.value.folded[0] in known.lists.get("no_job", ()):
        return "joke"
    return "no_value" if _first_is(known, told.value, "not_work") else None


def _family(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    """A name; or how many there are of whom ("two brothers")."""
    if told.value is not None and told.thing is not None and set(told.value.folded) <= known.opening("number"):
        return None
    return "no_value" if _holds(known, told.value, "not_name") else None


def _pet(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    """A name; or how many there are of what ("two cats"), which holds the thing itself."""
    names = told.value is not None and told.thing is not None and told.thing.folded[-1] not in told.value.folded
    if told.value is not None and names and told.value.folded[-1] in known.third:
        return "no_value"  # "ich hab eine katze die schläft"
    return "no_value" if names and _holds(known, told.value, "not_name") else None


def _allergy(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    return "joke" if _first_is(known, told.value, "not_allergen") else None


def _favourite(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    if _first_is(known, told.value, "not_favourite"):
        return "no_value"
    last = told.thing.part(0, 1) if told.thing else None
    named = told.thing is not None or told.named is not None
    return None if named and not _first_is(known, last, "not_thing") else "no_value"


def _taste(known: Lexicon, told: PatternMatch, letter: bool) -> str | None:
    """In a letter, what is liked about the other's last words ("the colours") is no lasting taste."""
    if told.value is None:
        return "no_value"
    words = told.value.folded
    if _first_is(known, told.value, "not_like"):
        return "no_value"
    all_the = len(words) > 1 and words[0] in known.opening("determiner")
    pointing = words[1 if all_the and words[1] in known.opening("determiner") else 0] in known.lists.get("pointing", ())
    if pointing and (letter or known.has(told.value, "not_like")):
        return "no_value"
    return "too_long" if letter and len(words) > SURE_WORDS else None


def _activity(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    if told.value is not None and not known.opening("unasked").isdisjoint(told.value.folded):
        return "no_value"
    none = told.value is not None and (known.starts(told.value, "not_activity") or known.ends(told.value, "not_doing"))
    return "no_value" if none or _first_is(known, told.value, "not_activity") else None


def _detail(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    """How somebody or something is today is no particular of theirs; who somebody is, other slots tell."""
    if told.thing is not None and any(known.ends(told.thing, name) for name in ("relation", "kin", "pet")):
        return "no_value"
    if told.thing is not None and _is_named_relation(known, told.thing):
        return "no_value"
    like = known.lists.get("asked_like", ())
    if told.thing is not None and any(word.startswith(like) for word in told.thing.folded):
        return "no_value"
    return "no_value" if _first_is(known, told.value, "not_detail") else None


def _location(known: Lexicon, told: PatternMatch, _: bool) -> str | None:
    if told.thing is not None and (
        told.thing.folded[-1] in known.lists.get("not_put", ())  # what it is comes last: "water bottle"
        or " ".join(told.thing.folded) in known.lists.get("not_put", ())
        or _is_nothing(known, told.thing)
        or known.has(told.thing, "outsider")
        or known.starts(told.thing, "preposition")
        or _is_named_relation(known, told.thing)
        or any(known.starts(told.thing, name) == len(told.thing.folded) for name in ("relation", "pet", "kin"))
    ):
        return "no_value"
    if told.value is None:
        return None
    unsaid = (*known.lists.get("month", ()), *known.lists.get("your", ()))  # "in your bag": somebody looks for it
    if not set(unsaid).isdisjoint(told.value.folded):
        return "no_value"
    whole = told.value.part(known.starts(told.value, "preposition"), len(told.value.folded))
    place = _without_determiners(known, whole)
    named = len(whole.folded) > 1 or known.starts(told.value, "fused") > 0  # "under my bed", "am ofen", not "in bed"
    if not place.folded or (named and known.ends(place, "storage")):
        return None
    return "no_value" if _first_is(known, place, "not_place") or _is_nothing(known, place) else None


def _is_named_relation(known: Lexicon, thing: Tokens) -> bool:
    """Whether it is somebody with a name: "aunt thessaly", not "dads coat"."""
    named = thing.part(known.starts(thing, "older"), len(thing.folded))
    size = max(known.starts(named, name) for name in ("woman", "man", "relation"))
    other = thing.folded[-1] in known.opening("object") or thing.folded[-1] in known.opening("not_named")
    return 0 < size == len(named.folded) - 1 and not other


def _without_determiners(known: Lexicon, words: Tokens) -> Tokens:
    determiners = known.lists.get("determiner", ())
    first = next((n for n, word in enumerate(words.folded) if word not in determiners), len(words.folded))
    return words.part(first, len(words.folded))


_CHECKS: dict[str, Callable[[Lexicon, PatternMatch, bool], str | None]] = {
    "name": _name,
    "birthday": _birthday,
    "age": _age,
    "origin": _no_date,
    "home": _home,
    "work": _work,
    "family": _family,
    "pet": _pet,
    "allergy": _allergy,
    "favourite": _favourite,
    "likes": _taste,
    "activity": _activity,
    "dislikes": _taste,
    "location": _location,
    "detail": _detail,
}
