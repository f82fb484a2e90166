"""Part b: the request of a persona's memory inside real turns, through ovos-core and ovos-persona."""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.corpus import CACHE, Built, Corpus, built
from benchmarks.figures import Figure, Spread
from benchmarks.plugins import TIMES, UNHURRIED
from benchmarks.progress import say
from benchmarks.services import Stack, stack
from ovos_persona_memory.protocol import BusConnection, messages

TURNS = {"quick": (20_000, 6), "full": (100_000, 30)}
WARM_UP = 2
BLOCK = 8
"""Turns of each memory in a row: after a pause Linux acknowledges at once for a while, and 44 ms do not show."""
TURN_TIMEOUT_S = 15.0
DELAYED_MS = 38.0
"""A longer request has met a delayed acknowledgement (40 ms in Linux), milliseconds."""
MEMORIES = ("echo", "history", "recall")


class Talker:
    """Says one utterance after another on a bus, and waits until each has been handled."""

    def __init__(self, port: int) -> None:
        self._handled = threading.Event()
        self._session = ""
        self._bus = BusConnection(
            frozenset({"ovos.utterance.handled"}).__contains__, self._arrived, host="127.0.0.1", port=port
        )
        self._bus.start()
        self._bus.connected_event.wait(10)

    def _arrived(self, frame: bytes) -> None:
        session = messages.decode(frame, 0.0).context.get("session") or {}
        if session.get("session_id") == self._session:
            self._handled.set()

    def say(self, text: str, session: str) -> None:
        """One turn, to its end."""
        self._session = session
        self._handled.clear()
        context = {"session": {"session_id": session, "lang": "en-US"}, "source": "bench"}
        self._bus.send(messages.encode("recognizer_loop:utterance", {"utterances": [text], "lang": "en-US"}, context))
        if not self._handled.wait(TURN_TIMEOUT_S):
            raise RuntimeError(f"an utterance of {session} was not handled")

    def close(self) -> None:
        """Leave the bus."""
        self._bus.close()


@dataclass(frozen=True)
class Assistant:
    """One whole assistant: bus, daemon, echo and core."""

    stack: Stack
    talker: Talker
    times: Path

    def talk(self, base: Built, numbers: range) -> None:
        """A turn for each number and memory, one right after the other."""
        for number in numbers:
            for name in MEMORIES:
                self.talker.say(base.questions[number].text, f"{name}-{self.times.stem}")

    def took(self) -> dict[str, list[dict[str, Any]]]:
        """The times that each memory noted."""
        lines = [json.loads(line) for line in self.times.read_text(encoding="utf-8").splitlines()]
        return {name: [x for x in lines if x["session"].startswith(f"{name}-")][WARM_UP:] for name in MEMORIES}


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    stored, turns = TURNS[size]
    base = built(Corpus(stored))
    with ExitStack() as open_things:
        scratch = Path(open_things.enter_context(TemporaryDirectory(dir=CACHE)))
        hurried, unhurried = (_assistant(open_things, base, scratch / name) for name in ("hurried", "unhurried"))
        say(f"b: {turns} turns of each kind through ovos-core and ovos-persona")
        for first in range(0, WARM_UP + turns, BLOCK):
            for assistant in (hurried, unhurried):
                assistant.talk(base, range(first, min(first + BLOCK, WARM_UP + turns)))
        return _figures(hurried.took(), unhurried.took())


def _assistant(open_things: ExitStack, base: Built, folder: Path) -> Assistant:
    services = open_things.enter_context(stack())
    times = folder / f"{folder.name}.jsonl"
    folder.mkdir()
    services.services.environment[TIMES] = str(times)
    slow = folder.name == "unhurried"
    if slow:
        services.services.environment[UNHURRIED] = "1"
    services.start_daemon(base.copy(folder / "data"), "benchmarks.without_quickack" if slow else "ovos_persona_memory")
    services.start_echo("stock" if slow else "quick")
    services.start_core()
    talker = Talker(services.port)
    open_things.callback(talker.close)
    return Assistant(services, talker, times)


def _figures(hurried: dict[str, list[dict[str, Any]]], unhurried: dict[str, list[dict[str, Any]]]) -> list[Figure]:
    echo = _spread(hurried["echo"])
    found = []
    for name, title, target, limit in (
        ("history", "context in a turn, history alone", "at most 3 x echo", 3 * echo.p50),
        ("recall", "context in a turn, with recall", "at most echo + 5 ms", echo.p50 + 5),
    ):
        ours, slow = _spread(hurried[name]), _spread(unhurried[name])
        note = _note(hurried[name], unhurried[name])
        found.append(Figure("b", title, "ms", ours, echo, "echo", target, ours.p50 <= limit, note))
        found.append(
            Figure("b", title, "ms", ours, slow, "ours without QUICKACK", "under a fifth", ours.p50 < slow.p50 / 5)
        )
    slow_echo = _spread(unhurried["echo"])
    return [*found, Figure("b", "echo in a turn", "ms", echo, slow_echo, "echo without QUICKACK")]


def _spread(lines: list[dict[str, Any]], what: str = "request_ms") -> Spread:
    return Spread.from_values([line[what] for line in lines if line[what] is not None] or [float("nan")])


def _note(lines: list[dict[str, Any]], slow: list[dict[str, Any]]) -> str:
    whole, inside = _spread(lines, "whole_ms"), _spread(lines, "inside_ms")
    unasked = sum(line["request_ms"] is None for line in lines)
    delayed = sum(line["request_ms"] is not None and line["request_ms"] > DELAYED_MS for line in slow)
    return (
        f"{inside.p50:.2f} / {inside.p95:.2f} ms of it are the daemon's, from arrival to answer; all of "
        f"build_conversation_context takes {whole.p50:.2f} / {whole.p95:.2f}; {unasked} of {len(lines)} were not "
        f"answered; {lines[-1]['messages']} messages in the last; without QUICKACK {delayed} of {len(slow)} took over "
        f"{DELAYED_MS:.0f} ms"
    )
