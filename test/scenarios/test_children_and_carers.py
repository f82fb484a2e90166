"""Children and carers: what waits of a child, who approves it, and what a carer is told, over the bus."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ovos_persona_memory.config import IdentityConfig, MemoryConfig, parse
from ovos_persona_memory.errors import ConfigError, NeedsApproval, NotAllowed, UnknownEntry
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import messages
from ovos_persona_memory.records import Episode, Request, Scope, Turn
from ovos_persona_memory.service.verb_handlers import answer
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

RELATIONS = {"children": {"tim": ("anna",)}, "carers": {"gran": ("anna",)}}
CONFIG = MemoryConfig(identity=IdentityConfig(trust="session", **RELATIONS))
TOLD = "my hamster is called Pip"
OF_TIM, OF_GRAN = {"scope": {"user_id": "tim"}}, {"scope": {"user_id": "gran"}}


@pytest.fixture
def memory() -> Iterator[PersonaMemory]:
    known = PersonaMemory(InMemoryStore(), CONFIG)
    for user in ("tim", "anna", "gran"):
        known.record([Turn("user", TOLD, lang="en-US")], Scope(session_id=user, user_id=user))
    (turn_id,) = known.record([Turn("user", "what is the time", lang="en-US")], Scope(session_id="g", user_id="gran"))
    known._store.episode_store.add(Episode("intent", 1.0, "e1", user_id="gran", turn_id=turn_id, outcome="handled"))
    return known


def ask(memory: PersonaMemory, person: str | None, verb: str, **data: Any) -> dict[str, Any]:
    """The answer to a request over the bus, made by this person."""
    context = {"session": {"session_id": "here", **({"user_id": person} if person else {})}}
    frame = json.dumps({"type": f"ovos.persona.memory.{verb}", "data": data, "context": context}).encode()
    asked = messages.from_the_bus(messages.decode(frame, 1000.0))
    assert isinstance(asked, Request)
    return answer(memory, CONFIG, asked, owner=False)


def texts(answered: dict[str, Any]) -> list[str]:
    return [fact["text"] for fact in answered["facts"]]


def test_what_a_child_says_waits_and_what_others_say_is_learned(memory: PersonaMemory) -> None:
    assert texts(ask(memory, "tim", "facts")) == []
    assert texts(ask(memory, "tim", "facts", status="waiting")) == [TOLD]
    assert texts(ask(memory, "anna", "facts")) == [TOLD]
    assert [one.reason for one in memory.facts.decisions(Scope(user_id="tim"))] == ["child"]


@pytest.mark.parametrize(
    ("verb", "data"),
    [
        ("remember", {"text": "the bins go out"}),
        ("update", {"key": "k", "text": "the bins go out"}),
        ("document.upsert", {"text": "the bins go out"}),
        ("facts.review", {"id": "f", "accept": True}),
    ],
)
def test_a_child_keeps_and_approves_nothing_that_lasts(memory: PersonaMemory, verb: str, data: dict[str, Any]) -> None:
    with pytest.raises(NeedsApproval):
        ask(memory, "tim", verb, **data)
    assert memory.list(Scope(user_id="tim")) == []


def test_what_a_child_takes_back_changes_nothing(memory: PersonaMemory) -> None:
    (waits,) = memory.facts.list(Scope(user_id="tim"), "waiting")
    memory.facts.review(waits.id, True, Scope(user_id="tim"))
    memory.record([Turn("user", "we no longer have a hamster", lang="en-US")], Scope(session_id="t", user_id="tim"))
    assert [fact.text for fact in memory.facts.list(Scope(user_id="tim"))] == [TOLD]
    assert memory.facts.list(Scope(user_id="tim"), "waiting") == []


def test_an_adult_takes_in_or_drops_what_waits(memory: PersonaMemory) -> None:
    (waits,) = ask(memory, "anna", "facts", status="waiting", **OF_TIM)["facts"]
    assert ask(memory, "anna", "facts.review", id=waits["id"], accept=True, **OF_TIM)["fact"]["text"] == TOLD
    assert texts(ask(memory, "tim", "facts")) == [TOLD]
    assert texts(ask(memory, "anna", "facts", status="waiting", **OF_TIM)) == []


@pytest.mark.parametrize("person", ["ben", "gran", "household", None])
def test_nobody_else_reaches_what_waits_of_a_child(memory: PersonaMemory, person: str | None) -> None:
    (waits,) = memory.facts.list(Scope(user_id="tim"), "waiting")
    with pytest.raises(NotAllowed):
        ask(memory, person, "facts", status="waiting", **OF_TIM)
    with pytest.raises((NotAllowed, UnknownEntry)):
        ask(memory, person, "facts.review", id=waits.id, accept=True, **OF_TIM)
    with pytest.raises((NotAllowed, UnknownEntry)):
        ask(memory, person, "facts.review", id=waits.id, accept=True)
    assert memory.facts.list(Scope(user_id="tim"), "waiting") == [waits]


@pytest.mark.parametrize(
    ("verb", "data"),
    [
        ("facts", {}),
        ("facts", {"status": "all"}),
        ("facts", {"status": "waiting", "at": 1.0}),
        ("facts.history", {"id": "f"}),
        ("list", {}),
        ("recall", {"question": "hamster"}),
        ("episodes", {}),
        ("why", {"id": "t"}),
        ("forget", {"everything": True}),
        ("history", {}),
        ("history", {"all_sessions": True}),
        ("turn", {"id": "t"}),
    ],
)
def test_an_adult_reaches_nothing_else_of_a_child(memory: PersonaMemory, verb: str, data: dict[str, Any]) -> None:
    with pytest.raises(NotAllowed):
        ask(memory, "anna", verb, **data, **OF_TIM)


def test_a_carer_is_told_what_was_asked_with_its_words(memory: PersonaMemory) -> None:
    (told,) = ask(memory, "anna", "episodes", words=True, **OF_GRAN)["episodes"]
    assert told["said"] == "what is the time"
    assert ask(memory, "anna", "episodes", **OF_GRAN)["episodes"][0]["said"] is None


@pytest.mark.parametrize("person", ["ben", "tim", None])
def test_nobody_else_is_told_what_somebody_asked(memory: PersonaMemory, person: str | None) -> None:
    with pytest.raises(NotAllowed):
        ask(memory, person, "episodes", words=True, **OF_GRAN)


@pytest.mark.parametrize("verb", ["facts", "list", "why", "sessions", "facts.decisions"])
def test_a_carer_reaches_nothing_else(memory: PersonaMemory, verb: str) -> None:
    data = {"id": "t"} if verb == "why" else {}
    with pytest.raises(NotAllowed):
        ask(memory, "anna", verb, **data, **OF_GRAN)


def test_who_somebody_approves_for_and_looks_after_is_told_to_them_alone(memory: PersonaMemory) -> None:
    told = ask(memory, "anna", "users")
    assert (told["approves_for"], told["cares_for"]) == (["tim"], ["gran"])
    told = ask(memory, "tim", "users")
    assert (told["approves_for"], told["cares_for"]) == ([], [])


@pytest.mark.parametrize(
    "identity",
    [
        {"children": {"tim": ["anna"]}},
        {"trust": "session", "children": {"tim": ["tim"]}},
        {"trust": "session", "carers": {"household": ["anna"]}},
        {"trust": "session", "carers": {"gran": ["guest"]}},
        {"trust": "session", "carers": {"gran": [" "]}},
    ],
)
def test_relations_that_cannot_be_are_refused_by_name(identity: dict[str, Any]) -> None:
    relation = "children" if "children" in identity else "carers"
    with pytest.raises(ConfigError, match=rf"persona_memory\.identity\.{relation}\."):
        parse({"identity": identity})
