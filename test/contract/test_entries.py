"""What every store promises about lasting memories and small state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import StoreError, UnknownEntry
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import (
    PINNED,
    ContextRequest,
    Entry,
    Pause,
    Place,
    Scope,
    Selection,
    Status,
    Turn,
)
from ovos_persona_memory.stores.base.store import Store

Keep = Callable[..., Entry]
FULL = Entry(
    key="bin day",
    text="Tuesday \N{SNOWMAN}",
    metadata={"from": ["t1", 2], "deep": {"ok": True, "none": None}},
    id="full",
    user_id="ada",
    session_id="s",
    persona_id="p",
    site_id="hall",
    task_id="t",
    lang="de-DE",
    created_at=10.5,
    updated_at=11.5,
    status="draft",
)
PERSONAS = (None, "Ada", "Eve")


def keys(entries: list[Entry]) -> list[str]:
    return [entry.key for entry in entries]


def test_every_field_of_an_entry_comes_back(store: Store, open_again: Callable[[], Store]) -> None:
    kept = store.put_entry(FULL, "tuesday")
    assert kept == replace(FULL, seq=kept.seq)
    store = open_again()
    assert store.entry("bin day", "ada", "p") == kept
    assert store.entries(Scope(user_id="ada")) == [kept]


def test_an_unknown_entry_is_none(store: Store, keep: Keep) -> None:
    keep("key", "text", user_id="ada")
    assert store.entry("key", "bob") is None
    assert store.entry("other", "ada") is None


def test_a_known_key_is_replaced_and_keeps_id_seq_and_creation(store: Store, keep: Keep) -> None:
    old = keep("key", "old", session_id="s")
    new = keep("key", "new", lang="en-US", metadata={"a": 1})
    assert (new.id, new.seq, new.created_at) == (old.id, old.seq, old.created_at)
    assert new.updated_at > old.updated_at
    assert store.entry("key", "household") == new
    assert store.entries(Scope()) == [new]
    assert new.session_id is None


def test_two_users_have_the_same_key_apart(store: Store, keep: Keep) -> None:
    keep("key", "hers", user_id="ada")
    keep("key", "his", user_id="bob")
    found = [store.entry("key", user) for user in ("ada", "bob")]
    assert [entry.text for entry in found if entry] == ["hers", "his"]


def test_two_personas_and_none_have_the_same_key_apart(
    store: Store, keep: Keep, open_again: Callable[[], Store]
) -> None:
    kept = [keep("safe", f"of {persona}", persona_id=persona) for persona in PERSONAS]
    store = open_again()
    assert [store.entry("safe", "household", persona) for persona in PERSONAS] == kept
    assert len({one.id for one in kept} | {one.seq for one in kept}) == 2 * len(PERSONAS)
    assert store.entry("safe", "household", "nobody") is None
    assert store.counts().entries == len(PERSONAS)


@pytest.mark.parametrize("persona", PERSONAS)
def test_a_key_is_replaced_for_its_owner_alone(store: Store, keep: Keep, persona: str | None) -> None:
    before = {one: keep("safe", f"of {one}", persona_id=one) for one in PERSONAS}
    new = keep("safe", "moved", persona_id=persona)
    assert (new.id, new.seq, new.created_at) == (before[persona].id, before[persona].seq, before[persona].created_at)
    after = {one: store.entry("safe", "household", one) for one in PERSONAS}
    assert after == {**before, persona: new}
    found = store.search(["moved"], Scope(), frozenset({"memory"}), 5)
    assert [one.record for one in found] == [new]


@pytest.mark.parametrize(
    ("held", "asks", "meant"),
    [
        ("Ada Eve None", "Ada", "Ada"),
        ("Ada None", "Ada", "Ada"),
        ("Eve None", "Ada", "None"),
        ("Eve", "Ada", "nothing"),
        ("", "Ada", "nothing"),
        ("None", None, "None"),
        ("Ada", None, "Ada"),
        ("None Ada Eve", None, "None"),
        ("Ada Eve", None, "Eve"),
        ("Eve Ada", None, "Ada"),
    ],
)
def test_a_scope_means_its_own_personas_entry_before_that_of_none(
    store: Store, keep: Keep, held: str, asks: str | None, meant: str
) -> None:
    for persona in held.split():
        keep("safe", f"of {persona}", persona_id=None if persona == "None" else persona)
    keep("safe", "somebody else's", user_id="bob")
    keep("other", "of Ada", persona_id="Ada")
    found = store.entry_in("safe", Scope(persona_id=asks, session_id="wherever", site_id="den"))
    assert (found.text if found else None) == (None if meant == "nothing" else f"of {meant}")


@pytest.mark.parametrize("odd", ["nul \0 inside", "half \ud83d pair"])
@pytest.mark.parametrize("persona", [None, "Ada"])
def test_a_key_that_cannot_be_kept_is_a_store_error_to_ask_for(store: Store, odd: str, persona: str | None) -> None:
    with pytest.raises(StoreError):
        store.entry_in(odd, Scope(persona_id=persona))
    with pytest.raises(StoreError):
        store.entry("safe", "household", odd)


def test_what_may_not_be_known_is_not_meant(store: Store, keep: Keep) -> None:
    keep("safe", "of none")
    keep("safe", "of Ada", persona_id="Ada", metadata={"private": 3})
    found = [store.entry_in("safe", Scope(persona_id="Ada", auth_level=level)) for level in (0, 3, None)]
    assert [one.text for one in found if one] == ["of none", "of Ada", "of Ada"]


@pytest.mark.parametrize("owners", [("Ada",), (None,), ("Ada", None), ("nobody",), None])
def test_entries_are_selected_by_key_and_owner(store: Store, keep: Keep, owners: tuple[str | None, ...] | None) -> None:
    for persona in PERSONAS:
        keep("safe", f"of {persona}", persona_id=persona)
        keep("other", f"of {persona}", persona_id=persona)
    selection = Selection(Scope(), keys=("safe",), owners=owners)
    gone = [persona for persona in PERSONAS if owners is None or persona in owners]
    assert {one.persona_id for one in store.select(selection)} == set(gone)
    assert store.count(selection).memories == len(gone)
    assert store.delete(selection).memories == len(gone)
    left = {(one.key, one.persona_id) for one in store.entries(Scope())}
    assert left == {(key, one) for key in ("safe", "other") for one in PERSONAS} - {("safe", one) for one in gone}


def test_no_persona_reads_changes_or_takes_over_what_another_keeps(store: Store) -> None:
    memory = PersonaMemory(store, MemoryConfig())
    ada, eve, none = (Scope("s", persona_id=one) for one in ("Ada", "Eve", None))
    hers = memory.remember("behind the picture", ada, "safe")
    assert (memory.get("safe", eve), memory.list(eve), memory.forget(eve, key="safe")) == (None, [], 0)
    with pytest.raises(UnknownEntry):
        memory.update("safe", eve, text="gone")
    everybodys = memory.remember("the neighbour has it", none, "safe")
    assert memory.remember("under the stairs", eve, "safe").metadata == {}
    assert memory.update("safe", eve, text="in the shed").text == "in the shed"
    held = [memory.get("safe", one) for one in (ada, none)]
    assert held == [hers, everybodys]
    assert [memory.forget(eve, key="safe") for _ in range(3)] == [1, 1, 0]
    assert store.entries(Scope()) == [hers]


def test_entries_come_with_the_newest_change_first(store: Store, keep: Keep) -> None:
    for key, at in (("a", 3.0), ("b", 9.0), ("c", 3.0), ("d", 1.0)):
        keep(key, "text", updated_at=at)
    assert keys(store.entries(Scope())) == ["b", "c", "a", "d"]


@pytest.mark.parametrize(
    ("limit", "offset", "expected"),
    [(2, 0, "dc"), (2, 2, "ba"), (None, 3, "a"), (0, 0, ""), (5, 9, ""), (None, 0, "dcba")],
)
def test_limit_and_offset_page_through(store: Store, keep: Keep, limit: int | None, offset: int, expected: str) -> None:
    for key in "abcd":
        keep(key, "text")
    assert "".join(keys(store.entries(Scope(), limit, offset))) == expected


@pytest.mark.parametrize("name", ["session_id", "site_id", "task_id"])
def test_a_field_of_the_scope_narrows_entries(store: Store, keep: Keep, name: str) -> None:
    keep("a", "text", **{name: "x"})
    keep("b", "text", **{name: "y"})
    keep("c", "text")
    assert keys(store.entries(Scope(**{name: "x"}))) == ["a"]


def test_a_persona_has_its_own_entries_and_those_of_no_persona(store: Store, keep: Keep) -> None:
    for key, persona in (("own", "p"), ("foreign", "q"), ("common", None)):
        keep(key, "text", persona_id=persona)
    assert keys(store.entries(Scope(persona_id="p"))) == ["common", "own"]


def test_one_user_never_reads_anothers_entries(store: Store, keep: Keep) -> None:
    keep("hers", "text", user_id="ada")
    keep("his", "text", user_id="bob")
    assert keys(store.entries(Scope(user_id="ada"))) == ["hers"]
    assert store.entries(Scope()) == []
    assert keys(store.entries(Scope.everyone())) == ["his", "hers"]


@pytest.mark.parametrize("odd", ["nul \0 inside", "half \ud83d pair"])
def test_an_entry_that_cannot_be_kept_is_a_store_error(store: Store, keep: Keep, odd: str) -> None:
    for key, text in ((odd, "text"), ("key", odd)):
        with pytest.raises(StoreError):
            keep(key, text)
    for name, value in ((odd, "value"), ("name", odd)):
        with pytest.raises(StoreError):
            store.put_state(name, value)
    with pytest.raises(StoreError):
        store.put_pause(Pause(Place("session", odd), 1.0, None, write=False, read=True))
    assert store.entries(Scope()) == store.pauses() == []


def test_a_pause_takes_the_place_of_the_one_that_began_with_it(store: Store, open_again: Callable[[], Store]) -> None:
    assert store.pauses() == []
    everything = Pause(Place(), 1.0, None, write=False, read=True)
    others = [
        Pause(place, since, 5.0, write=False, read=False)
        for place in (Place(), Place("session", ""), Place("session", "s"), Place("site", "s"), Place("user", "s"))
        for since in (2.0, 3.5)
    ]
    for pause in (everything, *others, replace(everything, until=9.0, read=False)):
        store.put_pause(pause)
    expected = [replace(everything, until=9.0, read=False), *others]
    assert sorted(map(repr, open_again().pauses())) == sorted(map(repr, expected))


def test_pauses_are_deleted_by_place_and_beginning(store: Store, open_again: Callable[[], Store]) -> None:
    names = [("user", "a"), ("user", "A"), ("user", "a "), ("session", "a"), ("everything", "")]
    pauses = [Pause(Place(*one), since, None, write=False, read=True) for one in names for since in (1.0, 2.0)]  # type: ignore[arg-type]  # kinds
    for pause in pauses:
        store.put_pause(pause)
    store.delete_pauses([replace(pauses[0], until=9.0), pauses[3], Pause(Place(), 3.0, None, False, False)])
    assert set(open_again().pauses()) == {*pauses} - {pauses[0], pauses[3]}


def test_a_small_value_is_kept_by_name(store: Store, open_again: Callable[[], Store]) -> None:
    assert store.state("name") is None
    store.put_state("name", "old")
    store.put_state("other", "")
    store.put_state("name", "new \N{SNOWMAN}")
    store = open_again()
    assert (store.state("name"), store.state("other"), store.state("none")) == ("new \N{SNOWMAN}", "", None)


def test_a_closed_store_can_be_closed_again(store: Store) -> None:
    store.close()
    store.close()


ALICE = Scope(user_id="alice")


@pytest.mark.parametrize("private", [True, 1, 2, 5])
def test_what_is_private_is_found_listed_and_deleted_only_by_who_is_known_surely_enough(
    store: Store, keep: Callable[..., Entry], private: int
) -> None:
    keep("tea", "the tea is green", user_id="alice")
    keep("pin", "the safe is green", user_id="alice", metadata={"private": private})
    for level, keys in ((int(private) - 1, ["tea"]), (int(private), ["pin", "tea"]), (None, ["pin", "tea"])):
        scope = replace(ALICE, auth_level=level)
        assert [entry.key for entry in store.entries(scope)] == keys
        for here in (scope, replace(scope, user_id=None)):
            found = store.search(["green"], here, frozenset({"memory", "turn"}), 10)
            assert sorted(one.record.key for one in found if isinstance(one.record, Entry)) == keys
        assert sorted(r.key for r, _ in store.documents(scope, frozenset({"memory"})) if isinstance(r, Entry)) == keys
    assert store.delete(Selection(replace(ALICE, auth_level=int(private) - 1))).memories == 1
    assert [entry.key for entry in store.entries(ALICE)] == ["pin"]
    assert store.delete(Selection(replace(ALICE, auth_level=int(private)))).memories == 1


def test_a_memory_can_become_private_and_open_again(
    store: Store, keep: Callable[..., Entry], open_again: Callable[[], Store]
) -> None:
    nobody = Scope(auth_level=0)
    keep("pin", "the safe is green")
    keep("pin", "the safe is green", metadata={"private": 3})
    assert (store.entries(nobody), open_again().entries(nobody)) == ([], [])
    store = open_again()
    store.put_entry(Entry("pin", "the safe is green", id="m-9", created_at=1.0, updated_at=9.0), "safe green")
    assert [entry.key for entry in store.entries(nobody)] == ["pin"]


STATUSES: tuple[Status, ...] = ("draft", "accepted", "discard")


@pytest.mark.parametrize("status", [*STATUSES, None])
def test_a_scope_with_a_status_holds_only_memories_of_it(
    store: Store, keep: Keep, say: Callable[..., Turn], status: Status | None
) -> None:
    for one in STATUSES:
        keep(one, "the safe is green", status=one)
    turn = say("green")
    scope, wanted = Scope(status=status), [one for one in STATUSES if status in (None, one)]
    assert sorted(keys(store.entries(scope))) == sorted(wanted)
    found = [one.record for one in store.search(["green"], scope, frozenset({"memory", "turn"}), 10)]
    assert sorted(one.key for one in found if isinstance(one, Entry)) == sorted(wanted)
    assert (turn in found) == (status in (None, "accepted")), "what was said counts as accepted"
    read = [one for one, _ in store.documents(scope, frozenset({"memory", "turn"}))]
    assert sorted(one.key for one in read if isinstance(one, Entry)) == sorted(wanted)
    assert (turn in read) == (turn in found) == (turn in store.turns(scope))
    assert len(store.newest_words(scope, frozenset({"memory"}), 10)) == len(wanted)
    assert store.count(Selection(scope, kinds=frozenset({"memory"}))).memories == len(wanted)


def test_a_memory_changes_its_status_in_its_place(store: Store, keep: Keep, open_again: Callable[[], Store]) -> None:
    kept = keep("safe", "the safe is green", status="draft")
    for status in ("accepted", "discard", "draft"):
        changed = store.put_entry(replace(kept, status=status), "green")  # type: ignore[arg-type]  # a status
        assert changed == replace(kept, status=status)  # type: ignore[arg-type]
        store = open_again()
        assert {one: keys(store.entries(Scope(status=one))) for one in STATUSES} == {
            one: ["safe"] * (one == status) for one in STATUSES
        }
        hits = store.search(["green"], Scope(status=status), frozenset({"memory"}), 5)  # type: ignore[arg-type]
        assert [one.record for one in hits] == [changed]


def test_what_is_pinned_is_in_every_context_of_its_person(store: Store) -> None:
    memory = PersonaMemory(store, MemoryConfig(), lambda: 100.0)
    memory.remember("the router stands behind the piano", Scope(user_id="ada"), key="router", metadata={PINNED: True})
    memory.remember("the bins go out on Tuesday", Scope(user_id="ada"), key="bins")
    fact = memory.facts.add("i am allergic to bees", Scope(user_id="ada"), topics=[PINNED], lang="en-US")
    memory.facts.add("my cat is called Bob", Scope(user_id="ada"), lang="en-US")

    def handed(user_id: str) -> set[str]:
        return {hit.id for hit in memory.context(ContextRequest("good morning", scope=Scope(user_id=user_id))).hits}

    router = memory.get("router", Scope(user_id="ada"))
    assert router is not None
    assert handed("ada") == {router.id, fact.id}
    assert handed("bob") == set()
    memory.update("router", Scope(user_id="ada"), metadata={PINNED: False})
    assert handed("ada") == {fact.id}
