"""Fits what tells whether a hit answers: the judge's word, and how far its score is above those of the others.

    PYTHONPATH=.:scripts python training/fit_answers.py

Plays the weeks in ``training/<tag>/weeks`` into an empty memory each, as everybody's device without voices does, and
prints the weights for ``search/answer_judge.py``, and how often the best hit of a question is right and wrong with
weights that were fitted without the language of the question. A file ``<tag>.answers`` names, for each question by the
number of its line, the lines that answer it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import numpy as np
from benchmarks.quality.weeks import read
from numpy.typing import NDArray

from ovos_persona_memory import extraction
from ovos_persona_memory.config import MemoryConfig, settled
from ovos_persona_memory.evaluation.rankers import wait_until_indexed
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Hit, Scope, Turn
from ovos_persona_memory.search import Indexer, Prefetch, Question, open_embedder
from ovos_persona_memory.search.answer_judge import ANSWERS_FROM, ONE, looked_at, signs
from ovos_persona_memory.stores import open_stores
from ovos_persona_memory.text import languages

ROOT = Path(__file__).parent
PENALTY, STEPS = 0.5, 50
"""The weight of the squares of what is fitted, but for the bias, and Newton's steps."""
EMBEDDERS = ("auto", "none")
"""Each week is played with search by meaning, and without."""
SECONDS = 40
"""Between two lines."""
LOADED_WITHIN_S = 60.0


@dataclass(frozen=True)
class Seen:
    """A question and its hits that may answer, best first."""

    language: str
    signs: NDArray[np.float64]
    """A row for each hit: ``answer_judge.signs``, and 1."""
    answers: NDArray[np.float64]


def main() -> None:
    """Print weights and counts."""
    weeks = sorted(ROOT.glob("*/weeks/*.week"))
    seen = [one for embedder in EMBEDDERS for path in weeks for one in _seen(path, embedder)]
    rows, answers = _together(seen)
    print(f"{len(seen)} questions with {len(rows)} hits, of which {int(answers.sum())} answer")
    for name, columns in (("lead alone", (1, 3)), ("judge alone", (0, 3)), ("all", (0, 1, 2, 3))):
        right, wrong = _left_out(seen, columns)
        print(f"{name}: {right} of {len(seen)} answered right, {wrong} wrong, at {ANSWERS_FROM}")
    print("JUDGED, LEAD, MARGIN, BIAS =", ", ".join(f"{one:.2f}" for one in _fitted(rows, answers)))


def _seen(path: Path, embedder: str) -> Iterator[Seen]:
    """What the questions of a week see with an embedder."""
    week, answers = read(path), answers_in(path.with_suffix(".answers"))
    told: dict[str, int] = {}
    now = [0.0]
    with tempfile.TemporaryDirectory() as folder, opened(folder, embedder, lambda: now[0]) as (memory, finding):
        for place, line in enumerate(week.lines):
            now[0] = (line.at + timedelta(seconds=SECONDS * place)).timestamp()
            heard = f"line {line.number}"
            said = Turn("user", line.words, at=now[0], lang=week.lang, speaker=line.person)
            memory.record([said], Scope("default"), utterance_id=heard)
            if line.number in answers:
                wait_until_indexed(memory)
                asked = Question(line.words, week.lang, heard, at=now[0], asker=line.person)
                hits = finding.hits(asked, Scope(), ONE.among)
                yield from _judged(asked, hits, set(answers[line.number]), told)
            told[key_of(line.words)] = line.number


@contextmanager
def opened(folder: str, embedder: str, clock: Callable[[], float]) -> Iterator[tuple[PersonaMemory, Prefetch]]:
    """An empty memory, and recall from it without a judge."""
    config = MemoryConfig()
    config = settled(replace(config, data_dir=folder, recall=replace(config.recall, embedder=embedder)))
    store = open_stores(config)
    indexer = Indexer(store.vector_store, config.recall.embedder, open_embedder, LOADED_WITHIN_S)
    with PersonaMemory(store, config, clock, indexer) as memory:
        indexer.start()
        yield memory, Prefetch(store, clock, indexer)


def _judged(asked: Question, hits: Sequence[Hit], right: set[int], told: dict[str, int]) -> Iterator[Seen]:
    found = looked_at(hits, asked, extraction)
    if found:
        rows = np.column_stack([np.array(signs(found)), np.ones(len(found))])
        answers = np.array([line_of(hit, told) in right for hit, _ in found], float)
        yield Seen(asked.lang or "", rows, answers)


def line_of(hit: Hit, told: dict[str, int]) -> int | None:
    """The line that said what a hit says; None for what nobody said so."""
    said = key_of(hit.text)
    return next((number for words, number in reversed(told.items()) if said in words), None)


def key_of(text: str) -> str:
    return " ".join(languages.fold(text))


def answers_in(path: Path) -> dict[int, list[int]]:
    lines = [line.partition(":") for line in path.read_text("utf-8").splitlines()]
    return {int(number): [int(one) for one in answers.split()] for number, _, answers in lines}


def _together(seen: Sequence[Seen]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.concatenate([one.signs for one in seen]), np.concatenate([one.answers for one in seen])


def _fitted(rows: NDArray[np.float64], answers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of a logistic regression; the last column is the bias."""
    weights, penalty = np.zeros(rows.shape[1]), np.full(rows.shape[1], PENALTY)
    penalty[-1] = 0.0
    for _ in range(STEPS):
        shares = _shares(rows, weights)
        curvature = rows.T @ (rows * (shares * (1 - shares))[:, None]) + np.diag(penalty + 1e-9)
        weights -= np.linalg.solve(curvature, rows.T @ (shares - answers) + penalty * weights)
    return weights


def _shares(rows: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-rows @ weights)), float)


def _left_out(seen: Sequence[Seen], columns: Sequence[int]) -> tuple[int, int]:
    """How many questions are answered right and wrong, each with what was fitted without its language."""
    right = wrong = 0
    for language in {one.language for one in seen}:
        rows, answers = _together([one for one in seen if one.language != language])
        weights = _fitted(rows[:, columns], answers)
        for one in (one for one in seen if one.language == language):
            shares = _shares(one.signs[:, columns], weights)
            best = int(shares.argmax())
            if shares[best] >= ANSWERS_FROM:
                right, wrong = (right + 1, wrong) if one.answers[best] else (right, wrong + 1)
    return right, wrong


if __name__ == "__main__":
    main()
