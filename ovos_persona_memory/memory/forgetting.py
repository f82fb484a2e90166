"""Forgetting: from what somebody asks to have forgotten to the records that go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from ovos_persona_memory import extraction
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.memory.privacy.pending_deletions import TELLING, ForgottenText
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import (
    Entry,
    Fact,
    Foreseen,
    ForgetConditions,
    Forgotten,
    Hit,
    Scope,
    Selection,
    Turn,
    refuse_unusable,
)
from ovos_persona_memory.search import hit_of, is_told_by_person, says_the_same, topic_search
from ovos_persona_memory.text import languages

NOTED = 20_000
"""Of the turns that are forgotten together, so many of the newest are known again when they come again."""
READ = 20
"""Of so many records at most it is read whether they tell anything: of more only the number is told."""
JUST_ASKED_S = 30.0
"""Without an utterance id, the newest thing said within so long may be the request to forget, seconds."""
SAID = frozenset({"learned", "said_again"})
"""Changes of a fact that a turn made by saying it."""


@dataclass(frozen=True)
class _Plan:
    """What goes, worked out before anything is changed."""

    selection: Selection
    gone: Sequence[Turn | Entry]
    """What is selected of turns and memories."""
    facts: Sequence[Fact]
    """What is selected of facts, and what these had superseded: their history names them."""
    elsewhere: Sequence[tuple[Fact, Turn]]
    """Facts that stay, as they were said outside of what is selected, too: then and there from now on."""
    retold: Sequence[Entry | Fact]
    """Memories and facts beside these that say the same in the same words."""
    redacted: Sequence[Turn]
    """Turns that told what goes: they stay without their words."""
    notes: Sequence[tuple[str, str]]
    """User and session of summaries that hold the words of the query, besides those that go with their turns."""
    told: Sequence[_Told]
    """The lasting texts among what is selected, and each statement that is named by its id."""


@dataclass(frozen=True)
class _Told:
    """A lasting text that goes, and the turns that are known to have told it."""

    user_id: str
    text: str
    lang: str | None
    turn_ids: Sequence[str | None]
    is_named: bool = False
    """Whether it is a statement that is named by its id."""
    secret: bool = False

    @cached_property
    def words(self) -> tuple[frozenset[str], ...]:
        """Its content words, in every form."""
        return languages.statement_word_groups(self.text, self.lang)


class Forgetting:
    """The verbs of PersonaMemory about forgetting."""

    def __init__(self, workings: MemoryParts) -> None:
        self._workings = workings
        self._store = workings.store
        self._ledger = workings.transcript.ledger

    def forget(self, scope: Scope, wanted: ForgetConditions) -> Forgotten:
        """See PersonaMemory.forget."""
        refuse_unusable(wanted)
        with self._store.transaction():
            asking = self._asking(wanted)
            selection = self._selection(scope, wanted, asking)
            without_id = wanted.asked_in if wanted.utterance_id is None else None
            forgotten = self._carry_out(self._plan(selection, without_id), asking)
        if without_id is not None:
            self._workings.transcript.asked_to_forget(without_id)
        self._workings.purge_if(_is_anything(forgotten) or bool(asking))
        return forgotten

    def preview(self, scope: Scope, wanted: ForgetConditions) -> Foreseen:
        """What ``forget`` would forget; changes nothing."""
        refuse_unusable(wanted)
        without_id = wanted.asked_in if wanted.utterance_id is None else None
        plan = self._plan(self._selection(scope, wanted, self._asking(wanted)), without_id)
        kinds = _with_more(self._store.count(plan.selection), plan, len(plan.notes), len(plan.redacted))
        going: list[topic_search.Record] = [*plan.gone, *plan.facts, *plan.retold]
        held = [one for one in (*going, *plan.redacted) if is_told_by_person(one)]
        told = held if len(held) > READ else [one for one in held if not _only_asks(one)]
        return Foreseen(kinds, _each_once(told), list(dict.fromkeys(one.id for one in going)))

    def delete(self, selection: Selection) -> Forgotten:
        """Forget what is selected: gone from the files when this, or the transaction around it, ends."""
        return self.delete_each([(selection, None)])[0]

    def delete_each(self, chosen: Sequence[tuple[Selection, Sequence[str] | None]]) -> list[Forgotten]:
        """The same of several, each by itself, all or nothing; with the slots where it is all facts in these."""
        with self._store.transaction():
            forgotten = [self._carry_out(self._plan(selection), (), slots) for selection, slots in chosen]
        self._workings.purge_if(any(map(_is_anything, forgotten)))
        return forgotten

    # what goes

    def _selection(self, scope: Scope, wanted: ForgetConditions, asking: Sequence[Turn]) -> Selection:
        conditions = (wanted.key, wanted.ids, wanted.query, wanted.topic, wanted.since, wanted.until, wanted.source)
        places = (scope.session_id, scope.site_id, scope.task_id)
        if not wanted.everything and all(condition is None for condition in (*conditions, *places)):
            raise InvalidRequest("everything", "must be true to forget everything of this scope")
        chosen = Selection(
            scope,
            keys=None if wanted.key is None else (wanted.key,),
            owners=self._owners(scope, wanted.key),
            ids=None if wanted.ids is None else tuple(wanted.ids),
            since=wanted.since,
            until=wanted.until,
            words=None if wanted.query is None else languages.query_word_groups(wanted.query, wanted.lang),
            spare=tuple(turn.id for turn in asking),
            source=wanted.source,
        )
        return chosen if wanted.topic is None else self._about(wanted.topic, wanted.lang, chosen)

    def _about(self, topic: str, lang: str | None, chosen: Selection) -> Selection:
        """The selection narrowed to what is about a topic, or to the one statement that the topic is.

        What is found for the stem of a word alone, and says another word, is not meant.
        """
        words = topic_search.groups_about(self._store, chosen.scope, topic, lang)
        narrowed = replace(chosen, words=words)
        held: list[topic_search.Record] = [*self._store.select(narrowed), *self._store.fact_store.chosen(narrowed)]
        missed = {one.id for one in held if topic_search.is_near_miss(one, topic, lang)}
        told = [one for one in held if one.id not in missed and is_told_by_person(one)]
        alone = topic_search.meant_alone(told, topic, lang)
        if len(alone) < len(told):
            return replace(chosen, ids=tuple(one.id for one in alone))
        return replace(narrowed, spare=(*narrowed.spare, *missed))

    def _owners(self, scope: Scope, key: str | None) -> tuple[str | None, ...] | None:
        """Whose memory a key means among those of a user; None where there is none, or everybody's are meant."""
        meant = self._store.entry_in(key, scope) if key is not None and scope.user_id is not None else None
        return None if meant is None else (meant.persona_id,)

    def _asking(self, wanted: ForgetConditions) -> list[Turn]:
        """The turns in which this is asked for: they are kept, without their words."""
        if wanted.asked_in is None:
            return []
        return self._workings.transcript.of_request(wanted.asked_in, wanted.utterance_id)

    def _plan(self, selection: Selection, asked_in: Scope | None = None) -> _Plan:
        selection = replace(selection, scope=replace(selection.scope, secrets=True))  # they are forgotten as all else
        gone = self._store.select(selection, NOTED)
        entries = [record for record in gone if isinstance(record, Entry)]
        facts, elsewhere = self._facts_of(selection, gone)
        lasting = [*map(self._told_entry, entries), *map(self._told_fact, facts), *_statements(selection, gone)]
        known = {entry.id for entry in entries} | {fact.id for fact in (*facts, *(fact for fact, _ in elsewhere))}
        retold = {one.id: one for told in lasting for one in self._retold(told, selection) if one.id not in known}
        telling = [turn for told in lasting for turn in self._telling(told, selection) if _reaches(selection, turn)]
        telling += self._just_asked(asked_in, lasting) if asked_in is not None else []
        taken = {record.id for record in gone} | set(selection.spare)
        redacted = {turn.id: turn for turn in telling if turn.id not in taken and not turn.redacted}
        notes = self._notes_holding(selection, gone)
        return _Plan(selection, gone, facts, elsewhere, list(retold.values()), list(redacted.values()), notes, lasting)

    def _facts_of(
        self, selection: Selection, gone: Sequence[Turn | Entry]
    ) -> tuple[list[Fact], list[tuple[Fact, Turn]]]:
        """The facts that go with a selection; and those said outside of it as well, with the last such turn."""
        chosen = self._store.fact_store.chosen(selection)
        if not _is_part(selection):
            return self._with_history(chosen), []
        named = [
            fact for fact in chosen if fact.id in (selection.ids or ())
        ]  # it is meant itself, wherever it was said
        said = [(fact, self._said_elsewhere(fact, selection, gone)) for fact in chosen if fact not in named]
        staying = [(fact, turn) for fact, turn in said if turn is not None]
        return [*named, *(fact for fact, turn in said if turn is None)], staying

    def _said_elsewhere(self, fact: Fact, selection: Selection, gone: Sequence[Turn | Entry]) -> Turn | None:
        """The last turn outside of a selection that said the same; None where there is none any more.

        Whoever names a statement means it wherever it was said in the same words.
        """
        same = (
            [languages.statement_word_groups(one.text, one.lang) for one in gone] if selection.ids is not None else []
        )
        changes = self._store.fact_store.changes([fact.id])
        ids = [change.turn_id for change in changes if change.what in SAID and change.turn_id is not None]
        turns = (self._store.turn(turn_id) for turn_id in reversed(ids))
        told = (turn for turn in turns if turn is not None and not (turn.redacted or turn.unlearned))
        there = (turn for turn in told if not _takes(selection, turn))
        return next((turn for turn in there if not any(says_the_same(turn, words) for words in same)), None)

    def _with_history(self, facts: Sequence[Fact]) -> list[Fact]:
        """The facts, and all that they superseded: how that ended is told in their words."""
        found = {fact.id: fact for fact in facts}
        for user_id, place in {(fact.user_id, fact.place) for fact in facts}:
            around = self._store.fact_store.at_place(user_id, place)
            for fact in reversed(around):
                if fact.superseded_by in found:
                    found[fact.id] = fact
        return list(found.values())

    def _told_entry(self, entry: Entry) -> _Told:
        return _Told(entry.user_id, entry.text, entry.lang, [entry.turn_id], entry.secret)

    def _told_fact(self, fact: Fact) -> _Told:
        # what took its place tells something else
        told = [change for change in self._store.fact_store.changes([fact.id]) if change.what != "superseded"]
        return _Told(fact.user_id, fact.text, fact.lang, [fact.turn_id, *(change.turn_id for change in told)])

    def _retold(self, told: _Told, selection: Selection) -> Iterable[Entry | Fact]:
        """Memories and facts of the same person, as far as forgetting reaches, that say the same in the same words."""
        if not _is_looked_for(told, selection):
            return
        here = replace(selection.scope, user_id=told.user_id)
        same = Selection(here, words=told.words, kinds=frozenset({"memory", "fact"}))
        same = replace(same, since=selection.since, until=selection.until)
        held = [record for record in self._store.select(same) if isinstance(record, Entry)]
        alike: list[Entry | Fact] = [*held, *self._store.fact_store.chosen(same)]
        for one in alike:
            if says_the_same(one, told.words):
                yield one

    def _telling(self, told: _Told, selection: Selection) -> Iterable[Turn]:
        """The turns that a lasting text came from with what answered them, and those that tell it.

        A person's turn tells it where it, or one of its sentences, has just the same content words. The assistant's
        tells it where it holds them all, unless it quotes something that stays and says more.
        """
        sources = (self._store.turn(turn_id) for turn_id in told.turn_ids if turn_id is not None)
        for source in sources:
            if source is None or (_takes_all_it_reaches(selection) and source.user_id == told.user_id):
                continue
            if _holds(source.text, told.words):  # else it was put right since
                asked = Scope(session_id=source.session_id, user_id=source.user_id)
                yield from (source, *self._workings.transcript.of_request(asked, source.utterance_id))
        if not _is_looked_for(told, selection):
            return
        holding = self._store.select(Selection(Scope(user_id=told.user_id), words=told.words))
        turns = [one for one in holding if isinstance(one, Turn)]
        same = {one.id for one in holding if not _is_answer(one) and says_the_same(one, told.words)}
        yield from (turn for turn in turns if turn.id in same)
        answers = [turn for turn in turns if _is_answer(turn)]
        staying = [one for one in holding if answers and one.id not in same and is_told_by_person(one)]
        more = [languages.statement_word_groups(one.text, one.lang) for one in staying]
        yield from (turn for turn in answers if _retells(turn, told, more))

    def _just_asked(self, asked_in: Scope, lasting: Sequence[_Told]) -> list[Turn]:
        """On the stable line, where utterances have no id: what was just said, if it names what is forgotten."""
        since = self._workings.clock() - JUST_ASKED_S
        said = [turn for turn in self._store.turns(asked_in, since=since) if turn.role == "user"][-1:]
        asked = [turn for turn in said if turn.source == "heard" and turn.utterance_id is None]
        named = {form for told in lasting for group in told.words for form in group}
        return [turn for turn in asked if not named.isdisjoint(languages.for_language(turn.lang).words(turn.text))]

    def _notes_holding(self, selection: Selection, gone: Sequence[Turn | Entry]) -> list[tuple[str, str]]:
        narrower = (selection.keys, selection.ids, selection.since, selection.until, selection.source)
        if selection.words is None or any(one is not None for one in narrower):
            return []
        retelling = set(self._store.notes_retelling([record for record in gone if isinstance(record, Turn)]))
        held = ((name[:2], f"{name[2].summary} {name[2].description}") for name in self._store.notes(selection.scope))
        return [name for name, text in held if name not in retelling and _holds(text, selection.words)]

    # its going

    def _carry_out(self, plan: _Plan, asking: Sequence[Turn], slots: Sequence[str] | None = None) -> Forgotten:
        learner = self._workings.transcript.learner
        for fact, turn in plan.elsewhere:
            learner.say_elsewhere(fact, turn)
        if plan.selection.ids is not None:
            learner.leave_out_of_history(plan.facts)
        elif _is_part(plan.selection):
            learner.reinstate_before(plan.facts)
        forgotten = self._store.delete(plan.selection)
        memories = tuple(one.id for one in plan.retold if isinstance(one, Entry))
        self._store.delete(Selection(Scope.whole(), ids=memories, kinds=frozenset({"memory"})))
        without_source = self._store.fact_store.of_turns([turn.id for turn in plan.redacted])
        facts = [*plan.facts, *(one for one in plan.retold if isinstance(one, Fact)), *without_source]
        self._store.fact_store.delete([fact.id for fact in facts])
        notes = forgotten.notes + self._store.delete_notes(plan.notes)
        redacted = self._store.redact([turn.id for turn in plan.redacted])
        self._store.redact([turn.id for turn in asking])
        told = [(one.user_id, one.text, one.lang) for one in (*facts, *plan.retold) if not _is_secret(one)]
        texts = (ForgottenText(one.user_id, one.words) for one in plan.told if not one.secret)
        self._ledger.sweeps.note(plan.selection, texts, slots)
        if plan.gone or plan.redacted or told:
            # a guess at a code of four digits is soon right: of a secret not even that much is kept
            self._ledger.note([one for one in (*plan.gone, *plan.redacted) if not _is_secret(one)], told)
            for fact, turn in plan.elsewhere:
                self._ledger.lift(fact.user_id, turn.text, fact.lang)
            self._workings.transcript.forget_texts()
        return _with_more(replace(forgotten, notes=0), plan, notes, redacted)


