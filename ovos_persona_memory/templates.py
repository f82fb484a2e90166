"""The sentences by which people tell facts: each language's ``facts.templates``, read once, as patterns.

A text is compared as words: folded, contractions written out, small words left out. What a pattern
captures is given back in the speaker's own spelling.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise

from ovos_persona_memory import language
from ovos_persona_memory.patterns import Compiler, Pattern

FILE = "facts.templates"
SHORTENED = 4
"""Words at most that stand for others: "i ve got" for "i have"."""
SHORT = 8
"""Words at most of an answer to a question."""
_DEFINITION = re.compile(r"<(\w+)>\s*=\s*(.+)")
_SLOT = re.compile(r"(\w+)( ends)?:")


@dataclass(frozen=True)
class Words:
    """A text as words, each with its place in the text."""

    text: str
    folded: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def joined(self) -> str:
        """Every word with a blank behind it."""
        return "".join(f"{word} " for word in self.folded)

    def part(self, first: int, last: int) -> Words:
        """The words from number ``first`` up to, not with, ``last``."""
        return Words(self.text, self.folded[first:last], self.spans[first:last])

    @property
    def spelled(self) -> str:
        """The text from the first of these words to the last, as it was written; words that were turned one by one."""
        if any(one > other for one, other in pairwise(self.spans)):
            return " ".join(self.text[start:end] for start, end in self.spans)
        return self.text[self.spans[0][0] : self.spans[-1][1]] if self.spans else ""


@dataclass(frozen=True)
class Told:
    """What a template took from a clause, in the speaker's spelling."""

    slot: str
    ends: bool
    """It takes back what was told before."""
    value: Words | None
    thing: Words | None
    subject: str
    named: str | None
    """The thing that the template itself names; a * in it stands for the value."""
    words: int = 0
    """How many words of the clause it took: what is left says more about it (<tail>)."""


@dataclass(frozen=True)
class Template:
    """One line of the file."""

    slot: str
    ends: bool
    pattern: Pattern
    named: str | None

    def may_fit(self, first: str, held: set[str]) -> bool:
        """Whether a clause with this first word and these words may fit: quickly, and seldom wrong."""
        if self.pattern.first is not None and first not in self.pattern.first:
            return False
        return not any(held.isdisjoint(words) for words in self.pattern.needed)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern.regex)  # most never are: may_fit rules them out

    def told(self, clause: Words) -> Told | None:
        """What it takes from a clause; None where it does not fit."""
        match = self._compiled.match(clause.joined)
        if match is None:
            return None
        value, thing = _captured(match, clause, "value"), _captured(match, clause, "thing")
        subject = " ".join(match.group(group).strip() for group in _groups(match, "subject"))
        until = match.start("rest") if match.group("rest") else match.end()
        return Told(self.slot, self.ends, value, thing, subject, self.named, match.string.count(" ", 0, until))


def _groups(match: re.Match[str], name: str) -> list[str]:
    """The groups of a name that hold something, in order."""
    held = [group for group in match.re.groupindex if group.rstrip("0123456789") == name and match.group(group)]
    return sorted(held, key=match.start)


def _captured(match: re.Match[str], clause: Words, name: str) -> Words | None:
    """The words of all groups of a name, one behind the other; None where there is none."""
    numbers = [
        n
        for start, end in map(match.span, _groups(match, name))
        for n in range(match.string.count(" ", 0, start), match.string.count(" ", 0, end - 1) + 1)
    ]
    if not numbers:
        return None
    return Words(clause.text, tuple(clause.folded[n] for n in numbers), tuple(clause.spans[n] for n in numbers))


