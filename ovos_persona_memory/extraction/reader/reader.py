"""The reader: what an utterance says of people, by the trained model of all languages."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from ovos_persona_memory.extraction.reader.labels import SAYINGS
from ovos_persona_memory.extraction.reader.model import ReaderModel, Utterance
from ovos_persona_memory.extraction.reader.spans import Value, values_in
from ovos_persona_memory.extraction.reader.words import Word, words_of

FILE = Path(__file__).parents[1] / "models" / "reader.model"
KINDS_FILE = FILE.with_name("question_kinds.model")
"""Heads of the reader that tell of what kind a question is."""
CONTEXT_WORDS = 16
"""So many of the last words of what was said before are read."""
CONTEXT_FOR = 9
"""Words of an utterance at most that what was said before helps to read."""
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
    question: float = 0.0
    """How likely it is that the utterance asks something, 0 to 1."""
    asks_several: float = 0.0
    """How likely it is that, if it asks, it asks for several things, 0 to 1."""
    asks_about: float = 0.0
    """How likely it is that it asks for all that is known about something, 0 to 1."""
    asks_what_was_said: float = 0.0
    """How likely it is that it asks what somebody told the assistant, 0 to 1."""


def model() -> ReaderModel | None:
    """The model that the package brings; None where its file is missing. It is loaded once, at the first call."""
    with _loading:
        return _loaded(FILE)


@lru_cache(maxsize=1)
def _loaded(path: Path) -> ReaderModel | None:
    return ReaderModel.load(path).with_heads(KINDS_FILE) if path.is_file() else None


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
    kinds = Reading()
    for part in _parts(text, words)[:PARTS]:
        own = tuple(word.lower for word in part)
        known = frozenset(place for place, word in enumerate(own) if word in names)
        scores = reader.read(Utterance(own, context, by_assistant, known), always)
        context, by_assistant = [], False
        if scores is not None:
            found += [_statement(reader, part, value) for value in values_in(scores)]
            kinds = Reading(
                question=max(kinds.question, scores.asks),
                asks_several=max(kinds.asks_several, scores.asks_several),
                asks_about=max(kinds.asks_about, scores.asks_about),
                asks_what_was_said=max(kinds.asks_what_was_said, scores.asks_what_was_said),
            )
    return replace(kinds, statements=tuple(found))


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
