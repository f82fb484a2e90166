"""Which words of an utterance tell what, as a model of the language guesses that was trained on labelled talk.

The model is a linear-chain conditional random field (Lafferty, McCallum and Pereira, 2001) over what each word looks
like. A language has one where ``facts.model`` lies in its folder; ``scripts/train_facts`` makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any

from ovos_persona_memory import language
from ovos_persona_memory.looks import Hint

FILE = "facts.model"
NOTHING = "O"
"""The label of a word that tells nothing."""
DOUBT = 0.9
"""How sure it must be that words tell nothing to doubt what a template took from them, 0 to 1."""
UNLIKELY = 0.02
"""... or at most, that they tell what it took."""


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
class Told:
    """What a model makes of an utterance."""

    guesses: list[Guess]
    """In order; each word belongs to one at most."""
    doubted: frozenset[Hint] = frozenset()
    """What templates took and it does not believe."""


@dataclass(frozen=True)
class Tagger:
    """One language's model. Thread-safe."""

    model: Any
    _lock: Lock = field(default_factory=Lock, compare=False)

    def told(self, features: Sequence[Sequence[str]], hints: Sequence[Hint] = ()) -> Told:
        """What the words with these features tell, and which of the hints it doubts."""
        if not features:
            return Told([])
        with self._lock:
            self.model.set(features)
            labels = self.model.tag()
            if not hints and all(label == NOTHING for label in labels):
                return Told([])  # most utterances, sooner
            sure = [self.model.marginal(label, place) for place, label in enumerate(labels)]
            doubted = frozenset(hint for hint in hints if self._doubts(hint))
        return Told(
            [Guess(kind, first, last, min(sure[first:last])) for kind, first, last in spans_of(labels)], doubted
        )

    def _doubts(self, hint: Hint) -> bool:
        """Whether the words of the utterance that was read last hardly tell what a template took from them."""
        labels = [label for label in (f"B-{hint.slot}", f"I-{hint.slot}") if label in self._labels]
        if not labels:
            return False  # nothing like it was in the talk that it was trained on
        places = range(hint.first, hint.last)
        if min(self.model.marginal(NOTHING, place) for place in places) >= DOUBT:
            return True
        likely: float = max(sum(self.model.marginal(label, place) for label in labels) for place in places)
        return likely < UNLIKELY

    @cached_property
    def _labels(self) -> frozenset[str]:
        return frozenset(self.model.labels())


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
