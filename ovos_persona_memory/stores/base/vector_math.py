"""Vector arithmetic: quantised rows, cosines, and a table of one user's vectors in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
"""One vector [dim], or one a row [n, dim]; rows normalised to length 1."""
Bytes = NDArray[np.int8]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

EXACT = 20_000
"""Rows up to which every product is taken, in 1.4 ms; above, signs choose. Measured 2026-11-22: 384 dimensions,
100,000 rows: comparing signs 0.4 ms, choosing 1.1 ms, where float32 products would take 6 ms and 150 MB."""
RESCORED = 250
"""Rows whose cosine is computed after the sign comparison chose them."""
PART = 512
"""Rows that are multiplied at once: they fit into the processor's cache as float32."""
SIGNS = 4096
"""Rows whose signs are compared at once: their buffers stay below the size of a block that malloc returns to the system
each time, which makes it ten times slower."""
_LENGTH = 127
_FEWEST = 64
"""Initial capacity of a table, rows."""
_BESIDE = 44
"""Bytes that a table holds beside a row: numbers, placement and length."""


CODES = 6
"""Codes of a row: the five names of its placement, and its level."""


def normalised(rows: Floats) -> Floats:
    """The rows scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def quantised(rows: Floats) -> Bytes:
    """Rows [n, dim] as int8, each scaled to its largest component; a quarter of the size of float32."""
    largest = np.abs(rows).max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray(np.rint(rows * (_LENGTH / np.where(largest > 0, largest, 1.0))), dtype=np.int8)


def lengths(rows: Bytes) -> Floats:
    """The length of each row [n]; 1 for a row of zeros."""
    found = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), PART):
        part = rows[start : start + PART].astype(np.float32)
        found[start : start + PART] = np.sqrt(np.einsum("ij,ij->i", part, part))
    found[found == 0] = 1.0
    return found


def cosines(rows: Bytes, query: Floats, known: Floats | None = None) -> Floats:
    """Cosines [n] of quantised rows and a vector [dim], which is quantised too; 0 for zeros.

    ``known``: the rows' lengths, where they are known.

    The products are whole numbers below 2^24 up to 1040 dimensions, so that they are the same in whatever
    order a processor adds them: a row's cosine does not depend on the rows beside it.
    """
    asked = quantised(query[None, :])[0].astype(np.float32)
    length = float(np.sqrt(asked @ asked)) or 1.0
    found = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), PART):
        found[start : start + PART] = rows[start : start + PART].astype(np.float32) @ asked
    found /= (lengths(rows) if known is None else known) * np.float32(length)
    return found


@dataclass(frozen=True)
class VectorPlacement:
    """The attributes of a record that a scope narrows by."""

    session: str | None = None
    persona: str | None = None
    site: str | None = None
    task: str | None = None
    private: int = 0
    """The level that a user needs to know of it."""
    status: str | None = None

    @property
    def names(self) -> tuple[str | None, ...]:
        """All attributes but the level."""
        return self.session, self.persona, self.site, self.task, self.status


@dataclass(frozen=True)
class VectorFilter:
    """Which documents a search looks at."""

    place: VectorPlacement = VectorPlacement()
    """A name that is None matches any. ``private`` is not looked at."""
    level: int | None = None
    """Records that need a higher level are left out; None: none are."""
    turns: bool = True
    memories: bool = True


def size_of(documents: int, dim: int) -> int:
    """Bytes at most of a table of this many vectors."""
    of_row = dim if documents <= EXACT else dim // 8
    return 2 * max(documents, _FEWEST) * (of_row + _BESIDE)


class VectorTable:
    """One user's vectors by document number. Not thread-safe: its holder locks.

    With <= ``EXACT`` vectors it holds them whole, above that one bit for each dimension, and reads from the file those
    that it compares closely.
    """

    def __init__(self, dim: int, read: Callable[[Sequence[int]], Bytes]) -> None:
        """``read`` gives the vectors [n, dim] with these numbers in the file."""
        self._dim, self._read = dim, read
        self._used = 0
        self._highest = -(2**62)
        self._docs: Numbers = np.empty(_FEWEST, dtype=np.int64)
        self._nums: Numbers = np.empty(_FEWEST, dtype=np.int64)
        self._codes = np.empty((CODES, _FEWEST), dtype=np.int32)
        self._lengths: Floats = np.empty(_FEWEST, dtype=np.float32)
        self._rows: Bytes | None = np.empty((_FEWEST, dim), dtype=np.int8)
        self._signs: NDArray[np.uint64] = np.empty((0, 0), dtype=np.uint64)
        self._names: dict[str | None, int] = {None: 0}
        self._order: Numbers | None = None

    def __len__(self) -> int:
        return self._used

    @property
    def bytes(self) -> int:
        """Approximate size in memory."""
        held = (self._docs, self._nums, self._lengths, self._codes, self._signs, self._rows)
        return sum(one.nbytes for one in held if one is not None)

    # keeping

    def put(self, docs: Sequence[int], nums: Sequence[int], places: Sequence[VectorPlacement], rows: Bytes) -> None:
        """Store one row [n, dim] for each document; the row of a known document is replaced."""
        if len(docs) and min(docs) <= self._highest:
            self.drop(docs)
        self._highest = max(self._highest, *docs)
        self._grow(self._used + len(docs))
        here = slice(self._used, self._used + len(docs))
        self._docs[here], self._nums[here], self._lengths[here] = docs, nums, lengths(rows)
        self._codes[:, here] = np.array([self._coded(place) for place in places], dtype=np.int32).reshape(-1, CODES).T
        if self._rows is not None:
            self._rows[here] = rows
        else:
            self._signs[:, here] = _signs(rows)
        self._used += len(docs)
        self._order = None

    def drop(self, docs: Iterable[int]) -> None:
        """Delete documents: nothing of their rows stays."""
        gone, _ = self._found(docs)
        if not len(gone):
            return
        stay = np.ones(self._used, dtype=bool)
        stay[gone] = False
        left = int(stay.sum())
        for held in (self._docs, self._nums, self._lengths, self._rows):
            if held is not None:
                held[:left] = held[: self._used][stay]
                held[left : self._used] = 0
        for wide in (self._codes, self._signs):
            if wide.size:
                wide[:, :left] = wide[:, : self._used][:, stay]
                wide[:, left : self._used] = 0
        self._used, self._order = left, None

    def move(self, doc: int, place: VectorPlacement) -> None:
        """Change the placement of a document."""
        found, _ = self._found([doc])
        if len(found):
            self._codes[:, found[0]] = self._coded(place)

    # finding

    def within(self, wanted: VectorFilter) -> Mask | None:
        """Mask of the documents that a filter takes: session, persona (or none), site, task and status. None: all of
        them."""
        masks = []
        for number, name in enumerate(wanted.place.names):
            if name is not None:
                codes = self._codes[number, : self._used]
                mask = codes == self._names.get(name, -1)
                masks.append(mask | (codes == 0) if number == 1 else mask)
        if wanted.level is not None:
            masks.append(self._codes[-1, : self._used] <= wanted.level)
        docs = self._docs[: self._used]
        masks += [docs < 0] * (not wanted.turns) + [docs > 0] * (not wanted.memories)
        return np.logical_and.reduce(masks) if masks else None

    def best(self, query: Floats, number: int, mask: Mask | None = None) -> list[tuple[int, float]]:
        """Documents and cosines of the ``number`` nearest to ``query`` [dim], nearest first, of equal ones the newer.

        ``mask``: only these documents are looked at, before anything is ranked.
        """
        looked_at = self._used if mask is None else int(np.count_nonzero(mask))
        if not looked_at or number <= 0:
            return []
        if self._rows is None and looked_at > RESCORED + number:
            places = self._nearest_by_signs(query, mask, RESCORED + number)
        else:
            places = np.arange(self._used) if mask is None else np.flatnonzero(mask)
        scores = cosines(self._at(places, whole=mask is None), query, self._lengths[places])
        if len(scores) > 4 * number:
            near = np.argpartition(-scores, 4 * number)[: 4 * number]
            places, scores = places[near], scores[near]
        docs = self._docs[places]
        first = np.lexsort((-np.abs(docs), -scores))[:number]
        return [(int(docs[i]), float(scores[i])) for i in first]

    def cosines(self, query: Floats, docs: Iterable[int]) -> dict[int, float]:
        """The cosine of ``query`` [dim] and each of these documents that has a vector."""
        places, known = self._found(docs)
        if not len(places):
            return {}
        return dict(zip(known.tolist(), cosines(self._at(places), query, self._lengths[places]).tolist(), strict=True))

    def everything(self, mask: Mask | None = None) -> list[tuple[int, Bytes]]:
        """All documents with their rows."""
        places = np.arange(self._used) if mask is None else np.flatnonzero(mask)
        return list(zip(self._docs[places].tolist(), self._at(places), strict=True))

    # inside

    def _coded(self, place: VectorPlacement) -> list[int]:
        return [*(self._names.setdefault(name, len(self._names)) for name in place.names), place.private]

    def _found(self, docs: Iterable[int]) -> tuple[Numbers, Numbers]:
        """The positions of documents, and those documents that have one."""
        asked = np.fromiter(docs, dtype=np.int64)
        if not self._used or not len(asked):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        if self._order is None:
            self._order = np.argsort(self._docs[: self._used], kind="stable")
        where = np.searchsorted(self._docs[: self._used], asked, sorter=self._order)
        places = self._order[np.minimum(where, self._used - 1)]
        known = self._docs[places] == asked
        return places[known], asked[known]

    def _at(self, places: Numbers, whole: bool = False) -> Bytes:
        if self._rows is None:
            return self._read(self._nums[places].tolist())
        return self._rows[: self._used] if whole else self._rows[places]

    def _nearest_by_signs(self, query: Floats, mask: Mask | None, number: int) -> Numbers:
        """The rows whose signs differ least from the query's (Hamming distance), of equal ones the newer."""
        asked = _signs(query[None, :])
        distance = np.empty(self._used, dtype=np.uint16)
        for start in range(0, self._used, SIGNS):
            part = self._signs[:, start : min(start + SIGNS, self._used)]
            distance[start : start + SIGNS] = _ones(part ^ asked).sum(axis=0, dtype=np.uint16)
        if mask is not None:
            distance[~mask] = 64 * len(asked) + 1  # a distance above every real one
        farthest = np.partition(distance, number)[number]
        nearer, as_far = np.flatnonzero(distance < farthest), np.flatnonzero(distance == farthest)
        return np.sort(np.append(nearer, as_far[len(nearer) - number :]))

    def _grow(self, needed: int) -> None:
        if self._rows is not None and needed > EXACT:
            self._signs = np.zeros((_words(self._dim), len(self._docs)), dtype=np.uint64)
            self._signs[:, : self._used] = _signs(self._rows[: self._used])
            self._rows = None
        more = max(needed, 2 * len(self._docs)) - len(self._docs)
        if needed <= len(self._docs):
            return
        self._docs, self._nums = (np.pad(held, (0, more)) for held in (self._docs, self._nums))
        self._lengths = np.pad(self._lengths, (0, more))
        self._codes = np.pad(self._codes, ((0, 0), (0, more)))
        if self._rows is not None:
            self._rows = np.pad(self._rows, ((0, more), (0, 0)))
        else:
            self._signs = np.pad(self._signs, ((0, 0), (0, more)))


def _words(dim: int) -> int:
    return (dim + 63) // 64


def _signs(rows: Bytes | Floats) -> NDArray[np.uint64]:
    """One bit for each dimension, whether it is above zero: 64 in a number, [dim / 64, n]."""
    bits = np.packbits(rows > 0, axis=-1)
    bits = np.pad(bits, ((0, 0), (0, 8 * _words(rows.shape[1]) - bits.shape[1])))
    return np.ascontiguousarray(np.ascontiguousarray(bits).view(np.uint64).T)


def _ones(numbers: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The population count of each number."""
    if hasattr(np, "bitwise_count"):  # numpy 2
        return np.asarray(np.bitwise_count(numbers))
    return np.asarray(_COUNTS[numbers.view(np.uint8).reshape(*numbers.shape, 8)].sum(axis=-1, dtype=np.uint8))


_COUNTS = np.array([bin(number).count("1") for number in range(256)], dtype=np.uint8)
