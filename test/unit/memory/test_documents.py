"""Documents as memory, in a memory of this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import CapturePaused, InvalidRequest
from ovos_persona_memory.memory import Documents, PersonaMemory
from ovos_persona_memory.records import Document, Scope, Turn
from ovos_persona_memory.stores.base.vector_math import Floats


@pytest.fixture
def memory() -> Iterator[PersonaMemory]:
    with PersonaMemory.open(config=MemoryConfig(backend="inmemory"), clock=lambda: 1000.0) as opened:
        yield opened


@pytest.fixture
def documents(memory: PersonaMemory) -> Documents:
    return memory.documents()


def ids(found: list[Document]) -> list[str]:
    return [document.id for document in found]


def embed(texts: list[str]) -> Floats:
    """By the letters a, b and c."""
    return np.array([[float(text.count(letter)) for letter in "abc"] for text in texts], dtype=np.float32)


def test_a_document_is_kept_under_its_id_or_a_new_one(documents: Documents) -> None:
    kept = documents.upsert("the quick brown fox", "fox", {"tag": "test"})
    assert kept == Document("fox", "the quick brown fox", {"tag": "test"}, updated_at=1000.0)
    assert documents.get("fox") == kept
    first, second = documents.upsert("a dog"), documents.upsert("a dog")
    assert first.id and first.id != second.id
    assert documents.get("nobody") is None


def test_a_single_document_scores_above_zero(documents: Documents) -> None:
    documents.upsert("the quick brown fox", "fox")
    [found] = documents.search("quick foxes")
    assert (found.id, found.score > 0) == ("fox", True)


def test_what_has_nothing_in_common_is_not_found(documents: Documents) -> None:
    documents.upsert("the quick brown fox", "fox")
    documents.upsert("a lazy dog", "dog")
    assert ids(documents.search("lazy")) == ["dog"]
    assert documents.search("cat") == documents.search("") == documents.search("lazy", k=0) == []


@pytest.mark.parametrize(
    ("text", "query"), [("größe der Straße", "Größe"), ("кошка спит", "кошка"), ("猫 が 好き", "猫")]
)
def test_words_of_any_script_are_found(documents: Documents, text: str, query: str) -> None:
    documents.upsert(text, "d")
    assert ids(documents.search(query)) == ["d"]


def test_words_meet_in_the_language_of_both(memory: PersonaMemory) -> None:
    german = memory.documents(lang="de-DE")
    german.upsert("die Katzen schlafen", "d")
    assert ids(german.search("schlafende Katze")) == ["d"]


def test_a_stop_word_alone_still_finds(documents: Documents) -> None:
    documents.upsert("to be or not to be", "d")
    assert ids(documents.search("not")) == ["d"]


def test_all_pairs_of_a_filter_have_to_be_equal(documents: Documents) -> None:
    documents.upsert("a cat", "one", {"lang": "en", "year": 2020})
    documents.upsert("a cat", "two", {"lang": "en", "year": 2021})
    assert ids(documents.search("cat", filter={"lang": "en", "year": 2021})) == ["two"]
    assert documents.search("cat", filter={"lang": "en", "other": None}) == []


def test_metadata_that_are_not_given_stay(documents: Documents) -> None:
    documents.upsert("a cat", "d", {"a": 1})
    assert documents.upsert("a dog", "d").metadata == {"a": 1}
    assert documents.upsert("a dog", "d", {"b": 2}).metadata == {"b": 2}
    assert documents.upsert("a dog", "d", {}).metadata == {}


def test_metadata_are_copied_both_ways(documents: Documents) -> None:
    given: dict[str, Any] = {"a": [1]}
    documents.upsert("a cat", "d", given).metadata["a"].append(2)
    given["a"].append(3)
    found = documents.get("d")
    assert found is not None
    assert found.metadata == {"a": [1]}


def test_a_given_embedding_is_found_by_an_embedding(documents: Documents) -> None:
    documents.upsert("zebra", "z", embedding=[1.0, 0.0])
    documents.upsert("", "bare", embedding=[3.0, 3.0])
    documents.upsert("without", "w")
    assert ids(documents.search("", embedding=[1.0, 0.5])) == ["bare", "z"]
    assert [round(one.score, 3) for one in documents.search("", embedding=[2.0, 0.0])] == [1.0, 0.707]
    assert documents.search("horse") == []
    assert documents.search("", embedding=[-1.0, 0.0]) == []


def test_words_and_embeddings_are_put_together(documents: Documents) -> None:
    documents.upsert("a cat", "word", embedding=[0.0, 1.0])
    documents.upsert("a tiger", "near", embedding=[1.0, 0.0])
    documents.upsert("a cat at night", "both", embedding=[0.9, 0.1])
    documents.upsert("a stone", "none", embedding=[-1.0, 0.0])
    found = documents.search("cat", embedding=[1.0, 0.0])
    assert ids(found)[0] == "both"
    assert set(ids(found)) == {"both", "word", "near"}
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_the_embedding_of_an_unchanged_text_stays(documents: Documents) -> None:
    documents.upsert("a cat", "d", embedding=[1.0, 0.0])
    documents.upsert("a cat", "d", {"a": 1})
    assert ids(documents.search("", embedding=[1.0, 0.0])) == ["d"]
    documents.upsert("a dog", "d")
    assert documents.search("", embedding=[1.0, 0.0]) == []


def test_an_embedder_gives_what_a_caller_does_not(memory: PersonaMemory) -> None:
    documents = memory.documents(embed=embed)
    documents.upsert("aab", "d")
    documents.upsert("ccc", "given", embedding=[1.0, 0.0, 0.0])
    assert ids(documents.search("a")) == ["given", "d"]
    assert ids(documents.search("xa", embedding=[0.0, 1.0, 0.0])) == ["d"]


@pytest.mark.parametrize("embedding", [[], [0.0, 0.0], [float("nan"), 1.0], [[1.0]], ["a"], "ab"])
def test_an_embedding_that_cannot_be_used_is_refused(documents: Documents, embedding: Any) -> None:
    for use in (documents.upsert, documents.search):
        with pytest.raises(InvalidRequest) as refusal:
            use("a cat", embedding=embedding)
        assert refusal.value.field == "embedding"


def test_how_long_an_embedding_is_does_not_matter(documents: Documents) -> None:
    for number, size in enumerate((1e300, 1.0, 1e-300)):
        documents.upsert("a cat", str(number), embedding=[size, size])
    assert [round(one.score, 3) for one in documents.search("", embedding=[1e-300, 0.0])] == [0.707] * 3


def test_an_embedding_of_another_dimension_is_refused(memory: PersonaMemory, documents: Documents) -> None:
    documents.upsert("a cat", "d", embedding=[1.0, 0.0])
    for use in (documents.upsert, documents.search):
        with pytest.raises(InvalidRequest, match="embedding: has 3 numbers, the others in this namespace have 2"):
            use("a dog", embedding=[1.0, 0.0, 0.0])
    assert memory.documents(namespace="other").upsert("a dog", embedding=[1.0, 0.0, 0.0])


def test_an_empty_text_is_refused(documents: Documents) -> None:
    with pytest.raises(InvalidRequest, match="text"):
        documents.upsert(" ")


def test_documents_and_talk_are_apart(memory: PersonaMemory, documents: Documents) -> None:
    scope = Scope(session_id="s")
    memory.record([Turn("user", "my cat is called Bob")], scope)
    before = memory.recall("what is my cat called", scope)
    documents.upsert("my cat is called Alice", "d")
    memory.remember("the cat sleeps", key="cat")
    assert ids(documents.search("cat")) == ["d"]
    memory.forget(key="cat")
    assert memory.recall("what is my cat called", scope) == before
    assert memory.list() == []


def test_deleting_and_clearing_say_how_many_there_were(documents: Documents) -> None:
    for name in "abc":
        documents.upsert("a cat", name)
    assert documents.delete(["a", "x"]) == 1
    assert documents.clear() == 2
    assert documents.clear() == 0


def test_documents_are_listed_the_last_changed_first() -> None:
    now = iter(range(1, 100))
    with PersonaMemory.open(config=MemoryConfig(backend="inmemory"), clock=lambda: float(next(now))) as memory:
        documents = memory.documents()
        for name in "abc":
            documents.upsert("a cat", name)
        documents.upsert("a dog", "a")
        memory.documents(namespace="other").upsert("a cat", "x")
        assert ids(documents.list()) == ["a", "c", "b"]
        assert ids(documents.list(1, offset=1)) == ["c"]
        assert documents.list(0) == documents.list(offset=3) == memory.documents(Scope(user_id="ada")).list() == []


def test_everything_of_a_user_includes_documents(memory: PersonaMemory) -> None:
    for user in ("ada", "bob"):
        memory.documents(Scope(user_id=user), "n").upsert("a cat", "d")
    assert memory.forget(Scope(user_id="ada"), everything=True) == 1
    assert memory.documents(Scope(user_id="ada"), "n").get("d") is None
    assert memory.documents(Scope(user_id="bob"), "n").get("d") is not None


def test_nothing_is_kept_or_read_while_memory_is_off(memory: PersonaMemory) -> None:
    here = memory.documents(Scope(session_id="s"))
    here.upsert("a cat", "d")
    memory.capture(Scope(session_id="s"), write=False, read=False, session=True)
    with pytest.raises(CapturePaused):
        here.upsert("a dog")
    assert here.search("cat") == here.list() == []
    assert here.get("d") is None
    assert here.delete(["d"]) == 1
