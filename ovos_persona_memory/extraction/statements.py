"""From what the reader finds in an utterance to candidate facts: what is learned, waits, ends or is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ovos_persona_memory.extraction import naming
from ovos_persona_memory.extraction.candidate import Candidate, Outcome
from ovos_persona_memory.extraction.reader.reader import QUESTION_MARKS, Reading, Statement
from ovos_persona_memory.extraction.slots import SLOTS
from ovos_persona_memory.text import languages
from ovos_persona_memory.text.languages import Language

REVIEWED_FROM = 0.3
"""A value waits for review if its confidence is >= this and < that from which its slot is learned."""
ENDED_FROM = 0.5
"""What is said to hold no more, or to be untrue, counts if it is so certain, >=."""
ASKS_FROM = 0.8
"""An utterance that is a question with this probability or more states nothing."""
TO_FORGET_FROM = 0.6
"""An utterance wants something forgotten with such a probability, >=: it states nothing, and whoever said it is asked
back."""
FURTHER = 0.15
"""Of a language that the reader never learned, values must be so much surer."""
LEARNED_LANGUAGES = frozenset({"ca", "da", "de", "en", "es", "fr", "gl", "it", "nl", "pt"})
ANSWER = 6
"""Words at most of an answer that is about whomever the question before it names."""
OF_THINGS = ("location", "favourite")
"""Slots whose values mean nothing without what they belong to."""
REFUSED = {"quoted": "quotation", "other": "other_person"}
"""Kinds of saying from which nothing is learned, and the reason that is given."""
_BREAK = re.compile(r"[.!?;\n]+\s+|\s+[\u2013\u2014]\s+")


@dataclass(frozen=True)
class DialogueContext:
    """What is known when somebody speaks."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Names known, folded, to the subjects of those who have them; the speaker's own name to an empty one."""
    spoken_of: str | None = None
    """The subject of whom "she" is about; None where nobody was spoken of."""
    said: str = ""
    """What was said right before in the room."""
    by_assistant: bool = False
    """Whether the assistant said that."""
    asked_of: str | None = ""
    """Of whom a question right before asked: a subject; empty: of the one who answers; None: of somebody else."""
    things: Mapping[str, str] = field(default_factory=dict)
    """By slot of OF_THINGS, the stems of what was told of or asked for a moment ago: "it" and "mine" mean that."""
    hearer: str | None = None
    """The subject of who "you" is: somebody who spoke right before; None where it is the assistant, or unclear."""
    corrects: str = ""
    """A statement of the speaker's that this utterance puts right, with the correction in it."""


def candidates(text: str, language: Language, reading: Reading, known: DialogueContext) -> list[Candidate]:
    """The candidate facts of an utterance in the order in which they are said."""
    statements = _listed(text, language, _with_whole_notes(text, reading.statements))
    clauses = _clauses(text, language, statements)
    is_marked = any(mark in text for mark in QUESTION_MARKS)  # who writes one question mark writes all
    found: list[Candidate] = []
    for statement, clause in zip(statements, clauses, strict=True):
        asks = _is_asked(text, statement.value[1]) if is_marked else reading.kinds.asks >= ASKS_FROM
        asks = asks or reading.kinds.asks_to_forget >= TO_FORGET_FROM
        one = _candidate(text, clause, language, statement, known, asks)
        if one is not None:
            found.append(one)
        named = _named(text, language, statement, known)
        known = replace(known, spoken_of=named) if named else known
    return [one for one in found if not any(_repeats(one, other) for other in found)]


def _with_whole_notes(text: str, statements: Sequence[Statement]) -> list[Statement]:
    """The same, the parts of what is to be remembered put together: they are one note up to the end of the sentence."""
    whole: list[Statement] = []
    for one in statements:
        last = next((n for n in range(len(whole) - 1, -1, -1) if whole[n].slot == "note"), None)
        if one.slot == "note" and last is not None and not _BREAK.search(text, whole[last].value[1], one.value[0]):
            surer = max(whole[last], one, key=lambda part: part.confidence)
            whole[last] = replace(surer, value=(whole[last].value[0], one.value[1]))
        else:
            whole.append(one)
    return whole


