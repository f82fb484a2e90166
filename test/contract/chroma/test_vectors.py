"""Vectors on a Chroma server beside an SQLite file: what the server is told, and what it cannot spoil."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.letters import Letters
from support.servers.chroma import SPACE, ChromaServer

from ovos_persona_memory.cli import doctor
from ovos_persona_memory.config import MemoryConfig, parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Document, Entry, Scope, Selection, Turn
from ovos_persona_memory.search import vector_indexer
from ovos_persona_memory.stores import open_stores
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.base.vector_backend import VectorBackendAway
from ovos_persona_memory.stores.base.vector_math import Floats, normalised, quantised
from ovos_persona_memory.stores.base.vectors import VectorIndex, VectorStore
from ovos_persona_memory.stores.chroma import http_client, write_behind
from ovos_persona_memory.stores.chroma import vectors as chroma_vectors

DIM = 16
INDEX = VectorIndex("model-1", "letters", DIM)
BOTH = frozenset({"turn", "memory"})
OTHERS = ("conversational", "facts", "episodic")
Say = Callable[..., Turn]
Keep = Callable[..., Entry]

pytestmark = pytest.mark.full


@pytest.fixture
def backend() -> str:
    return "chroma"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again soon."""
    monkeypatch.setattr(http_client, "AGAIN_S", 0.0)
    for name in ("QUIET_S", "YIELD_S", "AGAIN_S"):
        monkeypatch.setattr(vector_indexer, name, 0.01)


def vector_of(text: str) -> Floats:
    return normalised(np.random.default_rng([ord(sign) for sign in text]).standard_normal(DIM, dtype=np.float32))


@pytest.fixture
def vectors(store: Store) -> VectorStore:
    store.vector_store.start(INDEX)
    return store.vector_store


def take(vectors: VectorStore) -> None:
    """Take up everything that the index has not."""
    while taken := vectors.pending(INDEX.name, 100):
        vectors.put(INDEX.name, taken, quantised(np.stack([vector_of(one.text) for one in taken])))


def found(vectors: VectorStore, text: str, scope: Scope = Scope(), limit: int = 9) -> list[str]:
    return [near.record.text for near in vectors.nearest(INDEX.name, vector_of(text), scope, BOTH, limit)]


def held(server: ChromaServer) -> list[dict[str, Any]]:
    """Every vector that the server has, with what it knows of it."""
    return [one for part in server.everything().values() for one in part]


# what the server is told


def test_no_text_and_no_name_reaches_the_server(
    store: Store, vectors: VectorStore, say: Say, keep: Keep, chroma_server: ChromaServer
) -> None:
    turn = say("Edeltraut loves pistachio", user_id="wilhelmine", speaker="Wilhelmine", session_id="kitchentalk")
    say("second", user_id="wilhelmine", persona_id="Scribe", site_id="cellar", lang="en-US")
    keep("wifi password", "swordfish", user_id="wilhelmine")
    store.document_store.put(Document("a", "a secret recipe"), "a secret recipe", None)
    take(vectors)
    store.delete(Selection(Scope(user_id="wilhelmine"), ids=(turn.id or "",)))
    names = ("Edeltraut", "pistachio", "ilhelmine", "kitchentalk", "second", "Scribe", "cellar", "en-US")
    names += ("wifi", "password", "swordfish", "recipe", "household", INDEX.name, INDEX.setting)
    told, files = json.dumps(held(chroma_server)), b"".join(chroma_server.kept().values())
    assert len(held(chroma_server)) == 2
    assert [name for name in names if name in told or name.encode() in files] == []
    for one in held(chroma_server):
        assert set(one["metadatas"]) == {"user", "kind", "record", "doc", "digest"}
        assert (one["documents"], one["uris"]) == (None, None)


def test_a_guess_at_a_text_cannot_be_tried_out_on_what_the_server_has(
    vectors: VectorStore, say: Say, chroma_server: ChromaServer, tmp_path: Path
) -> None:
    """The same words in two memories look different to it, and so do their users and collections."""
    say("yes")
    take(vectors)
    mine = held(chroma_server)
    with opened(tmp_path / "other", chroma_server.url) as other:
        other.add_turn(Turn("user", "yes", at=1.0, id="turn-0"), "yes")
        other.vector_store.start(INDEX)
        take(other.vector_store)
        both = chroma_server.everything()
        assert len(both) == 2
        theirs = next(one for part in both.values() for one in part if one["ids"] != mine[0]["ids"])
        assert theirs["metadatas"]["digest"] != mine[0]["metadatas"]["digest"]
        assert theirs["metadatas"]["user"] != mine[0]["metadatas"]["user"]
        assert found(vectors, "yes") == found(other.vector_store, "yes") == ["yes"]


