"""How much is learned of months of talk that others wrote who had not seen the templates.

The first three have been read since, to find what kinds of sentences were missing, and the models were trained with
them; the last four tell how well that went.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ovos_persona_memory.measuring.learned import LearnedFigures, measure_learning
from ovos_persona_memory.measuring.marked import read_marked
from ovos_persona_memory.measuring.talks import read_talks

TALK = Path(__file__).parent.parent / "data" / "talk"
MONTHS = Path(__file__).parent.parent / "data" / "months"
PRECISION = {
    "month_en": 0.94,
    "month4_de": 0.94,
    "month6_de": 0.91,
    "month7_en": 0.91,
    "month7_de": 0.87,
    "month8_en": 0.92,
    "month8_de": 0.88,
    "month9_en": 0.94,
    "month9_de": 0.92,
}
READ_PRECISION = 0.95
RECALL = {
    "month_en": 0.86,
    "month_de": 0.88,
    "month4_en": 0.93,
    "month4_de": 0.89,
    "month5_en": 0.91,
    "month5_de": 0.90,
    "month6_en": 0.84,
    "month6_de": 0.78,
    "month7_en": 0.80,
    "month7_de": 0.78,
    "month8_en": 0.86,
    "month8_de": 0.76,
    "month9_en": 0.74,
    "month9_de": 0.85,
}
MOST_FROM_NOTHING = 6


QUICK = ("month9_de", "month9_en")
"""The others are measured where there is time."""


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if name in QUICK else pytest.mark.full) for name in sorted(RECALL)],
)
def month(request: pytest.FixtureRequest) -> tuple[str, LearnedFigures]:
    return request.param, measure_learning(read_talks(MONTHS / f"{request.param}.jsonl.gz"))


def test_what_is_learned_of_a_month_is_right_and_most_of_what_is_said(month: tuple[str, LearnedFigures]) -> None:
    name, figures = month
    assert (figures.precision.share or 0.0) >= PRECISION.get(name, READ_PRECISION)
    assert (figures.recall_typed.share or 0.0) >= RECALL[name]


def test_a_month_teaches_hardly_anything_that_must_not_be_learned(month: tuple[str, LearnedFigures]) -> None:
    _, figures = month
    assert figures.from_nothing <= MOST_FROM_NOTHING


@pytest.mark.parametrize(("tag", "precision", "recall"), [("en-US", 0.73, 0.52), ("de-DE", 0.66, 0.50)])
def test_of_talk_that_only_hints_half_is_learned(tag: str, precision: float, recall: float) -> None:
    figures = measure_learning([read_marked(TALK / tag / "month10.talk").talk])
    assert (figures.precision.share or 0.0) >= precision
    assert (figures.recall_typed.share or 0.0) >= recall
