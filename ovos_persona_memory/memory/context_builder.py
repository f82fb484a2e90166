"""What a persona is handed for an utterance: gathered from history, recall and what is known of the person."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence, Set
from dataclasses import replace

from ovos_persona_memory import extraction
from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.conversation import Recalled, Window, compaction, prompt, strategies
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.memory.learning.audit import STALE
from ovos_persona_memory.memory.learning.confidence import confidence_at
from ovos_persona_memory.memory.learning.learner import half_lives
from ovos_persona_memory.memory.sessions import Sessions
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import (
    ACCEPTED,
    GUEST,
    OUTDATED,
    Context,
    ContextRequest,
    Entry,
    Fact,
    Hit,
    Note,
    Scope,
    Selection,
    Turn,
)
from ovos_persona_memory.search import PIN, Prefetch, episode_search, hit_of, recalled_scope
from ovos_persona_memory.stores import FactQuery
from ovos_persona_memory.text import languages, lexicon

MATTERS = {"food": ("allergy", "diet"), "health": ("allergy", "health"), "greeting": ("name",), "place": ("home",)}
"""Slots of the person that matter to an utterance about this, whether or not they share a word with it."""
LOOKED_AT = 20
"""Facts of a slot at most."""

Overflows = Callable[[str | None, str | None, strategies.Overflow], None]
"""Told of a user, a session of the user and when that overflows."""
WIDER = 3
"""So many times as many hits are looked at where one kind of them may be left out."""

PINNED_MOST = 3
"""So many of what is pinned are handed at most, beside what answers."""

SESSIONS = 64
"""So many sessions are kept in mind in which a persona asked."""


class Contexts:
    """The verb ``context`` of PersonaMemory."""

    def __init__(
        self, workings: MemoryParts, config: MemoryConfig, finding: Prefetch, sessions: Sessions, overflows: Overflows
    ) -> None:
        """``overflows``: told of each session in which a persona asks that wants its older part summarised."""
        self._workings = workings
        self._store = workings.store
        self._config = config
        self._finding = finding
        self._sessions = sessions
        self._overflows = overflows
        self._newest: OrderedDict[str | None, ContextRequest] = OrderedDict()

    def build(self, request: ContextRequest) -> Context:
        """See PersonaMemory.context."""
        if request.session and request.scope.session_id is None:
            raise InvalidRequest("session", "needs a scope with a session_id")
        now = self._workings.clock() if request.at is None else request.at
        request = replace(request, timezone=request.timezone or self._finding.timezone)
        if not request.preview:
            self._asked(request)
        window = self._window(request)
        settings = self._config.recall
        limit = self._limit(request)
        budget = settings.max_tokens if request.recall_tokens is None else request.recall_tokens
        if not self._workings.captures.may_read(request.scope):
            return prompt.build_prompt(request, [], Recalled([], limit, budget, Note()), now)
        pinned = self._pinned(request, limit)
        first = {hit.id for hit in pinned}
        hits = [hit for hit in self._hits(request, limit, now) if hit.id not in first]
        lately = self._lately(request, limit)
        note = self._sessions.note(request.scope)
        history = self._sessions.opening(request.scope, window, self._workings.clock())
        chosen = [*pinned, *hits[: max(limit - len(lately), 0)], *lately]
        recent = self._recent(request, limit, {hit.id for hit in chosen})
        recalled = Recalled([*chosen, *recent], limit + len(pinned) + len(recent), budget, note)
        most = request.context_tokens if request.context_tokens is not None else self._config.history.context_tokens
        parts = compaction.ContextParts(request, history, recalled, now)
        return compaction.fitted(parts, most, self._config.history.summary_tokens)

    def prefetch(self, turn: Turn, is_awaited: Callable[[], bool] | None = None) -> bool:
        """Find beforehand what a persona will be handed for an utterance just heard, as the last one was asked for.
        False where it was left, as ``is_awaited`` told that somebody waits for something else.

        Nothing where no persona has asked yet in its session, or nothing may be read there; nor for what asks for
        several things: many remarks are judged for it, and who waits meanwhile is answered first.
        """
        newest, now = self._newest.get(turn.session_id), self._workings.clock()
        if newest is None or newest.scope.user_id != turn.user_id or not self._reaches(newest.scope, turn):
            return True
        if extraction.asks_several(turn.text, turn.lang):
            return True
        scope = replace(newest.scope, session_id=turn.session_id, site_id=turn.site_id)
        heard = replace(newest, utterance=turn.text, lang=turn.lang, utterance_id=turn.utterance_id, asker=turn.speaker)
        request = replace(heard, scope=scope, at=None)
        limit = self._limit(request)
        if limit > 0:
            return self._finding.prefetch(request, limit * WIDER if self._limits_kinds else limit, now, is_awaited)
        return True

    def _window(self, request: ContextRequest) -> Window:
        strategy = self._sessions.strategy_of(request)
        if strategy is not None and strategy.overflow is not None:
            self._overflows(request.scope.user_id, request.scope.session_id, strategy.overflow)
        if strategy is None:
            return Window(request.max_history, request.max_rounds, request.max_tokens, request.max_age_s)
        return replace(strategy.window, max_rounds=request.max_rounds, max_age_s=request.max_age_s)

    def _asked(self, request: ContextRequest) -> None:
        self._newest[request.scope.session_id] = request
        self._newest.move_to_end(request.scope.session_id)
        while len(self._newest) > SESSIONS:
            self._newest.popitem(last=False)

    def _reaches(self, scope: Scope, turn: Turn) -> bool:
        here = replace(scope, session_id=turn.session_id, site_id=turn.site_id)
        return turn.user_id != GUEST and self._workings.captures.may_read(here)

    def _limit(self, request: ContextRequest) -> int:
        return self._config.recall.limit if request.recall is None else request.recall

    @property
    def _limits_kinds(self) -> bool:
        kinds = self._config.kinds
        return kinds.conversational.top_k is not None or kinds.facts.top_k is not None

    def _hits(self, request: ContextRequest, limit: int, now: float) -> list[Hit]:
        """What surely bears on the utterance, and behind it what is known of the person and matters to it."""
        if limit <= 0 or request.scope.user_id == GUEST:
            return []
        hits = [hit for hit in self._sure(request, limit, now) if not self._has_faded(hit, now)]
        return [*hits, *self._of_person(request, recalled_scope(request), hits, now)]

    def _pinned(self, request: ContextRequest, limit: int) -> list[Hit]:
        """What is pinned for the person, the newest first; none where nothing is recalled."""
        if limit <= 0 or request.scope.user_id == GUEST:
            return []
        scope = replace(recalled_scope(request), status=ACCEPTED)
        entries = self._store.select(Selection(scope, words=(frozenset({PIN}),), kinds=frozenset({"memory"})))
        kept: list[Entry | Fact] = [one for one in entries if isinstance(one, Entry) and not one.metadata.get(OUTDATED)]
        kept += [found.record for found in self._store.fact_store.search([PIN], scope, PINNED_MOST)]
        hits = [replace(hit_of(one, 0.0, False, "pinned"), sure=True) for one in kept]
        return sorted(hits, key=lambda hit: -hit.at)[:PINNED_MOST]

    def _lately(self, request: ContextRequest, limit: int) -> list[Hit]:
        """What happened in the session last, as many as the setting says."""
        number = min(self._config.recall.episodes, limit)
        if request.scope.user_id == GUEST:
            return []
        return episode_search.recent_episodes(self._store.episode_store, request.scope, number)

    def _recent(self, request: ContextRequest, limit: int, told: Set[str]) -> list[Hit]:
        """The lasting memories that were changed last and are not told already; none where nothing is recalled."""
        number = self._config.recall.context_entry_limit
        if number <= 0 or limit <= 0 or request.scope.user_id == GUEST:
            return []
        scope = replace(recalled_scope(request), status=ACCEPTED)
        newest = self._store.entries(scope, number * WIDER)
        fresh = [one for one in newest if one.id not in told and not one.metadata.get(OUTDATED)]
        return [replace(hit_of(one, 0.0, False, "remembered lately"), sure=True) for one in fresh[:number]]

    def _sure(self, request: ContextRequest, limit: int, now: float) -> list[Hit]:
        """The best sure hits, of no kind more than its ``top_k``."""
        kinds = self._config.kinds
        left = {"turn": kinds.conversational.top_k, "lasting": kinds.facts.top_k}
        if not self._limits_kinds:
            return self._finding.sure_hits(request, limit, now)
        taken: list[Hit] = []
        for hit in self._finding.sure_hits(request, limit * WIDER, now):
            kind = "turn" if hit.kind == "turn" else "lasting"
            most = left[kind]
            if most is None or most > 0:
                taken.append(hit)
                left[kind] = None if most is None else most - 1
        return taken[:limit]

    def _has_faded(self, hit: Hit, now: float) -> bool:
        fact = self._store.fact_store.fact(hit.id) if hit.kind == "fact" else None
        return fact is not None and not self._is_fresh(fact, now)

    def _is_fresh(self, fact: Fact, now: float) -> bool:
        return confidence_at(fact, now, half_lives(self._config.facts)) >= STALE

    def _of_person(self, request: ContextRequest, scope: Scope, hits: Sequence[Hit], now: float) -> list[Hit]:
        told = {" ".join(languages.fold(hit.text)) for hit in hits}
        facts = (
            (topic, fact)
            for topic in _topics(request)
            for slot in MATTERS[topic]
            for fact in self._store.fact_store.facts(FactQuery(scope, slot=slot, limit=LOOKED_AT))
            if not fact.subject and self._is_fresh(fact, now)
        )
        fresh = [(topic, fact) for topic, fact in facts if " ".join(languages.fold(fact.text)) not in told]
        return [replace(hit_of(fact, 0.0, False, f"about the person ({topic})"), sure=True) for topic, fact in fresh]


def _topics(request: ContextRequest) -> list[str]:
    """What of the person an utterance touches, by the lists "about_…" of its language."""
    spoken = languages.for_text(request.lang, request.utterance)
    known = lexicon.for_language(spoken.tag)
    words = known.words_of(languages.beginning(request.utterance))
    return [topic for topic in MATTERS if known.has(words, f"about_{topic}")]
