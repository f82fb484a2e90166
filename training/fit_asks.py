"""Fits how likely an utterance asks, with a question mark or without, and writes it into the reader's model.

    PYTHONPATH=. python training/fit_asks.py [model file]

The questions and remarks of the households in ``training/<tag>/questions/*.house`` and some talk with marked questions,
lower case and without their marks, as they are spoken; some short ones also behind another remark, as the reader is
given them. What no word shows to be a question counts three times: that is what it is for. In households the short ones
are mostly questions; they are weighed so that of any number of words there are six remarks to a question, so that
shortness tells nothing. Four times a quarter of the households is left out, to tell how well it does.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from logistic import fitted, left_out_shares
from numpy.typing import NDArray
from pairs import houses_in
from samples import of_marked

from ovos_persona_memory.extraction.reader.labels import KINDS
from ovos_persona_memory.extraction.reader.model import ReaderModel, Utterance
from ovos_persona_memory.extraction.reader.reader import CONTEXT_FOR, CONTEXT_WORDS, FILE
from ovos_persona_memory.extraction.reader.words import words_of
from ovos_persona_memory.text import holds_question_word, languages

ROOT = Path(__file__).parent
PENALTY, UNSIGNED_TIMES = 100.0, 3.0
REMARKS_TO_QUESTION, TIMES_MOST, TIMES_LEAST = 6.0, 8.0, 0.1
"""Of what no word shows to be a question; of what one does, so many questions to a remark. Nothing counts more than
8 times, or less than a tenth."""
WORDS_MOST = 14
FOLDERS, TALK = ("homes", "months", "plain", "sayings"), 2500
"""Talk with marked questions, so many turns of each language."""
SEED = 5
AT = (0.5, 0.8, 0.9, 0.95)
"""Probabilities at which is told how well it does."""
LONGEST = 60
BEHIND_OTHER = 0.25
"""Share of the short utterances of households that are shown behind another one, too."""


@dataclass(frozen=True)
class Said:
    """An utterance, and whether it asks."""

    text: str
    tag: str
    asks: bool
    source: str
    """The household or file that it is of."""
    before: str = ""
    """What was said right before."""


def main() -> None:
    """Fit, tell how well it does, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=FILE)
    path = parser.parse_args().model
    model = ReaderModel.load(path)
    weights, bias = asking(model)
    with np.load(path) as kept:  # all else stays as it is, to the bit
        arrays = {name: kept[name] for name in kept.files}
    arrays |= {"head_asks": weights.astype(np.float16)[:, None], "head_asks_bias": np.array([bias], np.float16)}
    with path.open("wb") as file:
        np.savez(file, **arrays)


def asking(model: ReaderModel) -> tuple[np.ndarray, float]:
    """Weights and bias from the vector of an utterance to the logarithm of the odds that it asks."""
    said, vectors = [], []
    chance = random.Random(SEED)
    for one in [*_of_households(chance), *_of_talk(chance)]:
        words = tuple(word.lower for word in words_of(one.text))[:LONGEST]
        before = [word.lower for word in words_of(one.before)][-CONTEXT_WORDS:]
        vector = model.of_whole(Utterance(words, before)) if words else None
        if vector is not None:
            said.append(one)
            vectors.append(vector)
    rows, wanted = np.array(vectors), np.array([one.asks for one in said], float)
    unsigned = np.array([not is_signed(one.text, one.tag) for one in said])
    times = times_of([(one.text, one.tag, one.asks) for one in said])
    shares = left_out_shares(rows, wanted, [one.source for one in said], PENALTY, times)
    tags = np.array([one.tag for one in said])
    for tag in sorted(set(tags)):
        own = unsigned & (tags == tag)
        taken = " ".join(f"{100 * (shares[own & (wanted == 0)] >= at).mean():.2f}" for at in AT)
        found = " ".join(f"{100 * (shares[own & (wanted == 1)] >= at).mean():.1f}" for at in AT)
        print(f"{tag}: without a sign, from {AT}: {taken} % of the remarks, {found} % of the questions", flush=True)
    return fitted(rows, wanted, PENALTY, times)


def times_of(said: Sequence[tuple[str, str, bool]]) -> NDArray[np.float64]:
    """How often each counts: a text, the tag of its language, and whether it asks."""
    unsigned = np.array([not is_signed(text, tag) for text, tag, _ in said])
    wanted = np.array([asks for _, _, asks in said])
    length = np.array([min(len(text.split()), WORDS_MOST) for text, _, _ in said])
    tags = np.array([tag for _, tag, _ in said])
    times = np.ones(len(said))
    for tag in sorted(set(tags)):
        for words, is_unsigned in itertools.product(range(1, WORDS_MOST + 1), (True, False)):
            own = (tags == tag) & (length == words) & (unsigned == is_unsigned)
            asks, tells = own & wanted, own & ~wanted
            if asks.any() and tells.any():
                share = REMARKS_TO_QUESTION if is_unsigned else 1 / REMARKS_TO_QUESTION
                times[tells] = of_remark = float(np.clip(share * asks.sum() / tells.sum(), TIMES_LEAST, TIMES_MOST))
                times[asks] = np.clip(tells.sum() * of_remark / (share * asks.sum()), TIMES_LEAST, 1.0)
    return np.where(unsigned, UNSIGNED_TIMES * times, times)


def _of_households(chance: random.Random) -> Iterator[Said]:
    houses = ((folder.parent.name, house) for folder in sorted(ROOT.glob("*/questions")) for house in houses_in(folder))
    for number, (tag, house) in enumerate(houses):
        told, asked = ([as_spoken(one[1]) for one in some] for some in (house.said, house.asked))
        for text, asks in [*((text, False) for text in told), *((text, True) for text in asked)]:
            one = Said(text, tag, asks, f"{tag} {number}")
            yield one
            if len(text.split()) <= CONTEXT_FOR and chance.random() < BEHIND_OTHER:
                yield replace(one, before=chance.choice([*told, *asked]))


def _of_talk(chance: random.Random) -> Iterator[Said]:
    for tag in sorted(path.parent.name for path in ROOT.glob("*/questions")):
        files = [path for folder in FOLDERS for path in sorted((ROOT / tag / folder).glob("*.talk"))]
        told = [(sample, path) for path in files for sample in of_marked(path, 2) if sample.kind >= 0]
        for sample, path in chance.sample(told, min(TALK, len(told))):
            text = as_spoken(" ".join(sample.words))
            yield Said(text, tag, sample.kind == KINDS.index("question"), f"{path.parent.name}/{path.name}")


def as_spoken(text: str) -> str:
    """The text in lower case and without its mark."""
    return text.rstrip(" ?.").lower()


def is_signed(text: str, tag: str) -> bool:
    """Whether a word shows that a text asks."""
    language = languages.for_text(tag, text)
    return language.is_question(text) or holds_question_word(text, language)


if __name__ == "__main__":
    main()