def _listed(text: str, language: Language, statements: Sequence[Statement]) -> list[Statement]:
    """The same, a value that lists several taken apart, where its slot has lists of values."""
    parted: list[Statement] = []
    for one in statements:
        slot = SLOTS.get(one.slot)
        parts = _parts(text, language, one.value) if slot is not None and slot.is_listed else [one.value]
        parted += [replace(one, value=part) for part in parts]
    return parted


def _parts(text: str, language: Language, span: tuple[int, int]) -> list[tuple[int, int]]:
    """A span cut at commas and words like "and"; the whole where a part would say nothing."""
    joints, parts, first = _joints(language), [], span[0]
    for match in re.finditer(r",|[^\W_]+", text[slice(*span)]):
        if match[0] == "," or match[0].lower() in joints:
            parts.append((first, span[0] + match.start()))
            first = span[0] + match.end()
    parts = [_trimmed(text, part) for part in (*parts, (first, span[1]))]
    return parts if all(naming.has_content(text[slice(*part)], language) for part in parts) else [span]


def _trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    words = text[slice(*span)]
    return span[0] + len(words) - len(words.lstrip()), span[0] + len(words.rstrip())


def _joints(language: Language) -> frozenset[str]:
    """Words like "and" and "but" between two statements."""
    return frozenset(" ".join(languages.fold(line)) for line in language.lines("joint.voc"))


def _named(text: str, language: Language, statement: Statement, known: DialogueContext) -> str | None:
    """Whom a statement names, whom "he" behind it means: "my brother mike he's a plumber"."""
    span = statement.thing if statement.slot == "family" and statement.who is None else statement.who
    if span is None:
        return None
    words = naming.naming_words(language.tag)
    named = naming.whole_name(text, span, language)
    is_pronoun = all(word in words.other or word in words.speaker for word in languages.fold(named))
    return None if is_pronoun else naming.subject_of(named, language, known.names, known.spoken_of, known.hearer)


def is_question(text: str, language: Language, reading: Reading) -> bool:
    """Whether an utterance asks something: by its mark, or as the reader finds."""
    return reading.kinds.asks >= ASKS_FROM or text.rstrip().endswith(QUESTION_MARKS)


def _is_asked(text: str, place: int) -> bool:
    """Whether the sentence that holds a place ends in a question mark: one behind it makes no question of it."""
    end = _BREAK.search(text, place)
    return text[place : end.end() if end else len(text)].rstrip().endswith(QUESTION_MARKS)


def _repeats(one: Candidate, other: Candidate) -> bool:
    """Whether a value says no more than the thing of another one: "we have a cat called bob" tells of one pet."""
    if one is other or one.slot != other.slot or one.slot not in ("pet", "family"):
        return False
    return set(one.thing.split()) < set(other.thing.split())


def _candidate(  # more than five: these are what is known of a statement
    text: str, clause: str, language: Language, statement: Statement, known: DialogueContext, asks: bool
) -> Candidate | None:
    value = text[slice(*statement.value)]
    subject, is_known = _subject(text, language, statement, known)
    outcome, reason = _verdict(statement, language, asks, subject is not None and is_known)
    if outcome is None or not naming.has_content(value, language):
        return None
    if statement.slot == "note":
        thing = " ".join(language.words(value))
        return Candidate("kept" if outcome == "learned" else outcome, reason, value, thing=thing, span=statement.value)
    if subject is None:
        return Candidate("refused", "unknown_person", clause, statement.slot, span=statement.value)
    slot, subject, thing = _place(text, language, statement, subject)
    if statement.thing is None and slot in OF_THINGS:
        thing = known.things.get(slot, "")
        if not thing:
            return Candidate("refused", "unknown_thing", clause, slot, span=statement.value)
    ended = _what_ended(text, language, statement, known) if outcome == "ended" else value
    made = Candidate(outcome, reason, clause, slot, subject, thing, ended, statement.value)
    return made.waiting("unknown_person") if outcome == "learned" and not is_known else made


