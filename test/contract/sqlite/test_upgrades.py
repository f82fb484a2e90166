"""A database of every schema that ever landed opens as one of today, with everything that it held."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Document, Episode, EpisodesWanted, Namespace, Note, Scope, Turn
from ovos_persona_memory.stores.base.facts import EVERY_STATUS
from ovos_persona_memory.stores.base.vector_math import normalised
from ovos_persona_memory.stores.sqlite import copies, database_file
from ovos_persona_memory.stores.sqlite.database_file import APPLICATION_ID, STEPS
from ovos_persona_memory.stores.sqlite.store import SqliteStore

SINCE = {"note": 2, "document": 2, "fact": 7, "ledger": 9, "episode": 10}
"""The step that brought a table."""


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a memory of today that holds something of every kind."""
    folder = tmp_path_factory.mktemp("today")
    with PersonaMemory.open(folder) as memory:
        for number in range(40):
            said = [Turn("user", f"my neighbour's cat number {number} is called Bob{number}", lang="en-US")]
            memory.record(
                [*said, Turn("assistant", f"answer {number}")],
                Scope(f"s{number % 3}", ("household", "ada")[number % 2]),
            )
        memory.record([Turn("user", "my name is Ann", lang="en-US")], Scope("s0", "ada"))
        memory.remember("the bins go out on Tuesday", key="bins", metadata={"n": 1}, lang="en-US")
        memory.remember("the key is under the stone", Scope(user_id="ada"), key="key", lang="en-US")
        memory.update_session(Scope("s1", "ada"), summary="they talked of cats")
        memory.forget(Scope(), query="Bob4 neighbour")
        store = memory._store
        store.episode_store.add(Episode("intent", 1.0, "e0", outcome="handled", latency_ms=3.5), "lamp")
        row = normalised(np.arange(1, 9, dtype=np.float32))
        store.document_store.put(Document("d", "a recipe of bread", {"a": 1}), "recipe bread", row)
    return folder / "memory.db"


def of_step(today: Path, target: Path, step: int) -> None:
    """A database as this step left it, with the rows of today's as far as it had their tables and columns."""
    with closing(sqlite3.connect(target, isolation_level=None)) as old:
        for path in STEPS[:step]:
            old.executescript(path.read_text("utf-8"))
        old.execute("DELETE FROM sqlite_sequence") if _has(old, "sqlite_sequence") else None
        old.execute("ATTACH DATABASE ? AS now", (str(today),))
        for (table,) in old.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [name for name in _columns(old, "main", table) if name in _columns(old, "now", table)]
            if columns and not table.startswith("sqlite_"):
                named = ", ".join(columns)
                old.execute(f"DELETE FROM main.{table}")
                old.execute(f"INSERT INTO main.{table} ({named}) SELECT {named} FROM now.{table}")
        old.execute("DETACH DATABASE now")
        old.execute(f"PRAGMA user_version = {step:d}")
        old.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")


def _has(connection: sqlite3.Connection, table: str) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None


def _columns(connection: sqlite3.Connection, schema: str, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA {schema}.table_info({table})")]


def held(store: SqliteStore) -> dict[str, Sequence[Any]]:
    """What a store holds, by the table that keeps it."""
    return {
        "turn": store.turns(Scope.everyone()),
        "entry": store.entries(Scope.whole()),
        "note": store.notes(Scope.everyone()),
        "document": [one.document for one in store.document_store.held(Namespace("household", "default"))],
        "fact": list(store.fact_store.held(None, EVERY_STATUS)),
        "ledger": sorted(store.ledger_store.listed("forgotten")),
        "episode": store.episode_store.episodes(EpisodesWanted(Scope.everyone(), limit=1000)),
    }


def as_of(step: int, name: str, records: Sequence[Any]) -> Sequence[Any]:
    """The records as a database of this step could hold them."""
    if step < SINCE.get(name, 1):
        return []
    if name == "note" and step < 14:
        return [(user, session, _undated(note)) for user, session, note in records]
    if name == "entry" and step < 9:
        return [_without_turn(one) for one in records]
    return records


def _undated(note: Note) -> Note:
    return replace(note, summarised_at=0.0)


def _without_turn(entry: Any) -> Any:
    return replace(entry, turn_id=None)


@pytest.mark.parametrize("step", range(1, len(STEPS) + 1))
def test_what_a_database_of_any_step_held_is_there(today: Path, tmp_path: Path, step: int) -> None:
    with closing(SqliteStore(_copied(today, tmp_path / "now"))) as store:
        wanted = held(store)
    assert all(wanted.values()), "a kind without a record proves nothing"
    folder = tmp_path / "old"
    folder.mkdir()
    of_step(today, folder / "memory.db", step)
    for _ in range(2):
        with closing(SqliteStore(folder)) as store:
            assert store.details()["set_aside"] == []
            assert store.details()["schema"] == len(STEPS)
            found = held(store)
            assert {name: list(found[name]) for name in found} == {
                name: list(as_of(step, name, records)) for name, records in wanted.items()
            }
            assert store.search(["bob7"], Scope.everyone(), frozenset({"turn"}), 5)
    with PersonaMemory.open(folder) as memory:
        memory.record([Turn("user", "my dog is called Rex")], Scope("later"))
        assert memory.recall("what is my dog called")[0].sure
        assert memory.get("bins") is not None


def test_a_backup_of_an_older_schema_is_restored_and_upgraded(today: Path, tmp_path: Path) -> None:
    of_step(today, tmp_path / "backup", 3)
    copies.put_in_place(tmp_path / "backup", None, tmp_path / "memory" / "memory.db", None)
    with closing(SqliteStore(tmp_path / "memory")) as store:
        assert (store.details()["schema"], store.counts().entries) == (len(STEPS), 2)
    with closing(sqlite3.connect(tmp_path / "backup")) as connection:
        assert database_file.schema_step(connection) == 3


def _copied(database: Path, folder: Path) -> Path:
    folder.mkdir()
    copies.write_copy(database, None, folder / "memory.db", None)
    return folder
