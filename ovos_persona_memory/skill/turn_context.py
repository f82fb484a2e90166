"""The context of one utterance: everything that its handler needs to answer it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from ovos_bus_client.message import Message

from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.protocol import MemoryClient, messages
from ovos_persona_memory.records import Hit, HitKind, QuestionKind, Referents, Scope
from ovos_persona_memory.skill.session_state import PendingQuestion, SessionStates, SpokenItem
from ovos_persona_memory.skill.spoken_numbers import day_in_words, number_in_words, sentence
from ovos_persona_memory.text import Language, languages, time_expressions

SKILL = "ovos-skill-persona-memory.openvoiceos"
"""The skill's id on the bus."""
ANSWER_S = 20.0
"""Time that a question waits for its answer, seconds."""
AGAIN_S = 5.0
"""Pause after an answer that did not come in time, seconds, in which nothing is asked."""
AT_A_TIME = 3
"""Memories that are read in one go."""
SPOKEN_PER_S = 12.0
"""Approximate speed of a voice, characters per second."""

Say = Callable[..., None]
"""Speaks a text: ``(message, text, dialog, expect_response)``."""


class QuestionKinds:
    """Asks the memory of what kind an utterance is, which other skills wait for.

    After an answer that did not come in time nothing is asked for a while.
    """

    def __init__(self) -> None:
        self._again_at = 0.0

    def of(self, talk: TurnContext) -> QuestionKind:
        """Of what kind it is; of none while nothing is asked. PersonaMemoryError where the memory does not say so in
        time."""
        if talk.means.clock() < self._again_at:
            return QuestionKind()
        try:
            return talk.client.question_kind(talk.said.text, talk.spoken.tag)
        except PersonaMemoryError:
            self._again_at = talk.means.clock() + AGAIN_S
            raise


@dataclass(frozen=True)
class SkillResources:
    """The clients and state that all utterances of one skill share."""

    speak: Say
    quick: MemoryClient
    """Answers within a second, or fails where the memory is away; it waits longer for a busy one."""
    counting: MemoryClient
    """For counting what would be deleted, which scans all records."""
    patient: MemoryClient
    """For deletions in a large memory."""
    moments: SessionStates
    shared_rooms: Callable[[], frozenset[str]]
    """Rooms in which others may hear, by site_id."""
    clock: Callable[[], float] = time.time
    kinds: QuestionKinds = field(default_factory=QuestionKinds)


@dataclass(frozen=True)
class QuestionEndings:
    """The endings of a question without an answer: what counts as a reply, and the dialogs for the other cases."""

    silent: str
    stopped: str
    unclear: str
    is_reply: Callable[[TurnContext], bool]


