"""Part a: requests over a real bus, back to back, to our daemon and to a bare echo."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ovos_bus_client import Message, MessageBusClient

from benchmarks.asking import ECHO_TOPICS, BenchTransport, connected, timed_ms
from benchmarks.corpus import CACHE, Asked, Built, Corpus, Talk, built
from benchmarks.figures import Figure, Spread
from benchmarks.progress import say
from benchmarks.services import Stack, stack

BLOCK = 20
"""Requests of a kind in a row, before the next kind has its turn."""
ANY_AGE = {"max_age_s": 1e10}
"""The turns of the corpus were said long ago."""

FEWEST = {"quick": (20_000, 3), "full": (100_000, 15)}


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    turns, rounds = FEWEST[size]
    base = built(Corpus(turns))
    CACHE.mkdir(parents=True, exist_ok=True)
    with stack() as services, TemporaryDirectory(dir=CACHE) as scratch:
        for kind in ECHO_TOPICS:
            services.start_echo(kind)
        services.start_daemon(base.copy(Path(scratch) / "data"))
        say(f"a: requests, {turns} turns stored")
        took = _rounds(services, base, rounds)
    return _figures({kind: Spread.from_values(values) for kind, values in took.items()}, base)


def _rounds(services: Stack, base: Built, rounds: int) -> dict[str, list[float]]:
    transport = connected(services.port)
    plans = {name: (verb, data) for name, verb, data in _plans(base)}
    took: dict[str, list[float]] = {name: [] for name in (*plans, "stock client")}
    try:
        for number in range(rounds + 1):
            for name, (verb, data) in plans.items():
                values = [_once(transport, verb, data) for _ in range(BLOCK)]
                took[name] += values if number else []  # the first round warms everything up
            took["stock client"] += _with_stock_client(services.port)
    finally:
        transport.close()
    return took


def _once(transport: BenchTransport, verb: str, data: Iterator[tuple[dict[str, Any], str]]) -> float:
    fields, session_id = next(data)
    return timed_ms(transport, verb, fields, session_id)


def _plans(base: Built) -> Iterator[tuple[str, str, Iterator[tuple[dict[str, Any], str]]]]:
    """Each kind of request: its name, its verb, and an endless row of fields and sessions."""
    said = Talk(seed=11)
    asked = itertools.cycle(base.questions)

    def rows(make: Any) -> Iterator[tuple[dict[str, Any], str]]:
        return ((make(one), one.session_id) for one in asked)

    def context(one: Asked, **more: Any) -> dict[str, Any]:
        return {"utterance": one.text, **ANY_AGE, **more}

    yield "stock echo", "stock", rows(context)
    yield "echo", "quick", rows(context)
    yield "context, history alone", "context", rows(lambda one: context(one, recall=0))
    yield "context with recall", "context", rows(context)
    yield "recall", "recall", rows(lambda one: {"question": one.text, "k": 5})
    yield "history", "history", rows(lambda _: {"max_history": 5})
    yield "record", "record", rows(lambda _: {"turns": [{"role": "user", "text": said.sentence()[0]}]})


def _with_stock_client(port: int) -> list[float]:
    """The stock client asking the stock echo, on a connection that is there only as long as that."""
    bus = MessageBusClient(host="127.0.0.1", port=port)
    bus.run_in_thread()
    bus.connected_event.wait(10)
    took = []
    for number in range(BLOCK):
        began = time.perf_counter()
        bus.wait_for_response(Message(ECHO_TOPICS["stock"], {"request_id": str(number)}), timeout=5)
        took.append((time.perf_counter() - began) * 1000)
    bus.close()
    return took


def _figures(took: dict[str, Spread], base: Built) -> list[Figure]:
    echo, found = took["echo"], []
    limits = {"context, history alone": ("at most 3 x echo", 3 * echo.p50)}
    limits["context with recall"] = ("at most echo + 5 ms", echo.p50 + 5)
    for name in ("context, history alone", "context with recall", "recall", "history", "record"):
        target, limit = limits.get(name, ("", 0.0))
        met = took[name].p50 <= limit if target else None
        found.append(Figure("a", name, "ms", took[name], echo, "echo with QUICKACK", target, met))
    found.append(Figure("a", "our client, stock echo", "ms", took["stock echo"], echo, "echo with QUICKACK"))
    found.append(Figure("a", "stock client, stock echo", "ms", took["stock client"], echo, "echo with QUICKACK"))
    building = Spread(base.turn_us, base.turn_us, 1)
    return [*found, Figure("a", "recording in process, many in a transaction", "us a turn", building)]
