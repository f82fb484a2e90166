"""The SQLite file itself: opening, setting aside, permissions, a full disk, locks, schema steps, kill -9."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ovos_persona_memory.errors import ConfigError, StoreDamaged, StoreError, StoreUnavailable
from ovos_persona_memory.records import Entry, Scope, Selection, Turn
from ovos_persona_memory.stores import open_store
from ovos_persona_memory.stores.sqlite.database_file import STEPS, inspect
from ovos_persona_memory.stores.sqlite.store import SqliteStore

ROOT = Path(__file__).parents[3]
NOBODY = 65534
NOW = 1795298400.0  # 2026-11-21T22:00:00Z
Opened = Callable[[], SqliteStore]


def say(store: SqliteStore, number: int, text: str = "the cat sat") -> Turn:
    return store.add_turn(Turn(role="user", text=text, at=float(number), id=f"t{number}"), text)


def filled(opened: Opened, turns: int = 300) -> None:
    store = opened()
    with store.transaction():
        for number in range(turns):
            say(store, number)
    store.close()


# opening


def test_an_unknown_backend_is_named(home: Path) -> None:
    with pytest.raises(ConfigError, match="'mongo'"):
        open_store("mongo", home)
    with pytest.raises(ConfigError, match="folder"):
        open_store("sqlite", None)


def test_the_settings_that_keep_the_promises(opened: Opened) -> None:
    store = opened()
    read = {name: store._sql.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
    read |= {name: store._sql.execute(f"PRAGMA {name}").fetchone()[0] for name in ("secure_delete", "temp_store")}
    assert read == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "temp_store": 2}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_folder_and_files_are_the_owners_alone(opened: Opened, home: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        say(opened(), 1)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [home, *home.iterdir()]}
    finally:
        os.umask(before)
    assert modes.pop("memory") == 0o700
    assert set(modes) == {"memory.db", "memory.db-wal", "memory.db-shm", "memory.lock"}
    assert set(modes.values()) == {0o600}


def test_a_file_that_others_could_read_is_closed_to_them(opened: Opened, database: Path) -> None:
    filled(opened, 1)
    database.chmod(0o644)
    opened()
    assert stat.S_IMODE(database.stat().st_mode) == 0o600


def test_details_tell_the_owner_about_the_file(opened: Opened, database: Path) -> None:
    details = opened().details()
    assert details["path"] == str(database)
    assert details["bytes"] >= database.stat().st_size > 0
    assert (details["schema"], details["sqlite"], details["set_aside"]) == (len(STEPS), sqlite3.sqlite_version, [])


# setting aside


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4096)


def cut_in_a_page(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def only_a_start(path: Path) -> None:
    os.truncate(path, 50)


def garbage_header(path: Path) -> None:
    path.write_bytes(b"garbage " * 20 + path.read_bytes()[160:])


def malformed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[3 * 4096 : 9 * 4096] = b"\xa5" * (6 * 4096)
    path.write_bytes(content)


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipe (name)")


def too_new(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def a_table_short(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE word")


DAMAGES = [a_table_short, truncated, cut_in_a_page, only_a_start, garbage_header, malformed, foreign, too_new]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_cannot_be_used_is_set_aside_whole(
    opened: Opened, database: Path, damage: Callable[[Path], None]
) -> None:
    filled(opened)
    damage(database)
    content = database.read_bytes()
    store = opened()
    aside = database.with_name("memory.db.damaged-20261121T220000Z")
    (noted,) = store.details()["set_aside"]
    assert noted["path"] == str(aside)
    assert noted["reason"].startswith({"foreign": "foreign", "too_new": "too new"}.get(damage.__name__, "damaged"))
    assert aside.read_bytes() == content
    assert store.counts().turns == 0
    say(store, 1)
    assert [aside["path"] for aside in opened().details()["set_aside"]] == [noted["path"]]


@pytest.mark.parametrize("damage", DAMAGES)
def test_inspecting_says_what_is_wrong_and_changes_nothing(
    opened: Opened, database: Path, damage: Callable[[Path], None]
) -> None:
    filled(opened)
    assert inspect(database) is None
    damage(database)
    before = {path.name: path.read_bytes() for path in database.parent.iterdir()}
    assert inspect(database)
    assert {path.name: path.read_bytes() for path in database.parent.iterdir()} == before


def test_damage_that_only_the_first_look_meets_is_set_aside(
    opened: Opened, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file too large to be checked page by page is opened, and read here and there."""
    filled(opened)
    malformed(database)
    monkeypatch.setattr("ovos_persona_memory.stores.sqlite.database_file.CHECKED_BYTES", 0)
    assert opened().details()["set_aside"][0]["reason"]


