"""Memories and plugins of personas for the promises of the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.plugins import plugin as plugin

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory

Open = Callable[..., PersonaMemory]


class Clock:
    """A clock that stands until it is set; each look moves it by a millisecond, so that nothing is at once."""

    def __init__(self) -> None:
        self.now = 1_795_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "inmemory"])
def backend(request: pytest.FixtureRequest) -> str:
    """The stores that need no server."""
    return str(request.param)


@pytest.fixture
def opened(backend: str, tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Opens the memory of this test with the given settings: ``opened(history={...})``."""
    with ExitStack() as stack:

        def open_it(**section: object) -> PersonaMemory:
            usual = {"data_dir": str(tmp_path / "data"), "backend": backend, "recall": {"embedder": "none"}}
            return stack.enter_context(PersonaMemory.open(config=parse({**usual, **section}), clock=clock))

        yield open_it


@pytest.fixture
def memory(opened: Open) -> PersonaMemory:
    """A memory with the usual settings."""
    return opened()


@pytest.fixture
def reopened(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Opens a memory on disk, after closing the one that it opened before."""
    with ExitStack() as stack:

        def open_it(**section: object) -> PersonaMemory:
            stack.pop_all().close()
            usual = {"data_dir": str(tmp_path / "kept"), "recall": {"embedder": "none"}}
            return stack.enter_context(PersonaMemory.open(config=parse({**usual, **section}), clock=clock))

        yield open_it
