"""Satellites of HiveMind in front of one assistant: a real hub, real clients, and the memory behind them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.assistants import Assistant
from support.servers.bus import wait_until
from support.servers.hivemind import BIN, Hub, Satellite, spoken
from support.servers.ports import free_port

from ovos_persona_memory.protocol import topics
from ovos_persona_memory.records import Scope, Turn

SESSION = "talk"
"""Every satellite gives its session the same name."""
SAYS_TO_BE_ANA = {"user_id": "ana", "auth_level": 5}
# the bedroom and the session are Ana's for whoever comes without a hub; a client of a hub can state any
IDENTITY = {
    "trust": "configured",
    "map": {"bedroom": "ana", SESSION: "ana"},
    "clients": {"ana-phone": "ana", "ben-phone": "ben"},
}
QUESTION = "what is my sister called"


class House:
    """One assistant, its hub, and a satellite each for Ana, Ben and a visitor who says to be Ana in Ana's room."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        settings = folder / "home" / ".config" / "mycroft" / "mycroft.conf"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"lang": "en-US", "persona_memory": {"identity": IDENTITY}}))
        bus_port = free_port()
        hub = Hub(folder / "hub", free_port(), bus_port)
        stack.callback(hub.end)
        of_ana, of_ben, of_visitor = hub.add_clients("ana-phone", "ben-phone", "visitor")
        self.assistant = stack.enter_context(Assistant(folder / "data", folder / "home", bus_port))
        hub.wait_ready()

        def satellite(name: str, secrets: dict[str, str], site: str, **claims: Any) -> Satellite:
            made = Satellite(folder / name, hub, secrets, site, SESSION, **claims)
            stack.callback(made.end)
            return made

        self.ana = satellite("ana", of_ana, "bedroom")
        self.ben = satellite("ben", of_ben, "workshop")
        self.visitor = satellite("visitor", of_visitor, "bedroom", **SAYS_TO_BE_ANA)
        self.stranger = satellite("stranger", {**of_visitor, "key": "guessed"}, "bedroom", **SAYS_TO_BE_ANA)
        for one in (self.ana, self.ben, self.visitor):
            one.wait_connected()
        self.answers = {
            "ana tells": self.ana.say("my sister is called maria"),
            "ben asks": self.ben.say("where are the keys"),
            "visitor tells": self.visitor.say("my dog is called rex"),
            "visitor asks for the sister": self.visitor.say(QUESTION),
            "ben asks for the sister": self.ben.say(QUESTION),
            "ana asks for the sister": self.ana.say(QUESTION),
        }

    def turns(self, role: str) -> list[Turn]:
        """Everybody's turns of a role, oldest first."""
        with self.assistant.owner() as owner:
            found = owner.turns(Scope.everyone(), limit=200)
        return sorted((turn for turn in found if turn.role == role), key=lambda turn: turn.at)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """What was said there is the same for all tests of this file."""
    if not (BIN / "hivemind-core").exists():
        why = f"HiveMind is not in {BIN.parent.name}: scripts/test installs it"
        pytest.fail(why) if "CI" in os.environ else pytest.skip(why)
    with ExitStack() as stack:
        yield House(tmp_path_factory.mktemp("house"), stack)


def test_it_is_known_who_said_what_where(house: House) -> None:
    said = [(turn.user_id, turn.site_id, turn.text) for turn in house.turns("user")]
    assert said == [
        ("ana", "bedroom", "my sister is called maria"),
        ("ben", "workshop", "where are the keys"),
        ("guest", "bedroom", "my dog is called rex"),
        ("guest", "bedroom", QUESTION),
        ("ben", "workshop", QUESTION),
        ("ana", "bedroom", QUESTION),
    ]


def test_sessions_of_the_same_name_are_three_and_each_has_its_own_words_and_answers(house: House) -> None:
    of_session: dict[str, set[str]] = {}
    for turn in (*house.turns("user"), *house.turns("assistant")):
        of_session.setdefault(turn.session_id or "", set()).add(turn.user_id)
    talks = {session_id: users for session_id, users in of_session.items() if session_id.endswith(f":{SESSION}")}
    assert sorted(map(sorted, talks.values())) == [["ana"], ["ben"], ["guest"]]
    with house.assistant.owner() as owner:
        for session_id, [user] in talks.items():
            heard = str(owner.history(Scope(session_id, user), hanging=True, max_history=50))
            assert ("maria" in heard, "the keys" in heard, "rex" in heard) == (
                user == "ana",
                user == "ben",
                user == "guest",
            )


def test_a_person_is_answered_with_what_they_said_and_nobody_else_is(house: House) -> None:
    assert "maria" in " ".join(house.answers["ana asks for the sister"]).lower()
    for who in ("ben", "visitor"):
        answer = " ".join(house.answers[f"{who} asks for the sister"])
        assert answer
        assert "maria" not in answer.lower()


def test_an_answer_reaches_the_satellite_that_asked_and_no_other(house: House) -> None:
    for who, one in (("ana", house.ana), ("ben", house.ben), ("visitor", house.visitor)):
        heard = spoken(one.rest())
        assert heard == [text for asked, answer in house.answers.items() if asked.startswith(who) for text in answer]
        assert heard
        assert ("maria" in str(one.came)) == (who == "ana")
        assert not [message["type"] for message in one.came if message["type"].startswith(topics.PREFIX)]


def test_of_a_guest_nothing_is_learned(house: House) -> None:
    with house.assistant.owner() as owner:
        wait_until(lambda: "maria" in str(owner.facts.list(Scope(user_id="ana"))), "what Ana told is learned")
        everything = str((owner.facts.list(Scope.everyone()), owner.list(Scope.everyone())))
        assert "rex" not in everything
        waiting = owner.facts.list(Scope.everyone(), status="waiting")
        assert "rex" not in str(waiting)


def test_whoever_has_no_key_is_not_heard(house: House) -> None:
    assert house.stranger.popen.stdin is not None
    assert house.stranger.rest() == []
    assert "invalid api key" in house.stranger.log.read_text()
    assert {turn.user_id for turn in house.turns("user")} == {"ana", "ben", "guest"}


def test_a_question_of_the_skill_and_its_answer_go_through_the_hub(house: House) -> None:
    assert house.ana.say("remember that the bins go out on Tuesday")
    [question] = house.ana.say("forget everything about the bins")
    assert "the bins go out on Tuesday" in question
    house.ben.say("yes")
    with house.assistant.owner() as owner:
        assert "bins" in str(owner.list(Scope(user_id="ana")))
        assert house.ana.say("yes")
        assert "bins" not in str(owner.list(Scope.everyone()))