@contextmanager
def opened(folder: Path, url: str) -> Iterator[Store]:
    store = open_stores(settings(folder, url))
    try:
        yield store
    finally:
        store.close()


def settings(folder: Path, url: str, **more: Any) -> MemoryConfig:
    kinds = {name: {"backend": "sqlite"} for name in OTHERS}
    chroma = {"backend": "chroma", "connection": url}
    return parse({"data_dir": str(folder), "kinds": {**kinds, "semantic": chroma}, **more})


# what was forgotten


def test_what_was_forgotten_while_the_server_was_away_is_not_returned_and_deleted_as_soon_as_it_is_back(
    store: Store, vectors: VectorStore, say: Say, chroma_server: ChromaServer
) -> None:
    for number in range(12):
        say(f"turn {number}")
    take(vectors)
    chroma_server.kill()
    try:
        store.delete(Selection(Scope(), ids=("turn-3", "turn-5")))
        assert store.details()["vectors"]["to_be_deleted"] == 2
    finally:
        chroma_server.start()
    assert len(held(chroma_server)) == 12
    assert set(found(vectors, "turn 3")).isdisjoint({"turn 3", "turn 5"})
    assert vectors.cosines(INDEX.name, vector_of("turn 3"), range(1, 13), "household").keys() == {
        1, 2, 3, 5, 7, 8, 9, 10, 11, 12,
    }  # fmt: skip
    vectors.pending(INDEX.name, 1)
    assert len(held(chroma_server)) == 10
    assert store.details()["vectors"]["to_be_deleted"] == 0


def test_it_is_remembered_over_a_restart_what_the_server_has_not_deleted(
    vectors: VectorStore, store: Store, say: Say, chroma_server: ChromaServer, open_again: Callable[[], Store]
) -> None:
    say("one")
    say("two")
    take(vectors)
    chroma_server.kill()
    try:
        store.delete(Selection(Scope(), ids=("turn-0",)))
        again = open_again()
        assert found(again.vector_store, "one") == []
    finally:
        chroma_server.start()
    assert found(again.vector_store, "one") == ["two"]
    assert again.details()["vectors"]["to_be_deleted"] == 1
    again.vector_store.listener = None
    again.tidy()  # nobody embeds: a quiet moment is enough
    assert again.details()["vectors"]["to_be_deleted"] == 0
    assert len(held(chroma_server)) == 1


def test_an_index_dropped_while_the_server_was_away_goes_later_and_its_successor_stays(
    vectors: VectorStore, say: Say, chroma_server: ChromaServer
) -> None:
    say("one")
    take(vectors)
    chroma_server.kill()
    try:
        assert vectors.drop(INDEX.name)
        vectors.start(INDEX)
        with pytest.raises(VectorBackendAway):
            vectors.pending(INDEX.name, 1)
    finally:
        chroma_server.start()
    assert found(vectors, "one") == ["one"]  # the text is there, and it is its vector
    take(vectors)
    assert (found(vectors, "one"), vectors.lag(INDEX.name)) == (["one"], 0)
    assert vectors.drop(INDEX.name)
    assert chroma_server.collections() == {}


def test_a_text_that_becomes_what_it_was_keeps_its_vector(
    store: Store, vectors: VectorStore, say: Say, chroma_server: ChromaServer
) -> None:
    turn = say("old")
    take(vectors)
    chroma_server.kill()
    try:
        store.change_turn(replace(turn, text="new"), "new")
        store.change_turn(replace(turn, text="old"), "old")
    finally:
        chroma_server.start()
    take(vectors)
    assert (found(vectors, "old"), len(held(chroma_server))) == (["old"], 1)


def test_a_text_changed_while_the_server_was_away_is_not_found_by_its_old_meaning(
    store: Store, vectors: VectorStore, say: Say, chroma_server: ChromaServer
) -> None:
    turn = say("old")
    say("other")
    take(vectors)
    chroma_server.kill()
    try:
        store.change_turn(replace(turn, text="new"), "new")
    finally:
        chroma_server.start()
    assert found(vectors, "old") == ["other"]
    assert list(vectors.cosines(INDEX.name, vector_of("old"), [1, 2], "household")) == [2]
    take(vectors)
    assert found(vectors, "new", limit=1) == ["new"]


