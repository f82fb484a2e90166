"""The queue of jobs: what waits, what is tried again, what two at work leave to each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ovos_persona_memory.errors import PersonaMemoryError, StoreError
from ovos_persona_memory.memory.tidying.jobs import FIRST_RETRY_S, IN_HAND_S, LONGEST_RETRY_S, Job, JobQueue, Postponed
from ovos_persona_memory.stores import open_store
from ovos_persona_memory.stores.base.store import Store


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> Store:
    return open_store("inmemory", None)


@pytest.fixture
def queue(store: Store, clock: Clock) -> JobQueue:
    return JobQueue(store, clock)


def job(session: str = "s1", **fields: object) -> Job:
    return Job("summary", "household", session, **fields)  # type: ignore[arg-type]  # its own fields


def noting(done: list[str]) -> Callable[[Job], None]:
    return lambda one: done.append(one.session_id)


def failing(error: Exception) -> Callable[[Job], None]:
    def fail(_: Job) -> None:
        raise error

    return fail


def test_jobs_are_done_in_the_order_in_which_they_came_and_each_once(queue: JobQueue, clock: Clock) -> None:
    for session in ("a", "b", "c"):
        queue.add(job(session))
        clock.now += 1
    done: list[str] = []
    while queue.step({"summary": noting(done)}):
        pass
    assert done == ["a", "b", "c"]
    assert (queue.waiting(), queue.due_in_s()) == ([], None)


def test_a_session_has_one_job_of_a_kind_with_the_newest_numbers(queue: JobQueue) -> None:
    queue.add(job(detail={"kept": 1}))
    queue.add(job(detail={"kept": 2}))
    queue.add(Job("other", "household", "s1"))
    assert [(one.kind, one.detail) for one in queue.waiting()] == [("summary", {"kept": 2}), ("other", {})]


def test_a_failed_job_waits_twice_as_long_each_time_and_never_longer_than_an_hour(
    queue: JobQueue, clock: Clock
) -> None:
    queue.add(job())
    waits: list[float] = []
    for _ in range(12):
        assert queue.step({"summary": failing(PersonaMemoryError("no answer"))})
        assert not queue.step({"summary": noting([])})
        waits.append(queue.due_in_s() or 0.0)
        clock.now += waits[-1]
    assert waits[:3] == [FIRST_RETRY_S, 2 * FIRST_RETRY_S, 4 * FIRST_RETRY_S]
    assert waits[-1] == LONGEST_RETRY_S
    [waiting] = queue.waiting()
    assert (waiting.attempts, waiting.problem) == (12, "no answer")


def test_what_cannot_be_done_now_is_no_failure(queue: JobQueue, clock: Clock) -> None:
    queue.add(job())
    queue.step({"summary": failing(Postponed("paused", 60.0))})
    assert (queue.waiting()[0].attempts, queue.due_in_s()) == (0, 60.0)


def test_a_job_that_nobody_here_can_do_waits(queue: JobQueue) -> None:
    queue.add(job())
    assert queue.step({})
    assert [one.problem for one in queue.waiting()] == ["nobody does such jobs here"]


def test_where_the_store_fails_the_job_is_tried_again_at_once_when_it_can(queue: JobQueue) -> None:
    queue.add(job())
    with pytest.raises(StoreError):
        queue.step({"summary": failing(StoreError("away"))})
    done: list[str] = []
    assert queue.step({"summary": noting(done)}) and done == ["s1"]


def test_what_one_thread_has_in_hand_another_leaves_to_it(queue: JobQueue, clock: Clock) -> None:
    queue.add(job())
    seen: list[object] = []

    def meanwhile(_: Job) -> None:
        clock.now += 10 * IN_HAND_S
        seen.extend([queue.step({"summary": noting([])}), queue.due_in_s()])

    assert queue.step({"summary": meanwhile})
    assert seen == [False, None]


def test_a_job_that_is_dropped_while_it_is_done_does_not_come_back(queue: JobQueue) -> None:
    queue.add(job())

    def forgotten_meanwhile(_: Job) -> None:
        assert queue.keep(lambda one: False)
        raise PersonaMemoryError("no answer")

    queue.step({"summary": forgotten_meanwhile})
    assert queue.waiting() == []
    assert not queue.keep(lambda one: False)


def test_what_an_ended_process_had_in_hand_is_free_at_once_where_nobody_else_works(
    store: Store, queue: JobQueue, clock: Clock
) -> None:
    queue.add(job())
    done: list[str] = []
    queue.step({"summary": lambda _: done.append(str(JobQueue(store, clock).step({"summary": noting(done)})))})
    assert done == ["s1", "True"]  # a second process would have taken it: the store is not shared


def test_what_another_device_has_in_hand_is_left_to_it_for_a_while(
    store: Store, queue: JobQueue, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "shared", True)
    other, done = JobQueue(store, clock), list[str]()
    queue.add(job())

    def killed(_: Job) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        other.step({"summary": killed})
    assert not queue.step({"summary": noting(done)}) and queue.due_in_s() == IN_HAND_S
    clock.now += IN_HAND_S
    assert queue.step({"summary": noting(done)}) and done == ["s1"]


def test_a_job_waits_for_another_time_only_while_it_is_not_due(queue: JobQueue, clock: Clock) -> None:
    queue.move(job(not_before=clock.now + 60))
    queue.move(job(not_before=clock.now + 90))
    assert queue.due_in_s() == 90
    queue.move(job())
    queue.move(job(not_before=clock.now + 90))
    assert queue.due_in_s() == 0
    queue.step({"summary": failing(Postponed("paused", 30.0))})
    queue.move(job(not_before=clock.now + 90))
    assert queue.due_in_s() == 30
