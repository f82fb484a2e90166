"""The daemon as a process."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from typing import ClassVar

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.service import process


@pytest.fixture
def process_state() -> Iterator[None]:
    """What a daemon changes of its process is put back."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    interval = sys.getswitchinterval()
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    sys.setswitchinterval(interval)
    gc.unfreeze()
    gc.enable()


class DaemonThatIsStopped:
    """Notes whether the collector is on; a signal ends it as soon as it is ready."""

    seen: ClassVar[list[bool]] = []

    def __init__(self, *_: object, **__: object) -> None:
        self.seen.clear()

    def start(self) -> None:
        self.seen.append(gc.isenabled())
        os.kill(os.getpid(), signal.SIGTERM)

    def stop(self) -> None:
        self.seen.append(gc.isenabled())


@pytest.mark.usefixtures("process_state")
def test_the_collector_waits_until_the_daemon_is_ready_and_works_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "Daemon", DaemonThatIsStopped)
    gc.disable()  # as the command line does before it imports anything
    process.run(MemoryConfig())
    assert DaemonThatIsStopped.seen == [False, True]
