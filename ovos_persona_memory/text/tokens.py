"""A text as tokens, each with its span in the text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

_ENDS = ".?!\n"
GAP = 2
"""Words left out between two tokens, at most, for the text between them still to be quoted as it was written."""


@dataclass(frozen=True)
class Tokens:
    """A text as tokens, each with its span in the text."""

    text: str
    folded: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def joined(self) -> str:
        """Every folded token with a blank behind it."""
        return "".join(f"{word} " for word in self.folded)

    def part(self, first: int, last: int) -> Tokens:
        """The tokens from number ``first`` up to ``last``, ``last`` excluded."""
        return Tokens(self.text, self.folded[first:last], self.spans[first:last])

    def within(self, start: int, end: int) -> Tokens:
        """The tokens that stand between two character offsets; the tokens must be in the order of the text."""
        first = bisect_left(self.spans, start, key=itemgetter(0))
        return self.part(first, bisect_right(self.spans, end, key=itemgetter(1)))

    @property
    def opening(self) -> str:
        """The text of the sentence before these tokens."""
        before = self.text[: self.spans[0][0]]
        return before[max(before.rfind(mark) for mark in _ENDS) + 1 :]

    @property
    def closing(self) -> str:
        """The text of the sentence behind these tokens."""
        behind = self.text[self.spans[-1][1] :]
        return behind[: min((place for mark in _ENDS if (place := behind.find(mark)) >= 0), default=len(behind))]

    @property
    def spelled(self) -> str:
        """The text from the first of these tokens to the last, as it was written; tokens that were reordered are joined
        by blanks."""
        gaps = (self.text[one[1] : other[0]] for one, other in pairwise(self.spans))
        if any(one > other for one, other in pairwise(self.spans)) or any(gap.count(" ") > GAP + 1 for gap in gaps):
            return " ".join(self.text[start:end] for start, end in self.spans)
        return self.text[self.spans[0][0] : self.spans[-1][1]] if self.spans else ""
