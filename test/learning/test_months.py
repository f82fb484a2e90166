"""How much is learned of months of talk by writers who had seen neither code nor training data.

The reader has learned from none of these.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ovos_persona_memory.evaluation.fact_scores import LearningScores, measure_learning
from ovos_persona_memory.evaluation.labelled_talk import read_talks

MONTHS = Path(__file__).parents[1] / "data" / "months"
FIGURES = {
    "month60_en": (0.91, 0.87),
    "month61_de": (0.92, 0.80),
}
"""Precision of what is learned, and recall of what fills a slot; ``bench facts`` measures the others."""
MOST_FROM_NOTHING = 8


QUICK = ("month60_en",)
"""The others are measured where there is time."""


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in sorted(FIGURES)],
)
def month(request: pytest.FixtureRequest) -> tuple[str, LearningScores]:
    return request.param, measure_learning(read_talks(MONTHS / f"{request.param}.jsonl.gz"))


def test_what_is_learned_of_a_month_is_right_and_most_of_what_is_said(month: tuple[str, LearningScores]) -> None:
    name, figures = month
    precision, recall = FIGURES[name]
    assert (figures.precision.share or 0.0) >= precision
    assert (figures.recall_typed.share or 0.0) >= recall


def test_a_month_teaches_hardly_anything_that_must_not_be_learned(month: tuple[str, LearningScores]) -> None:
    assert month[1].from_nothing <= MOST_FROM_NOTHING
