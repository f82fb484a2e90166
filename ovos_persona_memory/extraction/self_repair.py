"""What a speaker puts right, as verdicts: in the same breath, or a moment later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ovos_persona_memory.extraction.assertion.corrections import RecentStatement, corrected, repaired, right_value
from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext
from ovos_persona_memory.extraction.detectors.recurring_days import on_other_days
from ovos_persona_memory.extraction.fusion.template_spans import ends_at
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.schema.slots import SLOTS, refused_value
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources
from ovos_persona_memory.extraction.templates.template import PatternMatch


def put_right(
    spoken: LanguageResources, sentence: str, found: list[Candidate], before: DialogueContext
) -> list[Candidate]:
    """The same without what its speaker puts right in the same breath: "... the second no wait the first"."""
    at = repaired(spoken.templates, sentence) if found else None
    if at is None:
        return found
    first, later = ([one for one in found if (one.span[0] >= at) is late] for late in (False, True))
    again = {(one.slot, one.subject) for one in later}
    if not later:
        words = spoken.templates.words_of
        stated = (
            RecentStatement(one.slot, one.subject, one.thing, words(one.value).folded)
            for one in first
            if one.slot and one.value
        )
        right = list(as_corrected(spoken, sentence[at:], replace(before, stated=tuple(stated))))
        right = right or list(_in_one_breath(spoken, sentence, first, at))
        again, later = {(one.slot, one.subject) for one in right}, [one for one in right if one.outcome == "learned"]
        later = [replace(one, text=sentence, span=(at, len(sentence))) for one in later]
    return [one for one in first if (one.slot, one.subject) not in again] + later


def _in_one_breath(spoken: LanguageResources, sentence: str, told: Sequence[Candidate], at: int) -> Iterator[Candidate]:
    """The last that was told, with the value that is right, where the wrong one stands right before: "... forty no
    wait forty two"."""
    known, last = spoken.templates, told[-1]
    if not last.slot or not ends_at(known, known.words_of(sentence), last, at):
        return
    value = right_value(known, sentence[at:])
    if value is not None and refused_value(known, PatternMatch(last.slot, False, value, None, "", None), False) is None:
        thing = " ".join(spoken.language.words(value.spelled)) if SLOTS[last.slot].of_value else last.thing
        yield replace(last, value=value.spelled, thing=thing)


def as_corrected(spoken: LanguageResources, sentence: str, before: DialogueContext) -> Iterator[Candidate]:
    """What puts right something that was said a moment ago; what was named as wrong holds no more."""
    known = spoken.templates
    found = corrected(known, sentence, before.stated)
    if found is None or spoken.language.is_question(sentence):
        return
    stated, value = found
    slot = SLOTS[stated.slot]
    told = PatternMatch(stated.slot, False, value, value if stated.thing else None, stated.subject, None)
    if refused_value(known, told, False) is not None:
        return
    text = stated.told + value.spelled if stated.told else sentence
    moved = on_other_days(spoken, stated.value, value)
    if moved is not None:
        yield Candidate("learned", "stated", text, stated.slot, stated.subject, stated.thing, moved)
        return
    thing = " ".join(spoken.language.words(value.spelled)) if slot.of_value else stated.thing
    right = Candidate("learned", "stated", text, stated.slot, stated.subject, thing, value.spelled)
    if slot.of_value and stated.value != value.folded:
        wrong = " ".join(stated.value)
        yield replace(right, outcome="ended", reason="taken_back", thing=stated.thing, value=wrong)
    yield right