def test_inspecting_nothing_makes_nothing(home: Path, database: Path) -> None:
    home.mkdir()
    assert inspect(database) is None
    assert list(home.iterdir()) == []


def test_setting_aside_overwrites_nothing_and_takes_the_journal_along(opened: Opened, database: Path) -> None:
    earlier = database.with_name("memory.db.damaged-20261121T220000Z")
    for _ in range(2):
        filled(opened)
        garbage_header(database)
        database.with_name("memory.db-wal").write_bytes(b"journal")
        opened().close()
    names = sorted(path.name for path in database.parent.glob("*damaged*"))
    second = f"{earlier.name}-2"
    assert names == sorted([earlier.name, f"{earlier.name}-wal", second, f"{second}-wal"])
    assert {path.read_bytes() for path in database.parent.glob("*damaged*-wal")} == {b"journal"}


def test_damage_met_while_reading_is_named(opened: Opened, database: Path) -> None:
    store = opened()
    say(store, 1)
    store._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store._sql.execute("PRAGMA cache_size = 0")
    content = bytearray(database.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    database.write_bytes(content)
    with pytest.raises(StoreDamaged, match=r"memory\.db"):
        store.search(["cat"], Scope(), frozenset({"turn"}), 5)


# folders that cannot be used


def test_a_folder_that_is_a_file_is_unavailable(home: Path) -> None:
    home.write_text("not a folder")
    with pytest.raises(StoreUnavailable, match=str(home)):
        SqliteStore(home)
    with pytest.raises(StoreUnavailable, match=str(home)):
        SqliteStore(home / "deeper")


OPEN_AS_NOBODY = f"""
import os, sys
from pathlib import Path
from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.stores import open_store
import ovos_persona_memory.stores.sqlite.store
if os.geteuid() == 0:
    os.setgroups([]), os.setgid({NOBODY}), os.setuid({NOBODY})
try:
    open_store("sqlite", Path(sys.argv[1]))
except StoreError as error:
    print(error.code, error.reason)
"""


@pytest.mark.full
@pytest.mark.parametrize("case", ["read-only folder", "closed folder", "no new folder", "file of another mode"])
def test_without_permission_the_store_is_unavailable(
    tmp_path_factory: pytest.TempPathFactory, answer_of: Callable[..., str], case: str
) -> None:
    home = Path(tmp_path_factory.mktemp("shared"), "memory")
    for parent in (home.parent, home.parent.parent):
        parent.chmod(0o755)
    home.mkdir()
    if case == "file of another mode":
        home.chmod(0o777)
        (home / "memory.db").touch(0o400)
        os.chmod(home / "memory.db", 0o000)  # noqa: PTH101 - the mode, whoever we are
    else:
        home.chmod({"read-only folder": 0o555, "closed folder": 0o000}.get(case, 0o555))
    target = home / "new" if case == "no new folder" else home
    said = answer_of(OPEN_AS_NOBODY, target)
    home.chmod(0o755)
    assert said.startswith("store_unavailable")
    assert str(home) in said
    assert "let this user" in said


# schema steps


def test_a_schema_step_is_applied_once_and_noted(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(opened, 3)
    from ovos_persona_memory.stores.sqlite import database_file

    step = tmp_path / "next.sql"
    step.write_text("CREATE TABLE extra (a);\nINSERT INTO extra VALUES (1);\n")
    monkeypatch.setattr(database_file, "STEPS", [*database_file.STEPS, step])
    opened()
    store = opened()
    assert store._sql.execute("SELECT count(*) FROM extra").fetchone()[0] == 1
    assert (store.details()["schema"], store.counts().turns) == (len(STEPS) + 1, 3)


def test_a_schema_step_that_fails_changes_nothing(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(opened, 3)
    from ovos_persona_memory.stores.sqlite import database_file

    step = tmp_path / "next.sql"
    step.write_text("CREATE TABLE extra (a);\nINSERT INTO nowhere_to_be_found(a, b) SELECT 1;\n")
    with monkeypatch.context() as patched:
        patched.setattr(database_file, "STEPS", [*database_file.STEPS, step])
        with pytest.raises(StoreError):
            opened()
    store = opened()
    assert store._sql.execute("SELECT count(*) FROM sqlite_master WHERE name = 'extra'").fetchone()[0] == 0
    assert (store.details()["schema"], store.counts().turns) == (len(STEPS), 3)


BEFORE_PERSONAS = 11
"""The last step with which a key was its user's alone, whichever persona kept it."""


BEFORE_TOOL_ERRORS = 12
"""The last step with which no tool's result said that the tool had failed."""
TAKEN_BACK = {
    12: (
        "DROP INDEX entry_key",
        "CREATE UNIQUE INDEX entry_key ON entry (owner, key_hash)",
        "ALTER TABLE entry DROP COLUMN status",
    ),
    13: ("ALTER TABLE turn DROP COLUMN is_error", "ALTER TABLE turn DROP COLUMN unlearned"),
    14: ("ALTER TABLE note DROP COLUMN summarised_at",),
}
"""What undoes a step, by its number."""


def tables_of(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
    return [(name, " ".join(sql.split())) for name, sql in found]


def as_it_was(database: Path, step: int) -> None:
    """Take the steps after this one back, and prove that nothing of them is left."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        for number in range(len(STEPS), step, -1):
            for statement in TAKEN_BACK[number]:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {step:d}")
        found = tables_of(connection)
    with closing(sqlite3.connect(":memory:")) as fresh:
        for path in STEPS[:step]:
            fresh.executescript(path.read_text("utf-8"))
        assert found == tables_of(fresh)


def test_memories_of_before_a_persona_named_them_are_all_there(opened: Opened, database: Path) -> None:
    store = opened()
    kept = [
        store.put_entry(Entry(key, f"of {owner}", {"a": 1}, f"{key} {owner}", persona_id=owner, updated_at=5.0), "of")
        for key, owner in (("safe", "Ada"), ("bins", None), ("boat", "Eve"))
    ]
    store.put_entry(Entry("safe", "bob's", id="b", user_id="bob", persona_id="Eve"), "bob")
    store.close()
    as_it_was(database, BEFORE_PERSONAS)
    for _ in range(2):
        store = opened()
        assert (store.details()["schema"], store.details()["index_rebuilt"]) == (len(STEPS), False)
        assert sorted(store.entries(Scope()), key=lambda one: one.seq) == kept
        assert [store.entry(one.key, "household", one.persona_id) for one in kept] == kept
    other = store.put_entry(Entry("safe", "of Eve", id="new", persona_id="Eve"), "of")
    assert (store.entry("safe", "household", "Ada"), store.entry("safe", "household", "Eve")) == (kept[0], other)
    assert len(store.search(["of"], Scope(), frozenset({"memory"}), 9)) == len(kept) + 1
    assert [one.text for one in store.entries(Scope(user_id="bob"))] == ["bob's"]


def test_turns_of_before_a_tools_result_could_be_an_error_are_all_there(opened: Opened, database: Path) -> None:
    store = opened()
    result = Turn(
        "tool", "no such room", at=5.0, id="r", session_id="s", tool_call_id="c", name="light", redacted=False
    )
    kept = [
        store.add_turn(Turn("user", "light on", at=4.0, id="u", session_id="s", linked=True), "light"),
        store.add_turn(result, "room"),
    ]
    store.close()
    as_it_was(database, BEFORE_TOOL_ERRORS)
    for _ in range(2):
        store = opened()
        assert (store.details()["schema"], store.details()["index_rebuilt"]) == (len(STEPS), False)
        assert store.turns(Scope()) == kept
    store.change_turn(replace(kept[1], is_error=True, unlearned=True), "room")
    store.close()
    assert opened().turns(Scope()) == [kept[0], replace(kept[1], is_error=True, unlearned=True)]


# the word index


@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM posting WHERE doc = 300",
        "DELETE FROM word",
        "UPDATE owner SET documents = 7",
        "DELETE FROM posting",
    ],
)
def test_a_word_index_that_lost_something_is_rebuilt(opened: Opened, database: Path, loss: str) -> None:
    filled(opened)
    while opened().tidy():
        pass
    expected = opened().search(["cat"], Scope(), frozenset({"turn"}), 400)
    opened().close()
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(loss)
    store = opened()
    assert store.details()["index_rebuilt"]
    assert store.search(["cat"], Scope(), frozenset({"turn"}), 400) == expected
    assert not opened().details()["index_rebuilt"]


def fill_up(store: SqliteStore, number: int, letter: str = "x") -> None:
    with store.transaction():
        for n in range(number):
            store.add_turn(Turn("user", f"{n} " + letter * 1000, id=f"{letter}{n}", at=float(n)), f"word {n}")


def test_a_file_that_is_mostly_empty_is_written_anew(opened: Callable[[], SqliteStore], database: Path) -> None:
    store = opened()
    fill_up(store, 5000)
    assert not store.compact(), "nothing was forgotten"
    store.delete(Selection(Scope(), since=100.0))
    store.purge()
    before = database.stat().st_size
    assert store.compact()
    assert database.stat().st_size < before / 4
    assert not store.compact(), "once"
    assert [turn.text[:3].strip() for turn in store.turns(Scope(), limit=2)] == ["98", "99"]
    assert len(store.search(["word"], Scope(), frozenset({"turn"}), 200)) == 100
    fill_up(store, 3, "y")
    store = opened()
    assert len(store.turns(Scope())) == 103


def test_a_small_file_and_one_that_is_mostly_full_stay_as_they_are(opened: Callable[[], SqliteStore]) -> None:
    store = opened()
    fill_up(store, 100)
    store.delete(Selection(Scope()))
    store.purge()
    assert not store.compact(), "too small"
    fill_up(store, 5000, "y")
    store.delete(Selection(Scope(), until=1000.0))
    store.purge()
    assert not store.compact(), "four fifths are full"


def test_writing_anew_that_was_cut_short_is_finished_by_opening(
    opened: Callable[[], SqliteStore], database: Path
) -> None:
    store = opened()
    fill_up(store, 5000)
    store.delete(Selection(Scope(), since=100.0))
    store.purge()
    before = database.stat().st_size
    store._sql.execute("INSERT INTO pending (what) VALUES ('compact')")  # as after kill -9 in the middle
    store = opened()
    assert database.stat().st_size < before / 4
    assert len(store.turns(Scope())) == 100
    assert store._sql.execute("SELECT count(*) FROM pending").fetchone() == (0,)


def test_while_it_is_written_anew_no_byte_of_what_was_forgotten_comes_back(
    opened: Callable[[], SqliteStore], home: Path
) -> None:
    store = opened()
    fill_up(store, 3000, "q")
    fill_up(store, 200, "k")
    store.delete(Selection(Scope(), ids=tuple(f"q{n}" for n in range(3000))))
    store.purge()
    assert store.compact()
    content = b"".join(path.read_bytes() for path in home.iterdir() if path.is_file())
    assert b"qqqq" not in content
    assert content.count(b"k" * 1000) == 200, "and what is kept is there once"
