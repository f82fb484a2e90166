"""BM25: how well a document matches the terms of a query."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

K1, B = 1.2, 0.75
"""BM25's usual constants: Robertson and Zaragoza 2009, The Probabilistic Relevance Framework, section 3.4."""


def words_of(text: str) -> list[str]:
    """The terms of a document, split from ``words``."""
    return [word for word in text.split(" ") if word]


def set_of(text: str) -> frozenset[str]:
    """The distinct terms of a document."""
    return frozenset(words_of(text))


class Bm25:
    """BM25 over one user's documents, in parts, so that an index adds up the very same numbers as the scan.

    The inverse frequency is the one that never falls below zero: ln(1 + (N - n + 0.5) / (n + 0.5)).
    Scores are summed with ``math.fsum``: equal parts make equal scores, whatever their order.
    """

    def __init__(self, documents: int, mean_length: float) -> None:
        self.documents = documents
        self.mean_length = mean_length

    def weight(self, frequency: int) -> float:
        """The inverse document frequency of a term that occurs in ``frequency`` of the documents."""
        return math.log(1 + (self.documents - frequency + 0.5) / (frequency + 0.5)) * (K1 + 1)

    def damping(self, length: int) -> float:
        """The length normalisation of a document of this many terms."""
        return K1 * (1 - B + B * length / self.mean_length)

    @staticmethod
    def part(weight: float, times: int, damping: float) -> float:
        """The contribution of one term to the score of a document that holds it ``times`` times."""
        return weight * times / (times + damping)


def bm25(words: Sequence[str], text: str, frequency: Mapping[str, int], documents: int, mean_length: float) -> float:
    """BM25 of one document for the words asked for (each counted once).

    ``frequency``: in how many of the ``documents`` a word occurs.
    """
    held = Counter(words_of(text))
    asked = [word for word in set(words) if word in held]
    if not asked:
        return 0.0
    formula = Bm25(documents, mean_length)
    damping = formula.damping(sum(held.values()))
    return math.fsum(formula.part(formula.weight(frequency.get(word, 0)), held[word], damping) for word in asked)
