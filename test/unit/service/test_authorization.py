"""Persons, sessions, rooms, levels, personas and trust over every verb: nobody is given another's record.

Everybody keeps the same things, marked with whose they are; whatever a request answers or changes is
looked through for the marks. A verb that is new fails here until it is placed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from ovos_persona_memory.config import FactsConfig, IdentityConfig, MemoryConfig
from ovos_persona_memory.errors import NeedsApproval, NotAllowed, PersonaMemoryError, UnknownEntry
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import messages, requests, topics
from ovos_persona_memory.records import Decision, Document, Episode, Fact, Note, Request, Scope, Turn
from ovos_persona_memory.service import authorization
from ovos_persona_memory.service.verb_handlers import answer
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

USERS = ("alice", "bob", "household", "guest")
SESSIONS = ("s1", "s2", "default")
TRUSTS = ("none", "configured", "session")
EACH_TRUST = [*(pytest.param(trust, marks=pytest.mark.full) for trust in TRUSTS[:2]), TRUSTS[2]]
LEVELS = (None, 1, 3, 5)
PERSONAS = (None, "Ada", "Eve")
MAP = {"her room": "alice", "his room": "bob", "hall": "household"}
ROOMS = {user: room for room, user in MAP.items()}

READS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "context": (
        {"utterance": "what is the lamp", "recall": 100, "recall_tokens": 100_000},
        ("turn", "memory", "note"),
    ),
    "history": ({"max_history": 100, "hanging": True}, ("turn",)),
    "turn": ({"id": "{turn}"}, ("turn",)),
    "sessions": ({}, ("description",)),
    "session.snapshot": ({}, ("turn", "note")),
    "session.to_summarise": ({"keep_recent": 0}, ("turn",)),
    "recall": ({"question": "what is the lamp", "k": 100}, ("turn", "memory")),
    "get": ({"key": "lamp"}, ("memory",)),
    "list": ({"limit": 100}, ("memory",)),
    "document.search": ({"query": "lamp"}, ("document",)),
    "document.get": ({"id": "lamp"}, ("document",)),
    "document.list": ({"limit": 100}, ("document",)),
    "why": ({"id": "{turn}"}, ("turn",)),
    "referents": ({}, ("turn",)),
    "episodes": ({"limit": 100}, ("episode",)),
    "facts": ({"limit": 100}, ("fact",)),
    "facts.history": ({"id": "{fact}"}, ("fact",)),
    "facts.decisions": ({"limit": 100}, ("decision",)),
    "facts.audit": ({}, ("waiting",)),
}
"""What is asked, and which kinds of one's own records are in the answer."""
IDS = ("{fact}", "{waiting}", "{turn}")
"""In what is asked, these stand for the ids of somebody's records."""
OF_GUESTS: dict[str, tuple[str, ...]] = {
    "context": ("turn", "note"),
    **dict.fromkeys(("recall", "get", "list", "document.search", "document.get", "document.list", "facts"), ()),
}
"""Where that is less for a guest."""
NOT_FOR_GUESTS = {"facts.history", "facts.decisions", "facts.audit"}
CHANGES: dict[str, dict[str, Any]] = {
    "record": {"turns": [{"role": "user", "text": "new"}]},
    "session.update": {"summary": "new"},
    "session.restore": {"messages": [{"role": "user", "text": "new"}]},
    "session.trim": {"keep_recent": 0},
    "session.clear": {},
    "remember": {"text": "new", "key": "lamp"},
    "update": {"key": "lamp", "text": "new"},
    "correct": {"id": "{turn}", "text": "new"},
    "forget": {"everything": True},
    "document.upsert": {"text": "new", "id": "lamp"},
    "document.delete": {"ids": ["lamp"]},
    "document.clear": {},
    "facts.add": {"text": "new", "topics": ["new"]},
    "facts.update": {"id": "{fact}", "confidence": 0.5},
    "facts.review": {"id": "{waiting}", "accept": True},
}
TELLS_NO_RECORD = {"status", "users", "capture"}
WHERE_ALL_IS_ONE_SESSION = {"record", "session.update", "session.restore", "session.trim", "session.clear"}


def test_every_verb_is_placed() -> None:
    placed = [*READS, *CHANGES, *TELLS_NO_RECORD, *authorization.OWNERS]
    assert sorted(placed) == sorted(requests.FIELDS), "say who reaches what with the new verb, and what proves it"
    assert set(CHANGES) | {"capture"} == requests.CHANGES - authorization.OWNERS


