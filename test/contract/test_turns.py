"""What every store promises about turns and sessions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from ovos_persona_memory.errors import StoreError, UnknownEntry
from ovos_persona_memory.records import Entry, Note, Pause, Place, Scope, Selection, Session, ToolCall, Turn
from ovos_persona_memory.stores.base.store import Store

Say = Callable[..., Turn]

FULL = Turn(
    role="assistant",
    text='odd "text"; -- with \N{SNOWMAN} and\nlines',
    at=1763750000.25,
    speaker="Ada",
    lang="pt-PT",
    id="full",
    user_id="ada",
    session_id="s",
    persona_id="p",
    site_id="kitchen",
    task_id="t",
    utterance_id="u",
    source="record",
    skill_id="skill",
    expects_reply=True,
    announcement=True,
    machine=True,
    linked=True,
    batch="b",
    redacted=True,
    tool_calls=(ToolCall("c1", "light", {"room": "küche", "level": 3}), ToolCall("c2", "off")),
    tool_call_id="c0",
    name="tool",
    is_error=True,
    unlearned=True,
)


def texts(turns: list[Turn]) -> list[str]:
    return [turn.text for turn in turns]


def test_every_field_of_a_turn_comes_back(store: Store, open_again: Callable[[], Store]) -> None:
    kept = store.add_turn(FULL, "odd text")
    assert kept == replace(FULL, seq=kept.seq)
    store = open_again()
    assert store.turn("full") == kept
    assert store.turns(Scope(user_id="ada")) == [kept]


class Moment(float):
    """A float of somebody's own, as numpy's is one."""


class Phrase(str):
    """A text of somebody's own."""


@pytest.mark.parametrize("time_of", [Moment, np.float64])
def test_a_float_of_any_class_is_a_time(
    store: Store, open_again: Callable[[], Store], time_of: Callable[[float], float]
) -> None:
    at = time_of(1763750000.25)
    level = ToolCall("c", "light", {"level": time_of(0.5), "room": Phrase("küche")})
    turn = Turn("user", "hello", at, id="t", session_id="s", tool_calls=(level,))
    entry = Entry("k", "tea", {"liked": time_of(0.5)}, id="m", created_at=at, updated_at=at)
    pause = Pause(Place("user", "ada"), since=at, until=time_of(at + 5), write=False, read=True)
    store.add_turn(turn, "hello")
    store.put_entry(entry, "tea")
    store.put_note("household", "s", Note("said hello", updated_at=at))
    store.put_pause(pause)
    store = open_again()
    kept, remembered, note = store.turn("t"), store.entry("k", "household"), store.note("household", "s")
    assert kept == replace(turn, seq=kept.seq if kept else 0)
    assert remembered == replace(entry, seq=remembered.seq if remembered else 0)
    assert note is not None and note.updated_at == at
    assert store.pauses() == [pause]
    assert store.turns(Scope(), since=at, until=time_of(at + 1)) == [kept]


def test_a_plain_turn_comes_back_as_it_was(store: Store) -> None:
    kept = store.add_turn(Turn(role="user", text="", at=0.0, id="plain"), "")
    assert store.turn("plain") == kept == Turn(role="user", text="", at=0.0, id="plain", seq=kept.seq)


def test_seq_rises_with_arrival_and_is_above_zero(say: Say) -> None:
    first, second = say("one", at=20.0), say("two", at=10.0)
    assert 0 < first.seq < second.seq


def test_a_seq_is_never_given_twice(store: Store, say: Say) -> None:
    last = say("one")
    store.delete(Selection(Scope()))
    assert say("two").seq > last.seq


def test_a_known_id_is_refused_and_changes_nothing(store: Store, say: Say) -> None:
    say("one", id="same")
    with pytest.raises(StoreError):
        say("two", id="same")
    assert texts(store.turns(Scope())) == ["one"]


