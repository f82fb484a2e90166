"""The lexicon of a language: the words and phrases of its templates, from the lists of its ``facts.templates``.

A text is compared as words: folded, contractions expanded, filler words left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypeVar

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.phrases import Phrases, by_word
from ovos_persona_memory.text.tokens import Tokens

FILE = "facts.templates"
LAST_READ = 12
"""Texts whose tokens are cached."""
LAST_FOUND = 64
"""Texts whose phrase matches are cached."""
SHORTEST = 5
"""Letters at least of an infinitive that names an activity."""
_Text = tuple[str, ...]
_Made = TypeVar("_Made")
_Lists = Mapping[str, Sequence[str]]
_VERBS = ("finite", "doing", "tue", "habit_verb", "habit_full", "put_now")
_LOOSE = ("loose", "preposition", "pronoun", "joint", "asking", "own", "finite")
_PAIRS = ("contractions", "same", "third", "answers", "again")
"""Lists of pairs, with a colon between the two sides."""
CACHED = ("_opening", "_closing", "_first_words", "_words_of", "_all_places")
"""Attributes that are derived from the lists when they are first read."""
_DEFINITION = re.compile(r"<(\w+)>\s*=\s*(.+)")
_SLOT = re.compile(r"(\w+)( ends)?:")


class Row(NamedTuple):
    """A template as it stands in the file."""

    slot: str
    ends: bool
    """Whether the template retracts an earlier statement."""
    line: str


class Source(NamedTuple):
    """The contents of a language's file."""

    lists: dict[str, list[str]]
    """Items by the name of their list, not folded: some are templates themselves."""
    pairs: dict[str, list[str]]
    rows: list[Row]


