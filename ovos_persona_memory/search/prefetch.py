"""Recall with the store's clock, indexer and date parser, and prefetched hits for the next context request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, cast

from ovos_persona_memory.records import ACCEPTED, ContextRequest, Hit, Scope
from ovos_persona_memory.search import episode_search
from ovos_persona_memory.search.answer_judge import AnswerJudge, breadth_of, judged
from ovos_persona_memory.search.query import ITSELF_S, Question
from ovos_persona_memory.search.recall import CALLED_OFF, KINDS, recall
from ovos_persona_memory.search.topic_statements import Span, said_before, statements_about, statements_in, topic_of
from ovos_persona_memory.search.vector_indexer import Indexer, SemanticSearch
from ovos_persona_memory.search.what_was_said import said_as_asked
from ovos_persona_memory.stores import Store
from ovos_persona_memory.text import Dates, languages, named_days

FORESEEN_S = 20.0
"""Lifetime of prefetched hits, seconds."""
A_FEW = 4
"""Remarks that are judged in one go while somebody may come to wait: about a tenth of a second of a slow core."""


@dataclass(frozen=True)
class _PrefetchedHits:
    """Hits found before they were requested, and the request that they answer."""

    request: ContextRequest
    k: int
    at: float
    hits: list[Hit]

    def answers(self, request: ContextRequest, k: int, now: float) -> bool:
        """Whether the request asks for the same now; records that changed are checked separately."""
        return k == self.k and 0 <= now - self.at < FORESEEN_S and _asked_of(request) == _asked_of(self.request)


class _Interrupted(Exception):
    """What is looked up beforehand is left, since somebody waits for something else."""


class _Interruptible:
    """A judge that is left, with ``_Interrupted``, as soon as somebody waits; what it found by then is kept by what it
    judges with."""

    def __init__(self, judge: AnswerJudge, is_awaited: Callable[[], bool]) -> None:
        self._judge, self._is_awaited = judge, is_awaited

    def __getattr__(self, name: str) -> Any:
        return getattr(self._judge, name)

    def answering(self, question: str, remarks: Sequence[tuple[str, str | None]]) -> Sequence[float]:
        """See AnswerJudge; a few remarks at a time."""
        found: list[float] = []
        for first in range(0, len(remarks), A_FEW):
            if self._is_awaited():
                raise _Interrupted
            found += self._judge.answering(question, remarks[first : first + A_FEW])
        return found


class Prefetch:
    """Recall with the arguments that every question shares."""

    def __init__(
        self, store: Store, clock: Callable[[], float], indexer: Indexer | None, judge: AnswerJudge | None = None
    ) -> None:
        """``judge``: sees which hits answer where words do not tell; None: words alone decide."""
        self._store, self._clock, self._indexer, self._judge = store, clock, indexer, judge
        self._foreseen: _PrefetchedHits | None = None
        self.dates: Dates = named_days
        """The parser of date expressions; an edge may set a better one."""
        self.timezone: str | None = None
        """The default time zone, an IANA name; None: that of the system's clock."""

    def hits(
        self,
        question: Question,
        scope: Scope,
        k: int,
        kinds: Set[str] | None = None,
        is_awaited: Callable[[], bool] | None = None,
    ) -> list[Hit]:
        """See ``recall``; the question's moment, parser and time zone are filled in. Episodes come last, never sure.

        By words alone where secrets are in scope, which have no vectors, as a question for one has none, and where
        it is a list of words. Of memories only those of the scope's status are found, accepted ones unless it names
        another. ``is_awaited``: whether somebody waits for something else; judging is left then, ``_Interrupted``.
        """
        judge = None if question.by_words else self._judge
        if judge is not None and is_awaited is not None:
            judge = cast("AnswerJudge", _Interruptible(judge, is_awaited))
        part = question.text if judge is None else judge.asked_in(question.text, question.lang)
        if judge is not None and part != question.text:
            question = replace(question, text=part, said=question.text if question.said is None else question.said)
        asked = replace(
            question,
            at=self._clock() if question.at is None else question.at,
            dates=self.dates,
            timezone=question.timezone or self.timezone,
        )
        scope = replace(scope, status=scope.status or ACCEPTED)
        with_status = KINDS if scope.takes(ACCEPTED) else frozenset({"memory"})
        meaning = None if scope.secrets or question.by_words else self.meaning()
        number = k if judge is None or k <= 0 else max(k, breadth_of(question, judge).among)
        found = recall(self._store, asked, scope, number, with_status & (KINDS if kinds is None else kinds), meaning)
        if judge is not None and k > 0:
            found = self._judged(found, asked, scope, judge, is_of_turns=kinds is None or "turn" in kinds)
        found = found[:k]
        if kinds is not None and "episode" in kinds and scope.takes(ACCEPTED):
            log, left = self._store.episode_store, k - len(found)
            found += episode_search.search_episodes(log, languages.beginning(question.text), question.lang, scope, left)
        return found

    def _judged(
        self, found: Sequence[Hit], asked: Question, scope: Scope, judge: AnswerJudge, is_of_turns: bool
    ) -> list[Hit]:
        """The hits as the judge sees them, and before them what a question about the talk itself asks for."""
        if is_of_turns and judge.asks_what_was_said(asked.text, asked.lang):
            said = said_as_asked(self._store, asked, scope, judge)
            ids = {hit.id for hit in said}
            if said:
                return [*said, *(replace(hit, answers=False, sure=False) for hit in found if hit.id not in ids)]
        before = said_before(self._store, found[: breadth_of(asked, judge).among], scope.persona_id)
        return judged(found, asked, judge, self._certain_in(found), before)

    def found(  # more than five: the question, and what of it is wanted
        self, asked: Question, scope: Scope, k: int, kinds: Collection[str] | None, about: bool, within: Span
    ) -> list[Hit]:
        """Statements ``about`` what is asked, or made within a time; otherwise ``hits``."""
        if about or within != (None, None):
            return self.statements(asked, scope, k, None if about else within)
        return self.hits(asked, scope, k, None if kinds is None else frozenset(kinds))

    def statements(self, topic: Question, scope: Scope, k: int, within: Span | None = None) -> list[Hit]:
        """See ``statements_about``, and ``statements_in`` where a time is given; the question's moment is filled in."""
        asked = replace(topic, at=self._clock() if topic.at is None else topic.at)
        if within is not None:
            return statements_in(self._store, asked, scope, within, self._judge)[-k:] if k > 0 else []
        return statements_about(self._store, asked, replace(scope, status=scope.status or ACCEPTED), k, self._judge)

    def topic_of(self, asked: Question, scope: Scope) -> str:
        """See ``topic_of``."""
        return topic_of(self._store, asked, replace(scope, status=scope.status or ACCEPTED), self._judge)

    def _certain_in(self, hits: Sequence[Hit]) -> set[str]:
        """The ids of turns that answer, and are, word by word, facts that hold, or called off what was asked for."""
        said = {hit.id: languages.fold(hit.text) for hit in hits if hit.kind == "turn" and hit.answers}
        learned = self._store.fact_store.of_turns(list(said)) if said else []
        holding = [(one.turn_id or "", languages.fold(one.text)) for one in learned if one.status == "active"]
        facts = {turn_id for turn_id, words in holding if said.get(turn_id) == words}
        return facts | {hit.id for hit in hits if hit.reason == CALLED_OFF}

    def meaning(self) -> SemanticSearch | None:
        """Search by meaning; None where there is no embedder, or it is not loaded yet."""
        return self._indexer.meaning() if self._indexer is not None else None

    def sure_hits(self, request: ContextRequest, k: int, now: float) -> list[Hit]:
        """The sure hits for an utterance, from the whole memory of its user."""
        foreseen = self._foreseen
        if foreseen is not None and foreseen.answers(request, k, now) and all(map(self._is_there, foreseen.hits)):
            return foreseen.hits
        return self._sure(request, k, now)

    def _is_there(self, hit: Hit) -> bool:
        """Whether a hit's record is unchanged: another device with the same store may have deleted it meanwhile."""
        if hit.kind == "turn":
            turn = self._store.turn(hit.id)
            return turn is not None and turn.text == hit.text
        if hit.kind == "fact":
            fact = self._store.fact_store.fact(hit.id)
            return fact is not None and fact.status == "active"
        entry = self._store.entry(hit.key or "", hit.user_id, hit.persona_id)
        return entry is not None and entry.text == hit.text and entry.status == ACCEPTED

    def prefetch(
        self, request: ContextRequest, k: int, now: float, is_awaited: Callable[[], bool] | None = None
    ) -> bool:
        """Find the hits of the next ``sure_hits`` call; they are kept until ``invalidate`` or the next prefetch.

        False where it was left, as ``is_awaited`` told that somebody waits for something else.
        """
        try:
            self._foreseen = _PrefetchedHits(request, k, now, self._sure(request, k, now, is_awaited))
        except _Interrupted:
            return False
        return True

    def invalidate(self) -> None:
        """Drop the prefetched hits: a record was changed."""
        self._foreseen = None

    def _sure(
        self, request: ContextRequest, k: int, now: float, is_awaited: Callable[[], bool] | None = None
    ) -> list[Hit]:
        asked = Question(request.utterance, request.lang, request.utterance_id, now - ITSELF_S, now)
        asked = replace(asked, timezone=request.timezone, asker=request.asker, by_persona=True)
        hits = self.hits(asked, recalled_scope(request), k, is_awaited=is_awaited)
        return [hit for hit in hits if hit.sure]


def _asked_of(request: ContextRequest) -> tuple[list[str], str | None, Scope, str | None, str | None]:
    """The parts of a request that decide its hits: words, language, scope, time zone and who asks.

    The words alone: ovos-core removes the question mark before a persona hears the utterance.
    """
    return languages.fold(request.utterance), request.lang, recalled_scope(request), request.timezone, request.asker


def recalled_scope(request: ContextRequest) -> Scope:
    """The scope of recall for a persona: all records of its user, or those of the session alone."""
    session_id = request.scope.session_id if request.session else None
    return replace(request.scope, session_id=session_id, site_id=None, task_id=None)
