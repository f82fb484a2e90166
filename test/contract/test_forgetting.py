"""What every store promises about forgetting, checked beneath the port."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ovos_persona_memory.records import Entry, Forgotten, Scope, Selection, ToolCall, Turn
from ovos_persona_memory.stores.base import Store

Say = Callable[..., Turn]
Keep = Callable[..., Entry]
Left = Callable[[str], list[str]]
MARK = "xylophonequartz"


def remaining(store: Store) -> set[str]:
    return {record.id for record, _ in store.documents(Scope.everyone(), frozenset({"turn", "memory"}))}


@pytest.fixture
def filled(store: Store, say: Say, keep: Keep) -> Store:
    say("a", id="t1", at=1.0, session_id="s", skill_id="skill")
    say("b", id="t2", at=2.0, persona_id="p")
    say("c", id="t3", at=3.0, user_id="bob", session_id="s")
    keep("k1", "d", id="m1", updated_at=2.0, persona_id="p")
    keep("k2", "e", id="m2", updated_at=3.0)
    keep("k1", "f", id="m3", updated_at=2.0, user_id="bob")
    return store


@pytest.mark.parametrize(
    ("selection", "gone"),
    [
        (Selection(Scope()), {"t1", "t2", "m1", "m2"}),
        (Selection(Scope.everyone()), {"t1", "t2", "t3", "m1", "m2", "m3"}),
        (Selection(Scope(user_id="nobody")), set()),
        (Selection(Scope(), kinds=frozenset({"turn"})), {"t1", "t2"}),
        (Selection(Scope(), kinds=frozenset({"memory"})), {"m1", "m2"}),
        (Selection(Scope(), keys=("k1", "none")), {"m1"}),
        (Selection(Scope(), keys=()), set()),
        (Selection(Scope(), ids=("t2", "m2", "t3")), {"t2", "m2"}),
        (Selection(Scope(), ids=()), set()),
        (Selection(Scope(), since=2.0), {"t2", "m1", "m2"}),
        (Selection(Scope(), until=2.0), {"t1"}),
        (Selection(Scope(), since=2.0, until=3.0), {"t2", "m1"}),
        (Selection(Scope(session_id="s")), {"t1"}),
        (Selection(Scope(user_id=None, session_id="s")), {"t1", "t3"}),
        (Selection(Scope(), source="skill"), {"t1"}),
        (Selection(Scope(), source="p"), {"t2", "m1"}),
        (Selection(Scope(persona_id="other")), {"t1", "m2"}),
    ],
)
def test_exactly_what_is_selected_goes(filled: Store, selection: Selection, gone: set[str]) -> None:
    before = remaining(filled)
    forgotten = filled.delete(selection)
    turns = sum(name.startswith("t") for name in gone)
    assert forgotten == Forgotten(turns, len(gone) - turns)
    assert remaining(filled) == before - gone
    assert filled.delete(selection).total == 0


def test_a_key_can_be_used_again(filled: Store, keep: Keep) -> None:
    filled.delete(Selection(Scope(), keys=("k1",)))
    assert filled.entry("k1", "household") is None
    assert keep("k1", "new", id="m9").id == "m9"


def test_many_ids_are_forgotten_at_once(store: Store, say: Say) -> None:
    with store.transaction():
        for number in range(2500):
            say("cat", id=f"many-{number}")
    assert store.delete(Selection(Scope(), ids=tuple(f"many-{number}" for number in range(40_000)))).turns == 2500
    assert store.counts().users == 0


def test_purging_can_be_repeated_and_needs_no_cause(filled: Store) -> None:
    filled.purge()
    filled.purge()
    assert len(remaining(filled)) == 6


FULL: dict[str, Any] = {"speaker": f"s{MARK}", "name": f"n{MARK}", "tool_calls": (ToolCall("c", "t", {"a": MARK}),)}


@pytest.mark.parametrize("length", [0, 50_000])
def test_no_byte_of_a_deleted_turn_is_left(store: Store, say: Say, left_in_files: Left, length: int) -> None:
    for _ in range(5):
        say("neighbour")
    say(f"the {MARK} is {'x' * length}", id="gone", **FULL)
    for _ in range(5):
        say("neighbour")
    store.delete(Selection(Scope(), ids=("gone",)))
    store.purge()
    assert left_in_files(MARK) == []


def test_what_is_kept_can_be_seen_in_the_files(store: Store, say: Say, left_in_files: Left) -> None:
    """The looking itself is proved: a durable store has the text somewhere."""
    say(MARK)
    assert bool(left_in_files(MARK)) == store.durable


def test_no_byte_of_a_replaced_text_is_left(store: Store, say: Say, keep: Keep, left_in_files: Left) -> None:
    turn = say(f"{MARK} one", **FULL)
    keep("key", f"{MARK} two", metadata={"a": MARK})
    store.put_state("name", f"{MARK} three")
    store.change_turn(replace(turn, text="", speaker=None, name=None, tool_calls=()), "")
    keep("key", "nothing much, but a longer text than there was before")
    store.put_state("name", "")
    store.purge()
    assert left_in_files(MARK) == []


def test_no_byte_of_a_deleted_entry_is_left(store: Store, keep: Keep, left_in_files: Left) -> None:
    keep(f"key {MARK}", f"{MARK} two", metadata={"a": MARK})
    store.delete(Selection(Scope(), keys=(f"key {MARK}",)))
    store.purge()
    assert left_in_files(MARK) == []


def test_what_was_to_be_purged_is_purged_by_opening(
    store: Store, say: Say, left_in_files: Left, open_again: Callable[[], Store], home: Any
) -> None:
    say(MARK, id="gone")
    store.delete(Selection(Scope(), ids=("gone",)))
    if not store.durable:
        return
    dead = {path.name: path.read_bytes() for path in home.iterdir()}  # as after kill -9 here
    store.close()
    for name, content in dead.items():
        (home / name).write_bytes(content)
    assert left_in_files(MARK)
    open_again()
    assert left_in_files(MARK) == []


def test_nothing_is_left_after_thousands_of_changes(store: Store, home: Any) -> None:
    """Pages that were split, merged and rebuilt keep copies where rows are moved: here none may be."""
    rng, live, gone = random.Random(7), [], []
    for _ in range(60):
        with store.transaction():
            for _ in range(40):
                _one_change(store, rng, live, gone)
    store.purge()
    content = b"".join(path.read_bytes() for path in home.iterdir()) if store.durable else b""
    assert len(gone) > 500
    assert [mark for mark in gone if mark.encode() in content] == []


def _one_change(store: Store, rng: random.Random, live: list[Any], gone: list[str]) -> None:
    mark = f"q{rng.getrandbits(48):012x}z"
    text = f"{mark} {'x' * rng.choice([5, 20, 60, 200, 800, 3000, 9000])}"
    action = rng.random()
    if action < 0.6 or not live:
        turn = store.add_turn(Turn(role="user", text=text, at=1.0, id=f"id-{len(live) + len(gone)}-{mark[1:4]}"), text)
        live.append((turn, mark))
        return
    turn, old = live.pop(rng.randrange(len(live)))
    gone.append(old)
    if action < 0.8:
        store.delete(Selection(Scope(), ids=(turn.id,)))
    else:
        store.change_turn(replace(turn, text=text), text)
        live.append((turn, mark))
