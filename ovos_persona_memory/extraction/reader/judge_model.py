"""The trained model of the judge of answers: layers of its own upon the lower layers of the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory.extraction.reader import encoder
from ovos_persona_memory.extraction.reader.encoder import BEGIN, END, LONGEST, Encoder, Layer, Vectors, product
from ovos_persona_memory.extraction.reader.model import ASKED, ITSELF, ReaderModel

ASKED_PIECES = 40
"""Pieces of a question that are read at most, the last ones."""
SHARED = 6
"""So many layers of the reader are below those of the judge."""
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
        layers = tuple(encoder.unpacked_layer(arrays, SHARED + one) for one in range(int(arrays["layers"])))
        names = [name for head in HEADS for name in (head, f"{head}_bias")]
        return cls(reader, layers, {name: arrays[f"head_{name}"].astype(np.float32) for name in names})

    def save(self, path: Path) -> None:
        """Write the file that ``load`` reads."""
        arrays: dict[str, NDArray[Any]] = encoder.packed_layers(self.layers, SHARED)
        arrays |= {f"head_{name}": rows.astype(np.float16) for name, rows in self.weights.items()}
        arrays["layers"] = np.array(len(self.layers))
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
    asked = [row for word in question for row in cut(word)][-ASKED_PIECES:]
    said = [row for word in remark for row in cut(word)]
    rows = [BEGIN, *asked, END, *said[: LONGEST - 2 - len(asked)], END]
    return rows, [ITSELF, *[ASKED] * (len(asked) + 1), *[ITSELF] * (len(rows) - len(asked) - 2)]
