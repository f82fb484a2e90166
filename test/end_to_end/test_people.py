"""People who are told apart, over the bus and at the owner's door, with a daemon of its own and a restart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.servers.bus import Wire
from support.servers.ports import free_port

from ovos_persona_memory.protocol import MemoryClient, topics
from ovos_persona_memory.records import Scope, Turn

from .conftest import Address, Daemon, running_bus, wait_until, write_settings

DAY = 86400.0


@contextmanager
def house(home: Path, **settings: Any) -> Iterator[Address]:
    """A bus of its own, and the settings of a daemon in this folder."""
    write_settings(home, persona_memory={"announce": False, **settings})
    address = ("127.0.0.1", free_port())
    with running_bus(home / "bus", address[1]):
        yield address


@contextmanager
def running(home: Path, address: Address) -> Iterator[tuple[Wire, MemoryClient]]:
    """A daemon with a bare connection to its bus and a client at its door."""
    daemon = Daemon(home, home / "data", address)
    try:
        wait_until(daemon.is_ready, "the start of the daemon")
        with Wire(address[1]) as wire, MemoryClient.over_door(daemon.data) as owner:
            yield wire, owner
    finally:
        daemon.end()


def envelope(utterance_id: str | None = None, **session: Any) -> dict[str, Any]:
    stamp = {"utterance_id": utterance_id} if utterance_id else {}
    return {"session": {"session_id": "default", **session}, **stamp}


def ask(wire: Wire, verb: str, context: dict[str, Any], **data: Any) -> dict[str, Any]:
    request_id = wire.new_id()
    wire.send(topics.request(verb), {**data, "request_id": request_id}, context)
    answered: dict[str, Any] = wire.until(topics.response(verb), request_id)[-1]["data"]
    return answered


def exchange(wire: Wire, question: str, answer: str, utterance_id: str, sticks: str = "nobody", **who: Any) -> None:
    """One exchange as core sends it: all but the first message may carry the name of somebody who spoke before."""
    later = envelope(utterance_id, user_id=sticks, auth_level=5)
    wire.send("recognizer_loop:utterance", {"utterances": [question], "lang": "en-US"}, envelope(**who))
    wire.send("ovos.intent.matched", {"utterance": question, "skill_id": "a.me", "intent_name": "a"}, later)
    wire.send("ovos.utterance.speak", {"utterance": answer, "lang": "en-US"}, later)
    wire.send("ovos.utterance.handled", {}, later)


def test_each_person_has_a_memory_of_their_own_on_one_device(tmp_path: Path) -> None:
    with house(tmp_path, identity={"trust": "session"}) as address:
        with running(tmp_path, address) as (wire, owner):
            exchange(wire, "my lamp is in the attic", "noted, attic", "u1", user_id="alice")
            exchange(wire, "my lamp is in the cellar", "noted, cellar", "u2", sticks="alice", user_id="bob")
            exchange(wire, "my lamp is in the shed", "noted, shed", "u3", sticks="bob")
            assert ask(wire, "users", envelope("u3", user_id="bob", auth_level=5))["user_id"] == "guest"
            question = "where is my lamp"
            for utterance_id, user, own in (("u4", "alice", "attic"), ("u5", "bob", "cellar"), ("u6", None, None)):
                who = {"user_id": user} if user else {}
                wire.send("recognizer_loop:utterance", {"utterances": [question]}, envelope(**who))
                later = envelope(utterance_id, user_id="bob" if user == "alice" else "alice", auth_level=5)
                wire.send("ovos.intent.matched", {"utterance": question}, later)
                known = str(ask(wire, "context", later, utterance=question)["messages"])
                found = str(ask(wire, "recall", later, question=question)["hits"])
                for place in ("attic", "cellar"):
                    assert (place in known, place in found) == (place == own, place == own), user
            assert {user.user_id for user in owner.users.list()} == {"alice", "bob", "guest"}
            talk = ask(wire, "history", envelope(user_id="alice"), hanging=True)["messages"]
            assert [turn["text"] for turn in talk][:2] == ["my lamp is in the attic", "noted, attic"]
            assert not {turn["text"] for turn in talk} - {"my lamp is in the attic", "noted, attic", question}
        with running(tmp_path, address) as (wire, owner):
            asked = envelope("u1", user_id="bob", auth_level=5)
            assert ask(wire, "users", asked) | {"took_ms": 0, "request_id": ""} == {
                "ok": True, "user_id": "alice", "auth_level": 0, "trust": "session", "name": None, "approves_for": [],
                "cares_for": [], "took_ms": 0, "request_id": ""
            }  # fmt: skip
            assert ask(wire, "users.merge", asked, user_id="alice", into="bob")["error"] == "not_allowed"
            owner.users.merge("bob", "alice")
            hits = str(ask(wire, "recall", envelope(user_id="alice"), question=question)["hits"])
            assert "attic" in hits
            assert "cellar" in hits
            assert "shed" not in hits
            assert "bob" not in {user.user_id for user in owner.users.list()}


def test_neon_clears_the_person_who_asks_and_everybody_is_told_how_much(tmp_path: Path) -> None:
    with house(tmp_path, identity={"trust": "session"}) as address, running(tmp_path, address) as (wire, owner):
        for user in ("alice", "bob"):
            owner.record([Turn("user", "hello"), Turn("assistant", "hi")], Scope("s1", user))
        for username in ("bob", "alice"):
            data = {"username": username, "data_to_remove": ["ALL_TR"]}
            wire.send("neon.clear_data", data, envelope(user_id="alice"))
        assert wire.until(topics.FORGOTTEN)[-1]["data"] == {"forgotten": 2}
        assert {user.user_id: user.turns for user in owner.users.list()} == {"bob": 2}


def test_where_changes_are_closed_neon_clears_nothing(tmp_path: Path) -> None:
    with house(tmp_path, bus={"changes": "closed"}) as address, running(tmp_path, address) as (wire, owner):
        owner.record([Turn("user", "hello")], Scope("s1"))
        wire.send("neon.clear_data", {"username": "local", "data_to_remove": ["ALL_DATA"]}, envelope())
        assert ask(wire, "status", envelope())["counts"]["turns"] == 1


def test_what_is_too_old_goes_by_itself_and_everybody_is_told(tmp_path: Path) -> None:
    with house(tmp_path) as address:
        with running(tmp_path, address) as (_, owner):
            old = [Turn("user", "what is a xylophone", at=time.time() - 40 * DAY)] * 120
            owner.record(old, Scope("s1"))
            owner.record([Turn("user", "hello")], Scope("s1"))
            assert owner.status()["retention"] is None
        write_settings(tmp_path, persona_memory={"announce": False, "retention": {"turns_days": 30}})
        with Wire(address[1]) as early, running(tmp_path, address) as (_, owner):
            told = early.until(topics.FORGOTTEN)[-1]["data"]
            assert (told["forgotten"], told["retention"]["turns"]) == (120, 120)
            assert owner.status()["retention"]["turns"] == 120
            assert owner.status()["counts"]["turns"] == 1
            files = [path for path in (tmp_path / "data").iterdir() if path.is_file()]
            assert not any(b"xylophone" in path.read_bytes() for path in files)


def test_on_the_bus_a_name_that_is_only_like_it_opens_nothing(tmp_path: Path) -> None:
    with house(tmp_path, identity={"trust": "session"}) as address, running(tmp_path, address) as (wire, owner):
        owner.remember("the safe is green", Scope(user_id="u_4"), "safe")
        for name in ("u_42", "U_4", "u_4 ", " u_4", "u%", "*", "", "u_4\0", "\ud83d", "x" * 300, None):
            assert ask(wire, "get", envelope(user_id=name), key="safe")["memory"] is None
            assert ask(wire, "recall", envelope(user_id=name), question="what is green")["hits"] == []
        assert ask(wire, "get", envelope(user_id="u_4"), key="safe")["memory"]["text"] == "the safe is green"


def test_one_household_knows_who_asks_by_the_name_that_the_utterance_arrived_with(tmp_path: Path) -> None:
    with house(tmp_path) as address, running(tmp_path, address) as (wire, owner):
        exchange(wire, "my lamp is in the attic", "noted", "u1", user_id="ines")
        exchange(wire, "my lamp is in the cellar", "noted", "u2", sticks="ines", user_id="omar")
        for utterance_id, name, own in (("u3", "ines", "attic"), ("u4", "omar", "cellar")):
            wire.send("recognizer_loop:utterance", {"utterances": ["where is my lamp"]}, envelope(user_id=name))
            later = envelope(utterance_id, user_id="omar" if name == "ines" else "ines")
            wire.send("ovos.intent.matched", {"utterance": "where is my lamp"}, later)
            assert own in ask(wire, "recall", later, question="where is my lamp")["hits"][0]["text"]
            told = ask(wire, "users", later)
            assert (told["user_id"], told["name"]) == ("household", name)
        assert {turn.speaker for turn in owner.turns(Scope(), limit=9) if turn.role == "user"} == {"ines", "omar"}
