"""What happened, recalled by its words and handed to a persona."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ovos_persona_memory.config import MemoryConfig, RecallConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import GUEST, ContextRequest, Episode, Scope
from ovos_persona_memory.search.episode_search import episode_line
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

WEATHER = Episode(
    "intent",
    at=10.0,
    id="e1",
    session_id="s",
    name="ovos-skill-weather.openvoiceos:current_weather.intent",
    outcome="handled",
    detail={"city": "Lisbon"},
)
LIGHT = Episode(
    "tool_call",
    at=20.0,
    id="e2",
    session_id="s",
    name="switch_light",
    outcome="error",
    detail={"arguments": {"room": "cellar", "level": 3}, "error": "no such lamp"},
)
OTHERS = [
    replace(LIGHT, id="e3", user_id="bob", at=30.0),
    replace(LIGHT, id="e4", session_id="other", at=5.0),
    Episode("exchange", at=40.0, id="e5", session_id="s", detail={"tools": ["cellar"]}),
]


def memory_of(*episodes: Episode, shown: int = 0, limit: int = 3) -> PersonaMemory:
    store = InMemoryStore()
    for one in episodes:
        store.episode_store.add(one, "")
    return PersonaMemory(store, MemoryConfig(recall=RecallConfig(episodes=shown, limit=limit)), clock=lambda: 100.0)


def context(memory: PersonaMemory, user_id: str = "household", session_id: str = "s", **fields: int) -> str:
    request = ContextRequest("hello there", Scope(session_id, user_id), lang="en-US", **fields)  # type: ignore[arg-type]  # numbers
    return "\n".join(message.text for message in memory.context(request).messages)


def test_an_episode_is_told_on_a_line() -> None:
    assert episode_line(WEATHER) == "current weather, city Lisbon: handled"
    assert episode_line(LIGHT) == "switch light, room cellar, level 3, error no such lamp: error"


def test_what_happened_is_recalled_only_where_it_is_asked_for() -> None:
    memory = memory_of(WEATHER, LIGHT, *OTHERS)
    assert memory.recall("the light in the cellar", Scope()) == []
    found = memory.recall("the light in the cellar", Scope(), kinds={"episode"})
    assert [(hit.id, hit.kind, hit.sure, hit.score) for hit in found] == [
        ("e2", "episode", False, 1.0),
        ("e4", "episode", False, 1.0),
    ]
    assert [hit.id for hit in memory.recall("weather in Lisbon", Scope("s"), kinds={"episode"}, k=1)] == ["e1"]
    assert memory.recall("a bicycle", Scope(), kinds={"episode"}) == []


def test_what_happened_comes_behind_what_was_remembered() -> None:
    memory = memory_of(LIGHT)
    memory.remember("the light in the cellar flickers", Scope(), key="lamp")
    found = memory.recall("cellar light", Scope(), kinds={"memory", "episode"})
    assert [hit.kind for hit in found] == ["memory", "episode"]
    assert len(memory.recall("cellar light", Scope(), kinds={"memory", "episode"}, k=1)) == 1


def test_while_reading_is_off_nothing_that_happened_is_told() -> None:
    memory = memory_of(LIGHT, shown=2)
    blind = Scope("s", blind=True)
    assert memory.recall("cellar light", blind, kinds={"episode"}) == []
    request = ContextRequest("hello there", blind, lang="en-US")
    assert "cellar" not in str(memory.context(request).messages)


def test_by_itself_a_persona_is_told_nothing_of_what_happened() -> None:
    assert context(memory_of(WEATHER, LIGHT)) == "hello there"


def test_what_happened_in_the_session_last_joins_the_context_quoted_and_within_the_limits() -> None:
    memory = memory_of(WEATHER, LIGHT, *OTHERS, shown=1)
    told_of = context(memory)
    assert '"switch light, room cellar, level 3, error no such lamp: error"' in told_of
    assert "Lisbon" not in told_of
    assert "Lisbon" in context(memory_of(WEATHER, LIGHT, shown=2))
    assert context(memory_of(WEATHER, shown=5, limit=0)) == "hello there"
    assert context(memory_of(WEATHER, shown=5), recall_tokens=4) == "hello there"


@pytest.mark.parametrize(("user_id", "session_id"), [("bob", "other"), (GUEST, "s"), ("household", "elsewhere")])
def test_nobody_is_told_what_happened_to_others_or_elsewhere(user_id: str, session_id: str) -> None:
    assert context(memory_of(WEATHER, LIGHT, shown=3), user_id, session_id) == "hello there"


def test_room_for_what_happened_is_taken_from_what_is_recalled() -> None:
    memory = memory_of(WEATHER, shown=1, limit=1)
    memory.remember("hello there means good day", Scope())
    assert "Lisbon" in context(memory)
