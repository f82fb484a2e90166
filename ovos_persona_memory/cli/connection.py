"""Connections of a command to the memory and the messagebus."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ovos_persona_memory import config
from ovos_persona_memory.cli.output import degraded_if
from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import NoAnswer, StoreBusy
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.service import date_parser, open_embedder

Memory = MemoryClient | PersonaMemory
Opened = TypeVar("Opened")
END_IT = (
    "if that is the daemon, end it first (systemctl --user stop ovos-persona-memory), and start it again afterwards"
)
BUSY_S = 2.0
"""Maximum wait for another process to close the store, seconds."""


def settings(folder: Path | None) -> MemoryConfig:
    """The settings of this device, with another data folder where one is given; ConfigError as ``config.load``."""
    loaded = config.load()
    return loaded if folder is None else replace(loaded, data_dir=str(folder.expanduser().absolute()))


def url(address: dict[str, Any]) -> str:
    """The address for people."""
    return f"{'wss' if address['ssl'] else 'ws'}://{address['host']}:{address['port']}{address['route']}"


@contextmanager
def open_memory(folder: Path | None, timeout_s: float = 30.0) -> Iterator[Memory]:
    """The memory of a data folder: a client of its daemon, or opened here, under the store's lock, where none runs."""
    chosen = settings(folder)
    with patiently(lambda: _reached(chosen, timeout_s)) as memory:
        if isinstance(memory, MemoryClient):
            degraded_if(lambda: memory.was_degraded)
        yield memory


def patiently(opened: Callable[[], Opened]) -> Opened:
    """The result of ``opened``, tried for a while: another command, or a daemon that starts or ends, closes the store
    soon.

    StoreBusy, which names its holder, where that takes longer.
    """
    deadline, pause = time.monotonic() + BUSY_S, threading.Event()
    while True:
        try:
            return opened()
        except StoreBusy:
            if time.monotonic() > deadline:
                raise
            pause.wait(0.05)


def alone(opened: Callable[[], Opened]) -> Opened:
    """As ``patiently``, for what the daemon cannot do meanwhile: StoreBusy then says how to end it."""
    try:
        return patiently(opened)
    except StoreBusy as error:
        raise StoreBusy(f"{error.reason}: {END_IT}") from error


def _reached(chosen: MemoryConfig, timeout_s: float) -> Memory:
    try:
        return MemoryClient.over_door(chosen.folder, timeout_s)
    except NoAnswer:
        memory = PersonaMemory.open(config=chosen, opener=open_embedder)
        memory.finding.dates, memory.finding.timezone = date_parser.days, config.device_timezone()
        return memory
