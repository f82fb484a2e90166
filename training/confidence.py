"""Fits the confidence of values to talk that the reader did not learn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import logistic
import numpy as np
from numpy.typing import NDArray
from samples import NOBODY, UNKNOWN, Sample, spans

from ovos_persona_memory.extraction.reader.labels import SAYINGS, SLOT_NAMES
from ovos_persona_memory.extraction.reader.model import ReaderModel, Utterance
from ovos_persona_memory.extraction.reader.spans import Value, values_in

PENALTY = 8.0
"""The weight of the squares of what is fitted."""
FOUND, PROBABLE = 0.998, 0.4
"""So large a share of the turns with a value of this probability is read to the end."""
TEACHES = (SAYINGS.index("stated"), SAYINGS.index("asked"))


@dataclass(frozen=True)
class Judged:
    """A value that the reader found, and whether it is right and teaches something."""

    value: Value
    is_right: bool
    sample: Sample


def judged(model: ReaderModel, samples: Sequence[Sample]) -> Iterator[Judged]:
    """What the reader finds in these, but for what nobody labelled."""
    for sample in samples:
        given = Utterance(sample.words, sample.context, sample.by_assistant, sample.known)
        gold = list(spans(sample.slots))
        links = {value: who for value, who, _ in sample.links}
        scores = model.read(given, always=True)
        for value in values_in(scores) if scores is not None else ():
            first, last = value.span
            if UNKNOWN not in sample.slots[first:last]:
                yield Judged(value, any(_fits(value, one, sample, links) for one in gold), sample)


def _fits(value: Value, gold: tuple[int, int, int], sample: Sample, links: dict[int, int]) -> bool:
    """Whether a value has the slot, the words and the person of a label, and that teaches something."""
    first, last, slot = gold
    within = (first <= value.span[0] and value.span[1] <= last) or (value.span[0] <= first and last <= value.span[1])
    if SLOT_NAMES[slot] != value.slot or not within:
        return False
    saying, who = sample.sayings[first], links.get(first, UNKNOWN)
    teaches = saying == UNKNOWN or saying in TEACHES
    return teaches and (who == UNKNOWN or (who == NOBODY) == (value.who is None))


def fitted(found: Sequence[Judged]) -> tuple[NDArray[np.float64], float]:
    """Weights and bias of a logistic regression from the signs of values to whether they are right."""
    signs = np.array([one.value.signs for one in found], float)
    right = np.array([one.is_right for one in found], float)
    return logistic.fitted(signs, right, PENALTY)


def early_least(model: ReaderModel, samples: Sequence[Sample]) -> float:
    """The least that the first layers see in a held-out turn from which all layers read a value: FOUND of them pass."""
    seen = []
    for sample in samples:
        given = Utterance(sample.words, sample.context, sample.by_assistant, sample.known)
        scores = model.read(given, always=True)
        if scores is not None and any(value.probability >= PROBABLE for value in values_in(scores)):
            seen.append(model.first_look(given))
    seen.sort()
    return seen[int((1 - FOUND) * len(seen))]
