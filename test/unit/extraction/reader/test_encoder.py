"""The encoder beside its formulas written out, and how it cuts words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory.extraction.reader.encoder import (
    BEGIN,
    BLOCK,
    END,
    LETTERS,
    LONGEST,
    SPACE,
    SPECIAL,
    UNKNOWN,
    ChangedDense,
    Dense,
    Encoder,
    Halves,
    Layer,
    Norm,
    Pieces,
    hashed,
    packed,
    unpacked,
)

SIZE, WIDE, HEADS = BLOCK, 2 * BLOCK, 2
SCORES = {f"{SPACE}blue": -3.0, "bott": -4.0, "le": -2.0, f"{SPACE}b": -2.0, "lue": -6.0, "l": -3.0, "e": -3.0}
SCORES |= {f"{SPACE}my": -1.0, SPACE: -5.0}
Vector = list[float]


def small_pieces() -> Pieces:
    """A few pieces."""
    ordered = sorted(SCORES, key=hashed)
    hashes = np.array([hashed(piece) for piece in ordered], np.uint32)
    return Pieces(hashes, np.array([SCORES[piece] for piece in ordered], np.float16), max(map(len, ordered)))


def small_encoder(seed: int = 7) -> Encoder:
    """Numbers by chance, such as a file keeps exactly."""
    chance = np.random.default_rng(seed)

    def numbers(*shape: int) -> NDArray[np.float32]:
        return chance.normal(0, 0.5, shape).astype(np.float16).astype(np.float32)

    def dense(given: int, made: int) -> Dense:
        codes = chance.integers(0, 256, (made, given // 2), np.uint8)
        codes[:, :: BLOCK // 2] &= 0xF0  # the highest number of each block, from which its scale is found
        scales = np.full((made, given // BLOCK), 0.0625, np.float16)
        return Dense.of(Halves(codes, scales).of(range(made)).T, numbers(made))

    def norm() -> Norm:
        return Norm(numbers(SIZE), numbers(SIZE))

    def layer() -> Layer:
        return Layer(*(dense(SIZE, SIZE) for _ in range(4)), dense(SIZE, WIDE), dense(WIDE, SIZE), norm(), norm())

    rows = SPECIAL + len(SCORES)
    table = Halves(
        chance.integers(0, 256, (rows, SIZE // 2), np.uint8), chance.normal(0, 0.1, (rows, 1)).astype(np.float16)
    )
    return Encoder(small_pieces(), table, numbers(LONGEST + 2, SIZE), norm(), (layer(), layer()), HEADS)


def pieces_of(word: str) -> list[str]:
    ordered = sorted(SCORES, key=hashed)
    return ["?" if row == UNKNOWN else ordered[row - SPECIAL] for row in small_pieces().cut(word)]


def test_a_word_is_cut_into_the_likeliest_pieces() -> None:
    assert pieces_of("bluebottle") == [f"{SPACE}blue", "bott", "le"]
    assert pieces_of("blue") == [f"{SPACE}blue"]
    assert pieces_of("my") == [f"{SPACE}my"]
    assert pieces_of("ble") == [f"{SPACE}b", "le"]  # not "l", "e"


def test_a_letter_that_is_no_piece_is_unknown() -> None:
    assert pieces_of("zle") == [SPACE, "?", "le"]
    assert small_pieces().cut("") == small_pieces().cut("")


def test_of_an_endless_word_the_beginning_is_read() -> None:
    assert pieces_of("z" * 1000) == [SPACE, *"?" * LETTERS]


def test_half_bytes_are_the_nearest_that_there_are() -> None:
    vectors = np.random.default_rng(3).normal(0, 1, (4, 3 * BLOCK)).astype(np.float32)
    vectors[2] = 0
    halves = Halves.nearest(vectors)
    again = halves.of(range(4))
    assert np.abs(again - vectors).max() < 0.3 and not again[2].any()
    assert np.abs(Halves.nearest(again).of(range(4)) - again).max() < 1e-3  # what is so kept once stays as it is


# the formulas


def rows_of(encoder: Encoder, words: Sequence[str]) -> list[int]:
    return [BEGIN, *(row for word in words for row in encoder.pieces.cut(word)), END]


def read(encoder: Encoder, words: Sequence[str], beside: float = 0.0) -> NDArray[np.float32]:
    """A vector for each piece."""
    rows = rows_of(encoder, words)
    return encoder.go_on(encoder.begin(rows, np.full((len(rows), SIZE), beside, np.float32), 1), 1)


def written_out(encoder: Encoder, words: Sequence[str], beside: float = 0.0) -> list[Vector]:
    """What each piece means, one number at a time."""
    vectors = [
        normal(encoder.first, [a + b + beside for a, b in zip(piece(encoder.table, row), map(float, at), strict=True)])
        for row, at in zip(rows_of(encoder, words), encoder.places, strict=False)
    ]
    for layer in encoder.layers:
        vectors = after(layer, vectors)
    return vectors


def piece(table: Halves, row: int) -> Vector:
    held = [int(byte) for byte in table.rows[row]]
    scale = float(table.scales[row][0])
    return [(byte % 16 - 8) * scale for byte in held] + [(byte // 16 - 8) * scale for byte in held]


def after(layer: Layer, vectors: list[Vector]) -> list[Vector]:
    found = []
    query, key, value = ([made(one, vector) for vector in vectors] for one in (layer.query, layer.key, layer.value))
    part = SIZE // HEADS
    for place, vector in enumerate(vectors):
        mixed: Vector = []
        for head in range(0, SIZE, part):
            close = [
                sum(query[place][n] * other[n] for n in range(head, head + part)) / math.sqrt(part) for other in key
            ]
            shares = [math.exp(one) / sum(map(math.exp, close)) for one in close]
            mixed += [
                sum(share * one[n] for share, one in zip(shares, value, strict=True)) for n in range(head, head + part)
            ]
        heard = normal(layer.after_others, [a + b for a, b in zip(vector, made(layer.output, mixed), strict=True)])
        thought = made(layer.down, [gelu(one) for one in made(layer.up, heard)])
        found.append(normal(layer.after_itself, [a + b for a, b in zip(heard, thought, strict=True)]))
    return found


def made(dense: Dense, vector: Vector) -> Vector:
    return [
        sum(value * int(row[n]) for value, row in zip(vector, dense.rows, strict=True)) * float(dense.scales[n])
        + float(dense.shift[n])
        for n in range(dense.rows.shape[1])
    ]


def normal(norm: Norm, vector: Vector) -> Vector:
    mean = sum(vector) / len(vector)
    variance = sum((value - mean) ** 2 for value in vector) / len(vector)
    parts = zip(vector, norm.scale, norm.shift, strict=True)
    return [(value - mean) / math.sqrt(variance + 1e-12) * float(by) + float(to) for value, by, to in parts]


def gelu(value: float) -> float:
    return value * (1 + math.erf(value / math.sqrt(2))) / 2


def test_it_computes_its_formulas() -> None:
    encoder = small_encoder()
    for words in (["my", "bluebottle"], ["my"], ["blue", "my", "blue", "zz"]):
        for beside in (0.0, 0.3):
            assert np.allclose(read(encoder, words, beside), written_out(encoder, words, beside), atol=5e-3)


def test_the_same_word_means_something_else_among_others() -> None:
    encoder = small_encoder()
    assert not np.allclose(read(encoder, ["my", "blue"])[2], read(encoder, ["blue", "blue"])[2], atol=1e-2)


def test_what_is_packed_is_unpacked() -> None:
    encoder = small_encoder()
    again = unpacked(packed(encoder))
    assert np.allclose(read(again, ["my", "bluebottle"]), read(encoder, ["my", "bluebottle"]), atol=2e-2)


def test_a_layer_keeps_the_nearest_of_what_it_is_given() -> None:
    weights = np.array([[0.5, -1.27], [0.014, 0.0]], np.float32)
    dense = Dense.of(weights, np.array([1.0, 2.0], np.float32))
    found = dense.make(np.eye(2, dtype=np.float32))
    assert np.allclose(found - weights, [[1.0, 2.0], [1.0, 2.0]], atol=5e-3)


def test_changed_weights_are_those_of_both_and_the_base_stays_as_it_is() -> None:
    base = Dense.of(np.array([[0.5, -1.25], [0.25, 0.75]], np.float32), np.array([1.0, 2.0], np.float32))
    left, right = np.array([[1.0], [2.0]]), np.array([[0.5, -0.25]])
    changed = ChangedDense.upon(base, left, right, np.array([3.0, 4.0], np.float32))
    given = np.array([[1.0, 0.0], [0.5, 2.0]], np.float32)
    assert np.allclose(changed.make(given), given @ (base.weights + left @ right) + [3.0, 4.0], atol=1e-4)
    assert np.allclose(changed.weights, base.weights + left @ right, atol=1e-4)
    assert np.allclose(base.make(given), given @ base.weights + [1.0, 2.0], atol=1e-4)
