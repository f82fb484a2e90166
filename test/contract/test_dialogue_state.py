"""The talk around what a search found, and what it knows of a user's documents."""

from __future__ import annotations

import pytest

from ovos_persona_memory.records import Entry, Scope, Turn
from ovos_persona_memory.stores.base.store import NeighbourTurn, Statistics, Store


def talk(store: Store, *texts: str, session_id: str | None = "s1", **fields: str) -> list[Turn]:
    made = []
    for text in texts:
        number = store.counts().turns
        turn = Turn("user", text, at=float(number), id=f"t{number}", session_id=session_id, **fields)  # type: ignore[arg-type]
        made.append(store.add_turn(turn, text))
    return made


def words(found: list[NeighbourTurn]) -> list[str]:
    return [one.words for one in found]


def test_the_talk_around_a_turn_is_of_its_session_in_order_of_arrival(store: Store) -> None:
    one = talk(store, "a", "b")
    talk(store, "x", session_id="s2")
    one += talk(store, "c", "d", "e")
    assert words(store.around([one[2]], 2)[0]) == ["a", "b", "c", "d", "e"]
    assert [words(found) for found in store.around([one[0], one[4]], 1)] == [["a", "b"], ["d", "e"]]


def test_the_talk_around_says_who_and_when(store: Store) -> None:
    [turn] = talk(store, "hello", speaker="Ana")
    assert store.around([turn], 2) == [[NeighbourTurn(turn.id, turn.seq, 0.0, "user", "Ana", "hello")]]


def test_a_turn_without_a_session_stands_alone(store: Store) -> None:
    lonely = talk(store, "a", "b", session_id=None)
    assert words(store.around([lonely[1]], 2)[0]) == ["b"]


def test_the_talk_around_leaves_out_other_users_and_other_personas(store: Store) -> None:
    talk(store, "foreign", user_id="ana")
    mine = talk(store, "mine")
    talk(store, "adas", persona_id="Ada")
    talk(store, "bobs", persona_id="Bob")
    assert words(store.around(mine, 2)[0]) == ["mine", "adas", "bobs"]
    assert words(store.around(mine, 2, "Ada")[0]) == ["mine", "adas"]


def test_statistics_are_those_of_all_documents_of_the_user(store: Store) -> None:
    talk(store, "cat", "cat dog dog")
    talk(store, "cat", user_id="ana")
    store.put_entry(Entry("k", "bird"), "bird cat")
    found = store.statistics(["cat", "dog", "fish"], "household")
    assert found == Statistics(3, pytest.approx(2.0), {"cat": 3, "dog": 1})


def test_a_user_without_documents_has_empty_statistics(store: Store) -> None:
    assert store.statistics(["cat"], "nobody") == Statistics(0, 0.0, {})
    assert store.search(["cat"], Scope(user_id="nobody"), frozenset({"turn"}), 5) == []
