"""The ledger in this process's memory."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping

from ovos_persona_memory.stores.inmemory_changes import Changes
from ovos_persona_memory.stores.ledger import KEPT, LedgerStore


class InMemoryLedger(LedgerStore):
    """One plain dict."""

    def __init__(self, changes: Changes) -> None:
        self._transaction, self._put, self._gone = changes.transaction, changes.put, changes.gone
        self._reading = changes.reading
        self._entered: MutableMapping[tuple[str, int], float] = changes.table("ledger")

    def add(self, name: str, hashes: Iterable[int], at: float) -> None:
        with self._transaction():
            for number in hashes:
                self._put(self._entered, (name, number), at)

    def at(self, name: str, number: int) -> float | None:
        with self._reading():
            return self._entered.get((name, number))

    def remove(self, name: str, hashes: Iterable[int]) -> None:
        with self._transaction():
            for place in {(name, number) for number in hashes} & self._entered.keys():
                self._put(self._entered, place, self._gone)

    def shorten(self, name: str) -> None:
        with self._transaction():
            listed = sorted((at, place) for place, at in self._entered.items() if place[0] == name)
            for _, place in listed[: -KEPT[name]]:
                self._put(self._entered, place, self._gone)

    def listed(self, name: str) -> list[tuple[int, float]]:
        with self._reading():
            return [(number, at) for (of, number), at in self._entered.items() if of == name]