def _what_ended(text: str, language: Language, statement: Statement, known: DialogueContext) -> str | None:
    """What the value of something that is over names; whoever was spoken of, where it is a pronoun.

    None where it names no work but only says that it ended: "i retired". "I left the bakery" may mean another.
    """
    words, value = naming.naming_words(language.tag), text[slice(*statement.value)]
    if all(word in words.other for word in languages.fold(value)):
        return known.spoken_of or value
    if statement.slot != "work" or statement.saying != "over":
        return value
    before = languages.fold(text[: statement.value[0]])[-1:]
    return None if before and before[0] in words.speaker else value


def _verdict(statement: Statement, language: Language, asks: bool, is_known: bool) -> tuple[Outcome | None, str]:
    """What becomes of a statement, and why; None where it is too unsure to count."""
    further = 0.0 if language.primary in LEARNED_LANGUAGES else FURTHER
    slot = SLOTS.get(statement.slot)
    learned_from = (slot.learned_from if slot is not None else 0.5) + further
    if statement.saying in ("over", "denied"):
        return ("ended", "taken_back") if statement.certainty >= ENDED_FROM + further and not asks else (None, "")
    if statement.saying == "other" and statement.who is not None and is_known and not asks:
        # it is told as of an outsider, but of somebody of the house
        return ("waiting", "unsure") if statement.certainty >= ENDED_FROM + further else (None, "")
    if statement.saying in REFUSED or asks:
        is_sure = statement.certainty >= ENDED_FROM
        return ("refused", REFUSED.get(statement.saying, "question")) if is_sure else (None, "")
    if statement.saying == "unsure":
        return ("waiting", "unsure") if statement.certainty >= REVIEWED_FROM + further else (None, "")
    if statement.confidence >= learned_from:
        return "learned", statement.saying
    return ("waiting", "unsure") if statement.confidence >= REVIEWED_FROM + further else (None, "")


def _subject(text: str, language: Language, statement: Statement, known: DialogueContext) -> tuple[str | None, bool]:
    """Whom a statement is about, None where unclear; and whether that is somebody known or a relative."""
    if statement.slot == "location":
        return "", True
    words = naming.naming_words(language.tag)
    if statement.who is None or _is_own(text, language, statement.who, statement.value):
        return (known.asked_of, True) if known.said and _is_answer(text, words) else ("", True)
    named = naming.whole_name(text, statement.who, language)
    subject = naming.subject_of(named, language, known.names, known.spoken_of, known.hearer)
    if not subject:
        return subject, True
    held = languages.fold(named)
    is_known = (
        words.relation_in(held) is not None
        or any(word in known.names or word in words.small or word in words.other for word in held)
        or subject in known.names.values()
    )
    return subject, is_known


def _is_answer(text: str, words: naming.NamingWords) -> bool:
    """Whether a text may be about whomever a question names: it is short, and its speaker is not in it."""
    said = languages.fold(text)
    return len(text.split()) <= ANSWER and words.speaker.isdisjoint(said)


def _is_own(text: str, language: Language, who: tuple[int, int], value: tuple[int, int]) -> bool:
    """Whether an "i" stands between who seems meant and a value, which then is the speaker's."""
    between = languages.fold(text[who[1] : value[0]])
    return not naming.naming_words(language.tag).own_subject.isdisjoint(between)


