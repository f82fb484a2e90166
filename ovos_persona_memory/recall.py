"""From a question to hits: what was said or kept that bears on it, best first."""

from __future__ import annotations

from dataclasses import dataclass

from ovos_persona_memory import language
from ovos_persona_memory.language import Language
from ovos_persona_memory.records import Entry, Hit, Scope, Turn
from ovos_persona_memory.stores.base import Found, Store

KINDS = frozenset({"turn", "memory"})
CANDIDATES = 50
"""Found documents that are looked at closely for one question."""
LESS_FOR_QUESTIONS = 0.5
LESS_FOR_OTHERS_WORDS = 0.8
"""Factors on the score: a question answers nothing, and people are asked for their own words first."""


@dataclass(frozen=True)
class Question:
    """What is asked, by whom, and what must not answer it."""

    text: str
    lang: str | None = None
    utterance_id: str | None = None
    """Turns of this utterance are left out: it does not answer itself."""
    said_after: float | None = None
    """Turns with the question's very words said since then are left out, seconds since the epoch, UTC."""


def recall(store: Store, question: Question, scope: Scope, k: int, kinds: frozenset[str] = KINDS) -> list[Hit]:
    """At most ``k`` hits in scope: sure ones first, then by score; empty when no word is found."""
    spoken = language.of(question.lang)
    asked = spoken.content_words(question.text)
    if not asked or k <= 0:
        return []
    searched = list(dict.fromkeys(other for word in asked for other in (word, *sorted(spoken.alike(word)))))
    found = store.search(searched, scope, kinds, max(CANDIDATES, 2 * k))
    hits = [_hit(one, question, asked, spoken) for one in found if not _is_the_question(one, question)]
    hits.sort(key=lambda hit: (not hit.sure, -hit.score))
    return hits[:k]


def _is_the_question(found: Found, question: Question) -> bool:
    turn = found.record
    if not isinstance(turn, Turn) or turn.role != "user":
        return False
    if question.utterance_id is not None and turn.utterance_id == question.utterance_id:
        return True
    fresh = question.said_after is not None and (turn.at or 0.0) >= question.said_after
    return fresh and language.fold(turn.text) == language.fold(question.text)


def _hit(found: Found, question: Question, asked: list[str], spoken: Language) -> Hit:
    record = found.record
    covered = [word for word in asked if spoken.alike(word) & found.words]
    asks = _is_question(record)
    tells = isinstance(record, Entry) or language.of(record.lang).is_statement(record.text)
    own_words = isinstance(record, Entry) or record.role == "user"
    score = found.score * len(covered) / len(asked)
    score *= (LESS_FOR_QUESTIONS if asks else 1.0) * (1.0 if own_words else LESS_FOR_OTHERS_WORDS)
    sure = own_words and tells and len(covered) == len(asked) and _has_what_is_asked_for(record, question, spoken)
    return _as_hit(record, score, sure, _reason(covered, asked))


def _is_question(record: Turn | Entry) -> bool:
    return isinstance(record, Turn) and language.of(record.lang).is_question(record.text)


def _has_what_is_asked_for(record: Turn | Entry, question: Question, spoken: Language) -> bool:
    needed = spoken.asks_for(question.text)
    return needed is None or not needed.isdisjoint(spoken.words(record.text))


def _reason(covered: list[str], asked: list[str]) -> str:
    words = ", ".join(covered)
    return f"has all that was asked for: {words}" if len(covered) == len(asked) else f"has some of it: {words}"


def _as_hit(record: Turn | Entry, score: float, sure: bool, reason: str) -> Hit:
    turn = record if isinstance(record, Turn) else None
    entry = record if isinstance(record, Entry) else None
    return Hit(
        id=record.id,
        kind="turn" if turn else "memory",
        text=record.text,
        score=score,
        sure=sure,
        reason=reason,
        at=(turn.at if turn else entry.updated_at if entry else None) or 0.0,
        role=turn.role if turn else "user",
        speaker=turn.speaker if turn else None,
        session_id=record.session_id,
        user_id=record.user_id,
        key=entry.key if entry else None,
        lang=record.lang,
    )
