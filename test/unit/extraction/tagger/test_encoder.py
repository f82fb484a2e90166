"""The encoder beside its formulas written out, and how it cuts words."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory.extraction.tagger.encoder import (
    BEGIN,
    BLOCK,
    END,
    LETTERS,
    LONGEST,
    SPACE,
    SPECIAL,
    UNKNOWN,
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

SIZE, WIDE, HEADS = BLOCK, 8, 2
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
        return Dense(
            chance.integers(-127, 128, (given, made), np.int8), np.full(made, 0.005, np.float32), numbers(made)
        )

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


# the formulas


def written_out(encoder: Encoder, words: Sequence[str]) -> list[Vector]:
    """What each word means, one number at a time."""
    rows, firsts = [BEGIN], []
    for word in words:
        firsts.append(len(rows))
        rows += encoder.pieces.cut(word)
    rows.append(END)
    vectors = [
        normal(encoder.first, [a + b for a, b in zip(piece(encoder.table, row), map(float, at), strict=True)])
        for row, at in zip(rows, encoder.places, strict=False)
    ]
    for layer in encoder.layers:
        vectors = after(layer, vectors)
    return [vectors[first] for first in firsts]


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
        assert np.allclose(encoder.read(words), written_out(encoder, words), atol=5e-3)


def test_the_same_word_means_something_else_among_others() -> None:
    read = small_encoder().read
    assert not np.allclose(read(["my", "blue"])[1], read(["blue", "blue"])[1], atol=1e-2)


def test_a_long_text_is_read_in_parts() -> None:
    encoder = small_encoder()
    words = ["my"] * LONGEST + ["blue"]
    found = encoder.read(words)
    assert found.shape == (LONGEST + 1, SIZE)
    assert np.allclose(found[-1], encoder.read(["blue"])[0], atol=1e-5)


def test_a_word_longer_than_what_is_read_at_once_is_read_as_far_as_it_goes() -> None:
    assert small_encoder().read(["z" * 3 * LONGEST]).shape == (1, SIZE)


def test_what_is_packed_is_unpacked() -> None:
    encoder = small_encoder()
    again = unpacked(packed(encoder))
    assert np.array_equal(again.read(["my", "bluebottle"]), encoder.read(["my", "bluebottle"]))


def test_a_layer_keeps_the_nearest_of_what_it_is_given() -> None:
    weights = np.array([[0.5, -1.27], [0.014, 0.0]], np.float32)
    dense = Dense.of(weights, np.array([1.0, 2.0], np.float32))
    found = dense.make(np.eye(2, dtype=np.float32))
    assert np.allclose(found - weights, [[1.0, 2.0], [1.0, 2.0]], atol=5e-3)
