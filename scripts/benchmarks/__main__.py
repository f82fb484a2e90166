"""``scripts/bench``: measures, prints a table, writes JSON. ``scripts/bench weeks`` plays weeks of households."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    figures,
    jobs,
    learning,
    longest,
    meaning,
    million,
    page,
    process,
    recall_at_scale,
    requests,
    sessions,
    throughput,
    turns,
)
from benchmarks.corpus import ROOT
from benchmarks.figures import Figure
from benchmarks.quality import play_weeks

PARTS: dict[str, Callable[[str], list[Figure]]] = {
    "a": requests.run,
    "b": turns.run,
    "c": throughput.run,
    "d": million.run,
    "e": process.run,
    "f": meaning.run,
    "g": learning.run,
    "h": sessions.run,
    "i": recall_at_scale.run,
    "j": longest.run,
    "k": jobs.run,
    "l": page.run,
}


def arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    about = "a: requests, b: in a persona's turns, c: recording rate, d: a million turns, e: memory and start, "
    about += "f: recall by words and by meaning, g: what learning adds to recording, "
    about += "h: 500 sessions at once, i: one person among a million turns in PostgreSQL, "
    about += "j: another session while the longest text is recorded, k: contexts while language models work, "
    about += "l: the owner's page, and contexts while it is looked at. "
    about += "scripts/bench weeks --help: weeks of households, played through an assistant"
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Figures, each beside its comparison.", epilog=about
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, under a minute: to see that it runs")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, as a,b (all)", metavar="PARTS")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench.json", metavar="FILE")
    args = parser.parse_args()
    args.parts = [part.strip() for part in args.only.split(",")]
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; choose of {', '.join(PARTS)}")
    return args


def main() -> None:
    """Measure, show, write."""
    if sys.argv[1:2] == ["weeks"]:
        sys.exit(play_weeks.main(sys.argv[2:]))
    args = arguments()
    began = time.perf_counter()
    found: list[Figure] = []
    try:
        for part in args.parts:
            found += PARTS[part]("quick" if args.quick else "full")
    finally:
        figures.show(found)
        figures.write(found, args.json, time.perf_counter() - began)


if __name__ == "__main__":
    main()
