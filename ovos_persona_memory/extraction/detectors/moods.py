"""How somebody feels, wherever an utterance says it: "puh bin ich heute geschlaucht die woche war zu lang"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ovos_persona_memory.extraction.assertion.assertion import refusal_in
from ovos_persona_memory.extraction.coreference.clause_subjects import ResolvedClause
from ovos_persona_memory.extraction.schema.candidate import Candidate, typed
from ovos_persona_memory.extraction.schema.slots import SLOTS
from ovos_persona_memory.extraction.segmentation.clauses import stripped
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources, around
from ovos_persona_memory.extraction.templates.template import PatternMatch
from ovos_persona_memory.text import Lexicon, Tokens

SLOT = "mood"
_VERY = ("how_very", "skip", "part_of_day")
"""Lists of what may stand between the verb and the mood: "i am (so) (today) tired"."""
_FELT = (("feeling_so", "in_mood"), ("feeling_it", "goes"), ("feeling_dull", "dull"))
"""Lists of verbs with their speaker, and of the moods that stand with them."""


def with_moods(spoken: LanguageResources, text: str, told: Sequence[Candidate]) -> list[Candidate]:
    """The same, and the first mood that is told of whoever speaks where no verdict is about one."""
    if any(one.slot == SLOT and one.outcome != "refused" for one in told):
        return [*told]
    words = spoken.templates.words_of(text)
    mood = next((one for one in _moods(spoken, words) if _is_told(spoken, text, one)), None)
    return [*told] if mood is None else [*(one for one in told if one.slot != SLOT), mood]


def _is_told(spoken: LanguageResources, text: str, mood: Candidate) -> bool:
    """Whether a mood is stated: also in the order of a question, "bin ich müde", "wie müde ich bin"."""
    reason = refusal_in(spoken, text, mood.span)
    if reason != "question":
        return reason in (None, "unsure")
    sentence, place = around(spoken, text, mood.span)
    words, known = spoken.templates.words_of(sentence), spoken.templates
    if known.has(words, "alternative") or known.ends(words, "asked_back"):
        return False  # "bin ich müde oder nur hungrig"
    return place[0] == 0 and not sentence.rstrip().endswith("?")


def _moods(spoken: LanguageResources, words: Tokens) -> Iterator[Candidate]:
    known = spoken.templates
    for verbs, moods in _FELT:
        for place, size in known.places(words, verbs):
            first = _behind_very(known, words.folded, place + size)
            length = known.starts_at(words.folded, first, moods)
            if length and _is_free(known, words.folded, place, first + length):
                yield _verdict(spoken, words.part(place, first + length), words.part(first, first + length))
    yield from _alone(spoken, words)
    for place, size in known.places(words, "mood_verb_last"):
        for length in _lengths_before(known, words.folded, place):
            yield _verdict(spoken, words.part(place - length - 1, place + size), words.part(place - length, place))


def _alone(spoken: LanguageResources, words: Tokens) -> Iterator[Candidate]:
    """ "bit fed up to be honest", "knackered but cheerful": an utterance that begins with nothing else."""
    known, held = spoken.templates, words.folded
    opening = len(held) - len(stripped(known, words).folded)
    first = _behind_very(known, held, opening)
    end = first + known.starts_at(held, first, "mood_alone")
    if end > first and (known.starts_at(held, end, "mood_goes_on") or (first > opening and end == len(held))):
        yield _verdict(spoken, words.part(first, end), words.part(first, end))


def _behind_very(known: Lexicon, held: tuple[str, ...], place: int) -> int:
    """Where the words end that say how much or when."""
    while size := max(known.starts_at(held, place, name) for name in _VERY):
        place += size
    return place


def _lengths_before(known: Lexicon, held: tuple[str, ...], end: int) -> Iterator[int]:
    """How many words the mood has in "wie (erleichtert) ich bin"."""
    for first in range(max(end - SLOTS[SLOT].words, 1), end):
        if known.starts_at(held, first, "in_mood") == end - first and held[first - 1] in known.opening("how_much_so"):
            yield end - first
            return


def _is_free(known: Lexicon, held: tuple[str, ...], place: int, end: int) -> bool:
    """Whether no word before or behind makes it another thing: "when i'm tired ...", "i'm mad about jazz"."""
    before = held[place - 1] if place else ""
    behind = held[end] if end < len(held) else ""
    return before not in known.opening("whenever") and behind not in known.opening("mood_for")


def _verdict(spoken: LanguageResources, clause: Tokens, value: Tokens) -> Candidate:
    told = PatternMatch(SLOT, False, value, None, "", None, len(clause.folded))
    return typed(spoken, ResolvedClause(clause, None), told, SLOTS[SLOT])
