"""Part c: acknowledged records a second, beside the answers that a bare echo gives under the same load."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.asking import ECHO_TOPICS
from benchmarks.corpus import CACHE, Corpus, built
from benchmarks.figures import Figure, Spread
from benchmarks.progress import say
from benchmarks.services import Stack, stack

LOADS = ((1, 1), (1, 32), (10, 1), (10, 32))
"""Connections, and requests under way on each."""
SIZES = {"quick": (20_000, 2, 0.7), "full": (100_000, 5, 2.5)}
TARGET = 0.6


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    stored, rounds, seconds = SIZES[size]
    base = built(Corpus(stored))
    with stack() as services, TemporaryDirectory(dir=CACHE) as scratch:
        data = base.copy(Path(scratch) / "data")
        for kind in ECHO_TOPICS:
            services.start_echo(kind)
        services.start_daemon(data)
        say(f"c: {rounds} rounds of records and echoes under {len(LOADS)} loads")
        figures = []
        for connections, window in LOADS:
            found: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for _ in range(rounds):
                for verb in ("record", *ECHO_TOPICS):
                    found[verb].append(_drive(services, data, verb, (connections, window, seconds)))
            figures.append(_figure(f"records, {connections} connections x {window} under way", found))
    return figures


def _drive(services: Stack, data: Path, verb: str, load: tuple[int, int, float]) -> dict[str, Any]:
    commits = _commits(data)
    command = [sys.executable, "-m", "benchmarks.load", str(services.port), verb, *map(str, load)]
    ended = subprocess.run(command, capture_output=True, text=True, env=services.services.environment, check=False)
    services.services.check()
    if ended.returncode:
        raise RuntimeError(f"the load ended with status {ended.returncode}: {ended.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(ended.stdout)
    if answer["refused"]:
        raise RuntimeError(f"{answer['refused']} of {answer['all']} {verb} requests were refused")
    return answer | {"commits": _commits(data) - commits}


def _commits(data: Path) -> int:
    """Number of commits: the counter in the index of the write-ahead log (sqlite.org/walformat.html, 2.1)."""
    index = next(data.glob("*.db-shm"), None)
    if index is None:
        return 0
    with index.open("rb") as file:
        return int(struct.unpack_from("=I", file.read(12), 8)[0])


def _figure(name: str, found: dict[str, list[dict[str, Any]]]) -> Figure:
    rates = {verb: Spread.from_values([one["per_s"] for one in runs]) for verb, runs in found.items()}
    faster = max(ECHO_TOPICS, key=lambda kind: rates[kind].p50)
    ours, echo = rates["record"], rates[faster]
    commits = sum(one["commits"] for one in found["record"])
    records = sum(one["all"] for one in found["record"])
    latency = Spread.from_values([one["p50_ms"] or 0.0 for one in found["record"]])
    note = (
        f"{1000 * commits / max(records, 1):.0f} commits for 1000 records; an answer takes {latency.p50:.1f} ms; "
        f"echoes a second: " + ", ".join(f"{kind} {rates[kind].p50:.0f}" for kind in ECHO_TOPICS)
    )
    met = ours.p50 >= TARGET * echo.p50
    return Figure("c", name, "a second", ours, echo, f"{faster} echo", "at least 60 % of the faster echo", met, note)
