"""What every store promises about what is kept of a session beside its turns."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Note, Scope, Selection, Turn
from ovos_persona_memory.stores.base.store import Store

Say = Callable[..., Turn]
Left = Callable[[str], list[str]]
Kept = Callable[[], Mapping[str, bytes]]
MARK = "xylophonequartz"
NOTE = Note("they talked about cats", "cats", 3, 500.0, 400.0)


def test_a_note_is_kept_as_it_was_put(store: Store, open_again: Callable[[], Store]) -> None:
    store.put_note("household", "s", NOTE)
    assert open_again().note("household", "s") == NOTE


def test_there_is_none_where_none_was_put(store: Store) -> None:
    store.put_note("household", "s", NOTE)
    assert store.note("household", "t") is None
    assert store.note("bob", "s") is None


def test_a_note_takes_the_place_of_the_one_before(store: Store, left_in_files: Left) -> None:
    store.put_note("household", "s", Note(f"{MARK} one", f"{MARK} two"))
    store.put_note("household", "s", NOTE)
    store.purge()
    assert store.note("household", "s") == NOTE
    assert left_in_files(MARK) == []


def test_a_note_can_be_seen_in_the_files(store: Store, left_in_files: Left) -> None:
    store.put_note("household", "s", Note(MARK))
    assert bool(left_in_files(MARK)) == store.durable


def test_sessions_carry_their_description(store: Store, say: Say) -> None:
    for user, session in (("household", "s"), ("household", "t"), ("bob", "s")):
        say("cat", user_id=user, session_id=session)
    store.put_note("household", "s", NOTE)
    found = {(one.user_id, one.session_id): one.description for one in store.sessions(Scope.everyone())}
    assert found == {("household", "s"): "cats", ("household", "t"): "", ("bob", "s"): ""}


@pytest.mark.parametrize(
    ("selection", "goes"),
    [
        (Selection(Scope()), True),
        (Selection(Scope.everyone()), True),
        (Selection(Scope(session_id="s")), True),
        (Selection(Scope(session_id="s", persona_id="p")), True),
        (Selection(Scope(session_id="s"), kinds=frozenset({"turn"})), True),
        (Selection(Scope(session_id="s"), kinds=frozenset({"memory"})), False),
        (Selection(Scope(session_id="t")), False),
        (Selection(Scope(user_id="bob")), False),
        (Selection(Scope(site_id="kitchen")), False),
        (Selection(Scope(task_id="task")), False),
        (Selection(Scope(), since=500.0, until=501.0), True),
        (Selection(Scope(), since=501.0), False),
        (Selection(Scope(), until=500.0), False),
        (Selection(Scope(), keys=("k",)), False),
        (Selection(Scope(), ids=("t1",)), False),
        (Selection(Scope(), source="skill"), False),
    ],
)
def test_a_note_goes_with_what_covers_its_session(store: Store, selection: Selection, goes: bool) -> None:
    store.put_note("household", "s", NOTE)
    assert store.delete(selection).notes == goes
    assert (store.note("household", "s") is None) == goes


def test_a_note_goes_with_a_turn_that_it_may_retell(store: Store, say: Say, left_in_files: Left) -> None:
    say("cat", id="old", session_id="s", at=9999.0)
    store.put_note("household", "s", Note(MARK))
    say("dog", id="new", session_id="s", at=1.0)
    store.delete(Selection(Scope(), ids=("new",)))
    assert store.note("household", "s") is not None
    assert store.delete(Selection(Scope(), ids=("old",))).notes == 1
    store.purge()
    assert store.note("household", "s") is None
    assert left_in_files(MARK) == []


def test_a_turn_of_another_session_takes_no_note_along(store: Store, say: Say) -> None:
    for user, session, turn in (("household", "t", "a"), ("bob", "s", "b"), ("household", None, "c")):
        say("cat", id=turn, user_id=user, session_id=session)
    store.put_note("household", "s", NOTE)
    assert store.delete(Selection(Scope.everyone(), ids=("a", "b", "c"))).notes == 0


def test_a_note_is_undone_with_its_transaction(store: Store) -> None:
    store.put_note("household", "s", NOTE)
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.put_note("household", "s", Note("other"))
        store.put_note("household", "t", Note("other"))
        store.delete(Selection(Scope(session_id="s")))
        raise ZeroDivisionError
    assert store.note("household", "s") == NOTE
    assert store.note("household", "t") is None


def test_a_note_that_cannot_be_kept_is_refused(store: Store) -> None:
    with pytest.raises(StoreError):
        store.put_note("household", "s", Note("a\0b"))


@pytest.mark.full
def test_no_byte_is_left_after_many_changes(store: Store, kept: Kept) -> None:
    rng, gone = random.Random(7), []
    held: dict[str, str] = {}
    for _ in range(600):
        session, mark = f"s{rng.randrange(40)}", f"q{rng.getrandbits(48):012x}z"
        gone += [held[session]] if session in held else []
        if rng.random() < 0.8:
            held[session] = mark
            store.put_note("household", session, Note(f"{mark} {'x' * rng.choice([5, 200, 3000])}", mark))
        else:
            held.pop(session, None)
            store.delete(Selection(Scope(session_id=session)))
    store.purge()
    content = b"".join(kept().values())
    assert len(gone) > 300
    assert [mark for mark in gone if mark.encode() in content] == []