def _place(text: str, language: Language, statement: Statement, subject: str) -> tuple[str, str, str]:
    """The slot, subject and thing by which a fact finds what it takes the place of."""
    slot, words = statement.slot, naming.naming_words(language.tag)
    value = text[slice(*statement.value)]
    thing_text = text[slice(*statement.thing)] if statement.thing is not None else ""
    if statement.thing is not None and statement.who is None and slot in ("family", "pet"):
        owner = naming.owner_behind(text, statement.thing, language)  # "the wife of my brother is called ann"
        subject = subject if owner is None else naming.subject_of(text[slice(*owner)], language, {}, None) or subject
    is_answer = slot == "family" and statement.who is None
    if (slot == "name" or is_answer) and subject and not thing_text:  # "my sister's name is ana"
        slot, thing_text, subject = "family", subject, ""
    if slot == "pet" and subject in words.pets:  # "he is called rex" of the dog: it has no pet, it is one
        thing_text, subject = thing_text or subject, ""
    thing = naming.thing_of(thing_text, language) if thing_text else ""
    kept = SLOTS[slot].kept
    if kept == "one":
        return slot, subject, ""
    if kept == "by_value":
        return slot, subject, naming.thing_of(value, language)
    if kept == "by_place":
        return slot, subject, _sort(text, statement, words)
    if kept == "by_person":
        relation = words.relation_in(languages.fold(thing_text)) if thing_text else None
        is_single = relation is not None and relation[0] in words.single
        return slot, subject, thing if is_single else f"{thing} {naming.thing_of(value, language)}".strip()
    return slot, subject, thing or ("" if slot == "name" else naming.thing_of(value, language))


def _sort(text: str, statement: Statement, words: naming.NamingWords) -> str:
    """The sort of a home or an occupation: what merely adds stands beside it."""
    before = _leading(languages.fold(text[: statement.value[0]]), words)
    inside = languages.fold(text[slice(*statement.value)])[:2]
    if statement.slot == "home":
        return "near" if any(word in words.near for word in (*before, *inside[:1])) else ""
    return "place" if any(word in words.at for word in (*before, *inside[:1])) else ""


def _leading(before: Sequence[str], words: naming.NamingWords) -> Sequence[str]:
    """The small words right before a value, and the one before them: "at the" bakery."""
    first = len(before) - 1
    while first > 0 and before[first] in words.small:
        first -= 1
    return before[max(first, 0) :]


def _clauses(text: str, language: Language, statements: Sequence[Statement]) -> list[str]:
    """The words in which each statement is made: its sentence, cut where "and" or a comma parts two statements."""
    cuts = [0]
    for one, other in pairwise(statements):
        begins = min(span[0] for span in (other.value, other.who, other.thing) if span is not None)
        told = max(span[1] for span in (one.value, one.who, one.thing) if span is not None)
        cuts.append(_cut(text, told, begins, language) or cuts[-1] if told <= begins else cuts[-1])
    cuts.append(len(text))
    ends = [
        next((cut for cut in cuts[number + 1 :] if cut > cuts[number]), len(text)) for number in range(len(statements))
    ]
    return [_sentence(text, cuts[number], ends[number], one) for number, one in enumerate(statements)]


def _cut(text: str, first: int, last: int, language: Language) -> int | None:
    """Where the second of two statements begins between two places of a text; None where nothing parts them."""
    between = text[first:last]
    joints = _joints(language)
    places = [match.start() for match in re.finditer(r"[^\W_]+", between) if match[0].lower() in joints]
    places += [match.end() for match in re.finditer(r"[,.;!?\n]\s*", between)]
    return first + max(places) if places else None


def _sentence(text: str, first: int, last: int, statement: Statement) -> str:
    """The part of a text from ``first`` to ``last`` without the sentences around the one that holds a statement."""
    spans = [span for span in (statement.value, statement.who, statement.thing) if span is not None]
    begin, end = min(span[0] for span in spans), max(span[1] for span in spans)
    for match in _BREAK.finditer(text, first, last):
        if match.end() <= begin:
            first = match.end()
        elif match.start() >= end:
            last = match.start()
            break
    return " ".join(text[first:last].strip(" ,.;!?\n").split())
