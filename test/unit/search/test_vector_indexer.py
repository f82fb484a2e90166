"""Vectors made in the background."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import ConfigError, StoreError
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Selection, Turn
from ovos_persona_memory.search import vector_indexer
from ovos_persona_memory.search.embedder import Embedder, Kind
from ovos_persona_memory.search.vector_indexer import Indexer
from ovos_persona_memory.stores.base.vector_math import Floats, normalised
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

BOTH = frozenset({"turn", "memory"})


class Fake:
    """A vector by the letters of a text; it can be held up, counted and made to fail."""

    kind: Kind = "sentence"

    def __init__(self, name: str, dim: int = 32) -> None:
        self.name, self.dim = name, dim
        self.seen: list[str] = []
        self.may_go = threading.Event()
        self.may_go.set()
        self.fails = False
        self.slow_s = 0.0

    def embed(self, texts: Sequence[str]) -> Floats:
        self.may_go.wait(10)
        time.sleep(self.slow_s)
        if self.fails:
            raise ValueError("the model is broken")
        self.seen += texts
        rows = np.full((len(texts), self.dim), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for sign in text:
                row[(ord(sign) + len(self.name)) % self.dim] += 1
        return normalised(rows)


class Shelf:
    """Embedders by name, and how often each was opened."""

    def __init__(self) -> None:
        self.held = {"one": Fake("one"), "other": Fake("other-2"), "third": Fake("third-33")}
        self.opened: list[str] = []

    def __call__(self, name: str) -> Embedder:
        self.opened.append(name)
        if name not in self.held:
            raise ConfigError(f"{name} is not here")
        return self.held[name]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> InMemoryStore:
    for name in ("QUIET_S", "YIELD_S", "AGAIN_S"):
        monkeypatch.setattr(vector_indexer, name, 0.001)
    return InMemoryStore()


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def start(store: InMemoryStore, shelf: Shelf) -> Iterator[Callable[..., Indexer]]:
    """Starts an indexer after stopping the one before."""
    started: list[Indexer] = []

    def start_it(setting: str = "one", load_wait_s: float = 0.0) -> Indexer:
        for one in started:
            one.stop()
        started.append(Indexer(store.vector_store, setting, shelf, load_wait_s))
        started[-1].start()
        return started[-1]

    yield start_it
    for fake in shelf.held.values():
        fake.may_go.set()
    for one in started:
        one.stop()


def say(store: InMemoryStore, *texts: str) -> list[Turn]:
    turns = [Turn("user", text, 1.0, id=f"turn-{text}") for text in texts]
    return [store.add_turn(turn, turn.text) for turn in turns]


def until(condition: Callable[[], bool]) -> None:
    deadline, pause = time.monotonic() + 10, threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        pause.wait(0.002)


def nearest(working: Indexer, text: str) -> list[str]:
    meaning = working.meaning()
    if meaning is None:
        return []
    found = meaning.nearest(meaning.embed_question(text), Scope(), BOTH, 99)
    return [near.record.text for near in found]


def test_what_is_written_gets_its_vector_soon_after(
    store: InMemoryStore, shelf: Shelf, start: Callable[..., Indexer]
) -> None:
    working = start()
    assert (working.lag, working.meaning(), shelf.opened) == (0, None, [])
    say(store, "abc", "", "xyz")
    until(lambda: working.lag == 0)
    assert nearest(working, "abc") == ["abc", "xyz"]
    say(store, "abd")
    until(lambda: working.lag == 0)
    assert nearest(working, "abc") == ["abc", "abd", "xyz"]
    assert sorted(shelf.held["one"].seen) == ["abc", "abc", "abc", "abd", "xyz"]
    assert working.state() == {"embedder": "one", "model": "one", "answering": "one", "problem": None}


def test_without_an_embedder_nothing_is_done(store: InMemoryStore, start: Callable[..., Indexer]) -> None:
    working = start("none")
    say(store, "abc")
    assert (working.lag, working.meaning(), working.state()["embedder"]) == (0, None, "none")
    assert store.vector_store.listener is None
    assert store.vector_store.indexes() == []


def test_nothing_is_embedded_twice_after_a_restart(
    store: InMemoryStore, shelf: Shelf, start: Callable[..., Indexer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_indexer, "TAKEN", 4)
    monkeypatch.setattr(vector_indexer, "TOGETHER", 2)
    texts = [f"text {number}" for number in range(40)]
    say(store, *texts)
    model = shelf.held["one"]
    model.slow_s = 0.005
    working = start()
    until(lambda: len(model.seen) > 8)
    working.stop()
    assert working.lag > 0
    again = start()
    until(lambda: again.lag == 0)
    assert sorted(nearest(again, "text")) == sorted(texts)
    assert len([text for text in model.seen if text in texts]) < 40 + 4 + 1


def test_a_question_waits_for_a_model_that_is_being_loaded_only_as_long_as_it_may(
    store: InMemoryStore, shelf: Shelf, start: Callable[..., Indexer]
) -> None:
    say(store, "abc")
    working = start()
    until(lambda: working.lag == 0)
    shelf.opened.clear()
    patient = start(load_wait_s=10.0)
    assert shelf.opened == []  # nothing to embed and nobody asks
    assert nearest(patient, "abc") == ["abc"]
    hurried = start(load_wait_s=0.0)
    until(lambda: hurried.state()["answering"] == "one")


def test_what_is_forgotten_or_changed_while_the_model_works_has_no_vector(
    store: InMemoryStore, shelf: Shelf, start: Callable[..., Indexer]
) -> None:
    model = shelf.held["one"]
    working = start()
    say(store, "first")
    until(lambda: working.lag == 0)
    model.may_go.clear()
    say(store, "gone", "stays")
    until(lambda: not store.vector_store.listener or working.lag == 2)
    store.delete(Selection(Scope(), ids=("turn-gone",)))
    model.may_go.set()
    until(lambda: working.lag == 0)
    assert sorted(nearest(working, "gone")) == ["first", "stays"]


# another embedder


def indexed(store: InMemoryStore, start: Callable[..., Indexer], setting: str = "one") -> None:
    say(store, *(f"text {number}" for number in range(30)))
    working = start(setting)
    until(lambda: working.lag == 0)


def test_the_old_vectors_answer_until_the_new_ones_are_complete(
    store: InMemoryStore, shelf: Shelf, start: Callable[..., Indexer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_indexer, "TAKEN", 5)
    indexed(store, start)
    new = shelf.held["other"]
    new.may_go.clear()
    working = start("other")
    until(lambda: working.state()["answering"] == "one")
    assert working.lag == 30
    assert len(nearest(working, "text 7")) == 30
    assert [index.name for index in store.vector_store.indexes()] == ["one", "other-2"]
    new.may_go.set()
    until(lambda: working.lag == 0 and len(store.vector_store.indexes()) == 1)
    assert [index.name for index in store.vector_store.indexes()] == ["other-2"]
    assert (working.state()["answering"], len(nearest(working, "text 7"))) == ("other-2", 30)


def test_a_change_that_was_cut_short_goes_on_and_another_one_begins_anew(
    store: InMemoryStore, shelf: Shelf, start: Callable[..., Indexer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_indexer, "TAKEN", 5)
    indexed(store, start)
    new = shelf.held["other"]
    working = start("other")
    until(lambda: len(new.seen) >= 5)
    working.stop()
    half = working.lag
    again = start("other")
    until(lambda: again.lag == 0)
    if half:  # else it was too fast to be cut short
        assert len(new.seen) < 60
    third = shelf.held["third"]
    third.may_go.clear()
    cut = start("third")
    until(lambda: len(store.vector_store.indexes()) == 2)
    third.may_go.set()
    cut.stop()
    back = start("one")
    until(lambda: back.lag == 0 and len(store.vector_store.indexes()) == 1)
    assert back.state()["answering"] == "one"


def test_going_back_before_the_change_is_complete_drops_what_was_begun(
    store: InMemoryStore, shelf: Shelf, start: Callable[..., Indexer]
) -> None:
    indexed(store, start)
    new = shelf.held["other"]
    new.may_go.clear()
    working = start("other")
    until(lambda: len(store.vector_store.indexes()) == 2)
    new.fails = True
    new.may_go.set()
    until(lambda: working.state()["problem"] is not None)
    back = start("one")
    until(lambda: [index.name for index in store.vector_store.indexes()] == ["one"])
    assert back.lag == 0
    until(lambda: len(nearest(back, "text 7")) == 30)


def test_where_the_old_embedder_is_gone_words_answer_until_the_new_vectors_are_complete(
    store: InMemoryStore, shelf: Shelf, start: Callable[..., Indexer]
) -> None:
    indexed(store, start)
    del shelf.held["one"]
    new = shelf.held["other"]
    new.may_go.clear()
    working = start("other")
    until(lambda: working.state()["model"] == "other-2")
    assert working.meaning() is None
    new.may_go.set()
    until(lambda: working.state()["answering"] == "other-2")


def test_a_model_of_the_same_name_and_another_size_begins_anew(
    store: InMemoryStore, shelf: Shelf, start: Callable[..., Indexer]
) -> None:
    indexed(store, start)
    shelf.held["one"] = Fake("one", dim=48)
    working = start()
    until(lambda: working.state()["answering"] == "one" and working.lag == 0)
    assert store.vector_store.indexes()[0].dim == 48
    assert len(nearest(working, "text 7")) == 30


# what goes wrong


def test_an_embedder_that_cannot_be_had_leaves_words_and_says_why(
    store: InMemoryStore, start: Callable[..., Indexer]
) -> None:
    say(store, "abc")
    working = start("missing")
    until(lambda: working.state()["problem"] is not None)
    assert working.state()["problem"] == "missing is not here"
    assert (working.lag, working.meaning()) == (0, None)


def test_a_model_that_fails_leaves_words_and_says_why(
    store: InMemoryStore, shelf: Shelf, start: Callable[..., Indexer]
) -> None:
    shelf.held["one"].fails = True
    say(store, "abc")
    working = start()
    until(lambda: working.state()["problem"] is not None)
    assert working.state()["problem"] == "ValueError: the model is broken"
    assert (working.lag, working.meaning()) == (0, None)


def test_a_store_that_fails_is_tried_again(
    store: InMemoryStore, start: Callable[..., Indexer], monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter([True, True])
    put = store.vector_store.put

    def failing(*arguments: object) -> None:
        if next(failures, False):
            raise StoreError("no room left")
        put(*arguments)  # type: ignore[arg-type]  # as it came

    monkeypatch.setattr(store.vector_store, "put", failing)
    say(store, "abc")
    working = start()
    until(lambda: working.lag == 0)
    assert nearest(working, "abc") == ["abc"]


# documents


def test_documents_are_found_by_meaning_where_nobody_gave_embeddings(
    store: InMemoryStore, start: Callable[..., Indexer]
) -> None:
    working = start()
    memory = PersonaMemory(store, MemoryConfig(), indexer=working)
    plain, own = memory.documents(), memory.documents(namespace="own")
    plain.upsert("abcabc", "near")
    plain.upsert("xyzzy", "far", {"a": 1})
    own.upsert("abcabc", "given", embedding=[1.0, 0.0])
    until(lambda: working.lag == 0)
    assert [one.id for one in plain.search("aabbcc")] == ["near"]
    assert [one.id for one in plain.search("xxyyzz")][:1] == ["far"]
    assert plain.search("aabbcc", filter={"a": 1}) == []
    assert own.search("aabbcc") == []
    assert [one.id for one in own.search("abcabc")] == ["given"]
    plain.upsert("ccbbaa", "near")
    until(lambda: working.lag == 0)
    assert [(one.id, one.text) for one in plain.search("aabbcc")] == [("near", "ccbbaa")]
    assert plain.delete(["near"]) == 1
    assert plain.search("aabbcc") == []
