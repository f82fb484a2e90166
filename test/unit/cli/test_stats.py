"""stats and its plots, in this process on a real folder."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

from click.testing import CliRunner

from ovos_persona_memory.cli.program import program
from ovos_persona_memory.cli.stats import bar, sparkline
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn

NOON = datetime.now().replace(hour=12, minute=0, second=0, microsecond=0)


def filled(folder: Path) -> str:
    with PersonaMemory.open(folder) as memory:
        for days, turns in ((0, 1), (1, 8), (3, 4), (40, 5)):
            at = (NOON - timedelta(days=days)).timestamp()
            memory.record([Turn("user", f"talk {days} {n}", at=at) for n in range(turns)], Scope(session_id="s"))
        memory.record([Turn("assistant", "hi", at=NOON.timestamp())], Scope(session_id="t", user_id="alice"))
    return str(folder)


def test_a_bar_is_as_long_as_its_number_and_nothing_is_shown_of_nothing() -> None:
    assert [bar(number, 8, 4) for number in (8, 4, 1, 0.01, 0)] == ["████", "██", "▌", "▏", ""]
    assert sparkline([0, 1, 4, 8]) == " ▂▅█"
    assert sparkline([0, 0]) == "  "


def test_every_day_has_a_bar_in_proportion(tmp_path: Path) -> None:
    shown = CliRunner().invoke(program, ["--data", filled(tmp_path), "stats", "--days", "4"]).stdout.splitlines()
    start = shown.index("turns by day") + 1
    numbers = {line.split()[1]: (int(line.split()[2]), line.count("█")) for line in shown[start : start + 4]}
    wanted = {days: (NOON - timedelta(days=days)).date().isoformat() for days in range(4)}
    found = [numbers[wanted[days]] for days in (3, 2, 1, 0)]
    assert found == [(4, 25), (0, 0), (8, 50), (2, 12)]
    assert not any("\x1b" in line for line in shown)


def test_many_days_are_shown_week_by_week(tmp_path: Path) -> None:
    shown = CliRunner().invoke(program, ["--data", filled(tmp_path), "stats", "--days", "70"]).stdout.splitlines()
    [line] = [number for number, text in enumerate(shown) if text.startswith("turns by week")]
    assert len(shown[line + 1]) == 10
    assert shown[line + 1].endswith("█")


def test_the_days_of_one_user_are_that_users(tmp_path: Path) -> None:
    folder = filled(tmp_path)
    told = CliRunner().invoke(program, ["--data", folder, "stats", "--user", "alice", "--json"]).stdout
    assert json.loads(told)["days"] == [{"day": NOON.date().isoformat(), "turns": 1, "users": 0}]
    everybody = json.loads(CliRunner().invoke(program, ["--data", folder, "stats", "--json"]).stdout)["days"]
    assert sum(day["turns"] for day in everybody) == 14
