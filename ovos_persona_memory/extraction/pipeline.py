"""The one function from a turn to candidate facts, and the policy before it: whose words are learned from at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ovos_persona_memory.extraction import naming
from ovos_persona_memory.extraction.candidate import Candidate
from ovos_persona_memory.extraction.reader.reader import QUESTION_MARKS, Reading, read
from ovos_persona_memory.extraction.slots import SLOTS
from ovos_persona_memory.extraction.statements import (
    LEARNED_LANGUAGES,
    REFUSED,
    TO_FORGET_FROM,
    DialogueContext,
    candidates,
    is_question,
)
from ovos_persona_memory.records import GUEST, Reply, Turn
from ovos_persona_memory.text import (
    begins_with_subject,
    contains_secret,
    forget_clause,
    holds_question_word,
    languages,
    names_nothing_to_keep,
    opens_question,
    tells_secret,
)
from ovos_persona_memory.text.languages import Language

UNFINISHED = 12
"""So many of the last words of what is understood of a longer text tell nothing: nobody knows how they go on."""
ASKED_KEPT = 4096
"""So many texts are kept in mind with whether they ask."""
UNSIGNED_FROM, SURELY_FROM = 0.5, 0.95
"""What has neither a mark nor a word that asks is a question if the reader finds it so likely, >=; where nothing is
known about it, only if it is so sure, and the text does not begin with its subject.