@dataclass(frozen=True)
class Asker:
    """Who asks, where, known how surely, through which persona."""

    user: str
    session: str = "s1"
    level: int | None = None
    persona: str | None = None

    def context(self, trust: str) -> dict[str, Any]:
        """The context of a message from them."""
        session: dict[str, Any] = {"session_id": self.session}
        if trust == "session" and self.user != "guest":
            session["user_id"] = self.user
        if trust == "configured" and self.user in ROOMS:
            session["site_id"] = ROOMS[self.user]
        if self.level is not None:
            session["auth_level"] = self.level
        if self.persona is not None:
            session["persona_id"] = self.persona
        return {"session": session}

    @property
    def surely(self) -> int:
        """How surely they are known."""
        level = 0 if self.user == "guest" else self.level or 0
        return min(level, 1) if self.session == "default" else level


def askers(trust: str) -> Iterator[Asker]:
    users = {"none": ("household",), "configured": USERS, "session": ("alice", "bob", "guest")}[trust]
    yield from (Asker(*one) for one in product(users, SESSIONS, LEVELS, PERSONAS))


class House:
    """A memory in which everybody has one of everything in each session, marked with whose it is."""

    def __init__(self, trust: str, users: tuple[str, ...] = USERS, default_persona: str | None = None) -> None:
        self.trust, self.store = trust, InMemoryStore()
        identity, facts = IdentityConfig(trust, MAP), FactsConfig(learn=False)
        self.config = MemoryConfig(default_persona=default_persona, identity=identity, facts=facts)
        self.memory = PersonaMemory(self.store, self.config, lambda: 1000.0)
        self.marks: dict[str, str] = {user: f"mark{n}x" for n, user in enumerate(users)}
        for user, session in product(users, SESSIONS):
            self._fill(user, session)
        for user in users:
            self.memory.remember(f"a lamp is {self.mark(user, 'memory')}", Scope("s1", user), "lamp")
            self.memory.remember(f"a lamp is {self.mark(user, 'secret')}", Scope("s1", user), "safe", {"private": 3})
            self.memory.documents(Scope("s1", user)).upsert(f"a lamp {self.mark(user, 'document')}", "lamp")
            self._learn(user)

    def mark(self, user: str, kind: str, session: str = "any", persona: str | None = None) -> str:
        return f"{self.marks[user]}-{session}-{persona}-{kind}"

    def _fill(self, user: str, session: str) -> None:
        name = self.mark(user, "episode", session)
        self.store.episode_store.add(Episode("tool_call", 900.0, name, user_id=user, session_id=session, name=name))
        for persona in PERSONAS:
            text = f"the lamp is here {self.mark(user, 'turn', session, persona)}"
            said = [Turn("user", text), Turn("assistant", f"so be it {self.mark(user, 'turn', session, persona)}")]
            self.memory.record(said, Scope(session, user, persona))
        summary, description = self.mark(user, "note", session), self.mark(user, "description", session)
        self.memory.update_session(Scope(session, user), summary, description)

    def id_of(self, what: str, user: str, session: str) -> str:
        """The id that one of ``IDS`` stands for."""
        if what != "{turn}":
            return self.mark(user, what[1:-1])
        return next(turn.id for turn in self.store.turns(Scope(session, user)) if turn.persona_id is None)

    def _learn(self, user: str) -> None:
        facts = self.store.fact_store
        facts.put(Fact("the rope is long", thing="rope", id=self.mark(user, "fact"), user_id=user), "rope")
        facts.put(Fact("the key is red", thing="key", id=self.mark(user, "secret"), user_id=user, private=3), "key")
        facts.put(
            Fact("it may rain", thing="rain", id=self.mark(user, "waiting"), user_id=user, status="waiting"), "rain"
        )
        facts.add_decision(Decision("learned", "said", 1000.0, user, fact_id=self.mark(user, "decision")))

    def ask(self, verb: str, data: dict[str, Any], context: dict[str, Any], of: str = "") -> dict[str, Any]:
        """``of``: whose records the data name by id."""
        session = context.get("session", {}).get("session_id", "s1")
        data = {name: self.id_of(value, of, session) if value in IDS else value for name, value in data.items()}
        frame = json.dumps({"type": topics.request(verb), "data": data, "context": context}).encode()
        asked = messages.request(messages.decode(frame, 1000.0))
        assert asked is not None
        return answer(self.memory, self.config, asked, owner=False)

    def hear(self, topic: str, data: dict[str, Any], context: dict[str, Any]) -> None:
        frame = json.dumps({"type": topic, "data": data, "context": context}).encode()
        self.memory.transcript.hear(messages.heard(messages.decode(frame, 1000.0)))

    def marks_in(self, answered: object) -> set[tuple[str, ...]]:
        """Whose records of which session, persona and kind stand in an answer."""
        names = {mark: user for user, mark in self.marks.items()}
        found = re.findall(r"(mark\d+x)-(\w+)-(\w+)-(\w+)", json.dumps(answered))
        return {(names[mark], *rest) for mark, *rest in found}

    def held_by(self, user: str, session: str | None = None) -> Any:
        """Everything that a user has, or what of it belongs to one session."""
        scope = Scope(session, user)
        notes: list[tuple[str, str, Note]] = sorted(self.store.notes(scope), key=repr)
        document: Document | None = self.memory.documents(scope).get("lamp")
        facts = self.store.fact_store.held(user, frozenset({"active", "waiting", "superseded"}))
        return self.store.turns(scope), notes, *(() if session else (self.store.entries(scope), document, list(facts)))


