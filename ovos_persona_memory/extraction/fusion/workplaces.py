"""Where somebody does what they do for a living: "a radiographer (up at the county hospital)"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ovos_persona_memory.extraction.fusion.tagged_utterance import TaggedUtterance, clause_around
from ovos_persona_memory.extraction.fusion.template_spans import place_of
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.schema.slots import SLOTS, unsettled
from ovos_persona_memory.text import Lexicon

WORK = "work"
_ENDS = (
    *("joint", "pronoun", "speaker", "he_she", "finite", "loose"),
    *("each_day", "number", "month", "today", "from_now_on", "no"),
)
"""Lists of words that no workplace holds."""


def with_workplaces(heard: TaggedUtterance, told: Sequence[Candidate]) -> list[Candidate]:
    """The same, with the workplace that stands behind a job as part of it."""
    longer = [_with_workplace(heard, one) for one in told]
    grown = [one for one, before in zip(longer, told, strict=True) if one != before]
    return [one for one in longer if not any(_is_part(heard, one, other) for other in grown)]


def kind_of_detail(heard: TaggedUtterance, one: Candidate) -> str:
    """The list of what a home or a work is that is none; empty where it is one."""
    known, value = heard.known, heard.known.words_of(one.value or "")
    if one.slot == "home" and 0 < len(value.folded) == known.starts(value, "floor"):
        return "floor"
    if one.slot != "work" or known.has(heard.words, "teaching"):
        return ""
    if known.has(value, "school_class"):
        return "school_class"
    schools = tuple(known.opening("school"))
    attends = bool(schools) and known.has(heard.words, "attending")
    return "school" if attends and any(word.endswith(schools) for word in value.folded) else ""


def _with_workplace(heard: TaggedUtterance, told: Candidate) -> Candidate:
    alone = (told.slot, told.outcome, told.thing) == (WORK, "learned", "")
    place = place_of(heard.known, heard.words, told) if alone else None
    end = _end(heard, *place) if place is not None else 0
    return told if place is None or end == place[1] else replace(told, value=heard.words.part(place[0], end).spelled)


def _end(heard: TaggedUtterance, first: int, last: int) -> int:
    """Up to where a job reaches with its workplace; up to where it did, where none stands behind it."""
    known, over = heard.known, clause_around(heard, first, last).spans[-1][1]
    until = sum(end <= over for _, end in heard.words.spans)
    until += 2 if heard.words.folded[until + 1 : until + 2] == ("s",) else 0  # "saint mary's"
    rest = heard.words.part(last, until)
    begun = known.starts(rest, "onward")
    if known.opening("employed_at").isdisjoint(rest.folded[begun : begun + 1]):
        return last
    held = rest.folded[begun + 1 :]
    size = next((n for n, word in enumerate(held) if _is_over(known, n, word)), len(held))
    if last + begun + 1 + size - first > SLOTS[WORK].words:  # "at the rail workshops | out at broadmeadow"
        size = next((n for n, word in enumerate(held[:size]) if known.has_word(("onward", "employed_at"), word)), size)
    end = last + begun + 1 + size
    named = rest.part(begun + 1, begun + 1 + size)
    return last if not size or end - first > SLOTS[WORK].words or unsettled(known, named) else end


def _is_over(known: Lexicon, number: int, word: str) -> bool:
    """Whether a word, counted from 0, is none of a workplace: "the" is, first, and what names end with ("mary's")."""
    first = number == 0 and known.has_word(("article", "determiner", "own"), word)
    return not first and word != "s" and known.has_word(_ENDS, word)


def _is_part(heard: TaggedUtterance, one: Candidate, other: Candidate) -> bool:
    """Whether a job begins within another's words: the place alone."""
    inside, around = (place_of(heard.known, heard.words, verdict) for verdict in (one, other))
    if inside is None or around is None or (one.slot, one.subject) != (other.slot, other.subject):
        return False
    return around[0] < inside[0] < around[1]
