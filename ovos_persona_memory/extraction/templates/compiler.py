"""From templates in brackets and braces to what the words of a clause are compared with."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

from ovos_persona_memory.extraction.templates import nodes
from ovos_persona_memory.extraction.templates.nodes import CapturedWords, ClauseWords, Node
from ovos_persona_memory.text import Phrases, by_word, languages

MOST_WORDS = {"value": 9, "thing": 5}
"""Words that a capture holds at most; what says more tells a story."""

BEFORE = 3
"""Words at most before the one of a list that {value:*list} ends with."""

ONE = "word"
"""{value:word} is any one word, where no list is called so."""

SIGNS = "signs"
"""{value:signs} is letters and digits that are said one by one, where no list is called so."""

SAID_ALONE = ("digit", "number", "sign")
"""Lists of the words that are signs."""

FEWEST_SIGNS, MOST_SIGNS = 3, 20
"""How many there are."""

CAPTURED = ("value", "thing", "subject")

LAST_READ = 4
"""Clauses that are kept as they were read."""

_TOKEN = re.compile(r"<\w+>(?:'s)?|\{\w+(?::\*?\w+\*?)?\}(?:'s)?|[()\[\]|]|[^\s()\[\]|{}<>]+")

_MARKED = re.compile(r"[<>{}()\[\]|]|'s(?!\S)")
"""What a template has that is not only words."""

_CAPTURE = re.compile(r"\{(\w+)(?::(\*?)(\w+)(\*?))?\}")


@dataclass(frozen=True)
class Tails:
    """The phrases that end a value: the same in most patterns."""

    phrases: Phrases
    """By their first word."""

    def read(self, words: tuple[str, ...]) -> ClauseWords:
        """The words, and where a phrase begins."""
        return self._said(words)

    @cached_property
    def _said(self) -> Callable[[tuple[str, ...]], ClauseWords]:
        """The last few are kept in memory: each is compared with many patterns."""
        return languages.lru_cached(self._read, LAST_READ)

    def _read(self, words: tuple[str, ...]) -> ClauseWords:
        return ClauseWords(words, frozenset(place for place in range(len(words)) if self._begins(words, place)))

    def _begins(self, words: tuple[str, ...], place: int) -> bool:
        """Whether a phrase begins at a place."""
        known = self.phrases.get(words[place], ())
        return any(words[place : place + len(phrase)] == phrase for phrase in known)


class Match(NamedTuple):
    """How a pattern fits a clause."""

    until: int
    """How many words of the clause it took."""
    more: bool
    """What is left says something else, and ends no value."""
    held: tuple[CapturedWords, ...]
    """What was captured, in its order in the clause."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a clause is compared with."""

    node: Node
    tails: Tails
    """What ends a value."""
    needed: tuple[frozenset[str], ...]
    """Of each of these the clause must hold a word."""
    first: frozenset[str] | None
    """The words that the clause may begin with; None: any."""
    closed: bool = False
    """Its last word is one of few, so that what follows is no part of it."""

    def may_begin(self, word: str) -> bool:
        """Whether a clause may begin with this word."""
        return self.first is None or word in self.first

    def match(self, words: tuple[str, ...]) -> Match | None:
        """How it fits the words of a clause, the way that is tried first; None where it does not."""
        said = self.tails.read(words)
        for until, held in self.node.ways(said, 0, ()):
            ended = until == len(words) or until in said.ends
            if ended or self.closed:
                return Match(until, not ended, tuple(sorted(held, key=lambda one: one.first)))
        return None


_First = frozenset[str] | None
"""The words that something may begin with; None: any."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a template."""

    node: Node
    first: _First
    size: int = 0
    """How many letters it has, about: longer items of a list are tried first."""
    optional: bool = False
    needed: tuple[frozenset[str], ...] = ()
    closed: bool = True
    """It does not end with any words."""


