"""Latencies of recent answers, by verb."""

from __future__ import annotations

import threading
from collections import deque

NEWEST = 500
"""Answers of each verb that are kept."""


class Latencies:
    """Latencies of the newest answers. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards _took_ms
        self._took_ms: dict[str, deque[float]] = {}

    def note(self, verb: str, took_ms: float) -> None:
        """Add the latency of one answer."""
        with self._lock:
            self._took_ms.setdefault(verb, deque(maxlen=NEWEST)).append(took_ms)

    def by_verb(self) -> dict[str, dict[str, float]]:
        """Median, 95th percentile, both in milliseconds, and number of the newest answers of each verb asked."""
        with self._lock:
            took = {verb: sorted(newest) for verb, newest in self._took_ms.items()}
        return {
            verb: {
                "p50": round(ranked[len(ranked) // 2], 3),
                "p95": round(ranked[int(len(ranked) * 0.95)], 3),
                "asked": len(ranked),
            }
            for verb, ranked in took.items()
        }
