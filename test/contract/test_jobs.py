"""On every store: jobs wait over a restart, and summaries lose nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import Model, PersonaMemory
from ovos_persona_memory.memory.tidying import Job, JobQueue, ModelCalls
from ovos_persona_memory.records import ContextMessage, Scope, Turn
from ovos_persona_memory.stores.base.store import Store

HERE = Scope(session_id="s1")
MARK = "xylophonequartz"
NOW = 1_795_298_400.0
HISTORY = {"strategy": "summary", "summary_threshold": 6, "window_size": 4, "max_age_s": 1e12}
CONFIG = parse({"history": HISTORY, "recall": {"embedder": "none"}})
Left = Callable[[str], list[str]]


class Clock:
    now = NOW

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def on(store: Store, clock: Clock, answer: Callable[[], str]) -> PersonaMemory:
    """A memory on a store that stays open, with a model that answers what is told here."""
    memory = PersonaMemory(store, CONFIG, clock)

    def say(messages: Sequence[ContextMessage], lang: str | None) -> str:
        return answer()

    memory.models["summary"] = Model("told", "summarizer", say)
    return memory


def talk(memory: PersonaMemory, rounds: int, begin: int = 0) -> list[str]:
    ids: list[str] = []
    for number in range(begin, begin + rounds):
        ids += memory.record([Turn("user", f"question {number}"), Turn("assistant", f"answer {number}")], HERE)
    return ids


def shown(memory: PersonaMemory) -> list[str]:
    return [one.text for one in memory.history(HERE, max_history=100)]


def texts(numbers: range) -> list[str]:
    return [f"{kind} {number}" for number in numbers for kind in ("question", "answer")]


def fail() -> str:
    raise OSError


def test_jobs_and_the_budget_are_there_after_a_restart(store: Store, open_again: Callable[[], Store]) -> None:
    clock = Clock()
    queue, calls = JobQueue(store, clock), ModelCalls(store, clock, CONFIG.models)
    queue.add(Job("summary", "household", "s1", {"kept": 4}))
    calls.ask(Model("m", "chat", lambda messages, lang: "fine"), "summary", [ContextMessage("user", "hello")], None)
    waiting, used = queue.waiting(), calls.used()
    again = open_again()
    assert JobQueue(again, clock).waiting() == waiting and len(waiting) == 1
    assert ModelCalls(again, clock, CONFIG.models).used() == used and used.calls == 1


def test_what_failed_is_summarised_after_a_restart_and_nothing_is_lost(
    store: Store, open_again: Callable[[], Store]
) -> None:
    clock = Clock()
    memory = on(store, clock, fail)
    talk(memory, 8)
    assert memory.work() and not memory.work()
    assert shown(memory) == texts(range(8))
    clock.now += 60
    memory = on(open_again(), clock, lambda: "they talked")
    assert memory.work()
    assert memory.snapshot(HERE)["summary"] == "they talked"
    assert shown(memory) == texts(range(6, 8))
    memory = on(open_again(), clock, fail)
    assert (memory.snapshot(HERE)["summary"], shown(memory)) == ("they talked", texts(range(6, 8)))


def test_a_summary_and_a_job_go_with_what_they_tell_of(store: Store, left_in_files: Left) -> None:
    clock = Clock()
    memory = on(store, clock, lambda: f"they talked of {MARK}")
    ids = talk(memory, 4)
    assert memory.work()
    assert MARK in str(memory.snapshot(HERE)["summary"])
    memory.models["summary"] = Model("told", "summarizer", lambda messages, lang: fail())
    talk(memory, 4, begin=4)
    memory.work()
    assert memory.jobs.waiting()
    memory.forget(HERE, ids=ids[:1])
    assert memory.snapshot(HERE)["summary"] is None
    assert left_in_files(MARK) == []
    assert shown(memory)[0] == "question 1"
    memory.forget(Scope(), everything=True)
    assert memory.jobs.waiting() == []
