"""The skill as ovos-core loads it: intents, fallback, replies and stops by session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from ovos_bus_client.message import Message
from ovos_utils import classproperty
from ovos_utils.log import LOG
from ovos_utils.process_utils import RuntimeRequirements
from ovos_workshop.skills.converse import ConversationalSkill
from ovos_workshop.skills.fallback import FallbackSkill

from ovos_persona_memory.config import bus_address
from ovos_persona_memory.errors import CapturePaused, NeedsApproval, NotAllowed, PersonaMemoryError, Unanswered
from ovos_persona_memory.protocol import HurriedTransport, MemoryClient, Transport, messages, shared_transport, topics
from ovos_persona_memory.skill import intent_matching, secrets_kept, tell
from ovos_persona_memory.skill.intent_matching import NOT, MatchedIntent
from ovos_persona_memory.skill.intent_samples import write_few
from ovos_persona_memory.skill.intents import HANDLERS, INTENTS, meant, possibly_meant, unseen
from ovos_persona_memory.skill.phrasing import is_said
from ovos_persona_memory.skill.session_state import SessionStates
from ovos_persona_memory.skill.turn_context import QuestionKinds, SkillResources, TurnContext
from ovos_persona_memory.text import languages

ANSWER_WITHIN_S = 0.8
"""Timeout of the memory before it is said to be away, seconds: within a second people hear it."""
BUSY_S = 10.0
"""Extra time where the memory reports that it is only slow, because of a stalling card perhaps, seconds."""
GLANCE_WITHIN_S = 0.35
"""How long the decision whether an utterance is for the memory may wait for it, seconds: other skills wait, too, and
ovos-core half a second at most."""
SECRETS_WITHIN_S = 0.15
"""The same for whether it asks for a secret, behind that."""
COUNT_WITHIN_S = 3.0
"""Timeout of counting what would be deleted, seconds: on a busy device it takes longer than a question."""
DELETE_WITHIN_S = 60.0
"""Timeout of a deletion before it is said to have failed, seconds."""
BEFORE_OTHERS = 4
"""Priority of the fallback, a high one: an explicit request to the memory is for no other skill."""


class PersonaMemorySkill(ConversationalSkill, FallbackSkill):  # type: ignore[misc]  # ovos_workshop carries no types
    """The skill. Each utterance is answered in the session from which it came."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # an editable install has the locale folder beside the package, not in it
        kwargs.setdefault("resources_dir", str(languages.locale_folder().parent))
        self._means: SkillResources | None = None
        self._transport: Transport | None = None
        self._glances = QuestionKinds()
        self._secrets = secrets_kept.SecretLookup(messages.now)
        super().__init__(*args, **kwargs)

    @classproperty  # type: ignore[untyped-decorator]  # ovos_utils carries no types
    def runtime_requirements(self) -> RuntimeRequirements:
        """The skill needs neither a network nor a screen."""
        return RuntimeRequirements(
            internet_before_load=False,
            network_before_load=False,
            gui_before_load=False,
            requires_internet=False,
            requires_network=False,
            requires_gui=False,
            no_internet_fallback=True,
            no_network_fallback=True,
            no_gui_fallback=True,
        )

    def initialize(self) -> None:
        """Connect to the daemon in the background, and register the intents of every module."""
        self._transport = transport = shared_transport(**bus_address())
        # a person means their own statements, to whichever persona they were made
        quick = MemoryClient(transport, ANSWER_WITHIN_S, BUSY_S, ANSWER_WITHIN_S, of_person=True)
        counting = MemoryClient(transport, COUNT_WITHIN_S, of_person=True)
        patient = MemoryClient(transport, DELETE_WITHIN_S, BUSY_S, ANSWER_WITHIN_S, of_person=True)
        moments = SessionStates(messages.now)
        self._means = SkillResources(self._speak, quick, counting, patient, moments, self._shared_rooms, messages.now)
        self.add_event(topics.UTTERANCE[0], self._heard, speak_errors=False)
        self.res_dir = self.file_system.path
        write_few(languages.locale_folder(), Path(self.res_dir) / "locale", self.native_langs)
        for name in INTENTS:
            self._offer(name)
        for lang in self.native_langs:
            intent_matching.preload(languages.for_language(lang), HANDLERS)
        self.register_fallback(self.handle_otherwise, BEFORE_OTHERS)

    def _heard(self, message: Message) -> None:
        # utterance transformers expand and fold what follows: a memory is kept in the speaker's own words
        said = messages.addressed(message)
        self._moments.hear(said.session_id, said.text, said.lang)

    def _offer(self, name: str) -> None:
        def handle(message: Message) -> None:
            # the engine was given few wordings: of several intents it may have chosen the one that it knows, and taken
            # more into a slot than belongs there
            known = self._meant(message)
            if known is None:
                self._answer(message, name)
            else:
                self._answer_as(message, known, is_told=known.intent == name)

        handle.__name__ = f"handle_{name}"
        self.register_intent_file(f"{name}.intent", handle, voc_blacklist=[NOT[name]] if name in NOT else [])

    # utterances that no intent engine matched

    def can_answer(self, message: Message, *_: Any) -> bool:
        """Whether the utterance is an explicit request to the memory, or asks for a secret in it.

        ovos-core waits half a second for it: a busy memory is given less, and looked into by the handler. Whoever says
        yes is the only one that is asked, so that what others may answer, too, is left to them then.
        """
        if self._meant(message, possibly_meant, self._within(GLANCE_WITHIN_S)) is not None:
            return True
        return self._secrets.answers(messages.addressed(message), self._within(SECRETS_WITHIN_S).quick)

    def handle_otherwise(self, message: Message) -> bool:
        """Handle an utterance that no intent engine matched."""
        known = self._meant(message) or unseen(self._talk(message))
        if known is None:
            return secrets_kept.tell(self._talk(message))
        self.activate()
        self._answer_as(messages.activate_skill(message, self.skill_id), known)
        return True

    def _meant(
        self,
        message: Message,
        by: Callable[[TurnContext], MatchedIntent | None] = meant,
        means: SkillResources | None = None,
    ) -> MatchedIntent | None:
        talk = self._talk(message, means)
        return self._secrets.meant(talk.said, by(talk), talk.client)

    def _within(self, within_s: float) -> SkillResources:
        """What an utterance needs for which there is little time, all in all."""
        if self._means is None or self._transport is None:
            raise RuntimeError("the skill is not initialised")
        hurried = HurriedTransport(self._transport, within_s)
        return replace(self._means, quick=MemoryClient(hurried, within_s, of_person=True), kinds=self._glances)

    def _answer_as(self, message: Message, known: MatchedIntent, is_told: bool = False) -> None:
        """Run the handler of the intent, and tell observers of intents, our daemon among them, which one it is, if none
        has yet."""
        said = messages.addressed(message)
        slots, name = dict(known.slots), f"{self.skill_id}:{known.intent}"
        about = {"utterance": said.text, "lang": said.lang, "skill_id": self.skill_id}
        if not is_told:
            self.bus.emit(message.forward(topics.MATCHED[0], {**about, "intent_name": name, "slots": slots}))
        self._answer(message.forward(name, {**about, "utterances": list(said.forms), **slots}), known.intent)

    def _answer(self, message: Message, name: str) -> None:
        handler, room = HANDLERS[name]
        talk = self._talk(message)
        talk.means.moments.take_pending(talk.said.session_id)
        self._guard(talk, lambda: handler(talk), room)

    def _guard(self, talk: TurnContext, work: Callable[[], Any], room: ModuleType) -> Any:
        """Run the handler; a failure is spoken."""
        try:
            return work()
        except CapturePaused:
            talk.say("not_remembering")
        except NotAllowed:
            talk.say("changes_closed")
        except NeedsApproval:
            talk.say("needs_approval")
        except PersonaMemoryError as error:
            LOG.warning("the memory could not do it: %s", error.reason)
            talk.say(room.PERHAPS if isinstance(error, Unanswered) else room.FAILED)
        return True

    def _talk(self, message: Message, means: SkillResources | None = None) -> TurnContext:
        if (means := means or self._means) is None:
            raise RuntimeError("the skill is not initialised")
        return TurnContext(message, means)

    def _speak(self, _message: Message, text: str, dialog: str, expect_response: bool) -> None:
        # OVOSSkill.speak finds the message in this frame, and answers in its session
        self.speak(text, expect_response=expect_response, meta={"dialog": dialog})

    def _shared_rooms(self) -> frozenset[str]:
        listed = str(self.settings.get("shared_rooms") or "")
        return frozenset(room.strip() for room in listed.split(",") if room.strip())

    # replies

    def can_converse(self, message: Message) -> bool:
        """Whether the utterance answers a question of ours, or asks for more to be read.

        A question or command of its own is left to other skills; our question ends then.
        """
        said = messages.addressed(message)
        moment = self._moments.existing_state(said.session_id)
        if moment is None:
            return False
        if moment.pending is None:
            return moment.has_more and self._asks_for_more(message)
        talk = self._talk(message, self._within(GLANCE_WITHIN_S))
        if moment.pending.is_reply(talk):
            return True
        pending = self._moments.take_pending(said.session_id)
        if pending is not None:
            pending.passed_over(talk)
        return False

    def converse(self, message: Message) -> bool:
        """Handle the reply."""
        talk = self._talk(message)
        pending = self._moments.take_pending(talk.said.session_id)
        if pending is not None:
            self._guard(talk, lambda: pending.answer(talk), tell)
        elif talk.moment.has_more and self._asks_for_more(message):
            talk.read_on()
        else:
            return False
        return True

    def _asks_for_more(self, message: Message) -> bool:
        talk = self._talk(message)
        return is_said(talk.spoken.phrases("more.voc"), talk.said.text) and len(talk.said.text.split()) <= 6

    @property
    def _moments(self) -> SessionStates:
        return self._means.moments if self._means is not None else SessionStates(messages.now)

    # stop

    def can_stop(self, message: Message) -> bool:
        """Whether a question of ours is open in the session, or a text is being read in it."""
        moment = self._moments.existing_state(messages.addressed(message).session_id)
        return moment is not None and (moment.pending is not None or moment.reads_until > messages.now())

    def stop_session(self, session: Any) -> bool:
        """Stop reading; an open question is closed, and the person is told that nothing was deleted."""
        moment = self._moments.existing_state(session.session_id)
        pending = self._moments.take_pending(session.session_id)
        if moment is None:
            return False
        was_reading = moment.reads_until > messages.now()
        moment.left, moment.perhaps, moment.reads_until = [], "", 0.0
        if was_reading:
            self.bus.emit(Message(topics.HUSH, {"skill_id": self.skill_id}, {"session": session.serialize()}))
        if pending is not None:
            pending.stopped()
        return pending is not None or was_reading

    def shutdown(self) -> None:
        """Close every open question: nothing is deleted any more."""
        self._moments.clear()
