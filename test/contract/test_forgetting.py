"""What every store promises about forgetting, checked beneath the port."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from ovos_persona_memory.records import Document, Entry, Forgotten, Note, Scope, Selection, ToolCall, Turn
from ovos_persona_memory.stores.base.store import Store

Say = Callable[..., Turn]
Keep = Callable[..., Entry]
Left = Callable[[str], list[str]]
Kept = Callable[[], Mapping[str, bytes]]
MARK = "xylophonequartz"

FULL: dict[str, Any] = {"speaker": f"s{MARK}", "name": f"n{MARK}", "tool_calls": (ToolCall("c", "t", {"a": MARK}),)}


def either(*words: str) -> frozenset[str]:
    return frozenset(words)


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
        (Selection(Scope(), spare=("t1", "m1", "t3")), {"t2", "m2"}),
        (Selection(Scope(), ids=("t1", "t2"), spare=("t1",)), {"t2"}),
        (Selection(Scope(), words=(either("a", "d"),)), {"t1", "m1"}),
        (Selection(Scope(), words=(either("a", "b"), either("b", "x"))), {"t2"}),
        (Selection(Scope(), words=(either("a"), either("b"))), set()),
        (Selection(Scope(), words=(either("c"),)), set()),
        (Selection(Scope.everyone(), words=(either("c", "f"),)), {"t3", "m3"}),
        (Selection(Scope(session_id="s"), words=(either("a", "b"),)), {"t1"}),
        (Selection(Scope(), words=()), set()),
        (Selection(Scope(), words=(frozenset(),)), set()),
    ],
)
def test_exactly_what_is_selected_goes(filled: Store, selection: Selection, gone: set[str]) -> None:
    before = remaining(filled)
    turns = sum(name.startswith("t") for name in gone)
    assert {record.id for record in filled.select(selection)} == gone
    assert filled.count(selection) == Forgotten(turns, len(gone) - turns)
    assert remaining(filled) == before
    assert filled.delete(selection) == Forgotten(turns, len(gone) - turns)
    assert remaining(filled) == before - gone
    assert filled.delete(selection).total == 0


def test_the_newest_turns_of_a_selection_come_first_then_memories(filled: Store) -> None:
    assert [record.id for record in filled.select(Selection(Scope.everyone()))] == ["t3", "t2", "t1", "m3", "m2", "m1"]
    assert [record.id for record in filled.select(Selection(Scope()), limit=1)] == ["t2", "m2", "m1"]


def test_what_is_counted_is_what_goes(filled: Store) -> None:
    filled.put_note("household", "s", Note(summary="retells a", updated_at=9.0))
    filled.put_note("household", "other", Note(summary="b", updated_at=1.5))
    filled.put_note("bob", "s", Note(summary="c", updated_at=9.0))
    filled.document_store.put(Document("d", "a", updated_at=1.0), "a", None)
    for selection in (
        Selection(Scope(), words=(either("a"),)),
        Selection(Scope(user_id="bob", session_id="s")),
        Selection(Scope(), until=2.0),
        Selection(Scope()),
        Selection(Scope.everyone()),
    ):
        expected = filled.count(selection)
        assert expected.total + expected.notes > 0
        assert filled.delete(selection) == expected


def test_a_redacted_turn_keeps_its_place_without_its_words(
    store: Store, say: Say, left_in_files: Left, open_again: Callable[[], Store]
) -> None:
    turn = say(f"the {MARK}", id="t", session_id="s", utterance_id="u", **FULL)
    say("later", session_id="s")
    store.put_note("household", "s", Note(summary=MARK))
    store.put_note("household", "none of it", Note(summary="kept"))
    assert store.redact(["t", "t", "unknown"]) == 1
    store.purge()
    assert store.redact(["t"]) == 0
    held = open_again().turn("t")
    assert held == replace(turn, text="", speaker=None, name=None, tool_calls=(), redacted=True)
    assert open_again().search([MARK], Scope(), frozenset({"turn"}), 5) == []
    assert [(user, session) for user, session, _ in open_again().notes(Scope())] == [("household", "none of it")]
    assert left_in_files(MARK) == []


def test_notes_are_listed_and_deleted_by_name(store: Store) -> None:
    for user, session in (("household", "s"), ("household", "t"), ("bob", "s")):
        store.put_note(user, session, Note(summary=f"{user} {session}"))
    assert {one[:2] for one in store.notes(Scope())} == {("household", "s"), ("household", "t")}
    assert {one[:2] for one in store.notes(Scope(user_id=None, session_id="s"))} == {("household", "s"), ("bob", "s")}
    assert store.delete_notes([("household", "s"), ("household", "s"), ("bob", "none")]) == 1
    assert [(user, session, note.summary) for user, session, note in store.notes(Scope(user_id="bob"))] == [
        ("bob", "s", "bob s")
    ]
    assert store.note("household", "s") is None


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


@pytest.mark.parametrize("backend", ["sqlite"])
def test_what_was_to_be_purged_is_purged_by_opening(
    store: Store, say: Say, left_in_files: Left, open_again: Callable[[], Store], home: Any
) -> None:
    say(MARK, id="gone")
    store.delete(Selection(Scope(), ids=("gone",)))
    dead = {path.name: path.read_bytes() for path in home.iterdir()}  # as after kill -9 here
    store.close()
    for name, content in dead.items():
        (home / name).write_bytes(content)
    assert left_in_files(MARK)
    open_again()
    assert left_in_files(MARK) == []


@pytest.mark.full
def test_nothing_is_left_after_thousands_of_changes(store: Store, kept: Kept) -> None:
    """Pages that were split, merged and rebuilt keep copies where rows are moved: here none may be."""
    rng, live, gone = random.Random(7), [], []
    for _ in range(60):
        with store.transaction():
            for _ in range(40):
                _one_change(store, rng, live, gone)
    store.purge()
    content = b"".join(kept().values())
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
