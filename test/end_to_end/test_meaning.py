"""Search by meaning in a daemon with the real embedders."""

from __future__ import annotations

import json
import signal
import threading
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ovos_persona_memory.config import FactsConfig, MemoryConfig, RecallConfig
from ovos_persona_memory.evaluation.rankers import wait_until_indexed
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import ContextRequest, Scope, Turn
from ovos_persona_memory.search.embedding import open_embedder
from ovos_persona_memory.stores.base.vector_math import quantised

from .conftest import Daemon, wait_until

SAID = (
    "my wedding was in June",
    "the bins go out on Tuesday",
    "our cat sleeps on the sofa",
    "the car needs new tyres",
    "Tom works at the harbour",
)
ASKED = {
    "when did I get married": "my wedding was in June",
    "which pet lives here": "our cat sleeps on the sofa",
    "what should the vehicle be fitted with": "the car needs new tyres",
}
EITHER = "the kitten and the couch"
"""Both embedders know of what, and words do not."""
TURNS = 900
Start = Callable[..., Daemon]


def by(embedder: str) -> dict[str, object]:
    return {"recall": {"embedder": embedder}, "facts": {"learn": False}}  # what was said is looked for, as it was said


def client_of(daemon: Daemon) -> MemoryClient:
    return MemoryClient.over_door(daemon.data)


def indexed(client: MemoryClient) -> bool:
    status = client.status()
    assert status["meaning"]["problem"] is None
    return bool(status["index_lag"] == 0 and status["meaning"]["answering"] == status["meaning"]["model"] is not None)


def first(client: MemoryClient, question: str, scope: Scope = Scope()) -> str:
    return client.recall(question, scope, lang="en-US")[0].text


def wait_until_chroma_answers(client: MemoryClient) -> None:
    """Its first answer may take longer than a question waits for it; then words alone answer, and it is asked again."""
    wait_until(lambda: client.recall(EITHER, Scope(), lang="en-US"), "an answer by meaning")


def test_the_daemon_finds_by_meaning_what_words_cannot(daemon: Start) -> None:
    with client_of(daemon(settings=by("minilm"))) as client:
        client.record([Turn("user", text, lang="en-US") for text in SAID], Scope("s1"))
        wait_until(lambda: indexed(client), "the index")
        for question, answer in ASKED.items():
            hit = client.recall(question, Scope(), lang="en-US")[0]
            assert hit.text == answer
            assert hit.reason.startswith(("means something alike (0.", "answers what is asked (0."))
        assert client.recall("bins tuesday", Scope())[0].reason.startswith("has all that was asked for")


def test_by_words_alone_the_same_questions_find_nothing(daemon: Start) -> None:
    with client_of(daemon(settings=by("none"))) as client:
        client.record([Turn("user", text, lang="en-US") for text in SAID], Scope("s1"))
        assert [client.recall(question, Scope(), lang="en-US") for question in ASKED] == [[], [], []]
        assert client.status()["meaning"]["embedder"] == "none"


def test_memories_are_found_by_meaning_too_and_forgotten_with_their_vectors(daemon: Start) -> None:
    running = daemon(settings=by("minilm"))
    with client_of(running) as client:
        client.remember("the spare key lies under the flower pot", Scope(), key="spare key", lang="en-US")
        client.record([Turn("user", text, lang="en-US") for text in SAID], Scope("s1"))
        wait_until(lambda: indexed(client), "the index")
        assert first(client, "how do I get in without mine") == "the spare key lies under the flower pot"
        vectors = open_embedder("minilm").embed(["spare key: the spare key lies under the flower pot", SAID[0]])
        gone, stays = (quantised(row[None, :])[0].tobytes() for row in vectors)
        assert bytes_in(running.data, stays)
        assert bytes_in(running.data, gone)
        client.forget(Scope(), key="spare key")
        assert "spare key" not in str(client.recall("how do I get in without mine", Scope(), lang="en-US"))
        assert not bytes_in(running.data, gone)
        assert bytes_in(running.data, stays)


