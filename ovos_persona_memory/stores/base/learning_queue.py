"""The list of turns from which something is still to be learned, where several processes write into one store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from ovos_persona_memory.records import Turn


@dataclass(frozen=True)
class UnlearnedTurn:
    """One turn of the list."""

    id: str
    seq: int
    child: bool
    """Whether it was said by a child, as far as the device knows that heard it."""


class LearningQueueStore(ABC):
    """A part of a store: under its lock, in its transactions, durable with them."""

    @abstractmethod
    def put(self, turns: Sequence[UnlearnedTurn]) -> None:
        """Put turns into the list, within the transaction that keeps them."""

    @abstractmethod
    def oldest(self, limit: int | None) -> list[UnlearnedTurn]:
        """At most so many of the list, of whichever process, the lowest ``seq`` first; a look, which binds nobody."""

    @abstractmethod
    def take(self, seqs: Sequence[int]) -> list[tuple[Turn, bool]]:
        """Take these off the list, within a transaction: those of them that are kept still, the lowest ``seq`` first,
        and whether a child said each.

        One that another process has taken meanwhile is not among them, nor one that was forgotten.
        """
