"""The encoder of the reader: the lower layers of a transformer (Vaswani et al., 2017), in numpy.

They are those of multilingual-e5-small (Wang et al., 2024; MIT license), trained on by ``training/train_reader``. All
weights take half a byte in the file; in memory those of layers take a byte.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory.text import languages

BEGIN, END, UNKNOWN = 0, 1, 2
"""The rows of what opens and closes an utterance, and of a letter that is no piece."""
SPECIAL = 3
"""So many rows stand before those of pieces."""
SPACE = "\u2581"
"""What a piece starts with that starts a word."""
UNLIKELY = -30.0
"""The logarithm of how likely a letter is that is no piece."""
LETTERS = 64
"""Of a longer word so many letters are read."""
LAST_WORDS = 2048
"""So many words are kept in mind with their pieces."""


@dataclass(frozen=True)
class Pieces:
    """Thread-safe: it is only read."""

    hashes: NDArray[np.uint32]
    """What pieces are known by, in order; their rows follow, behind SPECIAL."""
    scores: NDArray[np.float16]
    """The logarithm of how likely each is."""
    longest: int
    """Letters of a piece at most."""

    def cut(self, word: str) -> tuple[int, ...]:
        """The rows of a word's pieces, in order; at least one."""
        return self._cut(word)

    @cached_property
    def _cut(self) -> Callable[[str], tuple[int, ...]]:
        return languages.lru_cached(self._likeliest, LAST_WORDS)

    def _likeliest(self, word: str) -> tuple[int, ...]:
        """The pieces that are likeliest together (Kudo, "Subword Regularization", 2018), by Viterbi's algorithm."""
        text = SPACE + word[:LETTERS]
        best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        for end in range(1, len(text) + 1):
            starts = range(max(end - self.longest, 0), end)
            made = (self._with(best[start], text[start:end]) for start in starts)
            best.append(max((one for one in made if one is not None), key=lambda one: one[0]))
        return best[-1][1]

    def _with(self, before: tuple[float, tuple[int, ...]], piece: str) -> tuple[float, tuple[int, ...]] | None:
        """A cut with one more piece; None where there is no such piece."""
        wanted = hashed(piece)
        place = int(self.hashes.searchsorted(np.uint32(wanted)))
        if place < len(self.hashes) and self.hashes[place] == wanted:
            return before[0] + float(self.scores[place]), (*before[1], place + SPECIAL)
        return (before[0] + UNLIKELY, (*before[1], UNKNOWN)) if len(piece) == 1 else None


def hashed(piece: str) -> int:
    """What a piece is known by."""
    return zlib.crc32(piece.encode())