def bytes_in(folder: Path, whole: bytes) -> bool:
    """Whether any twelve numbers of a vector in a row can be read in a file of the folder."""
    parts = [whole[start : start + 12] for start in range(0, len(whole) - 12, 12)]
    return any(part in file.read_bytes() for file in folder.iterdir() if file.is_file() for part in parts)


def test_what_was_not_embedded_when_the_daemon_was_killed_is_embedded_afterwards(daemon: Start, tmp_path: Path) -> None:
    running = daemon(settings=by("minilm"))
    with client_of(running) as client:
        client.record([Turn("user", text, lang="en-US") for text in (*SAID, *filler(300))], Scope("s1"))
        running.end(signal.SIGKILL)
    with client_of(daemon(settings=by("minilm"))) as client:
        wait_until(lambda: indexed(client), "the index")
        assert first(client, "when did I get married") == SAID[0]


def test_a_change_of_embedder_that_is_killed_half_way_goes_on_and_answers_all_the_while(daemon: Start) -> None:
    """900 turns and more with the quick static vectors, then MiniLM."""
    running = daemon(settings=by("static"))
    with client_of(running) as client:
        texts = (*filler(TURNS), *SAID)
        for start in range(0, len(texts), 900):
            client.record([Turn("user", text, lang="en-US") for text in texts[start : start + 900]], Scope("s1"))
        wait_until(lambda: indexed(client), "the first index")
        before = client.status()["meaning"]["answering"]
        assert first(client, EITHER) == SAID[2]
        running.end()
    running = daemon(settings=by("minilm"))
    with client_of(running) as client:
        wait_until(lambda: 0 < client.status()["index_lag"] < TURNS - 200, "a part of the second index")
        half = client.status()
        assert half["meaning"]["answering"] == before
        assert "means something alike" in client.recall(EITHER, Scope(), lang="en-US")[0].reason
        running.end(signal.SIGKILL)
    running = daemon(settings=by("minilm"))
    with client_of(running) as client:
        wait_until(lambda: client.status()["meaning"]["answering"] is not None, "the old index")
        again = client.status()
        assert again["meaning"]["answering"] == before
        assert 0 < again["index_lag"] <= half["index_lag"]
        pause = threading.Event()
        while not indexed(client):
            assert first(client, EITHER) == SAID[2]
            pause.wait(0.1)
        assert client.status()["meaning"]["answering"] != before
        assert first(client, "when did I get married") == SAID[0]


def filler(number: int) -> list[str]:
    """Texts of which none is like another, nor like what is asked."""
    things = ("printer", "lamp", "window", "kettle", "carpet", "shelf", "drill", "ladder", "bucket", "radio", "fence")
    places = ("in the attic", "behind the shed", "at the neighbours'", "on the first floor", "near the gate")
    states = ("makes a strange noise", "has to be painted", "was bought on sale", "is too heavy", "belongs upstairs")
    return [f"number {n} {things[n % 11]} {places[n % 5]} {states[n // 7 % 5]}" for n in range(number)]


# among others


@pytest.fixture(scope="module")
def everybody() -> dict[str, list[Turn]]:
    """What 500 people said: each a little of her own, and much that all say."""
    chance = np.random.default_rng(11)
    texts = [*SAID, *filler(60)]
    said = {f"person-{n}": [texts[i] for i in chance.choice(len(texts), 6, replace=False)] for n in range(500)}
    said["person-7"] = [*SAID, *filler(20)]
    return {
        user: [Turn("user", text, 1000.0 + n, lang="en-US") for n, text in enumerate(one)] for user, one in said.items()
    }


