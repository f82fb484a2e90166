"""What tells of something written leaves when the disk has it, and not before."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from ovos_persona_memory.errors import PersonaMemoryError, StoreError
from ovos_persona_memory.service.durable_replies import Acknowledging

SOON_S = 10.0


class Disk:
    """A disk that takes things in when it is let."""

    def __init__(self) -> None:
        self.begun, self.may = threading.Event(), threading.Event()
        self.waits = 0
        self.failure: Exception | None = None

    def sync(self) -> None:
        self.waits += 1
        self.begun.set()
        assert self.may.wait(SOON_S)
        if self.failure is not None:
            raise self.failure


class Left:
    """What left, in order, with why it failed."""

    def __init__(self) -> None:
        self.all: list[tuple[str, PersonaMemoryError | None]] = []
        self._changed = threading.Condition()

    def note(self, name: str, failure: PersonaMemoryError | None) -> None:
        with self._changed:
            self.all.append((name, failure))
            self._changed.notify_all()

    def wait(self, count: int) -> list[str]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.all) >= count, SOON_S)
            return [name for name, _ in self.all]


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def answers(disk: Disk) -> Iterator[Acknowledging]:
    started = Acknowledging(disk.sync)
    started.start()
    yield started
    disk.may.set()
    started.stop(SOON_S)


def test_what_tells_of_nothing_written_leaves_at_once(answers: Acknowledging, disk: Disk) -> None:
    left = Left()
    answers.add(lambda failure: left.note("read", failure), written=False)
    assert left.all == [("read", None)] and disk.waits == 0


def test_what_was_written_waits_for_the_disk_and_nothing_overtakes_it(answers: Acknowledging, disk: Disk) -> None:
    left = Left()
    answers.add(lambda failure: left.note("written", failure), written=True)
    assert disk.begun.wait(SOON_S)
    answers.add(lambda failure: left.note("read", failure), written=False)
    assert left.all == []
    disk.may.set()
    assert left.wait(2) == ["written", "read"]


def test_one_wait_serves_all_that_came_meanwhile(answers: Acknowledging, disk: Disk) -> None:
    left = Left()
    names = [f"{number}" for number in range(20)]
    for name in names:
        answers.add(lambda failure, name=name: left.note(name, failure), written=True)
        assert disk.begun.wait(SOON_S)
    disk.may.set()
    assert left.wait(20) == names
    assert disk.waits == 2


@pytest.mark.parametrize("raised", [StoreError("the disk is gone"), OSError("odd")])
def test_where_the_disk_fails_only_what_was_written_is_told_so(
    answers: Acknowledging, disk: Disk, raised: Exception
) -> None:
    left = Left()
    disk.failure = raised
    answers.add(lambda failure: left.note("written", failure), written=True)
    assert disk.begun.wait(SOON_S)
    answers.add(lambda failure: left.note("read", failure), written=False)
    disk.may.set()
    left.wait(2)
    failures = dict(left.all)
    assert isinstance(failures["written"], PersonaMemoryError) and failures["read"] is None


def test_what_is_done_between_replies_comes_after_those_that_are_held_back(answers: Acknowledging, disk: Disk) -> None:
    left = Left()
    answers.add(lambda failure: left.note("written", failure), written=True)
    assert disk.begun.wait(SOON_S)
    between = threading.Thread(target=answers.stop_for, args=[lambda: left.note("between", None)])
    between.start()
    assert left.all == []
    disk.may.set()
    assert left.wait(2) == ["written", "between"]
    between.join(SOON_S)
    answers.stop_for(lambda: left.note("again", None))
    assert left.wait(3)[-1] == "again"


def test_an_answer_that_cannot_be_sent_keeps_back_no_other(answers: Acknowledging, disk: Disk) -> None:
    left = Left()

    def gone(_: PersonaMemoryError | None) -> None:
        raise OSError("the visitor has left")

    disk.may.set()
    answers.add(gone, written=True)
    answers.add(lambda failure: left.note("next", failure), written=True)
    assert left.wait(1) == ["next"]


def test_stopping_lets_everything_leave_first(disk: Disk) -> None:
    left = Left()
    answers = Acknowledging(disk.sync)
    answers.start()
    disk.may.set()
    for number in range(5):
        answers.add(lambda failure, number=number: left.note(f"{number}", failure), written=True)
    answers.stop(SOON_S)
    assert [name for name, _ in left.all] == ["0", "1", "2", "3", "4"]
