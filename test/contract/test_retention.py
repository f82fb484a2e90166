"""What is kept for so many days and no longer, on every backend."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from ovos_persona_memory.config import MemoryConfig, RetentionConfig, parse, settled
from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.memory import PersonaMemory, Removed
from ovos_persona_memory.memory.retention import STEP
from ovos_persona_memory.records import Episode, Scope, Turn
from ovos_persona_memory.stores.base.store import Store

DAY = 86400.0
NOW = 100 * DAY


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


Open = Callable[..., PersonaMemory]


@pytest.fixture
def open_memory(store: Store, clock: Clock) -> Open:
    def opened(days: float | None = 30.0, at: Store = store) -> PersonaMemory:
        return PersonaMemory(at, MemoryConfig(retention=RetentionConfig(turns_days=days)), clock)

    return opened


def said(memory: PersonaMemory, text: str, days_ago: float, user_id: str = "household", session_id: str = "s") -> None:
    memory.record([Turn("user", text, at=NOW - days_ago * DAY)], Scope(session_id, user_id))


def run(memory: PersonaMemory) -> int:
    """Tidies until nothing is left to do; how many steps."""
    steps = 1
    while memory.tidy():
        steps += 1
    return steps


def left(store: Store) -> list[str]:
    return [turn.text for turn in store.turns(Scope.everyone())]


def test_turns_that_are_too_old_go_whoever_said_them_and_all_else_stays(open_memory: Open, store: Store) -> None:
    memory = open_memory()
    for user in ("household", "alice", "guest"):
        said(memory, "old", 30.01, user)
        said(memory, "new", 29.99, user)
    memory.remember("the bins go out on Tuesday", key="bins")
    memory.documents().upsert("a guide", "d")
    told: list[Removed] = []
    memory.retention.told = told.append
    run(memory)
    assert left(store) == ["new"] * 3
    assert memory.get("bins") is not None
    assert memory.documents().get("d") is not None
    assert told == [Removed(NOW, turns=3)]
    assert memory.status()["retention"] == {
        "at": NOW,
        "turns": 3,
        "episodes": 0,
        "documents": 0,
        "decisions": 0,
        "notes": 0,
    }


def test_decisions_about_facts_go_after_their_days_and_it_is_said_how_many(store: Store, clock: Clock) -> None:
    memory = PersonaMemory(store, MemoryConfig(retention=RetentionConfig(decisions_days=3)), clock)
    clock.now = NOW - 4 * DAY
    said(memory, "my cat is called Bob", 4)
    clock.now = NOW
    said(memory, "my dog is called Rex", 0)
    run(memory)
    assert [one.reason for one in store.fact_store.decisions(None, 9)] == ["stated"]
    assert memory.retention.last() == {"at": NOW, "turns": 0, "episodes": 0, "documents": 0, "decisions": 1, "notes": 0}
    assert left(store) == ["my cat is called Bob", "my dog is called Rex"]
    assert len(store.fact_store.held(None)) == 2


def test_documents_go_when_they_were_not_put_for_so_long_whosever_they_are(
    store: Store, clock: Clock, left_in_files: Callable[[str], list[str]]
) -> None:
    config = settled(parse({"kinds": {"semantic": {"ttl": 3 * DAY}}}))
    memory = PersonaMemory(store, config, clock)
    told: list[Removed] = []
    memory.retention.told = told.append
    shelves = [
        memory.documents(Scope(user_id=user), namespace) for user in ("household", "alice") for namespace in "ab"
    ]
    clock.now = NOW - 3.01 * DAY
    for shelf in shelves:
        shelf.upsert("a guide to xylophones", "old")
        shelf.upsert("a guide to ladders", "put anew")
    memory.remember("the bins go out on Tuesday", key="bins")
    said(memory, "what is a ladder", 3.01)
    clock.now = NOW - 2.99 * DAY
    for shelf in shelves:
        shelf.upsert("a guide to ladders", "put anew")
    clock.now = NOW
    assert left_in_files("xylophones") or not store.durable
    run(memory)
    assert [[one.id for one in shelf.list()] for shelf in shelves] == [["put anew"]] * 4
    assert [[one.id for one in shelf.search("guide to xylophones ladders")] for shelf in shelves] == [["put anew"]] * 4
    assert (memory.get("bins") is not None, left(store)) == (True, ["what is a ladder"])
    assert told == [Removed(NOW, documents=4)]
    assert left_in_files("xylophones") == []


def test_many_documents_go_in_small_steps(store: Store, clock: Clock) -> None:
    memory = PersonaMemory(store, MemoryConfig(retention=RetentionConfig(documents_days=1)), clock)
    clock.now = NOW - 2 * DAY
    with memory.transaction():
        for number in range(STEP + 10):
            memory.documents().upsert(f"guide {number}", str(number))
    clock.now = NOW
    assert store.document_store.oldest(NOW, 3) == store.document_store.oldest(NOW, 99)[:3]
    assert run(memory) >= 2
    assert (store.document_store.count(None), memory.retention.last()["documents"]) == (0, STEP + 10)  # type: ignore[index]


def test_unless_it_is_asked_for_nothing_goes(open_memory: Open, store: Store) -> None:
    memory = open_memory(days=None)
    said(memory, "old", 99)
    run(memory)
    assert left(store) == ["old"]
    assert memory.retention.due_in_s() is None
    assert memory.status()["retention"] is None


def test_what_went_is_in_no_file(open_memory: Open, left_in_files: Callable[[str], list[str]], store: Store) -> None:
    memory = open_memory()
    said(memory, "what is a xylophone", 40)  # nothing is learned from it: facts stay
    assert left_in_files("xylophone") or not store.durable
    run(memory)
    assert left_in_files("xylophone") == []


def test_a_summary_that_may_retell_what_went_goes_too(open_memory: Open, store: Store, clock: Clock) -> None:
    memory = open_memory()
    said(memory, "old", 40, session_id="retold")
    said(memory, "new", 1, session_id="kept")
    for session_id in ("retold", "kept"):
        memory.update_session(Scope(session_id), f"about {session_id}")
    clock.now -= 50 * DAY
    memory.update_session(Scope("without turns"), "about long ago")
    clock.now = NOW
    run(memory)
    assert [session_id for _, session_id, _ in store.notes(Scope.everyone())] == ["kept"]
    assert memory.status()["retention"] == {
        "at": NOW,
        "turns": 1,
        "episodes": 0,
        "documents": 0,
        "decisions": 0,
        "notes": 2,
    }


def test_it_goes_in_small_steps(open_memory: Open, store: Store) -> None:
    memory = open_memory()
    for _ in range(3 * STEP):
        said(memory, "old", 40)
    run_in_parts = [len(left(store))]
    while memory.tidy():
        run_in_parts.append(len(left(store)))
    assert max(before - after for before, after in pairwise(run_in_parts)) <= STEP
    assert left(store) == []


def test_it_runs_at_the_start_and_once_a_day(open_memory: Open, store: Store, clock: Clock) -> None:
    memory = open_memory()
    assert memory.retention.due_in_s() == 0
    run(memory)
    said(memory, "nearly old", 29.5)
    assert memory.retention.due_in_s() == DAY
    clock.now += DAY / 2 + 1
    run(memory)
    assert left(store) == ["nearly old"], "not before the day is over"
    clock.now += DAY / 2
    run(memory)
    assert left(store) == []
    said(memory, "old", 40)
    run(open_memory())
    assert left(store) == []


@pytest.mark.full
def test_a_run_that_was_cut_short_is_taken_up_at_the_next_start(
    open_memory: Open, open_again: Callable[[], Store], left_in_files: Callable[[str], list[str]]
) -> None:
    memory = open_memory()
    for _ in range(2 * STEP):
        said(memory, "my xylophone", 40)
    while len(left(memory._store)) == 2 * STEP:
        memory.tidy()
    again = open_again()
    run(open_memory(at=again))
    assert left(again) == []
    assert left_in_files("xylophone") == []


def test_the_oldest_turns_are_those_before_a_time_and_no_more_than_asked_for(store: Store, open_memory: Open) -> None:
    memory = open_memory()
    for number, user in enumerate(("a", "b", "a", "b")):
        said(memory, f"{number}", 10 - number, user)
    texts = {turn.id: turn.text for turn in store.turns(Scope.everyone())}
    assert {texts[one] for one in store.oldest_turns(NOW - 8.5 * DAY, 10)} == {"0", "1"}
    assert len(store.oldest_turns(NOW, 3)) == 3
    assert store.oldest_turns(0.0, 3) == []


@pytest.mark.parametrize("days", [0, -1])
@pytest.mark.parametrize("name", ["turns_days", "episodes_days"])
def test_no_days_at_all_are_refused(days: float, name: str) -> None:
    with pytest.raises(ConfigError, match=rf"retention\.{name}"):
        parse({"retention": {name: days}})
    assert getattr(parse({"retention": {name: 0.5}}).retention, name) == 0.5


def test_episodes_have_days_of_their_own(store: Store, clock: Clock) -> None:
    config = MemoryConfig(retention=RetentionConfig(episodes_days=10))
    memory = PersonaMemory(store, config, clock)
    said(memory, "old", 40)
    for number in range(STEP + 10):
        for user, days in (("alice", 10.5), ("bob", 9.5)):
            store.episode_store.add(Episode("tool_call", NOW - days * DAY, f"{user} {number}", user_id=user))
    told: list[Removed] = []
    memory.retention.told = told.append
    run(memory)
    assert told == [Removed(NOW, episodes=STEP + 10)]
    assert {episode.user_id for episode, _ in store.episode_store.held(None)} == {"bob"}
    assert left(store) == ["old"]
