"""What every store promises about secrets that somebody asked to keep: they are where secrets are asked for alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import SECRET, Entry, Scope, Selection, Turn
from ovos_persona_memory.search.record_terms import index_words, renew
from ovos_persona_memory.stores.base.selection import BOTH
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.base.vector_math import normalised, quantised
from ovos_persona_memory.stores.base.vectors import VectorIndex

Keep = Callable[..., Entry]
Say = Callable[..., Turn]
MEMORIES = frozenset({"memory"})
LEVELS = (None, 0, 3, 5)
KEPT = {SECRET: True}
WORD = "zyxquark"


@pytest.fixture
def filled(store: Store, keep: Keep, say: Say) -> Store:
    """A secret, something private and something plain of the same words, and talk about it."""
    keep("wifi", f"the password is {WORD}", metadata=KEPT)
    keep("safe", "the password of grandma", metadata={"private": 3})
    keep("note", "the password is on the fridge")
    say("the password is somewhere")
    return store


def reached(store: Store, scope: Scope) -> list[set[str]]:
    """The texts of memories that each way of looking gives."""
    ways = (
        store.entries(scope),
        (record for record, _ in store.documents(scope, MEMORIES)),
        (found.record for found in store.search(["password"], scope, MEMORIES, 9)),
        store.select(Selection(scope, kinds=MEMORIES)),
        store.select(Selection(scope, words=(frozenset({"password"}),), kinds=MEMORIES)),
    )
    return [{record.text for record in way} for way in ways]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("whose", ["household", None])
def test_a_secret_is_reached_where_secrets_are_asked_for_alone(
    filled: Store, level: int | None, whose: str | None
) -> None:
    private = {"the password of grandma"} if level is None or level >= 3 else set()
    open_to_all = {"the password is on the fridge", *private}
    scope = Scope(user_id=whose, auth_level=level)
    assert all(found == open_to_all for found in reached(filled, scope))
    asked = Scope(user_id=whose, auth_level=level, secrets=True)
    assert all(found == {*open_to_all, f"the password is {WORD}"} for found in reached(filled, asked))
    assert [WORD in words for words in filled.newest_words(scope, MEMORIES, 9)].count(True) == 0
    counted = [filled.count(Selection(one, kinds=MEMORIES)).memories for one in (scope, asked)]
    assert counted == [len(open_to_all), len(open_to_all) + 1]


@pytest.mark.parametrize("secrets", [False, True])
def test_a_search_among_secrets_is_the_plain_scan(filled: Store, secrets: bool) -> None:
    scope, asked = Scope(secrets=secrets), ["password", WORD, "fridge"]
    quick, plain = (way(asked, scope, BOTH, 9) for way in (filled.search, lambda *a: Store.search(filled, *a)))
    assert [(one.record.id, one.words) for one in quick] == [(one.record.id, one.words) for one in plain]
    assert [one.score for one in quick] == pytest.approx([one.score for one in plain])
    known = [way(asked, "household") for way in (filled.statistics, lambda *a: Store.statistics(filled, *a))]
    assert (known[0].documents, known[0].frequency) == (known[1].documents, known[1].frequency)


def test_whether_a_user_has_secrets_is_known(filled: Store, keep: Keep) -> None:
    keep("note", "the door code", user_id="ada", metadata={"private": 5})
    assert [filled.has_secrets(user) for user in ("household", "ada", "nobody")] == [True, False, False]
    filled.delete(Selection(Scope(secrets=True), keys=("wifi",), kinds=MEMORIES))
    assert not filled.has_secrets("household")


def test_nothing_of_a_secret_is_embedded(filled: Store) -> None:
    vectors = filled.vector_store
    vectors.start(VectorIndex("model-1", "minilm", 8))
    taken = vectors.pending("model-1", 99)
    assert not [one.text for one in taken if WORD in one.text or "wifi" in one.text]
    row = normalised(np.ones(8, dtype=np.float32))
    rows = np.stack([row if one.text.strip() else np.zeros(8, dtype=np.float32) for one in taken])
    vectors.put("model-1", taken, quantised(rows))
    asked = Scope(secrets=True)
    assert not [near for near in vectors.nearest("model-1", row, asked, BOTH, 9) if WORD in near.record.text]
    assert len(vectors.nearest("model-1", row, asked, BOTH, 9)) == 3
    assert vectors.lag("model-1") == 0


def test_a_memory_that_becomes_a_secret_loses_its_vector(store: Store) -> None:
    memory = PersonaMemory(store, MemoryConfig(), clock=lambda: 5.0)
    memory.remember("the attic smells of roses", key="attic", metadata={"by": "anna"})
    store.vector_store.start(VectorIndex("model-1", "minilm", 8))
    row = normalised(np.ones(8, dtype=np.float32))
    store.vector_store.put("model-1", store.vector_store.pending("model-1", 9), quantised(row[None, :]))
    kept = memory.remember("the attic smells of roses", key="attic", secret=True)
    assert store.vector_store.nearest("model-1", row, Scope(secrets=True), BOTH, 9) == []
    assert kept.metadata == {"by": "anna", SECRET: True}
    assert not [one.text for one in store.vector_store.pending("model-1", 9) if one.text]


def test_a_secret_is_forgotten_to_its_last_byte(filled: Store, left_in_files: Callable[[str], list[str]]) -> None:
    memory = PersonaMemory(filled, MemoryConfig(), clock=lambda: 5000.0)
    assert bool(left_in_files(WORD)) == filled.durable
    assert memory.forget(query=f"password {WORD}") == 1
    assert left_in_files(WORD) == []
    assert filled.entries(Scope(secrets=True)) == filled.entries(Scope())


def test_what_looks_after_a_store_sees_secrets_too(filled: Store, open_again: Callable[[], Store]) -> None:
    memory = PersonaMemory(filled, MemoryConfig(), clock=lambda: 5000.0)
    assert memory.users.merge("household", "ada").memories == 3
    filled.put_state("word_rules", "older ones")
    renew(filled)
    store = open_again()
    [secret] = [one for one in store.entries(Scope(user_id="ada", secrets=True)) if one.secret]
    assert (secret.text, secret.metadata) == (f"the password is {WORD}", KEPT)
    words = {record.id: words for record, words in store.documents(Scope.whole(), MEMORIES)}
    assert words[secret.id] == index_words(secret)
    assert [one.record.id for one in store.search([WORD], Scope(user_id="ada", secrets=True), BOTH, 9)] == [secret.id]
