"""Which words of an utterance tell what, as two models of the language guess that were trained on labelled talk.

One is a linear-chain conditional random field (Lafferty, McCallum and Pereira, 2001) over what each word looks like,
one a network; they err at different places, so the mean of both is surer than each. A language has them where
``facts.model`` and ``facts.network`` lie in its folder of ``models``; ``training/train_crf`` and
``training/train_tagger`` make them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ovos_persona_memory.extraction.tagger.features import TemplateSpan, TokenFeatures, models_folder
from ovos_persona_memory.extraction.tagger.network import Network, Vectors
from ovos_persona_memory.text import languages

FILE, NETWORK = "facts.model", "facts.network"
NOTHING = "O"
"""The label of a word that tells nothing."""
DOUBT = 0.42
"""How much likelier it must be that words tell nothing than what a template took from them, to doubt that, 0 to 1."""
UNLIKELY = 0.12
"""A template's value is doubted, too, if the summed probability of its slot is below this at every token."""
PLAIN = 0.9
"""How sure the field must be of each word that it tells nothing, not to ask the network."""
SELDOM = 0.02
"""What the network finds less likely wins only where the field finds it the likeliest."""


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
class LabelProbabilities:
    """How likely each word of an utterance tells what, 0 to 1: a row for each, a column for each label."""

    network: Vectors
    field: Vectors
    columns: Mapping[str, Sequence[int]]
    """Of each kind."""

    def of(self, kind: str | None) -> Vectors:
        """How likely each word is one of a kind, None: of none, as both together have it."""
        found: Vectors = np.mean([_of_kind(one, self.columns, kind) for one in (self.network, self.field)], axis=0)
        return found

    def each(self, kind: str) -> Iterator[tuple[str, Vectors, Vectors]]:
        """How likely each word is one of a kind, and one of none, as "network" and "field" have it and their "mean"."""
        yield "mean", self.of(kind), self.of(None)
        for name, found in (("network", self.network), ("field", self.field)):
            yield name, _of_kind(found, self.columns, kind), _of_kind(found, self.columns, None)


def _of_kind(found: Vectors, columns: Mapping[str, Sequence[int]], kind: str | None) -> Vectors:
    shares: Vectors = found[:, columns.get(NOTHING if kind is None else kind, [])].sum(axis=1)
    return shares


@dataclass(frozen=True)
class TaggerOutput:
    """What a model makes of an utterance."""

    guesses: list[Guess]
    """In order; each word belongs to one at most."""
    doubted: frozenset[TemplateSpan] = frozenset()
    """What templates took and it does not believe."""
    shares: LabelProbabilities | None = None
    """None where the field alone was sure that it tells nothing."""


@dataclass(frozen=True)
class Tagger:
    """One language's models. Thread-safe."""

    crf: Any
    """The conditional random field."""
    network: Network
    _lock: Lock = field(default_factory=Lock, compare=False)

    def told(self, seen: Sequence[TokenFeatures], hints: Sequence[TemplateSpan] = ()) -> TaggerOutput:
        """What words that look like this tell, and which of the hints is doubted."""
        if not seen:
            return TaggerOutput([])
        with self._lock:
            self.crf.set([look.features for look in seen])
            best = self.crf.tag()  # before any marginal: those asked after it are wrong where one was before it
            if not hints and all(self.crf.marginal(NOTHING, place) >= PLAIN for place in range(len(seen))):
                return TaggerOutput([])  # most utterances, sooner
            if not self.network.may_read([look.word for look in seen]):
                return TaggerOutput([])
            by_network = self.network.likely(seen)
            by_field = self._by_field(by_network, best, hints)
        likely: Vectors = np.mean([by_network, by_field], axis=0)
        labels = [self.network.labels[number] for number in likely.argmax(axis=1)]
        sure = likely.max(axis=1)
        guesses = [Guess(kind, first, last, float(sure[first:last].min())) for kind, first, last in spans_of(labels)]
        doubted = frozenset(hint for hint in hints if self._doubts(likely, hint))
        return TaggerOutput(guesses, doubted, LabelProbabilities(by_network, by_field, self._columns))

    def _by_field(self, likely: Vectors, best: Sequence[str], hints: Sequence[TemplateSpan]) -> Vectors:
        """How likely labels are as the field has it: its best, those likely in the network, and of hints."""
        found = np.zeros_like(likely)
        wanted = likely >= SELDOM
        wanted[:, self._nothing] = True
        for hint in hints:
            wanted[hint.first : hint.last, self._columns.get(hint.slot, [])] = True
        for place, label in enumerate(best):
            wanted[place, self._shared.get(label, self._nothing)] = True
        for place, number in np.argwhere(wanted).tolist():
            label = self.network.labels[number]
            found[place, number] = self.crf.marginal(label, place) if label in self._shared else 0.0
        return found

    def _doubts(self, likely: Vectors, hint: TemplateSpan) -> bool:
        """Whether the words hardly tell what a template took from them."""
        columns = self._columns.get(hint.slot)
        if columns is None:
            return False  # nothing like it was in the talk that they were trained on
        words = likely[hint.first : hint.last]
        told = words[:, columns].sum(axis=1).max()
        return bool(told < UNLIKELY or words[:, self._nothing].min() - told >= DOUBT)

    @cached_property
    def _shared(self) -> dict[str, int]:
        """The labels that both know, with their columns."""
        known = set(self.crf.labels())
        return {label: number for number, label in enumerate(self.network.labels) if label in known}

    @cached_property
    def _columns(self) -> dict[str, list[int]]:
        """Where the labels of each kind stand, and that of none."""
        found: dict[str, list[int]] = {}
        for number, label in enumerate(self.network.labels):
            found.setdefault(label.partition("-")[2] or label, []).append(number)
        return found

    @cached_property
    def _nothing(self) -> int:
        return self.network.labels.index(NOTHING)


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


_OPENED: list[Tagger] = []
_USED: dict[str, Tagger] = {}


def override_for_tests(tag: str, tagger: Tagger) -> None:
    """From now on these models are asked in a language: for whoever trains or measures."""
    _USED[languages.for_language(tag).tag] = tagger


def for_language(tag: str | None) -> Tagger | None:
    """The models of a language, BCP-47 tag; None where it has none, or where python-crfsuite is not installed."""
    known = languages.for_language(tag).tag
    return _USED.get(known) or _in_folder(models_folder() / known)


@languages.computed_once
def _in_folder(folder: Path) -> Tagger | None:
    found = opened(folder / FILE, folder / NETWORK) if (folder / FILE).is_file() else None
    if found is not None:
        _OPENED.append(found)
    return found


def release_memory() -> None:
    """Let go of the memory that all models take which nothing is asked of."""
    for one in _OPENED:
        one.network.rest()


def opened(path: Path, network: Path) -> Tagger | None:
    """The models in two files; None where python-crfsuite is not installed: not every machine has a wheel of it."""
    try:
        library: Any = import_module("pycrfsuite")
    except ImportError:
        return None
    crf = library.Tagger()
    crf.open(str(path))
    return Tagger(crf, Network.read(network))