def test_a_person_gets_the_same_answers_alone_and_among_500(tmp_path: Path, everybody: dict[str, list[Turn]]) -> None:
    config = MemoryConfig(recall=RecallConfig(embedder="static"), facts=FactsConfig(learn=False))
    scope = Scope(user_id="person-7")

    def answers(folder: Path, users: list[str]) -> list[Any]:
        with PersonaMemory.open(folder, config, clock=lambda: 5000.0) as memory:
            with memory.transaction():
                for user in users:
                    memory.record(everybody[user], Scope("s", user))
            wait_until_indexed(memory)
            questions = [*ASKED, "when is my wedding", "which printer makes a noise", "what about Tom"]
            found = [memory.recall(question, scope, k, lang="en-US") for question in questions for k in (1, 5, 20)]
        return [[(hit.text, hit.score, hit.sure, hit.reason) for hit in hits] for hits in found]

    alone = answers(tmp_path / "alone", ["person-7"])
    assert alone == answers(tmp_path / "all", list(everybody))
    assert all(alone)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_over_a_folder_the_daemon_has_a_chroma_server_that_ends_with_it(
    daemon: Start, tmp_path: Path, number: signal.Signals
) -> None:
    folder = tmp_path / "vectors"
    kinds: dict[str, Any] = {name: {"backend": "sqlite"} for name in ("conversational", "facts", "episodic")}
    kinds["semantic"] = {"backend": "chroma", "connection": str(folder)}
    running = daemon(settings=by("auto") | {"kinds": kinds})
    with client_of(running) as client:
        client.record([Turn("user", text) for text in SAID], Scope("s"))
        wait_until(lambda: indexed(client), "the vectors")
        wait_until_chroma_answers(client)
        assert first(client, "which pet lives here") == "our cat sleeps on the sofa"
        assert client.status()["store"]["vectors"]["at"] == f"Chroma in {folder}"
    assert servers_over(folder)
    running.end(number)
    wait_until(lambda: not servers_over(folder), "the end of the server")


def test_semantic_memory_hands_out_top_k_and_is_kept_in_its_collection(daemon: Start, tmp_path: Path) -> None:
    folder, said = tmp_path / "vectors", [f"cats sleep on the {place}" for place in ("sofa", "bed", "mat", "shelf")]
    kinds: dict[str, Any] = {name: {"backend": "sqlite"} for name in ("conversational", "facts", "episodic")}
    kinds["semantic"] = {"backend": "chroma", "connection": str(folder), "collection": "my_agent", "top_k": 2}
    data, chosen = tmp_path / "data", by("auto") | {"kinds": kinds}
    running = daemon(data=data, settings=chosen)
    with client_of(running) as client:
        client.record([Turn("user", text) for text in said], Scope("s"))
        client.documents().upsert("a kitten needs a basket", id="basket")
        wait_until(lambda: indexed(client), "the vectors")
        wait_until_chroma_answers(client)
        found = client.recall("where is the kitten", Scope(), k=4, lang="en-US")
        assert {hit.text for hit in found} == set(said), "by meaning, as many as are asked for"
        asked = ContextRequest("where does the cat sleep", Scope("other"), lang="en-US")
        assert len(client.context(asked).hits) == 2, "top_k, where a persona asks"
        assert len(client.context(replace(asked, recall=3)).hits) == 3, "a persona's own number comes first"
        assert [one.id for one in client.documents().search("basket")] == ["basket"]
        assert all(name.startswith("my_agent-") for name in collections_of(running)) and collections_of(running)
    running.end()
    kinds["semantic"]["collection"] = "another"
    again = daemon(data=data, settings=chosen)
    with client_of(again) as client:
        wait_until(lambda: indexed(client), "the vectors in another collection")
        wait_until_chroma_answers(client)
        assert {name.partition("-")[0] for name in collections_of(again)} == {"my_agent", "another"}
        assert {hit.text for hit in client.recall("where is the kitten", Scope(), k=4, lang="en-US")} == set(said)


def collections_of(daemon: Daemon) -> set[str]:
    """The names of the collections that a daemon's own Chroma server has."""
    (server,) = (Path(f"/proc/{one}/cmdline") for one in servers_over(daemon.data.parent / "vectors"))
    port = server.read_bytes().split(b"\0")[4].decode()
    where = f"http://127.0.0.1:{port}/api/v2/tenants/default_tenant/databases/default_database/collections"
    with urllib.request.urlopen(where, timeout=10) as answer:
        return {one["name"] for one in json.loads(answer.read())}


def servers_over(folder: Path) -> list[str]:
    """The processes that are named with a folder."""
    found: list[str] = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        found += [place.parent.name] if str(folder).encode() in words else []
    return found
