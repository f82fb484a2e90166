"""How a history is kept short, by the names of the strategies."""

from __future__ import annotations

import pytest

from ovos_persona_memory.conversation.strategies import Overflow, Strategy, named, of_request
from ovos_persona_memory.conversation.window import Window
from ovos_persona_memory.errors import ConfigError


def test_a_sliding_window_is_so_many_messages_and_never_overflows() -> None:
    assert named("sliding_window", 7, None, None).window == Window(7)
    assert named("sliding_window", 7, None, None).overflow is None


def test_a_token_budget_is_as_many_messages_as_fit() -> None:
    assert named("token_budget", None, 900, None).window == Window(None, max_tokens=900)
    assert named("token_budget", None, 900, None).overflow is None


def test_with_summaries_everything_is_shown_that_is_not_summarised_yet() -> None:
    strategy = named("summary", 4, 500, 12)
    assert (strategy.window, strategy.overflow) == (Window(None, max_tokens=500), Overflow(12, 4))


def test_the_numbers_that_nobody_names_are_those_of_the_manager_that_the_names_come_from() -> None:
    assert named("summary", None, None, None) == Strategy("summary", 20, 8000, 30)


def test_a_window_as_large_as_the_threshold_leaves_room_before_the_next_overflow() -> None:
    assert named("summary", 30, None, 30).overflow == Overflow(30, 20)


@pytest.mark.parametrize("numbers", [(-1, None, None), (None, -1, None), (None, None, 0)])
def test_a_number_that_cannot_be_used_is_refused_by_name(numbers: tuple[int | None, int | None, int | None]) -> None:
    with pytest.raises(ConfigError, match="must not be below"):
        named("summary", *numbers)


def test_a_request_that_sets_no_limit_follows_the_default_and_keeps_its_age() -> None:
    assert of_request(Window(5, max_age_s=60.0), Strategy("sliding_window", 3)) == Window(3, max_age_s=60.0)


@pytest.mark.parametrize("limits", [Window(6), Window(None), Window(5, max_rounds=2), Window(5, max_tokens=9)])
def test_a_request_that_sets_a_limit_keeps_to_it(limits: Window) -> None:
    assert of_request(limits, Strategy("sliding_window", 3)) == limits


def test_without_a_default_a_request_keeps_to_its_own_limits() -> None:
    assert of_request(Window(5), None) == Window(5)
