"""From a question to hits: what was said or kept that bears on it, best first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from ovos_persona_memory import language
from ovos_persona_memory.question import Asked, Question, understand
from ovos_persona_memory.ranking import REACH, Candidate, Scored, is_known, rank
from ovos_persona_memory.records import Entry, Hit, Scope, Turn
from ovos_persona_memory.stores.base import Beside, Found, Store, kind_of, words_of

KINDS = frozenset({"turn", "memory"})
BY_WORDS, BY_LIKE_WORDS = 60, 20
"""Documents that are looked at closely for one question: by its words, and by words that answer for them."""
COMPANIONS = 10
"""So many of the best hits are sure for a question about what was surely talked about."""


def recall(store: Store, question: Question, scope: Scope, k: int, kinds: frozenset[str] = KINDS) -> list[Hit]:
    """At most ``k`` hits in scope: those that answer first, then by score; empty when no word is found."""
    spoken = question.spoken
    words = spoken.content_words(question.text)
    if not words or k <= 0:
        return []
    found = _found(store, question, words, scope, kinds)
    table = _Table(store, found, scope)
    asked = understand(question, table.speakers())
    statistics = store.statistics(asked.words, scope.user_id or _user_of(found))
    ranked = rank(table.candidates(asked, spoken.time_words), asked, statistics)
    return _hits(_Judge(question, words, scope), table, ranked, k)


def _found(store: Store, question: Question, words: Sequence[str], scope: Scope, kinds: frozenset[str]) -> list[Found]:
    """The documents with the question's words; those with words alike behind them."""
    found = store.search(words, scope, kinds, BY_WORDS)
    alike = [other for word in words for other in sorted(question.spoken.alike(word)) if other != word]
    if alike:
        more = store.search([*words, *alike], scope, kinds, BY_LIKE_WORDS)
        known = {(kind_of(one.record), one.record.id) for one in found}
        found += [one for one in more if (kind_of(one.record), one.record.id) not in known]
    return [one for one in found if not _is_the_question(one.record, question)]


def _user_of(found: Sequence[Found]) -> str:
    # with everybody's records in scope the statistics are those of the user who has most to say on it
    return Counter(one.record.user_id for one in found).most_common(1)[0][0] if found else ""


def _is_the_question(record: Turn | Entry, question: Question) -> bool:
    if not isinstance(record, Turn) or record.role != "user":
        return False
    if question.utterance_id is not None and record.utterance_id == question.utterance_id:
        return True
    fresh = question.said_after is not None and (record.at or 0.0) >= question.said_after
    return fresh and language.fold(record.text) == language.fold(question.text)


class _Table:
    """What was found and the talk around it, by ``doc``: a turn's ``seq``, or minus a memory's."""

    def __init__(self, store: Store, found: Sequence[Found], scope: Scope) -> None:
        self._store = store
        self._records = {_doc(one.record): one.record for one in found}
        turns = [one.record for one in found if isinstance(one.record, Turn)]
        self._besides: dict[int, tuple[Beside, str]] = {}
        self._before: dict[int, int] = {}
        self._after: dict[int, int] = {}
        for turn, talk in zip(turns, store.around(turns, REACH, scope.persona_id), strict=True):
            self._lay_out(turn, talk)
        self._closed = scope.site_id is not None or scope.task_id is not None

    def _lay_out(self, turn: Turn, talk: Sequence[Beside]) -> None:
        session = f"{turn.user_id}/{turn.session_id}" if turn.session_id is not None else f"{turn.seq}"
        for beside in talk:
            self._besides[beside.seq] = (beside, session)
        for earlier, later in pairwise(talk):
            self._after[earlier.seq] = later.seq
            self._before[later.seq] = earlier.seq

    def speakers(self) -> set[str]:
        """The folded first names of everybody who speaks here."""
        return {name for beside, _ in self._besides.values() if (name := _first_name(beside.speaker))}

    def candidates(self, asked: Asked, time_words: frozenset[str]) -> list[Candidate]:
        """Everything here as the ranking takes it."""
        wanted = set(asked.words)
        made = [self._of_turn(beside, session, wanted, time_words) for beside, session in self._besides.values()]
        entries = (record for record in self._records.values() if isinstance(record, Entry))
        return [*made, *(_of_entry(entry, wanted, time_words) for entry in entries)]

    def _of_turn(self, beside: Beside, session: str, wanted: set[str], time_words: frozenset[str]) -> Candidate:
        words = words_of(beside.words)
        return Candidate(
            doc=beside.seq,
            times=Counter(word for word in words if word in wanted),
            length=len(words),
            at=beside.at,
            day=datetime.fromtimestamp(beside.at).date(),
            speaker=_first_name(beside.speaker),
            by_user=beside.role == "user",
            has_time=not time_words.isdisjoint(words),
            session=session,
            before=self._before.get(beside.seq),
            after=self._after.get(beside.seq),
        )

    def record(self, doc: int) -> Turn | Entry | None:
        """The record behind a candidate; None where it is only there for what stands beside it."""
        if doc in self._records or self._closed:
            return self._records.get(doc)
        return self._store.turn(self._besides[doc][0].id)