def kinds_in(found: set[tuple[str, ...]], verb: str) -> set[str]:
    """The kinds of records found; what is private is looked at elsewhere, and facts join a context when they fit."""
    return {kind for *_, kind in found} - {"secret"} - ({"fact"} if verb == "context" else set())


@pytest.mark.parametrize("trust", EACH_TRUST)
@pytest.mark.parametrize("verb", READS)
def test_everybody_reads_their_own_and_nobody_elses(verb: str, trust: str) -> None:
    house, (data, kinds) = House(trust), READS[verb]
    for asker in askers(trust):
        if asker.user == "guest" and verb in NOT_FOR_GUESTS:
            with pytest.raises(NotAllowed):
                house.ask(verb, data, asker.context(trust), asker.user)
            continue
        found = house.marks_in(house.ask(verb, data, asker.context(trust), asker.user))
        wanted = OF_GUESTS.get(verb, kinds) if asker.user == "guest" else kinds
        assert {user for user, *_ in found} <= {asker.user}, asker
        assert kinds_in(found, verb) == set(wanted), asker
        for _, session, persona, _kind in found:
            assert persona in ("None", str(asker.persona)), asker
            of_session = asker.user == "guest" or verb not in ("context", "recall", "episodes")
            assert session in ("any", asker.session) or not of_session, asker


OF_PERSONAS = [verb for verb, (_, kinds) in READS.items() if "turn" in kinds and verb not in ("why", "turn")]
"""Verbs that give turns, of which each persona has one in every session."""


@pytest.mark.parametrize(
    ("default", "carried", "scope", "reached"),
    [
        ("Ada", None, {}, {"None", "Ada"}),
        ("Ada", "Eve", {}, {"None", "Eve"}),
        (None, None, {}, {"None"}),
        ("Nobody", None, {}, {"None"}),
        ("Ada", None, {"persona_id": "Ada"}, {"None", "Ada"}),
        ("Ada", None, {"any_persona": True}, {"None", "Ada", "Eve"}),
        (None, "Eve", {"any_persona": True}, {"None", "Ada", "Eve"}),
        ("Ada", None, {"any_persona": True, "persona_id": "Eve"}, {"None", "Eve"}),
    ],
)
@pytest.mark.parametrize("verb", OF_PERSONAS)
def test_a_request_without_a_persona_is_the_default_ones_unless_it_is_the_persons(
    verb: str, default: str | None, carried: str | None, scope: dict[str, Any], reached: set[str]
) -> None:
    house = House("none", ("household",), default)
    context = Asker("household", persona=carried).context("none")
    found = house.marks_in(house.ask(verb, {**READS[verb][0], "scope": scope}, context, "household"))
    assert {persona for _, _, persona, kind in found if kind == "turn"} == reached


@pytest.mark.parametrize("scope", [{"persona_id": "Eve"}, {"persona_id": "Ada"}])
def test_another_persona_is_named_only_for_the_person(scope: dict[str, Any]) -> None:
    house = House("none", ("household",), "Scribe")
    with pytest.raises(NotAllowed):
        house.ask("list", {"scope": scope}, Asker("household").context("none"))


