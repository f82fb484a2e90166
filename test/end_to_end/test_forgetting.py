"""Forgetting on a real messagebus: no byte is left in any file, and nothing that comes again brings it back."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import remains
from support.servers.bus import Wire
from support.servers.ports import free_port

from ovos_persona_memory.protocol import MemoryClient, topics
from ovos_persona_memory.records import ContextRequest, Scope
from ovos_persona_memory.text import languages

from .conftest import Address, Daemon, running_bus, wait_until, write_settings

WORDS = ("Zwölfbärius", "xylophonists")
"""Two words, one with letters beyond ASCII: as JSON escapes it looks different."""
TOLD = f"my cats are called {WORDS[0]} and {WORDS[1]}"


class House:
    """A bus of its own with one daemon after the other on the same data, and all that was ever sent on it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self.address: Address = ("127.0.0.1", free_port())
        self.daemon: Daemon | None = None
        self.sent: list[tuple[str, dict[str, Any], dict[str, Any]]] = []

    def start(self) -> None:
        self.stop()
        write_settings(self.folder, persona_memory={"announce": False, "identity": {"trust": "session"}})
        self.daemon = Daemon(self.folder, self.data, self.address)
        wait_until(self.daemon.is_ready, "the start of the daemon")

    def stop(self) -> None:
        if self.daemon is not None:
            self.daemon.end()
        self.daemon = None

    def owner(self) -> MemoryClient:
        return MemoryClient.over_door(self.data)

    def say(self, topic: str, data: dict[str, Any], utterance_id: str | None = None) -> None:
        """What is sent once and may come again."""
        session = {"session_id": "s", "lang": "en-US", "site_id": "kitchen", "user_id": "ada"}
        context: dict[str, Any] = {"session": session} | ({"utterance_id": utterance_id} if utterance_id else {})
        self.sent.append((topic, data, context))
        self.send([self.sent[-1]])

    def not_told(self) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        """What was sent, but for what the person said: that again is told again, and kept."""
        return [frame for frame in self.sent if frame[0] != topics.UTTERANCE[0]]

    def send(self, frames: list[tuple[str, dict[str, Any], dict[str, Any]]]) -> None:
        with Wire(self.address[1]) as wire:
            for topic, data, context in frames:
                wire.send(topic, data, context)
            request_id = wire.new_id()
            wire.send(topics.request("status"), {"request_id": request_id}, {})
            wire.until(topics.response("status"), request_id)

    def ask(self, verb: str, data: dict[str, Any], utterance_id: str | None = None, **session: Any) -> dict[str, Any]:
        """A request that is not sent again."""
        with Wire(self.address[1]) as wire:
            request_id = wire.new_id()
            carried = {"session_id": "s", "lang": "en-US", "site_id": "kitchen", "user_id": "ada"} | session
            context: dict[str, Any] = {"session": carried} | ({"utterance_id": utterance_id} if utterance_id else {})
            wire.send(topics.request(verb), {**data, "request_id": request_id}, context)
            return dict(wire.until(topics.response(verb), request_id)[-1]["data"])

    def left(self) -> list[str]:
        """The forms of the words that can be read in the data folder, with the file."""
        return remains.left(self.data, WORDS)

    def known(self) -> list[str]:
        """The verbs whose answers hold one of the words."""
        ada = Scope(user_id="ada")
        in_session = Scope(user_id="ada", session_id="s")
        question = "what are my cats called"
        with self.owner() as owner:
            answers = {
                "recall": [owner.recall(text, Scope.everyone(), k=50) for text in (question, *WORDS)],
                "context": [
                    owner.context(ContextRequest(text, ada, recall=10)).messages[:-1] for text in (question, *WORDS)
                ],
                "list": owner.list(Scope.everyone(), limit=1000),
                "get": owner.get("cats", ada),
                "why": owner.why(ada, key="cats"),
                "facts": owner.ask("facts", Scope.everyone(), status="all"),
                "episodes": owner.episodes(Scope.everyone(), ["exchange", "intent", "tool_call", "recall"]),
                "history": owner.history(in_session, max_history=1000, hanging=True),
                "snapshot": owner.snapshot(in_session),
                "sessions": owner.sessions(Scope.everyone()),
                "documents": owner.documents(ada).search(" ".join(WORDS), k=50),
            }
        return [verb for verb, answer in answers.items() if any(word in repr(answer) for word in WORDS)]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    with running_bus(tmp_path / "bus", made.address[1]):
        made.start()
        try:
            yield made
        finally:
            made.stop()


