#!/usr/bin/env python3
"""Change the embedder of a large memory, kill the daemon half-way, and ask all the while.

A real daemon gets its turns through the owner's door and indexes them with one embedder; then it is started with
another, killed with kill -9 when half of the turns have their new vectors, started again, and waited for. Four times a
second a question that no word answers is asked: each time the right turn must be found by its meaning, with the old
index until the new one is complete. One line of JSON with what was measured; status 1 where a question was not
answered, or nothing was done before the kill that was not done again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import quantiles
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]  # a script is run where it stands

from support.servers.bus import Bus, Daemon  # noqa: E402  (the line above must come first)
from support.servers.ports import free_port  # noqa: E402  (the line above must come first)

from ovos_persona_memory.protocol import MemoryClient  # noqa: E402
from ovos_persona_memory.records import Scope, Turn  # noqa: E402

QUESTION, ANSWER = "the kitten and the couch", "our cat sleeps on the sofa"
"""Every embedder knows of what, and words do not."""
THINGS = ("printer", "lamp", "window", "kettle", "carpet", "shelf", "drill", "ladder", "bucket", "radio", "fence")
PLACES = ("in the attic", "behind the shed", "at the neighbours'", "on the first floor", "near the gate")
TOGETHER = 500
LONGEST_S = 3600.0


class Asker:
    """Asks the question until it is told to stop, and keeps what came of it."""

    def __init__(self, client: MemoryClient) -> None:
        self.client = client
        self.took_ms: list[float] = []
        self.wrong: list[str] = []

    def ask(self) -> None:
        """Once."""
        began = time.perf_counter()
        hits = self.client.recall(QUESTION, Scope(), lang="en-US")
        self.took_ms.append((time.perf_counter() - began) * 1000)
        if not hits or hits[0].text != ANSWER or "alike" not in hits[0].reason:
            self.wrong.append(hits[0].text if hits else "nothing")

    def until(self, lag: int) -> dict[str, Any]:
        """Ask until no more than so many turns lack a vector of the embedder that is set; the state then."""
        pause, given_up_at = threading.Event(), time.monotonic() + LONGEST_S
        while time.monotonic() < given_up_at:
            status = self.client.status()
            meaning = status["meaning"]
            if meaning["answering"] is not None:
                self.ask()
                done = status["index_lag"] <= lag and (lag or meaning["answering"] == meaning["model"])
                if done:
                    return {"lag": status["index_lag"], **meaning}
            pause.wait(0.25)
        raise TimeoutError(f"it did not come to {lag}")


def fill(client: MemoryClient, turns: int) -> None:
    """Say so many things, none like another, and in the middle what is asked for."""
    texts = [f"number {n} {THINGS[n % 11]} {PLACES[n % 5]} was mended on day {n // 7}" for n in range(turns - 1)]
    texts.insert(turns // 2, ANSWER)
    for start in range(0, turns, TOGETHER):
        said = [Turn("user", text, lang="en-US") for text in texts[start : start + TOGETHER]]
        client.record(said, Scope(session_id=f"s{start // 5000}"))


def switch(folder: Path, turns: int, first: str, second: str) -> dict[str, Any]:
    """Fill, change, kill, and wait for the end; what was measured."""
    port, data = free_port(), folder / "memory"
    bus = Bus(folder / "bus", port)
    told: dict[str, Any] = {"turns": turns, "from": first, "to": second}
    askers: list[Asker] = []

    def started(embedder: str, number: int) -> tuple[Daemon, Asker]:
        daemon = Daemon(folder / f"home{number}", data, port, embedder=embedder).wait_ready(timeout_s=60)
        askers.append(Asker(daemon.door()))
        return daemon, askers[-1]

    daemon, asker = started(first, 0)
    try:
        fill(asker.client, turns)
        told["old"] = asker.until(0)["answering"]
        daemon.end()
        daemon, asker = started(second, 1)
        began = time.monotonic()
        told["at_the_kill"] = asker.until(turns // 2)
        daemon.kill()
        daemon, asker = started(second, 2)
        told["after_the_kill"] = asker.until(turns)
        told["at_the_end"] = asker.until(0)
        told["seconds"] = round(time.monotonic() - began)
    finally:
        daemon.kill()
        bus.kill()
    took = [one for asker in askers[1:] for one in asker.took_ms]
    told["questions"], told["wrong"] = len(took), [text for asker in askers[1:] for text in asker.wrong]
    told["p50_ms"], told["p95_ms"] = round(quantiles(took, n=20)[9], 1), round(quantiles(took, n=20)[18], 1)
    return told


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--first", default="static", help="the embedder before (%(default)s)")
    parser.add_argument("--second", default="minilm", help="the embedder after (%(default)s)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="switch-") as folder:
        told = switch(Path(folder), args.turns, args.first, args.second)
    print(json.dumps(told))
    kept_on = told["after_the_kill"]["lag"] <= told["at_the_kill"]["lag"]
    old_answered = told["at_the_kill"]["answering"] == told["after_the_kill"]["answering"] == told["old"]
    return 0 if kept_on and old_answered and not told["wrong"] else 1


if __name__ == "__main__":
    sys.exit(main())
