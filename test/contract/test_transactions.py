"""What every store promises about transactions and threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from ovos_persona_memory.errors import StoreError, UnknownEntry
from ovos_persona_memory.records import Entry, Pause, Place, Scope, Selection, Turn
from ovos_persona_memory.stores.base.store import Store

Say = Callable[..., Turn]
Keep = Callable[..., Entry]
BOTH = frozenset({"turn", "memory"})


class Interrupted(Exception):
    pass


def everything(store: Store) -> object:
    """All that can be read, to be compared before and after."""
    everyone = Scope.everyone()
    found = store.search(["cat", "dog"], everyone, BOTH, 100)
    turns, entries = store.turns(everyone), store.entries(everyone)
    documents = sorted(words for _, words in store.documents(everyone, BOTH))
    small = (store.pauses(), store.state("name"))
    return found, turns, entries, documents, small, store.counts(), store.sessions(everyone)


def change_everything(store: Store, turn: Turn) -> None:
    store.add_turn(replace(turn, id="added", user_id="new", session_id="new"), "dog")
    store.change_turn(replace(turn, text="changed"), "dog dog")
    store.put_entry(Entry("key", "changed"), "dog")
    store.put_entry(Entry("another", "added"), "cat")
    store.delete(Selection(Scope(), ids=("gone",)))
    store.put_pause(Pause(Place(), 2.0, None, write=False, read=True))
    store.delete_pauses([Pause(Place(), 0.5, None, write=True, read=False)])
    store.put_state("name", "changed")


@pytest.fixture
def turn(store: Store, say: Say, keep: Keep) -> Turn:
    say("cat in the way", id="gone", session_id="s")
    keep("key", "cat")
    store.put_pause(Pause(Place(), 0.5, 1.0, write=True, read=False))
    store.put_state("name", "before")
    return say("cat dog", session_id="s")


def test_an_exception_undoes_the_whole(store: Store, turn: Turn, open_again: Callable[[], Store]) -> None:
    before = everything(store)
    with pytest.raises(Interrupted), store.transaction():
        change_everything(store, turn)
        raise Interrupted
    assert everything(store) == before
    assert everything(open_again()) == before


def test_what_is_written_can_be_read_within(store: Store, turn: Turn) -> None:
    with store.transaction():
        change_everything(store, turn)
        assert store.turn("added")
        assert store.turn("gone") is None
        assert [found.record.id for found in store.search(["dog"], Scope(user_id="new"), BOTH, 5)] == ["added"]


def test_a_nested_transaction_joins_the_outermost(store: Store, turn: Turn) -> None:
    before = everything(store)
    with pytest.raises(Interrupted), store.transaction():
        with store.transaction():
            change_everything(store, turn)
        raise Interrupted
    assert everything(store) == before


def test_a_nested_failure_undoes_the_outermost_even_when_caught(store: Store, turn: Turn) -> None:
    before = everything(store)
    with pytest.raises(StoreError), store.transaction():
        store.put_state("name", "first")
        with pytest.raises(Interrupted), store.transaction():
            change_everything(store, turn)
            raise Interrupted
        store.put_state("name", "last")
    assert everything(store) == before


def test_after_a_failure_the_next_transaction_is_whole(store: Store, say: Say) -> None:
    with pytest.raises(Interrupted), store.transaction():
        raise Interrupted
    with store.transaction():
        say("cat")
        with store.transaction():
            say("dog")
    assert [turn.text for turn in store.turns(Scope())] == ["cat", "dog"]


def test_what_is_refused_before_it_starts_can_be_caught_within(store: Store, say: Say) -> None:
    with store.transaction():
        known = say("cat")
        with pytest.raises(UnknownEntry):
            store.change_turn(replace(known, id="unknown"), "")
        with pytest.raises(StoreError):
            store.add_turn(known, "")
        with pytest.raises(StoreError):
            say("nul \0")
    assert [turn.text for turn in store.turns(Scope())] == ["cat"]


def test_what_was_written_is_there_after_opening_again(
    store: Store, turn: Turn, open_again: Callable[[], Store]
) -> None:
    with store.transaction():
        change_everything(store, turn)
    after = everything(store)
    assert everything(open_again()) == after


def test_threads_lose_and_double_nothing(store: Store) -> None:
    def write(worker: int) -> list[int]:
        seqs = []
        for number in range(20):
            with store.transaction():
                turn = Turn(role="user", text="cat", at=1.0, id=f"{worker}-{number}", user_id=f"user{worker % 2}")
                seqs.append(store.add_turn(turn, "cat").seq)
                store.put_entry(Entry(f"key {number}", "dog", user_id=f"user{worker % 2}"), "dog")
            assert store.search(["cat"], Scope.everyone(), BOTH, 3)
        return seqs

    with ThreadPoolExecutor(4) as pool:
        seqs = [seq for written in pool.map(write, range(4)) for seq in written]
    assert len(set(seqs)) == 80
    assert (store.counts().turns, store.counts().entries) == (80, 40)
    assert len(store.search(["cat"], Scope(user_id="user0"), BOTH, 100)) == 40


def test_a_transaction_keeps_other_threads_out(store: Store) -> None:
    seen: list[str | None] = []
    reader = threading.Thread(target=lambda: seen.append(store.state("name")))
    with store.transaction():
        store.put_state("name", "half")
        reader.start()
        store.put_state("name", "whole")
    reader.join()
    assert seen == ["whole"]
