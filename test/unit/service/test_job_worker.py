"""The threads that do jobs: only while nobody talks, and never at the cost of the worker."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from ovos_persona_memory.config import ModelsConfig, parse
from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.memory import Call, Model, PersonaMemory
from ovos_persona_memory.memory.tidying import Job
from ovos_persona_memory.records import ContextMessage, ContextRequest, Scope, Turn
from ovos_persona_memory.service import job_worker
from ovos_persona_memory.service.job_worker import JobWorker, tell

HERE = Scope(session_id="s1")
WAIT_S = 20.0


@pytest.fixture
def memory() -> Iterator[PersonaMemory]:
    history = {"strategy": "summary", "summary_threshold": 6, "window_size": 4}
    with PersonaMemory.open(config=parse({"backend": "inmemory", "history": history})) as opened:
        yield opened


@pytest.fixture
def start(memory: PersonaMemory) -> Iterator[Callable[..., JobWorker]]:
    started: list[JobWorker] = []

    def begin(**settings: object) -> JobWorker:
        made = JobWorker(lambda: memory, ModelsConfig(**{"quiet_s": 0.0, **settings}))  # type: ignore[arg-type]
        started.append(made)
        made.serve(memory)
        made.start()
        return made

    yield begin
    for worker in started:
        worker.stop()


def talk(memory: PersonaMemory, worker: JobWorker) -> None:
    for number in range(4):
        worker.talked()  # it is told when a request comes in, before that is committed
        memory.record([Turn("user", f"question {number}"), Turn("assistant", f"answer {number}")], HERE)


def summarised(memory: PersonaMemory) -> bool:
    pause = threading.Event()
    for _ in range(int(WAIT_S / 0.02)):
        if memory.snapshot(HERE)["summary"]:
            return True
        pause.wait(0.02)
    return False


def test_a_job_is_done_in_the_background(memory: PersonaMemory, start: Callable[..., JobWorker]) -> None:
    talk(memory, start())
    assert summarised(memory)


def test_what_is_committed_when_the_thread_has_looked_already_is_found_by_it(
    memory: PersonaMemory, start: Callable[..., JobWorker], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, due_in_s = threading.Semaphore(0), memory.jobs.due_in_s

    def count() -> float | None:
        due = due_in_s()
        looked.release()
        return due

    monkeypatch.setattr(memory.jobs, "due_in_s", count)
    worker = start()
    assert looked.acquire(timeout=WAIT_S), "it does not look at its start"
    worker.talked()
    looked.acquire(timeout=0.2)  # should it look now, it is done with that before anything is recorded
    with memory.transaction():
        for number in range(4):
            memory.record([Turn("user", f"question {number}"), Turn("assistant", f"answer {number}")], HERE)
        assert not looked.acquire(timeout=0.2), "it looks for what is not committed"
    assert summarised(memory)


def test_a_session_that_a_persona_wants_summarised_is_found_when_it_asks() -> None:
    with PersonaMemory.open(config=parse({"backend": "inmemory"})) as unset:
        wakes: list[str] = []
        unset.tidying.wanted = lambda: wakes.append("woken")
        unset.record([Turn("user", "question"), Turn("assistant", "answer")], HERE)
        assert wakes == []
        unset.context(ContextRequest("and now", HERE, recall=0, strategy="summary"))
        assert wakes == ["woken"]


def test_a_session_is_not_lost_where_the_store_fails_while_it_is_looked_at(
    memory: PersonaMemory, start: Callable[..., JobWorker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_worker, "AGAIN_S", 0.01)
    add, failed = memory.jobs.add, list[Exception]()

    def fail_once(job: Job) -> None:
        if not failed:
            failed.append(StoreError("away"))
            raise failed[0]
        add(job)

    monkeypatch.setattr(memory.jobs, "add", fail_once)
    talk(memory, start())
    assert summarised(memory) and failed


def test_after_each_job_it_is_said_that_something_was_done(memory: PersonaMemory) -> None:
    told = threading.Semaphore(0)
    worker = JobWorker(lambda: memory, ModelsConfig(quiet_s=0.0), done=told.release)
    worker.serve(memory)
    worker.start()
    talk(memory, worker)
    assert told.acquire(timeout=WAIT_S) and summarised(memory)
    worker.stop()
    assert not told.acquire(blocking=False)


def test_a_job_begins_when_nobody_has_talked_for_a_while(
    memory: PersonaMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    worker = JobWorker(lambda: memory, ModelsConfig(quiet_s=3600.0))
    worker.serve(memory)
    worker.talked()

    def time_passes(left_s: float) -> bool:
        happened.append(f"waits {left_s:.0f} s")
        worker._talked_at -= left_s
        return False

    monkeypatch.setattr(worker._ended, "wait", time_passes)
    monkeypatch.setattr(memory, "work", lambda: happened.append("works"))
    worker._work()
    assert happened == ["waits 3600 s", "works"]


def test_at_the_end_nobody_waits_for_a_model(memory: PersonaMemory, start: Callable[..., JobWorker]) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def hang(messages: Sequence[ContextMessage], lang: str | None) -> str:
        asked.set()
        go_on.wait(60)
        return "too late"

    memory.models["summary"] = Model("slow", "chat", hang)
    worker = start()
    talk(memory, worker)
    assert asked.wait(WAIT_S)
    worker.stop()
    assert not any(thread.is_alive() for thread in worker._threads)
    go_on.set()
    assert (len(memory.jobs.waiting()), memory.snapshot(HERE)["summary"]) == (1, None)


def test_the_end_comes_also_while_people_talk(memory: PersonaMemory, start: Callable[..., JobWorker]) -> None:
    worker = start(quiet_s=3600.0)
    talk(memory, worker)
    worker.stop()
    assert not any(thread.is_alive() for thread in worker._threads)


def test_a_store_that_fails_ends_no_thread(
    memory: PersonaMemory, start: Callable[..., JobWorker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_worker, "AGAIN_S", 0.01)
    work, failed = memory.work, list[Exception]()

    def fail_twice() -> bool:
        if len(failed) < 2:
            failed.append(StoreError("away") if failed else ValueError("inside"))
            raise failed[-1]
        return work()

    monkeypatch.setattr(memory, "work", fail_twice)
    talk(memory, start())
    assert summarised(memory) and len(failed) == 2


def test_a_model_that_is_not_there_is_said_once(
    memory: PersonaMemory, start: Callable[..., JobWorker], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(job_worker.LOG, "error", lambda text, *values: said.append(text % values))
    worker = JobWorker(lambda: memory, ModelsConfig(summary="nobody"))
    for _ in range(2):
        worker._load(memory)
    assert len(said) == 1 and "there is no plugin named 'nobody'" in said[0]


def test_what_was_said_is_logged_for_whoever_looks_for_a_fault_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: dict[str, list[str]] = {"info": [], "debug": []}
    for level, kept in lines.items():
        monkeypatch.setattr(job_worker.LOG, level, lambda text, *values, kept=kept: kept.append(text % values))
    tell(Call("summary", "some-plugin", "failed", 1.25, 10, 0, "OSError", "the cat is called Bob"))
    assert lines["info"] == [
        "asked some-plugin for summary: failed after 1.2 s, 10 tokens asked and 0 answered: OSError"
    ]
    assert "Bob" in lines["debug"][0]
