"""What is spoken where something goes wrong, where others may hear, and of where things come from."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from support.assistants import Assistant
from support.espeak import voice
from support.servers.bus import Wire, wait_until

from ovos_persona_memory.protocol import topics
from ovos_persona_memory.records import Scope

from .conftest import SHARED_ROOM

SAID = ("ovos.utterance.speak", "speak")


@pytest.fixture(autouse=True)
def nothing_is_left(speaking: Assistant) -> Iterator[None]:
    """Each test begins with an empty memory that is switched on."""
    with speaking.owner() as owner:
        owner.capture(write=True, read=True)
        owner.forget(everything=True)
    yield


def says(assistant: Assistant, *utterances: str, room: str = "kitchen") -> list[str]:
    """What is said to each utterance, in a session of its own in this room."""
    return [" ".join(replies) for replies in assistant.talk(uuid.uuid4().hex, *utterances, site_id=room)]


def kept(assistant: Assistant) -> list[str]:
    with assistant.owner() as owner:
        return [entry.text for entry in owner.list()]


# where something goes wrong


def test_a_store_that_cannot_commit_is_heard_and_nothing_is_kept(speaking: Assistant) -> None:
    assert says(speaking, "remember that the first thing is fine") == ["I'll remember: the first thing is fine."]
    with speaking.without_room():
        assert says(speaking, "remember that the second thing is lost") == [
            "I could not write that down, so I have not kept it."
        ]
    assert kept(speaking) == ["the first thing is fine"]
    assert says(speaking, "remember that the third thing is fine") == ["I'll remember: the third thing is fine."]


def test_a_deletion_that_the_store_cannot_carry_out_is_said_to_have_failed(speaking: Assistant) -> None:
    with speaking.talking(uuid.uuid4().hex) as say:
        say("remember that my ostrich is called Olga")
        say("forget everything about my ostrich")
        with speaking.without_room():
            assert say("yes") == ["I could not delete that. It is still there."]
    assert kept(speaking) == ["my ostrich is called Olga"]


def test_a_daemon_that_is_away_is_said_within_a_second(speaking: Assistant) -> None:
    says(speaking, "what do you know about me")  # what is slow the first time is over
    session, said = {"session_id": uuid.uuid4().hex, "lang": "en-US"}, "remember that my emu is called Ella"
    with speaking.without_daemon(), Wire(speaking.port) as wire:
        wire.send("recognizer_loop:utterance", {"utterances": [said]}, {"session": session})
        heard = timed(wire, topics.request("remember"), *SAID)
    assert heard[-1][1]["data"]["utterance"] == "My memory is not answering, so I have not kept that."
    assert heard[-1][0] - heard[0][0] < 1.0  # from the request to the memory until it is said
    wait_until(lambda: kept(speaking) == [], "the taking back")


def timed(wire: Wire, first: str, *last: str) -> list[tuple[float, dict[str, Any]]]:
    """The messages from the one on this topic to one on the last, each with when it came."""
    heard: list[tuple[float, dict[str, Any]]] = []
    deadline = time.monotonic() + 20.0
    while time.monotonic() < deadline:
        message = wire.receive(1.0)
        if message is not None and (heard or message.get("type") == first):
            heard.append((time.monotonic(), message))
            if message.get("type") in last:
                return heard
    raise AssertionError(f"neither {first} nor {last} came in time")


# reading


MANY = [f"remember that the {thing} is in the cellar" for thing in ("saw", "drill", "ladder", "rope", "paint")]


def test_a_stop_in_the_middle_of_reading_stops_the_voice_and_what_was_left(speaking: Assistant) -> None:
    says(speaking, *MANY)
    with Wire(speaking.port) as wire, speaking.talking(uuid.uuid4().hex) as say:
        assert len(say("what do you know about me")) == 4  # three of them, and that there is more
        say("stop")
        wire.until(topics.HUSH)
        assert not any("cellar" in reply for reply in say("say more"))


def test_say_more_reads_what_is_left_each_thing_once(speaking: Assistant) -> None:
    says(speaking, *MANY)
    *_, first, more, none = says(speaking, "what do you know about me", "say more", "what do you know about me")
    told = [thing for reply in (first, more) for thing in ("saw", "drill", "ladder", "rope", "paint") if thing in reply]
    assert sorted(told) == sorted({"saw", "drill", "ladder", "rope", "paint"})
    assert none == first


# as it sounds

ALOUD = [
    ("en-US", "remember that the bins go out on Tuesday"),
    ("en-US", "what do you know about me"),
    ("en-US", "guest mode on for two hours"),
    ("en-US", "guest mode off"),
    ("de-DE", "an wie viel erinnerst du dich"),
]


def test_whoever_makes_sound_of_what_is_to_be_said_hears_it_and_can_say_it(speaking: Assistant) -> None:
    spoken = []
    with Wire(speaking.port) as wire, voice() as aloud:
        for tag, utterance in ALOUD:
            session = {"session_id": uuid.uuid4().hex, "lang": tag}
            wire.send("recognizer_loop:utterance", {"utterances": [utterance], "lang": tag}, {"session": session})
            heard = wire.until("ovos.utterance.handled", timeout_s=30.0)
            said = " ".join(one["data"]["utterance"] for one in heard if one.get("type") == SAID[0])
            aloud.use(tag)
            seconds, loudest = aloud.sound_of(said)
            assert seconds > 0.03 * len(said)
            assert loudest > 1000
            spoken.append(said)
    assert spoken[:2] == [
        "I'll remember: the bins go out on Tuesday.",
        "You told me today: the bins go out on Tuesday.",
    ]
    assert not any(sign.isdigit() for text in spoken for sign in text)


# where others may hear

DOCTOR = "remember that my doctor is called Vogelsang"
NOT_ALOUD = "I will not say that aloud here, because others may hear."


@pytest.mark.parametrize(
    "question",
    [
        "what do you know about me",
        "what do you know about my doctor",
        "what did I tell you about my doctor",
        "what did I tell you today",
        "what happened today",
        "what do you know about Vogelsang",
    ],
)
def test_what_is_private_is_said_in_a_room_of_ones_own_and_not_where_others_may_hear(
    speaking: Assistant, question: str
) -> None:
    assert says(speaking, DOCTOR, "this is private")[1] == "I will not say that aloud where others may hear."
    assert "Vogelsang" in says(speaking, question)[0]
    assert says(speaking, question, room=SHARED_ROOM) == [NOT_ALOUD]


def test_what_was_learned_and_then_made_private_is_not_said_where_others_may_hear(speaking: Assistant) -> None:
    replies = says(speaking, "my dentist is called Zahnstein", "what do you know about me", "this is private")
    assert replies[-1] == "I will not say that aloud where others may hear."
    assert "Zahnstein" in says(speaking, "what do you know about me")[0]
    assert says(speaking, "what do you know about me", room=SHARED_ROOM) == [NOT_ALOUD]


def test_where_others_may_hear_a_private_thing_is_neither_explained_nor_read_back(speaking: Assistant) -> None:
    replies = says(speaking, DOCTOR, "this is private", "why do you know that", "forget that", "yes", room=SHARED_ROOM)
    assert replies[2:] == [
        NOT_ALOUD,
        "I'll forget what was spoken of last. Say yes to delete it, no to keep it.",
        "I have forgotten what was spoken of last.",
    ]
    assert kept(speaking) == []


# where it comes from, and what happened


def test_why_gives_the_words_of_the_turn_from_which_something_was_learned(speaking: Assistant) -> None:
    told = "well by the way my hamster is called Hugo"
    replies = says(speaking, told, "what do you know about my hamster", "why do you know that")
    assert replies[2] == f"You told me today, in these words: {told}."


def test_why_after_a_personas_answer_is_about_that_answer(speaking: Assistant) -> None:
    replies = says(
        speaking,
        "my parrot is called Pedro",
        "remember that the bins go out on Tuesday",
        "what is my parrot called",
        "why do you know that",
    )
    assert "Pedro" in replies[2]
    assert replies[3] == "You told me today, in these words: my parrot is called Pedro."


def test_why_of_nothing_says_so(speaking: Assistant) -> None:
    assert says(speaking, "why do you know that") == ["I have not told you anything just now. Ask me something first."]


def test_what_the_assistant_was_asked_to_do_is_told_with_what_it_was_told(speaking: Assistant) -> None:
    says(speaking, "remember that the bins go out on Tuesday", "set a timer for five hours")
    for question in ("what happened today", "what did you change today", "what did you do today"):
        (reply,) = says(speaking, question)
        assert "You told me today: the bins go out on Tuesday." in reply
        assert "You asked me today: set a timer for five hours." in reply
    assert says(speaking, "cancel all timers")


# secrets

SECRET = "remember that the guest wifi password is zyxquark"


def test_a_secret_is_offered_kept_for_its_person_told_and_forgotten_to_its_last_byte(speaking: Assistant) -> None:
    def held() -> bool:
        return b"zyxquark" in b"".join(path.read_bytes() for path in speaking.data.iterdir() if path.is_file())

    with speaking.talking(uuid.uuid4().hex, site_id="kitchen") as say:
        assert say(SECRET) == ["That is a secret. Shall I keep it, for you alone?"]
        assert not held()
        assert say("no") == ["All right, I have not kept it."]
        say(SECRET)
        assert say("yes please") == ["I keep that for you alone."]
        assert held()
        assert say("what is the guest wifi password") == [
            "You asked me to keep this: the guest wifi password is zyxquark."
        ]
    assert says(speaking, "what is the guest wifi password", room=SHARED_ROOM) == [NOT_ALOUD]
    assert kept(speaking) == []
    *_, done = says(speaking, "forget the guest wifi password", "yes")
    assert done == "I have forgotten everything about the guest wifi password."
    assert not held()


# more than one persona


def test_a_person_hears_corrects_and_forgets_what_any_persona_keeps(speaking: Assistant) -> None:
    ada = Scope(persona_id="Ada")
    with speaking.owner() as owner:
        owner.remember("my hen is called Berta", key="bird")
        owner.remember("my parrot is called Rio", ada, key="bird")
    with speaking.talking(uuid.uuid4().hex) as say:
        assert "my parrot is called Rio" in " ".join(say("what do you know about me"))
        say("what do you know about my parrot")
        say("no, my parrot is called Lola")
        say("remember that the shed is red")
    with speaking.owner() as owner:
        held = {(entry.persona_id, entry.text) for entry in owner.list()}
        assert held == {
            ("Ada", "my parrot is called Lola"), (None, "my hen is called Berta"), (None, "the shed is red"),
        }  # fmt: skip
    assert says(speaking, "forget everything you know about me", "yes")[1:]
    assert kept(speaking) == []


# lists, counts, days, and the talk itself

BALLET = f"{(date.today() + timedelta(2)):%A}s".lower()
"""A day of every week that is not tomorrow."""
ENGLISH = {
    "my daughter Emma is seven": "I'll remember: my daughter Emma is seven.",
    "Emma likes horses": "Noted.",
    f"Emma goes to ballet on {BALLET}": f"I'll remember: Emma goes to ballet on {BALLET}.",
    "Emma is allergic to nuts": "I'll remember: Emma is allergic to nuts.",
    "what do you know about Emma": (
        f"You told me today: Emma is allergic to nuts. Also: Emma goes to ballet on {BALLET}. Also: Emma likes horses. "
        "There is more. Say: go on, to hear the rest."
    ),
    "say more": "You told me today: my daughter Emma is seven.",
    "my sister has four kids": "I'll remember: my sister has four kids.",
    "we have two kids": "I'll remember: we have two kids.",
    "how many kids do I have": "You told me today: we have two kids.",
    "I have a dentist appointment tomorrow": "I'll remember: I have a dentist appointment tomorrow.",
    "what do I have tomorrow": "You told me today: I have a dentist appointment tomorrow.",
    "what did we talk about yesterday": "I have found nothing that you told me then.",
    "the gardener comes on mondays": "I'll remember: the gardener comes on mondays.",
    "the garden hose leaks at the tap": "Noted.",
    "forget the gardener": ("I'll forget this: the gardener comes on mondays. Say yes to delete it, no to keep it."),
    "yes": "I have forgotten everything about the gardener.",
    "where does the garden hose leak": "You told me today: the garden hose leaks at the tap.",
}
GERMAN = {
    "meine Tochter Emma ist sieben": "Ich merke mir: meine Tochter Emma ist sieben.",
    "Emma liebt Pferde": "Notiert.",
    "Emma ist allergisch gegen Nüsse": "Ich merke mir: Emma ist allergisch gegen Nüsse.",
    "was weißt du über Emma": (
        "Du hast mir heute gesagt: Emma ist allergisch gegen Nüsse. Außerdem: Emma liebt Pferde. "
        "Außerdem: meine Tochter Emma ist sieben."
    ),
    "meine Schwester hat vier Kinder": "Ich merke mir: meine Schwester hat vier Kinder.",
    "wir haben zwei Kinder": "Ich merke mir: wir haben zwei Kinder.",
    "wie viele Kinder habe ich": "Du hast mir heute gesagt: wir haben zwei Kinder.",
    "morgen habe ich einen Zahnarzttermin": "Ich merke mir: morgen habe ich einen Zahnarzttermin.",
    "was habe ich morgen vor": "Du hast mir heute gesagt: morgen habe ich einen Zahnarzttermin.",
    "was habe ich dir gerade gesagt": "Du hast mir heute gesagt: morgen habe ich einen Zahnarzttermin.",
    "worüber haben wir gestern gesprochen": "Ich habe nichts gefunden, was du mir in dieser Zeit gesagt hast.",
}


@pytest.mark.parametrize(("lang", "talk"), [("en-US", ENGLISH), ("de-DE", GERMAN)])
def test_a_talk_of_lists_counts_and_days(speaking: Assistant, lang: str, talk: dict[str, str]) -> None:
    replies = speaking.talk(uuid.uuid4().hex, *talk, lang=lang, site_id="kitchen")
    assert {said: " ".join(reply) for said, reply in zip(talk, replies, strict=True)} == talk


@pytest.mark.parametrize(
    ("lang", "asked", "way"), [("en-US", "help", "forget that"), ("de-DE", "hilfe", "vergiss das")]
)
def test_help_is_one_helpful_sentence(speaking: Assistant, lang: str, asked: str, way: str) -> None:
    [[said]] = speaking.talk(uuid.uuid4().hex, asked, lang=lang)
    assert way in said
