"""The sentences by which people tell facts: each language's ``facts.templates``, read once, as patterns.

A text is compared as words: folded, contractions written out, small words left out. What a pattern
captures is given back in the speaker's own spelling.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import TypeVar

from ovos_persona_memory import language
from ovos_persona_memory.patterns import Compiler, Phrases, by_word
from ovos_persona_memory.template import Template, Told, Words

FILE = "facts.templates"
LAST_READ = 12
"""Texts whose words are kept."""
SHORTEST = 5
"""Letters at least of an infinitive that tells what somebody does."""
SHORT = 8
"""Words at most of an answer to a question."""
_Text = tuple[str, ...]
_Made = TypeVar("_Made")
_Lists = Mapping[str, Sequence[str]]
_VERBS = ("finite", "doing", "tue", "habit_verb", "habit_full", "put_now")
_DEFINITION = re.compile(r"<(\w+)>\s*=\s*(.+)")
_SLOT = re.compile(r"(\w+)( ends)?:")


class _WhenAsked(dict[str, _Made]):
    """What is made of lists by their names, each when it is asked for: most never are."""

    def __init__(self, make: Callable[[str], _Made]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> _Made:
        made = self[name] = self._make(name)
        return made


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

    answers: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    """Words of questions, to those that an answer of a few words leaves out: "what is he called": "i am called"."""
    again: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """Slots, to the words that "and me ..." leaves out after somebody told such a thing."""

    loose: frozenset[str] = frozenset()
    """Words that what follows a complete statement begins with."""

    def words_of(self, text: str) -> Words:
        """The text as words, contractions written out. The last few texts are kept in memory: each is read often."""
        return self._words_of(text)

    @cached_property
    def _words_of(self) -> Callable[[str], Words]:
        return language.kept(self._read, LAST_READ)

    def _read(self, text: str) -> Words:
        return self._written_out(Words(text, *language.spelled(text)))

    def _written_out(self, words: Words) -> Words:
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
        return Words(words.text, tuple(folded), tuple(spans))

    @cached_property
    def _shortened(self) -> Mapping[str, tuple[int, ...]]:
        """How many words the contractions with a first word have, most first."""
        found: dict[str, set[int]] = {}
        for short in self.contractions:
            found.setdefault(short[0], set()).add(len(short))
        return {word: tuple(sorted(sizes, reverse=True)) for word, sizes in found.items()}

    def without(self, words: Words, name: str) -> Words:
        """The words without those of a list."""
        if self.opening(name).isdisjoint(words.folded):
            return words  # most, quickly
        left_out = set(self.lists.get(name, ()))
        kept = [n for n, word in enumerate(words.folded) if word not in left_out]
        return Words(words.text, tuple(words.folded[n] for n in kept), tuple(words.spans[n] for n in kept))

    def starts(self, words: Words, name: str) -> int:
        """How many words the longest phrase of a list has that these begin with."""
        return self.starts_at(words.folded, 0, name)

    def starts_at(self, held: tuple[str, ...], place: int, name: str) -> int:
        """How many words the longest phrase of a list has that stands at a place."""
        known = self._opening[name].get(held[place], ()) if place < len(held) else ()
        if not known:
            return 0
        return max((len(phrase) for phrase in known if held[place : place + len(phrase)] == phrase), default=0)

    def ends(self, words: Words, name: str) -> int:
        """How many words the longest phrase of a list has that these end with."""
        held = words.folded
        known = self._closing[name].get(held[-1], ()) if held else ()
        if not known:
            return 0
        return max((len(phrase) for phrase in known if held[-len(phrase) :] == phrase), default=0)

    def has(self, words: Words, name: str) -> bool:
        """Whether the words hold a phrase of a list."""
        return any(True for _ in self.places(words, name))

    def has_word(self, names: Sequence[str], word: str) -> bool:
        """Whether a phrase of one of these lists begins with a word."""
        return any(word in self._opening[name] for name in names)

    def places(self, words: Words, name: str) -> Iterator[tuple[int, int]]:
        """Where the words hold phrases of a list: number of the first word, and how many they are."""
        known, held = self._opening[name], words.folded
        for place, word in enumerate(held) if not self.opening(name).isdisjoint(held) else ():
            for phrase in known.get(word, ()):
                if held[place : place + len(phrase)] == phrase:
                    yield place, len(phrase)

    def opening(self, name: str) -> frozenset[str]:
        """The words that the phrases of a list begin with, as a text spells them: also those of contractions."""
        return self._first_words[name]

    @cached_property
    def _first_words(self) -> Mapping[str, frozenset[str]]:
        return _WhenAsked(lambda name: frozenset(self._opening[name]))

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
        if words.folded and len(words.folded) <= SHORT and words.folded[0] in self._again:
            return True
        if not self.introduced.isdisjoint(held) and not held.isdisjoint(self._introducers):
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
    def introduced(self) -> frozenset[str]:
        """... and for those of whom the name alone is learned."""
        return self.people | self.opening("acquaintance")

    @cached_property
    def _again(self) -> frozenset[str]:
        """What an utterance begins with that may leave out what was said before."""
        own = self.opening("own_one") | (self.opening("elided_subject") if self.again else frozenset())
        return own | (self.opening("listing") if own else frozenset())

    @cached_property
    def _introducers(self) -> frozenset[str]:
        return self.opening("own") | self.opening("whose") | self.opening("kin")

    @cached_property
    def own_verbs(self) -> frozenset[str]:
        """Verbs as somebody says them of themselves, and of all in the house."""
        said = (verb for verbs in self.third.values() for verb in verbs)
        return frozenset(said) | self.opening("finite")

    def divided(self, verb: str) -> tuple[str, str] | None:
        """ "weglasse": weg, and lasse; None for a verb that cannot be divided."""
        for part in self.lists.get("separable", ()):
            if verb.startswith(part) and verb[len(part) :] in self.own_verbs:
                return part, verb[len(part) :]
        return None

    def own_form(self, infinitive: str) -> str:
        """ "frühstücke" of "frühstücken"; empty for what is no infinitive."""
        if len(infinitive) < SHORTEST or not infinitive.endswith("n"):
            return ""
        form = infinitive[:-1]
        return self.contractions.get((form,), (form,))[0]

    @cached_property
    def _pronouns(self) -> frozenset[str]:
        return self.opening("he_she")

    @cached_property
    def _owning(self) -> frozenset[str]:
        return self.opening("whose")

    @cached_property
    def _opening(self) -> Mapping[str, Phrases]:
        """Of a list the phrases by their first word."""
        return _WhenAsked(lambda name: by_word(self.lists.get(name, ()), 0))

    @cached_property
    def _closing(self) -> Mapping[str, Phrases]:
        """... and by their last."""
        return _WhenAsked(lambda name: by_word(self.lists.get(name, ()), -1))

    def told(self, clause: Words) -> Iterator[Told]:
        """What the templates take from a clause, those of the file's beginning first; then those that take a part."""
        if not clause.folded:
            return
        first, loose = clause.folded[0], []
        fit = (one for one in self._that_may_fit(frozenset(clause.folded)) if one.pattern.may_begin(first))
        for told in filter(None, (template.told(clause) for template in fit)):
            if told.more:
                loose.append(told)
            else:
                yield told
        yield from loose

    @cached_property
    def _that_may_fit(self) -> Callable[[frozenset[str]], tuple[Template, ...]]:
        """Those that a clause of these words may fit, in any order: most clauses are tried in several."""
        return language.kept(self._of_words, LAST_READ)

    def _of_words(self, held: frozenset[str]) -> tuple[Template, ...]:
        places = sorted({place for word in (*held, "") for place in self.by_word.get(word, ())})
        return tuple(self.all[place] for place in places if self.all[place].may_fit(held))