class TurnContext:
    """One utterance that reached the skill. Answers go to the session from which it came."""

    def __init__(self, message: Message, means: SkillResources) -> None:
        self._message = message
        self.means = means
        self.said = messages.addressed(message)
        self.spoken: Language = languages.for_language(self.said.lang)
        self.moment = means.moments.state(self.said.session_id)
        self.hushed = False
        """Whether something was left out because others may hear it."""

    @property
    def client(self) -> MemoryClient:
        """The memory, with the rights of the speaker."""
        return self.means.quick

    @property
    def session(self) -> Scope:
        """The scope of the session in which this was said."""
        return Scope(session_id=self.said.session_id)

    @property
    def now(self) -> datetime:
        """The person's local time."""
        return datetime.fromtimestamp(self.means.clock(), time_expressions.zone(self.said.zone)).astimezone(
            time_expressions.zone(self.said.zone)
        )

    @cached_property
    def asker(self) -> str | None:
        """The name of who speaks, where several speak as one user; None where it is not known."""
        return self.client.users.which().name

    def as_heard(self) -> str:
        """The utterance as it was heard, also where the assistant rewrote it before intent matching."""
        return self.moment.heard if self.moment.heard in self.said.forms else self.said.text

    def forms(self) -> list[str]:
        """The utterance as it was heard first, and in every form that the assistant used."""
        heard = [self.moment.heard] if self.moment.heard in self.said.forms else []
        return list(dict.fromkeys([*heard, self.said.text, *self.said.forms]))

    @property
    def is_overheard(self) -> bool:
        """Whether others may hear the answer in this room."""
        return self.said.site_id is not None and self.said.site_id in self.means.shared_rooms()

    def slot(self, name: str) -> str:
        """The value of the intent's slot, stripped; empty where it has none."""
        return self.said.slots.get(name, "").strip()

    def when(self, at: float) -> str:
        """A time in words, in the person's zone."""
        said, tag = datetime.fromtimestamp(at, self.now.tzinfo), self.spoken.tag
        return self.spoken.when(
            said, self.now, lambda number: number_in_words(number, tag), lambda day: day_in_words(day, tag)
        )

    def say(self, dialog: str, **slots: object) -> None:
        """Speak a sentence; numbers in words."""
        self._speak(dialog, self.sentence(dialog, **slots), False)

    def sentence(self, dialog: str, **slots: object) -> str:
        """A sentence of the language, with its numbers in words."""
        return sentence(self.spoken, dialog, **slots)

    def _speak(self, dialog: str, text: str, expect_response: bool) -> None:
        self.means.speak(self._message, text, dialog, expect_response)

    def read(self, sentences: Sequence[str], dialog: str, at_a_time: int = AT_A_TIME, perhaps: str = "") -> None:
        """Read the first few sentences, and keep the rest for "say more", behind them what may belong there."""
        first, self.moment.left = list(sentences[:at_a_time]), list(sentences[at_a_time:])
        self.moment.perhaps = perhaps
        length = sum(map(len, first))
        self.moment.reads_until = self.means.clock() + length / SPOKEN_PER_S
        for text in first:
            self._speak(dialog, text, False)
        if self.moment.left:
            self._speak("say_more", self.spoken.say("say_more"), True)
        elif perhaps:
            self._speak("say_more_perhaps", self.spoken.say("say_more_perhaps"), True)

    def read_on(self) -> None:
        """Read some of the sentences that are left."""
        self.spoke_of(self.moment.unread)
        if self.moment.left:
            self.read(self.moment.left, "told_me", perhaps=self.moment.perhaps)
        else:
            self.read([self.moment.perhaps], "not_sure")

    def spoke_of(self, items: Sequence[SpokenItem], at_a_time: int = AT_A_TIME) -> None:
        """Set the antecedent of "that" in this session: as many of the items as are read in one go."""
        first = [one for item in items[:at_a_time] for one in (item, *item.more)]
        self.moment.items, self.moment.unread = first, list(items[at_a_time:])
        self.spoke_of_the_same()

    def spoke_of_the_same(self) -> None:
        """Keep the antecedent of "that" that was valid before this utterance."""
        self.moment.utterance, self.moment.count_then = self.as_heard(), self.moment.count

    def referents(self) -> Referents:
        """The antecedents of "that": what the skill spoke of in answer to the utterance before, else those that the
        memory knows of the session."""
        if self.moment.items and self.moment.count <= self.moment.count_then + 1:
            quoted = [_hit(item) for item in self.moment.items if item.id]
            asks = self.spoken.is_question(self.moment.utterance)
            known = self.client.referents(self.session, said=self.as_heard()) if asks else Referents()
            return Referents(quoted, about=known.about)
        return self.client.referents(self.session, said=self.as_heard())

    def ask(self, question: str, answer: Callable[[TurnContext], None], ends: QuestionEndings, **slots: object) -> None:
        """Ask a question; the reply is passed to ``answer``."""
        self.means.moments.take_pending(self.said.session_id)
        timer = threading.Timer(ANSWER_S, lambda: self._gave_up(pending, ends.silent))
        timer.daemon = True
        pending = PendingQuestion(
            answer=answer,
            is_reply=ends.is_reply,
            passed_over=lambda talk: talk.say(ends.unclear),
            stopped=lambda: self.say(ends.stopped),
            timer=timer,
        )
        self.moment.pending = pending
        self._speak(question, self.sentence(question, **slots), True)
        timer.start()

    def _gave_up(self, pending: PendingQuestion, silence: str) -> None:
        if self.means.moments.take_pending(self.said.session_id, pending) is not None:
            self.say(silence)

    def forwarded(self, work: Callable[[Message], Any]) -> Any:
        """Run ``work`` with this utterance's message on the stack, where it is looked for."""
        return work(self._message)


def _hit(item: SpokenItem) -> Hit:
    kind: HitKind = "memory" if item.key and item.key != item.id else "turn"
    return Hit(item.id or "", kind, item.text, 0.0, True, "", item.at, speaker=item.speaker, key=item.key)