def test_several_turns_at_once_are_kept_in_their_order(store: Store, say: Say) -> None:
    first = say("before")
    plain = [Turn("user", f"number {n}", at=20.0 - n, id=f"n{n}", user_id=("ada", "bob")[n % 2]) for n in range(12)]
    given = [plain[0], FULL, *plain[1:]]
    kept = store.add_turns([(turn, turn.text) for turn in given])
    assert kept == [replace(turn, seq=one.seq) for turn, one in zip(given, kept, strict=True)]
    assert [one.seq for one in kept] == sorted({one.seq for one in kept})
    assert store.turns(Scope.everyone()) == [first, *kept]
    assert [store.turn(one.id) for one in kept] == kept
    found = store.search(["number"], Scope(user_id="ada"), frozenset({"turn"}), 20)
    assert {one.record.id for one in found} == {f"n{n}" for n in range(0, 12, 2)}
    assert say("after").seq > kept[-1].seq


def test_of_several_turns_none_is_kept_where_one_is_refused(store: Store, say: Say) -> None:
    say("one", id="same")
    for other in (Turn("user", "two", at=1.0, id="same"), Turn("user", "nul \0", at=1.0, id="nul")):
        with pytest.raises(StoreError):
            store.add_turns([(Turn("user", "new", at=1.0, id="new"), "new"), (other, other.text)])
        assert texts(store.turns(Scope())) == ["one"]
    assert store.add_turns([]) == []


def fresh(*names: str) -> list[tuple[Turn, str]]:
    return [(Turn("user", name, at=1.0, id=name, session_id="s"), name) for name in names]


def test_fresh_turns_are_there_for_whatever_comes_next(store: Store, say: Say) -> None:
    with store.transaction():
        first = store.add_turns(fresh("a", "b"), fresh=True)
        second = store.add_turns(fresh("c"), fresh=True)
        assert store.turns(Scope("s")) == [*first, *second]
        third = store.add_turns(fresh("d", "e"), fresh=True)
        store.put_note("household", "s", Note("they talked", "", 0, 1.0))
        fourth = store.add_turns(fresh("f", "g", "h"), fresh=True)
        assert store.notes_retelling(third) == [("household", "s")]
        assert store.notes_retelling(fourth) == []
        assert say("i", session_id="s").seq > fourth[-1].seq
    kept = store.turns(Scope("s"))
    assert texts(kept) == list("abcdefghi")
    assert kept[:-1] == [*first, *second, *third, *fourth]


