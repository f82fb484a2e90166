"""The network that guesses what words tell, beside its formulas written out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ovos_persona_memory.extraction.tagger.features import TokenFeatures
from ovos_persona_memory.extraction.tagger.network import (
    BESIDE,
    GATES,
    LARGE,
    OWN,
    Network,
    QuantisedTable,
    arrays_in,
    numbered,
)
from test.unit.extraction.tagger.test_encoder import SIZE, small_encoder

LABELS = ("O", "B-pet", "I-pet")
WIDTH, DEEP = 4, 3
Weights = Mapping[str, NDArray[np.float32]]


@pytest.fixture
def small() -> Network:
    """Numbers by chance, such as a file keeps exactly."""
    chance = np.random.default_rng(7)
    shapes = {
        **{"given": (WIDTH, 2 * GATES * DEEP), "again": (2, DEEP, GATES * DEEP), "bias": (2 * GATES * DEEP,)},
        **{"in_scale": (WIDTH,), "in_shift": (WIDTH,), "out_scale": (2 * DEEP,), "out_shift": (2 * DEEP,)},
        **{"out": (2 * DEEP, len(LABELS)), "out_bias": (len(LABELS),), "in": (SIZE, WIDTH), "in_bias": (WIDTH,)},
        **{"direct": (SIZE, len(LABELS)), "direct_bias": (len(LABELS),)},
    }
    weights = {name: chance.normal(0, 1, shape).astype(np.float16).astype(np.float32) for name, shape in shapes.items()}
    sizes = {"own": (OWN, WIDTH), "beside": (BESIDE, len(LABELS))}
    tables = {name: QuantisedTable(chance.integers(-127, 128, size, np.int8), 0.01) for name, size in sizes.items()}
    return Network(LABELS, small_encoder(), tables, weights)


def look(word: str, *beside: str) -> TokenFeatures:
    return TokenFeatures(word, ["refused=", f"k={word}"], beside or (f"-1={word}",), ["b"])


def written_out(net: Network, seen: Sequence[TokenFeatures]) -> list[list[float]]:
    """The labels' shares, one number at a time."""
    weights, tables = net.weights, {name: table.rows * table.scale for name, table in net.tables.items()}
    meant = net.encoder.read([one.word for one in seen])
    vectors = [
        normal(given(net, tables, one, vector), weights["in_scale"], weights["in_shift"])
        for one, vector in zip(seen, meant, strict=True)
    ]
    forwards = memory(weights, vectors, 0)
    backwards = memory(weights, vectors[::-1], 1)[::-1]
    found = []
    for one, vector, read, other in zip(seen, meant, forwards, backwards, strict=True):
        deep = normal([*read, *other], weights["out_scale"], weights["out_shift"])
        beside = sum(tables["beside"][row] for row in numbered((one.word, *one.beside), BESIDE))
        out = [
            sum(value * float(row[label]) for value, row in zip(deep, weights["out"], strict=True))
            + sum(float(value * row[label]) for value, row in zip(vector, weights["direct"], strict=True))
            + float(weights["out_bias"][label] + weights["direct_bias"][label] + beside[label])
            for label in range(len(LABELS))
        ]
        found.append([math.exp(value) / sum(map(math.exp, out)) for value in out])
    return found


def given(net: Network, tables: Weights, one: TokenFeatures, meant: NDArray[np.float32]) -> list[float]:
    own = sum(tables["own"][row] for row in numbered(one.own, OWN))
    columns = zip(net.weights["in"].T, net.weights["in_bias"], own, strict=True)
    return [
        sum(float(a * b) for a, b in zip(meant, column, strict=True)) + float(to + kind) for column, to, kind in columns
    ]


def normal(vector: list[float], scale: NDArray[np.float32], shift: NDArray[np.float32]) -> list[float]:
    mean = sum(vector) / len(vector)
    variance = sum((value - mean) ** 2 for value in vector) / len(vector)
    moved = [(value - mean) / math.sqrt(variance + 1e-5) for value in vector]
    return [value * float(by) + float(to) for value, by, to in zip(moved, scale, shift, strict=True)]


