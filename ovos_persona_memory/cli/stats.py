"""``stats``: how much is kept and how fast it answers, with plots in the terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import rich_click as click
from rich.text import Text

from ovos_persona_memory.cli.connection import open_memory
from ovos_persona_memory.cli.options import data_option, examples, json_option, scope_of, user_option
from ovos_persona_memory.cli.output import Command, answer, answer_json, answer_rows, answer_text
from ovos_persona_memory.records import Activity
from ovos_persona_memory.text import counted, counted_kinds

WIDTH = 50
"""Characters of the longest bar."""
EIGHTHS = " ▏▎▍▌▋▊▉"
HEIGHTS = "▁▂▃▄▅▆▇█"
WEEKS_FROM = 62
"""More days than this are shown week by week."""


@click.command(cls=Command, epilog=examples("stats", "stats --days 90", "stats --user alice --json"))
@click.option("--days", type=click.IntRange(1, 3660), default=14, show_default=True, help="How many days back.")
@user_option
@data_option
@json_option
def stats(days: int, user: str | None, data: Path | None, as_json: bool) -> None:
    """How much was said day by day, by whom, how big the memory is and how fast it answers.

    Everybody's, unless --user is given.
    """
    first = date.today() - timedelta(days=days - 1)
    since = time.mktime(first.timetuple())
    with open_memory(data) as memory:
        status = dict(memory.status())
        said = list(memory.activity(scope_of(user, everyone=user is None), since))
        people = memory.users.list()
    if as_json:
        facts = {"days": said, "users": people, "counts": status["counts"], "store": status["store"]}
        return answer_json({**facts, "latency_ms": status.get("latency_ms", {}), "index_lag": status["index_lag"]})
    answer(f"{counted_kinds(status['counts'])}{_size(status['store'])}")
    _plot(said, first, days)
    told = [(one.user_id, one.turns) for one in people if user in (None, one.user_id)]
    _bars("turns by user", told)
    return _latencies(status.get("latency_ms", {}))


def _size(store: Mapping[str, Any]) -> str:
    return f", {store['bytes'] / 1e6:.1f} MB" if "bytes" in store else ""


def _plot(said: Sequence[Activity], first: date, days: int) -> None:
    by_day = {one.day: one.turns for one in said}
    every = [first + timedelta(days=number) for number in range(days)]
    if days <= WEEKS_FROM:
        return _bars("turns by day", [(f"{day:%a} {day.isoformat()}", by_day.get(day.isoformat(), 0)) for day in every])
    weeks = [every[start : start + 7] for start in range(0, days, 7)]
    numbers = [sum(by_day.get(day.isoformat(), 0) for day in week) for week in weeks]
    answer("")
    answer(f"turns by week, {first.isoformat()} to {every[-1].isoformat()}, at most {max(numbers)}")
    return answer_text(Text(sparkline(numbers), style="green"))


def sparkline(numbers: Sequence[float]) -> str:
    """A column a number; the highest number is the highest column."""
    most = max([*numbers, 0])
    steps = len(HEIGHTS) - 1
    return "".join(HEIGHTS[round(steps * number / most)] if number and most else " " for number in numbers)


def bar(number: float, most: float, width: int = WIDTH) -> str:
    """A bar as long as the number is of the most, in eighths of a character; something for whatever is not 0."""
    if number <= 0 or most <= 0:
        return ""
    eighths = max(round(8 * width * number / most), 1)
    return "█" * (eighths // 8) + (EIGHTHS[eighths % 8] if eighths % 8 else "")


def _bars(title: str, rows: Sequence[tuple[str, int]]) -> None:
    if not rows:
        return
    most = max(number for _, number in rows)
    names, digits = max(len(name) for name, _ in rows), len(str(most))
    answer("")
    answer(title)
    for name, number in rows:
        answer_text(Text.assemble(f"{name:<{names}}  {number:>{digits}}  ", (bar(number, most), "green")))


def _latencies(by_verb: Mapping[str, Mapping[str, float]]) -> None:
    if not by_verb:
        return
    answer("")
    answer(f"latency of the newest answers, ms, of {counted(len(by_verb), 'verb')}")
    rows = [
        [verb, str(int(took["asked"])), f"{took['p50']:.1f}", f"{took['p95']:.1f}"] for verb, took in by_verb.items()
    ]
    answer_rows(["verb", "asked", "p50", "p95"], rows, "")
