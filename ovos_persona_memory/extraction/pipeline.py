"""The gate before the facts: what of a turn is learned, kept, put up for review or refused, and why.

Everything here is a pure function of the turn and of what is known about its circumstances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from ovos_persona_memory.extraction.assertion.assertion import (
    behind,
    bounds,
    cut_off,
    offsets,
    opinion,
    refusal_in,
    today,
)
from ovos_persona_memory.extraction.assertion.remember_requests import RememberRequest, no_request, requested
from ovos_persona_memory.extraction.coreference.anaphora import (
    drop_resumptive_pronoun,
    resolve_object_pronoun,
    resolve_possessive,
    together,
)
from ovos_persona_memory.extraction.coreference.clause_subjects import (
    ANSWERED,
    OF_OTHERS,
    OF_PETS,
    ResolvedClause,
    readings,
)
from ovos_persona_memory.extraction.coreference.ellipsis import referring
from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext, named_people
from ovos_persona_memory.extraction.coreference.self_introduction import own_name, thing_of
from ovos_persona_memory.extraction.detectors.health import with_ailments
from ovos_persona_memory.extraction.detectors.moods import with_moods
from ovos_persona_memory.extraction.detectors.recurring_days import with_days
from ovos_persona_memory.extraction.fusion.candidates import OF_DAYS, PASSING, add_tagger_candidates
from ovos_persona_memory.extraction.fusion.kinship import as_outsiders, introduced_behind
from ovos_persona_memory.extraction.fusion.unknown_people import as_another, is_about_unnamed_person
from ovos_persona_memory.extraction.schema.candidate import Candidate, each_of, named_verdict, spelled, typed
from ovos_persona_memory.extraction.schema.slots import SLOTS, in_place_of, refused_value, up_to_loose
from ovos_persona_memory.extraction.segmentation import spelled_codes
from ovos_persona_memory.extraction.segmentation.clauses import (
    between_commas,
    clauses,
    lists_things,
    shortened,
    split_run_on,
    strip_function_words,
)
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources, around, is_letter, said
from ovos_persona_memory.extraction.self_repair import as_corrected, put_right
from ovos_persona_memory.extraction.templates.loader import SHORT
from ovos_persona_memory.extraction.templates.template import PatternMatch
from ovos_persona_memory.records import GUEST, Turn, replace_fast
from ovos_persona_memory.text import Tokens, contains_secret, languages, tells_secret

LONG = 40
"""Words of a clause that says more than one fact."""
PETS_ALONE = ("kind", "colour", "food")
"""What a template names that serves for pets alone: "he is a beagle"."""
TASTES = ("likes", "dislikes")
"""The slots that "i think" makes no less sure where a thing is judged: "i think olives are gross"."""
ASIDE = 5
"""Words at least before what a template knows, of what somebody asks to remember, that are to be remembered, too."""
TRIES = 24
"""Parts of a clause that are looked at where the whole of it tells nothing."""
UNFINISHED = 12
"""So many of the last words of what is understood of a longer text tell nothing: nobody knows how they go on."""


@dataclass(frozen=True)
class ExtractionContext:
    """What is known about a turn beside its words."""

    person: bool = True
    """Its speaker is somebody whose facts are learned: no guest, no television, nobody unknown."""
    before: DialogueContext = field(default_factory=DialogueContext)
    """Who is known by name, and what was spoken of just before."""
    guess: bool = True
    """The language's model may add to what templates take."""


def extract(turn: Turn, context: ExtractionContext = ExtractionContext()) -> list[Candidate]:
    """The candidate facts of a turn, in the order in which they are said; empty where it says nothing of the kind.

    Of a long one the beginning is understood, and nothing else.
    """
    if turn.role != "user" or not turn.text or turn.redacted or turn.machine or turn.announcement:
        return []
    text = languages.beginning(turn.text)
    if len(text) == len(turn.text):
        return _judged(turn, context)
    words = languages.spelled(text)[1]
    finished = words[-UNFINISHED][0] if len(words) >= UNFINISHED else 0
    told = [one for one in _judged(replace_fast(turn, text=text), context) if one.span[1] <= finished]
    return [Candidate("refused", "secret", told[0].text)] if told and tells_secret(turn.text, turn.lang) else told


