"""What people stated within a time, and what a question asks about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.talking import Household, household

from ovos_persona_memory.stores.inmemory import InMemoryStore


@pytest.fixture(name="home")
def _home() -> Iterator[Household]:
    yield from household(InMemoryStore())


def stated(home: Household, since: float | None, until: float | None, k: int = 10) -> list[str]:
    return [hit.text for hit in home.memory.recall("anything", k=k, since=since, until=until)]


def test_what_was_stated_within_a_time_comes_oldest_first_without_questions_and_requests(home: Household) -> None:
    began = home.now + 1
    for text in ("the goat limps", "where is the key", "switch on the light", "ann has the ladder", "it rained"):
        home.say(text)
    assert stated(home, began, None) == ["the goat limps", "ann has the ladder", "it rained"]
    assert stated(home, began + 1, None) == ["ann has the ladder", "it rained"]
    assert stated(home, None, began + 1) == ["the goat limps"]
    assert stated(home, began, None, k=2) == ["ann has the ladder", "it rained"]
    assert stated(home, began, None, k=0) == []


def test_what_was_stated_and_forgotten_is_not_read(home: Household) -> None:
    began = home.now
    home.say("ann has the ladder")
    home.say("the goat limps")
    home.memory.forget(query="ladder")
    assert stated(home, began, None) == ["the goat limps"]


@pytest.mark.parametrize(
    ("asked", "about"),
    [
        ("what do you know about the goat", "goat"),
        ("tell me everything about the goat", "goat"),
        ("what do you know about the tractor", ""),
        ("where is the goat", ""),
        ("i'm off to the shop what have you got on the shop", ""),  # itself states nothing
    ],
)
def test_what_everything_is_asked_about_is_named_where_somebody_stated_something_of_it(
    home: Household, asked: str, about: str
) -> None:
    home.say("the goat limps")
    assert home.memory.question_kind(asked, "en-US").asks_about == about
