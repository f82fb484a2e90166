"""The trained model of what kind an utterance is: layers of its own in place of the upper ones of the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory.extraction.reader.encoder import Encoder, Layer, Vectors
from ovos_persona_memory.extraction.reader.layer_changes import changed, packed_change

SHARED = 4
"""So many layers of the reader are below its own, as they are."""
RANK = 32
"""Of how many ranks the change of a layer is kept."""


@dataclass(frozen=True)
class Kinds:
    """How likely an utterance is of each kind, 0 to 1; 0 of an utterance that nobody read."""

    asks: float = 0.0
    """With a mark or without."""
    asks_several: float = 0.0
    """If it asks, for several things: "who has borrowed something of ours"."""
    asks_about: float = 0.0
    """For all that is known about something: "show me all about the boiler"."""
    asks_what_was_said: float = 0.0
    """For what somebody told the assistant: "what did ray tell you last night"."""
    asks_to_forget: float = 0.0
    """That something be forgotten which the assistant was told: "you never heard that"."""
    agrees: float = 0.0
    """To what the assistant proposes to delete: "go on then", "yep toss it"."""
    refuses: float = 0.0
    """That: "leave it", "hang on not that one"."""


REPLIES = ("agrees", "refuses")
"""Told by a head of their own, which also says that it is neither."""
KINDS = tuple(one.name for one in fields(Kinds) if one.name not in REPLIES)
"""In the order of the model."""
MARKS = ("names", "asking")
"""What is told of each word: whether it names what is to be forgotten, and whether it asks."""


@dataclass(frozen=True)
class KindsModel:
    """Thread-safe: it is only read."""

    layers: tuple[Layer, ...]
    weights: Mapping[str, Vectors]
    """Of ``kinds``, [2 x width, kinds], ``marks``, [width, 2], ``reply``, [4 x width, any], and behind it ``replies``,
    [any, 3], and what is added to each."""

    @classmethod
    def load(cls, path: Path, encoder: Encoder) -> KindsModel:
        """The model in a file, upon the lower layers of an encoder; OSError where there is none, KeyError or ValueError
        where it is none."""
        with np.load(path) as kept:
            # of four bytes each: turning numbers of two into these takes as long as using them
            arrays = {name: kept[name].astype(np.float32) for name in kept.files}
        layers = tuple(changed(arrays, base, number) for number, base in _upper(encoder))
        weights = {name.removeprefix("head_"): rows for name, rows in arrays.items() if name.startswith("head_")}
        return cls(layers, weights)

    def save(self, path: Path, encoder: Encoder) -> None:
        """Write the file that ``load`` reads."""
        arrays: dict[str, NDArray[Any]] = {}
        for (number, base), layer in zip(_upper(encoder), self.layers, strict=True):
            arrays |= packed_change(layer, base, number, RANK)
        arrays |= {f"head_{name}": rows.astype(np.float16) for name, rows in self.weights.items()}
        with path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # numpy knows no names of arrays

    def told_by(self, vectors: Vectors, firsts: Sequence[int], heads: int, asks: float) -> tuple[Kinds, Vectors]:
        """Of what kind an utterance is, and of each word how likely it has each of ``MARKS``, [words, 2], if the
        utterance is of that kind.

        ``vectors``: of its pieces, after the shared layers; ``firsts``: the first piece of each word; ``heads``: of the
        encoder; ``asks``: the logit of how likely the reader finds that it asks. The mean of both is taken: of remarks
        that nobody learned from 0.5 % are taken for a question where 79 % of those without a question word are found,
        by the reader alone 55 %; this model alone is now and then sure of the wrong (2026-11-30).
        """
        shared = whole_of(vectors)
        for layer in self.layers:
            vectors = layer.make(vectors, heads)
        whole = whole_of(vectors)
        logits = whole @ self.weights["kinds"] + self.weights["kinds_bias"]
        logits[0] = (logits[0] + asks) / 2
        marks = _shares(vectors[firsts] @ self.weights["marks"] + self.weights["marks_bias"])
        return Kinds(*map(float, [*_shares(logits), *self._replies(np.concatenate([whole, shared]))])), marks

    def _replies(self, vector: Vectors) -> Vectors:
        """How likely an utterance is each of ``REPLIES``."""
        hidden = np.tanh(vector @ self.weights["reply"] + self.weights["reply_bias"])
        odds = np.exp(hidden @ self.weights["replies"] + self.weights["replies_bias"])
        return np.asarray(odds / odds.sum(), np.float32)[: len(REPLIES)]


def whole_of(vectors: Vectors) -> Vectors:
    """What a head sees of an utterance: the first vector, and the mean of all, [2 x width]."""
    return np.concatenate([vectors[0], vectors.mean(axis=0)])


def _upper(encoder: Encoder) -> list[tuple[int, Layer]]:
    """The layers of the reader that the model has others in place of, with their numbers."""
    return list(enumerate(encoder.layers))[SHARED:]


def _shares(values: Vectors) -> Vectors:
    return np.asarray(1.0 / (1.0 + np.exp(-values)), np.float32)