def _is_looked_for(told: _Told, selection: Selection) -> bool:
    """Whether what says the same as a text that goes is looked for: nothing else does, where it says too little."""
    return not _takes_all_it_reaches(selection) and len(told.words) >= (1 if told.is_named else TELLING)


def _takes_all_it_reaches(selection: Selection) -> bool:
    """Whether it names people, places and times alone: whatever of theirs says the same is selected itself then, or out
    of its reach."""
    narrower = (selection.keys, selection.ids, selection.words, selection.source)
    whose = (selection.scope.persona_id, selection.scope.status)
    return all(one is None for one in (*narrower, *whose)) and selection.kinds == Selection(selection.scope).kinds


def _is_answer(record: Turn | Entry) -> bool:
    return isinstance(record, Turn) and record.role != "user"


def _statements(selection: Selection, gone: Sequence[Turn | Entry]) -> Iterable[_Told]:
    """The statements that are named by their ids: what says the same goes with them."""
    for one in gone if selection.ids is not None else ():
        if isinstance(one, Turn) and is_told_by_person(one):
            yield _Told(one.user_id, one.text, one.lang, [one.id], is_named=True)


def _retells(turn: Turn, told: _Told, more: Sequence[Sequence[frozenset[str]]]) -> bool:
    """Whether a turn of the assistant that holds the words of a text retells it.

    ``more``: the content words of what stays and holds all words of the text, too: who quotes that says more.
    """
    said = languages.fold(turn.text)
    if len(told.words) < TELLING:  # one word is in many a sentence
        whole = languages.fold(languages.for_language(told.lang).without_lead(told.text))
        return any(said[n : n + len(whole)] == whole for n in range(len(said) - len(whole) + 1))
    held = {form for group in languages.statement_word_groups(turn.text, turn.lang) for form in group}
    return not any(all(not held.isdisjoint(group) for group in words) for words in more)


