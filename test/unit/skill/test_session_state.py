"""What the skill keeps in mind of a session: one question at a time, answered once, and for a while."""

from __future__ import annotations

import threading

from ovos_persona_memory.skill.session_state import LASTS_S, MOST, PendingQuestion, SessionStates, SpokenItem


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def pending() -> PendingQuestion:
    timer = threading.Timer(3600.0, print)
    return PendingQuestion(lambda _: None, lambda _: True, lambda _: None, lambda: None, timer)


def test_a_question_is_answered_once() -> None:
    moments = SessionStates(Clock())
    asked = moments.state("s1").pending = pending()
    assert moments.take_pending("s1") is asked
    assert moments.take_pending("s1") is None


def test_an_old_end_of_patience_leaves_a_newer_question_open() -> None:
    moments = SessionStates(Clock())
    old, new = pending(), pending()
    moments.state("s1").pending = new
    assert moments.take_pending("s1", only=old) is None
    assert moments.state("s1").pending is new


def test_sessions_are_apart() -> None:
    moments = SessionStates(Clock())
    moments.state("s1").pending = pending()
    assert moments.state("s2").pending is None
    assert moments.take_pending("s2") is None


def test_what_that_means_is_forgotten_after_a_while() -> None:
    clock = Clock()
    moments = SessionStates(clock)
    moments.state("s1").items = [SpokenItem("my car is red", 1.0)]
    clock.now += LASTS_S - 1
    assert moments.state("s1").items
    clock.now += LASTS_S + 1
    assert moments.state("s1").items == []


def test_the_oldest_sessions_go() -> None:
    moments = SessionStates(Clock())
    for number in range(MOST + 1):
        moments.state(f"s{number}")
    assert moments.existing_state("s0") is None
    assert moments.existing_state("s1") is not None
