"""Figures of a benchmark: the measurement, its comparison and its target."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Spread:
    """Median and 95th percentile of many measurements."""

    p50: float
    p95: float
    count: int

    @classmethod
    def from_values(cls, values: Sequence[float]) -> Spread:
        """The spread of at least one value."""
        ranked = sorted(values)
        return cls(ranked[len(ranked) // 2], ranked[min(int(len(ranked) * 0.95), len(ranked) - 1)], len(ranked))


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    part: str
    name: str
    unit: str
    ours: Spread
    other: Spread | None = None
    against: str = ""
    """Name of the comparison ``other``."""
    target: str = ""
    """The target in words; empty where there is none."""
    met: bool | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours to the other, at p50."""
        return self.ours.p50 / self.other.p50 if self.other and self.other.p50 else None


def show(figures: Sequence[Figure]) -> None:
    """Print the table."""
    table = Table(title=f"ovos-persona-memory, {time.strftime('%Y-%m-%d %H:%M')}, load {os.getloadavg()[0]:.1f}")
    for heading in ("", "figure", "ours p50", "p95", "other p50", "p95", "ratio", "against", "target", "met"):
        table.add_column(heading, justify="right" if "p" in heading[-3:] or heading == "ratio" else "left")
    for one in figures:
        other = one.other
        table.add_row(
            one.part,
            f"{one.name} ({one.unit})",
            *(_number(value) for value in (one.ours.p50, one.ours.p95)),
            *(_number(value) for value in ((other.p50, other.p95) if other else (None, None))),
            _number(one.ratio),
            one.against,
            one.target,
            {True: "[green]yes[/]", False: "[red]no[/]", None: ""}[one.met],
        )
    Console(width=None if os.isatty(1) else 170).print(table)
    for one in figures:
        if one.note:
            print(f"{one.part} {one.name}: {one.note}")


def write(figures: Sequence[Figure], path: Path, seconds: float) -> None:
    """Write the figures, and the machine they were measured on, as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    taken = {
        "at": time.time(),
        "seconds": round(seconds, 1),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg(),
    }
    lines = [asdict(one) | {"ratio": one.ratio} for one in figures]
    path.write_text(json.dumps({"taken": taken, "figures": lines}, indent=1) + "\n", encoding="utf-8")


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 20 else f"{value:.2f}"
