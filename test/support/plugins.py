"""A memory in this process with the plugins of personas on it: real requests and answers, no bus."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.opm import chat, retrieval, toolbox
from ovos_persona_memory.opm import memory as memory_plugin
from ovos_persona_memory.protocol import messages
from ovos_persona_memory.protocol.transport import BusTransport
from ovos_persona_memory.records import Request
from ovos_persona_memory.service.verb_handlers import answer

PLUGINS = {
    "chat": (chat, "RecallChatEngine"),
    "memory": (memory_plugin, "PersonaMemoryPlugin"),
    "retrieval": (retrieval, "PersonaMemoryRetrieval"),
    "toolbox": (toolbox, "PersonaMemoryTools"),
}
Make = Callable[..., Any]


class Wire:
    """In the place of a bus connection: each frame is answered at once, as the daemon answers it."""

    connected = True
    away = False
    """Nothing is answered."""

    def __init__(self, memory: PersonaMemory, arrived: Callable[[bytes], None]) -> None:
        self._memory, self._arrived = memory, arrived
        self.asked: list[Request] = []
        self.connected_event = threading.Event()
        self.connected_event.set()

    def send(self, frame: bytes) -> bool:
        asked = messages.from_the_bus(messages.decode(frame, time.time()))
        if not isinstance(asked, Request) or self.away:
            return True
        self.asked.append(asked)
        try:
            outcome = {"ok": True, **answer(self._memory, MemoryConfig(), asked, owner=False)}
        except PersonaMemoryError as error:
            outcome = {"ok": False, "error": error.code, "reason": error.reason}
        self._arrived(messages.response(asked, outcome))
        return True


@pytest.fixture(scope="module")
def plugin() -> Iterator[Make]:
    """Makes a plugin on a memory: ``plugin("retrieval", memory, sure_only=False)``."""
    with pytest.MonkeyPatch.context() as patch:

        def make(name: str, memory: PersonaMemory, **settings: Any) -> Any:
            module, made = PLUGINS[name]
            transport = BusTransport(host="127.0.0.1", port=1, route="/core", ssl=False)
            transport.bus = Wire(memory, transport._arrived)  # never started: nothing is sent anywhere
            patch.setattr(module, "shared_transport", lambda **_: transport)
            return getattr(module, made)(settings)

        yield make
