"""The bare responder: ``python -m benchmarks.echo PORT stock|quick``.

stock: an OVOS client as it comes. quick: on our connection, which acknowledges at once, so that a
comparison with it leaves out what TCP_QUICKACK alone gains.
"""

from __future__ import annotations

import sys
from typing import Any

from ovos_bus_client import MessageBusClient

from benchmarks.asking import ECHO_TOPICS
from ovos_persona_memory.protocol import BusConnection


def stock(port: int) -> None:
    """Answer until ended."""
    bus = MessageBusClient(host="127.0.0.1", port=port)
    _answer(bus, ECHO_TOPICS["stock"])
    bus.run_forever()


def quick(port: int) -> None:
    """Answer until ended."""
    bus = BusConnection(frozenset().__contains__, lambda _: None, host="127.0.0.1", port=port)
    _answer(bus, ECHO_TOPICS["quick"])
    bus.run_forever()


def _answer(bus: Any, topic: str) -> None:
    bus.on(topic, lambda m: bus.emit(m.response({"ok": True, "request_id": m.data.get("request_id")})))


if __name__ == "__main__":
    {"stock": stock, "quick": quick}[sys.argv[2]](int(sys.argv[1]))
