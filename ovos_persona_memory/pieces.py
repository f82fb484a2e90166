"""The pieces of words that an encoder knows: "bluebottle" is "_blue", "bott", "le"."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory import language

BEGIN, END, UNKNOWN = 0, 1, 2
"""The rows of what opens and closes an utterance, and of a letter that is no piece."""
SPECIAL = 3
"""So many rows stand before those of pieces."""
SPACE = "\u2581"
"""What a piece starts with that starts a word."""
UNLIKELY = -30.0
"""The logarithm of how likely a letter is that is no piece."""
LETTERS = 64
"""Of a longer word so many letters are read."""
LAST_WORDS = 2048
"""So many words are kept in mind with their pieces."""


@dataclass(frozen=True)
class Pieces:
    """Thread-safe: it is only read."""

    hashes: NDArray[np.uint32]
    """What pieces are known by, in order; their rows follow, behind SPECIAL."""
    scores: NDArray[np.float16]
    """The logarithm of how likely each is."""
    longest: int
    """Letters of a piece at most."""

    def cut(self, word: str) -> tuple[int, ...]:
        """The rows of a word's pieces, in order; at least one."""
        return self._cut(word)

    @cached_property
    def _cut(self) -> Callable[[str], tuple[int, ...]]:
        return language.kept(self._likeliest, LAST_WORDS)

    def _likeliest(self, word: str) -> tuple[int, ...]:
        """The pieces that are likeliest together (Kudo, "Subword Regularization", 2018), by Viterbi's algorithm."""
        text = SPACE + word[:LETTERS]
        best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        for end in range(1, len(text) + 1):
            starts = range(max(end - self.longest, 0), end)
            made = (self._with(best[start], text[start:end]) for start in starts)
            best.append(max((one for one in made if one is not None), key=lambda one: one[0]))
        return best[-1][1]

    def _with(self, before: tuple[float, tuple[int, ...]], piece: str) -> tuple[float, tuple[int, ...]] | None:
        """A cut with one more piece; None where there is no such piece."""
        wanted = hashed(piece)
        place = int(self.hashes.searchsorted(np.uint32(wanted)))
        if place < len(self.hashes) and self.hashes[place] == wanted:
            return before[0] + float(self.scores[place]), (*before[1], place + SPECIAL)
        return (before[0] + UNLIKELY, (*before[1], UNKNOWN)) if len(piece) == 1 else None


def hashed(piece: str) -> int:
    """What a piece is known by."""
    return zlib.crc32(piece.encode())
