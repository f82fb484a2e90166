"""Everything that people stated about a topic, and what they went on to say of it, or stated at a time, as hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ovos_persona_memory.records import OUTDATED, Entry, Hit, Scope, Turn
from ovos_persona_memory.search.answer_judge import AnswerJudge
from ovos_persona_memory.search.hits import Record, hit_of
from ovos_persona_memory.search.newest import newest_first, replaces
from ovos_persona_memory.search.query import Question
from ovos_persona_memory.search.recall import outdated_turns
from ovos_persona_memory.search.topic_search import (
    groups_about,
    holding,
    is_near_miss,
    is_told_by_person,
    is_told_or_asked,
)
from ovos_persona_memory.stores import Store
from ovos_persona_memory.text import continues, languages

Span = tuple[float | None, float | None]
"""A time, [from, to) in seconds since the epoch, UTC; None: without an end."""
REACH = 6
"""Turns behind a statement among which it is continued, those of the assistant included."""
BEFORE = 3
"""Turns before a statement among which is what it goes on with, those of the assistant included."""
READ_AT_MOST = 500
"""Turns of a time that are looked at."""
LIKE = 12
"""Statements at most that share words with one, among which is looked for what replaces it."""


def statements_about(store: Store, topic: Question, scope: Scope, k: int, judge: AnswerJudge | None) -> list[Hit]:
    """At most ``k`` statements and facts about a topic, the newest first; empty when nothing is found.

    A statement names the topic in any form of its words, or goes on with one that does. Questions, commands and what
    holds no more are none.
    """
    groups = groups_about(store, scope, topic.text, topic.lang)
    if not groups or k <= 0:
        return []
    statements = Statements(store, topic, scope, judge)
    naming = [one for one in holding(store, scope, groups) if not is_near_miss(one, topic.text, topic.lang)]
    naming = [one for one in naming if statements.states(one)]
    more = list(statements.continuations([one for one in naming if isinstance(one, Turn)]))
    turns = [one for one in (*naming, *more) if isinstance(one, Turn)]
    every = list({(type(one), one.id): one for one in (*naming, *more, *statements.replacing(turns))}.values())
    ended = outdated_turns(store, [one for one in every if isinstance(one, Turn)])
    valid = [one for one in every if not (isinstance(one, Turn) and one.seq in ended)]
    found = sorted((hit_of(one, 0.0, True, "is about it") for one in valid), key=lambda hit: -hit.at)
    return [hit for hit in newest_first(found, frozenset().union(*groups)) if not hit.outdated][:k]


def topic_of(store: Store, question: Question, scope: Scope, judge: AnswerJudge | None) -> str:
    """What a question asks about that somebody stated something of, in folded words; empty where nobody did.

    All its words but those that only ask, else those of them that are known, the last among them: of "the daughter of
    ana" nothing is known where nobody spoke of ana.
    """
    asking = {word for line in question.spoken.lines("asking.list") for word in languages.fold(line)}
    small = question.spoken.stop_words | asking
    words = [word for word in languages.fold(question.text) if word not in small and question.spoken.words(word)]
    asked = languages.fold(question.text)

    def is_known(*some: str) -> bool:
        found = statements_about(store, replace(question, text=" ".join(some)), scope, 2, judge) if some else []
        return any(languages.fold(hit.text) != asked for hit in found)

    if is_known(*words):
        return " ".join(words)
    known = [word for word in words if is_known(word)]
    if known[-1:] != words[-1:]:
        return ""
    return " ".join(known if is_known(*known) else known[-1:])


def statements_in(store: Store, asked: Question, scope: Scope, within: Span, judge: AnswerJudge | None) -> list[Hit]:
    """What people stated within this time, and what still holds, oldest first.

    As it is in the log: nothing is searched for. Of a long time the newest ``READ_AT_MOST`` turns are looked at.
    """
    since, until = within
    statements = Statements(store, asked, scope, judge)
    said = [turn for turn in store.turns(scope, READ_AT_MOST, since, until) if turn.text and statements.states(turn)]
    ended = outdated_turns(store, said)
    return [hit_of(turn, 0.0, True, "was said then") for turn in said if turn.seq not in ended]


def said_before(store: Store, hits: Sequence[Hit], persona_id: str | None) -> dict[str, str]:
    """By the id of a hit that only goes on with it, what the same person said right before: "the fitter rang" of "he
    comes on friday"."""
    going_on = [hit for hit in hits if hit.kind == "turn" and hit.role == "user" and _may_go_on(hit.text, hit.lang)]
    turns = [turn for hit in going_on if (turn := store.turn(hit.id)) is not None]
    talks = store.around(turns, BEFORE, persona_id) if turns else []
    found: dict[str, str] = {}
    for turn, talk in zip(turns, talks, strict=True):
        own = [beside for beside in talk if beside.role == "user" and beside.seq < turn.seq]
        last = store.turn(own[-1].id) if own else None
        if last is not None and last.text and last.speaker == turn.speaker:
            after_s = (turn.at or 0.0) - (last.at or 0.0)
            if continues(turn.text, after_s, languages.for_text(turn.lang, turn.text)):
                found[turn.id] = last.text
    return found


def _may_go_on(text: str, lang: str | None) -> bool:
    return continues(text, 0.0, languages.for_text(lang, text))


class Statements:
    """Which records are statements of people."""

    def __init__(self, store: Store, topic: Question, scope: Scope, judge: AnswerJudge | None) -> None:
        self._store, self._topic, self._scope, self._judge = store, topic, scope, judge

    def states(self, record: Record) -> bool:
        """Whether a person states something that was not called off: no question, and no command."""
        if isinstance(record, Entry):
            return not record.metadata.get(OUTDATED)
        if not isinstance(record, Turn):
            return record.status == "active"
        if not self.may_state(record):
            return False
        if self._judge is None:
            return is_told_by_person(record)
        # the words alone would take "que sepáis que ya no como carne" for a question
        is_asked = self._judge.surely_asks(record.text, record.lang)
        return not is_asked and self._judge.to_forget(record.text, record.lang) is None

    def may_state(self, turn: Turn) -> bool:
        """As ``states``, as far as its words tell at once."""
        return bool(turn.text) and is_told_or_asked(turn) and not self._topic.is_itself(turn)

    def continuations(self, turns: Sequence[Turn]) -> Iterator[Turn]:
        """What the same person said right after each of these turns, where it only goes on with it."""
        talks = self._store.around(turns, REACH, self._scope.persona_id) if turns else []
        for turn, talk in zip(turns, talks, strict=True):
            last = turn
            for beside in talk:
                if beside.seq <= turn.seq or beside.role != "user":
                    continue
                behind = self._store.turn(beside.id)
                if behind is None or not self._goes_on(last, behind):
                    break
                yield behind
                last = behind

    def replacing(self, turns: Sequence[Turn]) -> Iterator[Turn]:
        """What moves, cancels or corrects one of these with other words."""
        for turn in turns:
            words = languages.for_text(turn.lang, turn.text).words(turn.text)
            found = self._store.search(words, self._scope, frozenset({"turn"}), LIKE, ())
            newer = (one.record for one in found if isinstance(one.record, Turn))
            old = hit_of(turn, 0.0, True, "")
            yield from (one for one in newer if replaces(old, hit_of(one, 0.0, True, "")) and self.states(one))

    def _goes_on(self, turn: Turn, behind: Turn) -> bool:
        after_s, spoken = (behind.at or 0.0) - (turn.at or 0.0), languages.for_text(behind.lang, behind.text)
        return behind.speaker == turn.speaker and continues(behind.text, after_s, spoken) and self.states(behind)
