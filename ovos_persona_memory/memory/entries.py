"""Lasting memories by key: kept, corrected, listed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from ovos_persona_memory.errors import (
    InvalidRequest,
    NeedsApproval,
    NotAllowed,
    SecretRefused,
    UnknownEntry,
    WasForgotten,
)
from ovos_persona_memory.extraction import extract
from ovos_persona_memory.memory.facts import Facts, entry_of
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import (
    ACCEPTED,
    HOUSEHOLD,
    OUTDATED,
    PRIVATE,
    SECRET,
    SPEAKER,
    Entry,
    Fact,
    Scope,
    Selection,
    Status,
    Turn,
)
from ovos_persona_memory.search import index_words, is_told_by_person, says_the_same, topic_search
from ovos_persona_memory.text import languages, refuse_secret, spots

_MARKED = {SECRET: True}


class Entries:
    """The verbs of PersonaMemory about lasting memories."""

    def __init__(self, workings: MemoryParts, facts: Facts, keeps_secrets: bool = True) -> None:
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
        status: Status | None,
    ) -> Entry:
        """See PersonaMemory.remember."""
        self._workings.captures.refuse_while_paused(scope)
        _refuse_unusable(text, metadata)
        self._refuse_secret(text, lang, secret)
        user_id = scope.user_id or HOUSEHOLD
        held = self._held(key, replace(scope, secrets=secret))
        turn_id = self._asked_in(scope, utterance_id)
        with self._store.transaction():
            known = self._store.entry(key, user_id, scope.owner) if key is not None else None
            if secret and known is not None and not known.secret:
                known = self._taken_out(known)
            made = self._made(known, scope, key or uuid.uuid4().hex[:12], text.strip())
            metadata = {**(known.metadata if known else {}), **(metadata or {}), **(_MARKED if secret else {})}
            metadata |= self._speaker_of(turn_id)
            entry = replace(made, metadata=metadata, lang=lang, turn_id=turn_id, status=status or ACCEPTED)
            self._refuse_forgotten(entry)
            kept = self._put(entry)
            replaced = [self._taken_out(other) for other in self._of_same_name(kept)] if secret else []
            self._workings.transcript.ledger.lift(user_id, text, lang)
        changed = held is not None and (held.text, held.secret) != (kept.text, kept.secret)
        self._workings.purge_if(changed or bool(replaced))
        return kept

    def proposed(self, text: str, scope: Scope, source: Turn, status: Status) -> Entry:
        """A memory that a turn tells, past the gate of ``remember``, under a new key; it is not kept yet.

        NeedsApproval for a child; WasForgotten where the turn was said before that was forgotten.
        """
        self._workings.captures.refuse_while_paused(scope)
        _refuse_unusable(text, None)
        self._refuse_secret(text, source.lang, False)
        transcript = self._workings.transcript
        if scope.user_id in transcript.learner.children:
            raise NeedsApproval()
        made = self._made(None, scope, uuid.uuid4().hex[:12], text.strip())
        entry = replace(made, lang=source.lang, turn_id=source.id, status=status)
        if transcript.ledger.came_late(entry.user_id, text, source.lang, source.at):
            raise WasForgotten()
        self._refuse_forgotten(entry)
        return entry

    def put(self, entry: Entry) -> Entry:
        """Keep a memory that is past the gate."""
        return self._put(entry)

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
        held = self._store.entry(key, scope.user_id or HOUSEHOLD, scope.owner) if key is not None else None
        if held is not None and not scope.may_know(held.private):
            raise NotAllowed("under this key is something private: the user is not known surely enough")
        return held

    def _taken_out(self, known: Entry) -> Entry:
        """A memory that becomes a secret, or is none any more, out of the store with all that was made of its text."""
        scope = Scope(user_id=known.user_id, secrets=True)
        self._store.delete(Selection(scope, ids=(known.id,), kinds=frozenset({"memory"})))
        return known

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

    def _speaker_of(self, turn_id: str | None) -> dict[str, str]:
        """The metadata that names who asked for it in a turn; none where nobody is named."""
        turn = self._store.turn(turn_id) if turn_id is not None else None
        return {SPEAKER: turn.speaker} if turn is not None and turn.speaker else {}

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
        if known is None and self._facts.get(key, scope):
            return self._corrected(key, scope, text, metadata)
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

    def correct(self, record_id: str, scope: Scope, text: str, lang: str | None, utterance_id: str | None) -> Entry:
        """See PersonaMemory.correct."""
        self._workings.captures.refuse_while_paused(scope)
        _refuse_unusable(text, None)
        refuse_secret(text, lang)
        wrong = self._by_id(record_id, scope)
        if wrong is None:
            raise UnknownEntry(f"there is no turn, memory or fact with the id {record_id!r}")
        turn_id = self._asked_in(scope, utterance_id)
        with self._store.transaction():
            asking = self._store.turn(turn_id) if turn_id is not None else None
            if asking is not None:  # what is kept stands for it
                asking = self._workings.transcript.leave_unlearned(asking)
            told = [one for one in self._saying_the_same(wrong) if one.id != turn_id]
            now = self._workings.clock()
            self._correct_facts([one for one in told if isinstance(one, Fact)], text, scope)
            wrong_turns = [one for one in told if isinstance(one, Turn)]
            for turn in (*wrong_turns, *([asking] if asking is not None else [])):
                self._workings.transcript.learner.outdate(turn, now, turn_id, "corrected")
            held = [_holding(one, text, now) for one in told if isinstance(one, Entry)]
            kept = [self._put(one) for one in held]
            corrected = kept[0] if kept else self._remembered(text, scope, lang or wrong.lang, utterance_id)
        self._workings.purge_if(bool(kept))
        return corrected

    def _corrected(self, key: str, scope: Scope, text: str | None, metadata: Mapping[str, Any] | None) -> Entry:
        """A fact with another text."""
        if metadata is not None:
            raise InvalidRequest("metadata", "a fact has none")
        if text is None:
            raise InvalidRequest("text", "is missing")
        return entry_of(self._facts.correct(key, text, scope))

    def _remembered(self, text: str, scope: Scope, lang: str | None, utterance_id: str | None) -> Entry:
        return self.remember(text, scope, None, None, lang, utterance_id, secret=False, status=None)

    def _correct_facts(self, facts: Sequence[Fact], text: str, scope: Scope) -> None:
        """Put right the facts that the new text tells of, too; the others end with what they were learned of."""
        told = {one.slot for one in extract(Turn("user", text)) if one.outcome == "learned"}
        for fact in (one for one in facts if one.status == "active"):
            if fact.slot is None or fact.slot in told:
                self._facts.correct(fact.id, text, scope)

    def _by_id(self, record_id: str, scope: Scope) -> topic_search.Record | None:
        of_user = replace(scope, session_id=None, site_id=None, task_id=None)
        for one in self._store.select(Selection(of_user, ids=(record_id,), kinds=frozenset({"turn", "memory"}))):
            return one if isinstance(one, Turn) or scope.may_know(one.private) else None
        return self._facts.get(record_id, of_user)

    def _saying_the_same(self, wrong: topic_search.Record) -> Sequence[topic_search.Record]:
        """A record, what was made of it, and what says the same in the same words."""
        words = languages.statement_word_groups(wrong.text, wrong.lang)
        of_user = Selection(Scope(user_id=wrong.user_id), words=words)
        held: tuple[topic_search.Record, ...] = (*self._store.select(of_user), *self._store.fact_store.chosen(of_user))
        same = [one for one in held if says_the_same(one, words) and is_told_by_person(one)]
        told_in = wrong.id if isinstance(wrong, Turn) else wrong.turn_id
        made = self._store.fact_store.of_turns([told_in]) if told_in is not None else []
        source = self._store.turn(told_in) if told_in is not None else None
        every: tuple[topic_search.Record, ...] = (wrong, *same, *made, *([source] if source is not None else []))
        return tuple({one.id: one for one in every}.values())


def _holding(entry: Entry, text: str, now: float) -> Entry:
    """A memory with another text, which holds from now on."""
    metadata = {name: value for name, value in entry.metadata.items() if name != OUTDATED}
    return replace(entry, text=text, metadata=metadata, updated_at=now)


def _places(scope: Scope) -> dict[str, Any]:
    return {name: getattr(scope, name) for name in ("session_id", "persona_id", "site_id", "task_id")}


def _name_of(secret: Entry) -> frozenset[str]:
    """The words with which a secret is told but for the secret itself; empty where that cannot be told apart."""
    first = next(iter(spots(secret.text, secret.lang)), None)
    spoken = languages.for_text(secret.lang, secret.text)
    return frozenset(spoken.content_words(secret.text[: first.value])) if first is not None else frozenset()


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
    if SECRET in (metadata or {}):
        raise InvalidRequest(f"metadata.{SECRET}", "is set by the field secret alone")