Measured on 2026-11-30: docs/measurements.md, "Of what kind an utterance is"."""
PERHAPS_FROM = 0.05
"""What is less likely to ask may do so from here on, >=: it is taken for a remark, and what is told of it is what
surely answers it."""
RULED_OUT = 0.2
"""What asks by its words alone does not, if the reader finds it less likely than this."""
SIGN_FROM = 0.6
"""What holds a question word asks if the reader finds it so likely, >=."""
SIGNED = 2.0
"""In the place of a probability: its words or its mark ask."""
SEVERAL_FROM, PERHAPS_SEVERAL_FROM = 0.2, 0.03
"""A question asks for several things if the reader finds it so likely, >=: one answer of many misleads more than two of
one; and as likely as the second it does where several are known."""
WANTED_FROM = 0.85
"""What has the form of an order, or of a remark, asks if the reader finds it so likely, >=, that it asks for several
things, for all about something or for what was said: of 40 questions of 24 weeks that were taken for no question it
finds seven, and takes none of 4,600 other lines for one, "raccontami una barzelletta" (0.82) last (2026-12-01)."""
CLAUSE, ASKED = 2, 3
"""Words of a clause before a question, and of the question, at least."""
WHOLE_FROM, BEHIND_FROM = 0.7, 0.95
"""What follows a clause is a question of its own if the reader finds it so likely that the whole asks, >=, and so
likely that what follows does, read alone: so it was with 13 questions of twelve weeks that it did not learn from, and
with 2 of 1,235 remarks (2026-11-30)."""
NAMED_TO_FORGET_FROM = 0.5
"""A text wants something forgotten that it names with such a probability, >=: so 70 % of 762 requests by writers of
their own are found, 62 % from 0.7 on, and 0.35 % of 2,006 remarks of weeks are taken for one (2026-12-01)."""
SURELY_TO_FORGET_FROM = 0.9
"""As likely as that it is a request whether what it names is known or not: so are 44 % of the requests, and 0.1 % of
the remarks."""
AGREES_FROM, REFUSES_FROM = 0.7, 0.5
"""A reply agrees that something is deleted, or refuses it, if the reader finds it so likely, >=: what is deleted is
gone. Of 900 lines by a writer of their own 76 % of those that agree are found, 2 % of the others are taken for one
(2026-11-30)."""
KIND_FROM, KIND_SURELY_FROM = 0.5, 0.7
"""A question or request asks for all about something, or for what was said, if the reader finds it so likely, >=; what
seems to be neither, if it finds it as likely as the second: not "i told tom about the boiler"."""
LONGEST_REQUEST = 25
"""Words at most that somebody asks to remember in one go."""


@dataclass(frozen=True)
class ExtractionContext:
    """What is known about a turn beside its words."""

    person: bool = True
    """Its speaker is somebody whose facts are learned: no guest, no television, nobody unknown."""
    before: DialogueContext = field(default_factory=DialogueContext)
    """Who is known by name, and what was spoken of just before."""


def extract(turn: Turn, context: ExtractionContext = ExtractionContext()) -> list[Candidate]:
    """The candidate facts of a turn, in the order in which they are said; empty where it says nothing of the kind.

    Of a long one the beginning is understood, and nothing else. Thread-safe.
    """
    if turn.role != "user" or not turn.text or turn.redacted or turn.machine or turn.announcement:
        return []
    text = languages.beginning(turn.text)
    language = languages.for_text(turn.lang, text)
    found = _found(text, turn.lang, language, context.before)
    if len(text) < len(turn.text):
        words = languages.spelled(text)[1]
        finished = words[-UNFINISHED][0] if len(words) >= UNFINISHED else 0
        found = [one for one in found if one.span[1] <= finished]
    if not found:
        return []
    reason = _refusal(turn, context)
    if reason is None and _is_secret(turn, text):
        reason = "secret"
    return [Candidate("refused", reason, found[0].text)] if reason else found


def _found(text: str, lang: str | None, language: Language, before: DialogueContext) -> list[Candidate]:
    known = before.names
    if before.corrects:
        return [
            one
            for one in candidates(before.corrects, language, read(before.corrects, names=known), before)
            if one.outcome in ("learned", "kept")
        ]
    asked = language.without_lead(text)
    if asked != text and names_nothing_to_keep(asked, language):
        return []  # "remember this as a memory" keeps what was said before
    if asked != text:
        first, *others = languages.sentences_of(asked) or [asked]
        found = _requested(first, language, before)
        return [*found, *(_told(" ".join(others), language, before) if others else ())]
    request = forget_clause(text, language)
    if request is not None and (request.exclaims or not request.before):
        return []
    text = request.before if request is not None else text
    reading = read(text, before.said, before.by_assistant, known)
    # behind what was said before an utterance may be understood otherwise than by itself; where the first layers saw
    # nothing told in it, nobody has read it
    if not before.said and reading.kinds.asks > 0.0:
        _readings.note((text, lang), replace(reading, statements=()))
        _asked.note((text, lang), _share_asking(text, language, reading))
    found = candidates(text, language, reading, before)
    return (
        [one.waiting("unsure") if one.outcome == "learned" else one for one in found] if _plays(found, known) else found
    )


def _told(text: str, language: Language, before: DialogueContext) -> list[Candidate]:
    return candidates(text, language, read(text, names=before.names), before)


def _plays(found: Sequence[Candidate], names: Mapping[str, str]) -> bool:
    """Whether somebody whose name is known gives another one: most likely they play, or somebody else speaks."""
    own = {name for name, subject in names.items() if not subject}
    told = [one for one in found if one.slot == "name" and one.outcome == "learned" and not (one.subject or one.thing)]
    return bool(own) and any(own.isdisjoint(languages.fold(one.value or "")) for one in told)


def _requested(asked: str, language: Language, before: DialogueContext) -> list[Candidate]:
    """What somebody asks to remember: facts where the reader knows them, else what was said, as it was said."""
    asked = " ".join(asked.split()).rstrip(".! ")
    if asked.endswith("?") or language.is_command(asked):
        return [Candidate("refused", "question" if asked.endswith("?") else "command", asked)]
    words = asked.split()
    if not 2 <= len(words) <= LONGEST_REQUEST and not language.uses_bigrams:
        return [Candidate("refused", "too_short" if len(words) < 2 else "too_long", asked)]
    found = [one for one in candidates(asked, language, read(asked, names=before.names), before) if one.slot]
    told = [_asked_for(one) for one in found if one.outcome in ("learned", "ended")]
    if any(one.slot and SLOTS[one.slot].decay != "mood" for one in told):
        return told
    # a mood is gone in days: it is beside what is to be remembered, not in its place
    return [*told, Candidate("kept", "asked", asked, thing=" ".join(language.words(asked)))]


def _asked_for(one: Candidate) -> Candidate:
    return one if one.outcome == "ended" else Candidate(
        one.outcome, "asked", one.text, one.slot, one.subject, one.thing, one.value, one.span
    )  # fmt: skip


def _refusal(turn: Turn, known: ExtractionContext) -> str | None:
    """Why nothing is learned from whoever speaks; None where it is."""
    if turn.user_id == GUEST:
        return "guest"
    if not known.person:
        return "unattributed"
    return "out_of_band" if turn.source == "query" else None


def _is_secret(turn: Turn, text: str) -> bool:
    return contains_secret(text, turn.lang) or (len(text) < len(turn.text) and tells_secret(turn.text, turn.lang))


def has_learned(text: str, lang: str | None) -> bool:
    """Whether the reader, and so the judge of answers, has learned from talk in the language of a text."""
    return languages.for_text(lang, text).primary in LEARNED_LANGUAGES


def asks(text: str, lang: str | None) -> bool:
    """Whether a text is a question, with a mark or without: by its words, or as the reader finds.

    What has the words of a statement, "tua sorella viene lunedì", may be either.
    """
    return _asked((text, lang)) >= UNSIGNED_FROM or asked_in(text, lang) != text


def may_ask(text: str, lang: str | None) -> bool:
    """Whether a text is a question or may be one in the words of a remark, "ruben è ancora malato"."""
    return _asked((text, lang)) >= PERHAPS_FROM or asked_in(text, lang) != text


def looks_for(text: str, lang: str | None) -> bool:
    """Whether a text may look for something that was told: it asks for it, or wants it forgotten."""
    return may_ask(text, lang) or to_forget(text, lang) is not None


def asked_in(text: str, lang: str | None) -> str:
    """What a text asks behind a clause, "what do we need" in "i'm at the shop what do we need"; the text itself where
    it asks as a whole, or nothing."""
    return _asked_behind((text, lang)) or text


def _read_of(text: str, lang: str | None) -> Reading:
    """What the reader finds in what a text asks, or in the text; nothing in a language that it has not learned."""
    return _readings((asked_in(text, lang), lang)) if has_learned(text, lang) else Reading()


def wants_all(text: str, lang: str | None) -> bool:
    """Whether a text, be it an order, surely asks for several things, for all about something or for what was said:
    "tell me everything there is to buy"."""
    return _share_of_all(_read_of(text, lang)) >= WANTED_FROM


def _share_of_all(reading: Reading) -> float:
    return max(reading.kinds.asks_several, reading.kinds.asks_about, reading.kinds.asks_what_was_said)


def asks_several(text: str, lang: str | None) -> bool:
    """Whether a question asks for several things, "who cannot eat what", "what is still to be bought", rather than for
    all about something."""
    kinds = _read_of(text, lang).kinds
    is_about = kinds.asks_about >= max(KIND_FROM, kinds.asks_several)
    return kinds.asks_several >= SEVERAL_FROM and not is_about


def may_ask_several(text: str, lang: str | None) -> bool:
    """Whether it does where several are known: "what do i need for the trip"."""
    return _read_of(text, lang).kinds.asks_several >= PERHAPS_SEVERAL_FROM


def asks_about_something(text: str, lang: str | None) -> bool:
    """Whether a text asks for all that is known about something, "show me all about the boiler", rather than for
    several things."""
    kinds = _read_of(text, lang).kinds
    return kinds.asks_about >= kinds.asks_several and _is_of_kind(text, lang, kinds.asks_about)


def asks_what_was_said(text: str, lang: str | None) -> bool:
    """Whether a text asks what somebody told the assistant: "what did ray tell you last night"."""
    return _is_of_kind(text, lang, _read_of(text, lang).kinds.asks_what_was_said)


def to_forget(text: str, lang: str | None) -> str | None:
    """What a text wants forgotten that the assistant was told, in its words; empty where it only points at it, None
    where it wants nothing forgotten."""
    reading = _read_of(text, lang)
    share, names = reading.kinds.asks_to_forget, reading.names
    if names is None:
        return "" if share >= TO_FORGET_FROM else None
    return languages.beginning(asked_in(text, lang))[slice(*names)] if share >= NAMED_TO_FORGET_FROM else None


def surely_to_forget(text: str, lang: str | None) -> bool:
    """Whether a text surely wants something forgotten, so that it is answered whether that is known or not."""
    return _read_of(text, lang).kinds.asks_to_forget >= SURELY_TO_FORGET_FROM


def reply_in(text: str, lang: str | None) -> Reply | None:
    """What a text says to whether something is to be deleted, "go on then", "leave it"; None in a language in which
    nobody knows."""
    if not has_learned(text, lang):
        return None
    kinds = _readings((text, lang)).kinds
    if kinds.agrees >= AGREES_FROM:
        return "yes"
    return "no" if kinds.refuses >= max(REFUSES_FROM, kinds.agrees) else "neither"


def _is_of_kind(text: str, lang: str | None, share: float) -> bool:
    is_plain = asks(text, lang) or languages.for_text(lang, text).is_command(text)
    return share >= (KIND_FROM if is_plain else KIND_SURELY_FROM)


def surely_asks(text: str, lang: str | None) -> bool:
    """As ``asks``, where it matters more that no statement is taken for a question: without a sign of one it is none if
    its subject comes first, "le train part à huit heures", or if it is short and in a language in which a question may
    have the order of a statement, "Paul chante bien"."""
    share = _asked((text, lang))
    if share == SIGNED or share < SURELY_FROM:
        return share == SIGNED and not _ruled_out((text, lang))
    language = languages.for_text(lang, text)
    is_like_statement = language.primary in LIKE_STATEMENTS and len(text.split()) <= SHORT
    return not is_like_statement and not begins_with_subject(text, language)


def _found_to_ask(given: tuple[str, str | None]) -> float:
    text, lang = given
    language = languages.for_text(lang, text)
    return SIGNED if language.is_question(text) else _share_asking(text, language, _readings(given))


def _share_asking(text: str, language: Language, reading: Reading) -> float:
    """How likely a text is to ask; ``SIGNED`` where its words tell."""
    has_sign = reading.kinds.asks >= SIGN_FROM and holds_question_word(text, language)
    is_marked = language.is_question(text) or text.rstrip().endswith(QUESTION_MARKS)
    if is_marked or has_sign:
        return SIGNED
    behind = _question_behind(text, language)
    share = max(reading.kinds.asks, _readings((behind, language.tag)).kinds.asks) if behind else reading.kinds.asks
    wanted = _share_of_all(reading)
    return max(share, wanted) if wanted >= WANTED_FROM else share


def _question_behind(text: str, language: Language) -> str:
    """What a command begins with within two words, if it asks: "read me (what is on the list)"; else empty."""
    words = text.split() if language.is_command(text) else []
    rests = (" ".join(words[place:]) for place in (1, 2))
    return next((one for one in rests if language.is_question(one) and holds_question_word(one, language)), "")


def _found_behind(given: tuple[str, str | None]) -> str:
    """The question that stands behind a clause in a text; empty where there is none."""
    text, lang = given
    language, begun = languages.for_text(lang, text), languages.beginning(text)
    # "go on what do you know about it": see ``_question_behind``
    if language.is_question(text) or language.is_command(text) or not has_learned(text, lang):
        return ""
    parts = ((begun[:place].strip(), begun[place:]) for place in _places_behind(begun, language, _readings(given)))
    return next((asked for clause, asked in parts if _is_apart(clause, asked, language)), "")


def _places_behind(text: str, language: Language, reading: Reading) -> Iterator[int]:
    """Where a question may begin behind a clause, as its first words tell, and where the reader finds that it does."""
    words = text.split()
    opened = (place for place in range(CLAUSE, len(words) - ASKED + 1) if opens_question(words[place:], language))
    yield from (len(text) - len(" ".join(words[place:])) for place in opened if text.endswith(" ".join(words[place:])))
    if reading.asks_from and reading.kinds.asks >= WHOLE_FROM:
        yield reading.asks_from


def _is_apart(clause: str, asked: str, language: Language) -> bool:
    """Whether what follows a clause asks, and the clause does not: "hat sie schon" before "was gekauft" does."""
    parts = (_readings((part, language.tag)).kinds.asks for part in (asked, clause))
    return next(parts) >= BEHIND_FROM and not language.is_question(clause) and next(parts) < UNSIGNED_FROM


def _is_ruled_out(given: tuple[str, str | None]) -> bool:
    """Whether only the first words of a text ask, and the reader finds that it does not: "que sepáis que ya no como
    carne"."""
    text, lang = given
    if not has_learned(text, lang) or text.rstrip().endswith(QUESTION_MARKS):
        return False
    return _readings(given).kinds.asks < RULED_OUT


