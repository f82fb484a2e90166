"""A mapping whose items are kept in Redis hashes, partitioned by session, user or another name."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, ItemsView, Iterator, MutableMapping, Sequence, ValuesView
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from ovos_persona_memory.stores.redis.connection import CommitRecord, HashChange, RedisDatabase

GONE = object()
"""The value of an item that was deleted in this transaction."""
PARTS_KEPT = 5000
"""Hashes whose content is cached until a commit changes them."""
COMMIT_FIELD = b""
"""The field of a hash that holds the number of the last commit that changed it."""

Names = tuple[str | None, ...]
PLAIN = (float, int, str)
"""The types to which numbers and texts of subclasses are converted."""


def _plain(value: Any) -> Any:
    """A number of a subclass, numpy's for example, as a plain number."""
    for kind in PLAIN:
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{type(value).__name__} cannot be kept")


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_plain)


@dataclass(frozen=True)
class TableSchema:
    """The layout of one table."""

    name: str
    key: Any
    """Type of a key."""
    value: Any
    """Type of a value."""
    part: Callable[[Any, Any], Names] = lambda *_: ()
    """From a key and a value to the names of the item's partition."""
    width: int = 0
    """Number of names of a partition; 0: the table is one hash."""
    located: bool = False
    """Whether the key alone does not tell the partition, so that the partition of each item is kept beside."""
    expires: bool = False


class HashTable(MutableMapping[Any, Any]):
    """Not thread-safe by itself: the store's lock is. Changes are seen here at once, elsewhere after the commit."""

    def __init__(self, db: RedisDatabase, shape: TableSchema) -> None:
        self._db, self._shape = db, shape
        self._key = msgspec.msgpack.Decoder(shape.key)
        self._value = msgspec.msgpack.Decoder(shape.value)
        self._parts_key = db.name(f"{shape.name}-parts")
        self._lives_ms = int((db.settings.ttl_s or 0) * 1000) if shape.expires else 0
        self._changes: dict[Any, Any] = {}
        self._found_in: dict[Any, str | None] = {}
        self._held: OrderedDict[str, tuple[bytes, dict[Any, Any]]] = OrderedDict()

    def __getitem__(self, key: Any) -> Any:
        found = self._changes[key] if key in self._changes else self._read(key)
        if found is GONE:
            raise KeyError(key)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        self._changes[key] = value

    def __delitem__(self, key: Any) -> None:
        self._changes[key] = GONE

    def __iter__(self) -> Iterator[Any]:
        return iter(self.within())

    def __len__(self) -> int:
        return len(self.within())

    def items(self) -> ItemsView[Any, Any]:
        return self.within().items()

    def values(self) -> ValuesView[Any]:
        return self.within().values()

    def within(self, *names: str | None) -> dict[Any, Any]:
        """The items of the partitions whose names begin with these; None matches every name."""
        names = names[: self._shape.width]
        wanted = [part for part in self._parts(names) if _begins(_names_of(part), names)]
        found: dict[Any, Any] = {}
        for held in self._whole(wanted):
            found.update(held)
        for key, value in self._changes.items():
            found.pop(key, None)
            if value is not GONE and _begins(self._shape.part(key, value), names):
                found[key] = value
        return found

    # keeping

    def add_to(self, record: CommitRecord) -> None:
        """Add the changes of this transaction to its commit record."""
        for key, value in self._changes.items():
            before = self._part_of(key)
            part = None if value is GONE else _part(self._shape.part(key, value))
            field = _ENCODER.encode(key)
            if before is not None and before != part:
                self._change(record, before).gone.append(field)
            if part is not None:
                self._change(record, part).sets[field] = _ENCODER.encode(value)
                members = record.parts.setdefault(self._parts_key, [])
                if part not in members:
                    members.append(part)
            if self._shape.located and before != part:
                record.places[self._place(key)] = part
                record.lives_ms = 2 * self._lives_ms  # the item may have been written again meanwhile

    def forget_changes(self) -> None:
        """Clear the changes: the transaction has ended with a commit or a rollback."""
        self._changes.clear()
        self._found_in.clear()

    def _change(self, record: CommitRecord, part: str) -> HashChange:
        return record.hashes.setdefault(self._db.name(self._shape.name, part), HashChange(self._lives_ms))

    # reading

    def _read(self, key: Any) -> Any:
        part = self._part_of(key)
        if part is None:
            return GONE
        raw = self._db.call("HGET", self._db.name(self._shape.name, part), _ENCODER.encode(key))
        return GONE if raw is None else self._value.decode(raw)

    def _part_of(self, key: Any) -> str | None:
        """The partition of an item before this transaction; None where there is no such item."""
        if not self._shape.located:
            return _part(self._shape.part(key, None))
        if key not in self._found_in:
            raw = self._db.call("GET", self._place(key))
            self._found_in[key] = raw.decode() if raw is not None else None
        return self._found_in[key]

    def look_ahead(self, keys: Sequence[Any]) -> None:
        """Read the partitions of these items with one request, for the rest of the transaction."""
        raws = self._db.each([("GET", self._place(key)) for key in keys])
        self._found_in.update((key, None if raw is None else raw.decode()) for key, raw in zip(keys, raws, strict=True))

    def _place(self, key: Any) -> str:
        return self._db.name(f"{self._shape.name}-at", quote(str(key), safe=""))

    def _parts(self, names: Names) -> list[str]:
        if None not in names and len(names) == self._shape.width:
            return [_part(names)]
        return sorted(one.decode() for one in self._db.call("SMEMBERS", self._parts_key))

    def _whole(self, parts: list[str]) -> list[dict[Any, Any]]:
        """The items of each partition; a cached copy is used where no commit has changed it."""
        keys = [self._db.name(self._shape.name, part) for part in parts]
        commits = self._db.each([("HGET", key, COMMIT_FIELD) for key in keys])
        stale = [key for key, commit in zip(keys, commits, strict=True) if self._is_stale(key, commit)]
        for key, raw in zip(stale, self._db.each([("HGETALL", key) for key in stale]), strict=True):
            self._held[key] = self._decoded(raw)
        found = []
        for key, commit in zip(keys, commits, strict=True):
            if commit is None:
                self._held.pop(key, None)
            elif key in self._held:
                self._held.move_to_end(key)
                found.append(self._held[key][1])
        while len(self._held) > PARTS_KEPT:
            self._held.popitem(last=False)
        return found

    def _is_stale(self, key: str, commit: bytes | None) -> bool:
        return commit is not None and (key not in self._held or self._held[key][0] != commit)

    def _decoded(self, raw: Any) -> tuple[bytes, dict[Any, Any]]:
        pairs = dict(raw.items() if isinstance(raw, dict) else zip(raw[::2], raw[1::2], strict=True))
        commit = pairs.pop(COMMIT_FIELD, b"0")
        return commit, {self._key.decode(field): self._value.decode(value) for field, value in pairs.items()}


def _part(names: Names) -> str:
    """The name of a partition as a hash tag may hold it; a missing name differs from an empty one."""
    return "/".join("-" if name is None else f"={quote(name, safe='')}" for name in names)


def _names_of(part: str) -> Names:
    return tuple(None if one == "-" else unquote(one[1:]) for one in part.split("/")) if part else ()


def _begins(names: Names, wanted: Names) -> bool:
    return all(one is None or one == name for one, name in zip(wanted, names, strict=False))