@pytest.mark.parametrize(
    ("default", "scope", "owner"),
    [("Ada", {}, "Ada"), (None, {}, None), ("Ada", {"any_persona": True}, None)],
)
def test_what_is_kept_without_a_persona_is_the_default_ones_unless_it_is_the_persons(
    default: str | None, scope: dict[str, Any], owner: str | None
) -> None:
    house, here = House("none", ("household",), default), Asker("household").context("none")
    kept = house.ask("remember", {"text": "new", "key": "gate", "scope": scope}, here)["memory"]
    said = house.ask("record", {"turns": [{"role": "user", "text": "new"}], "scope": scope}, here)["ids"]
    turn = house.store.turn(said[0])
    assert turn is not None
    assert (kept["persona_id"], turn.persona_id) == (owner, owner)


@pytest.mark.parametrize(("carried", "owner"), [(None, None), ("Eve", "Eve")])
def test_what_was_heard_is_only_a_personas_that_is_named(carried: str | None, owner: str | None) -> None:
    house = House("none", ("household",), "Ada")
    context = {**Asker("household", persona=carried).context("none"), "utterance_id": "u1"}
    house.hear("recognizer_loop:utterance", {"utterances": ["where is the boat"]}, {"session": {"session_id": "s1"}})
    house.hear("speak", {"utterance": "in the shed", "skill_id": "boat.skill"}, {**context, "skill_id": "boat.skill"})
    turns = [{"role": "user", "text": "where is the boat"}, {"role": "assistant", "text": "in the shed"}]
    ids = house.ask("record", {"turns": turns}, context)["ids"]
    heard = [house.store.turn(one) for one in ids]
    assert [(turn.source, turn.persona_id) for turn in heard if turn] == [("heard", owner)] * 2


@pytest.mark.parametrize("trust", EACH_TRUST)
@pytest.mark.parametrize("verb", ["context", "recall", "get", "list", "update", "remember", "forget"])
def test_what_is_private_needs_its_level_everywhere(verb: str, trust: str) -> None:
    house = House(trust)
    data = {**READS, **{name: (fields, ()) for name, fields in CHANGES.items()}}[verb][0]
    if verb in ("get", "update", "remember"):
        data = {**data, "key": "safe"}
    for asker in (one for one in askers(trust) if one.user != "guest"):
        enough, refused = asker.surely >= 3, False
        before = house.memory.get("safe", Scope(user_id=asker.user))
        try:
            found = house.marks_in(house.ask(verb, data, asker.context(trust)))
        except (NotAllowed, UnknownEntry):
            found, refused = set(), True
        changed = house.memory.get("safe", Scope(user_id=asker.user)) != before
        if verb in READS:
            assert ("secret" in {kind for *_, kind in found}) == enough, asker
        elif verb == "forget":
            assert changed == (enough and before is not None), asker
        elif verb == "remember" and asker.persona is not None:  # under its own name, and nothing is told of the other
            assert (changed, refused) == (False, False), asker
        else:
            assert (changed or before != house.memory.get("lamp", Scope(user_id=asker.user))) and refused != enough, (
                asker
            )


@pytest.mark.parametrize("trust", EACH_TRUST)
@pytest.mark.parametrize("verb", CHANGES)
def test_everybody_changes_their_own_and_nobody_elses(verb: str, trust: str) -> None:
    for asker in (one for one in askers(trust) if one.level is None and one.persona is None):
        house = House(trust)
        others = [user for user in USERS if user != asker.user]
        before = {user: house.held_by(user) for user in others}
        own, elsewhere = (
            house.held_by(asker.user),
            [house.held_by(asker.user, s) for s in SESSIONS if s != asker.session],
        )
        may = asker.user != "guest" or verb in authorization.GUESTS_OWN_SESSION
        try:
            house.ask(verb, CHANGES[verb], asker.context(trust), asker.user)
        except NotAllowed:
            assert not may, asker
        assert {user: house.held_by(user) for user in others} == before, asker
        assert (house.held_by(asker.user) != own) == may, asker
        if verb in WHERE_ALL_IS_ONE_SESSION or asker.user == "guest":
            assert [house.held_by(asker.user, s) for s in SESSIONS if s != asker.session] == elsewhere, asker


