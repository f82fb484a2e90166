"""Everything that travels: topics, codec, request schemas, bus connection, client, outbox."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ovos_persona_memory.protocol import messages, requests, topics
    from ovos_persona_memory.protocol.bus_connection import BusConnection
    from ovos_persona_memory.protocol.client import DocumentsClient, MemoryClient
    from ovos_persona_memory.protocol.messages import Addressed, now
    from ovos_persona_memory.protocol.outbox import Outbox
    from ovos_persona_memory.protocol.requests import MAX_TEXT, ScopeFields, TurnFields
    from ovos_persona_memory.protocol.transport import (
        DOOR,
        BusTransport,
        HurriedTransport,
        LocalTransport,
        Transport,
        door_address,
        shared_transport,
    )

__all__ = [
    "DOOR",
    "MAX_TEXT",
    "Addressed",
    "BusConnection",
    "BusTransport",
    "DocumentsClient",
    "HurriedTransport",
    "LocalTransport",
    "MemoryClient",
    "Outbox",
    "ScopeFields",
    "Transport",
    "TurnFields",
    "door_address",
    "messages",
    "now",
    "requests",
    "shared_transport",
    "topics",
]

_PLACES = {
    "Addressed": "ovos_persona_memory.protocol.messages",
    "BusConnection": "ovos_persona_memory.protocol.bus_connection",
    "BusTransport": "ovos_persona_memory.protocol.transport",
    "DOOR": "ovos_persona_memory.protocol.transport",
    "DocumentsClient": "ovos_persona_memory.protocol.client",
    "HurriedTransport": "ovos_persona_memory.protocol.transport",
    "LocalTransport": "ovos_persona_memory.protocol.transport",
    "MAX_TEXT": "ovos_persona_memory.protocol.requests",
    "MemoryClient": "ovos_persona_memory.protocol.client",
    "Outbox": "ovos_persona_memory.protocol.outbox",
    "ScopeFields": "ovos_persona_memory.protocol.requests",
    "Transport": "ovos_persona_memory.protocol.transport",
    "TurnFields": "ovos_persona_memory.protocol.requests",
    "door_address": "ovos_persona_memory.protocol.transport",
    "messages": "ovos_persona_memory.protocol.messages",
    "now": "ovos_persona_memory.protocol.messages",
    "requests": "ovos_persona_memory.protocol.requests",
    "shared_transport": "ovos_persona_memory.protocol.transport",
    "topics": "ovos_persona_memory.protocol.topics",
}
"""From a name to the module that holds it, or that it is: imported when somebody asks for it."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PLACES[name])
    return getattr(module, name, module)
