"""What comes in a crowd is learned from in a quiet moment: once, also after a restart, never where it was forgotten."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import pytest

from ovos_persona_memory.config import FactsConfig, IdentityConfig, MemoryConfig
from ovos_persona_memory.errors import PersonaMemoryError, StoreError
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.learning import learner
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.postgres.store import open_postgres

HERE = Scope(session_id="s")
CAT, HOME = "my cat is called Bob", "I live in Lisbon"


def opened(store: Store) -> PersonaMemory:
    return PersonaMemory(store, MemoryConfig())


def say_together(memory: PersonaMemory, *texts: str) -> list[str]:
    with memory.transaction(crowded=True):
        ids = [memory.record([Turn("user", text, lang="en-US")], HERE)[0] for text in texts]
    memory.sync()
    return ids


def say_at_once(memory: PersonaMemory, text: str) -> None:
    memory.record([Turn("user", text, lang="en-US")], HERE)


def known(memory: PersonaMemory) -> list[str]:
    return sorted(fact.text for fact in memory.facts.list(Scope()))


def idle(memory: PersonaMemory) -> None:
    for _ in range(200):
        if not memory.tidy():
            return
    raise AssertionError("it never comes to an end")


def test_a_crowd_is_learned_from_in_a_quiet_moment(store: Store) -> None:
    memory = opened(store)
    say_together(memory, CAT, "what time is it", HOME)
    assert known(memory) == []
    idle(memory)
    assert known(memory) == sorted([HOME, CAT])
    late = memory.facts.take_learned_late()
    assert list(late) == ["s"] and len(late["s"]) == 2
    assert memory.facts.take_learned_late() == {} and memory.transcript.learned == []


def test_without_a_crowd_it_is_learned_at_once(store: Store) -> None:
    memory = opened(store)
    memory.record([Turn("user", CAT, lang="en-US")], HERE)
    assert known(memory) == [CAT]


def test_nothing_overtakes_what_waits(store: Store) -> None:
    memory = opened(store)
    say_together(memory, HOME)
    memory.record([Turn("user", "I live in Porto", lang="en-US")], HERE)
    assert known(memory) == ["I live in Porto"]
    story = memory.facts.history(memory.facts.list(Scope())[0].id, Scope())
    assert sorted(change.what for change in story.changes) == ["learned", "learned", "superseded"]


def test_what_waits_for_a_quiet_moment_is_no_part_of_the_commit_that_keeps_it(store: Store) -> None:
    memory = opened(store)
    memory.learns_later = True
    memory.record([Turn("user", CAT, lang="en-US")], HERE)
    assert known(memory) == ([] if memory.transcript.backlog.may_grow else [CAT])
    idle(memory)
    assert known(memory) == [CAT]


def test_learning_gives_way_to_whoever_asks(store: Store) -> None:
    memory = opened(store)
    if not memory.transcript.backlog.may_grow:
        pytest.skip("here everything is learned at once")
    say_together(memory, HOME, CAT)
    assert memory.tidy(lambda: True)
    assert known(memory) == [HOME]
    idle(memory)
    assert known(memory) == sorted([HOME, CAT])


def test_a_failure_is_told_though_learning_gives_way(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opened(store)
    say_together(memory, HOME, CAT)
    with monkeypatch.context() as failing:
        failing.setattr(learner, "extract", recursing)
        with pytest.raises(PersonaMemoryError, match="RecursionError"):
            memory.tidy(lambda: True)
    idle(memory)
    assert known(memory) == [CAT], "the one that failed is left out, the other is learned from"


def recursing(*_: Any) -> Any:
    raise RecursionError


def test_many_threads_record_and_everything_is_learned_once(store: Store) -> None:
    memory = opened(store)
    texts = [f"my favourite number is {number}" for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda text: say_at_once(memory, text), texts))
    idle(memory)
    decided = Counter(one.turn_id for one in memory.facts.decisions(Scope(), limit=1000))
    assert len(decided) == len(texts)
    assert set(decided.values()) == {1}


def test_nothing_is_read_of_a_turn_while_the_store_is_held(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opened(store)
    if not memory.transcript.backlog.may_grow:
        pytest.skip("here everything is learned at once")
    judged, others = learner.extract, list[Any]()

    def asked_meanwhile(turn: Turn, *rest: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            others.append(pool.submit(memory.history, HERE, hanging=True).result(timeout=10))
        return judged(turn, *rest)

    monkeypatch.setattr(learner, "extract", asked_meanwhile)
    say_at_once(memory, CAT)
    assert [[message.text for message in one] for one in others] == [[CAT]]
    assert known(memory) == [CAT]


def test_settling_learns_from_everything_that_waits(store: Store) -> None:
    memory = opened(store)
    say_together(memory, HOME, *["good morning"] * 150, CAT)
    memory.facts.settle()
    assert known(memory) == sorted([HOME, CAT])
    assert not memory.transcript.backlog.catch_up()


def test_what_waited_is_learned_from_after_a_restart(store: Store, open_again: Callable[[], Store]) -> None:
    memory = opened(store)
    memory.record([Turn("user", "hello there", lang="en-US")], HERE)
    say_together(memory, *["good morning"] * 80, CAT)
    again = opened(open_again())
    assert known(again) == []
    idle(again)
    assert known(again) == [CAT]
    story = again.facts.history(again.facts.list(Scope())[0].id, Scope())
    assert [change.what for change in story.changes] == ["learned"]


def test_what_somebody_else_said_waits_for_a_restart_too(store: Store, open_again: Callable[[], Store]) -> None:
    memory = opened(store)
    with memory.transaction(crowded=True):
        memory.record([Turn("user", CAT, lang="en-US")], Scope(session_id="s", user_id="u_7"))
    again = opened(open_again())
    again.facts.settle()
    assert [fact.text for fact in again.facts.list(Scope(user_id="u_7"))] == [CAT]
    assert known(again) == []


def test_what_was_learned_from_is_not_learned_from_again(store: Store, open_again: Callable[[], Store]) -> None:
    memory = opened(store)
    say_together(memory, CAT)
    idle(memory)
    again = opened(open_again())
    again.facts.settle()
    assert again.facts.take_learned_late() == {}
    assert known(again) == [CAT]


def test_what_is_forgotten_meanwhile_is_never_learned(store: Store) -> None:
    memory = opened(store)
    ids = say_together(memory, CAT, HOME)
    assert memory.forget(Scope(), ids=[ids[0]]) == 1
    idle(memory)
    assert known(memory) == [HOME]


def test_a_turn_from_which_nothing_can_be_learned_holds_up_no_other(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = opened(store)
    say_together(memory, HOME, "this one breaks", CAT)
    judged = learner.extract

    def broken(turn: Turn, *rest: Any) -> Any:
        if "breaks" in turn.text:
            raise RecursionError
        return judged(turn, *rest)

    monkeypatch.setattr(learner, "extract", broken)
    with pytest.raises(PersonaMemoryError, match="RecursionError"):
        memory.tidy()
    idle(memory)
    assert known(memory) == sorted([HOME, CAT])
    assert len(memory.facts.take_learned_late()["s"]) == 2


def test_while_the_store_fails_everything_waits(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opened(store)
    say_together(memory, CAT)
    with monkeypatch.context() as failing:
        failing.setattr(learner, "extract", refused)
        with pytest.raises(StoreError):
            memory.tidy()
    idle(memory)
    assert known(memory) == [CAT]


def refused(*_: Any) -> Any:
    raise StoreError("the disk is gone")


def test_a_crowd_that_is_undone_leaves_nothing_to_learn(store: Store) -> None:
    memory = opened(store)
    try:
        with memory.transaction(crowded=True):
            memory.record([Turn("user", CAT, lang="en-US")], HERE)
            raise KeyError
    except KeyError:
        idle(memory)
    assert known(memory) == []
    say_together(memory, HOME)
    idle(memory)
    assert known(memory) == [HOME]


def test_a_crowd_within_a_crowd_is_a_part_of_it(store: Store, open_again: Callable[[], Store]) -> None:
    memory = opened(store)
    with memory.transaction(crowded=True):
        say_at_once(memory, HOME)
        with memory.transaction():
            say_at_once(memory, CAT)
    assert known(memory) == []
    again = opened(open_again())
    idle(again)
    assert known(again) == sorted([HOME, CAT])


def test_without_a_list_of_what_waits_nothing_is_put_off_where_other_devices_write_too(store: Store) -> None:
    assert opened(store).transcript.backlog.may_grow is (not store.shared or store.unlearned is not None)


# several devices


@pytest.fixture
def two(postgres: Callable[[], str]) -> Iterator[tuple[PersonaMemory, PersonaMemory]]:
    """Two devices with one PostgreSQL; for the first of them Tom is a child."""
    url = postgres()
    careful = MemoryConfig(identity=IdentityConfig(children={"u_7": ("u_1",)}))
    with ExitStack() as stack:
        stores = [stack.enter_context(closing(open_postgres(url))) for _ in range(2)]
        yield PersonaMemory(stores[0], careful), PersonaMemory(stores[1], MemoryConfig())


Two = tuple[PersonaMemory, PersonaMemory]


@pytest.mark.full
def test_a_crowd_is_learned_from_by_one_device_alone_on_postgres(two: Two) -> None:
    here, there = two
    say_together(here, CAT)
    say_together(there, HOME)
    idle(there)
    assert known(here) == sorted([HOME, CAT])
    here.facts.settle()
    idle(here)
    story = [here.facts.history(fact.id, Scope()) for fact in here.facts.list(Scope())]
    assert [change.what for one in story for change in one.changes] == ["learned", "learned"]
    assert here.facts.take_learned_late() == {}


@pytest.mark.full
def test_devices_learn_from_each_turn_once_on_postgres(two: Two) -> None:
    texts = [f"my favourite number is {number}" for number in range(150)]
    say_together(two[0], *texts)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(idle, two))
    decided = Counter(one.turn_id for one in two[0].facts.decisions(Scope(), limit=1000))
    assert len(decided) == len(texts)
    assert set(decided.values()) == {1}


@pytest.mark.full
def test_what_a_child_said_waits_for_review_with_others_on_postgres(two: Two) -> None:
    here, there = two
    said_by_tom = Scope(session_id="s", user_id="u_7")
    with here.transaction(crowded=True):
        here.record([Turn("user", CAT, lang="en-US")], said_by_tom)
    idle(there)
    assert [fact.text for fact in there.facts.list(Scope(user_id="u_7"))] == []
    assert [fact.text for fact in there.facts.list(Scope(user_id="u_7"), status="waiting")] == [CAT]


@pytest.mark.full
def test_what_others_heard_is_left_to_them_on_postgres(postgres: Callable[[], str]) -> None:
    url = postgres()
    with closing(open_postgres(url)) as one, closing(open_postgres(url)) as other:
        here = PersonaMemory(one, MemoryConfig())
        deaf = PersonaMemory(other, MemoryConfig(facts=FactsConfig(learn=False)))
        say_together(here, CAT)
        idle(deaf)
        say_together(deaf, HOME)
        idle(here)
        assert known(here) == [CAT]


KILLED = """
import os, signal, sys
from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.memory.persona_memory import PersonaMemory
from ovos_persona_memory.records.core import Scope, Turn
from ovos_persona_memory.stores.postgres.store import open_postgres

memory = PersonaMemory(open_postgres(sys.argv[1]), MemoryConfig())
with memory.transaction(crowded=True):
    for text in sys.argv[2:]:
        memory.record([Turn("user", text, lang="en-US")], Scope(session_id="s"))
memory.sync()
print("acknowledged", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.full
def test_what_a_killed_device_had_acknowledged_is_learned_from_by_others_on_postgres(
    postgres: Callable[[], str],
) -> None:
    url = postgres()
    with closing(open_postgres(url)) as store:
        there = PersonaMemory(store, MemoryConfig())
        command = [sys.executable, "-c", KILLED, url, CAT, "good morning", HOME]
        killed = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "acknowledged\n"), killed.stderr
        idle(there)
        assert known(there) == sorted([HOME, CAT])
