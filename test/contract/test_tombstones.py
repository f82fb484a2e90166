"""What every store promises about the ledger of what was forgotten."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ovos_persona_memory.stores.base import tombstones
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.base.tombstones import ANSWERED, FORGOTTEN

HIGHEST, LOWEST = 2**63 - 1, -(2**63)


def test_numbers_are_kept_with_their_time_over_a_restart(store: Store, open_again: Callable[[], Store]) -> None:
    store.ledger_store.add(FORGOTTEN, [1, HIGHEST, LOWEST, 1], 5.5)
    held = open_again().ledger_store
    assert [held.at(FORGOTTEN, number) for number in (1, HIGHEST, LOWEST, 2)] == [5.5, 5.5, 5.5, None]


def test_lists_are_apart(store: Store) -> None:
    store.ledger_store.add(FORGOTTEN, [1], 5.0)
    store.ledger_store.add(ANSWERED, [1], 6.0)
    store.ledger_store.remove(FORGOTTEN, [1, 2])
    assert (store.ledger_store.at(FORGOTTEN, 1), store.ledger_store.at(ANSWERED, 1)) == (None, 6.0)


def test_a_list_can_be_read_whole(store: Store) -> None:
    store.ledger_store.add(FORGOTTEN, [1, LOWEST], 5.0)
    store.ledger_store.add(ANSWERED, [2], 6.0)
    assert sorted(store.ledger_store.listed(FORGOTTEN)) == [(LOWEST, 5.0), (1, 5.0)]


def test_a_number_that_is_entered_again_takes_the_new_time(store: Store) -> None:
    store.ledger_store.add(FORGOTTEN, [1], 5.0)
    store.ledger_store.add(FORGOTTEN, [1], 7.0)
    assert store.ledger_store.at(FORGOTTEN, 1) == 7.0


def test_the_oldest_of_a_long_list_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tombstones.KEPT, FORGOTTEN, 2)
    store.ledger_store.add(ANSWERED, [9], 0.0)
    for number in range(4):
        store.ledger_store.add(FORGOTTEN, [number], float(-number))
    store.ledger_store.shorten(FORGOTTEN)
    assert [store.ledger_store.at(FORGOTTEN, number) for number in range(4)] == [0.0, -1.0, None, None]
    assert store.ledger_store.at(ANSWERED, 9) == 0.0
    store.ledger_store.shorten(ANSWERED)
    assert store.ledger_store.at(ANSWERED, 9) == 0.0


def test_a_change_of_the_ledger_is_undone_with_its_transaction(store: Store) -> None:
    store.ledger_store.add(FORGOTTEN, [1], 5.0)
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.ledger_store.add(FORGOTTEN, [2], 5.0)
        store.ledger_store.remove(FORGOTTEN, [1])
        raise ZeroDivisionError
    assert [store.ledger_store.at(FORGOTTEN, number) for number in (1, 2)] == [5.0, None]
