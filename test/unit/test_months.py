"""How much is learned of months of talk that others wrote who had not seen the templates.

The first three have been read since, to find what kinds of sentences were missing, and the models were trained with
them; the last four tell how well that went.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ovos_persona_memory.measuring.learned import LearnedFigures, measure_learning
from ovos_persona_memory.measuring.talks import read_talks

MONTHS = Path(__file__).parent.parent / "data" / "months"
PRECISION = {
    "month_de": 0.94,
    "month6_en": 0.95,
    "month6_de": 0.88,
    "month8_en": 0.91,
    "month8_de": 0.88,
    "month7_en": 0.92,
    "month7_de": 0.88,
    "month9_en": 0.90,
    "month9_de": 0.91,
}
READ_PRECISION = 0.95
RECALL = {
    "month_en": 0.75,
    "month_de": 0.72,
    "month4_en": 0.88,
    "month4_de": 0.80,
    "month5_en": 0.72,
    "month5_de": 0.78,
    "month6_en": 0.80,
    "month6_de": 0.70,
    "month7_en": 0.71,
    "month7_de": 0.74,
    "month8_en": 0.83,
    "month8_de": 0.72,
    "month9_en": 0.70,
    "month9_de": 0.82,
}
MOST_FROM_NOTHING = 6


@pytest.fixture(scope="module", params=sorted(RECALL))
def month(request: pytest.FixtureRequest) -> tuple[str, LearnedFigures]:
    return request.param, measure_learning(read_talks(MONTHS / f"{request.param}.jsonl.gz"))


def test_what_is_learned_of_a_month_is_right_and_most_of_what_is_said(month: tuple[str, LearnedFigures]) -> None:
    name, figures = month
    assert (figures.precision.share or 0.0) >= PRECISION.get(name, READ_PRECISION)
    assert (figures.recall_typed.share or 0.0) >= RECALL[name]


def test_a_month_teaches_hardly_anything_that_must_not_be_learned(month: tuple[str, LearnedFigures]) -> None:
    _, figures = month
    assert figures.from_nothing <= MOST_FROM_NOTHING
