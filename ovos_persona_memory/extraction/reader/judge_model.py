"""The trained model of the judge of answers: the layers of the reader, changed, and more upon them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory.extraction.reader.encoder import BEGIN, END, Encoder, Layer, Vectors, product
from ovos_persona_memory.extraction.reader.layer_changes import changed, packed_change, packed_whole, whole
from ovos_persona_memory.extraction.reader.model import ASKED, ITSELF, ReaderModel

PIECES, ASKED_PIECES = 64, 40
"""Pieces that are read at most of both together, and of a question, the last ones: in the weeks of households the
longest pair has 44."""
SHARED = 0
"""So many layers of the reader are below those of the judge, as they are."""
MOST_LAYERS = 12
"""Of multilingual-e5-small: those above the reader's are kept as they are, a byte each weight. Of half a byte each the
judge loses more than these layers give (area under the curve of some of the weeks' pairs .943, then .931)."""
RANK = 64
"""Of the reader's layers the file holds how the judge's differ, of so many ranks: of the weeks' pairs the full
difference tells hardly more."""
HEADS = ("deep", "answer")


@dataclass(frozen=True)
class JudgeModel:
    """Thread-safe: it is only read."""

    reader: ReaderModel
    layers: tuple[Layer, ...]
    weights: Mapping[str, Vectors]
    """Of ``deep`` and ``answer``, and what is added to each."""

    @classmethod
    def load(cls, path: Path, reader: ReaderModel) -> JudgeModel:
        """The model in a file; OSError where there is none, KeyError or ValueError where it is none."""
        with np.load(path) as kept:
            arrays = {name: kept[name] for name in kept.files}
        own = [changed(arrays, base, number) for number, base in _upper(reader)]
        upon = [number for number in range(MOST_LAYERS) if f"{number}_query" in arrays]
        layers = (*own, *(whole(arrays, number) for number in upon))
        names = [name for head in HEADS for name in (head, f"{head}_bias")]
        return cls(reader, layers, {name: arrays[f"head_{name}"].astype(np.float32) for name in names})

    def save(self, path: Path) -> None:
        """Write the file that ``load`` reads."""
        arrays: dict[str, NDArray[Any]] = {}
        upper = _upper(self.reader)
        for (number, base), layer in zip(upper, self.layers, strict=False):
            arrays |= packed_change(layer, base, number, RANK)
        for number, layer in enumerate(self.layers[len(upper) :], SHARED + len(upper)):
            arrays |= packed_whole(layer, number)
        arrays |= {f"head_{name}": rows.astype(np.float16) for name, rows in self.weights.items()}
        with path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # numpy knows no names of arrays

    def answers(self, question: Sequence[str], remarks: Sequence[Sequence[str]]) -> list[float]:
        """The probability that each remark answers the question; words in lower case, at least one of the question."""
        shown = [pieces_of(self.reader.encoder, question, remark) for remark in remarks]
        parts = self.reader.weights["parts"]
        begun = [self.reader.encoder.placed(rows, parts[kinds]) for rows, kinds in shown]
        sizes = [len(rows) for rows, _ in shown]
        vectors = self.reader.encoder.made(np.concatenate(begun), SHARED, sizes)
        for layer in self.layers:
            vectors = layer.make(vectors, self.reader.encoder.heads, sizes)
        firsts = vectors[np.cumsum([0, *sizes[:-1]])]
        deep = np.tanh(product(firsts, self.weights["deep"]) + self.weights["deep_bias"])
        odds = (deep @ self.weights["answer"] + self.weights["answer_bias"])[:, 0]
        return [float(one) for one in 1 / (1 + np.exp(-odds))]


def pieces_of(encoder: Encoder, question: Sequence[str], remark: Sequence[str]) -> tuple[list[int], list[int]]:
    """The rows of the pieces of a question and a remark, and of each whether it is of the one or of the other."""
    cut = encoder.pieces.cut
    last = question[-ASKED_PIECES:]  # a word has one piece at least
    asked = [row for word in last for row in cut(word)][-ASKED_PIECES:]
    said = [row for word in remark for row in cut(word)]
    rows = [BEGIN, *asked, END, *said[: PIECES - 3 - len(asked)], END]
    return rows, [ITSELF, *[ASKED] * (len(asked) + 1), *[ITSELF] * (len(rows) - len(asked) - 2)]


def _upper(reader: ReaderModel) -> list[tuple[int, Layer]]:
    """The layers of the reader that the judge has others in place of, with their numbers."""
    return list(enumerate(reader.encoder.layers))[SHARED:]
