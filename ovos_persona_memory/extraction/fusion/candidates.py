"""What an utterance tells that no template fits, as a language's model guesses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ovos_persona_memory.extraction.assertion.assertion import refusal_in, today
from ovos_persona_memory.extraction.assertion.corrections import repaired
from ovos_persona_memory.extraction.coreference.clause_subjects import ResolvedClause
from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext, PersonMention
from ovos_persona_memory.extraction.fusion import calibration
from ovos_persona_memory.extraction.fusion.attribution import (
    SURE,
    named_thing,
    only_person,
    person_in,
    relative_named,
    right_before,
    stranger,
    thing_meant,
)
from ovos_persona_memory.extraction.fusion.calibration import Judge, UtteranceAnalysis
from ovos_persona_memory.extraction.fusion.kinship import are_beside, as_outsiders, is_introduced, with_relations
from ovos_persona_memory.extraction.fusion.merge import KIND, SURER_STILL, merged, put_right
from ovos_persona_memory.extraction.fusion.negation import PLAIN, averse_to_nothing, denied, has_ended, is_illness
from ovos_persona_memory.extraction.fusion.plausibility import cannot_be
from ovos_persona_memory.extraction.fusion.tagged_utterance import (
    MARKED,
    TaggedUtterance,
    beside,
    clause_around,
    pronoun_before,
    whole,
    without_correcting,
)
from ovos_persona_memory.extraction.fusion.template_spans import hint_of, hints_of, place_of, refusal_reason
from ovos_persona_memory.extraction.fusion.unknown_people import is_told_of_others, of_strangers
from ovos_persona_memory.extraction.fusion.workplaces import kind_of_detail, with_workplaces
from ovos_persona_memory.extraction.schema.candidate import Candidate, typed
from ovos_persona_memory.extraction.schema.slots import SLOTS, refused_value
from ovos_persona_memory.extraction.segmentation.clauses import without_discourse_markers
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources, is_written, said
from ovos_persona_memory.extraction.tagger import features
from ovos_persona_memory.extraction.tagger import tagger as tagging
from ovos_persona_memory.extraction.tagger.tagger import Guess
from ovos_persona_memory.extraction.templates.template import PatternMatch
from ovos_persona_memory.text import Tokens, is_put_in_doubt

SURER = 0.3
"""From which a guess is looked at again, 0 to 1, of what a template understands otherwise, or that says little."""
SEVERAL = 0.5
"""Minimum tagger confidence where the utterance holds several sentences."""
LIKELY = 0.76
"""How likely what is stated must be right to be learned, 0 to 1."""
OFFERED = 0.42
"""From which a guess that is less likely waits for review."""
CERTAIN = 0.75
"""Minimum tagger confidence to keep a value although the assertion filter reads its clause as hypothetical, past or a
question."""
HEARD_OTHERWISE = ("supposed", "past", "question")
"""As what: "if there's one thing i hate" supposes nothing."""
ASKED = 0.12
"""How much less sure it may be where somebody asks to remember it: there is something to know."""
VAGUE = "detail"
"""The slot of what fits no other: "my cousin comes on sunday" is told of no day."""
STRANGE = 0.65
"""Minimum tagger confidence for a value of a person whom nobody introduced."""
NAMING = ("family", "pet", "name")
"""Slots that tell who somebody is."""
OF_THINGS = ("location", "detail")
"""Slots that tell of things: a pronoun is no person."""
OF_OUTSIDERS = ("family", *OF_THINGS)
"""Slots that are filled where a neighbour or a boss is named."""
ALONE = ("favourite", "detail", "pet", "family")
"""Slots whose thing is the value itself where none is named."""
FEW, SURE_ALONE = 6, 0.35
"""Words at most that must be surer where nobody asked, and how much."""
PLAINLY = 0.55
"""Minimum tagger confidence for a value that the speaker claims with "my" or its like."""
LITTLE = 4
"""Words at most of what says little alone."""
FORMED = ("birthday", "age")
"""Slots whose values have a form that can be checked."""
_EMPTY = ("article", "determiner", "preposition", "no", "nothing", "each_day")
"""Lists of words that hold no value alone."""
PASSING = ("location", "home", "family", "detail")
"""Slots that what holds for a moment does not fill."""
MOOD = "mood"
OF_DAYS = ("likes", "dislikes", "diet", "activity", "health", "favourite", "work")
"""Slots that a statement about today alone does not fill: "no coffee for me today"."""


LONGEST = 60
"""Words at most of what a model is asked about: it was trained on talk of up to 30, and takes a millisecond for each
(2026-11-28)."""


def add_tagger_candidates(
    spoken: LanguageResources, sentence: str, before: DialogueContext, told: list[Candidate]
) -> list[Candidate]:
    """What templates took from an utterance of one sentence, and what the model adds."""
    tag = spoken.language.tag
    tagger, words = tagging.for_language(tag), spoken.templates.words_of(sentence)
    if tagger is None or not 0 < len(words.folded) <= LONGEST or is_written(sentence):
        return told
    hints = hints_of(spoken, words, told)
    refused = refusal_reason(told)
    seen = features.for_language(tag).extract(words, before, hints, refused)
    made = tagger.told(seen, hints)
    heard = TaggedUtterance(spoken, words, before, whole(spoken.templates, words, made.guesses), refused)
    believed = [_wait_if_not_aversion(heard, _ended(heard, one)) for one in told]
    asked = [one.outcome for one in told] == ["kept"]
    added = list(_added(heard, asked, _asking(spoken, words, before)))
    both = with_relations(heard, with_workplaces(heard, merged(heard, believed, added)))
    both = as_outsiders(spoken, put_right(heard, believed, both))
    left = [one for one in both if not (cannot_be(heard, one) or is_told_of_others(heard, one))]
    understood = UtteranceAnalysis(heard, made.shares, believed, added, left, made.doubted)
    return [_in_its_slot(heard, one) for one in of_strangers(heard, list(_calibrate(understood)))]


def _ended(heard: TaggedUtterance, one: Candidate) -> Candidate:
    """What a template took; taken back where it holds no more: "bei der (bank) arbeite ich nicht mehr"."""
    place = place_of(heard.known, heard.words, one)
    if one.outcome != "learned" or not one.slot or place is None or not has_ended(heard, Guess(one.slot, *place, 1.0)):
        return one
    return replace(one, outcome="ended", reason="taken_back")


def _in_its_slot(heard: TaggedUtterance, one: Candidate) -> Candidate:
    """A school is no work of who goes there, a floor no town; and models take "lactose intolerant" for an illness."""
    known = heard.known
    kind = kind_of_detail(heard, one)
    if kind:
        return replace(one, slot="detail", thing=known.lists[kind][0])
    place = place_of(known, heard.words, one)
    ill = one.slot == "health" and place is not None and is_illness(heard, Guess("health", *place, 1.0))
    return replace(one, slot="allergy") if ill else one


def _calibrate(understood: UtteranceAnalysis) -> Iterator[Candidate]:
    """What is likely right, or was asked to be remembered; the rest for review, unless it was but a weak guess."""
    judge = calibration.for_language(understood.heard.spoken.language.tag)
    for one in understood.both:
        if not _is_looked_at(understood, one) or _is_believed(judge, understood, one):
            yield one
        elif judge is None or understood.sure(one) >= OFFERED:
            yield one.waiting("unsure")


def _is_believed(judge: Judge | None, understood: UtteranceAnalysis, one: Candidate) -> bool:
    """Whether it is likely enough; where nobody looks again, whether the models do not doubt it."""
    if judge is None:
        return not understood.is_doubted(one)
    return _likely(judge, understood, one) >= LIKELY or understood.is_plain(one)


def _likely(judge: Judge, understood: UtteranceAnalysis, one: Candidate) -> float:
    """How likely it is right, or who is named beside it: "two brothers stefan and uwe"."""
    beside = [other for other in understood.both if one is not other and are_beside(understood.heard, one, other)]
    return max(judge.likely(understood, each) for each in (one, *beside))


def _is_looked_at(understood: UtteranceAnalysis, one: Candidate) -> bool:
    """Whether it may be wrong: not what templates take from an answer; and no mood, which the talk does not mark that
    all this was trained on."""
    heard = understood.heard
    if one.slot == MOOD or not _may_be_doubted(heard, one):
        return False
    return not understood.by_template(one) or not (heard.before.question or heard.before.stated)


def _asking(spoken: LanguageResources, words: Tokens, before: DialogueContext) -> int | None:
    """Where a verb stands before its subject, as the language asks: "heißt meine katze bob", number of the word."""
    known = spoken.templates
    held = known.words_of(without_discourse_markers(known, words.text)).folded
    place = len(words.folded) - len(held)
    if "verb_second" not in known.lists or len(held) < 2 or not (held[0] in known.third or held[0] in known.own_verbs):
        return None
    if known.ends(words.part(0, place), "fronting"):
        return None  # "jetzt bin ich zehn"
    if known.starts_at(held, 0, "requesting"):
        return None  # "kannst du mich an mein insulin erinnern"
    subjects = ("speaker", "he_she", "own", "article", "pronoun") if held[0] in known.third else ("speaker",)
    return place if held[1] in before.names or known.has_word(subjects, held[1]) else None  # "mach das licht aus"


def _wait_if_not_aversion(heard: TaggedUtterance, one: Candidate) -> Candidate:
    """What a template took; for review where it is nothing that anybody minds: "i have no fear of heights"."""
    if heard.before.question or not _may_be_doubted(heard, one):
        return one  # an answer is as short as it likes
    hint = hint_of(heard.known, heard.words, one)
    feared = hint is not None and averse_to_nothing(heard, Guess(hint.slot, hint.first, hint.last, 1.0))
    return one.waiting("unsure") if feared else one


def _may_be_doubted(heard: TaggedUtterance, one: Candidate) -> bool:
    """Not what was asked to be remembered, nor a breed, which may be marked as a pet, nor how few there are in the
    family: no name is marked there; nor a name whose relation is said behind it."""
    counted = (
        one.slot == "family"
        and one.value
        and set(heard.known.words_of(one.value or "").folded) <= heard.known.opening("number")
    )
    if (one.outcome, one.reason) != ("learned", "stated") or one.thing == KIND or counted or is_introduced(heard, one):
        return False
    return repaired(heard.known, heard.words.text) is None  # what is put right in one breath reads like nothing else


# from a guess to a verdict


def _added(heard: TaggedUtterance, asked: bool, asking: int | None) -> Iterator[tuple[Candidate, float]]:
    """What the guesses tell, each with how sure it is. ``asked``: somebody asks to remember it; ``asking``: in the
    clause from that word on something is asked."""
    text = heard.words.text
    strange = not MARKED.isdisjoint(text) or heard.spoken.language.is_question(
        without_discourse_markers(heard.known, text)
    )
    several = len(said(heard.spoken, text)) > 1
    for guess in heard.guesses:
        enough = SEVERAL if several else SURER if strange or guess.kind == VAGUE else SURE
        enough -= ASKED if asked else 0.0
        if asking is not None and _begin_of(heard, guess) <= heard.words.spans[asking][0]:
            continue
        if guess.kind in SLOTS and guess.sure >= max(enough, SURE_ALONE if _alone(heard, guess) else 0.0):
            verdict = _verdict(heard, guess)
            if verdict is not None:
                yield verdict, guess.sure


def _begin_of(heard: TaggedUtterance, guess: Guess) -> int:
    """Where the clause of a guess begins, characters."""
    return clause_around(heard, guess.first, guess.last).spans[0][0]


def _alone(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether few words say something that nobody spoke of before."""
    return len(heard.words.folded) <= FEW and not heard.of_kind("thing") and not _expected(heard, guess)