def test_fresh_turns_go_with_their_transaction(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.add_turns(fresh("a", "b"), fresh=True)
        store.add_turns(fresh("c"), fresh=True)
        raise ZeroDivisionError
    with store.transaction():
        kept = store.add_turns(fresh("d", "e"), fresh=True)
    assert store.turns(Scope("s")) == kept


def test_a_fresh_turn_that_is_known_undoes_its_transaction(store: Store, say: Say) -> None:
    say("one", id="same")
    for read in (False, True):
        with pytest.raises(StoreError), store.transaction():
            store.add_turns(fresh("a", "b"), fresh=True)
            with suppress(StoreError):
                store.add_turns(fresh("same", "c"), fresh=True)
            with suppress(StoreError):
                _ = read and store.turns(Scope())
        assert texts(store.turns(Scope())) == ["one"]


def test_the_talk_of_a_session_comes_with_what_is_left_to_its_summary(store: Store, say: Say) -> None:
    said = [say(f"number {n}", session_id=f"s{n % 2}", user_id=("ada", "household")[n % 2]) for n in range(8)]
    store.put_note("household", "s1", Note("", "", said[3].seq, 1.0))
    store.put_note("bob", "s0", Note("", "", said[4].seq, 1.0))
    assert store.talk(Scope("s1")) == (said[1::2], said[3].seq)
    assert store.talk(Scope("s1", None), 2) == (said[5::2], said[3].seq)
    assert store.talk(Scope("s0", "ada")) == (said[::2], 0)
    assert store.talk(Scope("s1", "ada")) == ([], 0)
    assert store.talk(Scope("s1", "bob")) == ([], 0)


def test_the_talk_of_a_session_has_every_field_of_its_turns(store: Store, say: Say) -> None:
    calls = (ToolCall("1", "look", {"at": "it"}),)
    flags = dict.fromkeys(("expects_reply", "announcement", "machine", "linked"), True)
    names = {name: name for name in ("speaker", "lang", "persona_id", "site_id", "task_id", "utterance_id", "skill_id")}
    one = say("one", session_id="s1", batch="b", name="n", tool_call_id="c", tool_calls=calls, **flags, **names)
    said = [one, say("two", session_id="s1")]
    for found in (store.talk(Scope("s1"))[0], store.turns(Scope("s1"))):
        assert list(map(repr, found)) == list(map(repr, said)), "1 is not True"


def test_documents_come_in_the_order_of_arrival(store: Store, say: Say) -> None:
    said = [say(f"number {n}", session_id=f"s{n * 7 % 5}", user_id=("ada", "bob")[n % 2]) for n in range(9)]
    store.change_turn(replace(said[0], user_id="eve"), "number")
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.delete(Selection(Scope(user_id="ada")))
        raise ZeroDivisionError
    found = [record.id for record, _ in store.documents(Scope.everyone(), frozenset({"turn"}))]
    assert found == [turn.id for turn in said]


def test_an_unknown_turn_is_none(store: Store) -> None:
    assert store.turn("nobody") is None


def test_a_changed_turn_keeps_its_place(store: Store, say: Say) -> None:
    first = say("one")
    say("two")
    store.change_turn(replace(first, text="changed", linked=True, seq=99), "changed")
    assert store.turns(Scope())[0] == replace(first, text="changed", linked=True)
    assert texts(store.turns(Scope())) == ["changed", "two"]


def test_changing_an_unknown_turn_is_an_unknown_entry(store: Store) -> None:
    with pytest.raises(UnknownEntry):
        store.change_turn(FULL, "")


def test_a_changed_turn_can_move_to_another_user(store: Store, say: Say) -> None:
    moved = say("cat dog", user_id="ada")
    say("cat", user_id="bob")
    store.change_turn(replace(moved, user_id="bob"), "cat dog")
    assert store.turns(Scope(user_id="ada")) == []
    found = store.search(["dog"], Scope(user_id="bob"), frozenset({"turn"}), 5)
    assert [hit.record.id for hit in found] == [moved.id]
    assert store.search(["dog"], Scope(user_id="ada"), frozenset({"turn"}), 5) == []
    assert store.counts().users == 1


def test_the_newest_turns_come_oldest_first(store: Store, say: Say) -> None:
    for text in "abcde":
        say(text, at=50.0 - ord(text))
    assert texts(store.turns(Scope(), limit=3)) == ["c", "d", "e"]


@pytest.mark.parametrize(("limit", "expected"), [(0, []), (1, ["c"]), (3, ["a", "b", "c"]), (9, ["a", "b", "c"])])
def test_a_limit_is_kept_exactly(store: Store, say: Say, limit: int, expected: list[str]) -> None:
    for text in "abc":
        say(text)
    assert texts(store.turns(Scope(), limit=limit)) == expected


def test_a_window_holds_its_start_and_not_its_end(store: Store, say: Say) -> None:
    for at in (1.0, 2.0, 3.0, 4.0):
        say(str(at), at=at)
    assert texts(store.turns(Scope(), since=2.0, until=4.0)) == ["2.0", "3.0"]
    assert texts(store.turns(Scope(), limit=1, since=2.0, until=4.0)) == ["3.0"]
    assert texts(store.turns(Scope(), until=2.0)) == ["1.0"]
    assert texts(store.turns(Scope(), since=4.5)) == []


@pytest.mark.parametrize("name", ["session_id", "site_id", "task_id"])
def test_a_field_of_the_scope_narrows(store: Store, say: Say, name: str) -> None:
    say("mine", **{name: "a"})
    say("other", **{name: "b"})
    say("none")
    assert texts(store.turns(Scope(**{name: "a"}), limit=5)) == ["mine"]
    assert texts(store.turns(Scope(**{name: "a"}), since=0.0)) == ["mine"]
    assert len(store.turns(Scope())) == 3


def test_a_persona_has_its_own_turns_and_those_of_no_persona(store: Store, say: Say) -> None:
    for text, persona in (("own", "p"), ("foreign", "q"), ("common", None), ("own too", "p")):
        say(text, persona_id=persona, session_id="s")
    for scope in (Scope(persona_id="p"), Scope(persona_id="p", session_id="s")):
        assert texts(store.turns(scope)) == ["own", "common", "own too"]
        assert texts(store.turns(scope, limit=2)) == ["common", "own too"]


def test_one_user_never_reads_anothers_turns(store: Store, say: Say) -> None:
    say("hers", user_id="ada", session_id="s")
    say("his", user_id="bob", session_id="s")
    assert texts(store.turns(Scope(user_id="ada"))) == ["hers"]
    assert texts(store.turns(Scope(user_id="ada", session_id="s"))) == ["hers"]
    assert store.turns(Scope()) == store.turns(Scope(user_id="eve", session_id="s")) == []


def test_everyone_reads_all_turns_in_order(store: Store, say: Say) -> None:
    say("hers", user_id="ada", session_id="s")
    say("his", user_id="bob", session_id="s")
    assert texts(store.turns(Scope.everyone())) == ["hers", "his"]
    assert texts(store.turns(Scope.everyone(), limit=1)) == ["his"]
    assert texts(store.turns(Scope(user_id=None, session_id="s"))) == ["hers", "his"]


def test_sessions_come_with_the_newest_turn_first(store: Store, say: Say) -> None:
    say("one", session_id="a", at=5.0)
    say("two", session_id="b", at=9.0)
    say("three", session_id="a", at=3.0)
    say("none")
    expected = [Session("a", "household", 2, 3.0, 5.0), Session("b", "household", 1, 9.0, 9.0)]
    assert store.sessions(Scope()) == expected
    assert store.sessions(Scope(), limit=1) == expected[:1]
    assert store.sessions(Scope(session_id="b")) == expected[1:]
    assert store.sessions(Scope(), limit=0) == store.sessions(Scope(user_id="eve")) == []


def test_a_session_of_two_users_is_two(store: Store, say: Say) -> None:
    say("hers", user_id="ada", session_id="s")
    say("his", user_id="bob", session_id="s")
    assert [(item.user_id, item.turns) for item in store.sessions(Scope.everyone())] == [("bob", 1), ("ada", 1)]
    assert [item.user_id for item in store.sessions(Scope(user_id="ada"))] == ["ada"]


@pytest.mark.parametrize("odd", ["nul \0 inside", "half \ud83d pair"])
def test_a_text_that_cannot_be_kept_is_a_store_error(store: Store, say: Say, odd: str) -> None:
    kept = say("before")
    for fields in ({"text": odd}, {"text": "a", "speaker": odd}, {"text": "a", "session_id": odd}):
        with pytest.raises(StoreError):
            store.add_turn(Turn(**{"role": "user", "at": 1.0, "id": "odd", **fields}), "a")
        with pytest.raises(StoreError):
            store.change_turn(replace(kept, **fields), "a")
    with pytest.raises(StoreError):
        store.add_turn(Turn(role="user", text="a", at=1.0, id="odd"), odd)
    assert texts(store.turns(Scope())) == ["before"]


def test_counts_tell_turns_entries_sessions_and_users(store: Store, say: Say, keep: Callable[..., object]) -> None:
    assert (store.counts().turns, store.counts().users) == (0, 0)
    say("one", user_id="ada", session_id="a")
    say("two", user_id="ada", session_id="b")
    say("three", user_id="bob")
    keep("k", "text", user_id="eve")
    counts = store.counts()
    assert (counts.turns, counts.entries, counts.sessions, counts.users) == (3, 1, 2, 3)
