"""What the words of a clause are compared with: words, lists of phrases, and what takes any words.

Each of these knows where it may end in a clause, what is tried first coming first; what follows decides which way
holds, as in a regular expression. It is none, since one would hold a list again wherever a template names it: thirty
megabytes for one language, and seven seconds to compile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple, Protocol

OWNING = "s"
"""What is left of the ending of "sister's", as a word or as the end of one."""
LONGEST_OWNER = 5
"""Words at most of who owns something."""


@dataclass(frozen=True, slots=True)
class ClauseWords:
    """The words of a clause, and what a value does not reach over."""

    words: tuple[str, ...]
    ends: frozenset[int]
    """The numbers of the words at which a phrase begins that ends a value."""

    def with_word(self, at: int, word: str) -> ClauseWords:
        """The same with another word at this place."""
        return replace(self, words=(*self.words[:at], word, *self.words[at + 1 :]))


class CapturedWords(NamedTuple):
    """What a capture took."""

    name: str
    first: int
    """Number of its first word."""
    words: tuple[str, ...]
    """As they were compared: "sister" of "sister's"."""


Ways = Iterator[tuple[int, tuple[CapturedWords, ...]]]
"""The places, numbers of words, at which something may end, each with what was captured until there."""


class Node(Protocol):
    """Something that words are compared with."""

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """Where it may end when it begins at the word ``at``, what is tried first first; none where it does not fit."""
        ...


@dataclass(frozen=True, slots=True)
class Phrase:
    """These very words."""

    words: tuple[str, ...]

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        end = at + len(self.words)
        if said.words[at:end] == self.words:
            yield end, held


@dataclass(frozen=True, slots=True)
class Sequential:
    """One behind the other."""

    parts: tuple[Node, ...]

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        return self._from(0, said, at, held)

    def _from(self, number: int, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        if number == len(self.parts) - 1:
            yield from self.parts[number].ways(said, at, held)
            return
        for end, taken in self.parts[number].ways(said, at, held):
            yield from self._from(number + 1, said, end, taken)


@dataclass(frozen=True, slots=True)
class Listed:
    """One of many."""

    by_first: Mapping[str, tuple[Node, ...]]
    """Those that may begin with a word, in the order in which they are tried."""
    anyhow: tuple[Node, ...]
    """The alternatives that any other word, or no word, may begin."""

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        word = said.words[at] if at < len(said.words) else ""
        for node in self.by_first.get(word, self.anyhow):
            yield from node.ways(said, at, held)


@dataclass(frozen=True, slots=True)
class Maybe:
    """Something that may be left out."""

    node: Node

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        yield from self.node.ways(said, at, held)
        yield at, held


@dataclass(frozen=True, slots=True)
class AnyWord:
    """One word, whatever it is."""

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        if at < len(said.words):
            yield at + 1, held


@dataclass(frozen=True, slots=True)
class AnyWords:
    """Some words, whatever they are, up to what ends a value."""

    most: int
    few: bool
    """As few as possible are tried first, else as many."""

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        size = 0
        while size < self.most and at + size < len(said.words) and at + size not in said.ends:
            size += 1
        sizes = range(1, size + 1)
        for taken in sizes if self.few else reversed(sizes):
            yield at + taken, held


@dataclass(frozen=True, slots=True)
class Signs:
    """Letters and digits said one by one, as many as possible first."""

    said: frozenset[str]
    """The words for digits."""
    fewest: int
    most: int

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        end = at
        while end < len(said.words) and end - at < self.most and self._is_sign(said.words[end]):
            end += 1
        for place in range(end, at + self.fewest - 1, -1):
            yield place, held

    def _is_sign(self, word: str) -> bool:
        return len(word) == 1 or word in self.said


@dataclass(frozen=True, slots=True)
class Ending:
    """One of a list, or a word that ends with it, behind a few words: "a part-time shop assistant"."""

    before: int
    """Words at most that stand before it."""
    node: Node
    first: frozenset[str] | None
    """The words that it may begin with; None: any."""

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        for place in range(at, min(at + self.before, len(said.words) - 1) + 1):
            yield from self._at(said, place, held)
            if place in said.ends:
                return

    def _at(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        word = said.words[at]
        for cut in range(len(word) - 1, -1, -1):
            if self.first is None or word[cut:] in self.first:
                yield from self.node.ways(said.with_word(at, word[cut:]) if cut else said, at, held)


@dataclass(frozen=True, slots=True)
class Beginning:
    """A word that begins with one of these, and is longer."""

    words: frozenset[str]

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        if at < len(said.words) and any(said.words[at][:cut] in self.words for cut in range(1, len(said.words[at]))):
            yield at + 1, held


@dataclass(frozen=True, slots=True)
class CaptureNode:
    """Something whose words are wanted."""

    name: str
    node: Node

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        for end, taken in self.node.ways(said, at, held):
            yield end, (*taken, CapturedWords(self.name, at, said.words[at:end]))


@dataclass(frozen=True, slots=True)
class Owner:
    """Somebody who owns what follows: with "'s", or without, as a recogniser may write it."""

    node: Node

    def ways(self, said: ClauseWords, at: int, held: tuple[CapturedWords, ...]) -> Ways:
        """See Node."""
        for end, taken in self.node.ways(said, at, held):
            yield end, taken
            if said.words[end : end + 1] == (OWNING,):
                yield end + 1, taken
        for last in range(at, min(at + LONGEST_OWNER, len(said.words))):
            word = said.words[last]
            if len(word) > 1 and word.endswith(OWNING):
                without = said.with_word(last, word.removesuffix(OWNING))
                yield from (way for way in self.node.ways(without, at, held) if way[0] == last + 1)


_A_WORD = AnyWord()
"""Stands for an item of one word, where the word has been looked up."""


def sequence(parts: Sequence[Node]) -> Node:
    """One behind the other; phrases that follow each other are one."""
    flat: list[Node] = []
    for part in chain.from_iterable(one.parts if isinstance(one, Sequential) else (one,) for one in parts):
        if flat and isinstance(part, Phrase) and isinstance(flat[-1], Phrase):
            flat[-1] = Phrase((*flat[-1].words, *part.words))
        else:
            flat.append(part)
    return flat[0] if len(flat) == 1 else Sequential(tuple(flat) or (Phrase(()),))


def listed(items: Sequence[tuple[Node, frozenset[str] | None]]) -> Listed:
    """One of many, in the order in which they are tried, each with the words that it may begin with; None: any, or none
    at all."""
    nodes = [_A_WORD if isinstance(node, Phrase) and len(node.words) == 1 else node for node, _ in items]
    anyhow = tuple(number for number, (_, first) in enumerate(items) if first is None)
    places: dict[str, tuple[int, ...]] = {}
    for number, (_, first) in enumerate(items):
        for word in first or ():
            places[word] = (*places.get(word, ()), number)
    shared: dict[tuple[int, ...], tuple[Node, ...]] = {}

    def chosen(numbers: Iterable[int]) -> tuple[Node, ...]:
        made = tuple([nodes[number] for number in (sorted({*numbers, *anyhow}) if anyhow else numbers)])
        return shared.setdefault(tuple(map(id, made)), made)  # of most words the same: a list is long

    return Listed({word: chosen(numbers) for word, numbers in places.items()}, chosen(()))
