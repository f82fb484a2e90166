"""The recall chat engine: answers a persona from what was said, without a language model."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Any

# The stable line has no chat engines: this import fails there and the plugin is not offered.
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole

from ovos_persona_memory.config import bus_address, seconds
from ovos_persona_memory.conversation import prompt
from ovos_persona_memory.errors import PersonaMemoryError, StoreUnavailable, Unanswered
from ovos_persona_memory.protocol import MemoryClient, shared_transport
from ovos_persona_memory.records import Hit, QuestionKind, Scope, Turn, answers_to_tell
from ovos_persona_memory.text import (
    Language,
    fold,
    holds_question_word,
    is_long,
    is_worth_checking,
    languages,
    statement_asked_about,
    tells_secret,
    until_its_end,
)

LOOKED_AT, AT_A_TIME = 20, 3
"""Hits that are looked at, and how many answers are told in one go."""
ABOUT = 50
"""Statements at most about something."""
SESSIONS = 64
"""Sessions at most whose untold answers are kept."""
IF_ASKED_FROM = 0.85
"""What hardly asks is answered beside being taken in with what answers with such a probability, >=: so 7 of 15
questions in the words of a remark are, and 26 of 1,265 remarks, "the van failed" after "the van is going for its test"
(16 weeks, 2026-12-01)."""
ITSELF_S, SAME = 30.0, 0.8
"""What was said within so many seconds, and is the same to such a share of its words, >=, is what is being answered."""
BUSY_S = 3.0
"""Extra time where the memory reports that it is only slow, seconds."""


@dataclass(frozen=True)
class _Found:
    """What the memory found for a question."""

    hits: Sequence[Hit]
    """Of people, best first."""

    @property
    def answers(self) -> list[Hit]:
        """What is told of them."""
        return answers_to_tell(self.hits)

    def without(self, utterance: str) -> _Found:
        """The same without the utterance itself, which was recorded when it was heard."""
        return _Found([hit for hit in self.hits if not _is_itself(hit, utterance)])


class RecallChatEngine(ChatEngine):  # type: ignore[misc]  # ovos_plugin_manager carries no types
    """Answers with quotations of people's own words, or says that it knows nothing; it never makes anything up.

    A question is answered from the best sure hit, with when it was said; where none is sure, with what may answer, and
    that this is not sure. A statement is confirmed once it is on disk, in its own words where these are worth
    checking. With ``fallthrough: true`` a message that it cannot answer yields
    nothing, so that the persona's next handler may try.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(config)
        transport = shared_transport(**bus_address(self.config.get("host"), self.config.get("port")))
        self._client = MemoryClient(transport, seconds(self.config, "timeout_s", 2.0), BUSY_S)
        self._left: dict[str | None, list[Hit]] = {}
        """By session, the answers that are not told yet."""

    def continue_chat(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
        tools: Any = None,
    ) -> AgentMessage:
        """The answer to the last user message; empty content leaves it to the next handler."""
        asked = [message.content for message in messages if message.role == MessageRole.USER]
        spoken = languages.for_language(lang or self.lang)
        # notes that the memory put before the utterance are neither question nor statement
        text = (
            self._reply(prompt.without_notes(asked[-1]).strip(), Scope(session_id=session_id), spoken) if asked else ""
        )
        return AgentMessage(role=MessageRole.ASSISTANT, content=text)

    def stream_sentences(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
    ) -> Iterable[str]:
        """The answer as one sentence; nothing where it is left to the next handler."""
        text = self.continue_chat(messages, session_id, lang, units).content
        if text:
            yield text

    def _reply(self, utterance: str, scope: Scope, spoken: Language) -> str:
        if _asks_for_help(utterance, spoken) and not self._falls_through:
            return spoken.say("help")
        left = self._left.pop(scope.session_id, [])
        if left and fold(utterance) in [fold(line) for line in spoken.phrases("more.voc")]:
            return self._told(left, scope, spoken)
        asked = statement_asked_about(utterance, spoken.tag)
        asks = bool(asked)
        try:
            kind = self._kind(utterance, spoken)
            if stated := self._all_about(kind.asks_about, scope, spoken):
                return self._told(stated, scope, spoken)
            if not asked and spoken.is_question(utterance) and self._surely_asks(utterance, spoken):
                asked, asks = utterance, True
            if asked:
                return self._answer(self._found(asked, scope, spoken), scope, spoken)
            tells_to_do = spoken.is_command(utterance) and not holds_question_word(utterance, spoken)
            # "is tom a vegetarian", "read me what is on the list", "tell me everything there is to buy"
            asks = kind.wants_all or (not tells_to_do and self._asks(utterance, spoken))
            if asks:
                return self._answer_or_take_in(utterance, scope, spoken)
            known = self._known_if_asked(utterance, scope, spoken)
            return " ".join([self._take_in(utterance, scope, spoken), *known])
        except PersonaMemoryError as error:
            if self._falls_through:
                return ""
            not_done = "kept_perhaps" if isinstance(error, Unanswered) else "not_kept"
            return spoken.say("memory_away" if asks else not_done)

    def _asks(self, utterance: str, spoken: Language) -> bool:
        """Whether the memory finds a question; False where it takes too long to say: the words are then recorded."""
        try:
            return self._client.asks(utterance, spoken.tag)
        except Unanswered:
            return False

    def _kind(self, utterance: str, spoken: Language) -> QuestionKind:
        """Of what kind it is; of none where the memory takes too long to say."""
        try:
            return self._client.question_kind(utterance, spoken.tag)
        except Unanswered:
            return QuestionKind()

    def _all_about(self, topic: str, scope: Scope, spoken: Language) -> list[Hit]:
        """Everything that was stated about something; empty where no topic is given, or the memory takes too long."""
        try:
            hits = self._client.recall(topic, scope, k=ABOUT, lang=spoken.tag, about=True) if topic else []
        except Unanswered:
            return []
        return _each_once(self._own_unnamed([hit for hit in hits if hit.role == "user"]), spoken)

    def _surely_asks(self, utterance: str, spoken: Language) -> bool:
        """Whether what begins as a question is one; True where the memory takes too long to say."""
        try:
            return self._client.surely_asks(utterance, spoken.tag)
        except Unanswered:
            return True

    def _found(self, question: str, scope: Scope, spoken: Language) -> _Found:
        hits = self._client.recall(question, scope, k=LOOKED_AT, lang=spoken.tag)
        found = _Found([hit for hit in hits if hit.role == "user"])
        if not found.answers and self._client.degraded:
            raise StoreUnavailable("nothing is known on this device, and the store is away")
        return found

    def _answer(self, found: _Found, scope: Scope, spoken: Language) -> str:
        """The answers, quoted, the first of several; that nothing is known where there is none."""
        told = [hit for hit in found.answers if hit.answers or not self._falls_through]
        told = _each_once(self._own_unnamed(told), spoken)
        if told:
            return self._told(told, scope, spoken)
        return "" if self._falls_through else spoken.say("nothing_known")

    def _answer_or_take_in(self, utterance: str, scope: Scope, spoken: Language) -> str:
        """The answer to what may ask in the words of a statement, "a teresa gosta de gatos".

        Where nothing known answers it, it is taken for a remark, unless it surely asks; and who asked hears that
        nothing is known.
        """
        found = self._found(utterance, scope, spoken).without(utterance)
        is_answered = any(hit.answers for hit in found.answers)
        if is_answered or self._falls_through or self._client.surely_asks(utterance, spoken.tag):
            return self._answer(found, scope, spoken)
        taken_in = self._take_in(utterance, scope, spoken)
        if not spoken.is_statement(utterance):
            return taken_in
        return " ".join([taken_in, spoken.say("if_asked", text=spoken.say("nothing_known"))])

    def _known_if_asked(self, utterance: str, scope: Scope, spoken: Language) -> list[str]:
        """What surely answers a remark if it is a question, "ruben è ancora malato", as a sentence; empty where nothing
        does, or the memory takes too long to say."""
        if self._falls_through or not spoken.is_statement(utterance):
            return []
        try:
            found = self._found(utterance, scope, spoken) if self._client.may_ask(utterance, spoken.tag) else None
        except Unanswered:
            return []
        answers = [hit for hit in found.without(utterance).answers if hit.answers] if found is not None else []
        told = [hit for hit in answers if (hit.confidence or 0.0) >= IF_ASKED_FROM]
        told = _each_once(self._own_unnamed(told), spoken)
        return [spoken.say("if_asked", text=self._told(told, scope, spoken))] if told else []

    def _own_unnamed(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits; what the asker said has no name of a speaker: "you told me"."""
        asker = self._client.users.which().name if any(hit.speaker for hit in hits) else None
        return [replace(hit, speaker=None) if hit.speaker == asker else hit for hit in hits]

    def _told(self, hits: Sequence[Hit], scope: Scope, spoken: Language) -> str:
        """The first few of several answers; the others are kept for "say more"."""
        # what may answer is never told in one go with what does
        now = list(takewhile(lambda hit: hit.answers == hits[0].answers, hits[:AT_A_TIME]))
        left = self._left.setdefault(scope.session_id, [])
        left[:] = hits[len(now) :]
        while len(self._left) > SESSIONS:
            del self._left[next(iter(self._left))]
        more = [spoken.say("say_more" if left[0].answers == now[0].answers else "say_more_perhaps")] if left else []
        told = " ".join(_quoted(hit, spoken) for hit in now)
        return " ".join([told if now[0].answers else spoken.say("not_sure", text=told), *more])

    def _take_in(self, utterance: str, scope: Scope, spoken: Language) -> str:
        kept = self._client.record([Turn("user", utterance, lang=spoken.tag)], scope)
        if self._falls_through and not spoken.is_statement(utterance):
            return ""
        if not kept:
            return spoken.say("not_remembering")
        if tells_secret(utterance, spoken.tag):
            return spoken.say("not_kept_secret")
        if spoken.is_statement(utterance):
            return _taken_in(utterance, spoken)
        return spoken.say("cannot" if spoken.is_command(utterance) else "all_right")

    @property
    def _falls_through(self) -> bool:
        return bool(self.config.get("fallthrough"))


def _is_itself(hit: Hit, utterance: str) -> bool:
    """Whether it is what is being answered, as it was heard: the assistant may have spelled it otherwise since, "vom"
    as "von dem"."""
    if time.time() - hit.at > ITSELF_S:
        return False
    return SequenceMatcher(None, fold(hit.text), fold(utterance), autojunk=False).ratio() >= SAME


def _asks_for_help(utterance: str, spoken: Language) -> bool:
    """Whether somebody asks what can be asked for, and nothing else."""
    asked = [fold(line) for line in spoken.lines("help.voc")]
    said = fold(utterance)
    starts = [0, *(len(one) for line in spoken.lines("polite_start.voc") if said[: len(one := fold(line))] == one)]
    ends = [0, *(len(one) for line in spoken.lines("polite_end.voc") if said[-len(one := fold(line)) :] == one)]
    return any(said[start : len(said) - end] in asked for start in starts for end in ends)


def _taken_in(statement: str, spoken: Language) -> str:
    """The confirmation of a statement: its words where the speaker asked for it or should check them, else a short
    one."""
    text = _bare(spoken.without_lead(statement), spoken)
    is_asked = spoken.without_lead(statement) != statement
    if is_long(text):
        return spoken.say("noted_all" if is_asked else "noted")
    return spoken.say("remembered", text=text) if is_asked or is_worth_checking(text, spoken) else spoken.say("noted")


def _quoted(hit: Hit, spoken: Language) -> str:
    when = spoken.when(datetime.fromtimestamp(hit.at), datetime.fromtimestamp(time.time()))
    text = _bare(spoken.without_lead(hit.text), spoken)
    if hit.speaker:
        return spoken.say("somebody_told_me", speaker=hit.speaker, when=when, text=text)
    return spoken.say("told_me", when=when, text=text)


def _each_once(hits: Sequence[Hit], spoken: Language) -> list[Hit]:
    """The hits without those whose words all stand in another one: a fact beside the remark that told it."""
    words = [frozenset(fold(_bare(spoken.without_lead(hit.text), spoken))) for hit in hits]
    first = {said: place for place, said in reversed(list(enumerate(words)))}
    return [
        hits[place]
        for said, place in sorted(first.items(), key=lambda one: one[1])
        if not any(said < one for one in first)
    ]


def _bare(text: str, spoken: Language) -> str:
    """The text on one line, up to where a statement ends, of a listenable length."""
    return until_its_end(" ".join(text.split()), spoken)
