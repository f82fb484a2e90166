"""What somebody says to be over answers questions about it, and is no longer valid only when something else says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.talking import Household, household

from ovos_persona_memory.stores.inmemory import InMemoryStore


@pytest.fixture(name="at")
def _at() -> Iterator[Household]:
    yield from household(InMemoryStore())


OVER = (
    ("no more cider in the evening for me it burns", "does anybody drink cider in the evening"),
    ("i quit the swim team last week", "am i still on the swim team"),
    ("i stopped taking the blue pill", "do i still take the blue pill"),
)


@pytest.mark.parametrize(("told", "asked"), OVER)
def test_what_says_that_something_is_over_answers_whether_it_still_is_so(at: Household, told: str, asked: str) -> None:
    at.say(told)
    assert not at.memory.facts.list(), "nothing is learned that would hold"
    (answer,) = at.say(asked)
    assert answer.endswith(f"You told me today: {told}.")


def test_what_was_taken_back_by_another_remark_answers_nothing(at: Household) -> None:
    at.say("i am allergic to carrots")
    assert "carrots" in at.say("what am i allergic to")[0]
    at.say("i am allergic to radishes")
    at.say("that was a joke")
    assert "carrots" in (answer := at.say("what am i allergic to")[0]) and "radishes" not in answer
