"""What people hear who tell something to a memory that answers late, or never: kept or not kept only where that is
known."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from ovos_bus_client.message import Message
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole

from ovos_persona_memory.errors import NoAnswer, Unanswered
from ovos_persona_memory.opm.chat import RecallChatEngine
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.protocol.transport import Patience
from ovos_persona_memory.records import Scope
from ovos_persona_memory.skill import forget, tell
from ovos_persona_memory.skill.intents import ROOMS
from ovos_persona_memory.skill.session_state import SessionStates
from ovos_persona_memory.skill.turn_context import SkillResources, TurnContext
from ovos_persona_memory.text import languages

SAID = "the spare key is with Mrs Bell"
KEPT = {"key": "k", "text": SAID, "id": "i", "user_id": "household", "created_at": 1.0, "updated_at": 1.0}
Answer = Mapping[str, Any] | Exception


class Slow:
    """In the place of the daemon: what it answers to each verb, and what it was asked."""

    def __init__(self, **answers: Answer) -> None:
        self.answers = answers
        self.asked: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()

    def ask(self, verb: str, data: dict[str, Any], scope: Scope, patience: Patience) -> dict[str, Any]:
        self.asked.put((verb, data))
        answer = self.answers[verb]
        if isinstance(answer, Exception):
            raise answer
        return {"ok": True, **answer}

    def close(self) -> None:
        pass


class House:
    """Somebody who talks to the skill, and what is said aloud."""

    def __init__(self, daemon: Slow) -> None:
        self.heard: queue.Queue[tuple[str, str]] = queue.Queue()
        client = MemoryClient(daemon)
        moments = SessionStates(lambda: 1000.0)
        self.means = SkillResources(self._speak, client, client, client, moments, frozenset, lambda: 1000.0)

    def _speak(self, message: Message, text: str, dialog: str, expect_response: bool) -> None:
        self.heard.put((dialog, text))

    def talk(self, said: str, /, **slots: str) -> TurnContext:
        session = {"session_id": "s", "lang": "en-US"}
        return TurnContext(
            Message("heard", {"utterance": said, "lang": "en-US", **slots}, {"session": session}), self.means
        )

    def hears(self) -> tuple[str, str]:
        return self.heard.get(timeout=10)


def asked_of(daemon: Slow) -> str:
    return daemon.asked.get(timeout=10)[0]


def test_who_is_answered_late_hears_that_nobody_knows_and_then_that_it_was_kept() -> None:
    daemon = Slow(remember=Unanswered(), get={"memory": KEPT})
    house = House(daemon)
    tell.remember(house.talk(f"remember that {SAID}", text=SAID))
    assert [house.hears(), house.hears()] == [
        ("kept_perhaps", "My memory takes long to answer, so I cannot tell yet whether I have kept that."),
        ("remembered", f"I'll remember: {SAID}."),
    ]
    remembered, looked_up = daemon.asked.get(timeout=10), daemon.asked.get(timeout=10)
    assert (remembered[0], looked_up) == ("remember", ("get", {"key": remembered[1]["key"]}))
    assert daemon.asked.empty()  # nothing is taken back


def test_who_is_answered_late_hears_also_that_it_was_not_kept() -> None:
    house = House(Slow(remember=Unanswered(), get={}))
    tell.remember(house.talk(f"remember that {SAID}", text=SAID))
    assert [house.hears()[0], house.hears()[0]] == ["kept_perhaps", "not_stored"]


def test_where_it_is_never_known_nothing_more_is_said() -> None:
    daemon = Slow(remember=Unanswered(), get=Unanswered())
    house = House(daemon)
    tell.remember(house.talk(f"remember that {SAID}", text=SAID))
    assert [asked_of(daemon), asked_of(daemon)] == ["remember", "get"]
    assert house.hears()[0] == "kept_perhaps"
    for one in threading.enumerate():
        if one.name == tell.LATER:
            one.join(timeout=10)
    assert house.heard.empty()


def test_what_reached_nobody_is_not_kept_and_taken_back_in_case_it_did() -> None:
    daemon = Slow(remember=NoAnswer(), forget={"kinds": {}})
    house = House(daemon)
    with pytest.raises(NoAnswer):
        tell.remember(house.talk(f"remember that {SAID}", text=SAID))
    assert [asked_of(daemon), asked_of(daemon)] == ["remember", "forget"]
    assert tell.FAILED == "not_kept"


@pytest.mark.parametrize("tag", languages.shipped())
def test_no_room_says_that_nothing_was_done_where_nobody_knows(tag: str) -> None:
    for room in ROOMS:
        perhaps, failed = (languages.for_language(tag).sentences(dialog) for dialog in (room.PERHAPS, room.FAILED))
        assert len(perhaps) == 1
        assert room.FAILED == "memory_away" or perhaps != failed


def test_a_deletion_that_is_not_over_is_not_said_to_have_failed() -> None:
    for error, dialog in ((Unanswered(), forget.PERHAPS), (NoAnswer(), forget.FAILED)):
        house = House(Slow(forget=error))
        forget._delete_and_say(house.talk("yes"), forget.DeletionRequest("forget_that_done", {"query": SAID}))
        assert house.hears()[0] == dialog


# Scribe


@pytest.fixture
def scribe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """What it says to an utterance where the daemon answers like this."""

    def say(utterance: str, **answers: Answer) -> str:
        answers = {"recall": {"asks": False, "hits": []}, **answers}
        monkeypatch.setattr("ovos_persona_memory.opm.chat.shared_transport", lambda **_: Slow(**answers))
        return str(
            RecallChatEngine({}).continue_chat([AgentMessage(MessageRole.USER, utterance)], lang="en-US").content
        )

    return say


def test_scribe_says_that_something_was_not_kept_only_where_that_is_known(scribe: Callable[..., str]) -> None:
    said = f"well {SAID} by the way"
    assert scribe(said, record=NoAnswer()) == "My memory is not answering, so I have not kept that."
    assert scribe(said, record=Unanswered()) == (
        "My memory takes long to answer, so I cannot tell yet whether I have kept that."
    )
    assert scribe(said, record={"ids": ["t"]}) == f"I'll remember: {said}."


def test_scribe_keeps_what_is_said_though_nobody_could_tell_in_time_whether_it_asks(scribe: Callable[..., str]) -> None:
    said = f"well {SAID} by the way"
    assert scribe(said, recall=Unanswered(), record={"ids": ["t"]}) == f"I'll remember: {said}."
    assert scribe(said, recall=NoAnswer(), record={"ids": ["t"]}) == (
        "My memory is not answering, so I have not kept that."
    )


def test_scribe_answers_no_question_that_is_answered_late(scribe: Callable[..., str]) -> None:
    assert scribe("where is the spare key?", recall=Unanswered()) == "My memory is not answering at the moment."


def test_scribe_waits_longer_for_a_memory_that_lives(scribe: Callable[..., str], monkeypatch: Any) -> None:
    waited: list[Patience] = []
    ask = Slow.ask

    def noted(self: Slow, verb: str, data: dict[str, Any], scope: Scope, patience: Patience) -> dict[str, Any]:
        waited.append(patience)
        return ask(self, verb, data, scope, patience)

    monkeypatch.setattr(Slow, "ask", noted)
    scribe(SAID, record={"ids": ["t"]})
    assert waited[0].busy_s > 0


def test_scribe_says_no_long_text_back(scribe: Callable[..., str]) -> None:
    said = " ".join([SAID] * 500)
    assert scribe(said, record={"ids": ["t"]}) == "Noted."
    assert scribe(f"remember that {said}", record={"ids": ["t"]}) == "I have noted all of that."


def test_scribe_says_back_what_may_have_been_misheard_and_no_other_remark(scribe: Callable[..., str]) -> None:
    for said in ("my cat is called minka", "the bins go out on tuesday", "we have four goldfish", "I flew to Lisbon"):
        assert scribe(said, record={"ids": ["t"]}) == f"I'll remember: {said}."
    assert scribe("the tea in this house is always cold", record={"ids": ["t"]}) == "Noted."
    assert scribe("remember that I like tea", record={"ids": ["t"]}) == "I'll remember: I like tea."
