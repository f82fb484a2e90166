"""What every store promises about episodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Episode, EpisodesWanted, Scope, Selection, Turn
from ovos_persona_memory.stores.base.store import Store

Left = Callable[[str], list[str]]
MARK = "xylophonequartz"
EVERYTHING = EpisodesWanted(Scope.everyone(), frozenset({"exchange", "intent", "tool_call", "recall"}))


@pytest.fixture
def note(store: Store) -> Callable[..., Episode]:
    """Adds an episode; ids and times count up."""
    count = iter(range(1, 1000))

    def add(kind: Any = "intent", words: str = "", **fields: Any) -> Episode:
        number = next(count)
        return store.episode_store.add(Episode(kind, **{"at": float(number), "id": f"e{number}", **fields}), words)

    return add


Note = Callable[..., Episode]


def ids(found: list[Episode]) -> list[str]:
    return [episode.id for episode in found]


def test_an_episode_is_kept_as_it_was_noted(store: Store, note: Note, open_again: Callable[[], Store]) -> None:
    whole = note(
        "tool_call",
        user_id="ada",
        session_id="s",
        persona_id="p",
        site_id="kitchen",
        utterance_id="u",
        turn_id="t",
        skill_id="skill",
        name="größe",
        outcome="ok",
        latency_ms=1.5,
        detail={"arguments": {"a": ["b", 1]}},
    )
    bare = note("recall", used=("r1", "r2"))
    assert open_again().episode_store.episodes(EVERYTHING) == [bare, whole]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["e4", "e3", "e2", "e1"]),
        ({"kinds": frozenset({"intent"})}, ["e3", "e1"]),
        ({"kinds": frozenset()}, []),
        ({"since": 2.0, "until": 4.0}, ["e3", "e2"]),
        ({"limit": 2}, ["e4", "e3"]),
        ({"limit": 0}, []),
        ({"scope": Scope()}, ["e2", "e1"]),
        ({"scope": Scope(user_id="ada")}, ["e4", "e3"]),
        ({"scope": Scope(user_id=None, session_id="s")}, ["e3", "e1"]),
        ({"scope": Scope(user_id=None, site_id="kitchen")}, ["e2"]),
        ({"scope": Scope(user_id=None, persona_id="p")}, ["e4", "e2", "e1"]),
        ({"scope": Scope(user_id=None, task_id="t")}, []),
    ],
)
def test_episodes_are_asked_for_by_kind_time_session_and_person(
    store: Store, note: Note, wanted: dict[str, Any], found: list[str]
) -> None:
    note("intent", session_id="s")
    note("exchange", site_id="kitchen")
    note("intent", user_id="ada", session_id="s", persona_id="other")
    note("tool_call", user_id="ada", persona_id="p")
    assert ids(store.episode_store.episodes(replace(EVERYTHING, **wanted))) == found


def test_of_one_moment_the_last_noted_comes_first(store: Store, note: Note) -> None:
    for _ in range(3):
        note(at=5.0)
    assert ids(store.episode_store.episodes(EVERYTHING)) == ["e3", "e2", "e1"]


def test_the_end_of_an_episode_is_noted_in_its_place(store: Store, note: Note) -> None:
    made = note(detail={"slot": "x"})
    ended = replace(made, outcome="handled", latency_ms=12.5, turn_id="t")
    store.episode_store.finish(ended)
    store.episode_store.finish(replace(ended, id="unknown"))
    assert store.episode_store.episodes(EVERYTHING) == [ended]


def test_the_last_use_of_a_record_is_known(store: Store, note: Note) -> None:
    note("recall", used=("r1", "r2"))
    note("recall", used=("r2",))
    held = store.episode_store
    assert [
        (held.uses(one), one_use.id if (one_use := held.last_use(one)) else None) for one in ("r1", "r2", "r3")
    ] == [
        (1, "e1"),
        (2, "e2"),
        (0, None),
    ]
    held.delete(["e2"])
    last = held.last_use("r2")
    assert last is not None
    assert last.id == "e1"


@pytest.mark.parametrize(
    ("selection", "gone"),
    [
        (Selection(Scope()), {"e1", "e2"}),
        (Selection(Scope.everyone()), {"e1", "e2", "e3"}),
        (Selection(Scope(), keys=("k",)), set()),
        (Selection(Scope(), ids=("t1",)), {"e1"}),
        (Selection(Scope(), ids=("e2",)), {"e2"}),
        (Selection(Scope(), spare=("t1",)), {"e2"}),
        (Selection(Scope(), since=2.0), {"e2"}),
        (Selection(Scope(), until=2.0), {"e1"}),
        (Selection(Scope(session_id="s")), {"e1"}),
        (Selection(Scope(), source="skill"), {"e2"}),
        (Selection(Scope(), words=(frozenset({"cat", "dog"}), frozenset({"bob"}))), {"e2"}),
        (Selection(Scope(), kinds=frozenset({"turn"})), {"e1"}),
        (Selection(Scope(), kinds=frozenset({"memory"})), set()),
    ],
)
def test_exactly_the_selected_episodes_go_and_those_of_selected_turns(
    store: Store, note: Note, selection: Selection, gone: set[str]
) -> None:
    store.add_turn(Turn("user", "hello", id="t1", at=1.0, session_id="s"), "hello")
    note(turn_id="t1", session_id="s")
    note(skill_id="skill", words="cat bob", detail={"slot": "cat bob"})
    note(user_id="ada")
    assert store.count(selection).episodes == len(gone)
    assert store.delete(selection).episodes == len(gone)
    assert set(ids(store.episode_store.episodes(EVERYTHING))) == {"e1", "e2", "e3"} - gone


def test_the_episodes_of_a_redacted_turn_go(store: Store, note: Note) -> None:
    store.add_turn(Turn("assistant", "hello", id="t1", at=1.0, utterance_id="u1"), "hello")
    note(turn_id="t1")
    note(turn_id="t2")
    note(turn_id="t3", utterance_id="u1")
    note(turn_id="t3", utterance_id="u2")
    store.redact(["t1"])
    assert ids(store.episode_store.episodes(EVERYTHING)) == ["e4", "e2"]


def test_no_byte_of_a_deleted_episode_is_left(store: Store, note: Note, left_in_files: Left) -> None:
    note(words=MARK, detail={"slot": MARK}, name="intent")
    assert bool(left_in_files(MARK)) == store.durable
    assert store.episode_store.delete(["e1", "unknown"]) == 1
    store.purge()
    assert left_in_files(MARK) == []


def test_what_began_before_a_time_is_deleted(store: Store, note: Note) -> None:
    for _ in range(3):
        note()
    assert store.episode_store.delete_before(3.0) == 2
    assert ids(store.episode_store.episodes(EVERYTHING)) == ["e3"]


def test_one_users_episodes_are_made_anothers(store: Store, note: Note) -> None:
    note(user_id="ada", words="cat")
    note(user_id="bob")
    assert store.episode_store.rename_user("ada", "bob") == 1
    assert {episode.user_id for episode in store.episode_store.episodes(EVERYTHING)} == {"bob"}
    assert [words for _, words in store.episode_store.held("bob")] == ["cat", ""]
    assert list(store.episode_store.held("ada")) == []


def test_an_episode_is_undone_with_its_transaction(store: Store, note: Note) -> None:
    note(used=("r",))
    with pytest.raises(ZeroDivisionError), store.transaction():
        note(used=("r",))
        store.episode_store.delete(["e1"])
        raise ZeroDivisionError
    assert ids(store.episode_store.episodes(EVERYTHING)) == ["e1"]
    assert store.episode_store.uses("r") == 1


def test_a_text_that_cannot_be_kept_is_refused(store: Store, note: Note) -> None:
    for fields in ({"name": "a\0"}, {"user_id": "\ud800"}, {"detail": {"a": "\0"}}):
        with pytest.raises(StoreError):
            note(**fields)
    assert store.episode_store.episodes(EVERYTHING) == []
