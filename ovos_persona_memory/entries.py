"""Lasting memories by key: kept, corrected, listed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ovos_persona_memory import language
from ovos_persona_memory.errors import InvalidRequest, NotAllowed, SecretRefused, UnknownEntry, WasForgotten
from ovos_persona_memory.facts import Facts, entry_of
from ovos_persona_memory.records import HOUSEHOLD, PRIVATE, SECRET, Entry, Scope, Selection
from ovos_persona_memory.secrets import refuse_secret, spots
from ovos_persona_memory.transcript import Workings
from ovos_persona_memory.wording import index_words

_MARKED = {SECRET: True}


class Entries:
    """The verbs of PersonaMemory about lasting memories."""

    def __init__(self, workings: Workings, facts: Facts, keeps_secrets: bool = True) -> None:
        """``keeps_secrets``: where somebody asks for it; else they are refused in any case."""
        self._workings = workings
        self._keeps_secrets = keeps_secrets
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
        secret: bool,
    ) -> Entry:
        """See PersonaMemory.remember."""
        self._workings.captures.refuse_while_paused(scope)
        _refuse_unusable(text, metadata)
        self._refuse_secret(text, lang, secret)
        now, user_id = self._workings.clock(), scope.user_id or HOUSEHOLD
        held = self._held(key, replace(scope, secrets=secret))
        turn_id = self._asked_in(scope, utterance_id)
        with self._store.transaction():
            known = self._store.entry(key, user_id) if key is not None else None
            if secret and known is not None and not known.secret:
                known = self._taken_out(known)
            entry = Entry(
                key=key or uuid.uuid4().hex[:12],
                text=text.strip(),
                metadata={**(known.metadata if known else {}), **(metadata or {}), **(_MARKED if secret else {})},
                id=known.id if known else uuid.uuid4().hex,
                user_id=user_id,
                **_places(scope),
                lang=lang,
                created_at=known.created_at if known else now,
                updated_at=now,
                turn_id=turn_id,
            )
            self._refuse_forgotten(entry)
            kept = self._put(entry)
            replaced = [self._taken_out(other) for other in self._of_same_name(kept)] if secret else []
            self._workings.transcript.ledger.lift(user_id, text, lang)
        changed = held is not None and (held.text, held.secret) != (kept.text, kept.secret)
        self._workings.purge_if(changed or bool(replaced))
        return kept

    def _refuse_secret(self, text: str, lang: str | None, secret: bool) -> None:
        if not secret:
            refuse_secret(text, lang)
        elif not self._keeps_secrets:
            raise SecretRefused()

    def _of_same_name(self, secret: Entry) -> list[Entry]:
        """The secrets in whose place this one is: whoever tells a new password means that the old one is none."""
        name = _name_of(secret)
        kept = self._store.entries(Scope(user_id=secret.user_id, secrets=True)) if name else []
        return [one for one in kept if one.secret and one.id != secret.id and _name_of(one) == name]

    def _held(self, key: str | None, scope: Scope) -> Entry | None:
        """What the user has under a key already; NotAllowed where whoever asks may not know of it."""
        held = self._store.entry(key, scope.user_id or HOUSEHOLD) if key is not None else None
        if held is not None and not scope.may_know(held.private):
            raise NotAllowed("under this key is something private: the user is not known surely enough")
        return held

    def _taken_out(self, known: Entry) -> Entry:
        """A memory that becomes a secret, or is none any more, out of the store with all that was made of its text."""
        scope = Scope(user_id=known.user_id, secrets=True)
        self._store.delete(Selection(scope, ids=(known.id,), kinds=frozenset({"memory"})))
        return known

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
        if known is None and text is not None and self._facts.get(key, scope):
            return entry_of(self._facts.correct(key, text, scope))
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


def _places(scope: Scope) -> dict[str, Any]:
    return {name: getattr(scope, name) for name in ("session_id", "persona_id", "site_id", "task_id")}


def _name_of(secret: Entry) -> frozenset[str]:
    """The words with which a secret is told but for the secret itself; empty where that cannot be told apart."""
    first = next(iter(spots(secret.text, secret.lang)), None)
    spoken = language.of_text(secret.lang, secret.text)
    return frozenset(spoken.content_words(secret.text[: first.value])) if first is not None else frozenset()


def _refuse_unusable(text: str | None, metadata: Mapping[str, Any] | None) -> None:
    if text is not None and not text.strip():
        raise InvalidRequest("text", "is empty")
    private = (metadata or {}).get(PRIVATE, 0)
    if not isinstance(private, int) or private not in range(6):
        raise InvalidRequest(f"metadata.{PRIVATE}", "must be true or false, or a level from 0 to 5")
    if SECRET in (metadata or {}):
        raise InvalidRequest(f"metadata.{SECRET}", "is set by the field secret alone")
