"""The stable OVOS line as processes: a real messagebus 0.0.10 and a memory daemon on it, which end with the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.servers.bus import Bus, Daemon, Wire
from support.servers.ports import free_port


@pytest.fixture(scope="session")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bus]:
    """The messagebus that all tests share."""
    running = Bus(tmp_path_factory.mktemp("bus"), free_port())
    yield running
    running.end()


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory, bus: Bus) -> Iterator[Daemon]:
    """The daemon that all tests share; each test talks in sessions of its own."""
    folder = tmp_path_factory.mktemp("daemon")
    running = Daemon(folder, folder / "data", bus.port).wait_ready()
    yield running
    running.end()


@pytest.fixture
def wire(daemon: Daemon, bus: Bus) -> Iterator[Wire]:
    """A bare connection to the bus: what it sends arrives in that order."""
    with Wire(bus.port) as connected:
        yield connected
