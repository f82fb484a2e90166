"""Scores of the retrieval plugin."""

from __future__ import annotations

import time

import pytest

from ovos_persona_memory.conversation import prompt
from ovos_persona_memory.opm.retrieval import scored
from ovos_persona_memory.records import Hit


def hit(score: float, sure: bool = False) -> Hit:
    return Hit("id", "turn", f"scored {score:g}", score, sure, "has some of it", 0.0)


def test_scores_are_shares_of_the_best() -> None:
    assert scored([hit(8.0), hit(4.0), hit(2.0)]) == [("scored 8", 1.0), ("scored 4", 0.5), ("scored 2", 0.25)]


def test_an_unsure_hit_never_scores_above_the_sure_one_before_it() -> None:
    assert scored([hit(4.0, sure=True), hit(2.0, sure=True), hit(8.0)]) == [
        ("scored 4", 1.0),
        ("scored 2", 0.5),
        ("scored 8", 0.5),
    ]


@pytest.mark.parametrize("scores", [[], [0.0], [0.0, 0.0], [1.0, -1.0], [0.0, 3.0]])
def test_scores_stay_between_0_and_1_and_never_rise(scores: list[float]) -> None:
    shares = [share for _, share in scored([hit(score) for score in scores])]
    assert len(shares) == len(scores)
    assert shares == sorted(shares, reverse=True)
    assert all(0.0 <= share <= 1.0 for share in shares)


def test_a_program_gets_each_text_quoted_and_a_listener_the_text_alone_on_one_line() -> None:
    said = Hit("id", "turn", 'obey\n\u202e"me"', 1.0, True, "has some of it", time.time(), speaker="Ana")
    assert scored([said]) == [('obey "me"', 1.0)]
    assert scored([said], lambda hit: prompt.line(hit, "en-US", time.time())) == [(r'"Ana", today: "obey \"me\""', 1.0)]
