"""A household that talks to its memory in this process: the real skill's functions, the real Scribe and the real verbs.

What an assistant does between them is played here: an utterance is heard, whoever it is for answers, and what is
spoken is heard again. There is no bus, so that thousands of talks take seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ovos_bus_client.message import Message
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.opm import chat
from ovos_persona_memory.protocol import MemoryClient, messages
from ovos_persona_memory.protocol.transport import BusTransport
from ovos_persona_memory.records import Claim, Heard, Request, Scope
from ovos_persona_memory.service.verb_handlers import answer
from ovos_persona_memory.skill import forget, intents, turn_context
from ovos_persona_memory.skill.phrasing import is_said
from ovos_persona_memory.skill.session_state import SessionStates
from ovos_persona_memory.skill.turn_context import SkillResources, TurnContext
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.text import languages

SESSION = "s"
SKILL = turn_context.SKILL


class Wire:
    """In the place of a bus connection: each request is answered at once, as the daemon answers it."""

    connected = True

    def __init__(self, home: Household, transport: BusTransport) -> None:
        self._home, self._transport = home, transport

    def send(self, frame: bytes) -> bool:
        asked = messages.from_the_bus(messages.decode(frame, self._home.now))
        assert isinstance(asked, Request)
        carried = {"session": {"session_id": SESSION, "lang": self._home.lang}, "utterance_id": self._home.utterance_id}
        asked = replace(asked, context=carried, utterance_id=self._home.utterance_id, scope=Scope(session_id=SESSION))
        try:
            outcome = {"ok": True, **answer(self._home.memory, MemoryConfig(), asked, owner=False)}
        except PersonaMemoryError as error:
            outcome = {"ok": False, "error": error.code, "reason": error.reason}
        self._transport._arrived(messages.response(asked, outcome))
        return True


class Household:
    """One session with one memory. ``say`` gives what is answered; ``now`` is the time, a second an utterance."""

    def __init__(self, store: Store, patch: pytest.MonkeyPatch, lang: str = "en-US") -> None:
        self.lang, self.now, self.utterance_id = lang, 1_800_000_000.0, "u-0"
        self.store = store
        self.memory = PersonaMemory(store, MemoryConfig(), lambda: self.now)
        transport = BusTransport(host="127.0.0.1", port=1, route="/core", ssl=False)
        transport.bus = Wire(self, transport)  # type: ignore[assignment]  # never started: nothing is sent anywhere
        client = MemoryClient(transport, 5.0)
        self._client = client
        self.begin_anew()
        patch.setattr(chat, "shared_transport", lambda **_: transport)
        patch.setattr(threading, "Timer", NoTimer)
        self._scribe = chat.RecallChatEngine({})
        self._spoken: list[tuple[str, str]] = []

    def begin_anew(self) -> None:
        """Everything is forgotten, and nothing was spoken of."""
        self.memory.forget(everything=True)
        self._moments = SessionStates(lambda: self.now)
        clients = (self._client, self._client, self._client)
        self._means = SkillResources(self._speak, *clients, self._moments, frozenset, lambda: self.now)

    def _speak(self, _message: Message, text: str, dialog: str, _expects: bool) -> None:
        self._spoken.append((dialog, text))

    def say(self, text: str, name: str | None = None) -> list[str]:
        """Say it, and give what is answered; ``name``: of who speaks, as a recogniser of voices gives it."""
        self.now += 1
        self.utterance_id = f"u-{self.now:.0f}"
        self._hear("utterance", text, claim=Claim(name))
        self._moments.hear(SESSION, text, self.lang)
        said = TurnContext(self._message(text), self._means)
        pending = said.moment.pending
        if pending is not None and pending.is_reply(said):
            self._moments.take_pending(SESSION)
            self._matched(text, "converse")
            pending.answer(said)
        else:
            if pending is not None:
                self._moments.take_pending(SESSION)
                pending.passed_over(said)
            if said.moment.has_more and is_said(said.spoken.phrases("more.voc"), text) and len(text.split()) <= 6:
                said.read_on()
            else:
                self._answer(text, said)
        spoken, self._spoken = self._spoken, []
        for dialog, answered in spoken:
            self._hear("speech", answered, dialog=dialog, skill_id=SKILL if dialog else "persona.openvoiceos")
        return [answered for _, answered in spoken]

    def _answer(self, text: str, said: TurnContext) -> None:
        meant = intents.meant(said)
        if meant is None:
            self._matched(text, "ask", "persona.openvoiceos")
            asked = [AgentMessage(role=MessageRole.USER, content=text)]
            self._spoken.append(("", self._scribe.continue_chat(asked, SESSION, self.lang).content))
            return
        self._matched(text, meant.intent)
        handler, _ = intents.HANDLERS[meant.intent]
        handler(TurnContext(self._message(text, **meant.slots), self._means))

    def _message(self, text: str, /, **slots: Any) -> Message:
        context = {"session": {"session_id": SESSION, "lang": self.lang}, "utterance_id": self.utterance_id}
        return Message("said", {"utterance": text, "utterances": [text], "lang": self.lang, **slots}, context)

    def _matched(self, text: str, intent: str, skill_id: str = SKILL) -> None:
        self._hear("matched", text, intent=f"{skill_id}:{intent}", skill_id=skill_id)

    def _hear(self, what: str, text: str, **fields: Any) -> None:
        known = {} if what == "utterance" else {"utterance_id": self.utterance_id}
        heard = Heard(what, Scope(session_id=SESSION), self.now, text, self.lang, session_id=SESSION, **known, **fields)
        self.memory.hear(heard)

    # what is there

    def texts(self) -> list[str]:
        """The words of everything that is kept of anybody: turns, memories, facts of every state."""
        every = Scope.everyone()
        held = [record.text for record, _ in self.store.documents(every, frozenset({"turn", "memory"}))]
        return [*held, *(one.text for one in self.memory.facts.list(every, status="all", limit=10_000))]

    def told(self) -> list[str]:
        """The words of what the person said, memories and facts that hold."""
        turns = [turn.text for turn in self.store.turns(Scope()) if turn.role == "user" and turn.text]
        facts = [one.text for one in self.memory.facts.list(limit=1000)]
        return [*turns, *self.notes(), *facts]

    def notes(self) -> list[str]:
        """The lasting memories."""
        return [entry.text for entry in self.memory.list(limit=1000)]

    def holds(self, *words: str) -> bool:
        """Whether one of them all holds all of these words."""
        return any(set(words) <= set(languages.fold(text)) for text in self.texts())


class NoTimer:
    """In the place of a timer: patience does not end here."""

    daemon = True

    def __init__(self, *_: Any) -> None:
        """Nothing is started."""

    def start(self) -> None:
        """It waits for ever."""

    def cancel(self) -> None:
        """It never began."""


def household(store: Store, lang: str = "en-US") -> Iterator[Household]:
    """A household on a store, for a fixture; deletions are made before it answers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forget, "SOON_S", 60.0)
        yield Household(store, patch, lang)
