"""What the SQLite store survives: a full disk, a second owner, another program, kill -9."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ovos_persona_memory.errors import StoreBusy, StoreError, StoreFull
from ovos_persona_memory.records import Entry, Scope, Selection, Turn
from ovos_persona_memory.stores.sqlite.store import SqliteStore

pytestmark = pytest.mark.full

Opened = Callable[[], SqliteStore]
Python = Callable[..., subprocess.Popen[str]]


def say(store: SqliteStore, number: int, text: str = "the cat sat") -> Turn:
    return store.add_turn(Turn(role="user", text=text, at=float(number), id=f"t{number}"), text)


# a full disk


def test_a_full_disk_keeps_what_is_there_and_goes_on_when_there_is_room(opened: Opened) -> None:
    """The disk is a limit on SQLite's pages: it works without root, and fails where a full disk does."""
    store = opened()
    say(store, 1)
    store._sql.execute(f"PRAGMA max_page_count = {store._sql.execute('PRAGMA page_count').fetchone()[0] + 2}")
    with pytest.raises(StoreFull, match="free some space"):
        say(store, 2, "word " * 20_000)
    with pytest.raises(StoreFull), store.transaction():
        store.put_state("name", "value")
        store.put_entry(Entry("key", "y" * 200_000), "")
    assert [turn.id for turn in store.turns(Scope())] == ["t1"]
    assert store.state("name") is None
    store._sql.execute("PRAGMA max_page_count = 1000000")
    say(store, 2, "word " * 20_000)
    assert opened().counts().turns == 2


FILL_THE_DISK = """
import resource, signal, sys
from pathlib import Path
from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records.core import Scope, Turn
from ovos_persona_memory.stores import open_store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = open_store("sqlite", Path(sys.argv[1]))
largest = max(path.stat().st_size for path in Path(sys.argv[1]).iterdir())  # the journal: the tables were just made
resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 200_000, -1))
said, kept = [], 0
for number in range(400):
    try:
        store.add_turn(Turn(role="user", text="x" * 5000, at=1.0, id=f"t{number}"), "x")
        kept += 1
    except StoreError as error:
        said.append(error.code)
assert said and kept, (said, kept)
assert len(store.turns(Scope())) == kept
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
store.add_turn(Turn(role="user", text="room", at=1.0, id="room"), "room")
print(kept + 1)
"""


def test_a_write_that_the_system_refuses_loses_nothing(
    opened: Opened, home: Path, answer_of: Callable[..., str]
) -> None:
    kept = int(answer_of(FILL_THE_DISK, home))
    assert opened().counts().turns == kept


# locks


def test_two_owners_of_a_folder_are_one_too_many(opened: Opened, home: Path) -> None:
    store = opened()
    with pytest.raises(StoreBusy, match=str(os.getpid())):
        SqliteStore(home)
    store.close()
    SqliteStore(home).close()


HOLD = """
import sys
from pathlib import Path
from ovos_persona_memory.stores import open_store
store = open_store("sqlite", Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.readline()
"""


def test_the_lock_names_its_process_and_goes_with_it(opened: Opened, home: Path, python: Python) -> None:
    with python(HOLD, home) as child:
        assert child.stdout and child.stdout.readline() == "open\n"
        with pytest.raises(StoreBusy, match=f"process {child.pid} "):
            opened()
        child.send_signal(signal.SIGKILL)
        child.communicate()
    assert opened().counts().turns == 0


def test_another_program_in_the_database_makes_it_busy(opened: Opened, database: Path) -> None:
    store = opened()
    store._sql.execute("PRAGMA busy_timeout = 0")
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="another program"):
            say(store, 1)
        other.execute("ROLLBACK")
        other.execute("BEGIN")
        other.execute("SELECT * FROM turn").fetchall()
        say(store, 1)
        store.delete(Selection(Scope()))
        with pytest.raises(StoreBusy):
            store.purge()
        other.execute("ROLLBACK")
    store.purge()
    assert store._sql.execute("SELECT * FROM pending").fetchall() == []


def test_a_closed_store_answers_with_a_store_error(opened: Opened) -> None:
    store = opened()
    store.close()
    with pytest.raises(StoreError):
        store.turns(Scope())


# kill -9

WRITE_FOREVER = """
import sys
from pathlib import Path
from ovos_persona_memory.records.core import Entry, Turn
from ovos_persona_memory.stores import open_store
store = open_store("sqlite", Path(sys.argv[1]))
for number in range(1_000_000):
    name = f"{sys.argv[2]}-{number}"
    with store.transaction():
        store.add_turn(Turn(role="user", text=f"the cat {name}", at=1.0, id=name), f"cat {name}")
        store.put_entry(Entry("newest", name), name)
    print(name, flush=True)
"""


def test_nothing_acknowledged_is_lost_or_doubled_by_kill_9(opened: Opened, home: Path, python: Python) -> None:
    acknowledged: list[str] = []
    for number in range(4):
        with python(WRITE_FOREVER, home, number) as child:
            assert child.stdout
            for _ in range(5 + 17 * number):
                acknowledged.append(child.stdout.readline().strip())
            child.kill()
            acknowledged += child.stdout.read().split()
    store = opened()
    kept = [turn.id for turn in store.turns(Scope())]
    assert not store.details()["set_aside"]
    assert len(kept) == len(set(kept)) == store.counts().turns
    assert set(acknowledged) <= set(kept)
    assert len(kept) - len(set(acknowledged)) <= 4
    newest = store.entry("newest", "household")
    assert newest and newest.text == kept[-1]
    found = store.search(["cat"], Scope(), frozenset({"turn"}), len(kept) + 9)
    assert {item.record.id for item in found} == set(kept)


def test_a_copy_taken_with_its_journal_opens_as_it_was(opened: Opened, home: Path, tmp_path: Path) -> None:
    store = opened()
    for number in range(20):
        say(store, number)
    shutil.copytree(home, tmp_path / "copy")
    with closing(SqliteStore(tmp_path / "copy")) as copied:
        assert copied.turns(Scope()) == store.turns(Scope())