def tell(house: House) -> None:
    """The words in everything that can hold them: heard, answered, handed in, remembered, summarised, kept."""
    asked, spoken = topics.UTTERANCE[0], topics.SPEAK[1]
    house.say(asked, {"utterances": [f"remember that {TOLD}"]}, "u-1")
    matched = {"skill_id": "a.skill", "intent_name": "remember", "utterance": f"remember that {TOLD}"}
    matched |= {"slots": {"cats": f"{WORDS[0]} and {WORDS[1]}"}}
    house.say(topics.MATCHED[0], matched, "u-1")
    remember = {"text": TOLD, "key": "cats", "metadata": {"first": WORDS[0]}, "request_id": "remember-1"}
    house.say(topics.request("remember"), remember, "u-1")
    house.say(spoken, {"utterance": f"I will remember {WORDS[0]} and {WORDS[1]}, your cats that are called so"}, "u-1")
    house.say(topics.HANDLED[0], {}, "u-1")
    house.say(asked, {"utterances": ["what are my cats called"]}, "u-2")
    house.say(topics.PERSONA_TURN[0], {"utterance": "what are my cats called", "persona": "Scribe"}, "u-2")
    house.ask("context", {"utterance": "what are my cats called"}, "u-2")
    house.say(topics.TOOL_CALL[0], {"toolbox_id": "t", "name": "cats", "kwargs": {"named": " ".join(WORDS)}}, "u-2")
    house.say(topics.TOOL_RESULT[0], {"toolbox_id": "t", "error": f"no {WORDS[0]}"}, "u-2")
    answer = f"your cats are called {WORDS[0]} and {WORDS[1]}"
    house.say(spoken, {"utterance": answer}, "u-2")
    turns = [{"role": "user", "text": "what are my cats called"}, {"role": "assistant", "text": answer}]
    record = {"turns": turns, "as_passed": True, "delivery_id": "d-1", "request_id": "d-1"}
    house.say(topics.request("record"), record, "u-2")
    house.say(topics.request("session.update"), {"summary": f"talk of {' '.join(WORDS)}", "request_id": "up-1"}, "u-2")
    house.say(topics.HANDLED[0], {}, "u-2")
    document = {"text": f"cats called {' and '.join(WORDS)}", "id": "d", "request_id": "doc-1"}
    house.say(topics.request("document.upsert"), document)


def by_key(house: House) -> dict[str, Any]:
    house.ask("document.clear", {})
    house.ask("session.update", {"summary": ""})
    return house.ask("forget", {"key": "cats"})


def by_query(house: House) -> dict[str, Any]:
    return house.ask("forget", {"query": f"{WORDS[0]} {WORDS[1].upper()}"})


def by_ids(house: House) -> dict[str, Any]:
    house.ask("document.clear", {})
    house.ask("session.update", {"summary": ""})
    with house.owner() as owner:
        hits = [hit for word in WORDS for hit in owner.recall(word, Scope.everyone(), k=50)]
    return house.ask("forget", {"ids": sorted({hit.id for hit in hits})})


def by_time(house: House) -> dict[str, Any]:
    house.ask("document.clear", {})
    return house.ask("forget", {"since": time.time() - 300})


def by_session(house: House) -> dict[str, Any]:
    house.ask("document.clear", {})
    return house.ask("forget", {"session": True})


def by_site(house: House) -> dict[str, Any]:
    house.ask("document.clear", {})
    return house.ask("forget", {"session": True, "scope": {"site_id": "kitchen"}})


def by_person(house: House) -> dict[str, Any]:
    with house.owner() as owner:
        return {"forgotten": owner.forget(Scope(user_id="ada"), everything=True)}


def of_everybody(house: House) -> dict[str, Any]:
    with house.owner() as owner:
        return {"forgotten": owner.forget(Scope.everyone(), everything=True)}