@pytest.mark.parametrize("trust", EACH_TRUST)
@pytest.mark.parametrize("verb", sorted({*READS, *CHANGES, "capture", "users"}))
def test_nobody_names_another_in_the_scope_of_a_request(verb: str, trust: str) -> None:
    house = House(trust)
    data = CHANGES[verb] if verb in CHANGES else READS[verb][0] if verb in READS else {}
    before = {user: house.held_by(user) for user in USERS}
    for asker in (one for one in askers(trust) if one.level is None and one.persona is None):
        wider = [{"user_id": user} for user in USERS if user != asker.user]
        for scope in (*wider, {"everyone": True}, {"session_id": "another"}, {"site_id": "attic"}):
            with pytest.raises(NotAllowed):
                house.ask(verb, {**data, "scope": scope}, asker.context(trust), asker.user)
    assert {user: house.held_by(user) for user in USERS} == before


@pytest.mark.parametrize("trust", EACH_TRUST)
@pytest.mark.parametrize("verb", sorted(authorization.OWNERS))
def test_what_is_the_owners_is_refused_on_the_bus_and_done_at_the_door(verb: str, trust: str) -> None:
    house = House(trust)
    data = {"user_id": "bob", "into": "alice"} if verb == "users.merge" else {}
    for asker in askers(trust):
        with pytest.raises(NotAllowed):
            house.ask(verb, data, asker.context(trust))
    asked = Request(verb, data, Scope())
    assert answer(house.memory, house.config, asked, owner=True)


@pytest.mark.parametrize("verb", READS)
def test_at_the_owners_door_the_scope_says_whose_and_nobody_elses_comes_along(verb: str) -> None:
    house, (data, kinds) = House("session"), READS[verb]
    for user, session in product(USERS, SESSIONS):
        scope = {"user_id": user, "session_id": session} if verb not in authorization.OF_USER else {"user_id": user}
        own = {name: house.id_of(value, user, session) if value in IDS else value for name, value in data.items()}
        asked = Request(verb, {**own, "scope": scope}, Scope())
        found = house.marks_in(answer(house.memory, house.config, asked, owner=True))
        assert {one for one, *_ in found} == {user}
        # into a guest's prompt comes nothing but the session, whoever asks for it
        wanted = OF_GUESTS["context"] if (user, verb) == ("guest", "context") else kinds
        assert kinds_in(found, verb) == set(wanted)


@pytest.mark.parametrize("trust", ["configured", "session"])
@pytest.mark.parametrize("verb", READS)
def test_a_name_that_arrives_only_in_a_later_message_opens_nothing(verb: str, trust: str) -> None:
    house = House(trust)
    first = {"session": {"session_id": "default"}}
    later = {"session": {"session_id": "default", "user_id": "alice", "auth_level": 5}, "utterance_id": "u1"}
    house.hear("recognizer_loop:utterance", {"utterances": ["hello"]}, first)
    house.hear("ovos.intent.matched", {"utterance": "hello"}, later)
    try:
        found = house.marks_in(house.ask(verb, READS[verb][0], later, "alice"))
    except NotAllowed:
        found = set()
    assert {user for user, *_ in found} <= {"guest"}
    nobody = {"name": None, "approves_for": [], "cares_for": []}
    assert house.ask("users", {}, later) == {"user_id": "guest", "auth_level": 0, "trust": trust, **nobody}


@pytest.mark.parametrize("verb", READS)
def test_the_person_of_the_utterance_is_given_their_own_whoever_the_later_message_names(verb: str) -> None:
    house, (data, kinds) = House("session"), READS[verb]
    first = {"session": {"session_id": "s1", "user_id": "alice", "auth_level": 3}}
    later = {"session": {"session_id": "s1", "user_id": "bob"}, "utterance_id": "u1"}
    house.hear("recognizer_loop:utterance", {"utterances": ["hello"]}, first)
    house.hear("ovos.intent.matched", {"utterance": "hello"}, later)
    found = house.marks_in(house.ask(verb, data, later, "alice"))
    assert {user for user, *_ in found} == {"alice"}
    assert set(kinds) <= {kind for *_, kind in found}


LOOKALIKES = (
    "u_4",
    "u_42",
    "U_4",
    " u_4",
    "u_4 ",
    "u%",
    "u_",
    "*",
    "%",
    "_",
    "u-4",
    "u_4'--",
    "ü_4",
    "u\u0308_4",
    "u_4\t",
)
UNREADABLE: tuple[Any, ...] = (None, "", " ", "\t\n", 4, True, ["u_4"], {"u_4": 1}, "u_4\0", "\ud83d", "x" * 257,
                               "household", "guest")  # fmt: skip


