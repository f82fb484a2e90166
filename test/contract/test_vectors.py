"""What every store promises about the vectors of turns and memories."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Document, Entry, Namespace, Scope, Selection, Turn
from ovos_persona_memory.stores.base import vector_math as tables
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.base.vector_math import Floats, normalised, quantised
from ovos_persona_memory.stores.base.vectors import VectorIndex, VectorStore, doc_of
from ovos_persona_memory.stores.postgres import vectors as postgres_vectors
from ovos_persona_memory.stores.sqlite import vectors as sqlite_vectors

DIM = 72
BOTH = frozenset({"turn", "memory"})
INDEX = VectorIndex("model-1", "minilm", DIM)
Say = Callable[..., Turn]
Keep = Callable[..., Entry]
Take = Callable[..., None]


def vector_of(text: str, name: str = INDEX.name) -> Floats:
    """A vector of its own for each text; nothing for one without words."""
    if not text.strip():
        return np.zeros(DIM, dtype=np.float32)
    return normalised(np.random.default_rng([ord(sign) for sign in name + text]).standard_normal(DIM, dtype=np.float32))


@pytest.fixture
def vectors(store: Store) -> VectorStore:
    store.vector_store.start(INDEX)
    return store.vector_store


@pytest.fixture
def take() -> Take:
    """Takes up everything that an index has not."""

    def take_up(vectors: VectorStore, name: str = INDEX.name, part: int = 7) -> None:
        while taken := vectors.pending(name, part):
            vectors.put(name, taken, quantised(np.stack([vector_of(one.text, name) for one in taken])))

    return take_up


def found(vectors: VectorStore, text: str, scope: Scope = Scope(), limit: int = 1, **more: Any) -> list[str]:
    name, kinds = more.get("name", INDEX.name), more.get("kinds", BOTH)
    return [near.record.text for near in vectors.nearest(name, vector_of(text, name), scope, kinds, limit)]


def test_what_is_written_is_taken_up_in_order_and_then_found(
    vectors: VectorStore, say: Say, keep: Keep, take: Take
) -> None:
    texts = ["one", "two", "", "three"]
    for text in texts:
        say(text)
    keep("bins", "four")
    keep("0123456789ab", "five")
    assert vectors.lag(INDEX.name) == vectors.lag(None) == 6
    assert [one.text for one in vectors.pending(INDEX.name, 5)] == [*texts, "bins: four"]
    take(vectors, part=4)
    assert vectors.lag(INDEX.name) == 0
    assert vectors.lag("another") == 6
    near = vectors.nearest(INDEX.name, vector_of("two"), Scope(), BOTH, 9)
    assert len(near) == 5  # what has no words has no vector
    assert near[0].record.text == "two"
    assert near[0].cosine == pytest.approx(1.0, abs=0.01)
    assert [one.cosine for one in near] == sorted((one.cosine for one in near), reverse=True)
    assert found(vectors, "bins: four", kinds=frozenset({"memory"}), limit=9) == ["four", "five"]
    assert len(found(vectors, "one", kinds=frozenset({"turn"}), limit=9)) == 3
    assert found(vectors, "one", limit=0) == []


def test_the_vectors_are_there_after_a_restart(
    store: Store, vectors: VectorStore, say: Say, take: Take, open_again: Callable[[], Store]
) -> None:
    say("one")
    take(vectors)
    say("two")
    again = open_again().vector_store
    assert again.indexes() == [INDEX]
    assert again.lag(INDEX.name) == 1
    take(again)
    assert found(again, "one", limit=5) == ["one", "two"]


def test_the_listener_hears_of_every_new_text_and_of_nothing_else(
    store: Store, vectors: VectorStore, say: Say, keep: Keep
) -> None:
    heard: list[str] = []
    vectors.listener = lambda: heard.append("")
    turn = say("one")
    keep("k", "two")
    assert len(heard) == 2
    store.change_turn(replace(turn, persona_id="p"), "one")
    assert len(heard) == 2
    store.change_turn(replace(turn, text="three"), "three")
    keep("k", "four")
    assert len(heard) == 4


@pytest.mark.parametrize("exact", [tables.EXACT, 40])
def test_a_search_equals_the_plain_scan_in_every_scope(
    store: Store, say: Say, keep: Keep, take: Take, exact: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = store.vector_store
    vectors.start(INDEX)
    monkeypatch.setattr(tables, "EXACT", exact)
    for name in ("EXACT", "LISTED"):
        monkeypatch.setattr(postgres_vectors, name, exact)
    chance = random.Random(7)
    for number in range(240):
        places = {
            "session_id": chance.choice([None, "s", "t"]),
            "persona_id": chance.choice([None, "p", "q"]),
            "site_id": chance.choice([None, "kitchen"]),
            "task_id": chance.choice([None, None, "job"]),
            "user_id": chance.choice(["household", "bob"]),
        }
        if number % 6:
            say(f"turn {number}", **places)
        else:
            keep(f"key {number}", f"memory {number}", status=chance.choice(["draft", "accepted"]), **places)
        if number == 100:
            take(vectors)
            found(vectors, "turn 7")
    take(vectors)
    while store.tidy():
        pass
    scopes = [Scope(), Scope("s"), Scope(None, "bob"), Scope(persona_id="p"), Scope("t", "bob", "q"), Scope("none")]
    scopes += [Scope(site_id="kitchen"), Scope(task_id="job"), Scope("s", "bob", "p", "kitchen"), Scope(None, "eve")]
    scopes += [Scope(status="accepted"), Scope(None, "bob", "p", status="draft"), Scope("s", status="accepted")]
    for scope in scopes:
        for kinds in (BOTH, frozenset({"turn"}), frozenset({"memory"})):
            query = vector_of(f"turn {chance.randrange(240)}")
            plain = VectorStore.nearest(vectors, INDEX.name, query, scope, kinds, 10)
            assert vectors.nearest(INDEX.name, query, scope, kinds, 10) == plain
            docs = [doc_of(near.record) for near in plain] + [999, -999]
            known = vectors.cosines(INDEX.name, query, docs, scope.user_id or "")
            assert known == {doc_of(near.record): near.cosine for near in plain}


@pytest.mark.full
def test_signs_choose_what_is_compared_closely_in_a_large_store(
    vectors: VectorStore, say: Say, take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "EXACT", 100)
    monkeypatch.setattr(tables, "RESCORED", 60)
    for number in range(500):
        say(f"turn {number}", user_id="bob" if number % 50 == 0 else "household")
    take(vectors, part=100)
    for number in range(1, 50):
        query = normalised(vector_of(f"turn {number}") + 0.5 * vector_of("noise"))
        near = vectors.nearest(INDEX.name, query, Scope(), BOTH, 3)
        assert near[0].record.text == f"turn {number}"
        assert near[:1] == VectorStore.nearest(vectors, INDEX.name, query, Scope(), BOTH, 1)
    assert found(vectors, "turn 50", limit=1) != ["turn 50"]
    assert found(vectors, "turn 50", Scope(None, "bob")) == ["turn 50"]


def test_others_change_nothing(vectors: VectorStore, say: Say, take: Take) -> None:
    for number in range(20):
        say(f"turn {number}")
    take(vectors)
    query = vector_of("turn 3")
    alone = vectors.nearest(INDEX.name, query, Scope(), BOTH, 5)
    for number in range(100):
        say(f"turn {number}", user_id=f"user {number % 5}")
    take(vectors)
    assert vectors.nearest(INDEX.name, query, Scope(), BOTH, 5) == alone
    assert vectors.cosines(INDEX.name, query, [alone[0].record.seq], "user 1") == {}


def test_a_changed_text_has_no_vector_until_it_is_taken_up_again(
    store: Store, vectors: VectorStore, say: Say, keep: Keep, take: Take
) -> None:
    turn, entry = say("old turn"), keep("key", "old memory")
    take(vectors)
    assert len(found(vectors, "old turn", limit=9)) == 2
    store.change_turn(replace(turn, text="new turn"), "new turn")
    store.put_entry(replace(entry, text="new memory"), "new memory")
    assert found(vectors, "old turn", limit=9) == []
    assert vectors.cosines(INDEX.name, vector_of("old turn"), [turn.seq, -entry.seq], "household") == {}
    assert vectors.lag(INDEX.name) == 2
    take(vectors)
    assert found(vectors, "new turn", limit=9) == ["new turn", "new memory"]


def test_what_changed_or_went_while_it_was_embedded_gets_no_stale_vector(
    store: Store, vectors: VectorStore, say: Say, take: Take
) -> None:
    changed, gone = say("changed"), say("gone")
    say("stays")
    assert found(vectors, "stays") == []
    taken = vectors.pending(INDEX.name, 9)
    store.change_turn(replace(changed, text="new"), "new")
    store.delete(Selection(Scope(), ids=(gone.id,)))
    vectors.put(INDEX.name, taken, quantised(np.stack([vector_of(one.text) for one in taken])))
    assert found(vectors, "gone", limit=9) == ["stays"]
    assert [one.text for one in vectors.pending(INDEX.name, 9)] == ["new"]
    take(vectors)
    assert found(vectors, "new", limit=9) == ["new", "stays"]


@pytest.mark.parametrize("asked_before", [False, True])
def test_a_vector_goes_where_its_document_goes(
    store: Store, vectors: VectorStore, say: Say, take: Take, asked_before: bool
) -> None:
    turn = say("one", session_id="s")
    say("two", user_id="bob")
    take(vectors)
    if asked_before:
        found(vectors, "one")
        found(vectors, "one", Scope(None, "bob"))
    store.change_turn(replace(turn, persona_id="p", session_id="t"), "one")
    assert found(vectors, "one", Scope(persona_id="q")) == []
    assert found(vectors, "one", Scope("s")) == []
    assert found(vectors, "one", Scope("t", persona_id="p")) == ["one"]
    store.change_turn(replace(turn, user_id="bob"), "one")
    assert found(vectors, "one") == []
    assert found(vectors, "one", Scope(None, "bob"), 9) == ["one", "two"]


@pytest.mark.parametrize("asked_before", [False, True])
def test_a_memory_is_near_only_to_who_asks_for_its_status(
    store: Store, vectors: VectorStore, keep: Keep, take: Take, asked_before: bool
) -> None:
    kept = keep("k", "two", status="draft")
    take(vectors)
    if asked_before:
        found(vectors, "k: two")
    for status in ("draft", "accepted", "discard"):
        store.put_entry(replace(kept, status=status), "two")  # type: ignore[arg-type]  # a status
        near = {one: found(vectors, "k: two", Scope(status=one)) for one in ("draft", "accepted", "discard", None)}  # type: ignore[arg-type]
        assert near == {one: ["two"] * (one in (status, None)) for one in ("draft", "accepted", "discard", None)}


def test_what_is_forgotten_is_not_found(store: Store, vectors: VectorStore, say: Say, keep: Keep, take: Take) -> None:
    for number in range(30):
        say(f"turn {number}", session_id="s" if number % 3 else "t")
    keep("k", "memory")
    take(vectors)
    assert len(found(vectors, "turn 1", limit=99)) == 31
    store.delete(Selection(Scope("t")))
    store.delete(Selection(Scope(), keys=("k",)))
    left = found(vectors, "turn 1", limit=99)
    assert sorted(left) == sorted(f"turn {number}" for number in range(30) if number % 3)
    plain = VectorStore.nearest(vectors, INDEX.name, vector_of("turn 1"), Scope(), BOTH, 99)
    assert left == [near.record.text for near in plain]
    store.delete(Selection(Scope()))
    assert found(vectors, "turn 1", limit=99) == []


@pytest.mark.parametrize("dropped", [False, True])
def test_an_undone_transaction_leaves_the_vectors_as_they_were(
    store: Store, vectors: VectorStore, say: Say, take: Take, dropped: bool
) -> None:
    turn = say("one")
    say("two")
    take(vectors)
    before = found(vectors, "one", limit=9)
    with pytest.raises(ZeroDivisionError), store.transaction():
        say("three")
        take(vectors)
        store.change_turn(replace(turn, user_id="bob"), "one")
        store.delete(Selection(Scope(), ids=("turn-1",)))
        if dropped:
            vectors.drop(INDEX.name)
        assert 1 // 0
    assert vectors.indexes() == [INDEX]
    assert (found(vectors, "one", limit=9), vectors.lag(INDEX.name)) == (before, 0)


def test_what_was_taken_up_in_vain_waits_again(store: Store, vectors: VectorStore, say: Say, take: Take) -> None:
    say("one")
    with pytest.raises(ZeroDivisionError), store.transaction():
        take(vectors)
        assert 1 // 0
    assert (vectors.lag(INDEX.name), found(vectors, "one")) == (1, [])
    take(vectors)
    assert found(vectors, "one") == ["one"]


def test_one_index_is_built_while_another_answers(store: Store, vectors: VectorStore, say: Say, take: Take) -> None:
    for number in range(30):
        say(f"turn {number}")
    take(vectors)
    other = VectorIndex("model-2", "static", DIM)
    vectors.start(other)
    vectors.start(other)
    with pytest.raises(StoreError):
        vectors.start(VectorIndex("model-3", "", DIM))
    assert vectors.indexes() == [INDEX, other]
    half = vectors.pending(other.name, 10)
    vectors.put(other.name, half, quantised(np.stack([vector_of(one.text, other.name) for one in half])))
    assert vectors.lag(other.name) == 20
    assert found(vectors, "turn 25") == ["turn 25"]
    assert len(found(vectors, "turn 5", name=other.name, limit=99)) == 10
    take(vectors, other.name)
    while not vectors.drop(INDEX.name):
        continue
    assert vectors.indexes() == [other]
    assert found(vectors, "turn 25") == []
    assert found(vectors, "turn 25", name=other.name) == ["turn 25"]
    vectors.start(INDEX)
    assert vectors.indexes() == [other, INDEX]
    assert vectors.lag(INDEX.name) == 30
    assert vectors.drop("unknown")


# documents


def test_documents_are_taken_up_too_where_nobody_gave_them_an_embedding(
    store: Store, vectors: VectorStore, say: Say, take: Take
) -> None:
    def put(name: str, text: str, embedding: Floats | None = None, space: str = "default") -> None:
        store.document_store.put(Document(name, text, namespace=space), text, embedding)

    heard: list[str] = []
    vectors.listener = lambda: heard.append("")
    put("a", "first")
    put("b", "second")
    put("c", "third", space="own")
    put("d", "given", vector_of("x"), space="own")
    say("a turn")
    assert (vectors.lag(INDEX.name), len(heard)) == (5, 5)
    take(vectors, part=2)
    assert vectors.lag(INDEX.name) == 0
    held = {name: vector.tolist() for name, vector in vectors.documents(INDEX.name, Namespace())}
    assert held == {name: quantised(vector_of(text)).tolist() for name, text in (("a", "first"), ("b", "second"))}
    assert [name for name, _ in vectors.documents(INDEX.name, Namespace(name="own"))] == ["c"]
    assert vectors.documents(INDEX.name, Namespace("bob")) == vectors.documents("another", Namespace()) == []
    assert found(vectors, "first", limit=9) == ["a turn"]
    put("a", "changed")
    assert [name for name, _ in vectors.documents(INDEX.name, Namespace())] == ["b"]
    taken = vectors.pending(INDEX.name, 9)
    store.document_store.delete(Namespace(), ["a", "b"])
    vectors.put(INDEX.name, taken, quantised(np.stack([vector_of(one.text) for one in taken])))
    assert vectors.documents(INDEX.name, Namespace()) == []


# in the files


@pytest.fixture
def bytes_left(home: Path) -> Callable[[str], list[str]]:
    """The files in which any eight numbers in a row of a text's vector can still be read."""

    def left(text: str, name: str = INDEX.name) -> list[str]:
        whole = quantised(vector_of(text, name)[None, :])[0].tobytes()
        parts = [whole[start : start + 8] for start in range(0, DIM - 8, 8)]
        files = [path for path in home.rglob("*") if path.is_file()]
        return [path.name for path in files if any(part in path.read_bytes() for part in parts)]

    return left


