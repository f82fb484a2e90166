"""What was learned of people: listed, followed back, corrected, reviewed."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from ovos_persona_memory.errors import InvalidRequest, NotAllowed, UnknownEntry
from ovos_persona_memory.extraction import Candidate, ExtractionContext, extract
from ovos_persona_memory.memory.learning.audit import audit, refused_proposals
from ovos_persona_memory.memory.learning.confidence import FIRST, HalfLives, at_now, fact_of
from ovos_persona_memory.memory.learning.learner import half_lives
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import (
    GUEST,
    HOUSEHOLD,
    Decision,
    Entry,
    Fact,
    ListedStatus,
    Scope,
    Share,
    Story,
    Trouble,
    Turn,
    checked,
)
from ovos_persona_memory.stores import EVERY_STATUS, FactQuery, fact_in_scope
from ovos_persona_memory.text import languages, refuse_secret

HELD = frozenset({"active", "superseded"})


class Facts:
    """The verbs of PersonaMemory about facts. Thread-safe."""

    def __init__(self, workings: MemoryParts) -> None:
        self._workings = workings
        self._store = workings.store
        self._facts = workings.store.fact_store
        self._learner = workings.transcript.learner
        self._backlog = workings.transcript.backlog
        self.refused: Callable[[Scope], Sequence[str]] = lambda _: ()
        """What a language model proposed and was refused, for people, put here by whoever asks one."""

    @property
    def _half_lives(self) -> HalfLives:
        return half_lives(self._learner.config)

    @checked
    def get(self, fact_id: str, scope: Scope = Scope()) -> Fact | None:
        """The fact with this id; None where there is none in scope, or reading is off."""
        fact = self._known(fact_id, scope) if self._workings.captures.may_read(scope) else None
        return at_now(fact, self._workings.clock(), self._half_lives) if fact else None

    @checked
    def history(self, fact_id: str, scope: Scope = Scope()) -> Story:
        """How a fact came about, with what it superseded and what superseded it; UnknownEntry where there is none."""
        fact = self.get(fact_id, scope)
        if fact is None:
            raise _unknown(fact_id)
        around = [one for one in self._facts.at_place(fact.user_id, fact.place) if fact_in_scope(one, _of_user(scope))]
        return Story(self._as_now(around), self._facts.changes([one.id for one in around]))

    @checked
    def add(
        self,  # more than five: these are the protocol's fields
        text: str,
        scope: Scope = Scope(),
        confidence: Share | None = None,
        topics: Collection[str] = (),
        lang: str | None = None,
    ) -> Fact:
        """Keep a fact about the user in scope, as though the user had asked to remember it.

        Said again it is confirmed; it takes the place of what was known about the same; of a child it waits for review.
        It belongs to a persona only where the scope names one. ``confidence``: how sure it is now, 0 to 1; what is
        confirmed grows by the usual rule. ``topics``: what it matters to, beside what its kind does. CapturePaused
        while remembering is off, SecretRefused for a secret, NotAllowed for a guest.
        """
        self._workings.captures.refuse_while_paused(scope)
        if scope.user_id == GUEST:
            raise NotAllowed("of a guest no facts are kept")
        said = " ".join(text.split())
        if not said:
            raise InvalidRequest("text", "is empty")
        for one in (said, *topics):
            refuse_secret(one, lang)
        made = self._told(said, scope, lang)
        made = replace(made, topics=(*made.topics, *_spelled(topics)))
        if confidence is not None:
            made = replace(made, confidence=float(confidence))
        with self._store.transaction():
            kept = self._learner.add(made)
            self._workings.transcript.ledger.lift(made.user_id, said, lang)
        return at_now(kept, self._workings.clock(), self._half_lives)

    def _told(self, said: str, scope: Scope, lang: str | None) -> Fact:
        """What a text tells of its user: a fact of a known kind where all of it is one, else the text itself."""
        turn = Turn(
            "user",
            said,
            at=self._workings.clock(),
            lang=lang,
            user_id=scope.user_id or HOUSEHOLD,
            session_id=scope.session_id,
            persona_id=None if scope.assumed_persona else scope.owner,
            site_id=scope.site_id,
            task_id=scope.task_id,
        )
        told = [one for one in extract(turn, ExtractionContext()) if one.outcome == "learned"]
        whole = [one for one in told if languages.fold(one.text) == languages.fold(said)]
        words = languages.for_text(lang, said).words(said)
        verdict = whole[0] if len(whole) == 1 else Candidate("kept", "asked", said, thing=" ".join(words))
        verdict = replace(verdict, reason="asked")
        verdict = verdict.waiting("child") if turn.user_id in self._learner.children else verdict
        return replace(fact_of(verdict, turn, uuid.uuid4().hex), turn_id=None)

    @checked
    def update(
        self,
        fact_id: str,
        scope: Scope = Scope(),
        confidence: Share | None = None,
        topics: Collection[str] | None = None,
    ) -> Fact:
        """Set how sure a fact is from now on, 0 to 1, or what it matters to; UnknownEntry where there is none.

        What is not given stays. CapturePaused while remembering is off.
        """
        fact = self._known(fact_id, scope)
        if fact is None:
            raise _unknown(fact_id)
        self._workings.captures.refuse_while_paused(scope)
        for one in topics or ():
            refuse_secret(one, fact.lang)
        now = self._workings.clock()
        updated = replace(fact, topics=fact.topics if topics is None else _spelled(topics))
        if confidence is not None:  # it fades from now on
            updated = replace(updated, confidence=float(confidence), last_seen_at=max(now, fact.last_seen_at))
        if updated != fact:
            with self._store.transaction():
                updated = self._learner.update(fact, updated)
        return at_now(updated, now, self._half_lives)

    @checked
    def correct(self, fact_id: str, text: str, scope: Scope = Scope()) -> Fact:
        """Put another text in place of a fact, which becomes history; UnknownEntry where there is none."""
        fact = self._known(fact_id, scope)
        if fact is None:
            raise _unknown(fact_id)
        self._workings.captures.refuse_while_paused(scope)
        if not text.strip():
            raise InvalidRequest("text", "is empty")
        refuse_secret(text, fact.lang)
        with self._store.transaction():
            return self._learner.correct(fact, self._corrected(fact, text.strip()))

    def _corrected(self, fact: Fact, text: str) -> Fact:
        told = extract(Turn("user", text, lang=fact.lang))
        same_slot = next((one for one in told if one.outcome == "learned" and one.slot == fact.slot), None)
        now = self._workings.clock()
        return replace(
            fact,
            id=uuid.uuid4().hex,
            text=text,
            thing=same_slot.thing if same_slot is not None else fact.thing,
            value=same_slot.value if same_slot is not None else None,
            confidence=FIRST["asked"],
            created_at=now,
            last_seen_at=now,
            valid_from=now,
            valid_until=None,
            status="active",
            superseded_by=None,
            turn_id=None,
        )

    @checked
    def review(self, fact_id: str, accept: bool, scope: Scope = Scope()) -> Fact | None:
        """Take in a fact that waits for review, or forget it (None); UnknownEntry where none with this id waits."""
        fact = self._known(fact_id, scope)
        if fact is None or fact.status != "waiting":
            raise UnknownEntry(f"no fact with the id {fact_id!r} waits for review")
        self._workings.captures.refuse_while_paused(scope)
        if accept:
            with self._store.transaction():
                return self._learner.accept(fact)
        with self._store.transaction():
            self._facts.delete([fact.id])
            self._workings.transcript.ledger.sweeps.note_fact(fact)
        self._workings.purge_if(True)
        return None

    @checked
    def decisions(self, scope: Scope = Scope(), limit: int = 20) -> list[Decision]:
        """What was decided about the words of the user in scope, and why, the newest first."""
        if not self._workings.captures.may_read(scope) or scope.blind:
            return []
        return self._facts.decisions(scope.user_id, limit)

    @checked
    def audit(self, scope: Scope = Scope()) -> list[Trouble]:
        """What is wrong with the facts and memories of the user in scope, and what to do about it. Slow."""
        if not self._workings.captures.may_read(scope) or scope.blind:
            return []
        found = audit(self._store, scope, self._workings.clock(), self._half_lives)
        return [*found, refused_proposals(self.refused(scope))]

    def settle(self) -> None:
        """Learn from everything that was said; what came in a crowd may still wait for that."""
        self._backlog.settle()

    @property
    def has_learned_late(self) -> bool:
        """Whether ``take_learned_late`` has anything to give."""
        return self._backlog.has_learned

    def take_learned_late(self) -> dict[str | None, list[str]]:
        """The ids of what was learned in quiet moments since the last call, by the session in which it was said."""
        return self._backlog.take_learned()

    # as memories

    def entry(self, fact_id: str, scope: Scope) -> Entry | None:
        """A fact as the verbs about memories give it; None where there is none with this id."""
        fact = self.get(fact_id, scope)
        return entry_of(fact) if fact else None

    def _known(self, fact_id: str, scope: Scope) -> Fact | None:
        fact = self._facts.fact(fact_id)
        return fact if fact is not None and not scope.blind and fact_in_scope(fact, _of_user(scope)) else None

    def _as_now(self, facts: Sequence[Fact]) -> list[Fact]:
        now, fading = self._workings.clock(), self._half_lives
        return [at_now(fact, now, fading) for fact in facts]

    # last, as its name is that of a type

    @checked
    def list(  # more than five: these are the protocol's fields
        self,
        scope: Scope = Scope(),
        status: ListedStatus = "active",
        slot: str | None = None,
        at: float | None = None,
        limit: int = 20,
        offset: int = 0,
        topic: str | None = None,
    ) -> list[Fact]:
        """The facts in scope, the last said first; none while reading is off. Their confidence is as it is now.

        ``topic``: only those that matter to this, upper and lower case alike.

        ``status``: active, superseded, waiting (for review) or all. ``at``: what held at that time,
        seconds since the epoch; then ``status`` does not matter.
        """
        if not self._workings.captures.may_read(scope):
            return []
        about = None if topic is None else next(iter(_spelled([topic])), "")
        found = self._facts.facts(FactQuery(scope, _statuses(status, at), slot, at, limit, offset, about))
        return self._as_now(found)


def entry_of(fact: Fact) -> Entry:
    """A fact in the shape of a memory: its id is its key."""
    told = {"slot": fact.slot, "subject": fact.subject or None, "value": fact.value}
    return Entry(
        key=fact.id,
        text=fact.text,
        metadata={"kind": "fact", "confidence": fact.confidence, **{k: v for k, v in told.items() if v is not None}},
        id=fact.id,
        seq=fact.seq,
        user_id=fact.user_id,
        session_id=fact.session_id,
        persona_id=fact.persona_id,
        site_id=fact.site_id,
        task_id=fact.task_id,
        lang=fact.lang,
        created_at=fact.created_at,
        updated_at=fact.last_seen_at,
    )


def _spelled(topics: Collection[str]) -> tuple[str, ...]:
    """The topics as they are kept and compared, each once."""
    spelled = (" ".join(topic.split()).casefold() for topic in topics)
    return tuple(dict.fromkeys(topic for topic in spelled if topic))


def _of_user(scope: Scope) -> Scope:
    """The scope wherever something was said."""
    return replace(scope, session_id=None, site_id=None, task_id=None, status=None)


def _statuses(status: ListedStatus, at: float | None) -> frozenset[str]:
    if at is not None:
        return HELD
    return EVERY_STATUS if status == "all" else frozenset({status})


def _unknown(fact_id: str) -> UnknownEntry:
    return UnknownEntry(f"there is no fact with the id {fact_id!r}")