BLOCK = 32
"""So many numbers of a row share a scale."""
ZERO = 8
"""The half byte that is zero."""
SHARES = (1.0, 0.95, 0.9, 0.85, 0.8, 1.05, 1.1)
"""Of the scale by which the highest number of a block is met, these shares are tried."""
AT_ONCE = 67_108_864 if os.environ.get("OPENBLAS_NUM_THREADS") == "1" else 262_144
"""So many products of two numbers are made at a time: of more than the lower number, OpenBLAS makes threads where it is
allowed to, which wait for each other where all cores are at work."""
EPSILON = 1e-12
"""Added to a variance before its root."""
LONGEST = 126
"""Pieces at most that are read at once."""
Vectors = NDArray[np.float32]
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Halves:
    """Vectors, half a byte for each number: of each BLOCK the first half in the low bits."""

    rows: NDArray[np.uint8]
    scales: NDArray[np.float16]

    @classmethod
    def nearest(cls, vectors: Vectors) -> Halves:
        """The half bytes nearest to these vectors, float32 [n, width], by the least squares of a few scales."""
        blocks = vectors.reshape(len(vectors), -1, BLOCK)
        highest = np.take_along_axis(blocks, np.abs(blocks).argmax(axis=2)[..., None], axis=2)
        best, scales = np.full(blocks.shape[:2], np.inf, np.float32), np.ones(blocks.shape[:2], np.float16)
        for share in SHARES:
            tried = (highest[..., 0] * np.float32(-share / ZERO)).astype(np.float16)
            tried[tried == 0] = np.finfo(np.float16).tiny
            missed = ((_codes(blocks, tried) * tried[..., None].astype(np.float32) - blocks) ** 2).sum(axis=2)
            scales, best = np.where(missed < best, tried, scales), np.minimum(missed, best)
        codes = (_codes(blocks, scales) + ZERO).astype(np.uint8)
        both: NDArray[np.uint8] = codes[..., : BLOCK // 2] | codes[..., BLOCK // 2 :] * np.uint8(16)
        return cls(both.reshape(len(vectors), -1), scales)

    def of(self, numbers: Sequence[int]) -> Vectors:
        """The vectors of these rows."""
        held = self.rows[list(numbers)].reshape(len(numbers), -1, BLOCK // 2)
        both = np.concatenate([held & 15, held >> 4], axis=2).astype(np.float32) - ZERO
        vectors: Vectors = (both * self.scales[list(numbers)][..., None].astype(np.float32)).reshape(len(numbers), -1)
        return vectors


def _codes(blocks: Vectors, scales: NDArray[np.float16]) -> Vectors:
    codes: Vectors = np.clip(np.rint(blocks / scales[..., None].astype(np.float32)), -ZERO, ZERO - 1)
    return codes


@dataclass(frozen=True)
class Dense:
    """A layer of weights, a byte each."""

    rows: NDArray[np.int8]
    """As high as what it is given, as wide as what it makes."""
    scales: Vectors
    """What one is worth in each column."""
    shift: Vectors

    @classmethod
    def of(cls, weights: Vectors, shift: Vectors) -> Dense:
        """The nearest bytes; ``weights``: as high as what it is given."""
        scales = np.maximum(np.abs(weights).max(axis=0), 1e-9) / np.iinfo(np.int8).max
        return cls(np.rint(weights / scales).astype(np.int8), scales.astype(np.float32), shift)

    @property
    def weights(self) -> Vectors:
        """What ``of`` was given, as near as bytes come."""
        weights: Vectors = self.rows * self.scales
        return weights

    def make(self, vectors: Vectors) -> Vectors:
        return product(vectors, self.rows) * self.scales + self.shift


@dataclass(frozen=True)
class ChangedDense(Dense):
    """Another's weights with a change of few ranks (Hu et al., "LoRA", 2022), which is kept apart from them."""

    left: NDArray[np.floating]
    """As high as what it is given, as wide as there are ranks."""
    right: NDArray[np.floating]
    """As high as there are ranks, as wide as what it makes."""

    @classmethod
    def upon(cls, base: Dense, left: NDArray[Any], right: NDArray[Any], shift: Vectors) -> ChangedDense:
        """``base`` stays as it is, and is shared."""
        return cls(base.rows, base.scales, shift, left, right)

    @property
    def weights(self) -> Vectors:
        """What comes of both."""
        return super().weights + self.left.astype(np.float32) @ self.right.astype(np.float32)

    def make(self, vectors: Vectors) -> Vectors:
        return super().make(vectors) + product(product(vectors, self.left), self.right)


def product(vectors: Vectors, rows: NDArray[Any]) -> Vectors:
    """The product of two matrices, some columns at a time: bytes are turned into numbers of four bytes."""
    given, wide = rows.shape
    some = max(AT_ONCE // (given * len(vectors)), 1)
    made = np.empty((len(vectors), wide), np.float32)
    for first in range(0, wide, some):
        made[:, first : first + some] = vectors @ rows[:, first : first + some].astype(np.float32, copy=False)
    return made


@dataclass(frozen=True)
class Norm:
    """Moves and scales each vector to mean 0 and variance 1 (Ba, Kiros and Hinton, 2016), then as it was learned."""

    scale: Vectors
    shift: Vectors

    def make(self, vectors: Vectors, epsilon: float = EPSILON) -> Vectors:
        middle = vectors - vectors.mean(axis=1, keepdims=True)
        root = np.sqrt((middle * middle).mean(axis=1, keepdims=True) + epsilon)
        made: Vectors = middle / root * self.scale + self.shift
        return made


@dataclass(frozen=True)
class Layer:
    """Each piece looks at all others, then thinks for itself."""

    query: Dense
    key: Dense
    value: Dense
    output: Dense
    up: Dense
    down: Dense
    after_others: Norm
    after_itself: Norm

    def make(self, vectors: Vectors, heads: int, sizes: Sequence[int] = ()) -> Vectors:
        """``sizes``: the number of pieces of each text where there are several; pieces look at those of their own."""
        vectors = self.after_others.make(vectors + self.output.make(self._attended(vectors, heads, sizes)))
        return self.after_itself.make(vectors + self.down.make(_gelu(self.up.make(vectors))))

    def _attended(self, vectors: Vectors, heads: int, sizes: Sequence[int]) -> Vectors:
        size = len(vectors)
        query, key, value = (
            one.make(vectors).reshape(size, heads, -1).transpose(1, 0, 2) for one in (self.query, self.key, self.value)
        )
        ends = np.cumsum(sizes or [size])
        bounds = [slice(end - part, end) for end, part in zip(ends, sizes or [size], strict=True)]
        mixed = [_mixed(query[:, one], key[:, one], value[:, one]) for one in bounds]
        return mixed[0] if len(mixed) == 1 else np.concatenate(mixed)


def _mixed(query: Vectors, key: Vectors, value: Vectors) -> Vectors:
    """What each piece takes over from all: [heads, pieces, n] to [pieces, width]."""
    heads, size, part = query.shape
    close = query @ key.transpose(0, 2, 1) / np.sqrt(np.float32(part))
    raised = np.exp(close - close.max(axis=2, keepdims=True))
    mixed: Vectors = (raised / raised.sum(axis=2, keepdims=True)) @ value
    joined: Vectors = mixed.transpose(1, 0, 2).reshape(size, heads * part)
    return joined


DENSE = ("query", "key", "value", "output", "up", "down")
NORMS = ("after_others", "after_itself")


@dataclass(frozen=True)
class Encoder:
    """Thread-safe: it is only read."""

    pieces: Pieces
    table: Halves
    """Of pieces."""
    places: Vectors
    """Of where a piece stands."""
    first: Norm
    layers: tuple[Layer, ...]
    heads: int

    def begin(self, rows: Sequence[int], beside: Vectors, layers: int) -> Vectors:
        """What each piece means after so many layers, float32 [pieces, width]; ``beside`` is added to what each is."""
        return self.made(self.placed(rows, beside), layers)

    def placed(self, rows: Sequence[int], beside: Vectors) -> Vectors:
        """What each piece is before the first layer."""
        return self.first.make(self.table.of(rows) + self.places[: len(rows)] + beside)

    def made(self, vectors: Vectors, layers: int, sizes: Sequence[int] = ()) -> Vectors:
        """The same after so many layers; ``sizes``: the number of pieces of each text where there are several."""
        for layer in self.layers[:layers]:
            vectors = layer.make(vectors, self.heads, sizes)
        return vectors

    def go_on(self, vectors: Vectors, first: int, last: int | None = None) -> Vectors:
        """What each piece means after ``last`` layers, None: all, from what it means after the ``first``."""
        for layer in self.layers[first:last]:
            vectors = layer.make(vectors, self.heads)
        return vectors


def _gelu(values: Vectors) -> Vectors:
    """Hendrycks and Gimpel, 2016, by a hyperbolic tangent."""
    made: Vectors = (
        np.float32(0.5) * values * (1.0 + np.tanh(0.7978845608 * (values + 0.044715 * values * values * values)))
    )
    return made


# to and from a file


def packed(encoder: Encoder) -> dict[str, NDArray[Any]]:
    """All that an encoder is, by name."""
    kept: dict[str, NDArray[Any]] = {
        "hashes": encoder.pieces.hashes,
        "scores": encoder.pieces.scores,
        "sizes": np.array([encoder.pieces.longest, encoder.heads, len(encoder.layers)]),
        "table": encoder.table.rows,
        "table_scales": encoder.table.scales,
        "places": encoder.places.astype(np.float16),
        **_norm_packed("first", encoder.first),
    }
    for number, layer in enumerate(encoder.layers):
        for name in DENSE:
            dense: Dense = getattr(layer, name)
            halves = Halves.nearest(dense.weights.T)
            kept[f"{number}_{name}"], kept[f"{number}_{name}_scales"] = halves.rows, halves.scales
            kept[f"{number}_{name}_shift"] = dense.shift.astype(np.float16)
        for name in NORMS:
            kept |= _norm_packed(f"{number}_{name}", getattr(layer, name))
    return kept


def unpacked(kept: Arrays) -> Encoder:
    """The encoder of ``packed``; KeyError where something is missing."""
    longest, heads, layers = (int(size) for size in kept["sizes"])
    pieces = Pieces(kept["hashes"], kept["scores"], longest)
    table, places = Halves(kept["table"], kept["table_scales"]), kept["places"].astype(np.float32)
    made = tuple(_layer(kept, number) for number in range(layers))
    return Encoder(pieces, table, places, _norm(kept, "first"), made, heads)


def _layer(kept: Arrays, number: int) -> Layer:
    parts: dict[str, Any] = {name: _dense(kept, f"{number}_{name}") for name in DENSE}
    parts |= {name: _norm(kept, f"{number}_{name}") for name in NORMS}
    return Layer(**parts)


def _dense(kept: Arrays, name: str) -> Dense:
    halves = Halves(kept[name], kept[f"{name}_scales"])
    return Dense.of(halves.of(range(len(halves.rows))).T, kept[f"{name}_shift"].astype(np.float32))


def _norm_packed(name: str, norm: Norm) -> dict[str, NDArray[Any]]:
    return {f"{name}_scale": norm.scale, f"{name}_shift": norm.shift}


def _norm(kept: Arrays, name: str) -> Norm:
    return Norm(kept[f"{name}_scale"], kept[f"{name}_shift"])
