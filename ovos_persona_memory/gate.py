"""The gate before the facts: what of a turn is learned, kept, put up for review or refused, and why.

Everything here is a pure function of the turn and of what is known about its circumstances.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ovos_persona_memory import language, templates
from ovos_persona_memory.fact import Decay
from ovos_persona_memory.records import GUEST, Turn
from ovos_persona_memory.secrets import is_secret
from ovos_persona_memory.slots import SLOTS, Slot, refused_value
from ovos_persona_memory.templates import Templates, Told, Words

LONG = 40
"""Words of a clause that says more than one fact."""
CHAT = 2
"""Sentences from which on a turn is a letter rather than something said to an assistant."""
ASKED = 25
"""Words at most that somebody asks to remember in one go."""

Outcome = Literal["learned", "kept", "waiting", "ended", "refused"]

_ASIDE = re.compile(r"\[[^\]]*\]|\([^)]*\)|https?://\S+")
_MARKS = '"\u201c\u201d\u201e\u00ab\u00bb'
_SINGLE = "'\u2018\u2019\u201a"
_SENTENCE_END = re.compile(
    rf"(?<=[!?\u2026;\n])\s+|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)(?<=[^\W\d_]{{2}})\.+\s+|(?<=[)\"\u201d])\.\s+|\n+|\s+[\u2013\u2014-]{{1,2}}\s+"
    rf"|[^\w\s,.;:!?&%/$\u20ac#@*+()\-{_MARKS}{_SINGLE}]+"
)
_QUOTED = re.compile(rf"[{_MARKS}]([^{_MARKS}]*)[{_MARKS}]|(?<!\w)[{_SINGLE}]([^{_SINGLE}]*)[{_SINGLE}](?!\w)")
_COMMA = re.compile(r",\s+|:\s+")


@dataclass(frozen=True)
class Circumstances:
    """What is known about a turn beside its words."""

    person: bool = True
    """Its speaker is somebody whose facts are learned: no guest, no television, nobody unknown."""


@dataclass(frozen=True)
class Verdict:
    """What one sentence comes to."""

    outcome: Outcome
    reason: str
    """A code: why."""
    text: str
    """The sentence in the speaker's own words."""
    slot: str | None = None
    subject: str = ""
    thing: str = ""
    """Folded and stemmed; for a verdict without a slot its own words."""
    value: str | None = None

    @property
    def decay(self) -> Decay:
        """How the fact fades."""
        return SLOTS[self.slot].decay if self.slot else "slow"

    @property
    def topics(self) -> tuple[str, ...]:
        """What the fact matters to."""
        return SLOTS[self.slot].topics if self.slot else ()


def judge(turn: Turn, known: Circumstances = Circumstances()) -> list[Verdict]:
    """The verdicts of a turn, in order; empty where it says nothing that could be a fact."""
    if turn.role != "user" or not turn.text or turn.redacted or turn.machine or turn.announcement:
        return []
    spoken = _spoken(turn)
    if not spoken.templates.may_tell(turn.text) and _without_lead(spoken, turn.text, False) is None:
        return []  # most of what is said, in a tenth of the time
    verdicts = list(_verdicts(spoken, turn.text))
    if not verdicts:
        return []
    reason = _not_of_a_person(turn, known)
    if reason is None and verdicts[0].reason != "secret" and is_secret(turn.text, turn.lang):
        reason = "secret"
    return [Verdict("refused", reason, verdicts[0].text)] if reason else verdicts


def _spoken(turn: Turn) -> _Spoken:
    known = language.of_text(turn.lang, turn.text)
    return _Spoken(known, templates.of(known.tag))


def _not_of_a_person(turn: Turn, known: Circumstances) -> str | None:
    if turn.user_id == GUEST:
        return "guest"
    if not known.person:
        return "unattributed"
    return "out_of_band" if turn.source == "query" else None


def is_echo(text: str, told_before: Sequence[str]) -> bool:
    """Whether these are the very words of something that the assistant said before."""
    bare = f" {' '.join(language.fold(text))} "
    return any(bare in f" {' '.join(language.fold(told))} " for told in told_before)


@dataclass(frozen=True)
class _Spoken:
    """A language, and its templates."""

    language: language.Language
    templates: Templates