@dataclass(frozen=True)
class Templates:
    """All that one language says about facts; empty where it has no file."""

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Folded phrases by name."""
    all: tuple[Template, ...] = ()
    """In the order of the file."""
    by_word: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The places of the templates that a clause with this word may fit; under the empty word those that fit any."""
    contractions: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    """Relations that have another name, to the one by which facts name them: "mother" to "mum"."""
    third: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Verbs as they are said of others, to those said of oneself: "works" to "work"; none: nothing about others."""

    def relation(self, text: str) -> str:
        """A relation as facts name it."""
        said = " ".join(self.words_of(text).folded)
        return self.same.get(said, said)

    def words_of(self, text: str) -> Words:
        """The text as words, contractions written out."""
        return self._written_out(Words(text, *language.spelled(text)))

    def _written_out(self, words: Words) -> Words:
        if self._shortened.isdisjoint(words.folded):
            return words
        folded: list[str] = []
        spans: list[tuple[int, int]] = []
        place = 0
        while place < len(words.folded):
            if words.folded[place] not in self._shortened:
                folded.append(words.folded[place])
                spans.append(words.spans[place])
                place += 1
                continue
            said = words.folded[place : place + SHORTENED]
            size = next((n for n in range(len(said), 1, -1) if said[:n] in self.contractions), 1)
            meant = self.contractions.get(said[:size], said[:size])
            span = (words.spans[place][0], words.spans[place + size - 1][1])
            kept = meant == said[:size] or len(meant) == size
            folded += meant
            spans += words.spans[place : place + size] if kept else [span] * len(meant)
            place += size
        return Words(words.text, tuple(folded), tuple(spans))

    @cached_property
    def _shortened(self) -> frozenset[str]:
        """The words that contractions begin with."""
        return frozenset(spelled[0] for spelled in self.contractions if spelled)

    def without(self, words: Words, name: str) -> Words:
        """The words without those of a list."""
        left_out = set(self.lists.get(name, ()))
        kept = [n for n, word in enumerate(words.folded) if word not in left_out]
        return Words(words.text, tuple(words.folded[n] for n in kept), tuple(words.spans[n] for n in kept))

    def starts(self, words: Words, name: str) -> int:
        """How many words the longest phrase of a list has that these begin with."""
        held = words.folded
        known = self._opening.get(name, {}).get(held[0]) if held else None
        if known is None:
            return 0
        return max((len(phrase) for phrase in known if held[: len(phrase)] == phrase), default=0)

    def ends(self, words: Words, name: str) -> int:
        """How many words the longest phrase of a list has that these end with."""
        held = words.folded
        known = self._closing.get(name, {}).get(held[-1]) if held else None
        if known is None:
            return 0
        return max((len(phrase) for phrase in known if held[-len(phrase) :] == phrase), default=0)

    def has(self, words: Words, name: str) -> bool:
        """Whether the words hold a phrase of a list."""
        known, held = self._opening.get(name, {}), words.folded
        return any(
            held[place : place + len(phrase)] == phrase
            for place, word in enumerate(held)
            for phrase in known.get(word, ())
        )

    def has_word(self, names: Sequence[str], word: str) -> bool:
        """Whether a phrase of one of these lists begins with a word."""
        return any(word in self._opening.get(name, ()) for name in names)

    def places(self, words: Words, name: str) -> Iterator[tuple[int, int]]:
        """Where the words hold phrases of a list: number of the first word, and how many they are."""
        known, held = self._opening.get(name, {}), words.folded
        for place, word in enumerate(held):
            for phrase in known.get(word, ()):
                if held[place : place + len(phrase)] == phrase:
                    yield place, len(phrase)

    def opening(self, name: str) -> frozenset[str]:
        """The words that the phrases of a list begin with, as a text spells them: also those of contractions."""
        return self._first_words.get(name, frozenset())

    @cached_property
    def _first_words(self) -> Mapping[str, frozenset[str]]:
        return {name: frozenset(known) for name, known in self._opening.items()}

    @cached_property
    def digits(self) -> Mapping[str, str]:
        """The digits, by the words for them."""
        return {word: str(n % 10) for n, word in enumerate(self.lists.get("digit", ()))}

    def may_tell(self, text: str, names: Container[str] = (), question: bool = False) -> bool:
        """Whether a clause of the text may fit a template: quickly, and never wrong where it says no.

        ``names``: of people who are known. ``question``: it may answer one.
        """
        words = self.words_of(text)
        if question and len(words.folded) <= SHORT:
            return True
        held = {*words.folded, *self.lists.get("elided_subject", ())}
        if "s" in held:
            held.update(self.lists.get("is", ()))
        if self._may_fit(held):
            return True
        if not held.isdisjoint(self.opening("mine")) and self.has(words, "mine"):
            return True
        if not self._of_others(words.folded, names):
            return False
        return not held.isdisjoint(self.opening("given_name")) or self._may_fit(self._as_own(held))

    def _may_fit(self, held: set[str]) -> bool:
        places = (place for word in (*held, "") for place in self.by_word.get(word, ()))
        return any(not any(held.isdisjoint(words) for words in self.all[place].pattern.needed) for place in places)

    def _of_others(self, held: tuple[str, ...], names: Container[str]) -> bool:
        """Whether somebody is named, or meant by a pronoun beside a verb."""
        if self.third.keys().isdisjoint(held):
            return False
        if not self.people.isdisjoint(held) or any(word in names or word[:-1] in names for word in held):
            return True
        pairs = pairwise(held)
        return any((one in self._pronouns and two in self.third) or one in self._owning for one, two in pairs)

    def _as_own(self, held: set[str]) -> set[str]:
        """The words, and those that somebody would say of themselves in their place."""
        said = {verb for word in held for verb in self.third.get(word, ())}
        return {*held, *said, *self.lists.get("first_my", ())}

    @cached_property
    def people(self) -> frozenset[str]:
        """Words for people of the family, each also with an s."""
        found = (word for name in ("relation", "kin", "pet") for word in self.opening(name))
        return frozenset(form for word in found for form in (word, f"{word}s"))

    @cached_property
    def own_verbs(self) -> frozenset[str]:
        """Verbs as somebody says them of themselves, and of all in the house."""
        said = (verb for verbs in self.third.values() for verb in verbs)
        return frozenset(said) | self.opening("finite")

    @cached_property
    def _pronouns(self) -> frozenset[str]:
        return self.opening("he_she")

    @cached_property
    def _owning(self) -> frozenset[str]:
        return self.opening("whose")

    @cached_property
    def _opening(self) -> Mapping[str, Mapping[str, tuple[tuple[str, ...], ...]]]:
        """Of each list the phrases by their first word."""
        return {name: _by_word(phrases, 0) for name, phrases in self.lists.items()}

    @cached_property
    def _closing(self) -> Mapping[str, Mapping[str, tuple[tuple[str, ...], ...]]]:
        """... and by their last."""
        return {name: _by_word(phrases, -1) for name, phrases in self.lists.items()}

    def told(self, clause: Words) -> Iterator[Told]:
        """What the templates take from a clause, those of the file's beginning first."""
        if not clause.folded:
            return
        held = set(clause.folded)
        for place in sorted({place for word in (*held, "") for place in self.by_word.get(word, ())}):
            template = self.all[place]
            if template.may_fit(clause.folded[0], held):
                told = template.told(clause)
                if told is not None:
                    yield told


