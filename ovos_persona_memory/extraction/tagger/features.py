"""What each word of an utterance looks like: its ends, its kind, what stands around it, what was said before."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext
from ovos_persona_memory.extraction.segmentation.clauses import split_run_on
from ovos_persona_memory.text import Lexicon, Tokens, languages, lexicon

FILE = "facts.kinds"
AROUND = 2
"""Words before and behind one whose places count."""
BEFORE, BEHIND = 10, 8
"""Bag-of-words window: tokens to the left and to the right of the current one that count wherever they stand."""
ANSWER = 6
"""Words at most of an utterance that may need what was said before it."""
TWO_DIGITS = 2
ENDING = 4
"""Letters at least of a kind's word that ends a longer one: "apfel|kuchen"."""
_GENERAL = (
    *("skip", "lead", "trail", "whether", "hearer", "unreal", "perhaps"),
    *("passing_on", "noting", "most_of_all"),
    *(
        "each_day",
        "some_day",
        "part_of_day",
        "parts_of_days",
        "from_now_on",
        "by_now",
        "once",
        "instead_of",
        "for_years",
        "broken_off",
        "by_courtesy",
        "code",
        "no_code",
        "school_class",
        "school",
        "attending",
        "them",
        "floor",
        "turned",
        "outsider",
        "asked_back",
        "or_else",
        "asked_subject",
        "asking_whether",
        "agreeing",
        "alternative",
        "mock_job",
        "compared",
        "in_general",
        "teaching",
        "you",
        "you_are",
        "glad",
        "third_ending",
        "sign",
        "of_whom",
        "onward",
        "employed_at",
        "asked_hearer",
        "in_earnest",
        "as_ever",
        "in_mood",
        "how_very",
        "felt",
        "was_so",
        "ordered",
        "contrast",
        "requesting",
        "of_thing",
        "feeling_dull",
        "seeking",
        "feeling_so",
        "feeling_it",
        "goes",
        "mood_verb_last",
        "how_much_so",
        "whenever",
        "mood_for",
        "age_part",
        "that_is",
        "they",
        "kept_at",
        "sought",
        "fused",
        "soon_well",
        "holiday",
        "since",
        "particle",
        "mood_alone",
        "mood_goes_on",
        "halved",
        "born_on",
        "day_number",
        "dull",
        "denying",
        "averse",
        "having",
        "illness",
        "left_over",
        "stopping",
        "stopping_behind",
        "taken_off",
        "no_more",
        "telling_that",
        "known_from",
        "no_request_that",
        "few",
        "at_service",
        "numeral",
        "there",
        "there_lead",
        "in_there",
        "from_there",
        "place_before",
        "they_have",
        "read_out",
        "acted",
        "undone",
        "mocking",
        "faltering",
        "no_family",
        "key_sign",
        "secret_closes",
        "suffixed",
        "narrated",
    ),
)
"""Lists of the templates that tell nothing of a word."""
_CUES = (
    *("unsure", "supposed", "quoted", "past", "played", "joking", "pretending"),
    *("ordering", "asking", "asked_for", "speaker", "first_my", "own", "he_she"),
)
"""Lists whose words count wherever they stand."""


@dataclass(frozen=True)
class TemplateSpan:
    """What a template took from the words from ``first`` up to, not with, ``last``."""

    slot: str
    first: int
    last: int


@dataclass(frozen=True)
class TokenFeatures:
    """What one word looks like: features, as "-1=my" where "my" stands before it."""

    word: str
    own: Sequence[str]
    """Its kinds, what is known of it, and of the whole utterance."""
    beside: Sequence[str]
    """The words next to it and the beginning of its clause."""
    further: Sequence[str]
    """Its ends, and what stands further away."""

    @property
    def features(self) -> list[str]:
        """All of them."""
        return [f"w={self.word}", *self.own, *self.beside, *self.further]