def _verdicts(spoken: _Spoken, text: str) -> Iterator[Verdict]:
    parts = [part.strip() for part in _SENTENCE_END.split(_ASIDE.sub(" . ", text)) if part and part.strip()]
    sentences = [part for part in parts if language.fold(part)]
    for number, sentence in enumerate(sentences):
        asked = None if number else _without_lead(spoken, sentence, len(sentences) >= CHAT)
        if asked is not None:
            yield from _asked_to_keep(spoken, asked)
        else:
            yield from _of_sentence(spoken, sentence, len(sentences) >= CHAT)


# somebody asks to remember


def _without_lead(spoken: _Spoken, text: str, letter: bool) -> str | None:
    """What follows "remember that"; None where the text opens otherwise. Written, a comma may stand in it.

    In a letter one word ("Remember, ...") reminds its reader of something.
    """
    for said in (text, text.replace(",", "", 1)):
        bare = spoken.language.without_lead(said)
        words = len(language.fold(said)) - len(language.fold(bare))
        if words and not (letter and words == 1):
            return bare
    return None


def _asked_to_keep(spoken: _Spoken, text: str) -> Iterator[Verdict]:
    """A verdict for what somebody asked to remember: typed where a template knows it, else as it was said."""
    text = " ".join(text.split()).rstrip(".! ")
    reason = _no_request(spoken, text)
    if reason:
        yield Verdict("refused", reason, text)
        return
    typed = [one for one in _of_sentence(spoken, text, False) if one.outcome in ("learned", "ended")]
    yield from (replace(one, reason="asked") for one in typed)
    if not typed:
        yield Verdict("kept", "asked", text, thing=" ".join(spoken.language.words(text)))


def _no_request(spoken: _Spoken, text: str) -> str | None:
    """Why nothing of this is kept though somebody asks for it; None where it is."""
    words = spoken.templates.words_of(text)
    if is_secret(text, spoken.language.tag):
        return "secret"
    if spoken.language.is_question(text):
        return "question"
    if spoken.templates.starts(words, "no_request"):
        return "command"
    if len(words.folded) < 2:
        return "too_short"
    return "too_long" if len(words.folded) > ASKED else None


# somebody says something


def _of_sentence(spoken: _Spoken, sentence: str, letter: bool) -> Iterator[Verdict]:
    found = _of_clauses(spoken, [sentence], letter) if _lists_things(spoken, sentence) else []
    if not any(one.outcome != "refused" for one in found):
        found = _of_clauses(spoken, _COMMA.split(sentence), letter) or found
    if not found:
        return
    reason = _no_statement(spoken, sentence)
    if reason is None:
        yield from found
    elif reason == "unsure":
        yield from (Verdict("waiting", reason, *_fields(one)) for one in found if one.outcome == "learned")
    else:
        yield Verdict("refused", reason, found[0].text, found[0].slot)


def _fields(verdict: Verdict) -> tuple[str, str | None, str, str, str | None]:
    return verdict.text, verdict.slot, verdict.subject, verdict.thing, verdict.value


def _no_statement(spoken: _Spoken, sentence: str) -> str | None:
    """Why a sentence says nothing about its speaker, though its words could; None where it does."""
    if spoken.language.is_question(sentence):
        return "question"
    if any(len((one[1] or one[2] or "").split()) > 2 for one in _QUOTED.finditer(sentence)):
        return "quotation"
    words = spoken.templates.words_of(sentence)
    for name in ("quoted", "supposed", "joking", "past", "unsure"):
        if spoken.templates.has(words, name):
            return _REASONS[name]
    return None


_REASONS = {"quoted": "quotation", "supposed": "supposed", "joking": "joke", "past": "past", "unsure": "unsure"}


def _of_clauses(spoken: _Spoken, parts: Sequence[str], letter: bool) -> list[Verdict]:
    return [
        verdict for part in parts for clause in _clauses(spoken, part) for verdict in _of_clause(spoken, clause, letter)
    ]


def _clauses(spoken: _Spoken, part: str) -> Iterator[Words]:
    """The clauses of a sentence, or of what stands between its commas, without what opens and closes them."""
    subject = False
    for piece in _at_joints(spoken, spoken.templates.words_of(part)):
        clause = _bare(spoken, piece)
        if clause.folded:
            clause = _with_subject(spoken, clause) if subject else clause
            subject = clause.folded[0] in spoken.templates.lists.get("elided_subject", ())
            yield clause


