"""The word lists of a language by which secrets, tag questions and topics are recognised: its ``lexicon.list``.

A line is ``name: phrase, phrase``; lines of one name add up. Texts and phrases are compared as folded words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.tokens import Tokens

FILE, NUMBERS = "lexicon.list", "numbers.list"
TENS = 10
"""The least number whose word is of the list "number" without standing there: those below are digits."""

_Phrases = Mapping[str, tuple[tuple[str, ...], ...]]
"""Phrases by one of their words."""


@dataclass(frozen=True)
class Lexicon:
    """The word lists of one language; empty where it has no file."""

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Folded phrases by the name of their list."""

    def words_of(self, text: str) -> Tokens:
        """The tokens of a text."""
        return Tokens(text, *languages.spelled(text))

    def opening(self, name: str) -> frozenset[str]:
        """The first words of a list's phrases."""
        return self._first_words.get(name, frozenset())

    def has_word(self, names: Sequence[str], word: str) -> bool:
        """Whether a phrase of one of these lists begins with a word."""
        return any(word in self.opening(name) for name in names)

    def starts(self, words: Tokens, name: str) -> int:
        """The length, in words, of the longest phrase of a list that the words begin with; 0 for none."""
        return self.starts_at(words.folded, 0, name)

    def starts_at(self, held: tuple[str, ...], place: int, name: str) -> int:
        """The length, in words, of the longest phrase of a list at a position; 0 for none."""
        known = self._by_first.get(name, {}).get(held[place], ()) if place < len(held) else ()
        return max((len(phrase) for phrase in known if held[place : place + len(phrase)] == phrase), default=0)

    def ends(self, words: Tokens, name: str) -> int:
        """The length, in words, of the longest phrase of a list that the words end with; 0 for none."""
        held = words.folded
        known = self._by_last.get(name, {}).get(held[-1], ()) if held else ()
        return max((len(phrase) for phrase in known if held[-len(phrase) :] == phrase), default=0)

    def has(self, words: Tokens, name: str) -> bool:
        """Whether the words contain a phrase of a list."""
        return any(True for _ in self.places(words, name))

    def places(self, words: Tokens, name: str) -> Iterator[tuple[int, int]]:
        """The matches of a list's phrases: number of the first word, and length in words."""
        known, held = self._by_first.get(name, {}), words.folded
        for place, word in enumerate(held) if not self.opening(name).isdisjoint(held) else ():
            for phrase in known.get(word, ()):
                if held[place : place + len(phrase)] == phrase:
                    yield place, len(phrase)

    @cached_property
    def digits(self) -> Mapping[str, str]:
        """Digits by the words for them."""
        return {word: str(n % 10) for n, word in enumerate(self.lists.get("digit", ()))}

    @cached_property
    def code_starts(self) -> frozenset[str]:
        """Words with which a spoken code may begin, digits aside."""
        return self.opening("digit") | self.opening("number") | self.opening("key_sign")

    @cached_property
    def _by_first(self) -> Mapping[str, _Phrases]:
        return {name: _by_word(phrases, 0) for name, phrases in self.lists.items()}

    @cached_property
    def _by_last(self) -> Mapping[str, _Phrases]:
        return {name: _by_word(phrases, -1) for name, phrases in self.lists.items()}

    @cached_property
    def _first_words(self) -> Mapping[str, frozenset[str]]:
        return {name: frozenset(phrases) for name, phrases in self._by_first.items()}


@languages.computed_once
def for_language(tag: str | None) -> Lexicon:
    """The lexicon of a language, BCP-47 tag; empty where it has none."""
    spoken = languages.for_language(tag)
    lines = spoken.lines(FILE)
    return made_of(lines, spoken.table(NUMBERS) if lines else {})


def made_of(lines: Iterable[str], numbers: Mapping[str, float]) -> Lexicon:
    """The lexicon of a file's lines, and of the words for numbers from ten on in a table of such words."""
    found: dict[str, list[str]] = {}
    for line in lines:
        name, _, items = line.partition(":")
        found.setdefault(name.strip(), []).extend(item for part in items.split(",") for item in _folded(part))
    found.setdefault("number", []).extend(
        word for word, number in numbers.items() if " " not in word and number >= TENS and number.is_integer()
    )
    return Lexicon({name: tuple(items) for name, items in found.items() if items})


def _folded(phrase: str) -> Iterator[str]:
    """A phrase in folded words; also as it is written without its apostrophe, "isn't it" as "isnt it"."""
    for form in dict.fromkeys((phrase, phrase.replace("'", ""))):
        if words := languages.fold(form):
            yield " ".join(words)


def _by_word(phrases: Iterable[str], place: int) -> _Phrases:
    """Phrases by the word at this position."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for phrase in phrases:
        words = tuple(phrase.split())
        found[words[place]] = (*found.get(words[place], ()), words)
    return found
