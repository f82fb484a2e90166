"""What tells whether a hit is a part of an answer that was told bit by bit."""

from __future__ import annotations

import math

import pytest

from ovos_persona_memory.records import Hit
from ovos_persona_memory.search.query import Question
from ovos_persona_memory.search.several_answers import (
    PART_FROM,
    SURELY_PART_FROM,
    SUREST_FROM,
    are_several,
    probabilities,
    told_from,
)

SHOPPING = Question("what is on the shopping list", "en-US")


def likely(question: Question, *found: tuple[str, float]) -> list[float]:
    """How likely each text is a part, by what the judge gives it, the best found first."""
    hits = [Hit(text, "turn", text, 1.0, True, "", 0.0, lang="en-US") for text, _ in found]
    return probabilities([(hit, share) for hit, (_, share) in zip(hits, found, strict=True)], question)


def test_what_the_judge_gives_more_is_likelier_a_part() -> None:
    first, second, third = likely(SHOPPING, ("we need milk", 0.9), ("and bread", 0.5), ("it rains", 0.05))
    assert first > SUREST_FROM > second > third
    assert third < PART_FROM


def test_what_holds_more_of_what_is_asked_for_is_likelier_a_part_and_what_is_found_late_less() -> None:
    alike, other = likely(SHOPPING, ("gas is on the shopping list", 0.3), ("the roof leaks", 0.3))
    assert alike > other
    rest = [("it rains", 0.01)] * 15
    assert likely(SHOPPING, *rest, ("gas is on the shopping list", 0.3))[-1] < alike


def test_a_command_is_a_part_where_it_names_what_is_asked_for() -> None:
    milk, light = likely(SHOPPING, ("add milk to the shopping list", 0.2), ("turn the light on", 0.2))
    assert milk >= SUREST_FROM > PART_FROM > light


def test_nothing_is_found_in_nothing() -> None:
    assert likely(SHOPPING) == []
    assert told_from([]) == math.inf


@pytest.mark.parametrize(
    ("parts", "least"), [([SUREST_FROM, 0.1], PART_FROM), ([SUREST_FROM - 0.01, SUREST_FROM - 0.01], math.inf)]
)
def test_where_the_surest_is_not_sure_enough_none_is_told(parts: list[float], least: float) -> None:
    assert told_from(parts) == least


def test_two_that_are_surely_parts_are_several() -> None:
    assert are_several([0.9, SURELY_PART_FROM, 0.1])
    assert not are_several([0.9, SURELY_PART_FROM - 0.01])