def _with_subject(spoken: _Spoken, clause: Words) -> Words:
    """A clause behind a joint that leaves out who it is about, with it: "... and work as a nurse"."""
    subject = spoken.templates.lists.get("elided_subject", ())
    if not subject or clause.folded[0] not in spoken.templates.lists.get("elided", ()):
        return clause
    start = clause.spans[0][0]
    return Words(clause.text, (subject[0], *clause.folded), ((start, start), *clause.spans))


def _lists_things(spoken: _Spoken, sentence: str) -> bool:
    """Whether no comma stands before a new clause: then it divides the things of a list."""
    parts = _COMMA.split(sentence)
    opened = [spoken.templates.words_of(part) for part in parts]
    return not any(_opens(spoken, words) for words in opened[1:]) and not _is_lead(spoken, opened[0])


def _opens(spoken: _Spoken, words: Words) -> bool:
    known = spoken.templates
    rest = words.part(known.starts(words, "joint"), len(words.folded))
    joined = len(rest.folded) < len(words.folded)
    return bool(known.starts(rest, "clause") or (joined and known.starts(rest, "elided")))


def _is_lead(spoken: _Spoken, words: Words) -> bool:
    return not _bare(spoken, words).folded


def _at_joints(spoken: _Spoken, words: Words) -> list[Words]:
    """The words cut before each joint that a new clause follows."""
    known, cuts = spoken.templates, [0]
    for place in range(1, len(words.folded) - 1):
        rest = words.part(place, len(words.folded))
        if known.starts(rest, "joint") and _opens(spoken, rest):
            cuts.append(place)
    return [words.part(first, last) for first, last in zip(cuts, [*cuts[1:], len(words.folded)], strict=True)]


def _bare(spoken: _Spoken, words: Words) -> Words:
    known = spoken.templates
    words = known.without(words, "skip")
    while number := max(known.starts(words, "lead"), known.starts(words, "unsure")):
        words = words.part(number, len(words.folded))
    while (number := known.ends(words, "trail")) and number < len(words.folded):
        words = words.part(0, len(words.folded) - number)
    return words


def _of_clause(spoken: _Spoken, clause: Words, letter: bool) -> Iterator[Verdict]:
    """What the first template that fits with a value that can be has to say."""
    if len(clause.folded) > LONG:
        return
    refused: Verdict | None = None
    for told in spoken.templates.told(clause):
        slot = SLOTS[told.slot]
        each = [told] if told.value is None else [replace(told, value=one) for one in _each(spoken, told.value, slot)]
        reasons = [refused_value(spoken.templates, one, letter) for one in each]
        if reasons[0] is None:
            yield from (
                _typed(spoken, clause, one, slot) for one, why in zip(each, reasons, strict=True) if why is None
            )
            return
        if reasons[0] != "no_value":
            refused = refused or Verdict("refused", reasons[0] or "", _spelled(clause), told.slot)
    if refused is not None:
        yield refused


def _typed(spoken: _Spoken, clause: Words, told: Told, slot: Slot) -> Verdict:
    value = told.value.spelled if told.value else told.thing.spelled if told.thing else None
    return Verdict(
        outcome="ended" if told.ends else "learned",
        reason="taken_back" if told.ends else "stated",
        text=_spelled(clause),
        slot=told.slot,
        subject=told.subject,
        thing=_thing(spoken, told, told.value, slot),
        value=value,
    )


def _each(spoken: _Spoken, value: Words, slot: Slot) -> Iterator[Words]:
    """The things of a list, where a slot holds several side by side."""
    first = 0
    joints = set(spoken.templates.lists.get("listing", ()))
    for place, word in enumerate(value.folded):
        comma = place > first and "," in value.text[value.spans[place - 1][1] : value.spans[place][0]]
        if slot.several and place > first and (word in joints or comma):
            yield value.part(first, place)
            first = place + (word in joints)
    if first < len(value.folded):
        yield value.part(first, len(value.folded))


def _thing(spoken: _Spoken, told: Told, value: Words | None, slot: Slot) -> str:
    named = told.named if told.named is not None else "*" if slot.of_value and told.thing is None else None
    if named is not None:
        return " ".join(spoken.language.words(named.replace("*", _without_articles(spoken, value))))
    return " ".join(spoken.language.words(_without_articles(spoken, told.thing)))


def _without_articles(spoken: _Spoken, words: Words | None) -> str:
    if words is None:
        return ""
    articles = set(spoken.templates.lists.get("determiner", ()))
    kept = [word for word in words.folded if word not in articles]
    return " ".join(kept or words.folded)


def _spelled(clause: Words) -> str:
    return " ".join(clause.spelled.split())
