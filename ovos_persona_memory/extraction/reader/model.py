"""The trained model of the reader: from the words of an utterance to scores of what each of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory.extraction.reader import encoder
from ovos_persona_memory.extraction.reader.encoder import BEGIN, END, LONGEST, Encoder, Vectors, product
from ovos_persona_memory.extraction.reader.kinds_model import MARKS, SHARED, Kinds, KindsModel
from ovos_persona_memory.extraction.reader.labels import NEAR

CONTEXT_PIECES = 24
"""Pieces of what was said before that are read at most, the last ones."""
BY_ASSISTANT, BY_PERSON, ITSELF, ASKED = range(4)
"""Rows of ``parts``: of what was said before, by whom, of the utterance itself, and of a question to a remark."""
EARLY = 2
"""After so many layers it is decided whether the others are asked."""
HEADS = ("slot", "saying", "who", "thing", "kind")
POINTERS = ("who", "thing")


@dataclass(frozen=True)
class Utterance:
    """What the model is given."""

    words: Sequence[str]
    """In lower case."""
    before: Sequence[str] = ()
    """Words of what was said right before."""
    by_assistant: bool = False
    """Whether the assistant said that."""
    known: frozenset[int] = frozenset()
    """Places of words that are names of people or pets known before."""


@dataclass(frozen=True)
class Scores:
    """What the model makes of an utterance: probabilities, float32, a row for each word that was read."""

    slot: Vectors
    """[words, labels of slots]"""
    saying: Vectors
    """[words, kinds of saying]"""
    who: Vectors
    """[words, 3]: outside, first, further word of whom a value is about."""
    thing: Vectors
    """[words, 3]: the same of what a value belongs to."""
    kind: Vectors
    """[kinds of utterance]"""
    kinds: Kinds
    """Of what kind the utterance is."""
    marks: Vectors
    """[words, MARKS]: how likely each names what is to be forgotten, and asks, if the utterance does."""
    to_who: Vectors
    """[words, 1 + words]: nobody, or the word to which a value points."""
    to_thing: Vectors
    """The same of things."""


@dataclass(frozen=True)
class ReaderModel:
    """Thread-safe: it is only read."""

    encoder: Encoder
    weights: Mapping[str, Vectors]
    kinds: KindsModel | None = None
    """None: it tells of no utterance of what kind it is."""

    @classmethod
    def load(cls, path: Path) -> ReaderModel:
        """The model in a file; OSError where there is none, KeyError or ValueError where it is none."""
        with np.load(path) as kept:
            arrays = {name: kept[name] for name in kept.files}
        return cls(encoder.unpacked(arrays), _heads_of(arrays))

    def with_kinds(self, path: Path) -> ReaderModel:
        """The model with that of the kinds of utterances in another file; OSError where there is none."""
        return replace(self, kinds=KindsModel.load(path, self.encoder))

    def save(self, path: Path) -> None:
        """Write the file that ``load`` reads."""
        arrays: dict[str, NDArray[Any]] = encoder.packed(self.encoder)
        arrays |= {f"head_{name}": rows.astype(np.float16) for name, rows in self.weights.items()}
        with path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # numpy knows no names of arrays

    def read(self, given: Utterance, always: bool = False) -> Scores | None:
        """The scores of as many of the first words as fit; at least one word must be given.

        None where the first layers see that nothing is told nor asked, which is so of most that is said; ``always``:
        never.
        """
        made = self._made(given, always)
        if made is None:
            return None
        shared, vectors, firsts = made
        weights, words = self.weights, vectors[firsts]
        found = {name: _shares(product(words, weights[name]) + weights[f"{name}_bias"]) for name in HEADS[:-1]}
        kind = _shares(vectors[:1] @ weights["kind"] + weights["kind_bias"])[0]
        kinds, marks = Kinds(), np.zeros((len(firsts), len(MARKS)), np.float32)
        if self.kinds is not None:
            asks = float((vectors[0] @ weights["asks"] + weights["asks_bias"])[0])
            kinds, marks = self.kinds.told_by(shared, firsts, self.encoder.heads, asks)
        to_who, to_thing = (self._pointed(words, number) for number in range(len(POINTERS)))
        return Scores(**found, kind=kind, kinds=kinds, marks=marks, to_who=to_who, to_thing=to_thing)

    def of_whole(self, given: Utterance) -> Vectors | None:
        """The vector of an utterance as a whole, [width], by which the reader tells whether it asks; None as
        ``read``."""
        made = self._made(given, always=False)
        return None if made is None else made[1][0]

    def shared_of(self, given: Utterance) -> Vectors:
        """The vectors of the pieces of an utterance after the layers that the model of kinds shares."""
        rows, beside, _ = self.pieces(given)
        return self.encoder.begin(rows, beside, SHARED)

    def _made(self, given: Utterance, always: bool) -> tuple[Vectors, Vectors, list[int]] | None:
        """The vectors of the pieces after the layers that the model of kinds shares, and after all, and the first piece
        of each word; None as ``read``."""
        rows, beside, firsts = self.pieces(given)
        begun = self.encoder.begin(rows, beside, EARLY)
        if not always and self.early(begun[firsts]) < float(self.weights["early_least"][0]):
            return None
        shared = self.encoder.go_on(begun, EARLY, SHARED)
        return shared, self.encoder.go_on(shared, SHARED), firsts

    def first_look(self, given: Utterance) -> float:
        """What ``early`` gives of an utterance."""
        rows, beside, firsts = self.pieces(given)
        return self.early(self.encoder.begin(rows, beside, EARLY)[firsts])

    def early(self, words: Vectors) -> float:
        """How much the first layers see in the words: the logarithm of the sum of what each is worth."""
        worth = words @ self.weights["early"] + self.weights["early_bias"]
        return float(np.logaddexp.reduce(worth[:, 0]))

    def pieces(self, given: Utterance) -> tuple[list[int], Vectors, list[int]]:
        """The rows of the pieces, what is added to each before the first layer, and the first piece of each word."""
        cut = self.encoder.pieces.cut
        before = [row for word in given.before for row in cut(word)][-CONTEXT_PIECES:]
        rows = [BEGIN, *before, *([END] if before else [])]
        part = BY_ASSISTANT if given.by_assistant else BY_PERSON
        parts, known = [ITSELF, *[part] * (len(rows) - 1)], [0] * len(rows)
        firsts: list[int] = []
        for place, word in enumerate(given.words):
            made = cut(word)
            if len(rows) + len(made) > LONGEST and firsts:
                break
            firsts.append(len(rows))
            rows += made[: LONGEST - len(rows)]
            known += [int(place in given.known)] * (len(rows) - len(known))
        parts += [ITSELF] * (len(rows) - len(parts) + 1)
        return [*rows, END], self.weights["parts"][parts] + self.weights["known"][[*known, 0]], firsts

    def _pointed(self, words: Vectors, number: int) -> Vectors:
        name, size = POINTERS[number], len(words)
        asked = product(words, self.weights[f"{name}_asks"]) + self.weights[f"{name}_asks_bias"]
        answers = product(words, self.weights[f"{name}_answers"]) + self.weights[f"{name}_answers_bias"]
        scale = np.float32(asked.shape[1] ** 0.5)
        place = np.arange(size)
        far = np.clip(place[None, :] - place[:, None], -NEAR, NEAR) + NEAR
        score = product(asked, answers.T) / scale + self.weights[f"{name}_distance"][far]
        nobody = asked @ self.weights[f"{name}_nobody"] / scale + self.weights[f"{name}_nobody_bias"]
        return _shares(np.concatenate([nobody[:, None], score], axis=1))


def _heads_of(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Vectors]:
    heads = {name.removeprefix("head_"): rows for name, rows in arrays.items() if name.startswith("head_")}
    return {name: rows.astype(np.float32) for name, rows in heads.items()}


def _shares(values: Vectors) -> Vectors:
    """The softmax of each row."""
    raised = np.exp(values - values.max(axis=-1, keepdims=True))
    shares: Vectors = raised / raised.sum(axis=-1, keepdims=True)
    return shares
