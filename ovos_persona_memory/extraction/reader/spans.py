"""From the scores of words to spans: values, whom they are about, what they belong to, and how they are said."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ovos_persona_memory.extraction.reader.encoder import Vectors
from ovos_persona_memory.extraction.reader.labels import SAYINGS, SLOT_NAMES
from ovos_persona_memory.extraction.reader.model import Scores

LEAST = 0.25
"""A word belongs to a value from this probability of its slot on."""
LIKELY = 0.5
"""Less likely words right before the beginning of a value of the same slot are no value of their own: "the" of "the
hall"."""
BETWEEN = 0.15
"""A single word between two parts of a value belongs to it, too, from this probability on."""
Span = tuple[int, int]
"""First word, and the word behind the last."""


@dataclass(frozen=True)
class Value:
    """A value in an utterance."""

    slot: str
    span: Span
    probability: float
    """Of the slot: the mean of the mean and the least over its words."""
    sayings: Vectors
    """Probabilities of the kinds of saying, [len(SAYINGS)]: their mean over its words."""
    who: Span | None
    """The words that name whom it is about; None: the speaker."""
    thing: Span | None
    """The words that name what it belongs to."""
    signs: Vectors
    """What the model said, as numbers, from which the confidence is computed."""

    @property
    def saying(self) -> str:
        """The most likely kind of saying."""
        return SAYINGS[int(self.sayings.argmax())]


def values_in(scores: Scores) -> list[Value]:
    """The values of an utterance in order; neighbouring words of one slot are one value unless a new one begins."""
    both = scores.slot[:, 1:].reshape(len(scores.slot), -1, 2)
    shares = both.sum(axis=2)
    kinds, best = shares.argmax(axis=1), shares.max(axis=1)
    found: list[tuple[int, int, int]] = []
    for place in np.flatnonzero(best >= LEAST):
        kind = int(kinds[place])
        begins = both[place, kind, 0] > 2 * both[place, kind, 1]
        gap = place - found[-1][2] if found and found[-1][0] == kind else len(best)
        if not begins and (gap == 0 or (gap == 1 and shares[place - 1, kind] >= BETWEEN)):
            found[-1] = (kind, found[-1][1], int(place) + 1)
        elif gap == 0 and shares[found[-1][1] : place, kind].max() < LIKELY:
            found[-1] = (kind, int(place), int(place) + 1)
        else:
            found.append((kind, int(place), int(place) + 1))
    return [_value(scores, shares, kind, first, last, len(found)) for kind, first, last in found]


def _value(  # more than five: these are what is known of a value
    scores: Scores, shares: Vectors, kind: int, first: int, last: int, number: int
) -> Value:
    own = shares[first:last, kind]
    probability = float(own.mean() + own.min()) / 2
    who = _pointed(scores.to_who[first], scores.who, first, last)
    thing = _pointed(scores.to_thing[first], scores.thing, first, last)
    sayings: Vectors = scores.saying[first:last].mean(axis=0)
    signs = _signs(scores, shares, kind, (first, last), probability, number, sayings)
    return Value(SLOT_NAMES[kind], (first, last), probability, sayings, who, thing, signs)


def _pointed(points: Vectors, labels: Vectors, first: int, last: int) -> Span | None:
    """The words labelled together with the one that a value points to; None where that is none, or its own."""
    place = int(points.argmax()) - 1
    if place < 0 or first <= place < last:
        return None
    begin, end = place, place + 1
    while begin > 0 and labels[begin, 1] < 0.5 and labels[begin - 1, 0] < 0.5 and begin - 1 not in range(first, last):
        begin -= 1
    while end < len(labels) and labels[end, 0] < 0.6 and labels[end, 2] > labels[end, 1] and end != first:
        end += 1
    return begin, end


def _signs(  # more than five: these are what is known of a value
    scores: Scores, shares: Vectors, kind: int, span: Span, probability: float, number: int, sayings: Vectors
) -> Vectors:
    """The numbers from which the confidence of a value is computed; training/train_reader fits it to the same."""
    first, last = span
    size = len(shares)
    own = shares[first:last, kind]
    others = np.delete(shares[first:last], kind, axis=1).max()
    outside = np.delete(scores.slot[:, 0], np.s_[first:last])
    to_who, to_thing = scores.to_who[first], scores.to_thing[first]
    plain = [
        *(probability, _logit(probability), own.min(), _logit(own.min()), _logit(others)),
        *(to_who[0], _logit(to_who.max()), to_thing[0], _logit(to_thing.max())),
        *(outside.mean() if size > last - first else 1.0, outside.min() if size > last - first else 1.0),
        *(min(size, 20) / 10, (last - first) / 4, number, 1 - scores.who[:, 0].min(), 1 - scores.thing[:, 0].min()),
        *(first == 0, last == size, (size - last) / 10),
        *(_logit(one) for one in scores.kind),
        *(_logit(one) for one in sayings),
    ]
    slots = np.zeros(len(SLOT_NAMES))
    slots[kind] = 1.0
    return np.array([*plain, *slots], np.float32)


def _logit(probability: float) -> float:
    kept = float(np.clip(probability, 1e-3, 1 - 1e-3))
    return float(np.log(kept / (1 - kept)))