@dataclass(frozen=True)
class FeatureExtractor:
    """What one language knows of its words."""

    known: Lexicon
    by_word: Mapping[str, tuple[str, ...]]
    """The kinds of each word."""
    by_ending: Mapping[str, tuple[str, ...]]
    """The kinds of words that end with these letters."""
    cues: frozenset[str]
    """Words that count wherever they stand."""

    def extract(
        self, words: Tokens, before: DialogueContext, hints: Sequence[TemplateSpan] = (), refused: str = ""
    ) -> list[TokenFeatures]:
        """What each word looks like; ``hints``: what templates took, ``refused``: why they took nothing."""
        held = tuple(map(self._as_said, words.folded))
        whole = [*self._whole(held, refused), *(_of_before(before) if self._needs_more(held) else ())]
        kinds = self._kinds_of(held)
        took = _took(len(held), hints)
        return [
            TokenFeatures(
                word,
                [*whole, *kinds[place], *took[place], *_known(word, before)],
                _beside(held, begun, place),
                [*_ends(word), *_further(held, kinds, place), *_since(held, begun, place)],
            )
            for place, (word, begun) in enumerate(zip(held, self._clauses(words), strict=True))
        ]

    def _as_said(self, word: str) -> str:
        """Digits as speech has them, in one word: 41 as "forty", 21st as "first"."""
        digits = word.rstrip(string.ascii_lowercase)
        if not digits.isdigit():
            return word
        part = word if len(digits) != TWO_DIGITS else f"{word[0]}0" if word == digits else word[1:]
        return self._numerals.get(word) or self._numerals.get(part, word)

    @cached_property
    def _numerals(self) -> Mapping[str, str]:
        return dict(one.split(" ", 1) for one in self.known.lists.get("numeral", ()))

    def _clauses(self, words: Tokens) -> list[int]:
        """Of each word where its clause begins."""
        starts = {piece.spans[0][0] for piece in split_run_on(self.known, words)}
        begun, found = 0, []
        for place, (start, _) in enumerate(words.spans):
            begun = place if start in starts else begun
            found.append(begun)
        return found

    def _whole(self, held: tuple[str, ...], refused: str) -> list[str]:
        found = [f"first={held[0]}", f"two={' '.join(held[:2])}", f"refused={refused}"]
        return found + [f"has={word}" for word in self.cues.intersection(held)]

    def _needs_more(self, held: tuple[str, ...]) -> bool:
        """Whether an utterance may go on with what was said before it."""
        return len(held) <= ANSWER or held[0] in self._taking_up

    @cached_property
    def _taking_up(self) -> frozenset[str]:
        names = ("mine", "he_she", "pronoun", "listing", "joint", "own_one", "correcting", "elided_subject")
        return frozenset().union(*map(self.known.opening, names))

    def _kinds_of(self, held: tuple[str, ...]) -> list[list[str]]:
        """The kinds of each word, alone and as part of a name of two or three."""
        found = [self._kinds(word) for word in held]
        for first, last in ((n, n + size) for size in (2, 3) for n in range(len(held) - size + 1)):
            named = [f"k={kind}" for kind in self.by_word.get(" ".join(held[first:last]), ())]
            for one in found[first:last] if named else ():
                one += [kind for kind in named if kind not in one]
        return found

    def kinds_of(self, held: Sequence[str]) -> list[str]:
        """The kinds of some words, each taken alone, each kind once."""
        return sorted({kind.removeprefix("k=") for word in held for kind in self._kinds(word)})

    def _kinds(self, word: str) -> list[str]:
        kinds = self.by_word.get(word)
        if kinds is None:
            ends = (self.by_ending.get(word[place:]) for place in range(1, len(word) - ENDING + 1))
            kinds = next((one for one in ends if one), ())
        return [f"k={kind}" for kind in kinds]


def _ends(word: str) -> list[str]:
    found = ["b", f"s3={word[-3:]}", f"s4={word[-4:]}", f"p3={word[:3]}"]
    return [*found, "digits"] if word.isdigit() else found


