"""Tables of every step that ever landed open as those of today, with everything that they held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import psycopg
import pytest

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Document, Episode, EpisodesWanted, Namespace, Scope, Turn
from ovos_persona_memory.stores.base.facts import EVERY_STATUS
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.base.vector_math import normalised
from ovos_persona_memory.stores.postgres import migrations
from ovos_persona_memory.stores.postgres.store import open_postgres

pytestmark = pytest.mark.full

COLUMNS = (
    "SELECT table_name, column_name FROM information_schema.columns"
    " WHERE table_schema = 'persona_memory' AND is_generated = 'NEVER' ORDER BY ordinal_position"
)


def fill(store: Store) -> None:
    """Something of every kind."""
    memory = PersonaMemory(store, MemoryConfig(), lambda: 5000.0)
    for number in range(6):
        said = [
            Turn("user", f"my neighbour's cat number {number} is called Bob{number}", at=1000.0 + number, lang="en-US")
        ]
        memory.record([*said, Turn("assistant", f"answer {number}", at=1000.5 + number)], Scope("s1", "ada"))
    memory.record([Turn("user", "i live in Lisbon", at=2000.0, lang="en-US")], Scope("s2", "ada"))
    memory.remember("the bins go out on Tuesday", Scope(user_id="ada"), key="bins", metadata={"n": 1})
    memory.forget(Scope(user_id="ada"), query="Bob4")
    memory.update_session(Scope("s1", "ada"), summary="they talked of cats")
    store.episode_store.add(Episode("intent", 1.0, "e0", outcome="handled", latency_ms=3.5), "lamp")
    row = normalised(np.arange(1, 9, dtype=np.float32))
    store.document_store.put(Document("d", "a recipe of bread", {"a": 1}), "recipe bread", row)


def held(store: Store) -> dict[str, Sequence[Any]]:
    """What a store holds, by kind."""
    return {
        "turn": store.turns(Scope.everyone()),
        "entry": store.entries(Scope.whole()),
        "note": store.notes(Scope.everyone()),
        "document": [one.document for one in store.document_store.held(Namespace("household", "default"))],
        "fact": list(store.fact_store.held(None, EVERY_STATUS)),
        "ledger": sorted(store.ledger_store.listed("forgotten")),
        "episode": store.episode_store.episodes(EpisodesWanted(Scope.everyone(), limit=1000)),
    }


def columns(connection: psycopg.Connection[Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(COLUMNS).fetchall():
        found.setdefault(table, []).append(column)
    return found


def of_step(today: str, url: str, step: int, patch: pytest.MonkeyPatch) -> None:
    """Tables as this step left them, with the rows of today's as far as they had their tables and columns."""
    with psycopg.connect(url, autocommit=True) as old, psycopg.connect(today, autocommit=True) as now:
        old.execute("DROP SCHEMA persona_memory CASCADE")
        for connection in (old, now):
            connection.execute("SET search_path TO persona_memory, public")
        with patch.context() as earlier:
            earlier.setattr(migrations, "STEPS", migrations.STEPS[:step])
            migrations.migrate(old, "persona_memory")
        known = columns(now)
        for table, own in columns(old).items():
            if table != "schema_step":
                named = ", ".join(column for column in own if column in known.get(table, ()))
                old.execute(f"DELETE FROM {table}")
                copied = now.cursor().copy(f"COPY {table} ({named}) TO STDOUT")
                with copied as rows, old.cursor().copy(f"COPY {table} ({named}) FROM STDIN") as into:
                    for part in rows:
                        into.write(part)


@pytest.mark.parametrize("step", range(1, len(migrations.STEPS)))
def test_what_tables_of_any_step_held_is_there(
    postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    today, url = postgres(), postgres()
    store = open_postgres(today)
    fill(store)
    wanted = held(store)
    store.close()
    assert [name for name in wanted if not wanted[name]] == [], "a kind without a record proves nothing"
    if step < 6:  # it did not tell when a summary was written
        wanted["note"] = [(user, session, replace(note, summarised_at=0.0)) for user, session, note in wanted["note"]]
    of_step(today, url, step, monkeypatch)
    for _ in range(2):
        store = open_postgres(url)
        assert held(store) == wanted
        assert store.search(["bob3"], Scope.everyone(), frozenset({"turn"}), 5)
        store.close()
