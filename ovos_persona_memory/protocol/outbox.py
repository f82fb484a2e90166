"""Records on their way to a daemon that may be away."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ovos_persona_memory.errors import NoAnswer
from ovos_persona_memory.protocol import messages
from ovos_persona_memory.protocol.transport import BusTransport, wire_turn
from ovos_persona_memory.records import Scope, Turn


@dataclass
class _Delivery:
    data: dict[str, Any]
    scope: Scope
    context: Mapping[str, Any]
    sent_at: float = 0.0
    """time.monotonic() of the last attempt."""


class Outbox:
    """Delivers records until the daemon has acknowledged each; the daemon keeps each once.

    ``deliver`` returns at once. What is not acknowledged is sent again every two seconds, oldest
    first, while the bus is there; over 2,000 records the oldest are given up.
    """

    AGAIN_S = 2.0
    MOST = 2000

    def __init__(self, transport: BusTransport) -> None:
        self._transport = transport
        self._kept: dict[str, _Delivery] = {}
        self._lock = threading.Lock()  # guards _kept and _sender
        self._sender: threading.Thread | None = None
        transport.listeners.append(self._acknowledged)

    def __len__(self) -> int:
        return len(self._kept)

    def deliver(
        self,
        turns: Sequence[Turn],
        scope: Scope,
        delivery_id: str,
        context: Mapping[str, Any] | None = None,
        learn: bool = True,
    ) -> None:
        """Hand over the turns of one update_history call.

        ``context``: what it travels with; that of the caller's message where it is None. ``learn``: see ``record``.
        """
        context = messages.context_of_caller(scope) if context is None else context
        data = {"turns": [wire_turn(t) for t in turns], "as_passed": True, "delivery_id": delivery_id}
        data |= {} if learn else {"learn": False}
        delivery = _Delivery({**data, "request_id": delivery_id}, scope, context)
        with self._lock:
            self._kept[delivery_id] = delivery
            while len(self._kept) > self.MOST:
                del self._kept[next(iter(self._kept))]
        self._send(delivery)
        self._watch()

    def _send(self, delivery: _Delivery) -> bool:
        delivery.sent_at = time.monotonic()
        try:
            self._transport.tell("record", delivery.data, delivery.scope, delivery.context)
        except NoAnswer:
            return False
        return True

    def _acknowledged(self, request_id: str, answer: Mapping[str, Any]) -> None:
        # a store that cannot write now may do so later; what is refused for its content never will be
        if answer.get("ok") is True or answer.get("error") in ("invalid", "not_allowed", "capture_paused"):
            with self._lock:
                self._kept.pop(request_id, None)

    def _watch(self) -> None:
        with self._lock:
            if self._sender is None:
                self._sender = threading.Thread(target=self._send_again, name="outbox", daemon=True)
                self._sender.start()

    def _send_again(self) -> None:
        while True:
            time.sleep(self.AGAIN_S)
            late = time.monotonic() - self.AGAIN_S
            with self._lock:
                if not self._kept:
                    self._sender = None
                    return
                due = [delivery for delivery in self._kept.values() if delivery.sent_at < late]
            for delivery in due:
                if not self._transport.connected or not self._send(delivery):
                    break
