"""Fits of what kind a question is: for all that is known about something, or for what was said to the assistant.

    PYTHONPATH=.:scripts python training/fit_question_kinds.py [model file]

Learns from the lines of ``training/<tag>/questions/*.kinds``, a letter and the words each (``t``: for all about
something, ``a``: for what was said, ``o``: another question, ``s``: no question), and from the questions of the weeks
in ``training/<tag>/weeks``. Four times a quarter of the files' parts is left out, to tell how well it does.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.quality.weeks import read
from logistic import fitted, left_out_shares
from numpy.typing import NDArray

from ovos_persona_memory.extraction.reader.model import ReaderModel, Utterance
from ovos_persona_memory.extraction.reader.reader import FILE, KINDS_FILE
from ovos_persona_memory.extraction.reader.words import words_of

ROOT = Path(__file__).parent
PENALTY = 10.0
KINDS = {"about": "t", "said": "a"}
"""The heads, and the letter of the lines that each is for."""
LETTERS = {"topic": "t", "about_talk": "a"}
"""Of the kinds of questions in weeks; the others are ``o``."""
PART = 30
"""Lines of a file that are left out together."""
AT = (0.3, 0.5, 0.7)
"""Probabilities at which is told how well it does."""
LONGEST = 60


@dataclass(frozen=True)
class Asked:
    """A line, and the letter of its kind."""

    text: str
    letter: str
    source: str
    """The part of a file that it is of."""
    in_week: bool


def main() -> None:
    """Fit, tell how well it does, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path, default=KINDS_FILE)
    path = parser.parse_args().model
    asked = [one for one in (*_of_lines(), *_of_weeks()) if words_of(one.text)]
    model = ReaderModel.load(FILE)
    words = (tuple(word.lower for word in words_of(one.text))[:LONGEST] for one in asked)
    rows = np.array([model.of_question(Utterance(one)) for one in words])
    with np.load(path) as kept:  # all else stays as it is, to the bit
        heads: dict[str, NDArray[np.float16]] = {name: kept[name] for name in kept.files}
    for name, letter in KINDS.items():
        weights, bias = _fitted(rows, asked, name, letter)
        heads |= {
            f"head_{name}": weights.astype(np.float16)[:, None],
            f"head_{name}_bias": np.array([bias], np.float16),
        }
    with path.open("wb") as file:
        np.savez(file, **heads)  # type: ignore[arg-type]  # numpy knows no names of arrays


def _fitted(rows: NDArray[np.float32], asked: list[Asked], name: str, letter: str) -> tuple[np.ndarray, float]:
    wanted = np.array([one.letter == letter for one in asked], float)
    times, in_week = np.ones(len(asked)), np.array([one.in_week for one in asked])
    shares = left_out_shares(rows, wanted, [one.source for one in asked], PENALTY, times)
    for place, own in (("lines", ~in_week), ("weeks", in_week)):
        found, taken = (
            " ".join(f"{100 * (shares[own & (wanted == is_one)] >= at).mean():.1f}" for at in AT) for is_one in (1, 0)
        )
        print(f"{name}, {place}: from {AT}: {found} % of those that are, {taken} % of the others", flush=True)
    return fitted(rows, wanted, PENALTY, times)


def _of_lines() -> Iterator[Asked]:
    for path in sorted(ROOT.glob("*/questions/*.kinds")):
        for number, line in enumerate(filter(None, path.read_text("utf-8").splitlines())):
            letter, _, text = line.partition(" ")
            if letter not in "taos":
                raise ValueError(f"{path}: {line}")
            yield Asked(text.rstrip(" ?.").lower(), letter, f"{path} {number // PART}", False)


def _of_weeks() -> Iterator[Asked]:
    for path in sorted(ROOT.glob("*/weeks/*.week")):
        for line in read(path).lines:
            if line.kind is not None:
                yield Asked(line.words.lower(), LETTERS.get(line.kind, "o"), str(path), True)


if __name__ == "__main__":
    main()
