"""One utterance, and all that its handler needs to answer it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ovos_bus_client.message import Message

from ovos_persona_memory.protocol import MemoryClient, messages
from ovos_persona_memory.records import Hit, HitKind, Referents, Scope
from ovos_persona_memory.skill.session_state import PendingQuestion, SessionStates, SpokenItem
from ovos_persona_memory.skill.spoken_numbers import day_in_words, in_words, sentence
from ovos_persona_memory.text import Language, languages, time_expressions

SKILL = "ovos-skill-persona-memory.openvoiceos"
"""What the skill is called on the bus."""
ANSWER_S = 20.0
"""How long a question waits for its answer, seconds."""
AT_A_TIME = 3
"""Memories that are read in one go."""
SPOKEN_PER_S = 12.0
"""Characters that a voice reads in a second, about."""

Say = Callable[..., None]
"""Speaks a text: ``(message, text, dialog, expect_response)``."""


@dataclass(frozen=True)
class SkillResources:
    """What every talk of one skill shares."""

    speak: Say
    quick: MemoryClient
    """Answers within a second, or says that nobody is there; of one that is there and busy it waits for the answer."""
    counting: MemoryClient
    """For what goes through all that is kept: counting what would be deleted."""
    patient: MemoryClient
    """For what takes its time: deleting from a large memory."""
    moments: SessionStates
    shared_rooms: Callable[[], frozenset[str]]
    """Rooms in which others may hear, by site_id."""
    clock: Callable[[], float] = time.time


@dataclass(frozen=True)
class QuestionEndings:
    """How a question ends that is not answered: what is a reply, and the dialogs for where there is none."""

    silent: str
    stopped: str
    unclear: str
    is_reply: Callable[[TurnContext], bool]


class TurnContext:
    """One utterance that reached the skill. What is said goes to the session from which it came."""

    def __init__(self, message: Message, means: SkillResources) -> None:
        self._message = message
        self.means = means
        self.said = messages.addressed(message)
        self.spoken: Language = languages.for_language(self.said.lang)
        self.moment = means.moments.state(self.said.session_id)
        self.hushed = False
        """Something was left out because others may hear it."""

    @property
    def client(self) -> MemoryClient:
        """The memory, as the person who speaks may reach it."""
        return self.means.quick

    @property
    def session(self) -> Scope:
        """The session in which this was said."""
        return Scope(session_id=self.said.session_id)

    @property
    def now(self) -> datetime:
        """The person's wall clock."""
        return datetime.fromtimestamp(self.means.clock(), time_expressions.zone(self.said.zone)).astimezone(
            time_expressions.zone(self.said.zone)
        )

    def as_heard(self) -> str:
        """The utterance as it was heard, also where the assistant rewrote it before its intents."""
        return self.moment.heard if self.moment.heard in self.said.forms else self.said.text

    def forms(self) -> list[str]:
        """The utterance as it was heard first, and in every form that the assistant went by."""
        heard = [self.moment.heard] if self.moment.heard in self.said.forms else []
        return list(dict.fromkeys([*heard, self.said.text, *self.said.forms]))

    @property
    def is_overheard(self) -> bool:
        """Whether others may hear what is said in this room."""
        return self.said.site_id is not None and self.said.site_id in self.means.shared_rooms()

    def slot(self, name: str) -> str:
        """What the intent's slot took, without blanks around it; empty where it took nothing."""
        return self.said.slots.get(name, "").strip()

    def when(self, at: float) -> str:
        """When that was, in words, in the person's zone."""
        said, tag = datetime.fromtimestamp(at, self.now.tzinfo), self.spoken.tag
        return self.spoken.when(
            said, self.now, lambda number: in_words(number, tag), lambda day: day_in_words(day, tag)
        )

    def say(self, dialog: str, **slots: object) -> None:
        """Speak a sentence; numbers in words."""
        self._speak(dialog, self.sentence(dialog, **slots), False)

    def sentence(self, dialog: str, **slots: object) -> str:
        """A sentence of the language, with its numbers in words."""
        return sentence(self.spoken, dialog, **slots)

    def _speak(self, dialog: str, text: str, expect_response: bool) -> None:
        self.means.speak(self._message, text, dialog, expect_response)

    def read(self, sentences: Sequence[str], dialog: str) -> None:
        """Read the first few sentences, and keep the rest for who says "say more"."""
        first, self.moment.left = list(sentences[:AT_A_TIME]), list(sentences[AT_A_TIME:])
        length = sum(map(len, first))
        self.moment.reads_until = self.means.clock() + length / SPOKEN_PER_S
        for text in first:
            self._speak(dialog, text, False)
        if self.moment.left:
            self._speak("say_more", self.spoken.say("say_more"), True)

    def read_on(self) -> None:
        """Read some of what is left."""
        self.spoke_of(self.moment.unread)
        self.read(self.moment.left, "told_me")

    def spoke_of(self, items: Sequence[SpokenItem]) -> None:
        """Keep in mind what "that" means from now on in this session: as much of it as is read in one go."""
        self.moment.items, self.moment.unread = list(items[:AT_A_TIME]), list(items[AT_A_TIME:])
        self.spoke_of_the_same()

    def spoke_of_the_same(self) -> None:
        """Keep in mind that "that" still means what it meant before this utterance."""
        self.moment.utterance, self.moment.count_then = self.as_heard(), self.moment.count

    def referents(self) -> Referents:
        """What "that" means: what the skill itself spoke of in answer to the utterance before, else what the memory
        knows of the session."""
        if self.moment.items and self.moment.count <= self.moment.count_then + 1:
            return Referents(quoted=[_hit(item) for item in self.moment.items if item.id])
        return self.client.referents(self.session, said=self.as_heard())

    def ask(self, question: str, answer: Callable[[TurnContext], None], ends: QuestionEndings, **slots: object) -> None:
        """Ask, and have the reply given to ``answer``."""
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
        """Do something for this utterance: whoever looks for its message on the stack finds it."""
        return work(self._message)


def _hit(item: SpokenItem) -> Hit:
    kind: HitKind = "memory" if item.key and item.key != item.id else "turn"
    return Hit(item.id or "", kind, item.text, 0.0, True, "", item.at, speaker=item.speaker, key=item.key)
