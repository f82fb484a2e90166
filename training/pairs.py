"""Questions and remarks that answer them or do not, as what the judge of answers learns from."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from samples import LONGEST, UNKNOWN, Sample

from ovos_persona_memory.extraction.naming import naming_words
from ovos_persona_memory.extraction.reader.answering import remark_of
from ovos_persona_memory.extraction.reader.labels import KINDS
from ovos_persona_memory.extraction.reader.words import words_of

HELD = 8
"""Every eighth block is for calibration."""
ALIKE, OTHERS = 2, 2
"""For each question that is answered so many other remarks that share words with it, and any."""
OWN = 0.4
"""The probability that a remark which shares words is shown as one of who asks, as any other is."""
NEAR_IN_HOUSE, ANY_IN_HOUSE = 6, 4
"""For each question of a household so many remarks that do not answer it: those that share most words, and any."""
UNNAMED = 0.5
"""The probability that another one's remark without an "i" is shown without a name: many devices know no voices."""
EASY = ".easy."
"""In the names of files with plain questions."""
OF_ONE_LETTER = 3
"""A word of more letters counts as shared."""


@dataclass(frozen=True)
class Pair:
    """A question and a remark."""

    asked: tuple[str, ...]
    said: tuple[str, ...]
    """Behind the name of who said it, where that is not the asker."""
    answers: bool


@dataclass(frozen=True)
class Block:
    """A remark with questions."""

    language: str
    name: str
    text: str
    answered: tuple[tuple[str, str], ...]
    """Who asks, and what."""
    unanswered: tuple[tuple[str, str], ...]
    is_easy: bool
    """Whether its questions are plain ones, mostly in the words of the remark."""

    def pair(self, name: str, asked: str, answers: bool) -> Pair:
        """This remark with a question."""
        return Pair(_lower(asked), remark_of(_lower(self.text), None if name == self.name else self.name), answers)


def blocks_in(folder: Path) -> Iterator[Block]:
    """The blocks of a language's files; ValueError names a line that is no question."""
    for path in sorted(folder.glob("*.qa")):
        for number, part in enumerate(path.read_text("utf-8").split("\n\n")):
            lines = [line.strip() for line in part.splitlines() if line.strip() and not line.startswith("#")]
            if lines:
                yield _block(lines, f"{path}, block {number}", folder.parent.name[:2], EASY in path.name)


def _block(lines: Sequence[str], place: str, language: str, is_easy: bool) -> Block:
    name, _, text = lines[0].partition(":")
    asked: dict[str, list[tuple[str, str]]] = {"?": [], "!": []}
    for line in lines[1:]:
        who, _, question = line[1:].partition(":")
        if line[0] not in asked or not question.strip():
            raise ValueError(f"{place}: {line}")
        asked[line[0]].append((who.strip(), question.strip()))
    return Block(language, name.strip(), text.strip(), tuple(asked["?"]), tuple(asked["!"]), is_easy)


def pairs_of(blocks: Sequence[Block], chance: random.Random) -> list[Pair]:
    """Every question with its remark, and those that are answered with remarks of others, too."""
    by_word: dict[tuple[str, str], list[Block]] = defaultdict(list)
    by_language: dict[str, list[Block]] = defaultdict(list)
    for block in blocks:
        by_language[block.language].append(block)
        for word in set(_lower(block.text)):
            if len(word) > OF_ONE_LETTER:
                by_word[block.language, word].append(block)
    pairs = []
    for block in blocks:
        pairs += [block.pair(*one, True) for one in block.answered]
        pairs += [block.pair(*one, False) for one in block.unanswered]
        for name, asked in block.answered:
            near = [one for word in _lower(asked) for one in by_word[block.language, word] if one is not block]
            alike = chance.sample(near, min(ALIKE, len(near)))
            others = chance.sample(by_language[block.language], OTHERS + ALIKE - len(alike))
            pairs += [one.pair(one.name if chance.random() < OWN else name, asked, False) for one in alike]
            pairs += [one.pair(one.name, asked, False) for one in others if one is not block]
    return pairs


@dataclass(frozen=True)
class House:
    """What people of a household said, and what they asked later."""

    language: str
    said: tuple[tuple[str, str], ...]
    """By whom, and what, oldest first."""
    asked: tuple[tuple[str, str, frozenset[int]], ...]
    """Who asks, what, and the places of the remarks that answer."""

    def pairs(self, chance: random.Random) -> Iterator[Pair]:
        """Every question with what answers it and with some of the rest: half that shares words, half anything."""
        speaker = naming_words(self.language).speaker
        said = [(name, _lower(text)) for name, text in self.said]
        for asker, text, answers in self.asked:
            asked = _lower(text)
            rest = [place for place in range(len(said)) if place not in answers]
            near = sorted(
                rest, key=lambda place: -len({w for w in asked if len(w) > OF_ONE_LETTER} & set(said[place][1]))
            )
            shown = [*answers, *near[:NEAR_IN_HOUSE], *chance.sample(rest, min(ANY_IN_HOUSE, len(rest)))]
            for place in dict.fromkeys(shown):
                name, words = said[place]
                is_plain = name == asker or speaker.isdisjoint(words)
                own = name == asker or (is_plain and chance.random() < UNNAMED)
                yield Pair(asked, remark_of(words, None if own else name), place in answers)


def houses_in(folder: Path) -> Iterator[House]:
    """The households of a language's files: "1 anna: i live in porto" and "? tom: where does anna live => 1".

    ValueError names a line that is neither.
    """
    for path in sorted(folder.glob("*.house")):
        for part in re.split(r"^==.*$", path.read_text("utf-8"), flags=re.M):
            lines = [line.strip() for line in part.splitlines() if line.strip()]
            if lines:
                yield _house(lines, path, folder.parent.name[:2])


def _house(lines: Sequence[str], path: Path, language: str) -> House:
    said: dict[str, tuple[str, str]] = {}
    asked: list[tuple[str, str, list[str]]] = []
    for line in lines:
        remark = re.fullmatch(r"(\d+) ([^:]+): (.+)", line)
        question = re.fullmatch(r"\? ([^:]+): (.+?) *=> *(-|[\d ]+)", line)
        if remark is not None:
            said[remark[1]] = (remark[2].strip().lower(), remark[3])
        elif question is not None:
            asked.append((question[1].strip().lower(), question[2], question[3].replace("-", "").split()))
        else:
            raise ValueError(f"{path}: {line}")
    places = {number: place for place, number in enumerate(said)}
    known = tuple((who, text, frozenset(places[one] for one in numbers)) for who, text, numbers in asked)
    return House(language, tuple(said.values()), known)


def questions_of(blocks: Iterable[Block]) -> Iterator[Sample]:
    """The questions, as turns that tell nothing."""
    for block in blocks:
        for _, text in (*block.answered, *block.unanswered):
            words = _lower(text)
            nothing, size = (0,) * len(words), len(words)
            if 0 < size <= LONGEST:
                yield Sample(
                    words,
                    block.language,
                    2,
                    slots=nothing,
                    sayings=(UNKNOWN,) * size,
                    who=nothing,
                    thing=nothing,
                    kind=KINDS.index("question"),
                )


def _lower(text: str) -> tuple[str, ...]:
    return tuple(word.lower for word in words_of(text))
