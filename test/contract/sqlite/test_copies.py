"""Copies of a database over which a process was killed: the old or the new one is left, and nothing beside it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from support.filled import fill

from ovos_persona_memory.memory.migration import digests
from ovos_persona_memory.stores.sqlite import copies
from ovos_persona_memory.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.full

Python = Callable[..., "subprocess.Popen[str]"]
NAMES = ["default", "own"]
KILLED = """
import os, signal, sys
from pathlib import Path
from ovos_persona_memory.stores.sqlite import copies

EVENTS, count = ("os.rename", "os.remove", "sqlite3.connect", "open"), 0


def count_down(event, arguments):
    global count
    if event in EVENTS and arguments and sys.argv[3] in str(arguments[0]):
        count += 1
        if count == int(sys.argv[4]):
            os.kill(os.getpid(), signal.SIGKILL)


sys.addaudithook(count_down)
copies.put_in_place(Path(sys.argv[1]), None, Path(sys.argv[2]), None)
"""


def test_restoring_that_is_killed_anywhere_leaves_the_old_memory_or_the_new_one(tmp_path: Path, python: Python) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    fill(str(other))
    with closing(SqliteStore(home)) as store:
        old = digests(store, NAMES)
    with closing(SqliteStore(other)) as store:
        new = digests(store, NAMES)
    copies.write_copy(other / "memory.db", None, tmp_path / "backup", None)
    copies.write_copy(home / "memory.db", None, tmp_path / "first", None)
    found = []
    for number in range(1, 60):
        with python(KILLED, tmp_path / "backup", home / "memory.db", home, number) as child:
            out, err = child.communicate(timeout=60)
        with closing(SqliteStore(home)) as store:
            assert store.details()["set_aside"] == []
            found.append(digests(store, NAMES))
        assert found[-1] in (old, new)
        assert {path.name for path in home.iterdir()} <= {"memory.db", "memory.lock"}
        if child.returncode == 0:
            break
        assert child.returncode == -signal.SIGKILL, (out, err)
        copies.put_in_place(tmp_path / "first", None, home / "memory.db", None)
    assert found.index(new) > 3, "it was never killed before it had begun"
    assert found[-1] == new


def test_copies_that_were_left_behind_go_and_those_in_use_stay(tmp_path: Path) -> None:
    fill(str(tmp_path))
    with copies.copied_folder(tmp_path / "memory.db", None) as held, closing(SqliteStore(held)):
        left = tmp_path / f"{copies.COPY}left"
        left.mkdir()
        (left / "memory.db").write_bytes(b"old")
        for folder in (left, held):
            os.utime(folder, (1.0, 1.0))
        SqliteStore(tmp_path).close()
        assert (left.exists(), held.exists()) == (False, True)
    assert not held.exists()


@pytest.mark.parametrize("age_s", [0.0, 1000.0])
def test_a_part_of_a_backup_that_was_killed_goes_with_the_next_one(tmp_path: Path, age_s: float) -> None:
    fill(str(tmp_path / "home"))
    part = tmp_path / ".backup-abc"
    part.write_bytes(b"a part")
    os.utime(part, (part.stat().st_mtime - age_s,) * 2)
    copies.write_copy(tmp_path / "home" / "memory.db", None, tmp_path / "backup", None)
    assert part.exists() == (age_s == 0.0)
