"""Whose words an utterance is taken for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ovos_persona_memory.config import IdentityConfig, MemoryConfig, parse
from ovos_persona_memory.errors import ConfigError, InvalidRequest, NotAllowed, UnknownEntry
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.privacy.identity import UTTERANCES, person_of
from ovos_persona_memory.protocol import messages, topics
from ovos_persona_memory.records import Claim, ContextRequest, Person, Scope, Turn, level_of
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

GUEST = Person("guest")
CONFIGURED = IdentityConfig("configured", {"s1": "alice", "kitchen": "bob", "hall": "household"})


def claimed(**session: Any) -> Claim:
    frame = {"type": "recognizer_loop:utterance", "data": {}, "context": {"session": session}}
    return messages.heard(messages.decode(json.dumps(frame).encode(), 0.0)).claim


@pytest.mark.parametrize("name", ["alice", "u_4", "ALICE", " alice", "a%", "*", "a'b", "ł", "x" * 256])
def test_a_name_is_taken_as_it_is(name: str) -> None:
    assert claimed(session_id="s", user_id=name).user_id == name


@pytest.mark.parametrize("name", [None, "", "  ", "\t", 5, True, ["alice"], {"a": 1}, "a\0b", "\ud800", "x" * 257])
def test_what_is_no_name_names_nobody(name: Any) -> None:
    assert claimed(session_id="s", user_id=name).user_id is None


@pytest.mark.parametrize(("given", "level"), [(0, 0), (3, 3), (5, 5), (3.0, 3), (2.5, 0), (-1, 0), (6, 0), (True, 0),
                                              ("3", 0), (None, 0), ([3], 0), (1e300, 0)])  # fmt: skip
def test_a_level_is_a_whole_number_from_0_to_5_or_0(given: Any, level: int) -> None:
    assert claimed(session_id="s", auth_level=given).auth_level == level


@pytest.mark.parametrize("session", [{"session_id": "default"}, {}, {"session_id": ""}, {"session_id": None}])
def test_on_the_default_session_a_level_counts_as_1_at_most(session: dict[str, Any]) -> None:
    assert claimed(**session, auth_level=5).auth_level == 1
    assert claimed(**session, auth_level=1).auth_level == 1
    assert claimed(**session).auth_level == 0


def test_without_trust_everybody_is_the_household() -> None:
    for claim in (Claim(), Claim("alice", 3)):
        assert person_of(claim, Scope("s1"), IdentityConfig()).user_id == "household"


def test_a_recogniser_names_the_user_and_where_it_does_not_it_is_a_guest() -> None:
    session = IdentityConfig("session")
    assert person_of(Claim("alice", 3), Scope("s1"), session) == Person("alice", 3)
    assert person_of(Claim("alice"), Scope("s1"), session) == Person("alice", 0)
    for claim in (Claim(), Claim(None, 5), Claim("household", 5), Claim("guest", 5)):
        assert person_of(claim, Scope("s1"), session) == GUEST


def test_the_map_names_the_user_of_a_session_or_else_of_a_room() -> None:
    assert person_of(Claim(), Scope("s1"), CONFIGURED) == Person("alice")
    assert person_of(Claim(), Scope("s1", site_id="kitchen"), CONFIGURED) == Person("alice")
    assert person_of(Claim(), Scope("s2", site_id="kitchen"), CONFIGURED) == Person("bob")
    assert person_of(Claim(), Scope("s2", site_id="hall"), CONFIGURED) == Person("household")
    for scope in (Scope("s2"), Scope("S1"), Scope("s"), Scope("s1 "), Scope("s2", site_id="Kitchen")):
        assert person_of(Claim("alice", 5), scope, CONFIGURED) == GUEST


HIVE = IdentityConfig("configured", {"bedroom": "alice", "s1": "alice"}, clients={"alice-phone": "alice"})


def through(peer: Any, **session: Any) -> Claim:
    context = {"session": {"session_id": "s1", **session}, "peer": peer}
    frame = {"type": "recognizer_loop:utterance", "data": {}, "context": context}
    return messages.heard(messages.decode(json.dumps(frame).encode(), 0.0)).claim


def test_through_a_hub_the_client_names_the_user_and_nothing_that_it_says_of_itself() -> None:
    room = Scope("s1", site_id="bedroom")
    assert person_of(through("sat::1::alice-phone::s1"), Scope("f00:s9", site_id="hall"), HIVE) == Person("alice")
    for peer in (
        *("sat::2::visitor::s1", "sat::2::visitor::1::alice-phone::s1", "alice-phone::2::visitor::alice-phone"),
        *("alice-phone::s1", "alice-phone", "::::alice-phone::s1", "sat::x::alice-phone::s1", ""),
    ):
        assert person_of(through(peer, user_id="alice", auth_level=5), room, HIVE) == GUEST, peer


def test_without_a_hub_or_where_no_client_is_named_the_map_holds_as_ever() -> None:
    room = Scope("s9", site_id="bedroom")
    for peer in (None, 5, ["sat::1::alice-phone::s1"]):
        assert person_of(through(peer), room, HIVE) == Person("alice")
    assert person_of(through("sat::2::visitor::s1"), room, replace(HIVE, clients={})) == Person("alice")


def test_what_follows_an_utterance_that_was_not_heard_is_its_clients_too() -> None:
    config = MemoryConfig(identity=HIVE)
    people = PersonaMemory(InMemoryStore(), config).transcript.people
    session = {"session_id": "s1", "site_id": "bedroom", "user_id": "alice"}
    for peer, person in (("sat::2::visitor::s1", "guest"), ("sat::1::alice-phone::s1", "alice")):
        for stamp in ({}, {"utterance_id": f"of {peer}"}):
            context = {"session": session, "peer": peer, **stamp}
            frame = {"type": "speak", "data": {"utterance": "hello"}, "context": context}
            heard = messages.heard(messages.decode(json.dumps(frame).encode(), 1.0))
            assert people.attribute(heard)[1].person.user_id == person


def test_a_level_is_worth_nothing_for_anybody_but_whom_the_message_names() -> None:
    assert person_of(Claim("alice", 3), Scope("s1"), CONFIGURED) == Person("alice", 3)
    assert person_of(Claim(None, 3), Scope("s1"), CONFIGURED) == Person("alice", 3)
    assert person_of(Claim("bob", 3), Scope("s1"), CONFIGURED) == Person("alice", 0)


@pytest.mark.parametrize("name", ["", "  ", "a\0", "x" * 257])
def test_a_map_with_an_impossible_name_is_refused(name: str) -> None:
    for setting in ("map", "clients"):
        with pytest.raises(ConfigError, match=rf"identity\.{setting}\.kitchen"):
            parse({"identity": {"trust": "configured", setting: {"kitchen": name}}})


def test_the_settings_are_read() -> None:
    section = {"identity": {"trust": "configured", "map": {"kitchen": "bob"}}}
    assert parse(section).identity == IdentityConfig("configured", {"kitchen": "bob"})
    with pytest.raises(ConfigError, match=r"identity\.trust"):
        parse({"identity": {"trust": "everybody"}})


# the person of an utterance is told by its first message


class Bus:
    """A memory that hears frames, one a second."""

    def __init__(self, trust: str = "session", store: InMemoryStore | None = None) -> None:
        self.store = store or InMemoryStore()
        self.now = 1000.0
        config = MemoryConfig(identity=IdentityConfig(trust, CONFIGURED.map))
        self.memory = PersonaMemory(self.store, config, clock=lambda: self.now)

    def hear(self, topic: str, data: Mapping[str, Any], utterance_id: str | None = None, **session: Any) -> list[Turn]:
        self.now += 1
        stamp = {"utterance_id": utterance_id} if utterance_id else {}
        frame = {"type": topic, "data": data, "context": {"session": {"session_id": "s1", **session}, **stamp}}
        heard = messages.heard(messages.decode(json.dumps(frame).encode(), self.now))
        with self.memory.transaction():
            return self.memory.transcript.hear(heard)

    def says(self, text: str, **session: Any) -> None:
        self.hear("recognizer_loop:utterance", {"utterances": [text]}, **session)

    def matched(self, text: str, utterance_id: str, **session: Any) -> None:
        self.hear("ovos.intent.matched", {"utterance": text}, utterance_id, **session)

    def speaks(self, text: str, utterance_id: str | None = None, **session: Any) -> None:
        self.hear("speak", {"utterance": text}, utterance_id, **session)

    def asks(self, utterance_id: str | None = None, **session: Any) -> Person:
        """Whom a request is made for."""
        stamp = {"utterance_id": utterance_id} if utterance_id else {}
        context = {"session": {"session_id": "s1", **session}, **stamp}
        frame = {"type": topics.request("list"), "data": {}, "context": context}
        asked = messages.request(messages.decode(json.dumps(frame).encode(), self.now))
        assert asked is not None
        return self.memory.transcript.people.of_request(asked)

    def log(self, user_id: str) -> list[str]:
        return [turn.text for turn in self.store.turns(Scope(user_id=user_id))]


def test_the_answer_belongs_to_whoever_asked() -> None:
    bus = Bus()
    bus.says("what is my balance", user_id="alice", auth_level=3)
    bus.matched("what is my balance", "u1", user_id="bob")
    bus.speaks("ten euros", "u1", user_id="bob")
    assert bus.log("alice") == ["what is my balance", "ten euros"]
    assert bus.log("bob") == []
    assert bus.asks("u1", user_id="bob", auth_level=5) == Person("alice", 3)


def test_a_name_that_arrives_only_later_means_nothing() -> None:
    bus = Bus()
    bus.says("what do you know about me")
    bus.matched("what do you know about me", "u1", user_id="alice", auth_level=5)
    bus.speaks("nothing", "u1", user_id="alice", auth_level=5)
    assert bus.asks("u1", user_id="alice", auth_level=5) == GUEST
    assert (bus.log("alice"), bus.log("guest")) == ([], ["what do you know about me", "nothing"])


def test_two_who_speak_at_once_in_one_session_are_told_apart_by_what_was_matched() -> None:
    bus = Bus()
    bus.says("one", user_id="alice")
    bus.says("two", user_id="bob")
    bus.matched("two", "u2", user_id="alice")
    bus.matched("one", "u1", user_id="alice")
    bus.speaks("second", "u2")
    bus.speaks("first", "u1")
    assert (bus.log("alice"), bus.log("bob")) == (["one", "first"], ["two", "second"])
    assert (bus.asks("u1"), bus.asks("u2")) == (Person("alice"), Person("bob"))


def test_without_ids_an_answer_belongs_to_whoever_spoke_last_in_the_session() -> None:
    bus = Bus()
    bus.says("one", user_id="alice")
    bus.says("one", user_id="carol", session_id="s2")
    bus.speaks("first", user_id="bob")
    assert bus.log("alice") == ["one", "first"]


def test_what_is_said_to_nobody_is_nobodys() -> None:
    bus = Bus()
    bus.speaks("the laundry is done", user_id="alice")
    bus.speaks("so is the oven", "u9", user_id="alice")
    assert (bus.log("alice"), bus.log("guest")) == ([], ["the laundry is done", "so is the oven"])


def test_an_utterance_of_another_session_lends_nobody_its_person() -> None:
    bus = Bus()
    bus.says("hello", user_id="alice")
    bus.matched("hello", "u1")
    assert bus.asks("u1") == Person("alice")
    assert bus.asks("u1", session_id="s2", user_id="alice") == GUEST


def test_an_utterance_that_is_sent_on_keeps_its_person() -> None:
    bus = Bus()
    bus.says("ask the oracle", user_id="alice")
    bus.matched("ask the oracle", "u1")
    bus.hear("recognizer_loop:utterance", {"utterances": ["oracle"]}, "u1", user_id="bob")
    assert bus.log("alice") == ["ask the oracle", "oracle"]


def test_after_a_restart_the_log_says_whose_utterance_it_was_and_nothing_private_is_reached() -> None:
    bus = Bus()
    bus.says("set a timer", user_id="alice", auth_level=3)
    bus.matched("set a timer", "u1")
    again = Bus(store=bus.store)
    assert again.asks("u1", user_id="bob", auth_level=5) == Person("alice", 0)
    assert again.asks("u2", user_id="bob", auth_level=5) == GUEST


def test_an_utterance_that_was_not_written_has_its_person_all_the_same() -> None:
    bus = Bus()
    bus.memory.capture(write=False)
    bus.says("what is my balance", user_id="alice", auth_level=2)
    bus.matched("what is my balance", "u1", user_id="bob")
    assert bus.asks("u1", user_id="bob") == Person("alice", 2)
    assert bus.store.turns(Scope.everyone()) == []


def test_an_id_that_came_before_its_utterance_claims_none_later() -> None:
    bus = Bus()
    bus.speaks("your timer is over", "old", user_id="alice")
    bus.says("hello", user_id="alice", auth_level=4)
    assert bus.asks("old") == GUEST
    assert bus.asks("u1") == Person("alice", 4)


def test_a_request_about_no_utterance_is_made_for_whoever_its_message_names() -> None:
    bus = Bus()
    bus.says("hello", user_id="alice", auth_level=4)
    assert bus.asks(user_id="bob", auth_level=2) == Person("bob", 2)
    assert bus.asks() == GUEST
    assert bus.asks(session_id="default", user_id="bob", auth_level=2) == Person("bob", 1)


def test_an_out_of_band_question_and_its_answer_belong_to_whoever_put_it() -> None:
    bus = Bus()
    asked = {"persona": "Ada", "utterance": "what is my name"}
    bus.hear("ovos.persona.query", asked, user_id="alice")
    bus.hear("ovos.persona.answer", {**asked, "response": "Alice"}, user_id="bob")
    assert bus.log("alice") == ["what is my name", "Alice"]


def test_where_two_put_the_same_question_out_of_band_its_answer_is_nobodys() -> None:
    bus = Bus()
    asked = {"persona": "Ada", "utterance": "what is my name"}
    bus.hear("ovos.persona.query", asked, user_id="alice")
    bus.hear("ovos.persona.query", asked, user_id="bob")
    bus.hear("ovos.persona.answer", {**asked, "response": "Alice"})
    assert bus.store.turns(Scope.everyone()) == []


def test_a_cancelled_utterance_is_taken_from_the_person_who_said_it() -> None:
    bus = Bus()
    bus.says("hello", user_id="alice")
    bus.says("never mind", user_id="bob")
    bus.hear("ovos.utterance.cancelled", {}, user_id="alice")
    assert (bus.log("alice"), bus.log("bob")) == (["hello"], [])


def test_with_a_map_a_later_message_needs_no_room() -> None:
    bus = Bus("configured")
    bus.says("hello", session_id="s2", site_id="kitchen")
    bus.matched("hello", "u1", session_id="s2")
    bus.speaks("hi", "u1", session_id="s2")
    assert bus.log("bob") == ["hello", "hi"]
    assert bus.asks("u1", session_id="s2", user_id="alice") == Person("bob")


def test_what_is_merged_is_the_other_ones_from_now_on() -> None:
    bus = Bus()
    bus.says("hello", user_id="al", auth_level=2)
    bus.matched("hello", "u1")
    bus.says("hello again", user_id="al", auth_level=3)
    bus.memory.transcript.people.rename("al", "alice")
    assert (bus.asks("u1"), bus.asks("u2")) == (Person("alice", 2), Person("alice", 3))


def test_the_newest_utterances_are_kept_in_mind() -> None:
    bus = Bus("none")
    for number in range(UTTERANCES + 5):
        bus.asks(f"u{number}")
    assert len(bus.memory.transcript.people._by_id) == UTTERANCES


# what is private


def at_level(level: int | None, user_id: str = "alice") -> Scope:
    return Scope(session_id="s1", user_id=user_id, auth_level=level)


def test_what_is_private_is_given_only_to_who_is_known_surely_enough() -> None:
    memory = Bus().memory
    memory.remember("the safe opens with a green key", at_level(1), "safe", {"private": 3})
    for level, given in ((0, False), (2, False), (3, True), (5, True), (None, True)):
        scope = at_level(level)
        assert (memory.get("safe", scope) is not None) == given
        assert bool(memory.list(scope)) == given
        assert bool(memory.recall("what opens the safe", scope)) == given
        request = ContextRequest("what opens the safe", scope)
        assert ("green key" in str(memory.context(request))) == given
    assert memory.get("safe", at_level(5, "bob")) is None


def test_what_is_private_is_not_changed_by_who_is_known_less_surely() -> None:
    memory = Bus().memory
    kept = memory.remember("the safe is green", at_level(3), "safe", {"private": 3})
    with pytest.raises(UnknownEntry):
        memory.update("safe", at_level(2), text="the safe is red")
    with pytest.raises(NotAllowed):
        memory.remember("the safe is red", at_level(2), "safe")
    assert memory.forget(at_level(2), everything=True) == 0
    assert memory.get("safe", at_level(3)) == kept
    assert memory.forget(at_level(3), everything=True) == 1


@pytest.mark.parametrize("private", [6, -1, "3", 2.5, None, [1]])
def test_a_level_that_is_none_is_refused(private: Any) -> None:
    memory = Bus().memory
    with pytest.raises(InvalidRequest, match=r"metadata\.private"):
        memory.remember("x", metadata={"private": private})
    memory.remember("x", key="k")
    with pytest.raises(InvalidRequest, match=r"metadata\.private"):
        memory.update("k", metadata={"private": private})


def test_what_cannot_be_read_needs_the_highest_level() -> None:
    assert [level_of({"private": one}) for one in (True, False, 4, "x", 9, None)] == [1, 0, 4, 5, 5, 5]
    assert level_of({}) == 0


def test_the_utterance_that_asks_to_keep_something_private_is_kept_without_its_words() -> None:
    bus = Bus()
    bus.says("keep to yourself that the safe is green", user_id="alice", auth_level=3)
    bus.memory.remember("the safe is green", at_level(3), metadata={"private": 3}, utterance_id="u1")
    bus.matched("keep to yourself that the safe is green", "u1")
    bus.speaks("I keep to myself that the safe is green", "u1")
    turns = [Turn("user", "keep: the safe is green"), Turn("assistant", "kept: the safe is green.")]
    bus.memory.record(turns, replace(at_level(3), persona_id="Ada"), True, "d1", "u1")
    assert {turn.text for turn in bus.store.turns(Scope.everyone())} == {""}
    bus.says("the lawn is green", user_id="alice")
    assert [hit.text for hit in bus.memory.recall("green", at_level(0))] == ["the lawn is green"]


# what a Neon assistant asks to clear


NEON = "neon.clear_data"


def filled(bus: Bus) -> None:
    for user in ("alice", "bob", "guest", "household"):
        for session in ("s1", "s2"):
            bus.memory.record([Turn("user", f"{user} {session}")], Scope(session, user))
        bus.memory.remember(f"of {user}", Scope("s1", user), "k")
        bus.memory.documents(Scope("s1", user)).upsert(f"of {user}", "d")


def clear(bus: Bus, what: Any, username: Any = "alice", utterance_id: str | None = None, **session: Any) -> set[str]:
    """What is gone after the request: kind and user of each."""

    def held() -> set[str]:
        users = bus.memory.users.list()
        return {
            f"{kind} {user.user_id}"
            for user in users
            for kind in ("turns", "memories", "documents")
            if getattr(user, kind)
        }

    before = held()
    stamp = {"utterance_id": utterance_id} if utterance_id else {}
    context = {"session": {"session_id": "s1", **session}, **stamp}
    frame = {"type": NEON, "data": {"username": username, "data_to_remove": what}, "context": context}
    bus.memory.users.clear(messages.heard(messages.decode(json.dumps(frame).encode(), bus.now)))
    return before - held()


ALL = {"turns alice", "memories alice", "documents alice"}


@pytest.mark.parametrize(
    ("what", "gone"),
    [(["ALL_DATA"], ALL), ([5], ALL), (["ALL_TR"], {"turns alice"}), ([2], {"turns alice"}),
     (["PROFILE"], {"memories alice"}), (["ALL_TR", 1], {"turns alice", "memories alice"}),
     (["CACHES", "ALL_MEDIA", "ALL_UNITS", "ALL_LANGUAGE"], set()), ([], set()), (None, set()), ("ALL_DATA", set()),
     ([99, -1, True, None, {}, "all_data"], set())],
)  # fmt: skip
def test_what_neon_asks_to_clear_of_the_person_goes(what: Any, gone: set[str]) -> None:
    bus = Bus()
    filled(bus)
    assert clear(bus, what, user_id="alice") == gone


@pytest.mark.parametrize("username", ["local", None, 5, ""])
def test_whom_neon_does_not_know_is_the_person_of_the_message(username: Any) -> None:
    bus = Bus()
    filled(bus)
    assert clear(bus, ["ALL_DATA"], username, user_id="alice") == ALL


def test_neon_clears_nothing_of_anybody_else() -> None:
    bus = Bus()
    filled(bus)
    assert clear(bus, ["ALL_DATA"], "bob", user_id="alice") == set()
    assert clear(bus, ["ALL_DATA"], "Alice", user_id="alice") == set()
    bus.says("clear my data", user_id="bob")
    bus.matched("clear my data", "u1", user_id="alice")
    assert clear(bus, ["ALL_DATA"], "alice", "u1", user_id="alice") == set()


def test_of_a_guest_neon_clears_the_session() -> None:
    bus = Bus()
    filled(bus)
    clear(bus, ["ALL_DATA"], "local")
    assert bus.log("guest") == ["guest s2"]
    assert bus.log("alice") == ["alice s1", "alice s2"]


def test_where_everybody_is_the_household_neon_clears_the_households() -> None:
    bus = Bus("none")
    filled(bus)
    assert clear(bus, ["ALL_DATA"], "alice") == {"turns household", "memories household", "documents household"}


def test_neon_clears_tastes_by_themselves() -> None:
    bus = Bus()
    bus.says("I like green tea", user_id="alice")
    bus.says("I don't like coffee", user_id="alice")
    bus.says("I like red tea", user_id="bob")
    assert [fact.slot for fact, _ in bus.store.fact_store.held("alice")] == ["likes", "dislikes"]
    clear(bus, ["CONF_LIKES"], user_id="alice")
    assert [fact.slot for fact, _ in bus.store.fact_store.held("alice")] == ["dislikes"]
    assert len(bus.log("alice")) == 2
    clear(bus, ["CONF_DISLIKES", "CONF_LIKES"], user_id="alice")
    assert list(bus.store.fact_store.held("alice")) == []
    assert len(bus.store.fact_store.held("bob")) == 1


# where one memory serves all, a name is noted, and decides nothing


def test_a_household_notes_who_was_heard_and_all_of_it_stays_the_households() -> None:
    bus = Bus("none")
    bus.says("ich habe größe 38", user_id="nora", auth_level=3)
    bus.matched("ich habe größe 38", "u1", user_id="piet")
    bus.speaks("aha", "u1", user_id="piet")
    bus.says("j'ai réussi mon examen", session_id="s2")
    bus.says("passei no exame", session_id="s3", user_id="household")
    turns = bus.store.turns(Scope(user_id="household"))
    assert [turn.speaker for turn in turns] == ["nora", None, None, None]
    assert bus.asks("u1", user_id="piet", auth_level=5) == Person("household", 3, "nora")
    assert bus.asks(user_id="piet") == Person("household", 0, "piet")
    assert {turn.user_id for turn in bus.store.turns(Scope.everyone())} == {"household"}


def test_where_people_are_told_apart_the_user_is_the_name() -> None:
    for trust in ("session", "configured"):
        bus = Bus(trust)
        bus.says("hello", user_id="alice", site_id="hall")
        assert [turn.speaker for turn in bus.store.turns(Scope.everyone())] == [None]


def test_an_out_of_band_question_has_the_name_of_whoever_put_it_and_its_answer_none() -> None:
    bus = Bus("none")
    asked = {"persona": "Ada", "utterance": "what is my name"}
    bus.hear("ovos.persona.query", asked, user_id="nora")
    bus.hear("ovos.persona.answer", {**asked, "response": "Nora"}, user_id="piet")
    assert [turn.speaker for turn in bus.store.turns(Scope.everyone())] == ["nora", None]