class _WhenAsked(dict[str, _Made]):
    """A mapping whose values are computed when they are first read: most never are."""

    def __init__(self, make: Callable[[str], _Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> _Made:
        made = self[name] = self._make(name)
        return made


@dataclass(frozen=True)
class Lexicon:
    """The word lists of one language; empty where it has no file."""

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Folded phrases by the name of their list."""
    contractions: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    """Other names of a relation mapped to the name that facts use: "mother" to "mum"."""
    third: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Verbs in the third person mapped to the first: "works" to "work"; empty where nothing is learned about others."""

    answers: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    """Words of a question mapped to those that a short answer leaves out: "what is he called": "i am called"."""
    again: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """Slots mapped to the words that "and me ..." leaves out behind a statement of such a fact."""

    loose: frozenset[str] = frozenset()
    """Words that may begin the clause behind a complete statement."""

    def words_of(self, text: str) -> Tokens:
        """The tokens of a text, contractions expanded. The last few texts are cached: each is read often."""
        return self._words_of(text)

    @cached_property
    def _words_of(self) -> Callable[[str], Tokens]:
        return languages.lru_cached(self._read, LAST_READ)

    def _read(self, text: str) -> Tokens:
        return self._written_out(Tokens(text, *languages.spelled(text)))

    def before(self, clause: Tokens) -> Tokens:
        """All tokens before a clause in its text."""
        return self.words_of(clause.text).within(0, clause.spans[0][0])

    def opening_of(self, clause: Tokens) -> Tokens:
        """The tokens before a clause in its sentence."""
        start = clause.spans[0][0]
        return self.words_of(clause.text).within(start - len(clause.opening), start)

    def closing_of(self, clause: Tokens) -> Tokens:
        """The tokens behind a clause in its sentence."""
        end = clause.spans[-1][1]
        return self.words_of(clause.text).within(end, end + len(clause.closing))

    def folded(self, text: str) -> tuple[str, ...]:
        """The folded words of a text, contractions expanded."""
        words = tuple(languages.fold(text))
        if self._shortened.keys().isdisjoint(words):
            return words
        return self._written_out(Tokens("", words, ((0, 0),) * len(words))).folded

    def _written_out(self, words: Tokens) -> Tokens:
        if self._shortened.keys().isdisjoint(words.folded):
            return words
        folded: list[str] = []
        spans: list[tuple[int, int]] = []
        place = 0
        while place < len(words.folded):
            short = [words.folded[place : place + n] for n in self._shortened.get(words.folded[place], ())]
            size = next((len(one) for one in short if one in self.contractions), 0)
            if not size:
                folded.append(words.folded[place])
                spans.append(words.spans[place])
                place += 1
                continue
            meant = self.contractions[words.folded[place : place + size]]
            span = (words.spans[place][0], words.spans[place + size - 1][1])
            folded += meant
            spans += words.spans[place : place + size] if len(meant) == size else [span] * len(meant)
            place += size
        return Tokens(words.text, tuple(folded), tuple(spans))

    @cached_property
    def _shortened(self) -> Mapping[str, tuple[int, ...]]:
        """The lengths, in words, of the contractions with each first word, the longest first."""
        found: dict[str, set[int]] = {}
        for short in self.contractions:
            found.setdefault(short[0], set()).add(len(short))
        return {word: tuple(sorted(sizes, reverse=True)) for word, sizes in found.items()}

    def without(self, words: Tokens, name: str) -> Tokens:
        """The words that are not in a list."""
        if self.opening(name).isdisjoint(words.folded):
            return words  # most, quickly
        left_out = set(self.lists.get(name, ()))
        kept = [n for n, word in enumerate(words.folded) if word not in left_out]
        return Tokens(words.text, tuple(words.folded[n] for n in kept), tuple(words.spans[n] for n in kept))

    def starts(self, words: Tokens, name: str) -> int:
        """The length, in words, of the longest phrase of a list that the words begin with; 0 for none."""
        return self.starts_at(words.folded, 0, name)

    def starts_at(self, held: tuple[str, ...], place: int, name: str) -> int:
        """The length, in words, of the longest phrase of a list at a position; 0 for none."""
        known = self._opening[name].get(held[place], ()) if place < len(held) else ()
        if not known:
            return 0
        return max((len(phrase) for phrase in known if held[place : place + len(phrase)] == phrase), default=0)

    def ends(self, words: Tokens, name: str) -> int:
        """The length, in words, of the longest phrase of a list that the words end with; 0 for none."""
        held = words.folded
        known = self._closing[name].get(held[-1], ()) if held else ()
        if not known:
            return 0
        return max((len(phrase) for phrase in known if held[-len(phrase) :] == phrase), default=0)

    def has(self, words: Tokens, name: str) -> bool:
        """Whether the words contain a phrase of a list."""
        return any(True for _ in self.places(words, name))

    def has_word(self, names: Sequence[str], word: str) -> bool:
        """Whether a phrase of one of these lists begins with a word."""
        return any(word in self._opening[name] for name in names)

    def places(self, words: Tokens, name: str) -> Iterator[tuple[int, int]]:
        """The matches of a list's phrases: number of the first word, and length in words."""
        known, held = self._opening[name], words.folded
        for place, word in enumerate(held) if not self.opening(name).isdisjoint(held) else ():
            for phrase in known.get(word, ()):
                if held[place : place + len(phrase)] == phrase:
                    yield place, len(phrase)

    def all_places(self, words: Tokens, name: str) -> tuple[tuple[int, int], ...]:
        """As ``places``, all at once. Those of the last few texts are cached: every fact of a text asks for them."""
        return self._all_places((words.folded, name))

    @cached_property
    def _all_places(self) -> Callable[[tuple[_Text, str]], tuple[tuple[int, int], ...]]:
        def find(asked: tuple[_Text, str]) -> tuple[tuple[int, int], ...]:
            return tuple(self.places(Tokens("", asked[0], ()), asked[1]))

        return languages.lru_cached(find, LAST_FOUND)

    def opening(self, name: str) -> frozenset[str]:
        """The first words of a list's phrases, as a text spells them: contractions, too."""
        return self._first_words[name]

    @cached_property
    def _first_words(self) -> Mapping[str, frozenset[str]]:
        return _WhenAsked(lambda name: frozenset(self._opening[name]))

    @cached_property
    def digits(self) -> Mapping[str, str]:
        """Digits by the words for them."""
        return {word: str(n % 10) for n, word in enumerate(self.lists.get("digit", ()))}

    @cached_property
    def people(self) -> frozenset[str]:
        """Words for relatives and pets, each also with an s."""
        found = (word for name in ("relation", "kin", "pet") for word in self.opening(name))
        return frozenset(form for word in found for form in (word, f"{word}s"))

    @cached_property
    def introduced(self) -> frozenset[str]:
        """As ``people``, with the words for acquaintances, of whom the name alone is learned."""
        return self.people | self.opening("acquaintance")

    @cached_property
    def own_verbs(self) -> frozenset[str]:
        """Verbs in the first person, singular and plural."""
        said = (verb for verbs in self.third.values() for verb in verbs)
        return frozenset(said) | self.opening("finite")

    def divided(self, verb: str) -> tuple[str, str] | None:
        """The two parts of a separable verb, "weglasse": weg, and lasse; None for a verb that has none."""
        for part in self.lists.get("separable", ()):
            if verb.startswith(part) and verb[len(part) :] in self.own_verbs:
                return part, verb[len(part) :]
        return None

    def own_form(self, infinitive: str) -> str:
        """The first person of an infinitive, "frühstücke" of "frühstücken"; empty for another word."""
        if len(infinitive) < SHORTEST or not infinitive.endswith("n"):
            return ""
        form = infinitive[:-1]
        return self.contractions.get((form,), (form,))[0]

    @cached_property
    def _opening(self) -> Mapping[str, Phrases]:
        """The phrases of each list by their first word."""
        return _WhenAsked(lambda name: by_word(self.lists.get(name, ()), 0))

    @cached_property
    def _closing(self) -> Mapping[str, Phrases]:
        """The phrases of each list by their last word."""
        return _WhenAsked(lambda name: by_word(self.lists.get(name, ()), -1))


@languages.computed_once
def for_language(tag: str | None) -> Lexicon:
    """The lexicon of a language, BCP-47 tag; empty where it has none."""
    return made_of(source(tag))


def source(tag: str | None) -> Source:
    """The contents of a language's file, BCP-47 tag; empty where it has none."""
    spoken = languages.for_language(tag).tag
    if spoken not in languages.known():  # a message's tag may be anything, also a path or too long for one
        return read(())
    path = languages.locale_folder() / spoken / FILE
    return read(path.read_text(encoding="utf-8").splitlines() if path.is_file() else ())


def read(lines: Sequence[str]) -> Source:
    """The parsed lines of a file."""
    found = Source({}, {}, [])
    slot, ends = "", False
    for line in (line.strip() for line in lines):
        if not line or line.startswith("#"):
            continue
        if defined := _DEFINITION.fullmatch(line):
            lists = found.pairs if defined[1] in _PAIRS else found.lists
            lists.setdefault(defined[1], []).extend(_split(defined[2]))
        elif header := _SLOT.fullmatch(line):
            slot, ends = header[1], bool(header[2])
        else:
            found.rows.append(Row(slot, ends, line))
    return found


def made_of(source: Source) -> Lexicon:
    """The lexicon of a parsed file, its phrases folded."""
    pairs = {name: [_pair(item) for item in source.pairs.get(name, ())] for name in _PAIRS}
    third: dict[str, tuple[str, ...]] = {}
    for (said, *_), own in pairs["third"]:
        third[said] = (*third.get(said, ()), *own)
    again: dict[str, tuple[tuple[str, ...], ...]] = {}
    for (slot, *_), head in pairs["again"]:
        again[slot] = (*again.get(slot, ()), head)
    contractions = dict(pairs["contractions"])
    contractions |= _shorter(source.lists, third, contractions)
    folded = Lexicon(contractions=contractions).folded
    return Lexicon(
        lists={name: tuple(" ".join(folded(item)) for item in items) for name, items in source.lists.items()},
        contractions=contractions,
        same={" ".join(one): " ".join(other) for one, other in pairs["same"]},
        third=third,
        answers=dict(pairs["answers"]),
        again=again,
        loose=_loose(source.lists),
    )


def _shorter(raw: _Lists, third: _Lists, known: Container[_Text]) -> dict[_Text, _Text]:
    """Phrases without the ending that a verb loses beside its speaker (<clipped>): "ich stamm", "stamm ich" for "ich
    stamme"."""
    found: dict[_Text, _Text] = {}
    if "clipped" not in raw:
        return found
    verbs = {*chain(*third.values(), *(raw.get(name, ()) for name in _VERBS))}
    verbs = {" ".join(languages.fold(verb)) for verb in verbs}
    for speaker in raw["clipped"]:
        for verb in verbs:
            if verb.endswith("e") and len(verb) > SHORTEST - 1 and " " not in verb and (verb[:-1],) not in known:
                found |= {(speaker, verb[:-1]): (speaker, verb), (verb[:-1], speaker): (verb, speaker)}
    return found


def _loose(raw: _Lists) -> frozenset[str]:
    """The words that begin the clause behind a statement, where a language lists them."""
    if "loose" not in raw:
        return frozenset()
    return frozenset(word for name in _LOOSE for item in raw.get(name, ()) for word in languages.fold(item)[:1])


def _split(text: str) -> list[str]:
    """The items of a list, split at bars that stand outside brackets."""
    if "(" not in text and "[" not in text:
        return [item for one in text.split("|") if (item := one.strip())]
    items, depth = [""], 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and not depth:
            items.append("")
        else:
            items[-1] += sign
    return [item.strip() for item in items if item.strip()]


def _pair(item: str) -> tuple[_Text, _Text]:
    one, _, other = item.partition(":")
    return tuple(languages.fold(one)), tuple(languages.fold(other))