def _each_once(records: Iterable[topic_search.Record]) -> list[Hit]:
    """What people told as hits, each thing once by its words, the newest first; a turn rather than what came of it.

    A secret comes without its words.
    """
    each = {one.id: one for one in records}
    made = {one.id for one in each.values() if not isinstance(one, Turn) and one.turn_id in each}
    ordered = sorted((one for one in each.values() if one.id not in made), key=lambda one: not isinstance(one, Turn))
    once = {languages.statement_words(one.text, one.lang) or one.text: one for one in reversed(ordered)}
    hits = (hit_of(one, 0.0, False, "") for one in once.values())
    return sorted((replace(hit, text="") if hit.secret else hit for hit in hits), key=lambda hit: -hit.at)


def _is_secret(record: Turn | Entry | Fact) -> bool:
    return isinstance(record, Entry) and record.secret


def _is_part(selection: Selection) -> bool:
    """Whether it names a session, a room, a task, a time or single records: what was said elsewhere stays then."""
    scope, named = selection.scope, (selection.since, selection.until, selection.ids)
    return any(one is not None for one in (scope.session_id, scope.site_id, scope.task_id, *named))


def _takes(selection: Selection, turn: Turn) -> bool:
    """Whether a turn is one of those that are selected."""
    return _reaches(selection, turn) and (selection.ids is None or turn.id in selection.ids)


