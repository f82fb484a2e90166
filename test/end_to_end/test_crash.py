"""The daemon is killed while it records: nothing that it acknowledged is gone, and nothing is there twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope, Turn

SCRIPT = Path(__file__).parent.parent.parent / "test" / "durability" / "crash_rounds.py"


def kill_rounds(rounds: int, seed: int) -> dict[str, object]:
    """What the script found; its own status must agree."""
    command = [sys.executable, str(SCRIPT), "--rounds", str(rounds), "--seed", str(seed), "--seconds", "0.5"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout, ran.stderr
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    found: dict[str, object] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_no_acknowledged_turn_is_lost_or_doubled_by_kill_9() -> None:
    found = kill_rounds(5, seed=7)
    assert found["ok"]
    assert found["kills"] == 5
    assert int(str(found["exchanges_acknowledged"])) > 100, "too little was recorded to prove anything"
    assert int(str(found["sent_again"])) > 10, "too little was in flight to prove anything"


@pytest.mark.parametrize("as_passed", [False, True])
def test_turns_sent_again_under_their_delivery_id_are_recorded_once(
    daemon: Callable[..., object], bus_address: tuple[str, int], as_passed: bool
) -> None:
    daemon()
    host, port = bus_address
    scope = Scope(session_id=f"again-{as_passed}")
    turns = [Turn(role="user", text="what is on today"), Turn(role="assistant", text="nothing at all")]
    with MemoryClient.over_bus(host=host, port=port) as client:
        first = client.record(turns, scope, as_passed=as_passed, delivery_id="d-1")
        again = client.record(turns, scope, as_passed=as_passed, delivery_id="d-1")
        assert again == first
        assert [message.text for message in client.history(scope)] == ["what is on today", "nothing at all"]


def test_a_delivery_that_comes_again_much_later_is_recorded_once(
    daemon: Callable[..., object], bus_address: tuple[str, int]
) -> None:
    daemon()
    host, port = bus_address
    scope = Scope(session_id="much later")
    turns = [Turn(role="user", text="what is on today"), Turn(role="assistant", text="nothing at all")]
    others = [Turn(role=role, text=f"{role} {number}") for number in range(200) for role in ("user", "assistant")]
    with MemoryClient.over_bus(host=host, port=port) as client:
        first = client.record(turns, scope, as_passed=True, delivery_id="d-2")
        client.record(others, scope)
        assert client.record(turns, scope, as_passed=True, delivery_id="d-2") == first
        assert client.sessions(scope)[0].turns == len(turns) + len(others)
