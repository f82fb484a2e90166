"""What is put off for a quiet moment: before, while and after it is done, everything is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Scope, Selection, Turn
from ovos_persona_memory.stores.base.store import Store

TURNS = frozenset({"turn"})
Found = list[tuple[int, float, frozenset[str]]]


def found(store: Store, *words: str, scope: Scope = Scope()) -> Found:
    return [(one.record.seq, one.score, one.words) for one in store.search(words, scope, TURNS, 500)]


def test_tidying_comes_to_an_end_and_changes_no_answer(store: Store, say: Callable[..., Turn]) -> None:
    for number in range(120):
        say(f"cat number {number}", session_id=f"s{number % 3}")
    scopes = (Scope(), Scope(session_id="s1"))
    expected = [found(store, "cat", "7", scope=scope) for scope in scopes]
    frequency = store.statistics(["cat", "7"], "household")
    assert len(expected[0]) == 120 and len(expected[1]) == 40
    steps = 0
    while store.tidy():
        steps += 1
        assert [found(store, "cat", "7", scope=scope) for scope in scopes] == expected
        assert store.statistics(["cat", "7"], "household") == frequency
    assert steps < 120
    assert [found(store, "cat", "7", scope=scope) for scope in scopes] == expected
    assert not store.tidy()


def test_what_waits_is_found_after_opening_again(
    store: Store, open_again: Callable[[], Store], say: Callable[..., Turn]
) -> None:
    for number in range(60):
        say(f"cat number {number}")
    store.tidy()
    say("cat at last")
    expected = found(store, "cat")
    assert len(expected) == 61
    store = open_again()
    assert found(store, "cat") == expected
    while store.tidy():
        pass
    assert found(open_again(), "cat") == expected


def test_an_undone_turn_waits_for_nothing(store: Store, say: Callable[..., Turn]) -> None:
    say("a cat sat here")
    before = found(store, "cat", "mat"), store.statistics(["cat"], "household"), store.counts()
    with pytest.raises(StoreError, match="on purpose"), store.transaction():
        say("a cat on a mat")
        raise StoreError("on purpose")
    assert (found(store, "cat", "mat"), store.statistics(["cat"], "household"), store.counts()) == before
    say("another cat")
    assert len(found(store, "cat")) == 2


@pytest.mark.parametrize("tidied", [0, 1, 3])
def test_what_is_deleted_while_it_waits_is_gone(store: Store, say: Callable[..., Turn], tidied: int) -> None:
    turns = [say(f"cat number {number}", user_id=f"u{number % 2}") for number in range(80)]
    for _ in range(tidied):
        store.tidy()
    store.delete(Selection(Scope.everyone(), ids=tuple(turn.id for turn in turns[40:])))
    while store.tidy():
        pass
    left = found(store, "cat", scope=Scope.everyone())
    assert sorted(seq for seq, _, _ in left) == [turn.seq for turn in turns[:40]]
    assert store.statistics(["cat"], "u1").frequency == {"cat": 20}
    store.delete(Selection(Scope.everyone()))
    assert found(store, "cat", scope=Scope.everyone()) == [] and store.counts().users == 0
