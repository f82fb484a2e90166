"""A text as words, each with its place in the text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

_ENDS = ".?!\n"
GAP = 2
"""Words at most that were left out between two that stood together."""


@dataclass(frozen=True)
class Tokens:
    """A text as words, each with its place in the text."""

    text: str
    folded: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def joined(self) -> str:
        """Every word with a blank behind it."""
        return "".join(f"{word} " for word in self.folded)

    def part(self, first: int, last: int) -> Tokens:
        """The words from number ``first`` up to, not with, ``last``."""
        return Tokens(self.text, self.folded[first:last], self.spans[first:last])

    def within(self, start: int, end: int) -> Tokens:
        """Those that stand between two places of the text, characters; of words in the order of the text."""
        first = bisect_left(self.spans, start, key=itemgetter(0))
        return self.part(first, bisect_right(self.spans, end, key=itemgetter(1)))

    @property
    def opening(self) -> str:
        """What stands before these words in their sentence."""
        before = self.text[: self.spans[0][0]]
        return before[max(before.rfind(mark) for mark in _ENDS) + 1 :]

    @property
    def closing(self) -> str:
        """... and behind them."""
        behind = self.text[self.spans[-1][1] :]
        return behind[: min((place for mark in _ENDS if (place := behind.find(mark)) >= 0), default=len(behind))]

    @property
    def spelled(self) -> str:
        """The text from the first of these words to the last, as it was written; words that were turned one by one."""
        gaps = (self.text[one[1] : other[0]] for one, other in pairwise(self.spans))
        if any(one > other for one, other in pairwise(self.spans)) or any(gap.count(" ") > GAP + 1 for gap in gaps):
            return " ".join(self.text[start:end] for start, end in self.spans)
        return self.text[self.spans[0][0] : self.spans[-1][1]] if self.spans else ""