def _reaches(selection: Selection, turn: Turn) -> bool:
    """Whether forgetting reaches a turn that told what goes: who names a session or a time means no other."""
    scope, at = selection.scope, turn.at or 0.0
    return (
        scope.session_id in (None, turn.session_id)
        and scope.site_id in (None, turn.site_id)
        and scope.task_id in (None, turn.task_id)
        and (selection.since is None or at >= selection.since)
        and (selection.until is None or at < selection.until)
    )


def _with_more(counted: Forgotten, plan: _Plan, notes: int, redacted: int) -> Forgotten:
    """What the store counts, and what goes with it."""
    return replace(
        counted,
        memories=counted.memories + sum(isinstance(one, Entry) for one in plan.retold),
        facts=counted.facts + sum(isinstance(one, Fact) for one in plan.retold),
        notes=counted.notes + notes,
        redacted=redacted,
    )


def _only_asks(record: topic_search.Record) -> bool:
    """Whether a turn asks behind a clause, or asks to have something forgotten, in whatever words."""
    if not isinstance(record, Turn):
        return False
    said = (record.text or "", record.lang)
    return extraction.asked_in(*said) != said[0] or extraction.to_forget(*said) is not None


def _is_anything(forgotten: Forgotten) -> bool:
    return any(asdict(forgotten).values())


def _holds(text: str, groups: Sequence[frozenset[str]]) -> bool:
    spoken = languages.for_text(None, text)
    held = {form for word in spoken.bare_words(text) for form in languages.forms(word, spoken, languages.known())}
    return bool(groups) and all(not held.isdisjoint(group) for group in groups)
