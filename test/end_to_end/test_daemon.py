"""The daemon on a real messagebus: what it hears, keeps, says and forgets."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ovos_bus_client import Message, MessageBusClient
from support.servers.bus import Wire
from support.servers.ports import free_port

from ovos_persona_memory.protocol import MemoryClient, topics
from ovos_persona_memory.records import Capture, Scope, Turn
from ovos_persona_memory.stores import open_store

from .conftest import Address, Daemon, running_bus, wait_until, write_settings

Said = tuple[str, str]
MARK = {"_namespace_compat_twin": True}
SECRET = "Zyxquark"


class House:
    """A bus of its own with one daemon after the other on the same data."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self.address: Address = ("127.0.0.1", free_port())
        self.daemon: Daemon | None = None

    def start(self, lang: str = "en-US", **settings: Any) -> None:
        """Start a daemon with these settings, in the place of the one that runs."""
        self.stop()
        write_settings(self.folder, lang=lang, persona_memory=settings)
        self.daemon = Daemon(self.folder, self.data, self.address)
        wait_until(self.daemon.is_ready, "the start of the daemon")

    def stop(self) -> None:
        """End the daemon that runs."""
        if self.daemon is not None:
            self.daemon.end()
        self.daemon = None

    def owner(self) -> MemoryClient:
        """A client at the owner's door."""
        return MemoryClient.over_door(self.data)

    def wire(self) -> Wire:
        """A bare connection to the bus."""
        return Wire(self.address[1])

    def history(self, session_id: str) -> list[Said]:
        """A session's whole history."""
        with self.owner() as owner:
            found = owner.history(Scope(session_id=session_id), max_history=None)
        return [(message.role, message.text) for message in found]

    def turns(self) -> int:
        """How many turns the log holds."""
        with self.owner() as owner:
            return int(owner.status()["counts"]["turns"])

    def holds(self, word: str) -> bool:
        """Whether a word is in any file of the data folder, in any encoding and letter case."""
        forms = {form.encode(name) for form in (word, word.lower()) for name in ("utf-8", "utf-16-le", "utf-16-be")}
        files = [path for path in self.data.rglob("*") if path.is_file()]
        assert any(path.name == "memory.db" for path in files)
        return any(form in path.read_bytes() for path in files for form in forms)