def memory(weights: Weights, vectors: list[list[float]], way: int) -> list[list[float]]:
    """A long short-term memory; the file holds its gates in the order input, forget, output, new, the first halved."""
    first = way * GATES * DEEP
    told, held, found = [0.0] * DEEP, [0.0] * DEEP, []
    for vector in vectors:
        sums = [
            sum(value * float(row[first + n]) for value, row in zip(vector, weights["given"], strict=True))
            + sum(value * float(row[n]) for value, row in zip(told, weights["again"][way], strict=True))
            + float(weights["bias"][first + n])
            for n in range(GATES * DEEP)
        ]
        gates = [1 / (1 + math.exp(-2 * value)) for value in sums[: 3 * DEEP]]
        new = [math.tanh(value) for value in sums[3 * DEEP :]]
        held = [gates[DEEP + n] * held[n] + gates[n] * new[n] for n in range(DEEP)]
        told = [gates[2 * DEEP + n] * math.tanh(held[n]) for n in range(DEEP)]
        found.append(told)
    return found


@pytest.mark.parametrize("words", [("my", "cat", "blue"), ("cat",), ("my", "cat", "is", "my", "cat")])
def test_it_computes_its_formulas(small: Network, words: tuple[str, ...]) -> None:
    seen = [look(word) for word in words]
    found = small.likely(seen)
    assert np.allclose(found, written_out(small, seen), atol=1e-4)
    assert np.allclose(found.sum(axis=1), 1.0, atol=1e-5)


def test_a_file_tells_what_was_written(small: Network, tmp_path: Path) -> None:
    small.write(tmp_path / "model")
    read, seen = Network.read(tmp_path / "model"), [look("my"), look("cat")]
    assert read.labels == LABELS
    assert np.array_equal(read.likely(seen), small.likely(seen))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"lCRF")
    with pytest.raises(ValueError, match="holds no arrays"):
        Network.read(tmp_path / "model")
    np.savez_compressed(tmp_path / "model.npz", own=np.zeros(3))
    with pytest.raises(ValueError, match="is compressed"):
        Network.read(tmp_path / "model.npz")


def test_large_arrays_stay_in_the_file(tmp_path: Path) -> None:
    rows = np.arange(LARGE, dtype=np.int8).reshape(-1, 4)
    with (tmp_path / "model").open("wb") as file:
        np.savez(file, rows=rows, columns=np.asfortranarray(rows), small=np.array([1.5, 2.5]))
    _, found = arrays_in(tmp_path / "model")
    assert [found["rows"].tolist(), found["columns"].tolist()] == [rows.tolist(), rows.tolist()]
    assert found["small"].tolist() == [1.5, 2.5]
    assert [found[name].base is not None for name in ("rows", "small")] == [True, False]


def test_what_rests_reads_the_same_again(small: Network, tmp_path: Path) -> None:
    small.write(tmp_path / "model")
    read, seen = Network.read(tmp_path / "model"), [look("my"), look("cat")]
    before = read.likely(seen)
    read.rest()
    assert np.array_equal(read.likely(seen), before)


def test_the_order_of_words_counts(small: Network) -> None:
    there, back = small.likely([look("my"), look("cat")]), small.likely([look("cat"), look("my")])
    assert not np.allclose(there[1], back[0], atol=1e-4)


def test_what_stands_beside_a_word_counts(small: Network) -> None:
    one, other = small.likely([look("cat", "-1=my")]), small.likely([look("cat", "-1=your")])
    assert not np.allclose(one, other, atol=1e-4)


def test_a_table_keeps_the_nearest_of_what_it_is_given() -> None:
    vectors = np.array([[0.5, -1.27], [0.014, 0.0]], np.float32)
    table = QuantisedTable.of(vectors)
    assert np.allclose(table.sums([[0], [1], [0, 1]]), [vectors[0], [0.01, 0.0], [0.51, -1.27]], atol=1e-6)