@language.once
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
    short = Templates(contractions=contractions)
    answers = dict(_contraction(item) for item in raw.pop("answers", ()))
    again: dict[str, tuple[tuple[str, ...], ...]] = {}
    for (slot_, *_), head in map(_contraction, raw.pop("again", ())):
        again[slot_] = (*again.get(slot_, ()), head)
    contractions |= _shorter(raw, third, contractions)
    loose = _loose(raw)
    compiler = Compiler(raw, lambda text: _folded(text, short))
    return Templates(
        lists={name: tuple(" ".join(_folded(item, short)) for item in items) for name, items in raw.items()},
        all=(made := tuple(_template(compiler, loose, *row) for row in rows)),
        by_word=_by_rarest_word(made, frozenset(raw.get("elided_subject", ()))),
        contractions=contractions,
        same=same,
        third=third,
        answers=answers,
        again=again,
        loose=loose,
    )


def _shorter(raw: _Lists, third: _Lists, known: Container[_Text]) -> dict[_Text, _Text]:
    """ "ich stamm", "stamm ich" for "ich stamme": verbs beside their speaker (<clipped>), without what they lose."""
    found: dict[_Text, _Text] = {}
    verbs = {*chain(*third.values(), *(raw.get(name, ()) for name in _VERBS))}
    for speaker in raw.get("clipped", ()):
        for verb in (" ".join(language.fold(verb)) for verb in verbs):
            if verb.endswith("e") and len(verb) > SHORTEST - 1 and " " not in verb and (verb[:-1],) not in known:
                found |= {(speaker, verb[:-1]): (speaker, verb), (verb[:-1], speaker): (verb, speaker)}
    return found


def _loose(raw: _Lists) -> frozenset[str]:
    """Words that begin what follows a complete statement, where a language says them."""
    if "loose" not in raw:
        return frozenset()
    names = ("loose", "preposition", "pronoun", "joint", "asking", "own", "finite")
    return frozenset(word for name in names for item in raw.get(name, ()) for word in language.fold(item)[:1])


def _template(compiler: Compiler, loose: frozenset[str], slot: str, ends: bool, line: str) -> Template:
    text, arrow, named = line.partition("->")
    more = {"family": frozenset[str](), "name": frozenset[str](), "location": loose - compiler.words("preposition")}
    return Template(slot, ends, compiler.pattern(slot, text), named.strip() if arrow else None, more.get(slot, loose))


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


def _folded(text: str, of: Templates) -> list[str]:
    return list(of._written_out(Words("", folded := tuple(language.fold(text)), ((0, 0),) * len(folded))).folded)


def _by_rarest_word(templates: Sequence[Template], always: frozenset[str]) -> dict[str, tuple[int, ...]]:
    """Each template under the words of the one of its needs that the fewest others share.

    ``always``: words that a text is taken to hold, so that they tell nothing.
    """
    shared = Counter(word for one in templates for words in one.pattern.needed for word in words)
    found: dict[str, list[int]] = {}

    def often(words: frozenset[str]) -> tuple[bool, int]:
        return not always.isdisjoint(words), sum(shared[word] for word in words)

    for place, one in enumerate(templates):
        for word in min(one.pattern.needed, key=often, default=frozenset({""})):
            found.setdefault(word, []).append(place)
    return {word: tuple(places) for word, places in found.items()}
