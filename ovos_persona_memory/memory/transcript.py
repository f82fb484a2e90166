"""The log of what was said: heard on the bus or handed in, each turn once, and only while that is wanted."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.conversation import linking
from ovos_persona_memory.extraction import without_secrets
from ovos_persona_memory.memory.learning.learner import Learner
from ovos_persona_memory.memory.learning.learning_queue import LearningQueue
from ovos_persona_memory.memory.privacy.capture import CapturePolicy
from ovos_persona_memory.memory.privacy.identity import People, UtteranceOrigin
from ovos_persona_memory.memory.privacy.tombstones import Tombstones
from ovos_persona_memory.records import HOUSEHOLD, Entry, Heard, Scope, Selection, Turn, replace_fast, text_of
from ovos_persona_memory.search import index_words
from ovos_persona_memory.stores import Store, redacted
from ovos_persona_memory.text import languages, tells_secret


def handed_in(turn: Turn, scope: Scope, utterance_id: str | None, now: float) -> Turn:
    """The turn as it is recorded in a scope, of this utterance, with an id and a time."""
    return replace_fast(
        turn,
        text=text_of(turn.text),
        id=turn.id or os.urandom(16).hex(),  # as unique as a random UUID, in a fifth of its time
        at=now if turn.at is None else turn.at,
        user_id=scope.user_id or HOUSEHOLD,
        session_id=scope.session_id,
        persona_id=scope.owner,
        site_id=scope.site_id,
        task_id=scope.task_id,
        utterance_id=utterance_id,
        source="record",
    )


def delivered_id(turn: Turn, delivery_id: str, number: int) -> str:
    """The id of a turn that may be delivered again: the same whenever it comes."""
    names = (turn.user_id, turn.session_id or "", delivery_id, str(number))
    return uuid.uuid5(uuid.NAMESPACE_OID, "\n".join(names)).hex


RECENT = 60
"""Turns of a session that can still be linked with what is heard now."""
REMEMBERED = 256
"""Utterance ids, half-heard records and open questions that are kept in mind at most."""
CONFIRMED_S = 30.0
"""Speech so soon after a request to forget that has no utterance id is its confirmation, seconds."""
PERSONA_SKILL = "persona.openvoiceos"


class Transcript:
    """Writes turns to the store. Not thread-safe by itself: the store's transactions are."""

    def __init__(self, store: Store, config: MemoryConfig, clock: Callable[[], float]) -> None:
        self._store = store
        self._config = config.history
        self._clock = clock
        self.captures = CapturePolicy(store, config.capture, clock)
        self.people = People(config.identity, self._user_of)
        self.ledger = Tombstones(store, clock)
        self.learner = Learner(store, config.facts, clock, self.ledger, frozenset(config.identity.children))
        self.backlog = LearningQueue(store, self.learner)
        self._known_ids: dict[str, None] = {}
        self._pieces: dict[str, str] = {}
        self._questions: dict[tuple[str, str | None, str], Heard] = {}
        self._linked: dict[str, list[str]] = {}
        self._told_secret: dict[str, None] = {}
        self._asked_to_forget: dict[str | None, float] = {}
        self.latest: Heard | None = None
        """What was heard last, with its person; None where nothing may be kept of it."""
        self.learned: list[str] = []
        """The facts that were learned at once from what was heard or handed in last, each once."""
        self.purge_due = False
        """Whether something was deleted or redacted whose words are still in the files."""

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Where what is taken in within fails, and with it the store's transaction, it may come again as though new."""
        before = [dict(kept) for kept in self._kept]
        try:
            yield
        except BaseException:
            for kept, old in zip(self._kept, before, strict=True):
                kept.clear()
                kept.update(old)
            self.learner.around.forget()
            raise

    @property
    def _kept(self) -> list[dict[Any, Any]]:
        return [self._known_ids, self._pieces, self._questions, self._linked, self._told_secret]

    def holds(self, turn_id: str) -> bool:
        """Whether there is a turn with this id."""
        return self._store.turn(turn_id) is not None

    def is_bare(self, turn_id: str) -> bool:
        """Whether the turn with this id is kept without its words."""
        turn = self._store.turn(turn_id)
        return turn is not None and turn.redacted

    # what is heard

    def hear(self, heard: Heard) -> list[Turn]:
        """Take one event in: the turns that it added to the log, none for most events."""
        heard, said = self.people.attribute(heard)
        self.latest, self.learned = heard, []
        if heard.utterance_id and heard.what != "utterance":
            self._claim(heard)
        if heard.what == "cancelled":
            said.kept = said.kept and heard.utterance_id is None
            self._cancel(heard)
        if not self._is_wanted(heard, said):
            said.kept = said.kept and heard.what != "utterance"
            self.latest = heard if heard.what == "cancelled" else None
            return []
        if heard.what == "utterance" and (heard.text or heard.secret):
            return [self._add(self._unless_forgotten(self._turn(heard, "user")))]
        if heard.what == "speech" and (heard.text or heard.secret):
            return self._speech(heard)
        if heard.what == "persona_turn":
            self._answered_by_persona(heard)
        elif heard.what == "query":
            self._asked_out_of_band(heard)
        elif heard.what == "answer" and heard.text:
            return self._out_of_band(heard)
        return []

    def _is_wanted(self, heard: Heard, said: UtteranceOrigin) -> bool:
        """Whether anything may be kept of an event; what was heard of an excluded skill before goes too."""
        if self.captures.excludes_skill(heard.skill_id) and heard.what in ("matched", "speech"):
            if said.kept and (heard.what == "matched" or heard.utterance_id is not None):
                self._cancel(heard)
                said.kept = False
            return False
        return said.kept and self.captures.may_write(replace_fast(heard.scope, session_id=heard.session_id), heard.at)

    def _recent(self, session_id: str | None, user_id: str | None) -> list[Turn]:
        return self._store.turns(Scope(session_id=session_id, user_id=user_id or HOUSEHOLD), limit=RECENT)

    def _user_of(self, session_id: str, utterance_id: str) -> str | None:
        """Whose utterance it is among the newest turns of each user in a session; None where it is in none."""
        recent = (turn for user_id in self._store.users() for turn in self._recent(session_id, user_id))
        return next((turn.user_id for turn in recent if turn.utterance_id == utterance_id), None)

    def _turn(self, heard: Heard, role: str) -> Turn:
        made = Turn(
            role="user" if role == "user" else "assistant",
            text=heard.text,
            at=heard.at,
            lang=heard.lang,
            id=heard.id or uuid.uuid4().hex,
            user_id=heard.scope.user_id or HOUSEHOLD,
            session_id=heard.session_id,
            site_id=heard.scope.site_id,
            speaker=heard.speaker if role == "user" else None,
            redacted=heard.secret and not heard.text,
        )
        if heard.secret:
            _keep(self._told_secret, made.id, None)
        return made

    def _add(self, turn: Turn) -> Turn:
        return self._add_all([turn])[0]

    def _add_all(self, turns: Sequence[Turn], fresh: bool = False) -> list[Turn]:
        told = [self._without_secret(turn) for turn in turns]
        kept = self._store.add_turns([(turn, index_words(turn)) for turn in told], fresh)
        for one, turn in zip(kept, turns, strict=True):
            without_words = turn.text and not one.text
            as_said = replace_fast(one, text=turn.text, redacted=turn.redacted) if without_words else one
            learned = self.backlog.add(one, as_said)
            self.learned += [id for id in learned if id not in self.learned]
            if one.text != turn.text and not without_words:
                self.learner.refuse(one, "secret")
        return kept

    def _without_secret(self, turn: Turn) -> Turn:
        """The turn as it is kept: the rest of it where a person mentions a secret, else nothing of what tells one."""
        if turn.role == "user":
            left = without_secrets(turn.text, turn.lang)
        else:
            left = "" if tells_secret(turn.text, turn.lang) else turn.text
        if left == turn.text:
            return turn
        _keep(self._told_secret, turn.id, None)
        return replace_fast(turn, text=left, redacted=not left)

    def may_repeat(self, turn: Turn) -> bool:
        """Whether what belongs to a turn may be kept with its words: its answer, or what an intent took of it."""
        return not turn.redacted and turn.id not in self._told_secret

    def _change(self, turn: Turn) -> None:
        self._store.change_turn(turn, index_words(turn))

    def _claim(self, heard: Heard) -> None:
        """Give the user turn that waits for an id the one that is seen now for the first time."""
        utterance_id = heard.utterance_id or ""
        # what was matched is compared with what was kept of it
        text = without_secrets(heard.text, heard.lang) if heard.what in ("matched", "persona_turn") else None
        self._stamp(replace_fast(heard.scope, session_id=heard.session_id), utterance_id, text)
        if heard.what == "matched" and heard.intent:
            self._redact_if_private(heard)

    def _stamp(self, scope: Scope, utterance_id: str, text: str | None) -> None:
        if self.ledger.knows(utterance_id):
            self._redact_replayed(scope, utterance_id, text)
            return
        if utterance_id in self._known_ids:
            return
        _keep(self._known_ids, utterance_id, None)
        turn = linking.claimant(self._recent(scope.session_id, scope.user_id), utterance_id, text)
        if turn is not None:
            self._change(replace(turn, utterance_id=utterance_id))

    def _redact_replayed(self, scope: Scope, utterance_id: str, text: str | None) -> None:
        """An utterance that was forgotten comes again: what was just heard of it is kept without its words."""
        others = [t for t in self._recent(scope.session_id, scope.user_id) if t.utterance_id != utterance_id]
        turn = linking.claimant(others, utterance_id, text)
        if turn is not None and text and linking.spelled(turn.text) == linking.spelled(text):
            self._change(redacted(replace(turn, utterance_id=utterance_id)))
            self.purge_due = True

    def _unless_forgotten(self, turn: Turn) -> Turn:
        """The turn, without its words where it is an utterance that was forgotten, or was said before that.

        What somebody says after the deletion is new, be it in the same words.
        """
        return redacted(turn) if self.ledger.knows(turn.utterance_id) or self._is_swept(turn) else turn

    def _is_swept(self, turn: Turn) -> bool:
        sweeps = self.ledger.sweeps
        return sweeps.is_late and sweeps.takes_turn(turn, index_words(turn))

    def _of_utterance(self, heard: Heard) -> list[Turn]:
        if heard.utterance_id is None:
            return []
        recent = self._recent(heard.session_id, heard.scope.user_id)
        return [turn for turn in recent if turn.utterance_id == heard.utterance_id]

    def redact(self, scope: Scope, utterance_id: str) -> None:
        """Take the words out of an utterance of the session in scope and of what answers it, also later on."""
        self._stamp(scope, utterance_id, None)
        self._without_words(t for t in self._recent(scope.session_id, scope.user_id) if t.utterance_id == utterance_id)

    def redact_telling(self, scope: Scope, secret: Entry) -> None:
        """Take the words out of the newest turns of the session in scope that hold all words of a secret."""
        spoken = languages.for_text(secret.lang, secret.text)
        words = set(spoken.content_words(secret.text))
        recent = self._recent(scope.session_id, scope.user_id) if words else []
        self._without_words(turn for turn in recent if words <= set(spoken.words(turn.text)))

    def _without_words(self, turns: Iterable[Turn]) -> None:
        ids = [turn.id for turn in turns]
        self.learner.unlearn(ids)
        if self._store.redact(ids):
            self.purge_due = True

    def _redact_if_private(self, heard: Heard) -> None:
        intent = heard.intent or ""
        full = intent if ":" in intent else f"{heard.skill_id}:{intent}"
        if not full.startswith(self._config.redacted_intents):
            return
        self._without_words(self._of_utterance(heard))

    def _cancel(self, heard: Heard) -> None:
        """A cancelled utterance leaves nothing, whether or not remembering is on."""
        turns = self._of_utterance(heard)
        if heard.utterance_id is None:  # the stable line: the newest utterance of the session
            recent = self._recent(heard.session_id, heard.scope.user_id)
            turns = [turn for turn in recent if turn.role == "user"][-1:]
        if turns:
            scope = Scope(session_id=heard.session_id, user_id=heard.scope.user_id or HOUSEHOLD)
            self.learner.unlearn([turn.id for turn in turns])
            self._store.delete(Selection(scope, ids=tuple(turn.id for turn in turns)))
            self.purge_due = True

    def _speech(self, heard: Heard) -> list[Turn]:
        recent = self._recent(heard.session_id, heard.scope.user_id)
        of_same = [t for t in recent if heard.utterance_id is not None and t.utterance_id == heard.utterance_id]
        asked = next((turn for turn in of_same if turn.role == "user"), None)
        turn = replace(
            self._turn(heard, "assistant"),
            utterance_id=heard.utterance_id,
            skill_id=heard.skill_id,
            persona_id=asked.persona_id if asked and heard.skill_id == PERSONA_SKILL else None,
            expects_reply=heard.expects_reply,
            announcement=heard.scheduled,
            machine=heard.skill_id in self._config.machine_skills or heard.dialog in self._config.machine_dialogs,
        )
        turn = redacted(turn) if self._is_private(heard, turn, asked, recent) else self._unless_forgotten(turn)
        record = linking.already_recorded(recent, turn, heard.at, heard=self._pieces)
        if record is not None:
            self._join(record, recent)
            _keep(self._pieces, record.id, self._pieces.get(record.id, "") + turn.text)
            return []
        return [self._add(turn)]

    def _is_private(self, heard: Heard, spoken: Turn, asked: Turn | None, recent: Sequence[Turn]) -> bool:
        # after a yes the confirmation names what is gone, and answers another utterance than the request
        if f"{heard.skill_id}:{heard.dialog}".startswith(self._config.redacted_intents):
            return True
        before = asked or linking.newest_asked(recent, spoken)
        return (before is not None and not self.may_repeat(before)) or self._confirms_forgetting(before, spoken)

    def asked_to_forget(self, scope: Scope) -> None:
        """Somebody just asked, in this session and without an utterance id, to have something forgotten."""
        _keep(self._asked_to_forget, scope.session_id, self._clock())

    def _confirms_forgetting(self, asked: Turn | None, spoken: Turn) -> bool:
        """On the stable line: whether this follows a request to forget, before anybody said anything else."""
        asked_at = self._asked_to_forget.get(spoken.session_id)
        if asked_at is None or spoken.utterance_id is not None or spoken.announcement:
            return False
        newer = asked is not None and (asked.at or 0.0) > asked_at
        return not newer and (spoken.at or 0.0) < asked_at + CONFIRMED_S

    def _join(self, record: Turn, recent: Sequence[Turn]) -> None:
        """A record that came before its speech, known by its text alone: its question is the turn heard before it."""
        before = [t for t in recent if t.role == "user" and t.source == "heard" and t.seq < record.seq and not t.linked]
        if record.utterance_id is not None or not before:
            return
        asked, told = before[-1], [t.id for t in recent if t.batch == record.batch and t.role == "user"]
        scope = Scope(session_id=record.session_id, user_id=record.user_id)
        self._store.delete(Selection(scope, ids=tuple(told)))
        self.purge_due = True
        name = asked.utterance_id or record.batch  # an id of our own holds the two together
        owned = replace(asked, utterance_id=name, linked=True, persona_id=record.persona_id or asked.persona_id)
        self._change(owned)
        self._change(replace(record, utterance_id=name))
        if record.unlearned:
            self.leave_unlearned(owned)

    def _answered_by_persona(self, heard: Heard) -> None:
        for turn in self._of_utterance(heard):
            if turn.role == "user" and turn.persona_id is None and heard.persona_id:
                self._change(replace(turn, persona_id=heard.persona_id))

    def _asked_out_of_band(self, heard: Heard) -> None:
        asked = (heard.session_id, heard.persona_id, heard.text)
        before = self._questions.pop(asked, None)
        if before is None or before.scope.user_id == heard.scope.user_id:  # else nobody could tell whose the answer is
            _keep(self._questions, asked, heard)

    def _out_of_band(self, heard: Heard) -> list[Turn]:
        """A question put to a persona past the pipeline, with its first answer: found by recall, in no history."""
        asked = self._questions.pop((heard.session_id, heard.persona_id, heard.question), None)
        if asked is None:
            return []
        pair = (self._turn(asked, "user"), self._turn(replace(heard, scope=asked.scope), "assistant"))
        given = _answers_without_secrets([replace(one, source="query", persona_id=heard.persona_id) for one in pair])
        return [self._add(self._unless_forgotten(turn)) for turn in given]

    def rename(self, user_id: str, into: str) -> None:
        """What one user said, and what is still to follow from it, is another's from now on."""
        self.people.rename(user_id, into)
        self.captures.reload()
        self.learner.around.forget()
        for key, heard in self._questions.items():
            if heard.scope.user_id == user_id:
                self._questions[key] = replace_fast(heard, scope=replace_fast(heard.scope, user_id=into))

    # what is handed in

    def take(self, given: Sequence[Turn], batch: str | None, is_fresh: bool = False, claims: bool = True) -> list[str]:
        """Record turns of one session unless they were heard; the ids of what stands for them now, in order.

        ``is_fresh``: their ids were made just now. ``claims``: what was heard belongs to their persona from now on.
        """
        self.learned = []
        if not given:
            return []
        first = given[0]
        if not is_fresh and any(self._store.turn(turn.id) for turn in given):
            return [turn.id for turn in given]  # delivered before
        if self.ledger.knows(first.utterance_id):
            return []  # it was forgotten, and comes late or again
        if first.id in self._linked:
            return self._linked[first.id]
        if not is_fresh:
            given = [redacted(turn) if self._came_late(turn) else turn for turn in given]
        given = _answers_without_secrets(given)
        if batch is None and first.utterance_id is None:
            return [turn.id for turn in self._add_all(given, is_fresh)]
        return self._link_or_add(given, batch, first.persona_id if claims else None)

    def leave_unlearned(self, turn: Turn) -> Turn:
        """Have nothing learned from a turn, when that was done perhaps; the turn as it is kept then."""
        left = replace(turn, unlearned=True)
        self._change(left)
        self.learner.unlearn([turn.id])
        return left

    def _came_late(self, turn: Turn) -> bool:
        return self.ledger.came_late(turn.user_id, turn.text, turn.lang, turn.at) or self._is_swept(turn)

    def _link_or_add(self, given: Sequence[Turn], batch: str | None, persona_id: str | None) -> list[str]:
        """``persona_id``: to whom belongs what was heard of it; None: what it belonged to before."""
        utterance_id, recent = given[0].utterance_id, self._recent(given[0].session_id, given[0].user_id)
        if utterance_id is not None and utterance_id not in self._known_ids:
            _keep(self._known_ids, utterance_id, None)
            waiting = linking.claimant(recent, utterance_id, given[0].text)
            if waiting is not None:
                self._change(replace(waiting, utterance_id=utterance_id))
                recent = self._recent(given[0].session_id, given[0].user_id)
        same = [t for t in recent if utterance_id is not None and t.utterance_id == utterance_id]
        known = [turn for turn in same if turn.linked and turn.role == "assistant"]
        at = max(turn.at or 0.0 for turn in given)
        heard = known or linking.heard_answer(recent, given, utterance_id, at)
        asked = [turn for turn in (*same, *heard) if turn.role == "user" and turn.source == "heard"]
        asked = asked or linking.heard_question(recent, given, at)
        # told twice, and not heard yet: its speech is still to find the record that is there
        told = [] if heard else linking.recorded_before(recent, given, utterance_id)
        for turn in {turn.id: turn for turn in (*asked, *heard)}.values():
            if not turn.linked:
                self._change(replace(turn, linked=True, persona_id=persona_id or turn.persona_id))
        if given[0].unlearned:
            for turn in asked:
                if (kept := self._store.turn(turn.id)) is not None:
                    self.leave_unlearned(kept)
        answers = [turn for turn in (*heard, *told) if turn.role == "assistant"]
        asked = asked or [turn for turn in told if turn.role == "user"]
        if not all(map(self.may_repeat, same)):
            given = [redacted(turn) for turn in given]
        ids = [self._stands_for(turn, asked, answers, batch) for turn in given]
        if heard:
            _keep(self._linked, given[0].id, ids)
        return ids

    def _stands_for(self, turn: Turn, asked: list[Turn], answers: list[Turn], batch: str | None) -> str:
        if turn.role == "user" and asked:
            return asked[0].id
        if turn.role == "assistant" and answers:
            return answers[-1].id
        return self._add(replace(turn, batch=batch)).id

    def of_request(self, scope: Scope, utterance_id: str | None) -> list[Turn]:
        """The turns of the utterance in which something is asked for, oldest first; empty where it was not heard."""
        recent = self._recent(scope.session_id, scope.user_id) if utterance_id is not None else []
        return [turn for turn in recent if turn.utterance_id == utterance_id]

    def forget_texts(self) -> None:
        """Let go of the texts that are kept in mind to link what is heard."""
        self._pieces.clear()
        self._questions.clear()
        self.learner.around.forget()


@dataclass(frozen=True)
class MemoryParts:
    """What the verbs of one memory work with."""

    store: Store
    transcript: Transcript
    clock: Callable[[], float]
    purge_if: Callable[[bool], None]
    """Told whether something was deleted or replaced: that is then gone from the files, at the latest
    with the outermost transaction."""

    @property
    def captures(self) -> CapturePolicy:
        """Whether anything may be kept or used now."""
        return self.transcript.captures


def _answers_without_secrets(turns: Sequence[Turn]) -> list[Turn]:
    """The turns, without the words of what answers one that tells a secret: it may say it again."""
    kept, asked = list[Turn](), None
    for turn in turns:
        asked = turn if turn.role == "user" else asked
        told = turn is not asked and asked is not None and tells_secret(asked.text, asked.lang)
        kept.append(redacted(turn) if told else turn)
    return kept


def _keep(kept: dict, key: object, value: object) -> None:  # type: ignore[type-arg]  # any of the three dicts
    """Keep a value in mind; the oldest goes where there are too many."""
    kept[key] = value
    while len(kept) > REMEMBERED:
        del kept[next(iter(kept))]
