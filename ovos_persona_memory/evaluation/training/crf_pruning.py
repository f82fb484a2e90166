"""Pruning of a CRFsuite model: the weakest weights are removed, since many change nothing and all are held in memory.

The format is that of Naoaki Okazaki's CRFsuite 0.12, as ``crf1d_model.c`` and its constant database (``cqdb.c``) write
it: numbers are little-endian, offsets count from the beginning of the file, or of the database.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

HEADER = struct.Struct("<4sI4sI8I")
CHUNK = struct.Struct("<4sII")
FEATURE = struct.Struct("<IIId")
DATABASE = struct.Struct("<4s5I")
PAIR = struct.Struct("<II")
STATE = 0
"""Kind of the weights that join an attribute and a label; the others join two labels."""
TABLES = 256
"""Number of hash tables in a database."""
BYTE_ORDER = 0x62445371
BLOCK = 12
"""Bytes that are hashed at a time."""
_WORD = 0xFFFFFFFF


class CrfFeature(NamedTuple):
    """A weighted pair of attribute and label, or of two labels."""

    kind: int
    first: int
    """An attribute, or the label before the other."""
    label: int
    weight: float


@dataclass(frozen=True)
class CrfModel:
    """The contents of a model file."""

    features: list[CrfFeature]
    labels: list[bytes]
    attributes: list[bytes]


def lighten(path: Path, weakest: float) -> None:
    """Rewrite a model file without attribute weights < ``weakest``, and without attributes that have none left.
    ValueError where the file is no such model."""
    model = model_from_bytes(path.read_bytes())
    kept = [one for one in model.features if one.kind != STATE or abs(one.weight) >= weakest]
    numbers = {old: new for new, old in enumerate(sorted({one.first for one in kept if one.kind == STATE}))}
    features = [one._replace(first=numbers[one.first]) if one.kind == STATE else one for one in kept]
    path.write_bytes(bytes_of_model(CrfModel(features, model.labels, [model.attributes[old] for old in numbers])))


# reading


def model_from_bytes(data: bytes) -> CrfModel:
    """The model in the bytes of a file; ValueError where they are no such model."""
    if len(data) < HEADER.size or data[:4] != b"lCRF":
        raise ValueError("no model of CRFsuite's")
    _, size, kind, _, _, _, _, features, labels, attributes, *_ = HEADER.unpack_from(data)
    if (kind, size) != (b"FOMC", len(data)):
        raise ValueError("no model of CRFsuite's")
    _, _, number = CHUNK.unpack_from(data, features)
    held = data[features + CHUNK.size :][: number * FEATURE.size]
    found = [CrfFeature(*one) for one in FEATURE.iter_unpack(held)]
    return CrfModel(found, _keys(data[labels:]), _keys(data[attributes:]))


def _keys(database: bytes) -> list[bytes]:
    """The keys of a database, each at the position of its number."""
    _, _, _, _, number, offset = DATABASE.unpack_from(database)
    keys = []
    for (place,) in struct.iter_unpack("<I", database[offset : offset + 4 * number]):
        _, size = PAIR.unpack_from(database, place)
        keys.append(database[place + PAIR.size : place + PAIR.size + size])
    return keys


# writing


def bytes_of_model(model: CrfModel) -> bytes:
    """The bytes of a file."""
    of_attributes: list[list[int]] = [[] for _ in model.attributes]
    of_labels: list[list[int]] = [[] for _ in range(len(model.labels) + 2)]  # two more, for the begin and end states
    for number, one in enumerate(model.features):
        (of_attributes if one.kind == STATE else of_labels)[one.first].append(number)
    body = b"".join(FEATURE.pack(*one) for one in model.features)
    parts = [CHUNK.pack(b"FEAT", CHUNK.size + len(body), len(model.features)) + body]
    offsets = [HEADER.size]
    for make, what in ((_database, model.labels), (_database, model.attributes)):
        offsets.append(offsets[-1] + len(parts[-1]))
        parts.append(make(what))
    for name, references in ((b"LFRF", of_labels), (b"AFRF", of_attributes)):
        offsets.append(offsets[-1] + len(parts[-1]))
        parts.append(_references(name, references, offsets[-1]))
    size = offsets[-1] + len(parts[-1])
    numbers = (0, len(model.labels), len(model.attributes))
    return HEADER.pack(b"lCRF", size, b"FOMC", 100, *numbers, *offsets) + b"".join(parts)


def _references(name: bytes, numbers: Sequence[Sequence[int]], offset: int) -> bytes:
    """The numbers of each item's features."""
    held = [struct.pack(f"<{len(some) + 1}I", len(some), *some) for some in numbers]
    places, place = [], offset + CHUNK.size + 4 * len(held)
    for one in held:
        places.append(place)
        place += len(one)
    return CHUNK.pack(name, place - offset, len(held)) + struct.pack(f"<{len(held)}I", *places) + b"".join(held)


def _database(keys: Sequence[bytes]) -> bytes:
    """The serialised numbers of keys, which end with a zero byte, and the keys by their numbers."""
    records, places = [], []
    place = DATABASE.size + PAIR.size * TABLES
    tables: list[list[tuple[int, int]]] = [[] for _ in range(TABLES)]
    for number, key in enumerate(keys):
        records.append(PAIR.pack(number, len(key)) + key)
        places.append(place)
        value = lookup3(key)
        tables[value % TABLES].append((value, place))
        place += len(records[-1])
    buckets, heads = [], []
    for table in tables:
        heads.append(PAIR.pack(place if table else 0, 2 * len(table)))
        buckets += [PAIR.pack(*pair) for pair in _placed(table)]
        place += PAIR.size * 2 * len(table)
    backward = struct.pack(f"<{len(places)}I", *places)
    head = DATABASE.pack(b"CQDB", place + len(backward), 0, BYTE_ORDER, len(places), place)
    return b"".join((head, *heads, *records, *buckets, backward))


def _placed(table: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """A hash table, half of it empty; a collision takes the next free place."""
    buckets = [(0, 0)] * (2 * len(table))
    for value, place in table:
        at = (value >> 8) % len(buckets)
        while buckets[at][1]:
            at = (at + 1) % len(buckets)
        buckets[at] = (value, place)
    return buckets


def lookup3(key: bytes) -> int:
    """``hashlittle`` of Bob Jenkins' lookup3.c (2006, public domain), 32 bits."""
    state = [(0xDEADBEEF + len(key)) & _WORD] * 3
    blocks = list(struct.iter_unpack("<3I", key + bytes(-len(key) % BLOCK)))
    for number, block in enumerate(blocks, 1):
        state = [(one + more) & _WORD for one, more in zip(state, block, strict=True)]
        if number < len(blocks):
            _mix(state)
        else:
            _finish(state)
    return state[2]


def _mix(state: list[int]) -> None:
    for step, bits in enumerate((4, 6, 8, 16, 19, 4)):
        one, next_one, last = step % 3, (step + 1) % 3, (step + 2) % 3
        state[one] = ((state[one] - state[last]) & _WORD) ^ _rotated(state[last], bits)
        state[last] = (state[last] + state[next_one]) & _WORD


def _finish(state: list[int]) -> None:
    for step, bits in enumerate((14, 11, 25, 16, 4, 14, 24)):
        one, last = (step + 2) % 3, (step + 1) % 3
        state[one] = ((state[one] ^ state[last]) - _rotated(state[last], bits)) & _WORD


def _rotated(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (32 - bits))) & _WORD