def _expected(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether something of that slot was asked or told a moment before; an illness needs no occasion."""
    before = heard.before
    return before.question or guess.kind in (before.told, *before.asked[:1], "health")


def _verdict(heard: TaggedUtterance, guess: Guess) -> Candidate | None:
    """What a guessed value tells; None where nobody knows of whom, or where what stands around it takes it back."""
    whose = beside(heard, guess, "who") or pronoun_before(heard, guess)
    found = _told_of(heard, guess, whose)
    if (found is None and not _own(heard, guess, whose)) or _holds_today(heard, guess):
        return None
    if guess.kind in ("name", "family") and _of_oneself(heard, guess):
        told = PatternMatch("name", False, heard.part(guess), None, "", None)
        return None if refused_value(heard.known, told, False) else _in_its_clause(heard, told, None, [guess])
    named = beside(heard, guess, "thing")
    if guess.kind == "pet" and found is not None and found.who.pet:
        found = None  # a pet's name is told of its owner
    if _cannot_have(heard, guess, found, named) or _says_nothing(heard, guess) or denied(heard, guess, named):
        return None
    if named is None and whose is None and _is_somebody_else(heard, guess):
        return None
    thing = named_thing(heard, named) if named is not None else thing_meant(heard, guess)
    if guess.kind == "location" and (thing is None or set(thing.folded) <= set(heard.part(guess).folded)):
        return None  # a place of nobody knows what, or of itself
    related = thing is None and found is not None and found.who.relation and guess.kind in ("family", "name")
    slot = "name" if related else _naming(heard, guess.kind, thing)
    told = PatternMatch(
        slot, has_ended(heard, guess), heard.part(guess), thing, "", "*" if thing is None and slot in ALONE else None
    )
    reason = None if _is_day(heard, told) else refused_value(heard.known, told, False)
    if reason == "too_long" or (reason is not None and slot in FORMED):
        return None
    return _in_its_clause(heard, told, found, [one for one in (guess, whose, named) if one is not None])


def _told_of(heard: TaggedUtterance, guess: Guess, whose: Guess | None) -> PersonMention | None:
    """Of whom a value is told, where not of the speaker; None also where nobody knows."""
    found = person_in(heard, whose) if whose is not None else None
    if found is None and whose is not None and guess.sure >= (STRANGE if whose.sure >= SURE else CERTAIN):
        found = stranger(heard, whose)
    if found is None and guess.kind not in (*NAMING, *OF_THINGS):
        named = beside(heard, guess, "thing")
        found = relative_named(heard, named) if named is not None else None
        if whose is None and found is None:
            found = right_before(heard, guess) or only_person(heard)
    return found


def _is_day(heard: TaggedUtterance, told: PatternMatch) -> bool:
    """Whether it is a birthday whose month everybody knows: "mum's birthday is the twenty second"."""
    known, value = heard.known, told.value
    day = value is not None and known.starts(value, "day_number") == len(value.folded)
    return told.slot == "birthday" and day and known.has(heard.words, "born_on")


def _cannot_have(heard: TaggedUtterance, guess: Guess, found: PersonMention | None, named: Guess | None) -> bool:
    """Whether nobody like that has such a thing: a person is not put anywhere, and a pet has no job."""
    if named is not None:  # "my mum's best friend is a hairdresser"
        return guess.kind not in OF_OUTSIDERS and heard.known.has(heard.part(named), "outsider")
    return found is not None and guess.kind in ("location", "work" if found.who.pet else "")


def _of_oneself(heard: TaggedUtterance, guess: Guess) -> bool:
    """ "i'm (idris) her husband", "ich bin also der (hansjörg)": a name of one's own, whatever else is said."""
    known, held = heard.known, heard.words.folded
    end = guess.first
    while end and known.has_word(("article", "skip", "that_is"), held[end - 1]):
        end -= 1
    said = held[max(end - 2, 0) : end]
    return len(said) == 2 and said[0] in known.opening("speaker") and said[1] in known.opening("being")


def _naming(heard: TaggedUtterance, kind: str, thing: Tokens | None) -> str:
    """The slot of a name, by whose it is: "my brother's real name is terrell" names a relative."""
    if thing is not None and kind == "family" and heard.known.ends(thing, "pet"):
        return "pet"
    return "family" if thing is not None and kind == "name" and heard.known.ends(thing, "relation") else kind


def _is_somebody_else(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether what stands before a name makes it that of somebody else: "doctor grant" is nobody's family, and "for
    marcus" says of nobody how they are called."""
    before = heard.words.part(0, guess.first)
    titled = heard.known.ends(before, "title") > 0 or heard.known.starts(heard.part(guess), "title") > 0
    return (guess.kind == "family" and titled) or (guess.kind == "name" and heard.known.ends(before, "whom_for") > 0)


def _says_nothing(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether a value holds nothing but articles and prepositions, or is none for what stands beside it."""
    words = heard.words
    empty = all(heard.known.has_word(_EMPTY, word) for word in words.folded[guess.first : guess.last])
    if empty and guess.kind not in FORMED:
        return True  # but "she's only three"
    counted = words.part(guess.first + 1, len(words.folded))
    if guess.kind == "age" and heard.known.starts(counted, "for_years"):
        return True  # "fifteen years at the post office"
    return heard.known.ends(words.part(0, guess.first), "instead_of") > 0  # "i take this instead of | that"


def _own(heard: TaggedUtterance, guess: Guess, whose: Guess | None) -> bool:
    """Whether what is told of nobody who is known can be the speaker's, or of a thing."""
    if whose is not None and guess.kind not in (*NAMING, *OF_THINGS):
        return False
    if heard.known.has(heard.words.part(0, guess.first), "outsider") and guess.kind not in OF_OUTSIDERS:
        return False
    if heard.says_i:
        known_what = heard.before.asked != () or heard.before.told != "" or guess.kind in FORMED
        known_what = known_what or (guess.kind == "favourite" and heard.known.has(heard.words, "most_of_all"))
        plain = guess.sure >= PLAINLY and (guess.kind != "favourite" or bool(heard.of_kind("thing")))
        return known_what or plain or not heard.known.has(heard.words, "mine")
    if _says_little(heard, guess) or heard.known.starts(heard.words, "hearer"):
        return False
    if guess.kind == "favourite" and not heard.of_kind("thing"):
        return heard.before.question
    if heard.known.starts(heard.words, "correcting"):
        return False
    return guess.kind in (*NAMING, *OF_THINGS) or heard.known.opening("given_name").isdisjoint(heard.words.folded)


def _says_little(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether too little is said to know what of, where nobody asked: "ten", "it's green", "with cheese"."""
    if _expected(heard, guess) or (guess.kind == "location" and heard.before.thing):
        return False
    thing = bool(heard.of_kind("thing"))
    if guess.kind in PLAIN and guess.kind != "name" and heard.known.starts(heard.words, "it_is"):
        return True  # "it's newark there's always a parade"
    return guess.kind in FORMED or (not thing and (guess.kind == VAGUE or len(heard.words.folded) <= LITTLE))


def _holds_today(heard: TaggedUtterance, guess: Guess) -> bool:
    """Whether it is said of this moment alone, or dictated to be sent."""
    known, words = heard.known, heard.words
    ordered = known.starts(words, "dictating" if "dictating" in known.lists else "ordering") > 0
    ordered = ordered and not known.starts(words, "noting")
    place = words.spans[guess.first][0], words.spans[guess.last - 1][1]
    if guess.kind in OF_DAYS and today(known, words.text, place):
        return True
    return ordered or (guess.kind in PASSING and known.has(words, "passing"))


def _in_its_clause(
    heard: TaggedUtterance, told: PatternMatch, found: PersonMention | None, parts: Sequence[Guess]
) -> Candidate | None:
    clause = clause_around(heard, min(one.first for one in parts), max(one.last for one in parts))
    clause = without_correcting(heard, clause, parts[0])
    said = found.who.said if found is not None and found.pronoun else ""
    reading = ResolvedClause(clause, found.who if found is not None else None, said)
    verdict = typed(heard.spoken, reading, replace(told, words=len(clause.folded)), SLOTS[told.slot])
    reason = refusal_in(heard.spoken, heard.words.text, verdict.span, verdict.slot == "name")
    enough = SURER_STILL if heard.refused else CERTAIN
    if is_put_in_doubt(heard.known, heard.words, parts[0].first, parts[-1].last):
        return None
    if reason in HEARD_OTHERWISE and heard.refused != "quotation" and parts[0].sure >= enough:
        return verdict
    if reason == "unsure":
        return verdict.waiting(reason)
    return verdict if reason is None else None
