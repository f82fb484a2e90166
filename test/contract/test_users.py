"""Who there is, and two users made one, on every backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import InvalidRequest, StoreError
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Moved, Note, Place, Scope, Selection, Turn, User
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.base.vector_math import quantised
from ovos_persona_memory.stores.base.vectors import VectorIndex

OLD, NEW, BOB = "alicia the old", "alice", "bob"
BOTH = frozenset({"turn", "memory"})


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def memory(store: Store) -> PersonaMemory:
    return PersonaMemory(store, MemoryConfig(), Clock())


def of(user_id: str, session_id: str | None = "s1") -> Scope:
    return Scope(session_id, user_id)


def fill(memory: PersonaMemory) -> None:
    """Something of everything for two who are one, and for somebody else."""
    memory.record([Turn("user", "my lamp is green"), Turn("assistant", "a green lamp")], of(OLD))
    memory.record([Turn("user", "my lamp is red"), Turn("assistant", "a red lamp")], of(NEW))
    memory.record([Turn("user", "the rope is long")], replace(of(OLD, "s2"), persona_id="Ada", site_id="hall"))
    memory.record([Turn("user", "my lamp is blue")], of(BOB))
    memory.remember("the lamp is green", of(OLD), "lamp", {"a": 1, "private": 2})
    memory.remember("the lamp is red", of(NEW), "lamp")
    memory.remember("the rope is short", of(NEW), "rope")
    memory.remember("the rope is long", of(OLD), "rope")
    memory.remember("the lamp is blue", of(BOB), "lamp")
    memory.update_session(of(OLD), "about a green lamp", "lamps")
    memory.update_session(of(NEW), "about a red lamp")
    memory.update_session(of(OLD, "s2"), "about a rope")
    for user, text in ((OLD, "green"), (NEW, "red"), (BOB, "blue")):
        memory.documents(of(user), "guides").upsert(f"a {text} guide", "guide", embedding=[1.0, 0.0])
        memory.documents(of(user), f"of {user}").upsert(f"a {text} thing", "thing")


def everything_of(store: Store, user_id: str) -> Any:
    scope = Scope(user_id=user_id)
    found = store.search(["lamp", "rope", "green"], scope, BOTH, 100)
    return (
        store.turns(scope),
        store.entries(scope),
        sorted(store.notes(scope), key=repr),
        [one.record.id for one in found],
    )


def test_everything_of_one_becomes_the_others(memory: PersonaMemory, store: Store) -> None:
    fill(memory)
    bobs = everything_of(store, BOB)
    before = [turn for turn in store.turns(Scope.everyone()) if turn.user_id != BOB]
    assert memory.users.merge(OLD, NEW) == Moved(turns=3, memories=2, documents=2, notes=2, facts=1)
    assert store.turns(of(NEW, None)) == [replace(turn, user_id=NEW) for turn in before]
    texts = {entry.key: (entry.text, entry.metadata) for entry in store.entries(of(NEW, None))}
    assert texts == {
        "lamp": ("the lamp is red", {}),
        "lamp-2": ("the lamp is green", {"a": 1, "private": 2}),
        "rope": ("the rope is long", {}),
        "rope-2": ("the rope is short", {}),
    }
    assert memory.snapshot(of(NEW))["summary"] == "about a green lamp\nabout a red lamp"
    assert memory.snapshot(of(NEW, "s2"))["summary"] == "about a rope"
    assert memory.sessions(of(NEW))[0].description == "lamps"
    guides = memory.documents(of(NEW), "guides")
    assert [(one and one.text) for one in map(guides.get, ("guide", "guide-2"))] == ["a red guide", "a green guide"]
    assert [one.id for one in guides.search("green guide")] == ["guide-2", "guide"]
    assert {one.id for one in guides.search("", embedding=[1.0, 0.0])} == {"guide", "guide-2"}
    assert [one.text for one in memory.documents(of(NEW), f"of {OLD}").search("thing")] == ["a green thing"]
    assert everything_of(store, BOB) == bobs


def test_nothing_of_the_merged_user_is_left(
    memory: PersonaMemory, store: Store, left_in_files: Callable[[str], list[str]]
) -> None:
    fill(memory)
    assert left_in_files(OLD) or not store.durable, "the search finds it before"
    memory.users.merge(OLD, NEW)
    assert everything_of(store, OLD) == ([], [], [], [])
    assert store.count(Selection(Scope(user_id=OLD))).total == 0
    assert (store.notes(Scope(user_id=OLD)), OLD in store.users()) == ([], False)
    assert memory.documents(of(OLD), "guides").get("guide") is None
    assert store.statistics(["lamp"], OLD).documents == 0
    assert left_in_files(OLD) == []


@pytest.mark.parametrize("what", ["turns", "documents", "pauses"])
def test_the_name_of_the_merged_user_stands_in_no_file(
    memory: PersonaMemory, store: Store, left_in_files: Callable[[str], list[str]], what: str
) -> None:
    if what == "turns":
        memory.record([Turn("user", "hello")], of(OLD))
    elif what == "documents":
        memory.documents(of(OLD)).upsert("hello")
    else:
        memory.capture(of(OLD), write=False, person=True)
    assert left_in_files(OLD) or not store.durable
    memory.users.merge(OLD, NEW)
    assert left_in_files(OLD) == []


def test_what_is_merged_is_found_as_if_it_had_always_been_there(
    memory: PersonaMemory, store: Store, open_again: Callable[[], Store]
) -> None:
    fill(memory)
    memory.users.merge(OLD, NEW)
    wanted = store.statistics(["lamp", "green"], NEW)
    plain = Store.statistics(store, ["lamp", "green"], NEW)
    assert wanted == plain
    hits = [(one.record.id, one.score) for one in store.search(["lamp", "green"], of(NEW, None), BOTH, 50)]
    assert hits == [
        (one.record.id, one.score) for one in Store.search(store, ["lamp", "green"], of(NEW, None), BOTH, 50)
    ]
    again = open_again()
    assert [one.record.id for one in again.search(["green"], of(NEW, None), BOTH, 50)]
    assert len(again.turns(of(NEW, None))) == 5


def test_what_two_personas_keep_under_one_key_stays_apart_where_users_are_merged(
    memory: PersonaMemory, store: Store
) -> None:
    for user, persona in ((OLD, "Ada"), (OLD, None), (NEW, "Eve"), (NEW, None)):
        memory.remember(f"{user} of {persona}", replace(of(user), persona_id=persona), "safe")
    assert memory.users.merge(OLD, NEW).memories == 2
    held = {(entry.key, entry.persona_id): entry.text for entry in store.entries(of(NEW, None))}
    assert held == {
        ("safe", "Ada"): f"{OLD} of Ada",
        ("safe", "Eve"): f"{NEW} of Eve",
        ("safe", None): f"{NEW} of None",
        ("safe-2", None): f"{OLD} of None",
    }


def test_merging_again_moves_what_came_since_and_nothing_twice(memory: PersonaMemory) -> None:
    fill(memory)
    memory.users.merge(OLD, NEW)
    before = memory.users.list()
    assert memory.users.merge(OLD, NEW) == Moved()
    assert memory.users.list() == before
    memory.record([Turn("user", "hello")], of(OLD))
    assert memory.users.merge(OLD, NEW) == Moved(turns=1)


def test_a_merge_that_fails_leaves_everything_as_it_was(
    memory: PersonaMemory, store: Store, monkeypatch: pytest.MonkeyPatch, open_again: Callable[[], Store]
) -> None:
    fill(memory)
    before = [everything_of(store, user) for user in (OLD, NEW, BOB)]

    def fail(*_: object) -> None:
        raise StoreError("no room left")

    monkeypatch.setattr(store, "delete_pauses", fail)
    with pytest.raises(StoreError):
        memory.users.merge(OLD, NEW)
    assert [everything_of(store, user) for user in (OLD, NEW, BOB)] == before
    assert memory.documents(of(OLD), "guides").get("guide") is not None
    monkeypatch.undo()
    again = open_again()
    assert [everything_of(again, user) for user in (OLD, NEW, BOB)] == before
    assert PersonaMemory(again, MemoryConfig(), Clock()).users.merge(OLD, NEW).turns == 3


def test_pauses_of_the_one_are_the_others(memory: PersonaMemory, store: Store) -> None:
    memory.capture(of(OLD), write=False, person=True)
    memory.capture(of(BOB), read=False, person=True)
    memory.users.merge(OLD, NEW)
    assert not memory.capture(of(NEW), person=True).write
    assert memory.record([Turn("user", "secret")], of(NEW)) == []
    assert memory.record([Turn("user", "public")], of(OLD))
    assert {pause.place for pause in store.pauses()} == {Place("user", NEW), Place("user", BOB)}


@pytest.mark.parametrize("odd", ["u_4", "U_42", "u_42 ", " u_42", "u%42", "u*", "*", "%", "u_42\t"])
def test_a_name_that_is_only_like_it_is_not_merged(memory: PersonaMemory, store: Store, odd: str) -> None:
    for user in ("u_42", odd):
        memory.record([Turn("user", "hello")], of(user))
        memory.remember("hello", of(user), "k")
        memory.documents(of(user)).upsert("hello", "d")
        memory.update_session(of(user), "hello")
    before = everything_of(store, odd)
    memory.users.merge("u_42", "someone")
    assert everything_of(store, odd) == before
    assert memory.documents(of(odd)).get("d") is not None


@pytest.mark.parametrize(("one", "other"), [("a", "a"), ("", "a"), ("a", " "), ("a", "x" * 257)])
def test_names_that_make_no_sense_are_refused(memory: PersonaMemory, one: str, other: str) -> None:
    with pytest.raises(InvalidRequest):
        memory.users.merge(one, other)


def test_everybody_is_listed_whoever_talked_last_first(memory: PersonaMemory) -> None:
    assert memory.users.list() == []
    memory.documents(of("dora")).upsert("a guide", "d")
    memory.update_session(of("carl"), "a summary")
    memory.remember("hello", of("bob"))
    memory.record([Turn("user", "hello", at=5.0)], of("alice"))
    memory.record([Turn("user", "hello", at=9.0), Turn("assistant", "hi", at=9.5)], of("guest", None))
    assert memory.users.list() == [
        User("guest", 2, 0, 0, 0, 9.5),
        User("alice", 1, 0, 0, 0, 5.0),
        User("bob", 0, 1, 0, 0, None),
        User("carl", 0, 0, 0, 1, None),
        User("dora", 0, 0, 1, 0, None),
    ]
    assert [(one.user_id, one.turns, one.last_at) for one in memory.users.list(counted=False)] == [
        ("guest", 0, 9.5),
        ("alice", 0, 5.0),
        ("bob", 0, None),
        ("carl", 0, None),
        ("dora", 0, None),
    ]


def test_embeddings_of_another_dimension_are_left_behind(memory: PersonaMemory, store: Store) -> None:
    memory.documents(of(NEW)).upsert("red", "a", embedding=[1.0, 0.0])
    memory.documents(of(OLD)).upsert("green", "b", embedding=[1.0, 0.0, 0.0])
    memory.users.merge(OLD, NEW)
    here = memory.documents(of(NEW))
    assert [one.id for one in here.search("", embedding=[1.0, 0.0])] == ["a"]
    assert [one.id for one in here.search("green")] == ["b"]


def test_a_note_is_joined_with_what_neither_leaves_to_it(memory: PersonaMemory, store: Store) -> None:
    store.put_note(OLD, "s", Note("first", "old", trimmed_to=7, updated_at=1.0, summarised_at=0.5))
    store.put_note(NEW, "s", Note("second", "", trimmed_to=3, updated_at=2.0))
    memory.users.merge(OLD, NEW)
    assert store.note(NEW, "s") == Note("first\nsecond", "old", trimmed_to=3, updated_at=2.0, summarised_at=2.0)


def test_vectors_go_with_what_they_are_of(memory: PersonaMemory, store: Store) -> None:
    vectors, index, near = store.vector_store, VectorIndex("model", "", 2), np.array([1.0, 0.0], dtype=np.float32)

    def take_up() -> None:
        while taken := vectors.pending(index.name, 50):
            vectors.put(index.name, taken, quantised(np.stack([near] * len(taken))))

    def found(user_id: str) -> list[str]:
        return sorted(one.record.text for one in vectors.nearest(index.name, near, of(user_id, None), BOTH, 99))

    fill(memory)
    vectors.start(index)
    take_up()
    together, bobs = sorted([*found(OLD), *found(NEW)]), found(BOB)
    memory.users.merge(OLD, NEW)
    take_up()
    assert (found(NEW), found(OLD), found(BOB)) == (together, [], bobs)
