"""Lasting memories by key: kept, corrected, listed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ovos_persona_memory.errors import InvalidRequest, NotAllowed, UnknownEntry, WasForgotten
from ovos_persona_memory.facts import Facts, entry_of
from ovos_persona_memory.records import HOUSEHOLD, PRIVATE, Entry, Scope
from ovos_persona_memory.secrets import refuse_secret
from ovos_persona_memory.transcript import Workings
from ovos_persona_memory.wording import index_words


class Entries:
    """The verbs of PersonaMemory about lasting memories."""

    def __init__(self, workings: Workings, facts: Facts) -> None:
        self._workings = workings
        self._store = workings.store
        self._facts = facts

    def remember(
        self,  # more than five: these are the protocol's fields
        text: str,
        scope: Scope,
        key: str | None,
        metadata: Mapping[str, Any] | None,
        lang: str | None,
        utterance_id: str | None,
    ) -> Entry:
        """See PersonaMemory.remember."""
        self._workings.captures.refuse_while_paused(scope)
        _refuse_unusable(text, metadata)
        refuse_secret(text, lang)
        now, user_id = self._workings.clock(), scope.user_id or HOUSEHOLD
        held = self._store.entry(key, user_id) if key is not None else None
        if held is not None and not scope.may_know(held.private):
            raise NotAllowed("under this key is something private: the user is not known surely enough")
        turn_id = self._asked_in(scope, utterance_id)
        with self._store.transaction():
            known = self._store.entry(key, user_id) if key is not None else None
            entry = Entry(
                key=key or uuid.uuid4().hex[:12],
                text=text.strip(),
                metadata={**(known.metadata if known else {}), **(metadata or {})},
                id=known.id if known else uuid.uuid4().hex,
                user_id=user_id,
                session_id=scope.session_id,
                persona_id=scope.persona_id,
                site_id=scope.site_id,
                task_id=scope.task_id,
                lang=lang,
                created_at=known.created_at if known else now,
                updated_at=now,
                turn_id=turn_id,
            )
            self._refuse_forgotten(entry)
            kept = self._put(entry)
            self._workings.transcript.ledger.lift(user_id, text, lang)
        self._workings.purge_if(known is not None and known.text != kept.text)
        return kept

    def _refuse_forgotten(self, entry: Entry) -> None:
        """What waited for the store is not kept where it was forgotten since."""
        ledger = self._workings.transcript.ledger
        late = ledger.came_late(entry.user_id, entry.text, entry.lang, entry.updated_at)
        if late or ledger.sweeps.takes_entry(entry, index_words(entry)):
            raise WasForgotten()

    def _asked_in(self, scope: Scope, utterance_id: str | None) -> str | None:
        """The turn in which it is asked for; None where it was not heard."""
        transcript = self._workings.transcript
        if transcript.ledger.knows(utterance_id):
            raise WasForgotten("what was asked for in this utterance was forgotten")
        asked = (turn.id for turn in transcript.of_request(scope, utterance_id) if turn.role == "user")
        return next(asked, None)

    def _put(self, entry: Entry) -> Entry:
        return self._store.put_entry(entry, index_words(entry))

    def get(self, key: str, scope: Scope) -> Entry | None:
        """See PersonaMemory.get."""
        if not self._workings.captures.may_read(scope):
            return None
        return self._known(key, scope) or self._facts.entry(key, scope)

    def list(self, scope: Scope, limit: int, offset: int, kinds: frozenset[str]) -> list[Entry]:
        """See PersonaMemory.list."""
        if not self._workings.captures.may_read(scope):
            return []
        if "fact" not in kinds:
            return self._store.entries(scope, limit, offset) if "memory" in kinds else []
        facts = [entry_of(fact) for fact in self._facts.list(scope, limit=limit + offset)]
        entries = self._store.entries(scope, limit + offset) if "memory" in kinds else []
        both = sorted([*facts, *entries], key=lambda one: -one.updated_at)
        return both[offset : offset + limit]

    def _known(self, key: str, scope: Scope) -> Entry | None:
        entry = self._store.entry(key, scope.user_id or HOUSEHOLD)
        return entry if entry is not None and scope.may_know(entry.private) else None

    def update(self, key: str, scope: Scope, text: str | None, metadata: Mapping[str, Any] | None) -> Entry:
        """See PersonaMemory.update."""
        known = self._known(key, scope)
        if known is None and self._facts.get(key, scope):
            return self._corrected(key, scope, text, metadata)
        if known is None:
            raise UnknownEntry(f"there is no memory with the key {key!r}")
        self._workings.captures.refuse_while_paused(scope)
        _refuse_unusable(text, metadata)
        refuse_secret(text, known.lang)
        changed = replace(
            known,
            text=known.text if text is None else text.strip(),
            metadata={**known.metadata, **(metadata or {})},
            updated_at=self._workings.clock(),
        )
        kept = self._put(changed)
        self._workings.purge_if(known.text != kept.text)
        return kept

    def _corrected(self, key: str, scope: Scope, text: str | None, metadata: Mapping[str, Any] | None) -> Entry:
        """A fact with another text."""
        if metadata is not None:
            raise InvalidRequest("metadata", "a fact has none")
        if text is None:
            raise InvalidRequest("text", "is missing")
        return entry_of(self._facts.correct(key, text, scope))


def _refuse_unusable(text: str | None, metadata: Mapping[str, Any] | None) -> None:
    if text is not None and not text.strip():
        raise InvalidRequest("text", "is empty")
    private = (metadata or {}).get(PRIVATE, 0)
    if not isinstance(private, int) or private not in range(6):
        raise InvalidRequest(f"metadata.{PRIVATE}", "must be true or false, or a level from 0 to 5")
