"""Lasting memories by key: kept, corrected, listed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from ovos_persona_memory.errors import InvalidRequest, NotAllowed, UnknownEntry, WasForgotten
from ovos_persona_memory.facts import Facts, entry_of
from ovos_persona_memory.records import ACCEPTED, HOUSEHOLD, PRIVATE, Entry, Scope, Status
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
        status: Status | None,
    ) -> Entry:
        """See PersonaMemory.remember."""
        self._workings.captures.refuse_while_paused(scope)
        _refuse_unusable(text, metadata)
        refuse_secret(text, lang)
        user_id = scope.user_id or HOUSEHOLD
        held = self._store.entry(key, user_id, scope.owner) if key is not None else None
        if held is not None and not scope.may_know(held.private):
            raise NotAllowed("under this key is something private: the user is not known surely enough")
        turn_id = self._asked_in(scope, utterance_id)
        with self._store.transaction():
            known = self._store.entry(key, user_id, scope.owner) if key is not None else None
            made = self._made(known, scope, key or uuid.uuid4().hex[:12], text.strip())
            metadata = {**(known.metadata if known else {}), **(metadata or {})}
            entry = replace(made, metadata=metadata, lang=lang, turn_id=turn_id, status=status or ACCEPTED)
            self._refuse_forgotten(entry)
            kept = self._put(entry)
            self._workings.transcript.ledger.lift(user_id, text, lang)
        self._workings.purge_if(known is not None and known.text != kept.text)
        return kept

    def _made(self, known: Entry | None, scope: Scope, key: str, text: str) -> Entry:
        """An entry in scope, in place of the one that is known."""
        now = self._workings.clock()
        return Entry(
            key=key,
            text=text,
            id=known.id if known else uuid.uuid4().hex,
            user_id=scope.user_id or HOUSEHOLD,
            session_id=scope.session_id,
            persona_id=scope.owner,
            site_id=scope.site_id,
            task_id=scope.task_id,
            created_at=known.created_at if known else now,
            updated_at=now,
        )

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

    def list(  # more than five: these are the protocol's fields
        self, scope: Scope, limit: int, offset: int, kinds: frozenset[str], status: Status | None
    ) -> list[Entry]:
        """See PersonaMemory.list."""
        scope = replace(scope, status=status or scope.status)
        if not self._workings.captures.may_read(scope):
            return []
        if "fact" not in kinds:
            return self._store.entries(scope, limit, offset) if "memory" in kinds else []
        facts = [entry_of(fact) for fact in self._facts.list(scope, limit=limit + offset)]
        entries = self._store.entries(scope, limit + offset) if "memory" in kinds else []
        both = sorted([*facts, *entries], key=lambda one: -one.updated_at)
        return both[offset : offset + limit]

    def _known(self, key: str, scope: Scope) -> Entry | None:
        return self._store.entry_in(key, scope)

    def update(  # more than five: these are the protocol's fields
        self, key: str, scope: Scope, text: str | None, metadata: Mapping[str, Any] | None, status: Status | None
    ) -> Entry:
        """See PersonaMemory.update."""
        known = self._known(key, scope)
        if known is None and text is not None and self._facts.get(key, scope):
            return entry_of(self._facts.correct(key, text, scope))
        if known is None:
            raise UnknownEntry(f"there is no memory with the key {key!r}")
        self._workings.captures.refuse_while_paused(scope)
        _refuse_unusable(text, metadata)
        refuse_secret(text, known.lang)
        _refuse_backward(known.status, status)
        changed = replace(
            known,
            text=known.text if text is None else text.strip(),
            metadata={**known.metadata, **(metadata or {})},
            updated_at=self._workings.clock(),
            status=status or known.status,
        )
        kept = self._put(changed)
        self._workings.purge_if(known.text != kept.text)
        return kept


def refuse_unknown_status(status: str | None) -> None:
    """InvalidRequest for a status that there is not."""
    if status is not None and status not in get_args(Status):
        raise InvalidRequest("status", f"{status!r} is none of {', '.join(get_args(Status))}")


def _refuse_backward(status: Status, wanted: Status | None) -> None:
    order = get_args(Status)
    if wanted is not None and order.index(wanted) < order.index(status):
        raise InvalidRequest("status", f"is {status} and cannot become {wanted} again: remember it anew")


def _refuse_unusable(text: str | None, metadata: Mapping[str, Any] | None) -> None:
    if text is not None and not text.strip():
        raise InvalidRequest("text", "is empty")
    private = (metadata or {}).get(PRIVATE, 0)
    if not isinstance(private, int) or private not in range(6):
        raise InvalidRequest(f"metadata.{PRIVATE}", "must be true or false, or a level from 0 to 5")
