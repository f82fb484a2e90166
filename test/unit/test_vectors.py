"""Vectors in memory."""

from __future__ import annotations

import numpy as np
import pytest

from ovos_persona_memory import vectors
from ovos_persona_memory.vectors import Floats, VectorTable, normalised, quantised

DIM = 256


def rows(number: int, seed: int = 1) -> Floats:
    """Points near a space of few dimensions, as texts are."""
    latent = np.random.default_rng(0).standard_normal((24, DIM))
    return normalised((np.random.default_rng(seed).standard_normal((number, 24)) @ latent).astype(np.float32))


def table(of: Floats) -> VectorTable:
    made = VectorTable(DIM)
    made.put(range(100, 100 + len(of)), quantised(of))
    return made


def exact(of: Floats, query: Floats, number: int) -> list[int]:
    return [100 + int(i) for i in np.argsort(-(of @ query))[:number]]


def test_the_nearest_come_first_with_their_cosine() -> None:
    of = rows(500)
    found = table(of).best(of[7], 3)
    assert found[0][0] == 107
    assert found[0][1] == pytest.approx(1.0, abs=0.02)
    assert [doc for doc, _ in found] == exact(of, of[7], 3)


def test_a_large_table_finds_nearly_what_the_exact_product_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "EXACT", 1000)
    of = rows(6000)
    near = normalised(of[:50] + 0.08 * rows(50, seed=2))
    hits = [len({d for d, _ in table(of).best(q, 10)} & set(exact(of, q, 10))) for q in near[:5]]
    assert sum(hits) >= 45


def test_only_what_is_allowed_is_ranked() -> None:
    of = rows(300)
    allowed = np.array([150, 160, 399, 5], dtype=np.int64)
    found = table(of).best(of[7], 10, allowed)
    assert sorted(doc for doc, _ in found) == [150, 160, 399]
    assert [doc for doc, _ in found] == sorted((150, 160, 399), key=lambda doc: -float(of[doc - 100] @ of[7]))


def test_what_is_dropped_is_never_found_and_the_rest_is() -> None:
    of = rows(300)
    made = table(of)
    made.drop([107, 100, 399, 12345])
    assert len(made) == 297
    assert 107 not in {doc for doc, _ in made.best(of[7], 297)}
    assert made.best(of[8], 1)[0][0] == 108


def test_a_row_can_be_replaced() -> None:
    of = rows(10)
    made = table(of)
    made.put([103], quantised(of[5:6]))
    assert {doc for doc, _ in made.best(of[5], 2)} == {103, 105}
    assert len(made) == 10


def test_cosines_are_given_for_known_documents_alone() -> None:
    of = rows(10)
    found = table(of).cosines(of[3], [103, 104, 999])
    assert sorted(found) == [103, 104]
    assert found[103] == pytest.approx(1.0, abs=0.02)


def test_nothing_is_found_in_an_empty_table() -> None:
    assert VectorTable(DIM).best(rows(1)[0], 5) == []
    assert VectorTable(DIM).cosines(rows(1)[0], [1]) == {}
