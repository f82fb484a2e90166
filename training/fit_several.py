"""Fits how likely a question asks for several things.

    PYTHONPATH=.:scripts python training/fit_several.py [model file]

Of the questions of households in ``training/<tag>/questions/*.house`` those ask for several things that three remarks
or more answer, and those for one that one answers; of two, one is mostly what the other changed. Of those for one a
third is shown, and counts three times. Of the questions in ``training/<tag>/weeks`` lists ask for several things. Four
times a quarter of the households and weeks is left out, to tell how well it does.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.quality.weeks import read
from logistic import fitted, left_out_shares
from pairs import houses_in

from ovos_persona_memory.extraction.reader.model import ReaderModel, Utterance
from ovos_persona_memory.extraction.reader.reader import FILE, KINDS_FILE
from ovos_persona_memory.extraction.reader.words import words_of

ROOT = Path(__file__).parent
PENALTY = 100.0
SEVERAL = 3
"""So many remarks answer what asks for several things, at least."""
LISTS, OF_ONE = "lists", frozenset({"same_words", "other_words", "whose", "newest", "yes_no", "never_said", "forget"})
"""Kinds of questions in weeks."""
SHOWN = 0.3
"""Share of the questions for one thing that is shown."""
SEED = 5
AT = (0.2, 0.3, 0.5, 0.7)
"""Probabilities at which is told how well it does."""
LONGEST = 60


@dataclass(frozen=True)
class Asked:
    """A question, and whether several remarks answer it."""

    text: str
    tag: str
    several: bool
    source: str
    """The household that it is of."""


def main() -> None:
    """Fit, tell how well it does, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=KINDS_FILE)
    path = parser.parse_args().model
    weights, bias = asking_for_several(ReaderModel.load(FILE))
    with np.load(path) as kept:  # all else stays as it is, to the bit
        arrays = {name: kept[name] for name in kept.files}
    arrays |= {"head_several": weights.astype(np.float16)[:, None], "head_several_bias": np.array([bias], np.float16)}
    with path.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]  # numpy knows no names of arrays


def asking_for_several(model: ReaderModel) -> tuple[np.ndarray, float]:
    """Weights and bias from ``ReaderModel.of_question`` to the logarithm of the odds that it asks for several."""
    asked = [one for one in (*_of_households(random.Random(SEED)), *_of_weeks()) if words_of(one.text)]
    words = (tuple(word.lower for word in words_of(one.text))[:LONGEST] for one in asked)
    rows = np.array([model.of_question(Utterance(one)) for one in words])
    wanted = np.array([one.several for one in asked], float)
    times = np.where(wanted == 1, 1.0, 1 / SHOWN)
    shares = left_out_shares(rows, wanted, [one.source for one in asked], PENALTY, times)
    tags = np.array([one.tag for one in asked])
    for tag in sorted(set(tags)):
        one, several = (shares[(tags == tag) & (wanted == is_several)] for is_several in (0, 1))
        taken, found = (" ".join(f"{100 * (own >= at).mean():.1f}" for at in AT) for own in (one, several))
        print(f"{tag}: from {AT}: {found} % of those for several, {taken} % of those for one", flush=True)
    return fitted(rows, wanted, PENALTY, times)


def _of_households(chance: random.Random) -> Iterator[Asked]:
    houses = ((folder.parent.name, house) for folder in sorted(ROOT.glob("*/questions")) for house in houses_in(folder))
    for number, (tag, house) in enumerate(houses):
        for _, text, answers in house.asked:
            several = len(answers) >= SEVERAL
            if several or (len(answers) == 1 and chance.random() < SHOWN):
                yield Asked(text.rstrip(" ?.").lower(), tag, several, f"{tag} {number}")


def _of_weeks() -> Iterator[Asked]:
    for path in sorted(ROOT.glob("*/weeks/*.week")):
        for line in read(path).lines:
            if line.kind == LISTS or line.kind in OF_ONE:
                yield Asked(line.words.lower(), path.parent.parent.name, line.kind == LISTS, path.stem)


if __name__ == "__main__":
    main()