def _judged(turn: Turn, known: ExtractionContext) -> list[Candidate]:
    spoken = LanguageResources.of(turn)
    may_tell = spoken.templates.may_tell(turn.text, known.before.names, known.before.question)
    verdicts: list[Candidate] = []
    if may_tell or known.before.stated or requested(spoken, turn.text, False) is not None:
        verdicts = list(_verdicts(spoken, turn.text, known.before))  # the rest, most, in a tenth of the time
    reason = _not_of_a_person(turn, known)
    if reason is None and not known.before.playing and not is_letter(turn.text, said(spoken, turn.text)):
        if known.guess:
            verdicts = add_tagger_candidates(spoken, turn.text, known.before, verdicts)
        verdicts = with_ailments(spoken, turn.text, with_days(spoken, turn.text, verdicts))
        verdicts = with_moods(spoken, turn.text, verdicts)
    verdicts = as_outsiders(spoken, verdicts)
    if not verdicts:
        return []
    if as_another(spoken.templates, verdicts, known.before):
        verdicts = [
            one.waiting("unsure") if (one.outcome, one.reason) == ("learned", "stated") else one for one in verdicts
        ]
    if reason is None and verdicts[0].reason != "secret" and contains_secret(turn.text, turn.lang):
        reason = "secret"
    return [Candidate("refused", reason, verdicts[0].text)] if reason else verdicts


def _not_of_a_person(turn: Turn, known: ExtractionContext) -> str | None:
    if turn.user_id == GUEST:
        return "guest"
    if not known.person:
        return "unattributed"
    return "out_of_band" if turn.source == "query" else None


def is_echo(text: str, told_before: Sequence[str]) -> bool:
    """Whether these are the very words of something that the assistant said before."""
    bare = f" {' '.join(languages.fold(text))} "
    return any(bare in f" {' '.join(languages.fold(told))} " for told in told_before)


def _verdicts(spoken: LanguageResources, text: str, before: DialogueContext) -> Iterator[Candidate]:
    parts = said(spoken, text)
    letter = is_letter(text, parts)
    before = replace(before, question=before.question and len(parts) == 1 and len(text.split()) <= SHORT)
    asked = requested(spoken, parts[0], letter) if parts else None
    if asked is not None:
        yield from _asked_to_keep(spoken, asked, before)
        parts = parts[1:]
    if letter:
        told = [one for sentence in parts for one in _of_sentences(spoken, sentence, [sentence], True, before)]
        told = [
            one.waiting("unsure") if is_about_unnamed_person(spoken.templates, one, before) else one for one in told
        ]
    else:
        told = list(_of_sentences(spoken, text, parts, False, before))
    playing = (Candidate("refused", "joke", one.text, one.slot) for one in told)
    yield from playing if before.playing else told


# somebody asks to remember


def _asked_to_keep(spoken: LanguageResources, request: RememberRequest, before: DialogueContext) -> Iterator[Candidate]:
    """A verdict for what somebody asked to remember: typed where a template knows it, else as it was said."""
    text = " ".join(request.text.split()).rstrip(".! ")
    reason = no_request(spoken, replace(request, text=text))
    if reason:
        yield Candidate("refused", reason, text)
        return
    kept = [one for one in _of_sentences(spoken, text, [text], False, before) if one.outcome in ("learned", "ended")]
    yield from (replace(one, reason="asked") for one in kept)
    asked = text[: min(one.span[0] for one in kept)].strip() if kept else text
    if not kept or len(asked.split()) >= ASIDE:
        yield Candidate("kept", "asked", asked, thing=" ".join(spoken.language.words(asked)))


# somebody says something


def _of_sentences(
    spoken: LanguageResources, text: str, parts: Sequence[str], letter: bool, before: DialogueContext
) -> Iterator[Candidate]:
    """What the sentences of a text tell."""
    found: list[Candidate] = []
    earlier: list[Tokens] = []
    words = spoken.templates.words_of(text)
    for offset, part in zip(offsets(text, parts), parts, strict=True):
        found += _of_sentence(spoken, words.within(offset, offset + len(part)), earlier, letter, before)
    if not letter:
        others = introduced_behind(spoken, words, before)
        found += [one for one in others if not any(two.value == one.value for two in found)]
    found = [made for one in found if (made := _pointed(spoken, text, one, before)) is not None]
    found = [one for one in found if one.slot != "location" or one.thing not in before.names]  # who walks about
    found = put_right(spoken, text, found, before)
    if not found:
        yield from () if letter else (one for part in parts for one in as_corrected(spoken, part, before))
        return
    reasons = [refusal_in(spoken, text, one.span, one.slot == "name") for one in found]
    if all(reason not in (None, "unsure") for reason in reasons):
        yield Candidate("refused", reasons[0] or "", found[0].text, found[0].slot)
        return
    for one, reason in zip(found, reasons, strict=True):
        if reason is None or (reason == "unsure" and _judges(spoken, text, one)):
            yield one
        elif reason == "unsure" and one.outcome == "learned":
            yield one.waiting(reason)


