"""Calls of language models: their budget, their end, and what is told of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from ovos_persona_memory.config import ModelsConfig
from ovos_persona_memory.memory.tidying.jobs import Postponed
from ovos_persona_memory.memory.tidying.models import DAY_S, Call, Model, ModelCalls, ModelFailed, Usage
from ovos_persona_memory.records import ContextMessage
from ovos_persona_memory.stores import open_store
from ovos_persona_memory.stores.base.store import Store

ASKED = [ContextMessage("user", "x" * 40)]
SECRET = "the cat is called Bob"


class Clock:
    now = 20_000 * DAY_S + 3600

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store() -> Store:
    return open_store("inmemory", None)


@pytest.fixture
def clock() -> Clock:
    return Clock()


Make = Callable[..., ModelCalls]


@pytest.fixture
def calls(store: Store, clock: Clock) -> Make:
    def make(**settings: object) -> ModelCalls:
        made = ModelCalls(store, clock, ModelsConfig(**settings))  # type: ignore[arg-type]  # its own fields
        made.told = told.append
        return made

    told: list[Call] = []
    make.told = told  # type: ignore[attr-defined]  # for the tests
    return make


def model(answer: object = "y" * 20) -> Model:
    def say(messages: Sequence[ContextMessage], lang: str | None) -> str:
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]  # a plugin may give anything

    return Model("some-plugin", "chat", say)


def told_by(calls: Make) -> list[Call]:
    return calls.told  # type: ignore[attr-defined, no-any-return]


def test_an_answer_is_stripped_and_its_call_told_of_with_tokens_and_outcome(calls: Make) -> None:
    assert calls().ask(model(" fine \n"), "summary", ASKED, "en-US") == "fine"
    [call] = told_by(calls)
    assert (call.job, call.model, call.outcome, call.asked_tokens, call.answered_tokens) == (
        *("summary", "some-plugin", "ok", 10, 1),
    )
    assert call.took_s >= 0 and call.problem == "" and call.text.endswith("answer: fine")


@pytest.mark.parametrize(
    ("answer", "outcome", "problem"),
    [
        (ValueError(SECRET), "failed", "ValueError"),
        ("  \n", "empty", "the answer is empty"),
        (None, "empty", "the answer is empty"),
    ],
)
def test_what_is_no_answer_is_a_failure_that_tells_nothing_that_was_said(
    calls: Make, answer: object, outcome: str, problem: str
) -> None:
    with pytest.raises(ModelFailed) as failed:
        calls().ask(model(answer), "summary", ASKED, None)
    assert (told_by(calls)[0].outcome, told_by(calls)[0].problem) == (outcome, problem)
    assert SECRET not in failed.value.reason and SECRET not in told_by(calls)[0].problem


def test_calls_and_tokens_of_the_day_are_counted_and_survive_the_process(
    calls: Make, store: Store, clock: Clock
) -> None:
    calls().ask(model(), "summary", ASKED, None)
    with pytest.raises(ModelFailed):
        calls().ask(model(OSError()), "summary", ASKED, None)
    assert ModelCalls(store, clock, ModelsConfig()).used() == Usage(20_000, 2, 10 + 5 + 10)
    clock.now += DAY_S
    assert calls().used() == Usage(20_001, 0, 0)


@pytest.mark.parametrize("budget", [{"calls_per_day": 1}, {"tokens_per_day": 24}])
def test_when_the_budget_is_used_up_nothing_is_asked_until_the_next_day(
    calls: Make, clock: Clock, budget: dict[str, int]
) -> None:
    limited = calls(**budget)
    limited.ask(model(), "summary", ASKED, None)
    with pytest.raises(Postponed) as later:
        limited.ask(model(), "summary", ASKED, None)
    assert later.value.for_s == DAY_S - 3600
    assert len(told_by(calls)) == 1
    clock.now += later.value.for_s
    assert limited.ask(model(), "summary", ASKED, None)


def test_without_a_budget_there_is_no_limit(calls: Make) -> None:
    free = calls(calls_per_day=None, tokens_per_day=None)
    for _ in range(3):
        free.ask(model(), "summary", ASKED, None)


def test_a_model_that_does_not_answer_in_time_is_left_alone_until_it_is_done(calls: Make) -> None:
    go_on, begun = threading.Event(), threading.Event()

    def hang(messages: Sequence[ContextMessage], lang: str | None) -> str:
        begun.set()
        go_on.wait(30)
        return "late"

    impatient = calls(timeout_s=0.1)
    with pytest.raises(ModelFailed, match=r"no answer within 0\.1 s"):
        impatient.ask(Model("slow", "chat", hang), "summary", ASKED, None)
    with pytest.raises(ModelFailed, match="still busy"):
        impatient.ask(model(), "summary", ASKED, None)
    go_on.set()
    while impatient._running:
        begun.wait(0.01)
    assert impatient.ask(model("fine"), "summary", ASKED, None) == "fine"


def test_an_answer_that_nobody_wants_any_more_is_not_waited_for(calls: Make) -> None:
    go_on, called_off = threading.Event(), calls()

    def hang(messages: Sequence[ContextMessage], lang: str | None) -> str:
        called_off.is_called_off = lambda: True
        go_on.wait(30)
        return "late"

    with pytest.raises(Postponed):
        called_off.ask(Model("slow", "chat", hang), "summary", ASKED, None)
    assert told_by(calls)[0].outcome == "called off"
    go_on.set()


def test_before_a_call_and_before_its_answer_is_taken_up_somebody_may_still_be_talking(calls: Make) -> None:
    order: list[str] = []
    polite = calls()
    polite.wait_for_quiet = lambda: order.append("quiet")
    answer = Model("m", "chat", lambda messages, lang: order.append("asked") or "fine")
    polite.ask(answer, "summary", ASKED, None)
    assert order == ["quiet", "asked", "quiet"]


def test_a_call_counts_from_its_beginning(calls: Make, store: Store, clock: Clock) -> None:
    seen: list[int] = []
    counting = calls()
    counting.ask(
        Model("m", "chat", lambda messages, lang: seen.append(counting.used().calls) or "fine"), "summary", ASKED, None
    )
    assert seen == [1]


@pytest.mark.parametrize(
    ("leaves", "described"),
    [
        (None, "m, in which no address is found"),
        (False, "m, which asks this device, 127.0.0.1:80"),
        (True, "m, which sends what was said to 127.0.0.1:80"),
    ],
)
def test_a_model_says_where_what_it_is_asked_goes_to(leaves: bool | None, described: str) -> None:
    assert Model("m", "chat", lambda messages, lang: "", "127.0.0.1:80", leaves).described == described