def test_what_was_undone_is_not_made_by_the_next_change(
    store: Store, vectors: VectorStore, say: Say, chroma_server: ChromaServer
) -> None:
    say("one")
    take(vectors)
    with pytest.raises(ZeroDivisionError), store.transaction():
        store.delete(Selection(Scope(), ids=("turn-0",)))
        assert 1 // 0
    store.delete(Selection(Scope(), ids=("turn-9",)))
    with store.transaction():
        say("two")
    assert store.details()["vectors"]["to_be_deleted"] == 0
    assert (found(vectors, "one"), len(held(chroma_server))) == (["one"], 1)


def test_very_much_is_forgotten_in_the_background(
    store: Store, vectors: VectorStore, say: Say, chroma_server: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_behind, "AT_ONCE", 5)
    monkeypatch.setattr(write_behind, "IN_PARTS_OF", 4)
    monkeypatch.setattr(chroma_vectors, "TOGETHER", 3)
    monkeypatch.setattr(chroma_vectors, "PAGE", 7)
    woken: list[str] = []
    for number in range(20):
        say(f"turn {number}")
    take(vectors)
    assert len(held(chroma_server)) == 20
    vectors.listener = lambda: woken.append("")
    store.delete(Selection(Scope(), until=1018.0))
    assert (woken, len(held(chroma_server))) == ([""], 20)
    assert sorted(found(vectors, "turn 1")) == ["turn 18", "turn 19"]
    vectors.pending(INDEX.name, 1)
    assert len(held(chroma_server)) == 2


def test_the_comparison_at_the_start_asks_for_each_by_name_and_lists_them_only_where_there_are_more(
    vectors: VectorStore,
    say: Say,
    chroma_server: ChromaServer,
    open_again: Callable[[], Store],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chroma_vectors, "PAGE", 7)
    asked: list[Any] = []
    ask = chroma_vectors.ChromaServer.ask

    def noted(self: chroma_vectors.ChromaServer, method: str, path: str, body: Any = None, *more: Any) -> Any:
        asked.append(body)
        return ask(self, method, path, body, *more)

    monkeypatch.setattr(chroma_vectors.ChromaServer, "ask", noted)
    for number in range(20):
        say(f"turn {number}")
    take(vectors)

    def compared() -> tuple[int, int, int]:
        """How many wait at a start, how many requests that took, and how many of these listed all there are."""
        asked.clear()
        waits = len(open_again().vector_store.pending(INDEX.name, 99))
        bodies = [body for body in asked if isinstance(body, dict) and "include" in body]
        return waits, len(bodies), sum("offset" in body for body in bodies)

    assert compared() == (0, 3, 0)
    ((name, rows),) = chroma_server.everything().items()
    place = f"{SPACE}/{chroma_server.collections()[name]}"
    one, other = rows[3], {**rows[4], "metadatas": {**rows[4]["metadatas"], "digest": "of another text"}}
    chroma_server.ask("POST", f"{place}/delete", {"ids": [one["ids"]]})
    chroma_server.ask("POST", f"{place}/upsert", {key: [value] for key, value in other.items() if value is not None})
    assert compared() == (2, 3, 0)
    assert len(held(chroma_server)) == 18
    stray = {**one, "ids": "nobody's"}
    chroma_server.ask("POST", f"{place}/upsert", {key: [value] for key, value in stray.items() if value is not None})
    waits, _, listed = compared()
    assert (waits, listed > 0, len(held(chroma_server))) == (2, True, 18)


