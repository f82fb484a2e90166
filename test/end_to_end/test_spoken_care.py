"""A child's memories wait for an adult, and a carer hears what somebody asked: by voice, in a real assistant."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

import pytest
from support.assistants import Assistant, skill_settings
from support.servers.ports import free_port

from ovos_persona_memory.records import Scope

from .conftest import SHARED_ROOM

IDENTITY = {"trust": "session", "children": {"tim": ["anna"]}, "carers": {"gran": ["anna"]}}


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    """An assistant that tells Tim, a child, Anna, who looks after him and Gran, Gran and Ben apart."""
    home, data = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("data")
    settings = home / ".config" / "mycroft" / "mycroft.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"lang": "en-US", "persona_memory": {"identity": IDENTITY}}))
    skill_settings(data).parent.mkdir(parents=True)
    skill_settings(data).write_text(json.dumps({"shared_rooms": SHARED_ROOM}))
    with Assistant(data, home, free_port(), others=True) as assistant:
        yield assistant


def says(family: Assistant, person: str, *utterances: str, room: str = "kitchen") -> list[str]:
    """What is said to each utterance of a person, in a session of its own."""
    replies = family.talk(uuid.uuid4().hex, *utterances, user_id=person, site_id=room)
    return [" ".join(each) for each in replies]


WAITS = "I'll keep that once a grown-up has agreed to it."
NAMED_ONLY = "Only a grown-up who is named for it can approve what a child wants kept."
FOR_CARERS = "What somebody asked me I tell only to those who look after them."
NOT_ALOUD = "I will not say that aloud here, because others may hear."


def test_what_a_child_wants_kept_waits_until_an_adult_says_yes_to_it(family: Assistant) -> None:
    told = says(family, "tim", "remember that my locker is the blue one", "my hamster is called Pip")
    assert told[0] == WAITS
    with family.owner() as owner:
        assert owner.list(Scope(user_id="tim"), kinds={"memory", "fact"}) == []
        waiting = {fact.text for fact in owner.facts.list(Scope(user_id="tim"), "waiting")}
    assert waiting == {"my locker is the blue one", "my hamster is called Pip"}
    assert says(family, "tim", "what is waiting for my approval") == [NAMED_ONLY]
    assert says(family, "ben", "what is waiting for my approval") == [NAMED_ONLY]
    assert says(family, "anna", "what is waiting for my approval", room=SHARED_ROOM) == [NOT_ALOUD]

    asked, left = says(family, "anna", "what is waiting for my approval", "forget it")
    assert asked == "tim would have me remember this: my locker is the blue one. Say yes to keep it, no to drop it."
    assert left == "All right, it goes on waiting for your answer."
    _, kept, dropped = says(family, "anna", "what is waiting for my approval", "yes", "no")
    assert kept == (
        "I have kept it. tim would have me remember this: my hamster is called Pip. Say yes to keep it, no to drop it."
    )
    assert dropped == "I have dropped it."
    assert says(family, "anna", "what is waiting for my approval") == ["Nothing is waiting for your approval."]
    with family.owner() as owner:
        held = owner.list(Scope(user_id="tim"), kinds={"memory", "fact"})
        assert [one.text for one in held] == ["my locker is the blue one"]
        of_anna = [turn.text for turn in owner.recall("locker hamster", Scope(user_id="anna"), k=50)]
    assert not any("locker" in text or "Pip" in text for text in of_anna), "the adult's log holds the child's words"


def test_a_carer_hears_what_was_asked_and_nobody_else_does(family: Assistant) -> None:
    says(family, "gran", "set a timer for three hours", "remember that I was never fond of Walter")
    (heard,) = says(family, "anna", "what did Gran ask today")
    assert heard == "gran asked me today: set a timer for three hours."
    assert says(family, "anna", "what did Gran ask you yesterday") == ["gran has asked me nothing in that time."]
    for person in ("ben", "tim", "gran"):
        assert says(family, person, "what did Gran ask today") == [FOR_CARERS]
    assert says(family, "anna", "what did Ben ask today") == [FOR_CARERS]
    assert says(family, "anna", "what did Gran ask today", room=SHARED_ROOM) == [NOT_ALOUD]
    with family.owner() as owner:
        of_anna = [hit.text for hit in owner.recall("set a timer for three hours", Scope(user_id="anna"), k=50)]
    assert not any("three hours" in text for text in of_anna), "the carer's log holds what was asked"


def test_off_by_default_nobody_approves_and_nobody_is_told(speaking: Assistant) -> None:
    replies = speaking.talk(uuid.uuid4().hex, "what did Gran ask today", "what is waiting for my approval")
    assert replies == [[FOR_CARERS], [NAMED_ONLY]]
