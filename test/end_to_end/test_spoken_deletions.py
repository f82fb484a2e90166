"""Every way to have something forgotten by voice, and every answer to the question before it.

Each with each, but for ``stop``, which is no answer but ends the question: test/scenarios/test_spoken_deletions.py.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from itertools import cycle

import pytest
from support import remains
from support.assistants import Assistant
from support.deletions import ANSWERS, DELETIONS, KEPT, SAID_BACK, SAY, TOLD, Deletion, without_number

from ovos_persona_memory.cli.conversation import Conversation, SpokenAnswer
from ovos_persona_memory.skill.turn_context import ANSWER_S

WORDS = ("Grimáldur", "cormorant")


@pytest.fixture(autouse=True)
def nothing_is_left(speaking: Assistant) -> Iterator[None]:
    """Each test begins with an empty memory that is switched on."""
    with speaking.owner() as owner:
        owner.capture(write=True, read=True)
        owner.forget(everything=True)
    yield


def says(assistant: Assistant, *utterances: str) -> list[str]:
    """What is said to each utterance, in a session of its own."""
    return [" ".join(replies) for replies in assistant.talk(uuid.uuid4().hex, *utterances)]


def kept(assistant: Assistant) -> list[str]:
    with assistant.owner() as owner:
        return [entry.text for entry in owner.list()]


def by_what_was_said(deletion: Deletion) -> str:
    return deletion.said


@pytest.mark.parametrize("deletion", DELETIONS, ids=by_what_was_said)
def test_after_a_yes_it_says_what_is_gone_and_no_byte_of_it_is_left(speaking: Assistant, deletion: Deletion) -> None:
    session = uuid.uuid4().hex
    assert speaking.talk(session, TOLD) == [[SAID_BACK]]
    assert any("memory.db" in one for one in remains.left(speaking.data, WORDS))
    (asked,), (done,) = speaking.talk(session, deletion.said, "yes")
    assert without_number(asked).startswith(deletion.asked)
    assert SAY in asked
    assert done == deletion.done
    assert remains.left(speaking.data, WORDS) == []
    assert says(speaking, "what do you know about my cormorant") == ["I know nothing about your cormorant."]


@pytest.mark.parametrize(
    ("said", "yes"),
    [
        ("rats forget what i said about the cormorant", "yes please do"),
        ("he flew away last night so forget the cormorant", "yes delete it"),
        ("no that was the old bird forget the name Grimáldur", "yes go ahead"),
        ("forget the bird called Grimáldur", "yes"),
    ],
)
def test_it_goes_whatever_stands_before_the_request_and_by_whatever_words_it_is_named(
    speaking: Assistant, said: str, yes: str
) -> None:
    session = uuid.uuid4().hex
    assert speaking.talk(session, TOLD) == [[SAID_BACK]]
    (asked,), (done,) = speaking.talk(session, said, yes)
    assert asked == f"I'll forget this: {KEPT}. Say yes to delete it, no to keep it."
    assert "forgotten" in done
    assert remains.left(speaking.data, WORDS) == []
    assert says(speaking, "what do you know about my cormorant") == ["I know nothing about your cormorant."]


def test_who_only_speaks_of_forgetting_keeps_everything(speaking: Assistant) -> None:
    speaking.talk(uuid.uuid4().hex, TOLD)
    said = ("my brother always forgets the cormorant", "i nearly forget the cormorant", "we must not forget Grimáldur")
    for answered in says(speaking, *(one for text in said for one in (text, "yes"))):
        assert "I'll forget" not in answered
        assert "forgotten" not in answered
    assert KEPT in kept(speaking)


@pytest.mark.parametrize(
    ("deletion", "answer"),
    [*((one, "stop") for one in DELETIONS), *zip(DELETIONS, cycle(sorted(set(ANSWERS) - {"stop"})), strict=False)],
    ids=lambda one: one.said if isinstance(one, Deletion) else one,
)
def test_without_a_yes_it_says_that_all_is_kept_and_a_late_yes_deletes_nothing(
    speaking: Assistant, deletion: Deletion, answer: str
) -> None:
    told, asked, answered, late = says(speaking, TOLD, deletion.said, answer, "yes")
    assert told == SAID_BACK
    assert without_number(asked).startswith(deletion.asked)
    assert answered == ANSWERS[answer]
    assert "forgotten" not in late
    assert kept(speaking) == [KEPT]


def test_silence_keeps_everything_and_says_so(speaking: Assistant) -> None:
    speaking.talk("teller", TOLD)
    silent = [Silent(speaking, deletion) for deletion in DELETIONS]
    try:
        for one in silent:  # they talk one after the other, as people do, and are silent all at once
            one.start()
            one.asked.wait(60.0)
        for one in silent:
            one.join()
    finally:
        # all together, at the end: ovos-messagebus 0.2.1a6 drops whoever sends while somebody else leaves
        for one in silent:
            one.conversation.close()
    for one in silent:
        assert without_number(one.heard[0]).startswith(one.deletion.asked), one.deletion.said
        assert one.heard[1:] == ["I heard no answer, so I have kept everything."], one.deletion.said
    assert kept(speaking) == [KEPT] * (len(DELETIONS) + 1)


class Silent(threading.Thread):
    """Tells, asks to forget, and says nothing more until patience has ended; then ``heard`` is all that was said."""

    def __init__(self, assistant: Assistant, deletion: Deletion) -> None:
        super().__init__(daemon=True)
        self.deletion, self.heard = deletion, list[str]()
        self._told, self._spoke, self.asked = False, threading.Event(), threading.Event()
        self.conversation = Conversation(uuid.uuid4().hex, "en-US", self._hear, host="127.0.0.1", port=assistant.port)

    def run(self) -> None:
        assert self.conversation.start(10.0)
        self._say(TOLD)
        self._told = True
        self._say(self.deletion.said)
        until = time.monotonic() + ANSWER_S + 20.0
        while len(self.heard) < 2 and time.monotonic() < until:
            self._spoke.clear()
            self._spoke.wait(1.0)

    def _say(self, utterance: str) -> None:
        self.conversation.say(utterance)
        assert self.conversation.wait(60.0)

    def _hear(self, one: SpokenAnswer) -> None:
        if one.ours and self._told:
            self.heard.append(one.text)
            self._spoke.set()
            self.asked.set()
