"""A network that tells what the words of an utterance may be, from what each means and looks like.

Each word is the sum of vectors: what an encoder makes of it, and those of its features, which share the rows of a table
(feature hashing, Weinberger et al., 2009). A long short-term memory (Hochreiter and Schmidhuber, 1997) reads them
forwards and backwards; what a word means and what stands beside it count at once too (a wide and deep network, Cheng et
al., 2016). ``training/train_tagger`` makes one.
"""

from __future__ import annotations

import io
import mmap
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ovos_persona_memory.extraction.tagger.encoder import Encoder, Norm, packed, product, unpacked
from ovos_persona_memory.extraction.tagger.features import TokenFeatures

LARGE = 100_000
"""Bytes from which an array stays in the file."""
_HEADER = 30
"""Bytes of what stands before the name of a file in an archive; how long that and what follows is, stands at NAMED."""
_NAMED = 26


def arrays_in(path: Path) -> tuple[mmap.mmap, dict[str, NDArray[Any]]]:
    """The file, and its arrays by name; the large ones lie in it and cannot be written to.

    ValueError where it is not what ``numpy.savez`` writes, OSError where it cannot be read.
    """
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        with zipfile.ZipFile(path) as archive:
            every = archive.infolist()
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} holds no arrays") from error
    if any(one.compress_type != zipfile.ZIP_STORED for one in every):
        raise ValueError(f"{path} is compressed")
    return mapped, {one.filename.removesuffix(".npy"): _array(mapped, one.header_offset) for one in every}


def _array(mapped: mmap.mmap, begins: int) -> NDArray[Any]:
    name, more = struct.unpack_from("<HH", mapped, begins + _NAMED)
    place = begins + _HEADER + name + more
    head = io.BytesIO(mapped[place : place + npy.ARRAY_ALIGN * 4])
    npy.read_magic(head)
    shape, by_column, kind = npy.read_array_header_1_0(head)
    flat = np.frombuffer(mapped, kind, int(np.prod(shape)), place + head.tell())
    array = flat.reshape(shape, order="F" if by_column else "C")
    return array if array.nbytes >= LARGE else array.copy()


OWN, BESIDE = 8192, 16384
"""Rows of the tables of features, and of what stands beside a word."""
EPSILON = 1e-5
"""Added to a variance before its root."""
PIECES = 64
"""Pieces of words at most that are read while somebody waits: half a millisecond for each (2026-11-28)."""
GATES = 4
"""Of the memory: input, forget, output, new."""
Vectors = NDArray[np.float32]


def numbered(names: Iterable[str], rows: int) -> list[int]:
    """The row of each feature, by its hash."""
    return [zlib.crc32(name.encode()) % rows for name in names]


@dataclass(frozen=True)
class QuantisedTable:
    """Vectors, a byte for each number."""

    rows: NDArray[np.int8]
    scale: float
    """What one is worth."""

    @classmethod
    def of(cls, vectors: Vectors) -> QuantisedTable:
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
    encoder: Encoder
    tables: Mapping[str, QuantisedTable]
    """own: as wide as what the memory reads; beside: as wide as there are labels."""
    weights: Mapping[str, Vectors]
    """Of the memory and what stands around it."""
    mapped: mmap.mmap | None = None
    """The file in which the larger of all these lie."""

    @classmethod
    def read(cls, path: Path) -> Network:
        """The network in a file; OSError, ValueError or KeyError where it is none."""
        mapped, file = arrays_in(path)
        scales = {name.removeprefix("scale_"): float(file[name]) for name in file if name.startswith("scale_")}
        tables = {name: QuantisedTable(file[f"table_{name}"], scale) for name, scale in scales.items()}
        named = [name for name in file if name.startswith("weight_")]
        weights = {name.removeprefix("weight_"): file[name].astype(np.float32) for name in named}
        encoder = unpacked({name.removeprefix("encoder_"): file[name] for name in file if name.startswith("encoder_")})
        return cls(tuple(map(str, file["labels"])), encoder, tables, weights, mapped)

    def write(self, path: Path) -> None:
        """A file that ``read`` reads; weights lose half of their digits."""
        kept: dict[str, Any] = {f"table_{name}": table.rows for name, table in self.tables.items()}
        kept |= {f"scale_{name}": np.array(table.scale) for name, table in self.tables.items()}
        kept |= {f"weight_{name}": weight.astype(np.float16) for name, weight in self.weights.items()}
        kept |= {f"encoder_{name}": array for name, array in packed(self.encoder).items()}
        with path.open("wb") as file:
            np.savez(file, labels=np.array(self.labels), **kept)

    def may_read(self, words: Sequence[str]) -> bool:
        """Whether these are few enough to be read while somebody waits: a long word is many pieces."""
        return all(number <= PIECES for number in accumulate(len(self.encoder.pieces.cut(word)) for word in words))

    def likely(self, seen: Sequence[TokenFeatures]) -> Vectors:
        """How likely each label is for each word: a row for each, in the order of the labels, 0 to 1."""
        weights = self.weights
        meant = self.encoder.read([look.word for look in seen])
        given = product(meant, weights["in"]) + weights["in_bias"]
        given += self.tables["own"].sums([numbered(look.own, OWN) for look in seen])
        deep = self._read(Norm(weights["in_scale"], weights["in_shift"]).make(given, EPSILON))
        deep = Norm(weights["out_scale"], weights["out_shift"]).make(deep, EPSILON)
        found = product(deep, weights["out"]) + weights["out_bias"]
        found += product(meant, weights["direct"]) + weights["direct_bias"]
        found += self.tables["beside"].sums([numbered((look.word, *look.beside), BESIDE) for look in seen])
        raised = np.exp(found - found.max(axis=1, keepdims=True))
        shares: Vectors = raised / raised.sum(axis=1, keepdims=True)
        return shares

    def rest(self) -> None:
        """Let go of the memory that the file takes, until it is read again: most of the time nobody talks."""
        if self.mapped is not None and hasattr(self.mapped, "madvise"):
            self.mapped.madvise(mmap.MADV_DONTNEED)

    def _read(self, vectors: Vectors) -> Vectors:
        """What the memory makes of each word, read forwards and backwards: side by side."""
        size, width = len(vectors), self.weights["again"].shape[1]
        given = (product(vectors, self.weights["given"]) + self.weights["bias"]).reshape(size, 2, 1, GATES * width)
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
