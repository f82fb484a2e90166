"""Facts from turns, as they are taken in: what supersedes what, and what was decided."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ovos_persona_memory.config import FactsConfig
from ovos_persona_memory.extraction import (
    NAMING,
    STALE_S,
    Candidate,
    DialogueContext,
    DialogueState,
    ExtractionContext,
    bare_stems,
    extract,
    is_echo,
    naming_words,
    takes_back,
)
from ovos_persona_memory.memory.learning.confidence import (
    SAME_SAYING_S,
    HalfLives,
    confidence_at,
    confidence_said_again,
    fact_of,
    is_subsumed_by,
    same,
    words_of,
)
from ovos_persona_memory.memory.privacy.tombstones import Tombstones
from ovos_persona_memory.records import (
    OUTDATED,
    Decision,
    Entry,
    Fact,
    FactChange,
    Scope,
    Selection,
    Turn,
    replace_fast,
)
from ovos_persona_memory.search import index_words, is_about, is_told_by_person
from ovos_persona_memory.stores import ACTIVE, FactQuery, Store
from ovos_persona_memory.text import correction_in, denial_in, denies, languages, retraction_in, revised, subject_of

AROUND = 20
"""Facts of one place that are looked at: keys may be put somewhere every day."""
ECHO_S, ECHOES = 60.0, 12
"""What the assistant said so shortly before, in so many turns, may come back through the microphone, seconds."""
RETRACTED_S = 90 * 86400.0
"""What was said longer ago is not what somebody calls off or denies now, seconds."""


@dataclass(frozen=True)
class Speaker:
    """Whose a turn is, as far as learning needs to know."""

    known: bool = True
    """Facts are learned of them: no guest, no television, nobody unknown."""
    trust: str = "none"
    """How they were known: none, configured or session."""
    private: int = 0
    """How surely they must be known to whom it is given, 0 to 5."""
    child: bool = False
    """A child, as far as the device knew that heard them."""


def half_lives(config: FactsConfig) -> HalfLives:
    """Days by kind of decay, as the settings say."""
    return {
        "never": None,
        "slow": config.half_life_d,
        "place": config.place_half_life_d,
        "mood": config.mood_half_life_d,
    }


HELD = frozenset({"active", "superseded"})
"""The statuses of facts that tell what somebody is or was called."""
NAMED = 200
"""So many facts of a user are looked at for names."""


@dataclass(frozen=True)
class ReadTurn:
    """What a turn says of its person, before it is compared with what is known of them."""

    turn: Turn
    speaker: Speaker
    candidates: Sequence[Candidate]
    is_echo: bool = False
    """The assistant said these very words a moment before."""


class Learner:
    """Reads turns and writes facts. ``write`` is not thread-safe by itself: call it within a transaction."""

    def __init__(
        self,
        store: Store,
        config: FactsConfig,
        clock: Callable[[], float],
        ledger: Tombstones,
        children: frozenset[str] = frozenset(),
    ) -> None:
        """``children``: users of whom nothing is taken in before somebody reviews it."""
        self._store = store
        self.children = children
        self._ledger = ledger
        self._facts = store.fact_store
        self.config = config
        self._clock = clock
        self._half_lives = half_lives(config)
        self._renamed: deque[str] = deque()
        """Users whose names are to be read anew; any thread may add one."""
        self.around = DialogueState(store.users, self._naming_facts)

    def apart(self) -> Learner:
        """Another one for what is found elsewhere than where turns are read: only ``take_in``.

        It knows nothing of the dialogue, and tells this one what it learned of names.
        """
        made = Learner(self._store, self.config, self._clock, self._ledger, self.children)
        made._renamed = self._renamed
        return made

    def _before(self, turn: Turn) -> DialogueContext:
        """What is known when a turn is said, with the names as they are now."""
        self._renew_names()
        return self.around.before(turn)

    def _renew_names(self) -> None:
        while self._renamed:
            self.around.forget_names(self._renamed.popleft())

    def _naming_facts(self, user_id: str, slot: str) -> list[Fact]:
        """A user's facts of a slot that names people; a name that they had counts too."""
        statuses = HELD if slot == "name" else ACTIVE
        return self._facts.facts(FactQuery(Scope(user_id=user_id), statuses, slot, limit=NAMED))

    def learn(self, turn: Turn, speaker: Speaker = Speaker()) -> list[str]:
        """Take in what a turn says about its person, as ``write`` does; most turns say nothing. ``turn`` is in the
        store."""
        return self.write(self.read(turn, speaker)) if self.config.learn else []

    def read(self, turn: Turn, speaker: Speaker = Speaker()) -> ReadTurn:
        """What a turn says about its person; changes nothing in the store. One that nothing is to be learned from is
        not read."""
        if turn.unlearned:
            return ReadTurn(turn, speaker, [], is_echo=False)
        before = self._before(turn)
        whole, turn = turn, replace_fast(turn, text=languages.beginning(turn.text))
        before = replace(before, corrects=self._corrected(turn, before))
        verdicts = extract(whole, ExtractionContext(speaker.known, before))
        tells = any(one.outcome != "refused" for one in verdicts)
        return ReadTurn(turn, speaker, verdicts, tells and is_echo(turn.text, self._told_before(turn)))

    def write(self, said: ReadTurn) -> list[str]:
        """Keep what was read of a turn that is in the store: facts, decisions, what the next turn may refer to.

        The ids of the facts that were learned or confirmed, each once.
        """
        turn, speaker = said.turn, said.speaker
        if turn.unlearned:
            self.around.note(turn)
            return []
        if turn.role == "user":
            self.around.keep_judged(turn, said.candidates)
        verdicts = [Candidate("refused", "echo", "")] if said.is_echo else said.candidates
        learned = self.take_in(turn, verdicts, speaker)
        if speaker.known and turn.role == "user" and turn.text:
            self._retract(turn)
            if takes_back(turn.text, turn.lang):
                self._take_back_last(turn)
        self._renew_names()
        self.around.note(turn)
        return learned

    def take_in(self, turn: Turn, verdicts: Sequence[Candidate], speaker: Speaker = Speaker()) -> list[str]:
        """Keep what a turn in the store says of its person, as it was found anywhere; within a transaction.

        The ids of the facts that were learned or confirmed, each once.
        """
        learned: list[str] = []
        for verdict in (self._of_child(self._unless_forgotten(one, turn), turn, speaker) for one in verdicts):
            fact = self._take(verdict, turn, speaker)
            self._decided(verdict, turn, fact)
            if fact is not None and verdict.outcome not in ("waiting", "ended"):
                learned.append(fact.id)
        return list(dict.fromkeys(learned))

    def _unless_forgotten(self, verdict: Candidate, turn: Turn) -> Candidate:
        """What was said before it was forgotten is not learned; what is said again after that is new."""
        if verdict.outcome == "refused" or not self._ledger.was_forgotten(turn.user_id, verdict.text, turn.lang):
            return verdict
        if self._ledger.came_late(turn.user_id, verdict.text, turn.lang, turn.at):
            return Candidate("refused", "forgotten", "", verdict.slot)
        self._ledger.lift(turn.user_id, verdict.text, turn.lang)
        return verdict

    def _of_child(self, verdict: Candidate, turn: Turn, speaker: Speaker) -> Candidate:
        """What a child says about itself waits for review; it takes nothing back by itself."""
        is_child = speaker.child or turn.user_id in self.children
        if not is_child or verdict.outcome == "refused":
            return verdict
        if verdict.outcome == "ended":
            return Candidate("refused", "child", "", verdict.slot)
        return verdict.waiting("child")

    def refuse(self, turn: Turn, reason: str) -> None:
        """Note that a part of a turn was not looked at, and why."""
        if self.config.learn:
            self._decided(Candidate("refused", reason, ""), turn, None)

    def leave_secret(self, turn: Turn) -> None:
        """Take in a turn that is kept without its words, for the secret that it tells: nothing is learned of it, and so
        it need not be read. What it calls off holds no more."""
        if self.config.learn:
            short = replace_fast(turn, text=languages.beginning(turn.text))
            self.write(ReadTurn(short, Speaker(), [Candidate("refused", "secret", "")]))

    def unlearn(self, turn_ids: Sequence[str]) -> None:
        """Take out the facts of these turns as though they had never been said: what they superseded holds again."""
        self.around.forget_turns(turn_ids)
        for fact in self._facts.of_turns(turn_ids):
            self.reinstate_before([fact])
            self._facts.delete([fact.id])
            self.around.forget()

    def reinstate_before(self, going: Sequence[Fact]) -> None:
        """What these facts superseded holds again, but for those that go, too. They go next."""
        gone = {fact.id for fact in going}
        for fact in going:
            for before in self._at_places(fact):
                if before.superseded_by == fact.id and before.id not in gone:
                    self._reinstate(before, fact)

    def leave_out_of_history(self, going: Sequence[Fact]) -> None:
        """What these facts superseded tells of them no more, and stays as what held until then. They go next."""
        gone = {fact.id for fact in going}
        around = {one.id: one for fact in going for one in self._at_places(fact)}.values()
        for before in (one for one in around if one.superseded_by in gone and one.id not in gone):
            changes = self._facts.changes([before.id])
            self._facts.delete([before.id])  # with its changes, which are kept anew
            self._put(replace(before, superseded_by=None))
            for change in changes:
                self._facts.add_change(replace(change, new=None) if change.new is not None else change)

    def say_elsewhere(self, fact: Fact, turn: Turn) -> Fact:
        """A fact is from now on the one that another turn told, in its words."""
        told = [one for one in extract(turn, ExtractionContext(before=self._before(turn))) if one.slot == fact.slot]
        same_again = [one for one in told if same(fact_of(one, turn, ""), fact)]
        text, value = (same_again[0].text, same_again[0].value) if same_again else (turn.text, fact.value)
        at = fact.last_seen_at if turn.at is None else turn.at
        moved = replace(fact, text=text, value=value, turn_id=turn.id, created_at=at, valid_from=at)
        return self._put(
            replace(
                moved,
                session_id=turn.session_id,
                site_id=turn.site_id,
                task_id=turn.task_id,
                persona_id=turn.persona_id,
                speaker=turn.speaker,
            )
        )

    def _retract(self, turn: Turn) -> None:
        """What a statement calls off, moves or denies holds no more: "the meeting is cancelled".

        A longer text than is understood as a whole, a letter perhaps, is not called off by one sentence.
        """
        spoken = languages.for_text(turn.lang, turn.text)
        taken_back = None if spoken.is_question(turn.text) else retraction_in(turn.text, spoken)
        words = () if taken_back is None else taken_back.words or self._just_named(turn)
        if not words:
            return
        at = turn.at or 0.0
        for one in self._store.select(Selection(Scope(user_id=turn.user_id), words=words, since=at - RETRACTED_S)):
            earlier = one.seq < turn.seq and (one.at or 0.0) <= at if isinstance(one, Turn) else one.updated_at <= at
            whole = one.text == languages.beginning(one.text)
            if (
                earlier
                and whole
                and is_told_by_person(one)
                and not _tells_of_another(one, turn)
                and not denies(one.text, languages.for_text(one.lang, one.text))
            ):
                self.outdate(one, at, turn.id)

    def _just_named(self, turn: Turn) -> tuple[frozenset[str], ...]:
        """The content words of what the person said right before, in this session: "it was moved to friday"."""
        if turn.session_id is None:
            return ()
        talk = self._store.turns(Scope(turn.session_id, turn.user_id), limit=ECHOES)
        said = [one for one in talk if one.role == "user" and one.text and one.seq < turn.seq]
        if not said or not 0.0 <= (turn.at or 0.0) - (said[-1].at or 0.0) <= STALE_S:
            return ()
        return subject_of(said[-1].text, languages.for_text(said[-1].lang, said[-1].text))

    def outdate(self, record: Turn | Entry, at: float, turn_id: str | None, what: str = "ended") -> None:
        """What was told holds no more from then on: it stays in the log, and answers nothing.

        ``turn_id``: the turn that says so. ``what``: ended, or corrected.
        """
        if isinstance(record, Entry):
            self._store.put_entry(replace(record, metadata={**record.metadata, OUTDATED: True}), index_words(record))
            return
        taught = self._facts.of_turns([record.id])
        if not taught:  # a statement of no known kind: it is known as one that held until then
            verdict = Candidate("learned", "stated", record.text, thing=index_words(record))
            taught = [fact_of(verdict, record, uuid.uuid4().hex)]
        for fact in taught:
            if fact.status != "superseded":
                self._note(self._put(replace(fact, status="superseded", valid_until=at)), what, at, turn_id)

    def accept(self, fact: Fact) -> Fact:
        """A fact that waited is one that holds."""
        taken = self._settle(replace(fact, status="active", confidence=confidence_said_again(fact.confidence)))
        self._note(taken, "accepted", self._clock(), None)
        return taken

    def add(self, made: Fact) -> Fact:
        """Take in a fact that no turn tells, by the same rules: confirmed, in place of another, or waiting."""
        if made.status == "waiting":
            return self._wait(made)
        kept = self._settle(made)
        topics = tuple(dict.fromkeys((*kept.topics, *made.topics)))
        return kept if topics == kept.topics else self._put(replace(kept, topics=topics))

    def update(self, fact: Fact, updated: Fact) -> Fact:
        """Put what is known of a fact in the place of what was; it tells the same as before."""
        self._note(fact, "updated", self._clock(), None)
        return self._put(updated)

    def correct(self, fact: Fact, corrected: Fact) -> Fact:
        """Put another fact in place of one, whatever was said when."""
        kept = self._put(corrected)
        self._put(replace(fact, status="superseded", valid_until=kept.valid_from, superseded_by=kept.id))
        self._note(fact, "corrected", kept.valid_from, None, kept.text)
        self._note(kept, "learned", kept.valid_from, None)
        return kept

    # what a verdict does

    def _take(self, verdict: Candidate, turn: Turn, speaker: Speaker) -> Fact | None:
        if verdict.outcome == "refused":
            return None
        made = replace(fact_of(verdict, turn, uuid.uuid4().hex), trust=speaker.trust, private=speaker.private)
        if self._ledger.sweeps.takes_fact(made, words_of(made)):
            return None
        if verdict.outcome == "waiting":
            return self._wait(made)
        if verdict.outcome == "ended":
            return self._end(made)
        return self._settle(made)

    def _wait(self, made: Fact) -> Fact:
        known = [one for one in self._around(made) if same(one, made)]
        if known:
            return known[-1]
        self._note(made, "waiting", made.created_at, made.turn_id)
        return self._put(made)

    def _settle(self, made: Fact) -> Fact:
        """Find its place among the facts about the same: confirmed, in place of another, or late."""
        around = [one for one in self._around(made) if one.id != made.id]
        active = next((one for one in around if one.status == "active"), None)
        if active is not None and is_subsumed_by(made, active):
            return self._confirm(active, made)
        later = [one for one in around if one.status != "waiting" and self._is_later(one, made)]
        if later:
            return self._file_behind(made, min(later, key=_last_word))
        kept = self._put(made)
        self._note(kept, "learned", made.valid_from, made.turn_id)
        if active is not None:
            self._supersede(active, kept)
        return kept

    def _is_later(self, known: Fact, made: Fact) -> bool:
        """Whether the last word about a known fact was said after a fact that is made, or taken in, now.

        Times decide it, so that what arrives late finds its place; but a time that is still to come was told by a
        clock that ran ahead and says nothing: then the order of arrival decides, and what is new arrives last.
        """
        if max(_last_word(known), made.valid_from) > self._ledger.sweeps.now():
            return 0 < made.seq < known.seq
        return _last_word(known) > made.valid_from

    def _around(self, made: Fact) -> list[Fact]:
        """What is known at its place: the newest; all where it is older than those, or none of them is active."""
        newest = self._at_places(made, AROUND)
        active = any(one.status == "active" for one in newest)
        if len(newest) < AROUND or (active and made.valid_from > newest[0].valid_from):
            return newest
        return self._at_places(made)

    def _at_places(self, made: Fact, limit: int | None = None) -> list[Fact]:
        """The facts at its place, oldest first, and those of a speaker whom nobody named: what Ann and Bob say of
        themselves stands side by side, and who was not named may be either."""
        own = self._facts.at_place(made.user_id, made.place, limit)
        if made.speaker is None:
            return own
        nobodys = self._facts.at_place(made.user_id, replace(made, speaker=None).place, limit)
        return sorted([*nobodys, *own], key=lambda one: (one.valid_from, one.seq)) if nobodys else own

    def _confirm(self, active: Fact, made: Fact) -> Fact:
        if made.status == "active" and self._facts.fact(made.id):
            self._facts.delete([made.id])  # a reviewed one that was learned meanwhile
        at = made.last_seen_at
        if abs(at - active.last_seen_at) < SAME_SAYING_S:
            return active
        sure = confidence_said_again(confidence_at(active, max(at, active.last_seen_at), self._half_lives))
        self._note(active, "said_again", at, made.turn_id)
        return self._put(
            replace(
                active,
                confidence=max(sure, active.confidence) if at < active.last_seen_at else sure,
                last_seen_at=max(at, active.last_seen_at),
                created_at=min(at, active.created_at),
            )
        )

    def _file_behind(self, made: Fact, later: Fact) -> Fact:
        """What was said before something newer is known as what held until then."""
        until = max(later.valid_from, made.valid_from)
        kept = self._put(replace(made, status="superseded", valid_until=until, superseded_by=later.id))
        self._note(kept, "superseded", until, made.turn_id)
        return kept

    def _supersede(self, active: Fact, by: Fact) -> None:
        self._put(replace(active, status="superseded", valid_until=by.valid_from, superseded_by=by.id))
        self._note(active, "superseded", by.valid_from, by.turn_id, by.text)

    def _end(self, made: Fact) -> Fact | None:
        """Something was taken back: kept as a fact that held for no time, so that nothing older comes back."""
        ending = [one for one in self._ended_by(made) if not self._is_later(one, made)]
        if not ending and any(one.status == "active" for one in self._around(made)):
            return None
        kept = self._put(replace(made, status="superseded", valid_until=made.valid_from))
        for active in ending:
            self._put(replace(active, status="superseded", valid_until=made.valid_from, superseded_by=kept.id))
            self._note(active, "ended", made.valid_from, made.turn_id, made.text)
        return kept

    def _ended_by(self, made: Fact) -> list[Fact]:
        """The active facts of which something says that they hold no more: those whose value or thing it names; all of
        the kind where it names none, "i retired"."""
        scope = Scope(user_id=made.user_id)
        slots = ("likes", "dislikes") if made.slot in ("likes", "dislikes") else (made.slot,)
        held = [one for slot in slots for one in self._facts.facts(FactQuery(scope, ACTIVE, slot, limit=NAMED))]
        held = [one for one in held if one.subject == made.subject or made.slot in NAMING]
        if not made.subject:  # "i retired" is about nobody else
            held = [
                one for one in held if one.subject or one.speaker == made.speaker or None in (one.speaker, made.speaker)
            ]
        named = [one for one in held if made.value is None or _is_named(one, made)]
        if made.slot in ("likes", "dislikes"):
            named = [one for one in named if one.slot == made.slot]
        return named

    def _reinstate(self, before: Fact, gone: Fact) -> None:
        then = self._facts.fact(gone.superseded_by) if gone.superseded_by else None
        if then is not None:
            self._put(replace(before, superseded_by=then.id, valid_until=gone.valid_until))
            return
        self._put(replace(before, status="active", superseded_by=None, valid_until=None))
        self._note(before, "reinstated", self._clock(), None)

    # keeping

    def _put(self, fact: Fact) -> Fact:
        if fact.slot in NAMING:
            self._renamed.append(fact.user_id)
        return self._facts.put(fact, words_of(fact))

    def _note(self, fact: Fact, what: str, at: float, turn_id: str | None, new: str | None = None) -> None:
        old = fact.text if new is not None else None
        self._facts.add_change(FactChange(fact.id, what, at, fact.user_id, turn_id, old, new))

    def _decided(self, verdict: Candidate, turn: Turn, fact: Fact | None) -> None:
        reason = verdict.reason if fact is not None or verdict.outcome == "refused" else "late"
        fact_id = fact.id if fact else None
        self._facts.add_decision(
            Decision(verdict.outcome, reason, self._clock(), turn.user_id, turn.id, fact_id, verdict.slot)
        )

    def _corrected(self, turn: Turn, before: DialogueContext) -> str:
        """What was just said with the correction of this turn in it: "i live in bonn" behind "no in cologne".

        Empty where this turn puts nothing right.
        """
        if turn.session_id is None or turn.role != "user" or not turn.text:
            return ""
        language = languages.for_text(turn.lang, turn.text)
        right = correction_in(turn.text, language) or denial_in(turn.text, language)
        if right is None:
            return ""
        said = [one for one in self._just_said(turn) if one.role == "user"]
        asked = said[0].text if said and not is_told_by_person(said[0]) else ""
        for one in said:
            if is_about(one, asked, turn.lang) and self._taught(one, before):
                found = revised(one.text, right, language)
                if found is not None:
                    return found.text
        return ""

    def _just_said(self, turn: Turn) -> list[Turn]:
        """What was said right before in this session, the newest first."""
        recent = self._store.turns(Scope(turn.session_id, turn.user_id), limit=ECHOES)
        at = turn.at or 0.0
        return [
            one for one in reversed(recent) if one.id != turn.id and one.text and 0.0 <= at - (one.at or 0.0) <= STALE_S
        ]

    def _taught(self, one: Turn, before: DialogueContext) -> bool:
        """Whether a turn before this one told facts."""
        told = self.around.judged(one)
        if told is None:
            told = extract(one, ExtractionContext(before=replace(before, said="", corrects="")))
            self.around.keep_judged(one, told)
        return any(said.outcome in ("learned", "waiting") and said.slot for said in told)

    def _take_back_last(self, turn: Turn) -> None:
        """What the person told last holds no more: "that was a joke"."""
        last = next((one for one in self._just_said(turn) if one.role == "user"), None) if turn.session_id else None
        if last is None:
            return
        for fact in self._facts.of_turns([last.id]):
            if fact.status in ("active", "waiting"):
                self._note(
                    self._put(replace(fact, status="superseded", valid_until=fact.valid_from)),
                    "ended",
                    turn.at or 0.0,
                    turn.id,
                )

    def _told_before(self, turn: Turn) -> list[str]:
        if turn.session_id is None:
            return []
        at = turn.at or 0.0
        recent = self._store.turns(Scope(turn.session_id, turn.user_id), limit=ECHOES)
        told = [one for one in recent if one.role == "assistant" and one.seq < turn.seq]
        return [one.text for one in told if at - ECHO_S <= (one.at or 0.0) <= at]


def _last_word(fact: Fact) -> float:
    """When something was last said about a fact: that it holds, or that it does not."""
    taken_back = fact.valid_until is not None and fact.valid_until == fact.valid_from
    return fact.valid_from if taken_back else fact.last_seen_at


def _tells_of_another(one: Turn | Entry, turn: Turn) -> bool:
    """Whether it is known that another than the speaker of a turn said it, of themselves alone: "i play chess"."""
    speaker = one.speaker if isinstance(one, Turn) else None
    if None in (speaker, turn.speaker) or speaker == turn.speaker:
        return False
    known, words = naming_words(languages.for_text(one.lang, one.text).tag), set(languages.fold(one.text))
    return not known.speaker.isdisjoint(words) and known.shared.isdisjoint(words)


def _is_named(held: Fact, made: Fact) -> bool:
    """Whether the words of what is taken back name the value or the thing of a fact."""
    told, value = (bare_stems(one.value or "", one.lang) for one in (made, held))
    thing = frozenset(held.thing.split())
    return bool(told) and ((bool(value) and (value <= told or told <= value)) or (bool(thing) and told <= thing))