class Compiler:
    """From lines to patterns."""

    def __init__(self, lists: Mapping[str, Sequence[str]], fold: Callable[[str], Sequence[str]]) -> None:
        """``fold``: the words of a text as clauses are compared, contractions written out."""
        self._lists = lists
        self._fold = cache(lambda text: [sys.intern(word) for word in fold(text)])
        self._made: dict[str, _Piece] = {}
        self._words: dict[str, _Piece] = {}
        self._tails: dict[str, Tails] = {}

    def words(self, name: str) -> frozenset[str]:
        """The words that the phrases of a list begin with; none where it is missing."""
        return frozenset(word for item in self._lists.get(name, ()) for word in self._fold(item)[:1])

    def _tails_of(self, slot: str) -> Tails:
        """A value of the slot ends before the phrases of <tail> and of <tail_slot>."""
        own = self._lists.get(f"tail_{slot}", ())
        key = slot if own else ""
        if key not in self._tails:
            items = (*self._lists.get("tail", ()), *own)
            self._tails[key] = Tails(by_word([" ".join(self._fold(item)) for item in items], 0))
        return self._tails[key]

    def pattern(self, slot: str, text: str) -> Pattern:
        """The pattern of a template of a slot; ValueError where it cannot be read."""
        try:
            piece = self._sequence(text)
        except (KeyError, IndexError) as error:
            raise ValueError(f"{text!r} cannot be read: {error}") from error
        needed = tuple(sorted(piece.needed, key=len))
        return Pattern(piece.node, self._tails_of(slot), needed, piece.first, piece.closed)

    def _sequence(self, text: str) -> _Piece:
        tokens = _TOKEN.findall(text)
        if "".join(tokens) != "".join(text.split()):
            raise IndexError("a bracket that holds nothing")
        piece = self._alternatives(tokens)
        if tokens:
            raise IndexError("a bracket too many")
        return piece

    def _alternatives(self, tokens: list[str]) -> _Piece:
        """Takes its tokens from the front, up to a closing bracket."""
        branches: list[list[_Piece]] = [[]]
        while tokens and tokens[0] not in ")]":
            token = tokens.pop(0)
            if token == "|":
                branches.append([])
            else:
                branches[-1].append(self._bracketed(token, tokens) if token in "([" else self._one(token))
        joined = [_joined(branch) for branch in branches]
        return joined[0] if len(joined) == 1 else _either(joined)

    def _bracketed(self, opened: str, tokens: list[str]) -> _Piece:
        inner = self._alternatives(tokens)
        tokens.pop(0)
        if opened == "[":
            return replace(inner, node=nodes.Maybe(inner.node), optional=True, needed=())
        return inner

    def _one(self, token: str) -> _Piece:
        if token not in self._words:
            piece = self._new_one(token)
            if token.startswith("{"):
                return piece  # it seldom stands twice
            self._words[token] = piece
        return self._words[token]

    def _new_one(self, token: str) -> _Piece:
        bare = token.removesuffix("'s")
        if bare.startswith("{"):
            return self._capture(bare, owner=bare != token)
        piece = self._list(bare[1:-1]) if bare.startswith("<") else _phrase(self._fold(bare))
        return piece if bare == token else _owner(piece)

    def _list(self, name: str) -> _Piece:
        """One item of a list."""
        if name not in self._made:
            pieces = sorted(map(self._item, self._lists[name]), key=lambda piece: piece.size, reverse=True)
            self._made[name] = _either(pieces)
        return self._made[name]

    def _item(self, text: str) -> _Piece:
        """One of a list: most are words alone."""
        if _MARKED.search(text):
            return self._sequence(text)
        return _phrase([word for token in text.split() for word in self._fold(token)])

    def _capture(self, token: str, owner: bool) -> _Piece:
        found = _CAPTURE.fullmatch(token)
        if found is None:
            raise KeyError(token)
        name, ending, listed, beginning = found.groups()
        piece = self._captured(name, listed, bool(ending), bool(beginning))
        if name in CAPTURED:
            piece = replace(piece, node=nodes.CaptureNode(name, piece.node))
        return _owner(piece) if owner and listed else piece

    def _captured(self, name: str, listed: str | None, ending: bool, beginning: bool) -> _Piece:
        if not listed:
            return _Piece(nodes.AnyWords(MOST_WORDS.get(name, 9), few=name == "thing"), None, closed=False)
        if beginning:
            return _Piece(nodes.Beginning(self.words(listed)), None)
        if listed == ONE and listed not in self._lists:
            return _Piece(nodes.AnyWord(), None)
        if listed == SIGNS and listed not in self._lists:
            return _Piece(nodes.Signs(self._signs(), FEWEST_SIGNS, MOST_SIGNS), None)
        if ending:
            inner = self._list(listed)
            return _Piece(nodes.Ending(BEFORE, inner.node, inner.first), None)
        return self._list(listed)

    def _signs(self) -> frozenset[str]:
        """The words for digits."""
        items = (self._fold(item) for name in SAID_ALONE for item in self._lists.get(name, ()))
        return frozenset(words[0] for words in items if len(words) == 1)


def _phrase(words: Sequence[str]) -> _Piece:
    needed = tuple([frozenset((word,)) for word in words])
    first = needed[0] if needed else frozenset[str]()
    size = sum(len(word) + 1 for word in words)
    return _Piece(nodes.Phrase(tuple(words)), first, size, optional=not words, needed=needed)


def _owner(piece: _Piece) -> _Piece:
    first = None if piece.first is None else piece.first | {f"{word}{nodes.OWNING}" for word in piece.first}
    needed = () if first is None else (first,)
    return _Piece(nodes.Owner(piece.node), first, piece.size, needed=needed)


def _any_of(firsts: Sequence[_First]) -> _First:
    """The words of all; where but one has any the very same set, since lists are long."""
    known = [first for first in firsts if first]
    if None in firsts:
        return None
    return known[0] if len(known) == 1 else frozenset[str]().union(*known)


def _joined(pieces: Sequence[_Piece]) -> _Piece:
    """One behind the other."""
    first: _First = frozenset()
    optional = True
    for piece in pieces:
        if optional:
            first = _any_of((first, piece.first))
        optional = optional and piece.optional
    needed = [words for piece in pieces for words in piece.needed]
    last = next((n for n in range(len(pieces) - 1, -1, -1) if not pieces[n].optional), 0)
    closed = all(piece.closed for piece in pieces[last:])
    size = sum(piece.size for piece in pieces)
    return _Piece(nodes.sequence([piece.node for piece in pieces]), first, size, optional, tuple(needed), closed)


def _either(pieces: Sequence[_Piece]) -> _Piece:
    """One of them."""
    listed = nodes.listed([(piece.node, None if piece.optional else piece.first) for piece in pieces])
    first = _any_of([piece.first for piece in pieces])
    optional = any(piece.optional for piece in pieces)
    closed = all(piece.closed for piece in pieces)
    needed = () if first is None or optional else (first,)
    return _Piece(listed, first, sum(piece.size for piece in pieces), optional, needed, closed)
