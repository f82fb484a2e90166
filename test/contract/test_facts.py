"""What every store promises about facts."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Decision, Fact, FactChange, Scope, Selection, Turn
from ovos_persona_memory.stores.base.facts import (
    DECISIONS_KEPT,
    DECISIONS_KEPT_S,
    EVERY_STATUS,
    FactQuery,
    FactStore,
    FoundFact,
)
from ovos_persona_memory.stores.base.store import Store

Put = Callable[..., Fact]
MARK = "xylophonequartz"


@pytest.fixture
def facts(store: Store) -> FactStore:
    return store.fact_store


@pytest.fixture
def put(facts: FactStore) -> Put:
    """Puts a fact whose words are those of its text."""

    def put_it(fact_id: str, text: str, **fields: Any) -> Fact:
        return facts.put(Fact(**{"id": fact_id, "text": text, "created_at": 5.0, "last_seen_at": 5.0, **fields}), text)

    return put_it


def ids(found: list[Fact]) -> list[str]:
    return [fact.id for fact in found]


WHOLE = Fact(
    text="größe 猫",
    slot="pet",
    subject="wife",
    thing="cat",
    value="Bob",
    id="f",
    user_id="bob",
    speaker="Ann",
    lang="de-DE",
    topics=("home", "food"),
    confidence=0.25,
    decay="never",
    created_at=1.5,
    last_seen_at=2.5,
    valid_from=3.5,
    valid_until=4.5,
    status="superseded",
    superseded_by="g",
    turn_id="t",
    session_id="s",
    persona_id="p",
    site_id="kitchen",
    task_id="k",
    trust="session",
    private=3,
)


def test_a_fact_is_kept_as_it_was_put(facts: FactStore, open_again: Callable[[], Store]) -> None:
    kept = facts.put(WHOLE, "größe 猫")
    assert kept.seq > 0
    assert replace(kept, seq=0) == WHOLE
    again = open_again().fact_store
    assert again.fact("f") == kept
    assert again.fact("F") is None


def test_a_fact_with_a_known_id_is_replaced_in_its_place(facts: FactStore, put: Put) -> None:
    first, _ = put("a", "old words"), put("b", "others")
    second = put("a", "new words", value="x")
    assert second.seq == first.seq
    assert facts.fact("a") == second
    assert [found.record.id for found in facts.search(["old"], Scope(), 5)] == []
    assert [found.record.id for found in facts.search(["new"], Scope(), 5)] == ["a"]


def test_facts_are_listed_the_last_said_first(facts: FactStore, put: Put) -> None:
    for fact_id, seen in (("a", 3.0), ("b", 9.0), ("c", 3.0), ("d", 1.0)):
        put(fact_id, fact_id, last_seen_at=seen)
    put("other", "x", user_id="bob")
    put("gone", "x", status="superseded")
    assert ids(facts.facts(FactQuery(Scope()))) == ["b", "c", "a", "d"]
    assert ids(facts.facts(FactQuery(Scope(), limit=2, offset=1))) == ["c", "a"]
    assert ids(facts.facts(FactQuery(Scope(user_id="bob")))) == ["other"]
    assert ids(facts.facts(FactQuery(Scope(), EVERY_STATUS, limit=2, offset=1))) == ["gone", "c"]
    assert len(facts.facts(FactQuery(Scope.everyone(), EVERY_STATUS))) == 6


def test_facts_of_a_slot_and_of_a_time_are_listed(facts: FactStore, put: Put) -> None:
    put("old", "x", slot="home", status="superseded", valid_from=10.0, valid_until=20.0)
    put("new", "x", slot="home", valid_from=20.0)
    put("name", "x", slot="name", valid_from=0.0)
    both = frozenset({"active", "superseded"})
    for at, expected in ((5.0, []), (10.0, ["old"]), (19.9, ["old"]), (20.0, ["new"]), (99.0, ["new"])):
        assert ids(facts.facts(FactQuery(Scope(), both, "home", at))) == expected


def test_facts_that_matter_to_a_topic_are_listed(facts: FactStore, put: Put) -> None:
    for number, topics in enumerate([("home", "größe"), ("food",), (), ("food", "home")]):
        put(f"f{number}", "x", topics=topics, last_seen_at=float(number))
    put("other", "x", topics=("home",), user_id="bob")
    for topic, expected in (("home", ["f3", "f0"]), ("größe", ["f0"]), ("hom", []), ("h_m%", []), ("'", []), ("x", [])):
        assert ids(facts.facts(FactQuery(Scope(), topic=topic))) == expected
    assert ids(facts.facts(FactQuery(Scope(), topic="home", limit=1, offset=1))) == ["f0"]


@pytest.mark.parametrize("name", ["session_id", "persona_id", "site_id", "task_id"])
def test_a_scope_narrows_facts(facts: FactStore, put: Put, name: str) -> None:
    put("one", "word", **{name: "a"})
    put("two", "word", **{name: "b"})
    put("none", "word")
    expected = {"one", "none"} if name == "persona_id" else {"one"}
    scope = Scope(**{name: "a"})
    assert set(ids(facts.facts(FactQuery(scope)))) == expected
    assert {found.record.id for found in facts.search(["word"], scope, 9)} == expected


def test_what_is_private_is_given_to_its_user_when_surely_known(facts: FactStore, put: Put) -> None:
    for level in (0, 1, 3):
        put(f"p{level}", "word", private=level)
    for auth_level, expected in ((None, {"p0", "p1", "p3"}), (0, {"p0"}), (2, {"p0", "p1"}), (5, {"p0", "p1", "p3"})):
        scope = Scope(auth_level=auth_level)
        assert set(ids(facts.facts(FactQuery(scope)))) == expected
        assert {found.record.id for found in facts.search(["word"], scope, 9)} == expected


def test_the_facts_of_a_place_are_told_by_user_subject_and_thing(facts: FactStore, put: Put) -> None:
    fact = put("a", "x", slot="likes", thing="tea", valid_from=5.0)
    put("b", "x", slot="dislikes", thing="tea", valid_from=2.0, status="superseded")
    for n, fields in enumerate(
        ({"thing": "coffee"}, {"subject": "wife"}, {"speaker": "Ann"}, {"user_id": "bob"}, {"slot": "pet"})
    ):
        put(f"n{n}", "x", **{"slot": "likes", "thing": "tea", **fields})
    assert ids(facts.at_place("household", fact.place)) == ["b", "a"]
    assert ids(facts.at_place("household", fact.place, 1)) == ["a"]
    assert ids(facts.at_place("household", fact.place, 0)) == []


def test_the_facts_of_turns_are_found(facts: FactStore, put: Put) -> None:
    put("a", "x", turn_id="t1")
    put("b", "x", turn_id="t2", status="superseded")
    put("c", "x", turn_id="t1", status="waiting")
    put("d", "x")
    assert ids(facts.of_turns(["t1"])) == ["a", "c"]
    assert ids(facts.of_turns(["t2", "t3"])) == ["b"]
    assert ids(facts.of_turns([])) == []


WORDS = ["alpha", "beta", "gamma", "delta", "omega", "größe", "猫"]


def random_facts(put: Put, seed: int) -> None:
    chance = random.Random(seed)
    for n in range(80):
        put(
            f"f{n}",
            " ".join(chance.choices(WORDS, k=chance.randint(1, 4))),
            user_id=chance.choice(["household", "bob"]),
            session_id=chance.choice(["s1", "s2", None]),
            persona_id=chance.choice(["p", "q", None]),
            status=chance.choice(["active", "active", "superseded", "waiting"]),
        )


def shape(found: list[FoundFact]) -> list[tuple[str, float, list[str]]]:
    return [(one.record.id, one.score, sorted(one.words)) for one in found]


@pytest.mark.parametrize("seed", range(3))
def test_the_fast_search_over_facts_equals_the_plain_scan(facts: FactStore, put: Put, seed: int) -> None:
    random_facts(put, seed)
    scopes = [Scope(), Scope(user_id="bob"), Scope(session_id="s1"), Scope(persona_id="p"), Scope.everyone()]
    asked = [["alpha"], ["alpha", "猫"], ["beta", "gamma", "nowhere"], ["nowhere"], [], WORDS]
    for scope, words, limit in product(scopes, asked, (0, 1, 5, 100)):
        assert shape(facts.search(words, scope, limit)) == shape(FactStore.search(facts, words, scope, limit))


def test_only_active_facts_are_found(facts: FactStore, put: Put) -> None:
    fact = put("a", "cat bob")
    put("b", "cat tom", status="waiting")
    facts.put(replace(fact, status="superseded"), "cat bob")
    assert facts.search(["cat"], Scope(), 5) == []
    facts.put(fact, "cat bob")
    assert ids([one.record for one in facts.search(["cat"], Scope(), 5)]) == ["a"]


def test_others_facts_change_no_score(facts: FactStore, put: Put) -> None:
    put("mine", "cat bob")
    before = facts.search(["cat"], Scope(), 5)
    for n in range(5):
        put(f"x{n}", "cat", user_id="bob")
    assert facts.search(["cat"], Scope(), 5) == before


def test_changes_come_in_the_order_in_which_they_were_noted(facts: FactStore, open_again: Callable[[], Store]) -> None:
    first = FactChange("a", "learned", 5.0, "bob", "t1", None, "new")
    second = FactChange("a", "corrected", 4.0, "bob", None, "old", "new")
    third = FactChange("a", "said_again", 6.0)
    for change in (first, FactChange("b", "learned", 1.0), second, third):
        facts.add_change(change)
    assert open_again().fact_store.changes(["a"]) == [first, second, third]
    assert open_again().fact_store.changes(["none"]) == []


def test_decisions_come_newest_first_and_only_the_newest_are_kept(facts: FactStore) -> None:
    for n in range(DECISIONS_KEPT + 3):
        facts.add_decision(Decision("refused", "question", 100.0 + n / 100, "bob" if n % 2 else "household", f"t{n}"))
    found = facts.decisions(None, 10_000)
    assert [one.turn_id for one in found] == [f"t{n}" for n in range(DECISIONS_KEPT + 2, 2, -1)]
    assert [one.turn_id for one in facts.decisions("bob", 2)] == [f"t{DECISIONS_KEPT + 1}", f"t{DECISIONS_KEPT - 1}"]
    last = Decision("learned", "stated", 200.0 + DECISIONS_KEPT_S, "bob", "t", "f", "name")
    facts.add_decision(last)
    assert facts.decisions(None, 10_000) == [last]


def test_a_deleted_fact_takes_its_changes(facts: FactStore, put: Put) -> None:
    put("a", "x")
    put("b", "x")
    for fact_id in "ab":
        facts.add_change(FactChange(fact_id, "learned", 1.0))
    assert facts.delete(["a", "a", "none"]) == 1
    assert facts.fact("a") is None
    assert facts.changes(["a"]) == []
    assert (ids(facts.facts(FactQuery(Scope()))), len(facts.changes(["b"]))) == (["b"], 1)
    assert ids([one.record for one in facts.search(["x"], Scope(), 5)]) == ["b"]


SELECTIONS: list[tuple[Selection, set[str]]] = [
    (Selection(Scope()), {"old", "new", "said", "waiting"}),
    (Selection(Scope(), kinds=frozenset({"turn", "memory"})), set()),
    (Selection(Scope(), kinds=frozenset({"fact"})), {"old", "new", "said", "waiting"}),
    (Selection(Scope(), ids=("old",)), {"old"}),
    (Selection(Scope(), ids=("t1",)), {"said"}),
    (Selection(Scope(), words=(frozenset({"cat", "katze"}),)), {"old", "waiting"}),
    (Selection(Scope(), words=(frozenset({"cat"}), frozenset({"dog"}))), {"waiting"}),
    (Selection(Scope(), words=()), set()),
    (Selection(Scope(), spare=("old",)), {"new", "said", "waiting"}),
    (Selection(Scope(auth_level=0)), {"old", "said", "waiting"}),
    (Selection(Scope(), keys=("new", "nowhere")), {"new"}),
    (Selection(Scope(), since=20.0), {"new"}),
    (Selection(Scope(), until=20.0), {"old", "said", "waiting"}),
    (Selection(Scope(), since=10.0, until=10.5), {"waiting"}),
    (Selection(Scope(), source="p"), {"old"}),
    (Selection(Scope(session_id="s")), {"new"}),
    (Selection(Scope(site_id="kitchen")), {"old"}),
    (Selection(Scope(user_id="bob")), {"bobs"}),
    (Selection(Scope.everyone()), {"old", "new", "said", "waiting", "bobs"}),
]


@pytest.mark.parametrize(("selection", "gone"), SELECTIONS)
def test_what_is_selected_is_deleted_and_nothing_else(
    store: Store, put: Put, selection: Selection, gone: set[str]
) -> None:
    put("old", "x cat", created_at=1.0, site_id="kitchen", persona_id="p")
    put("new", "x", created_at=20.0, session_id="s", last_seen_at=1.0, private=1)
    put("said", "x", created_at=5.0, last_seen_at=99.0, turn_id="t1")
    put("waiting", "dog cat", created_at=10.0, status="waiting")
    put("bobs", "x", created_at=15.0, user_id="bob")
    before = set(ids(store.fact_store.facts(FactQuery(Scope.everyone(), EVERY_STATUS))))
    assert store.count(selection).facts == len(gone)
    assert store.delete(selection).facts == len(gone)
    left = set(ids(store.fact_store.facts(FactQuery(Scope.everyone(), EVERY_STATUS))))
    assert before - left == gone


def test_a_fact_that_goes_with_its_turn_is_not_counted_twice(store: Store, put: Put, say: Callable[..., Turn]) -> None:
    turn = say("x", id="t1")
    put("a", "x", turn_id=turn.id)
    put("b", "x", turn_id="gone before")
    forgotten = store.delete(Selection(Scope()))
    assert (forgotten.turns, forgotten.facts, forgotten.total) == (1, 1, 2)


def test_decisions_go_with_everything_of_their_user(store: Store, facts: FactStore) -> None:
    for user_id in ("household", "bob"):
        facts.add_decision(Decision("refused", "question", 1.0, user_id))
    store.delete(Selection(Scope(session_id="s")))
    assert len(facts.decisions(None, 9)) == 2
    store.delete(Selection(Scope()))
    assert [one.user_id for one in facts.decisions(None, 9)] == ["bob"]
    store.delete(Selection(Scope.everyone()))
    assert facts.decisions(None, 9) == []


def test_nothing_of_a_forgotten_fact_is_left_in_the_files(
    store: Store, facts: FactStore, put: Put, left_in_files: Callable[[str], list[str]], home: Path
) -> None:
    for n in range(200):
        put(f"n{n}", f"filler {n} " * 5, thing=f"thing {n}")
    put("a", f"{MARK} one", value=f"{MARK} two", thing=f"{MARK} three", speaker=f"{MARK} four")
    facts.add_change(FactChange("a", "corrected", 1.0, old=f"{MARK} five", new=f"{MARK} six"))
    put("a", "changed")
    if store.durable:
        assert left_in_files(MARK)
    store.delete(Selection(Scope(), ids=("a",)))
    store.purge()
    assert left_in_files(MARK) == []


def test_an_undone_transaction_leaves_facts_as_they_were(store: Store, facts: FactStore, put: Put) -> None:
    put("a", "cat")
    facts.add_change(FactChange("a", "learned", 1.0))
    with pytest.raises(RuntimeError), store.transaction():
        put("a", "dog")
        put("b", "cat")
        facts.add_change(FactChange("b", "learned", 1.0))
        facts.add_decision(Decision("learned", "stated", 1.0))
        facts.delete(["a"])
        raise RuntimeError
    assert ids(facts.facts(FactQuery(Scope()))) == ["a"]
    assert [len(facts.changes([fact_id])) for fact_id in "ab"] == [1, 0]
    assert facts.decisions(None, 5) == []
    assert ids([one.record for one in facts.search(["cat"], Scope(), 5)]) == ["a"]


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
def test_a_fact_that_cannot_be_kept_is_refused(facts: FactStore, bad: str) -> None:
    for fact in (replace(WHOLE, text=bad), replace(WHOLE, value=bad), replace(WHOLE, topics=(bad,))):
        with pytest.raises(StoreError):
            facts.put(fact, "x")
    with pytest.raises(StoreError):
        facts.add_change(FactChange("a", "learned", 1.0, new=bad))
    assert facts.facts(FactQuery(Scope.everyone(), EVERY_STATUS)) == []


def test_active_facts_are_counted(store: Store, put: Put) -> None:
    put("a", "x")
    put("b", "x", user_id="bob")
    put("c", "x", status="waiting")
    assert store.counts().facts == 2


def test_facts_of_two_users_become_those_of_one_and_the_last_said_holds(facts: FactStore, put: Put) -> None:
    old = put("old", "x", slot="home", user_id="bob", last_seen_at=3.0, valid_from=3.0)
    put("new", "x", slot="home", last_seen_at=9.0, valid_from=9.0)
    put("other", "x", slot="name", user_id="bob")
    facts.add_change(FactChange("old", "learned", 3.0, "bob"))
    facts.add_decision(Decision("learned", "stated", 3.0, "bob"))
    assert facts.merge_user("bob", "household") == 2
    assert facts.held("bob", EVERY_STATUS) == []
    assert set(ids(facts.facts(FactQuery(Scope())))) == {"new", "other"}
    kept = facts.fact("old")
    assert kept is not None
    assert (kept.status, kept.superseded_by, kept.valid_until) == ("superseded", "new", 9.0)
    assert kept.user_id != old.user_id
    assert [one.user_id for one in facts.changes(["old"])] == ["household"]
    assert facts.decisions("bob", 9) == []


def test_of_the_facts_of_two_users_the_last_learned_holds_where_a_clock_ran_ahead(facts: FactStore, put: Put) -> None:
    put("ahead", "x", slot="home", last_seen_at=5000.0, valid_from=5000.0)
    put("since", "x", slot="home", user_id="bob", last_seen_at=9.0, valid_from=9.0)
    assert facts.merge_user("bob", "household", now=10.0) == 1
    assert ids(facts.facts(FactQuery(Scope()))) == ["since"]


def test_what_was_decided_before_a_time_goes(facts: FactStore) -> None:
    for at, user_id in ((1.0, "ann"), (2.0, "bob"), (3.0, "ann")):
        facts.add_decision(Decision("learned", "stated", at, user_id))
    assert facts.delete_decisions_before(3.0) == 2
    assert [one.at for one in facts.decisions(None, 9)] == [3.0]
    assert facts.delete_decisions_before(3.0) == 0