def _found_in(given: tuple[str, str | None]) -> Reading:
    text, lang = given
    # the first layers see nothing told nor asked in "let me hear what you know about the goat"
    return replace(read(languages.beginning(text), always=has_learned(text, lang)), statements=())


_ruled_out = languages.NotedResults(_is_ruled_out, ASKED_KEPT)
_readings = languages.NotedResults(_found_in, ASKED_KEPT)
_asked_behind = languages.NotedResults(_found_behind, ASKED_KEPT)
_asked = languages.NotedResults(_found_to_ask, ASKED_KEPT)
"""What was found of the last texts: hits of one question are those of the next, and what is learned from is noted."""


LIKE_STATEMENTS = frozenset({"ca", "es", "fr", "gl", "it", "pt"})
"""Languages in which a question may have the same words, in the same order, as a statement."""
SHORT = 4
"""Words at most of a text in which the reader takes a statement of these languages for a question."""


def is_echo(text: str, told_before: Sequence[str]) -> bool:
    """Whether these are the very words of something that the assistant said before."""
    bare = f" {' '.join(languages.fold(text))} "
    return any(bare in f" {' '.join(languages.fold(told))} " for told in told_before)


def takes_back(text: str, lang: str | None) -> bool:
    """Whether somebody says that what they just said is not so: "that was a joke"."""
    language = languages.for_text(lang, text)
    words = f" {' '.join(languages.fold(text))} "
    return any(f" {' '.join(phrase)} " in words for phrase in naming.naming_words(language.tag).jokes)


def unstated_reason(sentence: str, lang: str | None, span: tuple[int, int]) -> str | None:
    """Why a sentence does not state what stands in a span of it: "question", "quotation", "unsure", "taken_back",
    "other_person"; None where it may."""
    language = languages.for_text(lang, sentence)
    reading = read(sentence)
    if is_question(sentence, language, reading):
        return "question"
    told = next((one for one in reading.statements if _overlap(one.value, span)), None)
    if told is not None:
        # of whom it is said stands outside of the span: "my sister hates olives" does not say who hates olives
        is_of_other = told.who is not None and not _overlap(told.who, span)
        return UNSTATED.get(told.saying, "unsure" if is_of_other else None)
    # what the reader knows no slot for, words before it may turn: "my brother says the moon is cheese"
    return "unsure" if naming.has_content(language.without_lead(sentence[: span[0]]), language) else None


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and one[1] > other[0]


UNSTATED = {**REFUSED, "unsure": "unsure", "over": "taken_back", "denied": "taken_back"}
"""Kinds of saying by which nothing is stated, and the reason that is given."""
