"""Deletions wait for ten seconds, can be undone until then, and are carried out after a restart too."""

from __future__ import annotations

import stat
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.web import going
from ovos_persona_memory.web.going import Going


class World:
    """A clock, and what was carried out."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.done: list[tuple[str, Mapping[str, Any]]] = []
        self.carried_out = threading.Event()
        self.fails = 0

    def clock(self) -> float:
        return self.now

    def ask(self, verb: str, data: Mapping[str, Any]) -> None:
        if self.fails:
            self.fails -= 1
            raise OSError("away")
        self.done.append((verb, data))
        self.carried_out.set()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def waits(tmp_path: Path, world: World) -> Iterator[Going]:
    made = Going(tmp_path, world.clock, world.ask)
    yield made
    made.stop()


def let_go_on(waits: Going) -> None:
    with waits._changed:
        waits._changed.notify_all()


def test_a_deletion_is_carried_out_when_its_time_has_come_and_not_before(waits: Going, world: World) -> None:
    made = waits.add("forget", {"ids": ["a", "b"]}, 2)
    assert waits.ids() == {"a", "b"}
    world.now = made.due - 0.1
    let_go_on(waits)
    assert not world.carried_out.wait(0.1)
    world.now = made.due
    let_go_on(waits)
    assert world.carried_out.wait(5)
    assert world.done == [("forget", {"ids": ["a", "b"]})]


def test_what_is_undone_is_not_carried_out(waits: Going, world: World, tmp_path: Path) -> None:
    made = waits.add("forget", {"ids": ["a"]}, 1)
    assert waits.undo(made.id)
    assert not waits.undo(made.id)
    world.now = made.due + 1
    let_go_on(waits)
    assert not world.carried_out.wait(0.1)
    assert waits.waiting() == []
    assert not (tmp_path / going.FILE).exists()


def test_what_waits_is_carried_out_after_a_restart(waits: Going, world: World, tmp_path: Path) -> None:
    waits.add("session.clear", {"scope": {"session_id": "s", "user_id": "ada"}}, 0)
    assert waits.sessions() == {("ada", "s")}
    assert stat.S_IMODE((tmp_path / going.FILE).stat().st_mode) == 0o600
    waits.stop()
    world.now += 3600
    again = Going(tmp_path, world.clock, world.ask)
    again.start()
    assert world.carried_out.wait(5)
    again.stop()
    assert world.done[0][0] == "session.clear"


def test_what_fails_is_tried_again(waits: Going, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(going, "AGAIN_S", 0.01)
    world.fails = 2
    world.now = waits.add("forget", {"ids": ["a"]}, 1).due
    let_go_on(waits)
    assert world.carried_out.wait(5)
    assert len(world.done) == 1


def test_a_damaged_file_of_what_waits_stops_nothing(tmp_path: Path, world: World) -> None:
    (tmp_path / going.FILE).write_bytes(b"{")
    assert Going(tmp_path, world.clock, world.ask).waiting() == []
