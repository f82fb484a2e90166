"""Score accumulator: documents' scores while an index adds up terms, equal to those of the plain scan."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from heapq import nsmallest
from math import fsum

from ovos_persona_memory.stores.base.bm25 import Bm25

Posting = tuple[int, int, int]
"""Document, term frequency, and length of the document in terms."""


@dataclass(frozen=True)
class ScoredDocument:
    """A document that holds some of the query's terms; ``doc`` is a turn's seq, or minus an entry's."""

    doc: int
    score: float
    words: frozenset[str]

    @property
    def order(self) -> tuple[float, bool, int]:
        """As ``base.found_order``."""
        return (-self.score, self.doc > 0, -abs(self.doc))


class ScoreAccumulator:
    """The contribution of each term to each document, during a search."""

    def __init__(self, formula: Bm25, without: Collection[int] = ()) -> None:
        """``without``: documents that are left out."""
        self.parts: dict[int, dict[str, float]] = {}
        self._formula, self._without = formula, without
        self._damping: dict[int, float] = {}

    def add(self, word: str, frequency: int, rows: Iterable[Posting]) -> None:
        """Add a term with its document frequency, and rows of doc, times, length; a document given twice counts
        once."""
        weight = self._formula.weight(frequency)
        parts, damping = self.parts, self._damping
        for doc, times, length in rows:
            held_back = damping.get(length)
            if held_back is None:
                held_back = damping[length] = self._formula.damping(length)
            part = weight * times / (times + held_back)  # Bm25.part inlined: a call for each of hundreds costs too much
            held = parts.get(doc)
            if held is None:
                parts[doc] = {word: part}
            else:
                held[word] = part

    def leaders(self, number: int) -> list[int]:
        """The documents with the best scores so far; the others are dropped."""
        self._leave_out()
        if len(self.parts) > number:
            ahead = sorted([(-sum(parts.values()), -abs(doc), doc) for doc, parts in self.parts.items()])[:number]
            self.parts = {doc: self.parts[doc] for _, _, doc in ahead}
        return list(self.parts)

    def best(self, number: int) -> list[ScoredDocument]:
        """The best documents, best first, with the terms they hold."""
        self._leave_out()
        total = [(-fsum(parts.values()), doc > 0, -abs(doc), doc) for doc, parts in self.parts.items()]
        return [
            ScoredDocument(doc, -score, frozenset(self.parts[doc])) for score, _, _, doc in nsmallest(number, total)
        ]

    def _leave_out(self) -> None:
        for doc in self._without:
            self.parts.pop(doc, None)
