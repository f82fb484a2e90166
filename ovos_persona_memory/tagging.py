"""Which words of an utterance tell what, as a model of the language guesses that was trained on labelled talk.

The model is a linear-chain conditional random field (Lafferty, McCallum and Pereira, 2001) over what each word looks
like. A language has one where ``facts.model`` lies in its folder; ``scripts/train_facts`` makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any

from ovos_persona_memory import language

FILE = "facts.model"
NOTHING = "O"
"""The label of a word that tells nothing."""


@dataclass(frozen=True)
class Guess:
    """What the words from ``first`` up to, not with, ``last`` tell."""

    kind: str
    """A slot; "thing" for what a value belongs to, "who" for whom it is of."""
    first: int
    last: int
    sure: float
    """0 to 1."""


@dataclass(frozen=True)
class Tagger:
    """One language's model. Thread-safe."""

    model: Any
    _lock: Lock = field(default_factory=Lock, compare=False)

    def guesses(self, features: Sequence[Sequence[str]]) -> list[Guess]:
        """What the words with these features tell, in order; each word belongs to one guess at most."""
        if not features:
            return []
        with self._lock:
            self.model.set(features)
            labels = self.model.tag()
            sure = [self.model.marginal(label, place) for place, label in enumerate(labels)]
        return [Guess(kind, first, last, min(sure[first:last])) for kind, first, last in spans_of(labels)]


def spans_of(labels: Sequence[str]) -> list[tuple[str, int, int]]:
    """The labelled stretches: kind, first word, the one behind the last. "B-pet" begins one, "I-pet" goes on."""
    begun, numbered = 0, []
    for label in labels:
        begun += not label.startswith("I-")
        numbered.append((begun, label))
    found, place = [], 0
    for (_, _), group in groupby(numbered, key=lambda one: (one[0], one[1][2:])):
        run = list(group)
        if run[0][1] != NOTHING:
            found.append((run[0][1][2:], place, place + len(run)))
        place += len(run)
    return found


@lru_cache(maxsize=32)
def of(tag: str | None) -> Tagger | None:
    """The model of a language, BCP-47 tag; None where it has none, or where python-crfsuite is not installed."""
    path = language.locale_folder() / language.of(tag).tag / FILE
    return opened(path) if path.is_file() else None


def opened(path: Path) -> Tagger | None:
    """The model in a file; None where python-crfsuite is not installed: there are machines without a wheel of it."""
    try:
        library: Any = import_module("pycrfsuite")
    except ImportError:
        return None
    model = library.Tagger()
    model.open(str(path))
    return Tagger(model)
