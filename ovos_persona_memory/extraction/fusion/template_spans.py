"""Where in an utterance the values stand that templates took: what a model is told of it."""

from __future__ import annotations

from collections.abc import Sequence

from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources
from ovos_persona_memory.extraction.tagger.features import TemplateSpan
from ovos_persona_memory.text import Lexicon, Tokens


def hints_of(spoken: LanguageResources, words: Tokens, told: Sequence[Candidate]) -> list[TemplateSpan]:
    """Where in the words the values stand that templates took."""
    return [hint for one in told if (hint := hint_of(spoken.templates, words, one)) is not None]


def hint_of(known: Lexicon, words: Tokens, one: Candidate) -> TemplateSpan | None:
    """Where the value of a verdict stands, and its slot; None where it is not there."""
    place = place_of(known, words, one)
    slot = one.slot or "kept"
    return None if place is None else TemplateSpan(f"{slot} ends" if one.outcome == "ended" else slot, *place)


def refusal_reason(told: Sequence[Candidate]) -> str:
    """Why templates refused what fits them; empty where they did not."""
    return next((one.reason for one in told if one.outcome == "refused"), "")


def place_of(known: Lexicon, words: Tokens, told: Candidate) -> tuple[int, int] | None:
    """Where the value of a verdict stands in the words, first in its own clause; None where it is not there, as it was
    said otherwise."""
    if told.outcome == "refused" or not told.value:
        return None
    value = known.words_of(told.value).folded
    size = len(value)
    places = [n for n in range(len(words.folded) - size + 1) if words.folded[n : n + size] == value] if size else []
    inside = (n for n in places if told.span[0] <= words.spans[n][0] and words.spans[n + size - 1][1] <= told.span[1])
    first = next(inside, next(iter(places), None))
    return None if first is None else (first, first + size)


def ends_at(known: Lexicon, words: Tokens, told: Candidate, at: int) -> bool:
    """Whether the value of a verdict stands right before a place, characters: "is mister albers | no wait"."""
    place = place_of(known, words, told)
    return place is not None and not words.text[words.spans[place[1] - 1][1] : at].strip()
