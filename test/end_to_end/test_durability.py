"""A turn is on the disk before its acknowledgement leaves, as the daemon's system calls show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "test" / "durability" / "fsync_order.py"
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
