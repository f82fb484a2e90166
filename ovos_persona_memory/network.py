"""A network that tells what the words of an utterance may be, from what each looks like.

Each word is the sum of vectors: its own, those of its parts (Bojanowski et al., 2017), and those of its features,
which share the rows of a table (feature hashing, Weinberger et al., 2009). A long short-term memory (Hochreiter and
Schmidhuber, 1997) reads them forwards and backwards; what stands beside a word counts at once too (a wide and deep
network, Cheng et al., 2016). ``scripts/train_network`` makes one.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory import language
from ovos_persona_memory.looks import Look

UNHEARD = 0
"""The row of words that were not in the talk that it was trained on."""
OWN, PARTS, BESIDE = 8192, 8192, 16384
"""Rows of the tables of features, parts of words, and of what stands beside one."""
LAST_WORDS = 1024
"""So many words are kept in mind with their vectors."""
EPSILON = 1e-5
"""Added to a variance before its root."""
GATES = 4
"""Of the memory: input, forget, output, new."""
Vectors = NDArray[np.float32]


def numbered(names: Iterable[str], rows: int) -> list[int]:
    """The row of each feature, by its hash."""
    return [zlib.crc32(name.encode()) % rows for name in names]


def parts_of(word: str) -> list[str]:
    """The parts of a word: its ends, and every three and four letters of it."""
    x = f"<{word}>"
    ends = [f"^{x[:4]}", f"^^{x[:5]}", f"${x[-3:]}", f"${x[-4:]}", f"${x[-5:]}"]
    return ends + [x[at : at + size] for size in (3, 4) for at in range(len(x) - size + 1)]


def hashes(words: Iterable[str]) -> NDArray[np.uint32]:
    """What words are known by."""
    return np.array([zlib.crc32(word.encode()) for word in words], np.uint32)


@dataclass(frozen=True)
class Table:
    """Vectors, a byte for each number."""

    rows: NDArray[np.int8]
    scale: float
    """What one is worth."""

    @classmethod
    def of(cls, vectors: Vectors) -> Table:
        """The nearest bytes."""
        scale = float(np.abs(vectors).max()) / np.iinfo(np.int8).max
        return cls(np.rint(vectors / scale).astype(np.int8), scale)

    def sums(self, numbers: Sequence[Sequence[int]]) -> Vectors:
        """The sum of the rows of each list; no list may be empty."""
        found = self.rows[[number for some in numbers for number in some]]
        begins = np.cumsum([0, *map(len, numbers[:-1])])
        sums: Vectors = np.add.reduceat(found, begins, dtype=np.float32)
        return sums * self.scale


@dataclass(frozen=True)
class Network:
    """Thread-safe: it is only read."""

    labels: tuple[str, ...]
    heard: NDArray[np.uint32]
    """The hashes of the words that have a vector, in order; the rows of ``words`` follow them, behind UNHEARD."""
    tables: Mapping[str, Table]
    """words, own, parts: as wide as what the memory reads; beside: as wide as there are labels."""
    weights: Mapping[str, Vectors]
    """Of the memory and what follows it."""

    @classmethod
    def read(cls, path: Path) -> Network:
        """The network in a file; OSError, ValueError or KeyError where it is none."""
        with np.load(path, allow_pickle=False) as file:
            scales = {name.removeprefix("scale_"): float(file[name]) for name in file.files if name[:6] == "scale_"}
            tables = {name: Table(file[f"table_{name}"], scale) for name, scale in scales.items()}
            named = [name for name in file.files if name.startswith("weight_")]
            weights = {name.removeprefix("weight_"): file[name].astype(np.float32) for name in named}
            return cls(tuple(map(str, file["labels"])), file["heard"], tables, weights)

    def write(self, path: Path) -> None:
        """A file that ``read`` reads; weights lose half of their digits."""
        kept: dict[str, Any] = {f"table_{name}": table.rows for name, table in self.tables.items()}
        kept |= {f"scale_{name}": np.array(table.scale) for name, table in self.tables.items()}
        kept |= {f"weight_{name}": weight.astype(np.float16) for name, weight in self.weights.items()}
        with path.open("wb") as file:
            np.savez_compressed(file, labels=np.array(self.labels), heard=self.heard, **kept)

    def likely(self, seen: Sequence[Look]) -> Vectors:
        """How likely each label is for each word: a row for each, in the order of the labels, 0 to 1."""
        deep = self._read(_normal(self._given(seen), self.weights["in_scale"], self.weights["in_shift"]))
        deep = _normal(deep, self.weights["out_scale"], self.weights["out_shift"])
        beside = self.tables["beside"].sums([numbered((look.word, *look.beside), BESIDE) for look in seen])
        found = deep @ self.weights["out"] + self.weights["out_bias"] + beside
        raised = np.exp(found - found.max(axis=1, keepdims=True))
        shares: Vectors = raised / raised.sum(axis=1, keepdims=True)
        return shares

    def _given(self, seen: Sequence[Look]) -> Vectors:
        """The vector of each word."""
        vectors = self.tables["own"].sums([numbered(look.own, OWN) for look in seen])
        vectors += np.stack([self._of_word(look.word) for look in seen])
        return vectors

    @cached_property
    def _of_word(self) -> Callable[[str], Vectors]:
        return language.kept(self._read_word, LAST_WORDS)

    def _read_word(self, word: str) -> Vectors:
        """What a word brings by itself."""
        parts = numbered(parts_of(word), PARTS)
        (asked,) = hashes([word])
        place = min(int(np.searchsorted(self.heard, asked)), len(self.heard) - 1)
        row = place + 1 if self.heard[place] == asked else UNHEARD
        vector: Vectors = self.tables["words"].sums([[row]])[0] + self.tables["parts"].sums([parts])[0] / len(parts)
        return vector

    def _read(self, vectors: Vectors) -> Vectors:
        """What the memory makes of each word, read forwards and backwards: side by side."""
        size, width = len(vectors), self.weights["again"].shape[1]
        given = (vectors @ self.weights["given"] + self.weights["bias"]).reshape(size, 2, 1, GATES * width)
        found = np.empty((size, 2, width), np.float32)
        told, held = np.zeros((2, 1, width), np.float32), np.zeros((2, 1, width), np.float32)
        both = np.empty((2, 1, GATES * width), np.float32)
        for at in range(size):
            both[0], both[1] = given[at, 0], given[size - 1 - at, 1]
            gates = np.tanh(both + told @ self.weights["again"])
            opened = gates[..., : 3 * width] * 0.5 + 0.5  # a logistic function by half the angle
            held = opened[..., width : 2 * width] * held + opened[..., :width] * gates[..., 3 * width :]
            told = opened[..., 2 * width :] * np.tanh(held)
            found[at, 0], found[size - 1 - at, 1] = told[0, 0], told[1, 0]
        return found.reshape(size, 2 * width)


def _normal(vectors: Vectors, scale: Vectors, shift: Vectors) -> Vectors:
    """Each moved and scaled to mean 0 and variance 1 (Ba, Kiros and Hinton, 2016), then as it was learned."""
    middle = vectors - vectors.mean(axis=1, keepdims=True)
    found: Vectors = middle / np.sqrt((middle * middle).mean(axis=1, keepdims=True) + EPSILON) * scale + shift
    return found