def _by_word(phrases: Sequence[str], place: int) -> dict[str, tuple[tuple[str, ...], ...]]:
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for phrase in phrases:
        words = tuple(phrase.split())
        if words:
            found[words[place]] = (*found.get(words[place], ()), words)
    return found


@lru_cache(maxsize=32)
def of(tag: str | None) -> Templates:
    """The templates of a language, BCP-47 tag; empty where it has none."""
    path = language.locale_folder() / language.of(tag).tag / FILE
    if not path.is_file():
        return Templates()
    return parse(path.read_text(encoding="utf-8").splitlines())


def parse(lines: Sequence[str]) -> Templates:
    """The templates in the lines of a file; ValueError, with the line, for one that cannot be read."""
    kept = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    raw: dict[str, list[str]] = {}
    rows: list[tuple[str, bool, str]] = []
    slot, ends = "", False
    for line in kept:
        if defined := _DEFINITION.fullmatch(line):
            raw.setdefault(defined[1], []).extend(_split(defined[2]))
        elif header := _SLOT.fullmatch(line):
            slot, ends = header[1], bool(header[2])
        else:
            rows.append((slot, ends, line))
    contractions = dict(_contraction(item) for item in raw.pop("contractions", ()))
    same = {" ".join(one): " ".join(other) for one, other in map(_contraction, raw.pop("same", ()))}
    third: dict[str, tuple[str, ...]] = {}
    for (said, *_), own in map(_contraction, raw.pop("third", ())):
        third[said] = (*third.get(said, ()), *own)
    compiler = Compiler(raw, lambda text: _folded(text, contractions))
    return Templates(
        lists={name: tuple(" ".join(_folded(item, contractions)) for item in items) for name, items in raw.items()},
        all=(made := tuple(_template(compiler, *row) for row in rows)),
        by_word=_by_rarest_word(made),
        contractions=contractions,
        same=same,
        third=third,
    )


def _template(compiler: Compiler, slot: str, ends: bool, line: str) -> Template:
    text, arrow, named = line.partition("->")
    return Template(slot, ends, compiler.pattern(slot, text), named.strip() if arrow else None)


def _split(text: str) -> list[str]:
    """The items of a list: divided by bars, but not inside brackets."""
    items, depth = [""], 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and not depth:
            items.append("")
        else:
            items[-1] += sign
    return [item.strip() for item in items if item.strip()]


def _contraction(item: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    short, _, meant = item.partition(":")
    return tuple(language.fold(short)), tuple(language.fold(meant))


def _folded(text: str, contractions: Mapping[tuple[str, ...], tuple[str, ...]]) -> list[str]:
    folded = tuple(language.fold(text))
    return list(Templates(contractions=contractions)._written_out(Words("", folded, ((0, 0),) * len(folded))).folded)


def _by_rarest_word(templates: Sequence[Template]) -> dict[str, tuple[int, ...]]:
    """Each template under the words of the one of its needs that the fewest others share."""
    shared = Counter(word for one in templates for words in one.pattern.needed for word in words)
    found: dict[str, list[int]] = {}
    for place, one in enumerate(templates):
        rarest = min(one.pattern.needed, key=lambda words: sum(shared[word] for word in words), default=frozenset({""}))
        for word in rarest:
            found.setdefault(word, []).append(place)
    return {word: tuple(places) for word, places in found.items()}
