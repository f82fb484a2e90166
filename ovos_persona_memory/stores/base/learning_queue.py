"""The learning-queue port: turns from which facts are still to be learned, where several processes write into one
store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from ovos_persona_memory.records import Turn


@dataclass(frozen=True)
class UnlearnedTurn:
    """One turn of the queue."""

    id: str
    seq: int
    child: bool
    """Whether a child said it, as far as the device that heard it knows."""


class LearningQueueStore(ABC):
    """A part of a store: under its lock, in its transactions, durable with them."""

    @abstractmethod
    def put(self, turns: Sequence[UnlearnedTurn]) -> None:
        """Append turns, within the transaction that keeps them."""

    @abstractmethod
    def oldest(self, limit: int | None) -> list[UnlearnedTurn]:
        """At most ``limit`` turns of the queue, of whichever process, the lowest ``seq`` first; nothing is reserved."""

    @abstractmethod
    def take(self, seqs: Sequence[int]) -> list[tuple[Turn, bool]]:
        """Remove these from the queue, within a transaction: those that are still kept, the lowest ``seq`` first, and
        whether a child said each.

        A turn that another process has taken meanwhile is not among them, nor one that was forgotten.
        """
