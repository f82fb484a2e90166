"""How a command reaches the memory and the messagebus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ovos_bus_client.conf import load_message_bus_config

from ovos_persona_memory import config
from ovos_persona_memory.client import MemoryClient
from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import NoAnswer
from ovos_persona_memory.memory import PersonaMemory


def settings(folder: Path | None) -> MemoryConfig:
    """The settings of this device, with another data folder where one is given; ConfigError as ``config.load``."""
    loaded = config.load()
    return loaded if folder is None else replace(loaded, data_dir=str(folder.expanduser().absolute()))


def bus_address(host: str | None, port: int | None) -> dict[str, Any]:
    """Where the messagebus is: host, port, route and ssl as ovos-config says, unless given."""
    configured: dict[str, Any] = load_message_bus_config()._asdict()
    return configured | ({"host": host} if host else {}) | ({"port": port} if port else {})


def url(address: dict[str, Any]) -> str:
    """The address for people."""
    return f"{'wss' if address['ssl'] else 'ws'}://{address['host']}:{address['port']}{address['route']}"


@contextmanager
def open_memory(folder: Path | None) -> Iterator[MemoryClient | PersonaMemory]:
    """The memory of a data folder: asked of its daemon, or opened here, under the store's lock, where none runs."""
    chosen = settings(folder)
    with _reached(chosen) as memory:
        yield memory


def _reached(chosen: MemoryConfig) -> MemoryClient | PersonaMemory:
    try:
        return MemoryClient.over_door(chosen.folder)
    except NoAnswer:
        return PersonaMemory.open(config=chosen)
