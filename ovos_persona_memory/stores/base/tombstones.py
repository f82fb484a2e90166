"""The tombstone port: numbers that stand for what was forgotten, and when; no text, in any form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

FORGOTTEN, ANSWERED = "forgotten", "answered"
"""The lists: hashes of forgotten texts, and of requests that were carried out."""
KEPT = {FORGOTTEN: 200_000, ANSWERED: 20_000}
"""Maximum length of each list when it is shortened; the newest stay."""


class TombstoneStore(ABC):
    """Lists of 64-bit numbers, each with a time, with the promises of the Store that it belongs to."""

    @abstractmethod
    def add(self, name: str, hashes: Iterable[int], at: float) -> None:
        """Enter numbers in a list; one that is there already takes the new time, seconds since the epoch, UTC."""

    @abstractmethod
    def at(self, name: str, number: int) -> float | None:
        """When a number was entered; None where it is not in the list."""

    @abstractmethod
    def remove(self, name: str, hashes: Iterable[int]) -> None:
        """Take numbers out of a list; those that are not in it stay out."""

    @abstractmethod
    def shorten(self, name: str) -> None:
        """Drop the oldest numbers of a list that has grown beyond ``KEPT``."""

    @abstractmethod
    def listed(self, name: str) -> list[tuple[int, float]]:
        """Every number of a list and when it was entered, in no particular order."""
