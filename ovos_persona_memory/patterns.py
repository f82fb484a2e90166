"""From templates in brackets and braces to regular expressions over words with a blank behind each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from ovos_persona_memory import language

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

MARK = "\t"
"""The blank in front of what ends a value."""

LAST_MARKED = 4
"""Clauses that are kept as they were marked."""

_VALUE_WORD = rf"(?<!{MARK})\w+ "

_TOKEN = re.compile(r"<\w+>|\{\w+(?::\*?\w+\*?)?\}(?:'s)?|[()\[\]|]|[^\s()\[\]|{}<>]+")

_CAPTURE = re.compile(r"\{(\w+)(?::(\*?)(\w+)(\*?))?\}")

Phrases = Mapping[str, tuple[tuple[str, ...], ...]]
"""Phrases by their first word, or by their last."""


def by_word(phrases: Sequence[str], place: int) -> Phrases:
    """Phrases by the word at a place of theirs."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for phrase in phrases:
        words = tuple(phrase.split())
        if words:
            found[words[place]] = (*found.get(words[place], ()), words)
    return found


@dataclass(frozen=True)
class Tails:
    """The phrases that end a value: the same in most patterns."""

    phrases: Phrases
    """By their first word."""

    def marked(self, words: tuple[str, ...]) -> str:
        """The words with a blank in front of each, a MARK where a phrase begins, and a blank behind the last."""
        return self._marked(words)

    @cached_property
    def _marked(self) -> Callable[[tuple[str, ...]], str]:
        """The last few are kept in memory: each is compared with many patterns."""
        return language.kept(self._mark, LAST_MARKED)

    def _mark(self, words: tuple[str, ...]) -> str:
        return "".join(f"{MARK if self._begins(words, place) else ' '}{word}" for place, word in enumerate(words)) + " "

    def _begins(self, words: tuple[str, ...], place: int) -> bool:
        """Whether a phrase begins at a place."""
        known = self.phrases.get(words[place], ())
        return any(words[place : place + len(phrase)] == phrase for phrase in known)


@dataclass(frozen=True)
class Pattern:
    """What a clause is compared with."""

    body: str
    """A regular expression over words with a blank behind each; a MARK stands in front of what ends a value."""
    tails: Tails
    """What that is."""
    needed: tuple[frozenset[str], ...]
    """Of each of these the clause must hold a word."""
    first: frozenset[str] | None
    """The words that the clause may begin with; None: any."""
    closed: bool = False
    """Its last word is one of few, so that what follows is no part of it."""

    @property
    def regex(self) -> str:
        """As it is compiled: a blank may be a MARK."""
        return self.body.replace(" ", r"\s")


_First = frozenset[str] | None
"""The words that something may begin with; None: any."""


@dataclass(frozen=True)
class _Piece:
    """A part of a template as a regular expression over words with a blank behind each."""

    regex: str
    first: _First
    optional: bool = False
    needed: tuple[frozenset[str], ...] = ()
    closed: bool = True
    """It does not end with any words."""


