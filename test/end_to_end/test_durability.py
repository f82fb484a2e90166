"""What durability promises, with real processes that are watched or killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent.parent / "test" / "durability"
SCRIPT = SCRIPTS / "fsync_order.py"
CANNOT_RUN = 3


def test_the_journal_is_on_the_disk_before_an_acknowledgement_leaves_by_either_door_or_in_a_crowd() -> None:
    ran = subprocess.run([sys.executable, str(SCRIPT), "--records", "25"], capture_output=True, text=True, check=False)
    if ran.returncode == CANNOT_RUN:
        why = ran.stderr.strip()
        assert not os.environ.get("CI"), f"this must run in CI: {why}"
        pytest.skip(why)
    assert ran.stdout, ran.stderr
    found = json.loads(ran.stdout)
    assert found["ok"], "\n".join(found["wrong"])
    assert found["bus"] == found["door"] == found["crowd"] == 25


@pytest.mark.parametrize(("turns", "kills"), [(300, 4), pytest.param(2500, 25, marks=pytest.mark.full)])
def test_killed_again_and_again_the_summaries_of_a_year_show_a_model_every_turn_once(turns: int, kills: int) -> None:
    command = [sys.executable, str(SCRIPTS / "summaries_killed.py"), "--turns", str(turns), "--kills", str(kills)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["ok"], found
    assert found["kept"] * 40 > turns, "too little was summarised to prove anything"