KINDS: dict[str, Callable[[House], dict[str, Any]]] = {
    "by key": by_key,
    "by query": by_query,
    "by id": by_ids,
    "by time window": by_time,
    "by session": by_session,
    "by site": by_site,
    "by person": by_person,
    "everything": of_everybody,
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_forgotten_leaves_no_byte_and_does_not_come_back(house: House, kind: str) -> None:
    tell(house)
    before = set(house.known())
    verbs = {"recall", "context", "list", "get", "why", "facts", "episodes", "history", "snapshot", "documents"}
    assert verbs <= before
    written = {found.rpartition(" in ")[0] for found in house.left()}
    stem, escaped = languages.for_language("en-US").words(WORDS[1])[0].encode(), json.dumps(WORDS[0])[1:-1].encode()
    assert {repr(form) for form in (WORDS[0].encode(), WORDS[1].encode(), stem, escaped)} <= written, "found before"

    assert KINDS[kind](house)["forgotten"] >= 1
    assert (house.left(), house.known()) == ([], []), "right after"
    house.send(house.not_told())
    assert (house.left(), house.known()) == ([], []), "after the old messages came again"
    house.start()
    assert (house.left(), house.known()) == ([], []), "after a restart"
    rebuild_index(house)
    house.send(house.not_told())
    assert (house.left(), house.known()) == ([], []), "after the index was made anew, and once more all old messages"


def rebuild_index(house: House) -> None:
    """Start on a database whose word index is lost: it is made anew."""
    house.stop()
    with sqlite3.connect(house.data / "memory.db") as database:
        database.execute("DELETE FROM posting")
    house.start()


def test_what_is_told_again_after_it_was_forgotten_is_kept(house: House) -> None:
    house.say(topics.UTTERANCE[0], {"utterances": [TOLD]})
    house.say("speak", {"utterance": f"the {WORDS[0]} plays"})
    assert house.left()
    assert house.ask("forget", {"everything": True})["forgotten"] == 2
    assert house.left() == []
    house.say(topics.UTTERANCE[0], {"utterances": [TOLD]})
    assert house.left()


def test_what_a_skill_said_is_forgotten_by_its_name(house: House) -> None:
    house.say(topics.UTTERANCE[0], {"utterances": ["who plays tonight"]})
    house.say(topics.SPEAK[1], {"utterance": f"the {WORDS[1]}", "meta": {"skill": "b.skill"}}, "u-1")
    assert house.left()
    assert house.ask("forget", {"source": "b.skill"})["kinds"]["turns"] == 1
    house.send(house.sent)
    assert house.left() == []


def test_the_request_to_forget_and_its_confirmation_are_kept_without_their_words(house: House) -> None:
    tell(house)
    asked = f"forget my cats {' and '.join(WORDS)}"
    house.say(topics.UTTERANCE[0], {"utterances": [asked]})
    house.say(topics.PERSONA_TURN[0], {"utterance": asked, "persona": "Scribe"}, "u-9")
    before = house.ask("status", {})["counts"]["turns"]
    preview = house.ask("forget", {"query": " ".join(WORDS), "preview": True}, "u-9")
    assert house.ask("status", {})["counts"]["turns"] == before
    assert preview["preview"]
    done = house.ask("forget", {"query": " ".join(WORDS)}, "u-9")
    assert done["kinds"] == preview["kinds"]
    assert (
        done["kinds"]["turns"] and done["kinds"]["memories"] and done["kinds"]["documents"] and done["kinds"]["notes"]
    )
    confirmation = f"I forgot {done['forgotten']} things about {WORDS[0]} and {WORDS[1]}"
    turns = [
        {"role": "user", "text": asked},
        {
            "role": "assistant",
            "text": "",
            "tool_calls": [{"id": "1", "name": "forget", "arguments": {"query": WORDS[0]}}],
        },
        {"role": "tool", "text": WORDS[1], "tool_call_id": "1", "name": "forget"},
        {"role": "assistant", "text": confirmation},
    ]
    record = {"turns": turns, "as_passed": True, "delivery_id": "d-9", "request_id": "d-9"}
    house.say(topics.request("record"), record, "u-9")
    house.say(topics.SPEAK[1], {"utterance": confirmation}, "u-9")
    assert (house.left(), house.known()) == ([], [])
    assert house.ask("status", {})["counts"]["turns"] > before - done["kinds"]["turns"], "that it was asked is kept"


def test_on_the_stable_line_a_confirmation_is_known_by_its_place(house: House) -> None:
    house.ask("remember", {"text": f"the plumber is called {WORDS[1]}", "key": "plumber"})
    house.say(topics.UTTERANCE[0], {"utterances": [f"forget the plumber {WORDS[1]}"]})
    house.ask("forget", {"key": "plumber"})
    house.say("speak", {"utterance": f"I forgot {WORDS[1]}"})
    house.say("speak", {"utterance": "anything else"})
    assert house.left() == []
    house.say(topics.UTTERANCE[0], {"utterances": ["what is heard after the request"]})
    house.say("speak", {"utterance": "is kept as it is"})
    with house.owner() as owner:
        said = owner.history(Scope(user_id="ada", session_id="s"), max_history=None)
    assert [message.text for message in said] == ["what is heard after the request", "is kept as it is"]


def test_a_person_may_have_it_remembered_anew(house: House) -> None:
    tell(house)
    house.ask("forget", {"key": "cats"})
    old = house.ask("remember", {"text": TOLD, "key": "cats"}, "u-1")
    assert (old["ok"], old["error"]) == (False, "not_allowed"), "the utterance that asks was forgotten"
    asked = f"please remember that {TOLD}"
    house.say(topics.UTTERANCE[0], {"utterances": [asked]})
    house.say(topics.MATCHED[0], {"skill_id": "a.skill", "intent_name": "remember", "utterance": asked}, "u-10")
    assert house.ask("remember", {"text": TOLD, "key": "cats"}, "u-10")["ok"]
    house.say(topics.UTTERANCE[0], {"utterances": [TOLD]})
    assert {"get", "list", "recall", "context"} <= set(house.known())
    with house.owner() as owner:
        said = owner.recall(WORDS[0], Scope(user_id="ada"), kinds={"turn"})
    assert said[0].text == TOLD, "also what is said in the same words"
