"""Vectors in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ovos_persona_memory.stores.base import vector_math
from ovos_persona_memory.stores.base.vector_math import (
    Bytes,
    Floats,
    VectorFilter,
    VectorPlacement,
    VectorTable,
    cosines,
    normalised,
    quantised,
)

DIM = 200


def rows(number: int, seed: int = 1) -> Floats:
    """Points near a space of few dimensions, as texts are."""
    latent = np.random.default_rng(0).standard_normal((24, DIM))
    return normalised((np.random.default_rng(seed).standard_normal((number, 24)) @ latent).astype(np.float32))


class File:
    """What a table reads from, and how much of it was read."""

    def __init__(self, held: Bytes) -> None:
        self.held, self.reads = held, 0

    def read(self, nums: Sequence[int]) -> Bytes:
        self.reads += len(nums)
        return self.held[list(nums)]


def table(of: Floats, places: Sequence[VectorPlacement] | None = None) -> tuple[VectorTable, File]:
    """The rows as documents 100, 101, and so on, put in parts."""
    file = File(quantised(of))
    made = VectorTable(DIM, file.read)
    for start in range(0, len(of), 70):
        part = range(start, min(start + 70, len(of)))
        given = [places[number] for number in part] if places else [VectorPlacement()] * len(part)
        made.put([100 + number for number in part], list(part), given, file.held[start : start + 70])
    return made, file


def exact(of: Floats, query: Floats, number: int) -> list[int]:
    return [100 + int(i) for i in np.argsort(-(of @ query))[:number]]


def test_the_nearest_come_first_with_their_cosine() -> None:
    of = rows(500)
    found = table(of)[0].best(of[7], 30)
    assert len({doc for doc, _ in found} & set(exact(of, of[7], 30))) >= 28  # a byte a dimension is not all of it
    assert found[0][0] == 107
    assert [cosine for _, cosine in found] == pytest.approx(np.sort(of @ of[7])[::-1][:30], abs=0.005)


def test_of_equal_ones_the_newer_comes_first() -> None:
    of = np.repeat(rows(1), 5, axis=0)
    assert [doc for doc, _ in table(of)[0].best(of[0], 5)] == [104, 103, 102, 101, 100]


def test_a_large_table_holds_no_rows_and_reads_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_math, "EXACT", 1000)
    of = rows(6000)
    near = normalised(of[:50] + 0.08 * rows(50, seed=2))
    made, file = table(of)
    whole = table(of[:900])[0]
    assert made.bytes / 6000 < whole.bytes / 900 / 2
    hits = [len({d for d, _ in made.best(q, 10)} & set(exact(of, q, 10))) for q in near[:5]]
    assert sum(hits) >= 45
    assert file.reads == 5 * (vector_math.RESCORED + 10)


@pytest.mark.parametrize("limit", [20_000, 100])
def test_only_what_is_wanted_is_looked_at(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_math, "EXACT", limit)
    monkeypatch.setattr(vector_math, "RESCORED", 20)
    of = rows(300)
    personas = ("a", "b", None)
    places = [VectorPlacement(f"s{n % 4}", personas[n % 3], private=n % 6) for n in range(300)]
    made, _ = table(of, places)
    chosen = VectorFilter(VectorPlacement("s1", "a"), level=2)
    expected = {100 + n for n in range(300) if n % 4 == 1 and n % 3 != 1 and n % 6 <= 2}
    assert {doc for doc, _ in made.best(of[7], 300, made.within(chosen))} == expected
    assert made.best(of[7], 9, made.within(VectorFilter(VectorPlacement("nowhere")))) == []
    assert made.best(of[7], 9, made.within(VectorFilter(turns=False))) == []
    assert made.within(VectorFilter()) is None
    made.move(101, VectorPlacement("nowhere"))
    assert [doc for doc, _ in made.best(of[7], 9, made.within(VectorFilter(VectorPlacement("nowhere"))))] == [101]


@pytest.mark.parametrize("limit", [20_000, 100])
def test_what_is_dropped_is_never_found_and_leaves_nothing(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_math, "EXACT", limit)
    of = rows(300)
    made, _ = table(of)
    made.drop([107, 100, 399, 12345])
    assert len(made) == 297
    assert {doc for doc, _ in made.best(of[7], 300)} == {100 + n for n in range(300)} - {107, 100, 399}
    assert made.best(of[8], 1)[0][0] == 108
    assert made.cosines(of[8], [107, 108, 399]).keys() == {108}
    made.drop(range(100, 400))
    assert made.best(of[8], 5) == []
    assert not any(held.any() for held in (made._docs, made._rows if made._rows is not None else made._signs))


def test_a_row_can_be_replaced() -> None:
    of = rows(10)
    made, file = table(of)
    made.put([103], [5], [VectorPlacement()], file.held[5:6])
    assert {doc for doc, _ in made.best(of[5], 2)} == {103, 105}
    assert len(made) == 10


def test_a_cosine_does_not_depend_on_the_rows_beside_it() -> None:
    of = quantised(rows(1100))
    query = rows(1, seed=5)[0]
    together = cosines(of, query)
    assert all(cosines(of[n : n + 1], query)[0] == together[n] for n in range(0, 1100, 7))
    assert cosines(np.zeros((1, DIM), dtype=np.int8), query).tolist() == [0.0]


def test_bits_are_counted_alike_by_every_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(4).integers(0, 2**63, 50, dtype=np.uint64)
    now = vector_math._ones(numbers).tolist()
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert vector_math._ones(numbers).tolist() == now == [int(number).bit_count() for number in numbers]


def test_in_a_large_table_only_what_is_wanted_is_found_and_of_equals_the_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_math, "EXACT", 10)
    monkeypatch.setattr(vector_math, "RESCORED", 5)
    monkeypatch.setattr(vector_math, "SIGNS", 7)  # parts that do not fit the number of rows
    rows = np.tile(np.array([[127, 127, -127, 127]], dtype=np.int8), (100, 1))
    table = VectorTable(4, lambda nums: rows[: len(nums)])
    table.put(range(1, 101), range(100), [VectorPlacement("odd" if n % 2 else "even") for n in range(1, 101)], rows)
    query = np.array([1, 1, -1, 1], dtype=np.float32)
    assert [doc for doc, _ in table.best(query, 3)] == [100, 99, 98]
    odd = table.within(VectorFilter(VectorPlacement("odd")))
    assert [doc for doc, _ in table.best(query, 3, odd)] == [99, 97, 95]
    assert table.best(query, 3, np.zeros(100, dtype=bool)) == []
