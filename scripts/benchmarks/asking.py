"""One client for our daemon and for an echo, so that only the responder differs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ovos_persona_memory.errors import NoAnswer
from ovos_persona_memory.protocol import BusConnection, messages, topics
from ovos_persona_memory.protocol.transport import BusTransport, Patience
from ovos_persona_memory.records import Scope

ECHO_TOPICS = {"stock": "bench.stock", "quick": "bench.quick"}
PATIENCE = Patience(20.0)


class BenchTransport(BusTransport):
    """A BusTransport on which the echoes, ``stock`` and ``quick``, are verbs too."""

    def __init__(self, **address: Any) -> None:
        super().__init__(**address)
        answers = {topics.response(verb) for verb in topics.VERBS}
        echoes = {topic + ".response" for topic in ECHO_TOPICS.values()}
        self.bus = BusConnection((answers | echoes).__contains__, self._arrived, **address)

    def tell(self, verb: str, data: dict[str, Any], scope: Scope, context: Mapping[str, Any] | None = None) -> None:
        """See BusTransport."""
        if verb not in ECHO_TOPICS:
            super().tell(verb, data, scope, context)
            return
        context = messages.context_of_caller(scope) if context is None else context
        if not self.bus.send(messages.encode(ECHO_TOPICS[verb], data, context)):
            raise NoAnswer("the messagebus is away")


def connected(port: int) -> BenchTransport:
    """A transport that has reached the bus."""
    transport = BenchTransport(host="127.0.0.1", port=port)
    transport.bus.start()
    if not transport.wait_connected(10.0):
        raise NoAnswer("the messagebus is away")
    return transport


def timed_ms(transport: BusTransport, verb: str, data: dict[str, Any], session_id: str) -> float:
    """How long one request took, milliseconds; NoAnswer where it was refused."""
    began = time.perf_counter()
    answer = transport.ask(verb, data, Scope(session_id=session_id), PATIENCE)
    took_ms = (time.perf_counter() - began) * 1000
    if answer.get("ok") is not True:
        raise NoAnswer(f"{verb} was refused: {answer}")
    return took_ms