def _of_sentence(
    spoken: LanguageResources, sentence: Tokens, earlier: list[Tokens], letter: bool, before: DialogueContext
) -> Iterator[Candidate]:
    """What the clauses of a sentence tell; they join what was said earlier."""
    known = spoken.templates
    whole = [sentence] if lists_things(known, sentence.spelled) else []
    heard = [*earlier]
    found = _of_parts(spoken, whole, heard, letter, before)
    if not _tells(found) and (parts := list(_between_commas(sentence))) != whole:
        heard = [*earlier]
        found = _of_parts(spoken, parts, heard, letter, before) or found
    earlier[:] = heard
    passing = known.has(sentence, "passing")
    for one in found:
        recipe = letter and one.slot == "location" and one.thing in known.lists.get("it_named", ())
        this_day = one.slot in OF_DAYS and today(known, *around(spoken, sentence.text, one.span))
        if not (recipe or this_day or (passing and one.slot in PASSING)):  # "I put it in the pan" is a recipe
            yield one


def _judges(spoken: LanguageResources, sentence: str, told: Candidate) -> bool:
    """Whether it is a thing that is judged, which "i think" makes no less sure: "i think olives are gross"."""
    return told.slot in TASTES and not told.subject and opinion(spoken, sentence, told.span)


def _pointed(spoken: LanguageResources, sentence: str, told: Candidate, before: DialogueContext) -> Candidate | None:
    """The same with the thing that "it" stands for; None where nobody can tell."""
    known = spoken.templates
    if told.slot != "location" or told.thing not in known.lists.get("it_named", ()):
        return told
    thing = " ".join(thing_of(known, known.words_of(sentence[: told.span[0]])) or before.thing)
    if not thing or set(known.words_of(thing).folded) <= set(known.words_of(told.value or "").folded):
        return None  # "it's on top of the wardrobe": not the wardrobe
    return replace(told, text=f"{thing}: {told.text}", thing=" ".join(spoken.language.words(thing)))


def _between_commas(sentence: Tokens) -> Iterator[Tokens]:
    """What stands between the commas of a sentence."""
    said_so = sentence.spelled
    parts, start = between_commas(said_so), sentence.spans[0][0]
    for offset, part in zip(offsets(said_so, parts), parts, strict=True):
        yield sentence.within(start + offset, start + offset + len(part))


def _of_parts(
    spoken: LanguageResources, parts: Sequence[Tokens], earlier: list[Tokens], letter: bool, before: DialogueContext
) -> list[Candidate]:
    """What the clauses of the parts of a sentence tell."""
    found: list[Candidate] = []
    for part in parts:
        for clause in clauses(spoken, part):
            told = _of_words(spoken, clause, earlier, letter, before)
            if letter and part is not parts[-1]:
                told = [one for one in told if not cut_off(spoken.templates, one.value or "")]
            found += told
    return found


def _of_words(
    spoken: LanguageResources, clause: Tokens, earlier: list[Tokens], letter: bool, before: DialogueContext
) -> list[Candidate]:
    """What a clause tells, and what stands behind that; one that tells nothing is looked at in pieces."""
    told = _of_clause(spoken, clause, earlier, letter, before)
    if not _tells(told):
        pieces = split_run_on(spoken.templates, clause)
        if len(pieces) > 1:
            named = _names_in(spoken, clause, earlier, before)
            found = _of_pieces(spoken, pieces, earlier, letter, before)
            return [one for one in named if not _same_name(one, found)] + found or told
        named = _names_in(spoken, clause, earlier, before)
        told = _of_beginning(spoken, clause, earlier, letter, before) or told
        if not _tells(told):
            earlier.append(clause)
            return named or told
    named = _names_in(spoken, clause, earlier, before)
    earlier.append(clause)
    end = max(one.span[1] for one in told)
    rest = strip_function_words(spoken.templates, behind(clause, end))
    told = [one for one in named if one.span[1] <= end and not _same_name(one, told)] + told
    return told + _of_words(spoken, rest, earlier, letter, before) if len(rest.folded) > 1 else told


def _of_pieces(
    spoken: LanguageResources, pieces: Sequence[Tokens], earlier: list[Tokens], letter: bool, before: DialogueContext
) -> list[Candidate]:
    """What the clauses of a sentence tell, two together where a pronoun in the second takes up the first."""
    found: list[Candidate] = []
    place = 0
    while place < len(pieces):
        both = together(spoken.templates, *pieces[place : place + 2])
        told = _of_clause(spoken, both, earlier, letter, before) if both and not letter else []
        if _tells(told):
            earlier.append(pieces[place])
            place += 2
        else:
            told = _of_words(spoken, pieces[place], earlier, letter, before)
            place += 1
        found += told
    return found