class Compiler:
    """From lines to patterns."""

    def __init__(self, lists: Mapping[str, Sequence[str]], fold: Callable[[str], Sequence[str]]) -> None:
        """``fold``: the words of a text as clauses are compared, contractions written out."""
        self._lists = lists
        self._fold = cache(fold)
        self._count = 0
        self._made: dict[tuple[str, bool], _Piece] = {}
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
        self._count = 0
        try:
            piece = self._sequence(text)
        except (KeyError, IndexError) as error:
            raise ValueError(f"{text!r} cannot be read: {error}") from error
        needed = tuple(sorted(piece.needed, key=len))
        more = "|(?P<more>.)" if piece.closed else ""
        body = rf"{piece.regex}(?:(?:(?P<rest>(?<={MARK}).){more}).*)?\Z"
        return Pattern(body, self._tails_of(slot), needed, piece.first, piece.closed)

    def _sequence(self, text: str) -> _Piece:
        tokens = _TOKEN.findall(text)
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
        if len(joined) == 1:
            return joined[0]
        return _either(joined, "|".join(one.regex for one in joined))

    def _bracketed(self, opened: str, tokens: list[str]) -> _Piece:
        inner = self._alternatives(tokens)
        tokens.pop(0)
        if opened == "[":
            inner = _Piece(f"(?:{inner.regex})?", inner.first, optional=True, closed=inner.closed)
        return replace(inner, regex=f"(?:{inner.regex})")

    def _one(self, token: str) -> _Piece:
        if token in self._words:
            return self._words[token]
        possessive = token.endswith("'s")
        bare = token[:-2] if possessive else token
        if bare.startswith("<"):
            piece = self._list(bare[1:-1])
        elif bare.startswith("{"):
            piece = self._capture(bare, possessive)
        else:
            words = self._fold(bare)
            needed = tuple(frozenset((word,)) for word in words)
            piece = _Piece("".join(f"{re.escape(word)} " for word in words), frozenset(words[:1]), needed=needed)
        if not possessive or bare.startswith("{"):
            if not bare.startswith(("<", "{")):
                self._words[token] = piece
            return piece
        plain = piece.regex.rstrip()
        return _Piece(f"{plain}(?: |s | s )", None if piece.first is None else _with_s(piece.first))

    def _list(self, name: str, bare: bool = False) -> _Piece:
        """One item of a list; ``bare``: without the blank behind its last word."""
        key, captures = (name, bare), self._count
        if key not in self._made:
            piece = self._new_list(name, bare)
            if self._count != captures:  # its groups have names of their own each time
                return piece
            self._made[key] = piece
        return self._made[key]

    def _new_list(self, name: str, bare: bool) -> _Piece:
        pieces = sorted(map(self._sequence, self._lists[name]), key=lambda piece: len(piece.regex), reverse=True)
        ends = [piece.regex.removesuffix(" ") if bare else piece.regex for piece in pieces]
        return _either(pieces, f"(?:{'|'.join(ends)})")

    def _capture(self, token: str, possessive: bool) -> _Piece:
        found = _CAPTURE.fullmatch(token)
        if found is None:
            raise KeyError(token)
        name, ending, listed, beginning = found.groups()
        group = self._group(name)
        if not listed:
            lazy = "?" if name == "thing" else ""
            return _Piece(f"({group}(?:{_VALUE_WORD}){{1,{MOST_WORDS.get(name, 9)}}}{lazy})", None, closed=False)
        if beginning:
            return _Piece(rf"({group}{self._list(listed, bare=True).regex}\w+ )", None)
        if listed == ONE and listed not in self._lists:
            return _Piece(rf"({group}\w+ )", None)
        if listed == SIGNS and listed not in self._lists:
            return _Piece(f"({group}(?:{self._sign()} ){{{FEWEST_SIGNS},{MOST_SIGNS}}})", None)
        inner = self._list(listed, bare=possessive)
        if ending:
            return _Piece(rf"({group}(?:{_VALUE_WORD}){{0,{BEFORE}}}?\w*{inner.regex})", None)
        if inner.first is None or not possessive:
            return replace(inner, regex=f"({group}{inner.regex})")
        first = _with_s(inner.first)
        return _Piece(f"({group}{inner.regex})(?: |s | s )", first, needed=(first,))

    def _sign(self) -> str:
        """A letter, or a word for a digit."""
        items = (self._fold(item) for name in SAID_ALONE for item in self._lists.get(name, ()))
        said = {words[0] for words in items if len(words) == 1}
        return "|".join(("(?:[^\\W_]", *sorted(map(re.escape, said)))) + ")"

    def _group(self, name: str) -> str:
        if name not in CAPTURED:
            return "?:"
        self._count += 1
        return f"?P<{name}{self._count}>"


def _joined(pieces: Sequence[_Piece]) -> _Piece:
    """One behind the other."""
    first: _First = frozenset()
    optional = True
    for piece in pieces:
        if optional:
            first = None if first is None or piece.first is None else first | piece.first
        optional = optional and piece.optional
    needed = [words for piece in pieces for words in piece.needed]
    last = next((n for n in range(len(pieces) - 1, -1, -1) if not pieces[n].optional), 0)
    closed = all(piece.closed for piece in pieces[last:])
    return _Piece("".join(piece.regex for piece in pieces), first, optional, tuple(needed), closed)


def _either(pieces: Sequence[_Piece], regex: str) -> _Piece:
    """One of them."""
    firsts = [piece.first for piece in pieces if piece.first is not None]
    first = frozenset[str]().union(*firsts) if len(firsts) == len(pieces) else None
    optional = any(piece.optional for piece in pieces)
    closed = all(piece.closed for piece in pieces)
    return _Piece(regex, first, optional, () if first is None or optional else (first,), closed)


def _with_s(words: frozenset[str]) -> frozenset[str]:
    return words | {f"{word}s" for word in words}
