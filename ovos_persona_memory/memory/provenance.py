"""Why something is known: from a memory, a fact or a turn to where it comes from."""

from __future__ import annotations

from dataclasses import replace

from ovos_persona_memory.config import FactsConfig
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.memory.episodes import Episodes
from ovos_persona_memory.memory.learning.confidence import confidence_at
from ovos_persona_memory.memory.learning.learner import half_lives
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import Entry, EpisodesWanted, Fact, Origin, Scope, Selection, Turn, Use
from ovos_persona_memory.stores import fact_in_scope

LAST = 5
"""So many of the newest recalls of a session are looked at for something that is still there."""


class Why:
    """The verb of PersonaMemory about where memories come from."""

    def __init__(self, workings: MemoryParts, episodes: Episodes, config: FactsConfig) -> None:
        self._workings = workings
        self._store = workings.store
        self._episodes = episodes
        self._half_lives = half_lives(config)

    def why(self, scope: Scope, id: str | None, key: str | None) -> Origin | None:
        """See PersonaMemory.why."""
        of_user = replace(scope, session_id=None, site_id=None, task_id=None)
        if id is None and key is None and scope.session_id is None:
            raise InvalidRequest("id", "or a key is needed, or a session whose last answer is meant")
        if not self._workings.captures.may_read(scope):
            return None
        self._episodes.write_recalls_now()
        if id is not None:
            return self._by_id(id, of_user)
        return self._of_last_answer(scope, of_user) if key is None else self._by_key(key, of_user)

    def _by_key(self, key: str, scope: Scope) -> Origin | None:
        entry = self._store.entry_in(key, scope)
        return self._of_entry(entry) if entry is not None else self._by_id(key, scope)  # a fact's key is its id

    def _of_last_answer(self, scope: Scope, of_user: Scope) -> Origin | None:
        """What the newest answer in the session was made of, the best of it first."""
        here = Scope(session_id=scope.session_id, user_id=scope.user_id)
        recalls = self._store.episode_store.episodes(EpisodesWanted(here, frozenset({"recall"}), limit=LAST))
        found = (self._by_id(one, of_user) for recall in recalls for one in recall.used)
        return next((origin for origin in found if origin is not None), None)

    def _by_id(self, id: str, scope: Scope) -> Origin | None:
        chosen = Selection(scope, ids=(id,), kinds=frozenset({"turn", "memory"}))
        for record in self._store.select(chosen):
            if isinstance(record, Entry) and scope.may_know(record.private):
                return self._of_entry(record)
            if isinstance(record, Turn) and not record.redacted:
                return self._of_turn(record)
        fact = self._store.fact_store.fact(id)
        return self._of_fact(fact) if fact is not None and fact_in_scope(fact, scope) else None

    def _of_turn(self, turn: Turn) -> Origin:
        return Origin(
            id=turn.id,
            kind="turn",
            text=turn.text,
            at=turn.at or 0.0,
            user_id=turn.user_id,
            role=turn.role,
            speaker=turn.speaker,
            session_id=turn.session_id,
            site_id=turn.site_id,
            persona_id=turn.persona_id,
            skill_id=turn.skill_id,
            lang=turn.lang,
            turn_id=turn.id,
            said=turn.text,
            used=self._use(turn.id),
        )

    def _of_entry(self, entry: Entry) -> Origin:
        turn = self._turn(entry.turn_id)
        return Origin(
            id=entry.id,
            kind="memory",
            text=entry.text,
            at=entry.created_at,
            user_id=entry.user_id,
            role="assistant" if entry.metadata.get("by") == "assistant" else "user",
            speaker=turn.speaker if turn else None,
            session_id=entry.session_id,
            site_id=entry.site_id,
            persona_id=entry.persona_id,
            lang=entry.lang,
            key=entry.key,
            turn_id=turn.id if turn else None,
            said=turn.text if turn else None,
            used=self._use(entry.id),
        )

    def _of_fact(self, fact: Fact) -> Origin:
        turn = self._turn(fact.turn_id)
        return Origin(
            id=fact.id,
            kind="fact",
            text=fact.text,
            at=fact.created_at,
            user_id=fact.user_id,
            speaker=fact.speaker,
            session_id=fact.session_id,
            site_id=fact.site_id,
            persona_id=fact.persona_id,
            lang=fact.lang,
            sure=round(confidence_at(fact, self._workings.clock(), self._half_lives), 3),
            turn_id=turn.id if turn else None,
            said=turn.text if turn else None,
            used=self._use(fact.id),
        )

    def _turn(self, turn_id: str | None) -> Turn | None:
        turn = self._store.turn(turn_id) if turn_id is not None else None
        return turn if turn is not None and not turn.redacted else None

    def _use(self, record_id: str) -> Use | None:
        last = self._store.episode_store.last_use(record_id)
        if last is None:
            return None
        asked = self._turn(last.turn_id)
        return Use(last.at, self._store.episode_store.uses(record_id), asked.text if asked else None)