def _doc(record: Turn | Entry) -> int:
    return record.seq if isinstance(record, Turn) else -record.seq


def _first_name(speaker: str | None) -> str | None:
    return next(iter(language.fold(speaker or "")), None)


def _of_entry(entry: Entry, wanted: set[str], time_words: frozenset[str]) -> Candidate:
    words = language.of(entry.lang).words(f"{entry.key} {entry.text}")
    return Candidate(
        doc=-entry.seq,
        times=Counter(word for word in words if word in wanted),
        length=len(words),
        has_time=not time_words.isdisjoint(words),
        session=f"memory {entry.seq}",
    )


class _Judge:
    """Tells whether a record answers the question, and why it was found."""

    def __init__(self, question: Question, words: Sequence[str], scope: Scope) -> None:
        self._question, self._words, self._scope = question, words, scope
        self._alike = {word: question.spoken.alike(word) for word in words}
        self._needed = question.spoken.asks_for(question.text)

    def hit(self, record: Turn | Entry, score: float) -> Hit:
        """The record as a hit, not yet sure unless it answers."""
        own = language.of(record.lang)
        held = set(own.words(record.text if isinstance(record, Turn) else f"{record.key} {record.text}"))
        covered = [word for word in self._words if self._alike[word] & held]
        by_person = isinstance(record, Entry) or record.role == "user"
        tells = isinstance(record, Entry) or own.is_statement(record.text)
        fits = self._needed is None or not self._needed.isdisjoint(held)
        answers = by_person and tells and fits and len(covered) == len(self._words)
        return _as_hit(record, score, answers, _reason(covered, self._words))

    def is_foreign(self, record: Turn | Entry) -> bool:
        """Whether it stood beside a hit but must not be one."""
        return _is_the_question(record, self._question)


def _hits(judge: _Judge, table: _Table, ranked: Sequence[Scored], k: int) -> list[Hit]:
    """Hits that answer first; of a question that was surely talked about, the best are sure too."""
    looked_at = [(one, table.record(one.candidate.doc)) for one in ranked[: max(4 * k, BY_WORDS)]]
    hits = [judge.hit(record, one.score) for one, record in looked_at if record and not judge.is_foreign(record)]
    hits.sort(key=lambda hit: not hit.answers)
    known = is_known(ranked)
    return [replace(hit, sure=hit.answers or (known and place < COMPANIONS)) for place, hit in enumerate(hits[:k])]


def _reason(covered: Sequence[str], asked: Sequence[str]) -> str:
    words = ", ".join(covered)
    if len(covered) == len(asked):
        return f"has all that was asked for: {words}"
    return f"has some of it: {words}" if covered else "stands beside what has some of it"


def _as_hit(record: Turn | Entry, score: float, answers: bool, reason: str) -> Hit:
    turn = record if isinstance(record, Turn) else None
    entry = record if isinstance(record, Entry) else None
    return Hit(
        id=record.id,
        kind="turn" if turn else "memory",
        text=record.text,
        score=score,
        sure=answers,
        reason=reason,
        at=(turn.at if turn else entry.updated_at if entry else None) or 0.0,
        role=turn.role if turn else "user",
        speaker=turn.speaker if turn else None,
        session_id=record.session_id,
        user_id=record.user_id,
        key=entry.key if entry else None,
        lang=record.lang,
        answers=answers,
    )


def answering(hits: Iterable[Hit]) -> list[Hit]:
    """The hits that can be quoted as the answer."""
    return [hit for hit in hits if hit.answers]