@contextmanager
def house_at(folder: Path) -> Iterator[House]:
    house = House(folder)
    with running_bus(folder / "bus", house.address[1]):
        try:
            yield house
        finally:
            house.stop()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A bus on which no daemon runs yet."""
    with house_at(tmp_path) as made:
        yield made


@pytest.fixture
def quiet(house: House) -> House:
    """The same with a daemon that has nothing to announce."""
    house.start(announce=False)
    return house


@pytest.fixture
def wire(quiet: House) -> Iterator[Wire]:
    with quiet.wire() as connected:
        yield connected


def envelope(session_id: str, utterance_id: str | None = None) -> dict[str, Any]:
    context: dict[str, Any] = {"session": {"session_id": session_id, "lang": "en-US"}}
    return context | ({"utterance_id": utterance_id} if utterance_id else {})


def ask(wire: Wire, session_id: str, text: str, utterance_id: str | None = None) -> None:
    """A person says this; core stamps what follows."""
    wire.send("recognizer_loop:utterance", {"utterances": [text], "lang": "en-US"}, envelope(session_id))
    if utterance_id:
        matched = {"skill_id": "a.skill", "intent_name": "any", "utterance": text}
        wire.send("ovos.intent.matched", matched, envelope(session_id, utterance_id))


def answer(wire: Wire, session_id: str, text: str, utterance_id: str | None = None) -> None:
    wire.send("ovos.utterance.speak", {"utterance": text, "meta": {}}, envelope(session_id, utterance_id))


def settled(wire: Wire) -> list[dict[str, Any]]:
    """Everything that the bus carried until the daemon had taken in all that was sent on this wire."""
    request_id = wire.new_id()
    wire.send(topics.request("status"), {"request_id": request_id}, envelope("default"))
    return wire.until(topics.response("status"), request_id)


# what is heard


def test_an_utterance_heard_under_both_its_names_is_one_turn(quiet: House, wire: Wire) -> None:
    question, spoken = {"utterances": ["who are you"]}, {"utterance": "your assistant", "meta": {}}
    wire.send("ovos.utterance.handle", question, envelope("s"))
    wire.send("recognizer_loop:utterance", question, envelope("s") | MARK)
    wire.send("ovos.utterance.speak", spoken, envelope("s", "u-1"))
    wire.send("speak", spoken, envelope("s", "u-1") | MARK)
    settled(wire)
    assert quiet.history("s") == [("user", "who are you"), ("assistant", "your assistant")]
    assert quiet.turns() == 2


def test_what_a_client_of_the_current_line_emits_under_a_new_name_is_one_turn(quiet: House) -> None:
    client = MessageBusClient(host=quiet.address[0], port=quiet.address[1])
    client.run_in_thread()
    try:
        assert client.connected_event.wait(10)
        client.emit(Message("ovos.utterance.handle", {"utterances": ["who are you"]}, envelope("s")))
        client.emit(Message("ovos.utterance.speak", {"utterance": "your assistant"}, envelope("s", "u-1")))
        assert client.wait_for_response(Message(topics.request("status"), {}, envelope("s")), timeout=10) is not None
    finally:
        client.close()
    assert quiet.history("s") == [("user", "who are you"), ("assistant", "your assistant")]
    assert quiet.turns() == 2


def test_the_same_words_said_again_are_said_again(quiet: House, wire: Wire) -> None:
    for number in range(2):
        ask(wire, "s", "hello", f"u-{number}")
        answer(wire, "s", "hi", f"u-{number}")
    settled(wire)
    assert quiet.turns() == 4


def test_a_thousand_messages_are_kept_in_their_order_of_arrival(quiet: House, wire: Wire) -> None:
    said = [(session_id, what, f"{what} {n}") for n in range(250) for what in ("q", "a") for session_id in ("s1", "s2")]
    for session_id, what, text in said:
        (ask if what == "q" else answer)(wire, session_id, text)
    settled(wire)
    for session_id in ("s1", "s2"):
        assert [text for _, text in quiet.history(session_id)] == [text for one, _, text in said if one == session_id]
    quiet.stop()
    store = open_store("sqlite", quiet.data)
    try:
        assert [(turn.session_id, turn.text) for turn in store.turns(Scope())] == [(one, text) for one, _, text in said]
    finally:
        store.close()


def test_a_question_past_the_pipeline_and_its_first_answer_are_recalled_and_no_history(
    quiet: House, wire: Wire
) -> None:
    query = {"persona_id": "Ada", "utterance": "my boat leaks, what now"}
    wire.send("ovos.persona.query", query, envelope("s"))
    for response in (None, "Call a plumber.", "Bail it out."):  # one persona service each; one does not know Ada
        wire.send("ovos.persona.answer", {**query, "response": response}, envelope("s"))
    settled(wire)
    with quiet.owner() as owner:
        assert [hit.text for hit in owner.recall("boat", k=1)] == ["my boat leaks, what now"]
        assert "Call a plumber." in [hit.text for hit in owner.recall("plumber")]
        assert owner.recall("bail") == []
    assert quiet.history("s") == []
    assert quiet.turns() == 2


# what is asked is heard first


COMPOUNDS = [
    ("de-DE", "mein Werkstatttermin ist am Montag um acht", "wann muss ich in die Werkstatt"),
    ("nl-NL", "mijn kappersafspraak is dinsdag om drie", "wanneer moet ik naar de kapper"),
    ("da-DK", "min frisørtid er på torsdag klokken to", "hvornår skal jeg til frisøren"),
]


def told_of(wire: Wire, verb: str, data: dict[str, Any], context: dict[str, Any]) -> list[tuple[str, bool]]:
    """The hits that the daemon answers a request with, and whether each is sure."""
    request_id = wire.new_id()
    wire.send(topics.request(verb), {**data, "request_id": request_id}, context)
    answered = wire.until(topics.response(verb), request_id)[-1]["data"]
    return [(hit["text"], hit["sure"]) for hit in answered["hits"]]


def test_a_question_that_was_heard_finds_the_compound_that_its_word_is_a_part_of(quiet: House, wire: Wire) -> None:
    number = 0
    for lang, told, question in COMPOUNDS:

        def say(text: str, utterance_id: str | None, lang: str = lang) -> dict[str, Any]:
            session = {"session_id": lang, "lang": lang}
            wire.send("recognizer_loop:utterance", {"utterances": [text], "lang": lang}, {"session": session})
            if utterance_id is None:
                return {"session": session}
            matched = {"skill_id": "a.skill", "intent_name": "any", "utterance": text}
            wire.send("ovos.intent.matched", matched, {"session": session, "utterance_id": utterance_id})
            return {"session": session, "utterance_id": utterance_id}

        say(told, f"told-{lang}")
        for utterance_id in (f"u-{lang}", f"again-{lang}", None):  # the stable line has no ids
            context = say(question, utterance_id)
            found = told_of(wire, "recall", {"question": question, "k": 1}, context)
            handed = told_of(wire, "context", {"utterance": question}, context)
            assert (found, handed) == ([(told, True)], [(told, True)]), utterance_id
            number += 1
    assert quiet.turns() == number + len(COMPOUNDS)


# the first start


def announcements(heard: list[dict[str, Any]]) -> list[dict[str, Any]]:
    spoken = [one for one in heard if one["type"] in topics.SPEAK]
    return [one for one in spoken if one["data"].get("meta", {}).get("dialog") == "first_start"]


@pytest.mark.parametrize(("lang", "words"), [("en-US", "I remember what is said"), ("de-DE", "merke ich mir")])
def test_the_first_start_says_once_in_the_devices_language_that_it_remembers(
    house: House, lang: str, words: str
) -> None:
    house.start(lang=lang)
    with house.wire() as wire:
        wire.send("mycroft.ready", {})
        [said] = announcements(settled(wire))
        assert words in said["data"]["utterance"]
        assert said["data"]["lang"] == said["context"]["session"]["lang"] == lang
        wire.send("mycroft.ready", {})
        wire.send("ovos.utterance.handled", {}, envelope("s"))
        assert announcements(settled(wire)) == []
        house.start(lang=lang)
        wire.send("mycroft.ready", {})
        wire.send("ovos.utterance.handled", {}, envelope("s"))
        assert announcements(settled(wire)) == []


def test_a_language_we_do_not_speak_is_announced_in_english(house: House) -> None:
    house.start(lang="eu-ES")
    with house.wire() as wire:
        wire.send("mycroft.ready", {})
        [said] = announcements(settled(wire))
    assert "I remember what is said" in said["data"]["utterance"]
    assert said["data"]["lang"] == "en-US"


def test_an_assistant_that_was_ready_before_is_told_after_its_next_utterance(house: House) -> None:
    house.start()
    with house.wire() as wire:
        wire.send("ovos.utterance.handled", {}, envelope("s"))
        assert len(announcements(settled(wire))) == 1


@pytest.mark.parametrize("utterance_id", ["u-1", None], ids=["current", "stable"])
def test_whoever_speaks_first_is_greeted_before_the_answer_and_the_greeting_answers_nothing(
    house: House, utterance_id: str | None
) -> None:
    house.start()
    with house.wire() as wire:
        ask(wire, "default", "my cat is called Bob", utterance_id)
        assert len(announcements(settled(wire))) == 1
        answer(wire, "default", "Noted.", utterance_id)
        settled(wire)
    assert house.history("default") == [("user", "my cat is called Bob"), ("assistant", "Noted.")]


def test_an_assistant_that_was_ready_before_is_told_when_its_audio_says_so(house: House) -> None:
    house.start()
    with house.wire() as wire:
        wire.send("mycroft.audio.is_ready.response", {"status": True})
        assert len(announcements(settled(wire))) == 1


def test_nothing_is_announced_where_the_owner_does_not_want_it(quiet: House, wire: Wire) -> None:
    wire.send("mycroft.ready", {})
    wire.send("ovos.utterance.handled", {}, envelope("s"))
    assert announcements(settled(wire)) == []


# what it tells everybody


def test_events_carry_ids_and_numbers_and_nothing_of_what_was_said(quiet: House, wire: Wire) -> None:
    ask(wire, "s", f"my code is {SECRET}", "u-1")
    answer(wire, "s", f"{SECRET}, noted", "u-1")
    wire.send(topics.request("record"), {"turns": [{"role": "user", "text": SECRET}]}, envelope("s"))
    wire.send(topics.request("forget"), {"query": SECRET}, envelope("s"))
    until = time.time() + 3600
    wire.send(topics.request("capture"), {"write": False, "until": until, "session": True}, envelope("s"))
    heard = wire.until(topics.CAPTURED)  # the last to be told, in a quiet moment after it was done
    recorded = events(heard, topics.RECORDED)
    assert {tuple(one) for one in recorded} == {("ids",)}
    assert len({one_id for one in recorded for one_id in one["ids"]}) == 3
    assert events(heard, topics.FORGOTTEN) == [{"forgotten": 3}]
    about = {"session_id": "s", "site_id": None, "user_id": None}
    assert events(heard, topics.CAPTURED) == [{"write": False, "read": True, "until": until, **about}]
    told = [one for one in heard if one["type"] in (topics.RECORDED, topics.FORGOTTEN, topics.CAPTURED)]
    assert SECRET.lower() not in json.dumps(told).lower()


def events(heard: list[dict[str, Any]], topic: str) -> list[dict[str, Any]]:
    return [one["data"] for one in heard if one["type"] == topic]


def test_it_says_that_it_is_alive_and_ready(quiet: House, wire: Wire) -> None:
    assert wire.process_answers("is_alive")
    assert wire.process_answers("is_ready")


# forgotten is gone


@pytest.mark.parametrize("utterance_id", ["u-1", None], ids=["with an id", "without"])
def test_a_cancelled_utterance_leaves_no_byte_on_disk(quiet: House, wire: Wire, utterance_id: str | None) -> None:
    ask(wire, "s", "keep this", "u-0")
    answer(wire, "s", "kept", "u-0")
    ask(wire, "s", f"my code is {SECRET}", utterance_id)
    settled(wire)
    assert quiet.holds(SECRET), "it had been written"
    wire.send("ovos.utterance.cancelled", {}, envelope("s", utterance_id))
    settled(wire)
    assert not quiet.holds(SECRET)
    assert quiet.history("s") == [("user", "keep this"), ("assistant", "kept")]
    quiet.stop()
    assert not quiet.holds(SECRET)


@pytest.mark.parametrize("door", ["over the bus", "at the owner's door"])
@pytest.mark.parametrize("what", ["query", "ids", "everything"])
def test_what_was_forgotten_leaves_no_byte_on_disk(quiet: House, wire: Wire, door: str, what: str) -> None:
    ask(wire, "s", f"my code is {SECRET}", "u-1")
    answer(wire, "s", f"{SECRET}, noted", "u-1")
    record = {"turns": [{"role": "user", "text": f"again {SECRET}"}]}
    kept = [wire.ask("record", record, "s")["ids"][0]]
    kept.append(
        wire.ask("remember", {"text": f"the code is {SECRET}", "metadata": {"said": SECRET}}, "s")["memory"]["id"]
    )
    with quiet.owner() as owner:
        kept += [hit.id for hit in owner.recall(SECRET) if hit.id not in kept]
        assert len(kept) == 4
        assert quiet.holds(SECRET), "it had been written"
        selector: dict[str, Any] = {"query": {"query": SECRET}, "ids": {"ids": kept}}.get(what, {"everything": True})
        if door == "over the bus":
            assert wire.ask("forget", selector, "s")["forgotten"] == 4
        else:
            assert owner.forget(Scope(), **selector) == 4
    assert not quiet.holds(SECRET)
    quiet.stop()
    assert not quiet.holds(SECRET)


def test_a_changed_memory_leaves_no_byte_of_what_it_was(quiet: House, wire: Wire) -> None:
    wire.ask("remember", {"text": f"the code is {SECRET}", "key": "code"}, "s")
    assert quiet.holds(SECRET), "it had been written"
    wire.ask("update", {"key": "code", "text": "the code is gone"}, "s")
    assert not quiet.holds(SECRET)


def test_guest_mode_outlives_a_restart(quiet: House, wire: Wire) -> None:
    until = time.time() + 3600
    with quiet.owner() as owner:
        owner.capture(write=False, read=False, until=until)
        owner.capture(Scope(session_id="den"), write=False, session=True)
    quiet.start(announce=False)
    with quiet.owner() as owner:
        assert owner.capture() == Capture(write=False, read=False, until=until)
        ask(wire, "s", f"my code is {SECRET}", "u-1")
        answer(wire, "s", f"{SECRET}, noted", "u-1")
        settled(wire)
        assert quiet.turns() == 0
        assert not quiet.holds(SECRET)
        owner.capture(write=True, read=True)
        assert owner.capture(Scope(session_id="den"), session=True).write is False
        assert owner.record([Turn("user", "hello")], Scope(session_id="den")) == []
        assert len(owner.record([Turn("user", "hello")], Scope(session_id="s"))) == 1
