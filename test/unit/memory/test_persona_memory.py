"""Verbs that only look: the log as it is, and what a persona would be handed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextRequest, Scope, Turn

KITCHEN, HALL = Scope(session_id="kitchen"), Scope(session_id="hall", user_id="ada")


@pytest.fixture
def memory() -> Iterator[PersonaMemory]:
    with PersonaMemory.open(config=MemoryConfig(backend="inmemory")) as opened:
        for number in range(5):
            opened.record([Turn("user", f"the lamp number {number}", at=1000.0 + number)], KITCHEN)
        opened.record([Turn("user", "the chair", at=1010.0)], HALL)
        yield opened


def test_turns_are_the_newest_oldest_first_and_an_offset_leaves_out_newer_ones(memory: PersonaMemory) -> None:
    everyone = Scope.everyone()
    assert [turn.text for turn in memory.turns(everyone, limit=2)] == ["the lamp number 4", "the chair"]
    assert [turn.text for turn in memory.turns(everyone, limit=2, offset=1)] == [
        "the lamp number 3",
        "the lamp number 4",
    ]
    assert [turn.text for turn in memory.turns(everyone, limit=50, offset=4)] == [
        "the lamp number 0",
        "the lamp number 1",
    ]
    assert memory.turns(everyone, offset=6) == memory.turns(everyone, limit=0) == []


def test_turns_keep_to_their_scope_and_span(memory: PersonaMemory) -> None:
    assert [turn.text for turn in memory.turns(HALL)] == ["the chair"]
    assert [turn.at for turn in memory.turns(KITCHEN, since=1001.0, until=1003.0)] == [1001.0, 1002.0]


def test_no_turns_are_shown_while_reading_is_off(memory: PersonaMemory) -> None:
    memory.capture(write=True, read=False)
    assert memory.turns(Scope.everyone()) == []


def test_what_is_only_previewed_does_not_count_as_used(memory: PersonaMemory) -> None:
    kept = memory.remember("the bins go out on tuesday", Scope(), lang="en-US")
    asked = ContextRequest("when do the bins go out", scope=KITCHEN, lang="en-US", preview=True)
    assert kept.id in {hit.id for hit in memory.context(asked).hits}
    assert memory.episodes(kinds={"recall"}) == []
    memory.context(ContextRequest("when do the bins go out", scope=KITCHEN, lang="en-US"))
    assert [one.used for one in memory.episodes(kinds={"recall"})] == [(kept.id,)]
