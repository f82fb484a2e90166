"""The reader: what an utterance says of people, by the trained model of all languages."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from ovos_persona_memory.extraction.reader.kinds_model import KINDS, MARKS, REPLIES, Kinds
from ovos_persona_memory.extraction.reader.labels import SAYINGS
from ovos_persona_memory.extraction.reader.model import ReaderModel, Utterance
from ovos_persona_memory.extraction.reader.spans import Value, values_in
from ovos_persona_memory.extraction.reader.words import Word, words_of

FILE = Path(__file__).parents[1] / "models" / "reader.model"
KINDS_FILE = FILE.with_name("kinds.model")
"""What tells of what kind an utterance is."""
CONTEXT_WORDS = 16
"""So many of the last words of what was said before are read."""
CONTEXT_FOR = 9
"""Words of an utterance at most that what was said before helps to read."""
NAMES, ASKING = (MARKS.index(name) for name in ("names", "asking"))
CLAUSE, ASKED, CLEARLY = 2, 3, 2.0
"""Words of a clause before what asks, and of what asks, at least; and how much likelier it is that there is one, as a
natural logarithm, >=."""
LEAST = 1e-3
NAMES_FROM = 0.5
"""A word names what is to be forgotten with such a probability, >=."""
QUESTION_MARKS = ("?", "\uff1f", "\u061f")
AT_ONCE, PARTS = 60, 5
"""Words of an utterance that are read at once at most; a longer one is cut between sentences, and so many parts are
read."""
_loading = threading.Lock()


@dataclass(frozen=True)
class Statement:
    """A value that an utterance tells."""

    slot: str
    value: tuple[int, int]
    """Its first character, and the one behind its last; so of ``who`` and ``thing``."""
    saying: str
    """One of SAYINGS."""
    confidence: float
    """How likely it is that the value is right and holds, or is asked to be remembered, 0 to 1."""
    certainty: float
    """How likely it is that the slot is right and the saying is the one given, 0 to 1."""
    who: tuple[int, int] | None = None
    """Whom it is about; None: the speaker."""
    thing: tuple[int, int] | None = None
    """What it belongs to."""


@dataclass(frozen=True)
class Reading:
    """What an utterance says."""

    statements: tuple[Statement, ...] = ()
    """In the order in which they are said."""
    kinds: Kinds = field(default_factory=Kinds)
    """Of what kind the utterance is: of what is read in parts the likeliest of any part."""
    names: tuple[int, int] | None = None
    """The characters of what is to be forgotten, if something is; None where nothing names it."""
    asks_from: int = 0
    """The first character of what asks, if it asks: 0 unless a clause stands before, "i'm at the shop (what do we
    need)"."""


def model() -> ReaderModel | None:
    """The model that the package brings; None where its file is missing. It is loaded once, at the first call."""
    with _loading:
        return _loaded(FILE)


@lru_cache(maxsize=1)
def _loaded(path: Path) -> ReaderModel | None:
    return ReaderModel.load(path).with_kinds(KINDS_FILE) if path.is_file() else None


def read(
    text: str, before: str = "", by_assistant: bool = False, names: Collection[str] = (), always: bool = False
) -> Reading:
    """What a text says. ``before``: what was said right before; ``names``: known names, in lower case.

    ``always``: it is read though the first layers see nothing in it.

    Thread-safe. Nothing is found where there is no model.
    """
    reader, words = model(), words_of(text)
    if reader is None or not words:
        return Reading()
    context = [word.lower for word in words_of(before)][-CONTEXT_WORDS:] if len(words) <= CONTEXT_FOR else []
    found: list[Statement] = []
    kinds: list[Kinds] = []
    named: list[Word] = []
    asking: list[float] = []
    for part in _parts(text, words)[:PARTS]:
        own = tuple(word.lower for word in part)
        known = frozenset(place for place, word in enumerate(own) if word in names)
        scores = reader.read(Utterance(own, context, by_assistant, known), always)
        context, by_assistant = [], False
        if scores is not None:
            found += [_statement(reader, part, value) for value in values_in(scores)]
            kinds.append(scores.kinds)
            named += _named(part, scores.marks[:, NAMES])
            asking = [*asking, *map(float, scores.marks[:, ASKING])]
    asks_from = words[_first_that_asks(asking)].first if len(asking) == len(words) else 0
    span = (named[0].first, named[-1].last) if named else None
    return Reading(tuple(found), _likeliest(kinds), span, asks_from)


def _first_that_asks(shares: Sequence[float]) -> int:
    """The place of the first word of what asks, which goes on to the end, by how likely each word does.

    0 unless it is clearly likelier that a clause of some words stands before.
    """
    size = len(shares)
    held = np.log(np.clip(np.array(shares), LEAST, 1.0 - LEAST))
    outside = np.log(np.clip(1.0 - np.array(shares), LEAST, 1.0 - LEAST))
    likely = np.concatenate([[0.0], np.cumsum(outside)])[:size] + np.cumsum(held[::-1])[::-1]
    places = range(CLAUSE, size - ASKED + 1)
    best = max(places, key=lambda place: float(likely[place]), default=0)
    return best if likely[best] - likely[0] >= CLEARLY else 0


def _named(words: Sequence[Word], shares: Iterable[float]) -> list[Word]:
    """The words that name what is to be forgotten: from the first likely one to the last."""
    likely = [place for place, share in enumerate(shares) if share >= NAMES_FROM]
    return list(words[likely[0] : likely[-1] + 1]) if likely else []


def _likeliest(kinds: Sequence[Kinds]) -> Kinds:
    """Of each kind how likely an utterance is that was read in parts."""
    return Kinds(*(max((getattr(one, name) for one in kinds), default=0.0) for name in (*KINDS, *REPLIES)))


def _parts(text: str, words: Sequence[Word]) -> list[list[Word]]:
    """The words in runs that are read at once: all, or as many whole sentences as fit, those that ask by themselves."""
    parts: list[list[Word]] = [[]]
    sentence: list[Word] = []
    was_asked = False
    for word, following in zip(words, [*words[1:], None], strict=True):
        sentence.append(word)
        behind = text[word.last : following.first if following is not None else len(text)]
        if following is None or any(mark in behind for mark in ".!?;\n") or len(sentence) == AT_ONCE:
            is_asked = any(mark in behind for mark in QUESTION_MARKS)
            is_apart = is_asked != was_asked or len(parts[-1]) + len(sentence) > AT_ONCE
            if parts[-1] and is_apart:
                parts.append([])
            parts[-1] += sentence
            sentence, was_asked = [], is_asked
    return parts


def _statement(reader: ReaderModel, words: Sequence[Word], value: Value) -> Statement:
    def characters(span: tuple[int, int] | None) -> tuple[int, int] | None:
        return None if span is None else (words[span[0]].first, words[span[1] - 1].last)

    said = characters(value.span)
    assert said is not None
    share = float(value.sayings[SAYINGS.index(value.saying)])
    return Statement(
        value.slot,
        said,
        value.saying,
        confidence_of(reader, value),
        value.probability * share,
        characters(value.who),
        characters(value.thing),
    )


def confidence_of(reader: ReaderModel, value: Value) -> float:
    """A logistic function of what the model said of a value, fitted to talk that the model did not learn from."""
    if "confidence" not in reader.weights:
        teaches = value.sayings[SAYINGS.index("stated")] + value.sayings[SAYINGS.index("asked")]
        return float(value.probability * teaches)
    score = float(value.signs @ reader.weights["confidence"] + reader.weights["confidence_bias"][0])
    return float(1 / (1 + np.exp(-score)))
