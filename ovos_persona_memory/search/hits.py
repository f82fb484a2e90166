"""Found records as hits: their numbers, speakers and texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from ovos_persona_memory.records import Entry, Fact, Hit, HitKind, Role, Turn
from ovos_persona_memory.search.ranking import told_of
from ovos_persona_memory.text import DaySpan, languages

Record = Turn | Entry | Fact
FACTS = 1 << 40
"""A fact's ``doc`` is minus its ``seq`` minus this: below the numbers of all memories."""
WRITTEN_BY = "by"
"""Metadata of a memory: "assistant" where the assistant wrote it on its own. It answers nothing then."""


def role_of(record: Record) -> Role:
    """The role of a record's speaker; for a memory the user, unless its metadata name the assistant as its writer."""
    if isinstance(record, Turn):
        return record.role
    if isinstance(record, Fact):
        return "user"
    return "assistant" if record.metadata.get(WRITTEN_BY) == "assistant" else "user"


def is_of_speaker(record: Record | Hit) -> bool:
    """Whether a text is about its speaker and addresses nobody: "my name is anna", but not "your name is scribe"."""
    spoken, said = languages.for_text(record.lang, record.text), set(languages.fold(record.text or ""))
    to_somebody = not said.isdisjoint(spoken.swaps.values())
    is_fact = isinstance(record, Fact) or (isinstance(record, Hit) and record.kind == "fact")
    return is_fact or (not to_somebody and not said.isdisjoint(spoken.swaps))


def doc_of(record: Record) -> int:
    """The number of a record among all results: a turn's ``seq``, minus a memory's, a fact's below those."""
    if isinstance(record, Fact):
        return -FACTS - record.seq
    return record.seq if isinstance(record, Turn) else -record.seq


def hit_of(record: Record, score: float, answers: bool, reason: str, outdated: bool = False) -> Hit:
    """The record as a hit; one that ``answers`` is sure, too."""
    return Hit(
        id=record.id,
        kind=_kind(record),
        text=record.text,
        score=score,
        sure=answers,
        reason=reason,
        at=_at(record),
        role=role_of(record),
        speaker=record.speaker,
        session_id=record.session_id,
        user_id=record.user_id,
        key=record.key if isinstance(record, Entry) else record.id if isinstance(record, Fact) else None,
        lang=record.lang,
        persona_id=record.persona_id,
        answers=answers,
        outdated=outdated,
        secret=isinstance(record, Entry) and record.secret,
    )


def _kind(record: Record) -> HitKind:
    if isinstance(record, Fact):
        return "fact"
    return "turn" if isinstance(record, Turn) else "memory"


def _at(record: Record) -> float:
    if isinstance(record, Fact):
        return record.last_seen_at
    return (record.at if isinstance(record, Turn) else record.updated_at) or 0.0


def unsure_if_date_mismatch(hits: Sequence[Hit], dates: Sequence[DaySpan], zone: tzinfo | None) -> list[Hit]:
    """The hits. If the question names days, they stay sure only when at least one sure hit was said on one of those
    days or names it; otherwise all are unsure."""
    if not dates or any(hit.sure and _tells_of(hit, dates, zone) for hit in hits):
        return list(hits)
    return [replace(hit, sure=False, answers=False) for hit in hits]


def _tells_of(hit: Hit, dates: Sequence[DaySpan], zone: tzinfo | None) -> bool:
    day, words = datetime.fromtimestamp(hit.at, zone).date(), set(languages.fold(hit.text))
    return any(told_of(day, span) or (span.by_itself and span.words and span.words <= words) for span in dates)
