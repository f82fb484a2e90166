"""Backups beside a running daemon: one moment each, and what is forgotten is soon gone from them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.memory.migration import digests
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope, Turn

from .conftest import Daemon, own_environment, wait_until


def command(one: Daemon, *arguments: str, data: Path | None = None) -> str:
    home = one.log.parent
    done = subprocess.run(
        [sys.executable, "-m", "ovos_persona_memory", *arguments, "--data", str(data or one.data)],
        cwd=home,
        env=own_environment(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_while_a_daemon_records_each_backup_is_one_moment(daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    one, ended, taken = daemon(), threading.Event(), 3

    def talk() -> None:
        with MemoryClient.over_door(one.data) as memory:
            number = 0
            while not ended.is_set():
                memory.record([Turn("user", f"turn {number}"), Turn("assistant", f"answer {number}")], Scope("s"))
                number += 1

    talking = threading.Thread(target=talk)
    talking.start()
    try:
        for number in range(taken):
            command(one, "backup", str(tmp_path / f"backup{number}"))
            command(one, "export", "--output", str(tmp_path / f"export{number}"))
    finally:
        ended.set()
        talking.join()
    counts = []
    for number in range(taken):
        command(one, "restore", str(tmp_path / f"backup{number}"), data=tmp_path / f"restored{number}")
        command(one, "import", str(tmp_path / f"export{number}"), data=tmp_path / f"imported{number}")
        tail = json.loads((tmp_path / f"export{number}").read_bytes().splitlines()[-1])["digests"]
        with PersonaMemory.open(tmp_path / f"imported{number}") as memory:
            found = {(one.section, one.count, one.sha256) for one in digests(memory._store) if one.section != "state"}
        assert found <= {(told["section"], told["count"], told["sha256"]) for told in tail}
        for place in ("restored", "imported"):
            with PersonaMemory.open(tmp_path / f"{place}{number}") as memory:
                told = [turn.text for turn in memory._store.turns(Scope("s"))]
            assert told == [f"{what} {n}" for n in range(len(told) // 2) for what in ("turn", "answer")]
            counts.append(len(told))
    assert counts == sorted(counts)
    assert counts[0] > 0


def test_what_is_forgotten_through_the_daemon_is_soon_gone_from_a_backup(
    daemon: Callable[..., Daemon], tmp_path: Path
) -> None:
    one, backup = daemon(), tmp_path / "backup"
    with MemoryClient.over_door(one.data) as memory:
        memory.record([Turn("user", "the cat is called Quillfeather"), Turn("assistant", "a fine name")], Scope("s"))
        memory.remember("the bins go out on Tuesday", key="bins")
        command(one, "backup", str(backup))
        assert b"Quillfeather" in backup.read_bytes()
        memory.forget(Scope(), query="Quillfeather")
        wait_until(lambda: b"Quillfeather" not in backup.read_bytes(), "the renewal of the backup")
        wait_until(lambda: not memory.status()["backups"][0]["stale"], "its note")
    one.end()
    command(one, "restore", str(backup), data=tmp_path / "back")
    held = [json.loads(command(one, "status", "--json", data=data))["counts"] for data in (one.data, tmp_path / "back")]
    assert held[0] == held[1]
    assert held[0]["entries"] == 1
