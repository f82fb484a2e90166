"""What every store promises about documents."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Document, Namespace, Scope, Selection, Turn
from ovos_persona_memory.stores.base.documents import DocumentStore
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.base.vector_math import Floats, normalised

Put = Callable[..., Document]
Left = Callable[[str], list[str]]
Kept = Callable[[], Mapping[str, bytes]]
SPACE = Namespace()
MARK = "xylophonequartz"


def vector(*numbers: float) -> Floats:
    return normalised(np.array(numbers, dtype=np.float32))


@pytest.fixture
def documents(store: Store) -> DocumentStore:
    return store.document_store


@pytest.fixture
def put(documents: DocumentStore) -> Put:
    """Puts a document whose words are those of its text."""

    def put_it(document_id: str, text: str, embedding: Floats | None = None, **fields: Any) -> Document:
        document = Document(document_id, text, **{"updated_at": 5.0, **fields})
        documents.put(document, text, embedding)
        return document

    return put_it


def ids(found: list[Document]) -> list[str]:
    return [document.id for document in found]


def test_a_document_is_kept_as_it_was_put(store: Store, put: Put, open_again: Callable[[], Store]) -> None:
    embedding = vector(1.0, 2.0, 2.0)
    document = put("d", "größe 猫", embedding, metadata={"a": [1, {"b": None}]}, namespace="n", user_id="bob")
    held = open_again().document_store.get(Namespace("bob", "n"), "d")
    assert held is not None
    assert (held.document, held.words) == (document, "größe 猫")
    assert held.embedding is not None
    assert held.embedding.tolist() == embedding.tolist()
    assert open_again().document_store.get(Namespace("bob", "n"), "e") is None


def test_what_is_handed_out_is_a_copy(documents: DocumentStore, put: Put) -> None:
    given = put("d", "cat", metadata={"a": [1]})
    given.metadata["a"].append(2)
    for found in (documents.get(SPACE, "d"), *documents.held(SPACE)):
        assert found is not None
        assert found.document.metadata == {"a": [1]}
        found.document.metadata["a"].append(3)
    documents.by_words(["cat"], SPACE, 1)[0].metadata.clear()
    assert documents.by_words(["cat"], SPACE, 1)[0].metadata == {"a": [1]}


def test_a_document_takes_the_place_of_the_one_with_its_id(documents: DocumentStore, put: Put) -> None:
    put("d", "old words", vector(1, 0))
    put("d", "new", None, metadata={"a": 1})
    assert [one.document.text for one in documents.held(SPACE)] == ["new"]
    assert documents.by_words(["old"], SPACE, 5) == []
    assert documents.nearest(vector(1, 0), SPACE, 5) == []
    assert documents.dimension(SPACE) is None


def test_users_and_namespaces_are_apart(documents: DocumentStore, put: Put) -> None:
    spaces = [Namespace("ada", "n"), Namespace("ada", "m"), Namespace("bob", "n")]
    for number, space in enumerate(spaces):
        put("d", f"cat {number}", vector(1, number), user_id=space.user_id, namespace=space.name)
    for number, space in enumerate(spaces):
        assert [one.text for one in documents.by_words(["cat"], space, 5)] == [f"cat {number}"]
        assert [one.text for one in documents.nearest(vector(1, 1), space, 5)] == [f"cat {number}"]
    assert documents.delete(spaces[0]) == 1
    assert [len(list(documents.held(space))) for space in spaces] == [0, 1, 1]


def test_what_others_keep_changes_no_score(documents: DocumentStore, store: Store, put: Put) -> None:
    put("d", "cat")
    before = documents.by_words(["cat"], SPACE, 5)
    put("d", "cat and dog", user_id="bob")
    put("e", "cat and more", namespace="n")
    store.add_turn(Turn("user", "cat", at=1.0, id="t"), "cat")
    assert documents.by_words(["cat"], SPACE, 5) == before
    assert [one.record.id for one in store.search(["cat"], Scope.everyone(), frozenset({"turn", "memory"}), 9)] == ["t"]
    assert (store.counts().turns, store.counts().entries) == (1, 0)


def test_a_single_document_scores_above_zero(documents: DocumentStore, put: Put) -> None:
    put("d", "cat")
    [found] = documents.by_words(["cat"], SPACE, 5)
    assert found.score > 0


def test_only_what_has_something_in_common_is_found(documents: DocumentStore, put: Put) -> None:
    put("d", "cat", vector(1, 0))
    put("e", "dog", vector(0, 1))
    put("f", "cow", vector(-1, 0))
    put("g", "pig")
    assert ids(documents.by_words(["cat"], SPACE, 5)) == ["d"]
    assert ids(documents.nearest(vector(1, 0), SPACE, 5)) == ["d"]


def test_the_filter_narrows_before_the_limit(documents: DocumentStore, put: Put) -> None:
    for number in range(250):
        put(f"d{number}", "cat", vector(1, 0), metadata={"n": number, "even": number % 2 == 0})
    assert ids(documents.by_words(["cat"], SPACE, 2, {"n": 3})) == ["d3"]
    assert ids(documents.nearest(vector(1, 0), SPACE, 2, {"n": 3, "even": False})) == ["d3"]
    assert documents.by_words(["cat"], SPACE, 2, {"n": 3, "even": True}) == []
    assert documents.by_words(["cat"], SPACE, 2, {"other": None}) == []
    assert len(documents.by_words(["cat"], SPACE, 2, {})) == 2
    assert documents.by_words(["cat"], SPACE, 0) == []


def test_of_equal_scores_the_last_put_comes_first(documents: DocumentStore, put: Put) -> None:
    for name in ("a", "b", "c", "a"):
        put(name, "cat", vector(1, 0))
    assert ids(documents.by_words(["cat"], SPACE, 5)) == ["a", "c", "b"]
    assert ids(documents.nearest(vector(1, 0), SPACE, 5)) == ["a", "c", "b"]


def test_the_fast_search_equals_the_plain_scan(documents: DocumentStore, put: Put) -> None:
    rng = random.Random(3)
    words = [f"w{number}" for number in range(30)]
    for _ in range(400):
        text = " ".join(rng.choices(words, k=rng.randrange(1, 12)))
        name = f"d{rng.randrange(150)}"
        if rng.random() < 0.2:
            documents.delete(SPACE, [name])
        put(name, text, vector(*(rng.gauss(0, 1) for _ in range(8))), metadata={"odd": rng.random() < 0.5})
    for _ in range(30):
        asked, wanted = rng.choices(words, k=3), rng.choice([None, {"odd": True}])
        plain = DocumentStore.by_words(documents, asked, SPACE, 20, wanted)
        assert documents.by_words(asked, SPACE, 20, wanted) == plain
        asking = vector(*(rng.gauss(0, 1) for _ in range(8)))
        near, scanned = (find(asking, SPACE, 20, wanted) for find in (
            documents.nearest, lambda *given: DocumentStore.nearest(documents, *given)))  # fmt: skip
        assert ids(near) == ids(scanned)
        assert [one.score for one in near] == pytest.approx([one.score for one in scanned], abs=1e-6)


def test_an_embedding_has_the_dimension_of_its_namespace(documents: DocumentStore, put: Put) -> None:
    assert documents.dimension(SPACE) is None
    put("d", "cat", vector(1, 0, 0))
    assert documents.dimension(SPACE) == 3
    assert documents.dimension(Namespace("bob")) is None


def test_deleting_says_how_many_there_were(documents: DocumentStore, put: Put) -> None:
    for name in "abc":
        put(name, "cat dog")
    assert documents.delete(SPACE, ["a", "a", "x"]) == 1
    assert documents.delete(SPACE, []) == 0
    assert ids(documents.by_words(["cat"], SPACE, 5)) == ["c", "b"]
    assert documents.delete(SPACE) == 2
    assert documents.delete(SPACE) == documents.delete(Namespace("nobody")) == 0


@pytest.mark.parametrize(
    ("selection", "left"),
    [
        (Selection(Scope()), ["bob"]),
        (Selection(Scope(persona_id="p")), ["bob"]),
        (Selection(Scope.everyone()), []),
        (Selection(Scope(session_id="s")), ["household", "bob"]),
        (Selection(Scope(site_id="kitchen")), ["household", "bob"]),
        (Selection(Scope(), kinds=frozenset({"turn"})), ["household", "bob"]),
        (Selection(Scope(), since=0.0), ["household", "bob"]),
        (Selection(Scope(), ids=("d",)), ["household", "bob"]),
    ],
)
def test_documents_go_with_everything_of_their_user(
    store: Store, documents: DocumentStore, put: Put, selection: Selection, left: list[str]
) -> None:
    for user in ("household", "bob"):
        put("d", "cat", user_id=user)
        put("d", "cat", user_id=user, namespace="n")
    forgotten = store.delete(selection)
    assert [user for user in ("household", "bob") if list(documents.held(Namespace(user, "n")))] == left
    assert forgotten.documents == forgotten.total == 4 - 2 * len(left)


def test_documents_that_hold_all_words_go_with_them(store: Store, documents: DocumentStore, put: Put) -> None:
    put("one", "the cat sleeps", vector(1, 0))
    put("two", "the cat eats", namespace="n")
    put("three", "the dog sleeps")
    put("bobs", "the cat sleeps", user_id="bob")
    both = Selection(Scope(), words=(frozenset({"cat", "kitten"}), frozenset({"sleeps", "eats"})))
    assert store.count(both).documents == 2
    assert store.delete(replace(both, scope=Scope(session_id="s"))).documents == 0
    assert store.delete(both).documents == 2
    assert [one.document.id for one in documents.held(SPACE)] == ["three"]
    assert documents.by_words(["cat"], SPACE, 5) == documents.by_words(["cat"], Namespace(name="n"), 5) == []
    assert store.count(replace(both, scope=Scope.everyone())).documents == 1
    assert ids(documents.by_words(["cat"], Namespace("bob"), 5)) == ["bobs"]


def test_a_change_is_undone_with_its_transaction(store: Store, documents: DocumentStore, put: Put) -> None:
    put("d", "cat", vector(1, 0))
    with pytest.raises(ZeroDivisionError), store.transaction():
        put("d", "dog")
        put("e", "cat")
        documents.delete(SPACE)
        raise ZeroDivisionError
    assert ids(documents.by_words(["cat"], SPACE, 5)) == ["d"]
    assert ids(documents.nearest(vector(1, 0), SPACE, 5)) == ["d"]


def test_a_text_that_cannot_be_kept_is_refused(documents: DocumentStore, put: Put) -> None:
    for fields in ({"text": "a\0b"}, {"text": "a", "namespace": "\ud800"}, {"text": "a", "user_id": "\0"}):
        with pytest.raises(StoreError):
            put("d", **fields)
    with pytest.raises(StoreError):
        documents.get(SPACE, "\ud800")


def test_no_byte_of_a_document_is_left(store: Store, put: Put, left_in_files: Left, kept: Kept) -> None:
    secret = vector(*(float(number) for number in range(1, 65)))
    put("neighbour", "cat", vector(*(1.0,) * 64))
    put(f"id {MARK}", f"text {MARK}", secret, metadata={MARK: MARK}, namespace=f"n{MARK}")
    assert bool(left_in_files(MARK)) == bool(_with(kept, secret)) == store.durable
    store.document_store.delete(Namespace(name=f"n{MARK}"), [f"id {MARK}"])
    store.purge()
    assert left_in_files(MARK) == _with(kept, secret) == []


@pytest.mark.full
def test_no_byte_is_left_after_many_changes(store: Store, documents: DocumentStore, put: Put, kept: Kept) -> None:
    rng = random.Random(11)
    held: dict[str, tuple[str, Floats]] = {}
    gone: list[tuple[str, Floats]] = []
    for _ in range(40):
        with store.transaction():
            for _ in range(25):
                _one_change(documents, put, rng, held, gone)
    store.purge()
    content = b"".join(kept().values())
    assert len(gone) > 300
    assert [mark for mark, _ in gone if mark.encode() in content] == []
    assert [mark for mark, secret in gone if secret[:8].tobytes() in content] == []


def _one_change(documents: DocumentStore, put: Put, rng: random.Random, held: Any, gone: Any) -> None:
    name, mark = f"d{rng.randrange(120)}", f"q{rng.getrandbits(48):012x}z"
    gone += [held.pop(name)] if name in held else []
    if rng.random() < 0.3:
        documents.delete(SPACE, [name])
        return
    held[name] = (mark, vector(*(rng.gauss(0, 1) for _ in range(256))))
    put(name, f"{mark} {'x' * rng.choice([5, 200, 3000])}", held[name][1], metadata={"m": mark})


def _with(kept: Kept, embedding: Floats) -> list[str]:
    return [name for name, content in kept().items() if embedding[:4].tobytes() in content]
