"""Which statements a question about the talk itself asks for: "what did grandma just tell you about the boiler".

Who said it, when, and about what are weighed together, each as far as the question names it: a judge that reads one
remark beside the question sees neither the time nor who spoke last.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from ovos_persona_memory.records import Hit, Scope
from ovos_persona_memory.search.answer_judge import AnswerJudge, said_by
from ovos_persona_memory.search.hits import hit_of
from ovos_persona_memory.search.query import Question, first_name, named_speakers
from ovos_persona_memory.search.recall import outdated_turns
from ovos_persona_memory.search.several_answers import logit
from ovos_persona_memory.search.topic_statements import READ_AT_MOST, Statements
from ovos_persona_memory.stores import Store
from ovos_persona_memory.text import languages, prepositions, telling_words, time_expressions

WEIGHTS = (
    *(0.69, 0.82, -0.82, -0.37, 0.37, 1.00, -1.00, 0.48, -0.48),
    *(1.49, -1.49, -0.96, -0.48, -0.53, -0.59, 0.56, 0.61, -0.56),
)
"""Of each of ``signs`` (``training/fit_what_was_said.py``)."""
OF_ANOTHER, OF_NOBODY, HOLDS, HELD, HOLDS_NOT = 2, (7, 8), 15, 16, 17
"""The places among the signs of whether another is named than who said it, whether nobody is, whether a statement holds
what was spoken of, how much of it, and whether it does not."""
SURENESS, SURENESS_BIAS = (-1.31, 1.55, 2.21, 0.61), -1.81
"""The weights of what tells whether the likeliest statement is asked for at all: whether it holds what was spoken of,
how much, its share of the probability, and its sum."""
TOLD_FROM = 0.15
"""Where it is named what was spoken of, something is told with such a probability, >=: so 126 of 126 questions for
which the likeliest is right are answered, 19 of 26 others, and 77 of the 152 whose answer was taken out of the talk
(149 weeks, 2026-12-01)."""
ALSO_FROM, ALSO_LAST_FROM, AT_MOST = 0.35, 0.7, 3
"""What is as likely as this share of the likeliest, >=, is told with it, as the second where neither a time nor a topic
is named, so that the last is meant; so many, most."""
JUDGED = 8
"""Statements that the judge reads, most: those that are the likeliest without it."""
UNJUDGED = 0.5
"""What the judge is taken to say of the others."""
LATELY_S = 14 * 86400.0
"""Where no time is named, what was said within this time, seconds, may be asked for."""
HOUR_S = 3600.0


@dataclass(frozen=True)
class _Asked:
    """What a question about the talk names."""

    topic: frozenset[str]
    """Content words of what was spoken of: neither names of speakers, nor relations, times and verbs of telling."""
    person: str | None
    """The folded first name of who said it."""
    names_relation: bool
    """Whether it names who said it as "my wife", "grandma"."""
    names_asker: bool
    """Whether who asks is a subject in it, "what did i tell you"."""
    span: time_expressions.TimeSpan | None

    @classmethod
    def of(cls, question: Question, said: Sequence[Hit]) -> _Asked:
        """``said``: the statements among which it is looked for."""
        spoken, words = question.spoken, languages.fold(question.text)
        named = named_speakers(question, {name for hit in said if (name := first_name(hit.speaker))})
        behind = prepositions(spoken.tag) - _folded(spoken.tag, "articles.list")
        subjects = [word for place, word in enumerate(words) if not place or words[place - 1] not in behind]
        person = next((named[word] for word in subjects if word in named), None)
        relations = _relations(spoken.tag)
        names_relation = any(
            word in relations and behind.isdisjoint(words[max(place - 2, 0) : place])
            for place, word in enumerate(words)
        )
        names_asker = not _subjects_of_asker(spoken.tag).isdisjoint(words)
        return cls(_topic(question, {*named, *relations}), person, names_relation, names_asker, _span(question))


def said_as_asked(store: Store, question: Question, scope: Scope, judge: AnswerJudge) -> list[Hit]:
    """The statements that a question about the talk asks for, the likeliest first; empty where none probably is.

    Where it names no time, but what was spoken of, everything that was said of it lately follows, the newest first.
    """
    statements, span = Statements(store, question, scope, judge), _span(question)
    since, until = (question.said_at - LATELY_S, question.said_at) if span is None else (span.since, span.until)
    turns = [turn for turn in store.turns(scope, READ_AT_MOST, since, until) if statements.may_state(turn)]
    ended = outdated_turns(store, turns)
    turns = [turn for turn in turns if turn.seq not in ended]
    said = [hit_of(turn, 0.0, True, "was said then") for turn in turns]
    rows = signs([(hit, UNJUDGED) for hit in said], question)
    likeliest = sorted(range(len(said)), key=lambda place: -weighed(rows[place]))
    looked_at = list(islice((place for place in likeliest if statements.states(turns[place])), JUDGED))
    remarks = [(languages.beginning(said[at].text), said_by(said[at], question.asker)) for at in looked_at]
    judgements = dict(zip(looked_at, judge.answering(question.text, remarks), strict=True)) if remarks else {}
    rows = signs([(hit, judgements.get(place, UNJUDGED)) for place, hit in enumerate(said)], question)
    told = _told({place: rows[place] for place in looked_at}, span is not None)
    if span is None:
        held = [place for place in _holding(rows) if statements.states(turns[place])]
        told = [one for one in told if not held or one[0] in held or not any(rows[one[0]][way] for way in OF_NOBODY)]
        told += [(place, TOLD_FROM) for place in held if place not in dict(told)]
    return [replace(said[at], answers=True, part=len(told) > 1, confidence=round(share, 3)) for at, share in told]


def _holding(rows: Sequence[Sequence[float]]) -> list[int]:
    """The places of the statements that hold most of what was spoken of, of whoever is named, the newest first."""
    of_whom = [place for place, row in enumerate(rows) if not row[OF_ANOTHER]]
    most = max((rows[place][HELD] for place in of_whom), default=0.0)
    return [place for place in reversed(of_whom) if most and rows[place][HELD] >= most]


def _told(rows: Mapping[int, Sequence[float]], names_time: bool) -> list[tuple[int, float]]:
    """The places of the statements that are asked for, the likeliest first, each with its probability."""
    sums = {place: weighed(row) for place, row in rows.items()}
    most = max(sums.values(), default=0.0)
    likely = {place: math.exp(one - most) for place, one in sums.items()}
    best = sorted(likely, key=lambda place: -likely[place])[:AT_MOST]
    if not best:
        return []
    is_held, is_named = any(row[HOLDS] for row in rows.values()), any(row[HOLDS_NOT] for row in rows.values())
    sure = sureness(rows[best[0]], likely[best[0]] / sum(likely.values())) if is_held or is_named else 1.0
    names_nothing_known = is_named and not is_held and any(rows[best[0]][place] for place in OF_NOBODY)
    if names_nothing_known or sure < TOLD_FROM:
        return []
    also_from = ALSO_FROM if names_time or is_held or is_named else ALSO_LAST_FROM
    return [(place, sure) for place in best if likely[place] >= also_from]


def weighed(row: Sequence[float]) -> float:
    """How likely a statement with these ``signs`` is asked for, as a sum: of several the highest is."""
    return sum(weight * sign for weight, sign in zip(WEIGHTS, row, strict=True))


def sureness(row: Sequence[float], share: float) -> float:
    """The probability that the likeliest statement, which has such a share of the probability, is asked for at all."""
    shown = (row[HOLDS], row[HELD], share, weighed(row))
    total = SURENESS_BIAS + sum(weight * sign for weight, sign in zip(SURENESS, shown, strict=True))
    return 1.0 / (1.0 + math.exp(-total))


def signs(said: Sequence[tuple[Hit, float]], question: Question) -> list[tuple[float, ...]]:
    """Of each statement what tells whether it is asked for; ``said``: oldest first, each with what the judge gives it.

    The logit of the judge; whether it is of who is named, and of another; of who asks, and of another, where a
    relation is named, where who asks is a subject, and where nobody is; whether it was said at the time that is named,
    and at another; where none is named, the logarithm of the hours since, where no statement holds what was spoken of,
    and where one does; that of how many of the same person came after it, where a topic is named, and where not;
    whether it holds what was spoken of, how much of it, and not.
    """
    asked, asker = _Asked.of(question, [hit for hit, _ in said]), first_name(question.asker)
    held = {hit.id: len(asked.topic & _terms(hit)) for hit, _ in said}
    is_known, later = any(held.values()), Counter[str | None]()
    rows: list[tuple[float, ...]] = []
    for hit, judgement in reversed(said):
        speaker = first_name(hit.speaker)
        is_then = asked.span is not None and asked.span.since <= hit.at < asked.span.until
        hours = max(question.said_at - hit.at, 0.0) / HOUR_S
        row = (
            logit(judgement),
            *_whose(asked, speaker, None in (speaker, asker) or speaker == asker),
            is_then,
            asked.span is not None and not is_then,
            math.log1p(hours) * (asked.span is None and not is_known),
            math.log1p(hours) * (asked.span is None and is_known),
            math.log1p(later[speaker]) * bool(asked.topic),
            math.log1p(later[speaker]) * (not asked.topic),
            held[hit.id] > 0,
            held[hit.id] / max(len(asked.topic), 1),
            bool(asked.topic) and not held[hit.id],
        )
        rows.append(tuple(map(float, row)))
        later[speaker] += 1
    return rows[::-1]


def _whose(asked: _Asked, speaker: str | None, is_own: bool) -> list[bool]:
    is_named = asked.person is not None
    relation, own = asked.names_relation, asked.names_asker and not asked.names_relation
    ways = [not is_named and way for way in (relation, own, not (relation or own))]
    by_name = [is_named and speaker == asked.person, is_named and speaker != asked.person]
    return [*by_name, *(way and is_own is wanted for way in ways for wanted in (True, False))]


def _span(question: Question) -> time_expressions.TimeSpan | None:
    return time_expressions.parse_time_span(question.text, question.spoken, question.asked_at)


def _terms(hit: Hit) -> set[str]:
    return set(languages.for_text(hit.lang, hit.text).content_words(hit.text))


def _topic(question: Question, names: set[str]) -> frozenset[str]:
    spoken = question.spoken
    listed = (_folded(spoken.tag, name) for name in ("asking.list", "just_said.patterns"))
    small = telling_words(spoken.tag).union(names, *listed)
    others = {stem for word in small for stem in spoken.words(word)} | spoken.time_words
    words = set(question.content_words) - others
    return frozenset(
        word for word in words if time_expressions.parse_time_span(word, spoken, question.asked_at) is None
    )


@lru_cache(maxsize=64)
def _folded(tag: str, name: str) -> frozenset[str]:
    """The folded words of a list of a language."""
    return frozenset(word for line in languages.for_language(tag).lines(name) for word in languages.fold(line))


@lru_cache(maxsize=64)
def _relations(tag: str) -> frozenset[str]:
    """Folded single words for what somebody is to somebody: "dad", "sister"."""
    listed = dict(languages.for_language(tag).pairs("people.list"))
    rows = (languages.fold(one) for row in ("one", "many") for one in listed.get(row, "").replace("=", ",").split(","))
    return frozenset(words[0] for words in rows if len(words) == 1)


@lru_cache(maxsize=64)
def _subjects_of_asker(tag: str) -> frozenset[str]:
    """The folded pronouns of who asks, and nobody else, as a subject: "i"."""
    spoken = languages.for_language(tag)
    lists = dict(spoken.pairs("memory_words.list")) | {"shared": dict(spoken.pairs("people.list")).get("shared", "")}
    own, others, shared = (set(languages.fold(lists.get(row, ""))) for row in ("self", "others", "shared"))
    return frozenset(own - others - shared)