def _beside(held: tuple[str, ...], begun: int, place: int) -> list[str]:
    edge = ("<",) * AROUND
    padded = (*edge, *held, *(">",) * AROUND)
    at = place + AROUND
    word, one, two = padded[at], padded[at - 1], padded[at - 2]
    next_one, next_two = padded[at + 1], padded[at + 2]
    found = [f"-1={one}", f"1={next_one}", f"-21={two} {one}", f"-10={one} {word}", f"01={word} {next_one}"]
    return [*found, f"12={next_one} {next_two}", f"-11={one} {next_one}", f"cc={' '.join(held[begun : begun + 2])}"]


def _further(held: tuple[str, ...], kinds: Sequence[Sequence[str]], place: int) -> list[str]:
    found = [f"-2={held[place - 2] if place > 1 else '<'}", f"2={held[place + 2] if place + 2 < len(held) else '>'}"]
    for step in (-1, 1):
        if 0 <= place + step < len(held):
            found += [f"{step}{kind}" for kind in kinds[place + step]]
    found += [f"l={other}" for other in held[max(place - BEFORE, 0) : place]]
    return found + [f"r={other}" for other in held[place + 1 : place + 1 + BEHIND]]


def _since(held: tuple[str, ...], begun: int, place: int) -> list[str]:
    """What stands between a word and the beginning of its clause."""
    return [f"c={held[begun]}", *(f"cl={other}" for other in held[begun:place])]


def _took(size: int, hints: Sequence[TemplateSpan]) -> list[list[str]]:
    """What templates took from each word, and from the one before it."""
    found: list[list[str]] = [[] for _ in range(size)]
    for hint in hints:
        for place in range(hint.first, min(hint.last, size)):
            found[place].append(f"took={hint.slot}" if place > hint.first else f"takes={hint.slot}")
        if hint.last < size:
            found[hint.last].append(f"-took={hint.slot}")
    return [one or ["took="] for one in found]


def _known(word: str, before: DialogueContext) -> list[str]:
    who = before.names.get(word)
    if who is not None:
        return ["named=pet" if who.pet else "named"]
    return ["owned"] if word.endswith("s") and word[:-1] in before.names else []


def _of_before(before: DialogueContext) -> list[str]:
    """What was spoken of: kinds and slots, no words that somebody said."""
    person = "" if before.person is None else "pet" if before.person.pet else "person"
    asked = before.asked[0] if before.asked else ""
    head = " ".join(before.head)
    return [f"told={before.told}", f"asked={asked}", f"head={head}", f"question={before.question}", f"of={person}"]


def kinds_in(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The kinds of each word that the lines of a file name: "kind:", then words divided by commas."""
    found: dict[str, set[str]] = {}
    kind = ""
    for line in lines:
        head, colon, rest = line.partition(":")
        if colon and " " not in head.strip():
            kind, line = head.strip(), rest
        for item in line.split(","):
            if kind and item.strip():
                found.setdefault(" ".join(languages.fold(item)), set()).add(kind)
    return _tuples(found)


def _tuples(found: Mapping[str, set[str]]) -> dict[str, tuple[str, ...]]:
    """Each in order; equal ones are one object: there are many words of few kinds."""
    made: dict[tuple[str, ...], tuple[str, ...]] = {}
    return {word: made.setdefault(kinds := tuple(sorted(one)), kinds) for word, one in found.items()}


def models_folder() -> Path:
    """The folder of what training made, with one folder a language."""
    return Path(__file__).parents[1] / "models"


@languages.computed_once
def for_language(tag: str | None) -> FeatureExtractor:
    """What a language knows, BCP-47 tag: the lists of its templates, and its file of kinds where there is one."""
    known = lexicon.for_language(tag)
    path = models_folder() / languages.for_language(tag).tag / FILE
    named = kinds_in(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else {}
    listed = {name: phrases for name, phrases in known.lists.items() if name not in _GENERAL}
    by_word: dict[str, set[str]] = {word: set(kinds) for word, kinds in named.items()}
    for name, phrases in listed.items():
        for phrase in phrases:
            if " " not in phrase:
                by_word.setdefault(phrase, set()).add(f"<{name}>")
    cues = frozenset().union(*map(known.opening, _CUES))
    ends = {word: kinds for word, kinds in named.items() if len(word) >= ENDING}
    return FeatureExtractor(known, _tuples(by_word), ends, cues)