def _of_beginning(
    spoken: LanguageResources, clause: Tokens, earlier: Sequence[Tokens], letter: bool, before: DialogueContext
) -> list[Candidate]:
    """What the longest beginning of a clause tells that tells something."""
    if letter or "more" not in spoken.templates.lists:
        return []
    tries = islice(shortened(spoken.templates, clause, before.names), TRIES)
    each = (_of_clause(spoken, one, earlier, letter, before) for one in tries)
    return next((told for told in each if _tells(told)), [])


def _same_name(named: Candidate, told: Sequence[Candidate]) -> bool:
    return any(one.slot in ("family", "pet") and (named.value or "") in (one.value or "") for one in told)


def _names_in(
    spoken: LanguageResources, clause: Tokens, earlier: Sequence[Tokens], before: DialogueContext
) -> list[Candidate]:
    """The names that a clause tells in passing."""
    if not clause.folded or len(clause.folded) > LONG or spoken.templates.starts(clause, "ordering"):
        return []
    return [named_verdict(spoken, who, words) for who, words in named_people(spoken.templates, clause, earlier, before)]


def _tells(verdicts: Sequence[Candidate]) -> bool:
    return any(one.outcome != "refused" for one in verdicts)


def _of_clause(
    spoken: LanguageResources, clause: Tokens, earlier: Sequence[Tokens], letter: bool, before: DialogueContext
) -> list[Candidate]:
    """What a clause tells; else what it does with what a pronoun stands for, or without one that takes up a noun."""
    told = _of_said(spoken, clause, earlier, letter, before)
    if letter or _tells(told):  # what is written has commas, and says more of everything
        return told
    for other, stands_for in chain(
        drop_resumptive_pronoun(spoken.templates, clause), resolve_object_pronoun(spoken.templates, clause)
    ):
        found = _of_said(spoken, other, earlier, letter, before)
        if _tells(found):
            said = f"{stands_for}: {spelled(ResolvedClause(clause, None))}"
            return [replace(one, text=said) for one in found] if stands_for else found
    return told


def _of_said(
    spoken: LanguageResources, clause: Tokens, earlier: Sequence[Tokens], letter: bool, before: DialogueContext
) -> list[Candidate]:
    """What the words of a clause tell about whoever says it; else about those whom it speaks of."""
    if not clause.folded or len(clause.folded) > LONG or spoken.templates.starts(clause, "ordering"):
        return []
    direct = list(_told(spoken, ResolvedClause(clause, None), letter))
    if _tells(direct):
        return direct
    refused = direct
    known = spoken.templates
    every = (
        own_name(known, clause, before),
        readings(known, clause, earlier, before),
        resolve_possessive(known, clause, before),
    )
    for reading in chain(*every, referring(known, clause, earlier, before)):
        told = list(_told(spoken, reading, letter))
        if _tells(told):
            return told
        refused = refused or told
    return refused


def _told(spoken: LanguageResources, reading: ResolvedClause, letter: bool) -> Iterator[Candidate]:
    """What the first template that fits with a value that can be has to say."""
    refused: Candidate | None = None
    for told in (
        spelled_codes.completed(spoken.templates, reading.words, one) for one in spoken.templates.told(reading.words)
    ):
        if not _serves(told, reading):
            continue
        slot = SLOTS[told.slot]
        right = in_place_of(spoken.templates, told)
        if right is not None:
            yield from (typed(spoken, reading, one, slot) for one in right)
            return
        each = [told] if told.value is None else [replace(told, value=one) for one in each_of(spoken, told.value, slot)]
        reasons = [refused_value(spoken.templates, one, letter) for one in each]
        if reasons[0] is not None and told.value is not None and not letter:
            shorter = up_to_loose(spoken.templates, told)
            left = len(told.value.folded) - shorter
            each = [replace(told, value=told.value.part(0, shorter), words=told.words - left)] if left else each
            reasons = [refused_value(spoken.templates, one, letter) for one in each]
        if reasons[0] is None:
            yield from (
                typed(spoken, reading, one, slot) for one, why in zip(each, reasons, strict=True) if why is None
            )
            return
        if reasons[0] != "no_value":
            span = reading.span or bounds(reading.words, told.words)
            refused = refused or Candidate("refused", reasons[0] or "", spelled(reading), told.slot, span=span)
    if refused is not None:
        yield refused


def _serves(told: PatternMatch, reading: ResolvedClause) -> bool:
    """Whether a template serves for those whom a clause is about."""
    if told.named in PETS_ALONE:
        return reading.who is not None and reading.who.pet
    if reading.only:
        return told.slot in reading.only
    if reading.who is None:
        return not reading.before or told.slot in ANSWERED
    return told.slot in (OF_PETS if reading.who.pet else OF_OTHERS) or (reading.who.pet and told.slot == "name")
