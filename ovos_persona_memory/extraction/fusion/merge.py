"""What templates took from an utterance and what a model guesses of it, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ovos_persona_memory.extraction.assertion.corrections import repaired
from ovos_persona_memory.extraction.fusion.tagged_utterance import TaggedUtterance
from ovos_persona_memory.extraction.fusion.template_spans import ends_at, place_of
from ovos_persona_memory.extraction.schema.candidate import Candidate
from ovos_persona_memory.extraction.schema.slots import SLOTS

SURER = 0.55
"""From which a guess is learned, 0 to 1, that a template understands otherwise, and what else needs to be surer."""
SURER_STILL = 0.85
"""Minimum tagger confidence to override a template's refusal, and to override a template's slot in the answer to a
question."""
EXACT = 0.8
"""From which a guess says where a value begins and ends that a template took."""
PLACE = "location"
CALLED = 1
"""Words behind a place that are most likely who is spoken to: "on the hook | love"."""
WITH_PLACE = ("work", "activity", PLACE)
"""Slots whose values may end with a place: "welder in the steelworks"."""
DATED = ("birthday", "age")
"""Slots that each has but one of, so that it matters most whose it is."""
KIND = "kind"
"""The thing of a detail that tells what animal a pet is."""


def merged(
    heard: TaggedUtterance, told: Sequence[Candidate], added: Sequence[tuple[Candidate, float]]
) -> list[Candidate]:
    """Both, but of two that take the same words the template's, unless the guess is surer and of another slot.

    What somebody asks to remember and no template fits is what is guessed of it, in the words to remember.
    """
    guessed = [one for one, _ in added]
    if len(told) == 1 and told[0].outcome == "kept":
        right = [one for one in guessed if one.outcome == "learned"]
        return [replace(one, reason="asked", text=told[0].text) for one in right] or [*told]
    enough = SURER_STILL if heard.before.question else SURER
    surer = [one for one, sure in added if sure >= enough]
    kept = [one for one in told if not any(_otherwise(one, two) and _same_words(heard, one, two) for two in surer)]
    exact = [one for one, sure in added if sure >= EXACT]
    kept = [_exactly(heard, _whose(heard, one, exact), exact, guessed) for one in kept]
    return [*kept, *(one for one in guessed if not any(_same_words(heard, other, one) for other in kept))]


def _whose(heard: TaggedUtterance, told: Candidate, exact: Sequence[Candidate]) -> Candidate:
    """What a template took for the speaker's, as that of whom a sure guess knows: "heute ist mamas geburtstag"."""
    alike = [
        one for one in exact if (one.slot, one.outcome) == (told.slot, told.outcome) and _same_words(heard, told, one)
    ]
    if told.subject or told.slot not in DATED or len(alike) != 1 or not alike[0].subject:
        return told
    return replace(told, subject=alike[0].subject, text=alike[0].text, span=alike[0].span)


def _exactly(
    heard: TaggedUtterance, told: Candidate, exact: Sequence[Candidate], guessed: Sequence[Candidate]
) -> Candidate:
    """What a template took, with the value that the model finds in it: "saint elizabeth", not "saint elizabeth with a
    suitcase"; as it is where the model finds several."""
    alike = [one for one in guessed if _of_both(heard, told, one)]
    if len(alike) != 1 or alike[0] not in exact:
        return told
    place, found = (place_of(heard.known, heard.words, one) for one in (told, alike[0]))
    if place is None or found is None:
        return told
    behind = heard.words.folded[found[1] : place[1]]
    more = told.slot in WITH_PLACE and bool(behind) and heard.known.has_word(("preposition",), behind[0])
    if told.slot == PLACE and (more or len(behind) != CALLED):
        return told  # "in the filing cabinet second drawer down"
    first = place[0] if told.slot == PLACE else found[0]  # "on the hook"
    value = heard.words.part(first, place[1] if more else found[1]).spelled
    of_value = told.slot is not None and SLOTS[told.slot].of_value
    return replace(told, value=value, thing=alike[0].thing if of_value and not more else told.thing)


def _of_both(heard: TaggedUtterance, told: Candidate, guessed: Candidate) -> bool:
    """Whether a guess tells what a template took, too."""
    same = (told.slot, told.subject, told.outcome) == (guessed.slot, guessed.subject, guessed.outcome)
    return same and _same_words(heard, told, guessed)


def _otherwise(told: Candidate, guessed: Candidate) -> bool:
    """Whether a guess is of another slot; what kind of animal a pet is was said of it either way."""
    return told.slot != guessed.slot and not (told.thing == KIND and guessed.slot == "pet")


def _same_words(heard: TaggedUtterance, told: Candidate, guessed: Candidate) -> bool:
    """Whether a guess takes the words that a template took for its value or its thing."""
    one, other = (place_of(heard.known, heard.words, verdict) for verdict in (told, guessed))
    if one is None or other is None:
        return False
    return (one[0] < other[1] and other[0] < one[1]) or told.thing == " ".join(
        heard.spoken.language.words(guessed.value or "")
    )


def put_right(heard: TaggedUtterance, told: Sequence[Candidate], found: list[Candidate]) -> list[Candidate]:
    """Without the guesses that their speaker puts right in the same breath ("in the desk no wait in the closet"),
    also where what is right was not understood."""
    at = repaired(heard.known, heard.words.text)
    if at is None:
        return found
    before = [one for one in found if _begins(heard, one) < at]
    later = {(one.slot, one.subject) for one in found if one not in before}
    wrong = before[-1:] + [one for one in before if (one.slot, one.subject) in later]
    meant = [_said(one) for one in told if one.reason == "asked" or not ends_at(heard.known, heard.words, one, at)]
    return [one for one in found if one not in wrong or (_said(one) in meant and (one.slot, one.subject) not in later)]


def _said(one: Candidate) -> tuple[object, ...]:
    """What makes a verdict the same where its value was cut."""
    return one.slot, one.subject, one.text, one.span


def _begins(heard: TaggedUtterance, one: Candidate) -> int:
    """Where the value of a verdict stands in the utterance, characters."""
    place = place_of(heard.known, heard.words, one)
    return one.span[0] if place is None else heard.words.spans[place[0]][0]