def test_a_text_forgotten_while_its_vector_travels_leaves_none(
    store: Store, vectors: VectorStore, say: Say, chroma_server: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread forgets between the commit and the server's answer."""
    say("one")
    say("two")
    taken = vectors.pending(INDEX.name, 9)
    keep = chroma_vectors.ChromaVectors.keep

    def forgetting(self: chroma_vectors.ChromaVectors, *arguments: Any) -> None:
        monkeypatch.undo()
        store.delete(Selection(Scope(), ids=("turn-0",)))
        keep(self, *arguments)

    monkeypatch.setattr(chroma_vectors.ChromaVectors, "keep", forgetting)
    vectors.put(INDEX.name, taken, quantised(np.stack([vector_of(one.text) for one in taken])))
    assert found(vectors, "one") == ["two"]
    assert len(held(chroma_server)) == 1


# what it says is not believed


def test_what_the_server_says_of_others_or_makes_up_is_not_returned(
    vectors: VectorStore, say: Say, keep: Keep, chroma_server: ChromaServer
) -> None:
    say("mine")
    say("private to bob", user_id="bob")
    keep("k", "also bob's", user_id="bob")
    take(vectors)
    ((name, rows),) = chroma_server.everything().items()
    mine = next(one for one in rows if one["metadatas"]["record"] == "turn-0")
    where = f"{SPACE}/{chroma_server.collections()[name]}/upsert"
    for one in rows:  # everything is called mine
        forged = {**one["metadatas"], "user": mine["metadatas"]["user"]}
        made_up = {**forged, "record": "turn-99", "doc": 99}
        told = {"ids": [one["ids"], f"x{one['ids']}"], "embeddings": [one["embeddings"]] * 2}
        chroma_server.ask("POST", where, {**told, "metadatas": [forged, made_up]})
    for text in ("mine", "private to bob", "k: also bob's"):
        assert found(vectors, text) == ["mine"]
    assert found(vectors, "private to bob", Scope(session_id="s")) == []


def test_what_another_process_changed_beneath_is_mended_by_the_next_start(
    vectors: VectorStore, say: Say, chroma_server: ChromaServer, open_again: Callable[[], Store]
) -> None:
    for number in range(9):
        say(f"turn {number}")
    take(vectors)
    ((name, rows),) = chroma_server.everything().items()
    collection = f"{SPACE}/{chroma_server.collections()[name]}"
    chroma_server.ask("POST", f"{collection}/delete", {"ids": [rows[0]["ids"]]})
    old = {**rows[1]["metadatas"], "digest": "of another text"}
    chroma_server.ask("POST", f"{collection}/update", {"ids": [rows[1]["ids"]], "metadatas": [old]})
    strange = {**rows[2], "ids": "strange"}
    whole = {key: [strange[key]] for key in ("ids", "embeddings", "metadatas")}
    chroma_server.ask("POST", f"{collection}/upsert", whole)
    again = open_again().vector_store
    assert again.lag(INDEX.name) == 2
    take(again)
    assert sorted(found(again, "turn 1")) == [f"turn {number}" for number in range(9)]
    assert sorted(one["ids"] for one in held(chroma_server)) == sorted(one["ids"] for one in rows)


# with an embedder


@contextmanager
def remembering(folder: Path, url: str) -> Iterator[PersonaMemory]:
    config = settings(folder, url, recall={"embedder": "letters"})
    with PersonaMemory.open(config=config, opener=lambda _: Letters()) as memory:
        yield memory


def wait_for(condition: Callable[[], Any]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def by_meaning(memory: PersonaMemory) -> list[str]:
    """What is found without a word in common."""
    return [hit.text for hit in memory.recall("tac ym", Scope(), kinds={"turn"}, lang="en-US") if hit.text == "my cat"]


def test_while_the_server_is_away_recall_goes_by_words_and_says_so(home: Path, chroma_server: ChromaServer) -> None:
    with remembering(home, chroma_server.url) as memory:
        memory.record([Turn("user", "my cat"), Turn("user", "the bins")], Scope("s"))
        wait_for(lambda: memory.status()["index_lag"] == 0 and by_meaning(memory))
        chroma_server.kill()
        try:
            began = time.monotonic()
            assert by_meaning(memory) == []
            assert memory.recall("the bins", Scope(), lang="en-US")[0].text == "the bins"
            memory.record([Turn("user", "a dog")], Scope("s"))
            assert memory.forget(Scope(), query="bins", lang="en-US") == 1
            status = memory.status()
            assert time.monotonic() - began < 2
            assert "cannot be used" in status["meaning"]["problem"]
            assert status["store"]["vectors"]["to_be_deleted"] == 1
            assert status["index_lag"] == 2
        finally:
            chroma_server.start()
        wait_for(lambda: memory.status()["index_lag"] == 0)
        assert (by_meaning(memory), len(held(chroma_server))) == (["my cat"], 2)
        status = memory.status()
        assert (status["meaning"]["problem"], status["store"]["vectors"]["to_be_deleted"]) == (None, 0)


def test_a_server_that_is_away_at_the_start_or_lost_everything_is_no_obstacle(
    home: Path, chroma_server: ChromaServer
) -> None:
    chroma_server.kill()
    try:
        with remembering(home, chroma_server.url) as memory:
            memory.record([Turn("user", "my cat")], Scope("s"))
            assert [hit.text for hit in memory.recall("my cat", Scope(), lang="en-US")] == ["my cat"]
            assert memory.status()["index_lag"] == 1
    finally:
        chroma_server.start()
    with remembering(home, chroma_server.url) as memory:
        wait_for(lambda: memory.status()["index_lag"] == 0 and by_meaning(memory))
        chroma_server.empty()  # begun anew without its disk
        by_meaning(memory)
        wait_for(lambda: by_meaning(memory))


def test_a_server_that_does_not_answer_holds_nobody_up(
    home: Path, chroma_server: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with remembering(home, chroma_server.url) as memory:
        memory.record([Turn("user", "my cat"), Turn("user", "the bins")], Scope("s"))
        wait_for(lambda: memory.status()["index_lag"] == 0 and by_meaning(memory))
        monkeypatch.setattr("ovos_persona_memory.stores.chroma.http_client.AGAIN_S", 60.0)
        chroma_server.stop()
        try:
            for within_s in (1.5, 0.3, 0.3):  # once somebody waits, then nobody
                began = time.monotonic()
                assert memory.recall("the bins", Scope(), lang="en-US")[0].text == "the bins"
                assert time.monotonic() - began < within_s
            began = time.monotonic()
            assert memory.forget(Scope(), query="bins", lang="en-US") == 1
            assert time.monotonic() - began < 1
        finally:
            chroma_server.stop(going_on=True)


# settings


def test_documents_stand_beside_other_texts_and_where_nobody_can_keep_them_in_a_file(
    tmp_path: Path, chroma_server: ChromaServer, redis_server: Any
) -> None:
    kinds: dict[str, Any] = {
        name: {"backend": "redis", "connection": redis_server.url} for name in ("conversational", "facts")
    }
    kinds["semantic"] = {"backend": "chroma", "connection": chroma_server.url}
    config = parse({"data_dir": str(tmp_path / "memory"), "kinds": kinds, "recall": {"embedder": "letters"}})
    for _ in range(2):
        with PersonaMemory.open(config=config, opener=lambda _: Letters()) as memory:
            if not memory.status()["counts"]["turns"]:
                memory.record([Turn("user", "my cat")], Scope("s"))
                memory.documents().upsert("a recipe", id="r")
            wait_for(lambda: memory.status()["index_lag"] == 0 and by_meaning(memory))
            assert memory.documents().get("r").text == "a recipe"  # type: ignore[union-attr]
    assert (tmp_path / "memory" / "memory.db").exists()
    assert len(held(chroma_server)) == 1


def test_the_doctor_looks_whether_the_server_answers(home: Path, chroma_server: ChromaServer) -> None:
    config = settings(home, chroma_server.url.replace("//", "//me:hunter2@"))

    def told() -> tuple[str, str]:
        (found,) = [one for one in doctor.check_stores(config, in_use=False) if "semantic" in one.check]
        return found.state, found.found

    assert told() == ("ok", f"chroma at 127.0.0.1:{chroma_server.port} can be used")
    chroma_server.kill()
    try:
        state, text = told()
        assert (state, "cannot be used" in text, "hunter2" in text) == ("problem", True, False)
    finally:
        chroma_server.start()


def test_nothing_of_it_is_loaded_unless_it_is_named(answer_of: Callable[..., str], tmp_path: Path) -> None:
    program = (
        "import sys\nfrom ovos_persona_memory.memory.persona_memory import PersonaMemory\n"
        "with PersonaMemory.open(sys.argv[1]): pass\n"
        "print([name for name in sys.modules if 'chroma' in name or name == 'http.client'])"
    )
    assert "chroma" not in answer_of(program, tmp_path)
    assert "chromadb" not in sys.modules


def test_what_was_opened_ends_with_the_store(home: Path, chroma_server: ChromaServer) -> None:
    with ExitStack() as stack:
        store = stack.enter_context(opened(home, chroma_server.url))
        store.vector_store.start(INDEX)
        assert found(store.vector_store, "one") == []
    with pytest.raises(Exception, match=r"closed"):
        store.counts()
