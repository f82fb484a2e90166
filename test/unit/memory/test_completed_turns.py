"""What a program says of a turn that it has recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.completed_turns import numbers_of, refuse_unusable_metadata, texts_of
from ovos_persona_memory.records import Episode, Scope, ToolCall, Turn

HERE = Scope(session_id="s1", persona_id="Ada")
METADATA = {"tokens": 120, "tools": ["weather"], "latency_ms": 840}


@pytest.fixture
def memory() -> Iterator[PersonaMemory]:
    with PersonaMemory.open(config=MemoryConfig(backend="inmemory")) as opened:
        yield opened


def record(memory: PersonaMemory, text: str = "what is the weather", **more: Any) -> list[str]:
    turns = [Turn("user", text, at=1000.0, lang="en-US"), Turn("assistant", "sunny", at=1001.0)]
    return memory.record(turns, HERE, **{"metadata": METADATA, **more})


def completed(memory: PersonaMemory) -> list[Episode]:
    return list(memory.episodes(Scope(), {"turn_completed"}))


def test_tokens_tools_and_time_are_kept_with_the_users_turn(memory: PersonaMemory) -> None:
    ids = record(memory)
    [found] = completed(memory)
    assert (found.turn_id, found.at, found.latency_ms, found.persona_id) == (ids[0], 1000.0, 840.0, "Ada")
    assert found.detail == {"tokens": 120, "tools": ["weather"]}
    assert found in memory.episodes(Scope()), "it is told of unless other kinds are asked for"


def test_without_metadata_nothing_is_kept_and_with_empty_ones_that_it_was_completed(memory: PersonaMemory) -> None:
    record(memory, metadata=None)
    assert completed(memory) == []
    record(memory, metadata={})
    assert [dict(one.detail) for one in completed(memory)] == [{}]


def test_what_is_delivered_again_is_kept_once(memory: PersonaMemory) -> None:
    record(memory, delivery_id="d")
    before = completed(memory)
    record(memory, delivery_id="d")
    assert completed(memory) == before and len(before) == 1


def test_tool_calls_are_told_of_as_before(memory: PersonaMemory) -> None:
    call = Turn("assistant", "", tool_calls=(ToolCall("1", "weather", {}),))
    memory.record([call, Turn("tool", "sunny", tool_call_id="1")], HERE, metadata=METADATA)
    assert {one.kind for one in memory.episodes(Scope())} == {"tool_call", "turn_completed"}


def test_nothing_is_kept_while_memory_is_paused(memory: PersonaMemory) -> None:
    memory.capture(write=False)
    assert record(memory) == []
    memory.capture(write=True)
    assert completed(memory) == []


def test_it_is_forgotten_with_its_turn_and_by_its_words(memory: PersonaMemory) -> None:
    ids = record(memory)
    memory.forget(Scope(), ids=ids)
    assert completed(memory) == []
    record(memory, metadata={"asked": "xylophone"})
    memory.forget(Scope(), query="xylophone")
    assert all("xylophone" not in str(one.detail) for one in completed(memory))


@pytest.mark.parametrize(
    ("text", "metadata"), [("my pin is 4711", {"said": "hello"}), ("hello", {"said": "my pin is 4711"})]
)
def test_of_a_secret_the_numbers_alone_are_kept(memory: PersonaMemory, text: str, metadata: dict[str, str]) -> None:
    record(memory, text, metadata={**metadata, "tokens": 12})
    assert [dict(one.detail) for one in completed(memory)] == [{"tokens": 12}]


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"tokens": "many"}, "tokens"),
        ({"tokens": True}, "tokens"),
        ({"latency_ms": -1}, "latency_ms"),
        ({"tools": "weather"}, "tools"),
        ({"tools": [1]}, "tools"),
    ],
)
def test_what_has_another_type_is_refused_by_name_and_nothing_is_recorded(
    memory: PersonaMemory, metadata: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidRequest, match=rf"metadata\.{field}"):
        record(memory, metadata=metadata)
    assert memory.sessions() == []
    refuse_unusable_metadata(None)


def test_texts_and_numbers_of_a_value() -> None:
    assert texts_of({"a": "one", "b": [{"c": "two"}, 3]}) == ["one", "two"]
    assert numbers_of({"a": "one", "b": 2, "c": True, "d": 1.5}) == {"b": 2, "d": 1.5}