@pytest.mark.parametrize("verb", READS)
def test_names_that_are_nearly_the_same_are_different_people(verb: str) -> None:
    house, (data, kinds) = House("session", LOOKALIKES), READS[verb]
    for name in LOOKALIKES:
        found = house.marks_in(house.ask(verb, data, {"session": {"session_id": "s1", "user_id": name}}, name))
        assert {user for user, *_ in found} == {name}
        assert kinds_in(found, verb) == set(kinds)


@pytest.mark.parametrize("verb", sorted({*READS, *CHANGES}))
def test_a_name_that_cannot_be_read_is_a_guests(verb: str) -> None:
    house = House("session", (*USERS, "u_4", "x" * 256))
    before = {user: house.held_by(user) for user in house.marks if user != "guest"}
    for name in UNREADABLE:
        context = {"session": {"session_id": "s1", "user_id": name, "auth_level": 5}}
        try:
            data = CHANGES[verb] if verb in CHANGES else READS[verb][0]
            found = house.marks_in(house.ask(verb, data, context, "u_4"))
        except NotAllowed:
            found = set()
        assert {user for user, *_ in found} <= {"guest"}, name
        assert {user: house.held_by(user) for user in house.marks if user != "guest"} == before, name


@pytest.mark.parametrize("trust", EACH_TRUST)
@pytest.mark.parametrize(
    "verb", ["why", "turn", "facts.history", "facts.review", "facts.update", "forget", "get", "update"]
)
def test_anothers_record_is_not_reached_by_its_id(verb: str, trust: str) -> None:
    house = House(trust)
    data = {"why": {"id": "{turn}"}, "turn": {"id": "{turn}"},
            "facts.history": {"id": "{fact}"}, "facts.review": {"id": "{waiting}", "accept": False},
            "facts.update": {"id": "{fact}", "confidence": 0.5},
            "get": {"key": "{fact}"}, "update": {"key": "{fact}", "text": "new"}}.get(verb, {})  # fmt: skip
    for asker in (one for one in askers(trust) if one.level in (None, 5) and one.persona is None):
        for other in (user for user in USERS if user != asker.user):
            before = house.held_by(other)
            if verb == "forget":
                data = {"ids": [turn.id for turn in before[0]] + [house.mark(other, "fact")]}
            try:
                answered = house.ask(verb, data, asker.context(trust), other)
            except (NotAllowed, UnknownEntry):
                answered = {}
            assert house.marks_in(answered) == set(), asker
            assert not answered.get("forgotten"), asker
            assert house.held_by(other) == before, asker


def test_a_fact_from_a_program_is_of_the_session_of_its_message_and_of_no_persona_by_default() -> None:
    house = House("none", default_persona="Ada")
    context = {"session": {"session_id": "s2", "site_id": "hall"}}
    kept = house.ask("facts.add", {"text": "new"}, context)["fact"]
    assert (kept["session_id"], kept["site_id"], kept["persona_id"]) == ("s2", "hall", None)
    context["session"]["persona_id"] = "Eve"
    assert house.ask("facts.add", {"text": "newer"}, context)["fact"]["persona_id"] == "Eve"


def test_a_childs_fact_waits_and_what_is_known_of_a_child_it_does_not_change_itself() -> None:
    identity = IdentityConfig("session", children={"tim": ("ann",)})
    config = MemoryConfig(identity=identity)
    memory = PersonaMemory(InMemoryStore(), config, lambda: 1000.0)
    context = {"session": {"session_id": "s1", "user_id": "tim"}}

    def ask(verb: str, data: dict[str, Any]) -> dict[str, Any]:
        frame = json.dumps({"type": topics.request(verb), "data": data, "context": context}).encode()
        asked = messages.request(messages.decode(frame, 1000.0))
        assert asked is not None
        return answer(memory, config, asked, owner=False)

    kept = ask("facts.add", {"text": "I like tea"})
    assert (kept["fact"]["status"], kept["learned"]) == ("waiting", [])
    with pytest.raises(NeedsApproval):
        ask("facts.update", {"id": kept["fact"]["id"], "confidence": 1})


def test_a_guest_pauses_the_own_session_alone() -> None:
    house = House("session")
    guest = Asker("guest").context("session")
    for data in ({"write": False}, {"write": False, "site": True}, {"write": False, "person": True}):
        with pytest.raises(PersonaMemoryError):
            house.ask("capture", data, guest)
    assert house.ask("capture", {"write": False, "session": True}, guest)["capture"]["session_id"] == "s1"
    assert house.ask("record", CHANGES["record"], guest)["ids"] == []
    assert house.ask("record", CHANGES["record"], Asker("guest", "s2").context("session"))["ids"]
