"""Fits how likely an utterance asks, with a question mark or without, and writes it into the reader's model.

    PYTHONPATH=. python training/fit_asks.py [model file]

The questions and remarks of the households in ``training/<tag>/questions/*.house`` and some talk with marked questions,
lower case and without their marks, as they are spoken. What no word shows to be a question counts three times: that is
what it is for. Four times a quarter of the households is left out, to tell how well it does.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from logistic import fitted
from pairs import houses_in
from samples import of_marked

from ovos_persona_memory.extraction.reader.labels import KINDS
from ovos_persona_memory.extraction.reader.model import ReaderModel, Utterance
from ovos_persona_memory.extraction.reader.reader import FILE
from ovos_persona_memory.extraction.reader.words import words_of
from ovos_persona_memory.text import holds_question_word, languages

ROOT = Path(__file__).parent
PENALTY, UNSIGNED_TIMES = 100.0, 3.0
FOLDERS, TALK = ("homes", "months", "plain", "sayings"), 2500
"""Talk with marked questions, so many turns of each language."""
PARTS, SEED = 4, 5
AT = (0.5, 0.8, 0.9, 0.95)
"""Probabilities at which is told how well it does."""
LONGEST = 60


@dataclass(frozen=True)
class Said:
    """An utterance, and whether it asks."""

    text: str
    tag: str
    asks: bool
    source: str
    """The household or file that it is of."""


def main() -> None:
    """Fit, tell how well it does, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=FILE)
    path = parser.parse_args().model
    model = ReaderModel.load(path)
    weights, bias = asking(model)
    found = {"asks": weights.astype(np.float32)[:, None], "asks_bias": np.array([bias], np.float32)}
    replace(model, weights={**model.weights, **found}).save(path)


def asking(model: ReaderModel) -> tuple[np.ndarray, float]:
    """Weights and bias from the vector of an utterance to the logarithm of the odds that it asks."""
    said, vectors = [], []
    for one in [*_of_households(), *_of_talk(random.Random(SEED))]:
        words = tuple(word.lower for word in words_of(one.text))[:LONGEST]
        vector = model.of_whole(Utterance(words)) if words else None
        if vector is not None:
            said.append(one)
            vectors.append(vector)
    rows, wanted = np.array(vectors), np.array([one.asks for one in said], float)
    unsigned = np.array([not _is_signed(one) for one in said])
    times = np.where(unsigned, UNSIGNED_TIMES, 1.0)
    sources = sorted({one.source for one in said})
    random.Random(SEED).shuffle(sources)
    part = np.array([sources.index(one.source) % PARTS for one in said])
    shares = np.zeros(len(said))
    for left_out in range(PARTS):
        weights, bias = fitted(rows[part != left_out], wanted[part != left_out], PENALTY, times[part != left_out])
        shares[part == left_out] = 1 / (1 + np.exp(-(rows[part == left_out] @ weights + bias)))
    tags = np.array([one.tag for one in said])
    for tag in sorted(set(tags)):
        own = unsigned & (tags == tag)
        taken = " ".join(f"{100 * (shares[own & (wanted == 0)] >= at).mean():.2f}" for at in AT)
        found = " ".join(f"{100 * (shares[own & (wanted == 1)] >= at).mean():.1f}" for at in AT)
        print(f"{tag}: without a sign, from {AT}: {taken} % of the remarks, {found} % of the questions", flush=True)
    return fitted(rows, wanted, PENALTY, times)


def _of_households() -> Iterator[Said]:
    for folder in sorted(ROOT.glob("*/questions")):
        for number, house in enumerate(houses_in(folder)):
            source = f"{folder.parent.name} {number}"
            yield from (Said(_as_spoken(text), folder.parent.name, False, source) for _, text in house.said)
            yield from (Said(_as_spoken(text), folder.parent.name, True, source) for _, text, _ in house.asked)


def _of_talk(chance: random.Random) -> Iterator[Said]:
    for tag in sorted(path.parent.name for path in ROOT.glob("*/questions")):
        files = [path for folder in FOLDERS for path in sorted((ROOT / tag / folder).glob("*.talk"))]
        told = [(sample, path) for path in files for sample in of_marked(path, 2) if sample.kind >= 0]
        for sample, path in chance.sample(told, min(TALK, len(told))):
            text = _as_spoken(" ".join(sample.words))
            yield Said(text, tag, sample.kind == KINDS.index("question"), f"{path.parent.name}/{path.name}")


def _as_spoken(text: str) -> str:
    return text.rstrip(" ?.").lower()


def _is_signed(one: Said) -> bool:
    language = languages.for_text(one.tag, one.text)
    return language.is_question(one.text) or holds_question_word(one.text, language)


if __name__ == "__main__":
    main()