@pytest.mark.parametrize("backend", ["sqlite"])
def test_no_byte_of_the_vector_of_a_forgotten_text_is_left(
    store: Store, vectors: VectorStore, say: Say, take: Take, bytes_left: Callable[[str], list[str]]
) -> None:
    turns = [say(f"turn {number}") for number in range(400)]
    take(vectors, part=64)
    found(vectors, "turn 1")
    assert bytes_left("turn 123")
    chance = random.Random(3)
    gone = chance.sample(range(400), 150)
    for start in range(0, 150, 30):
        store.delete(Selection(Scope(), ids=tuple(turns[number].id for number in gone[start : start + 30])))
        say(f"more {start}")
        take(vectors)
    store.change_turn(replace(turns[next(n for n in range(400) if n not in gone)], text="x", id="turn-0"), "x")
    store.purge()
    assert [number for number in gone if bytes_left(f"turn {number}")] == []
    assert bytes_left("more 0")


@pytest.mark.parametrize("backend", ["sqlite"])
def test_no_byte_of_a_dropped_index_is_left(
    store: Store,
    vectors: VectorStore,
    say: Say,
    take: Take,
    bytes_left: Callable[..., list[str]],
    open_again: Callable[[], Store],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sqlite_vectors, "CHUNK", 50)
    for number in range(230):
        say(f"turn {number}")
    other = VectorIndex("model-2", "static", DIM)
    vectors.start(other)
    take(vectors)
    take(vectors, other.name)
    parts = 1
    while not vectors.drop(INDEX.name):
        parts += 1
    assert parts == 5
    again = open_again().vector_store
    assert [number for number in range(0, 230, 10) if bytes_left(f"turn {number}")] == []
    assert bytes_left("turn 10", other.name)
    assert found(again, "turn 7", name=other.name) == ["turn 7"]


def test_what_is_read_ahead_changes_no_answer(vectors: VectorStore, say: Say, take: Take) -> None:
    for n in range(30):
        say(f"text {n}", user_id=f"u{n % 3}")
    take(vectors)
    vectors.warm(INDEX.name)
    vectors.warm_others(INDEX.name, lambda: False)
    assert [found(vectors, f"text {n}", Scope(user_id=f"u{n % 3}")) for n in range(30)] == [
        [f"text {n}"] for n in range(30)
    ]
