"""What the SQLite store holds of its vectors in memory."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores.base.vectors import VectorIndex
from ovos_persona_memory.stores.sqlite import vectors
from ovos_persona_memory.stores.sqlite.store import SqliteStore
from ovos_persona_memory.stores.sqlite.vectors import SqliteVectors

INDEX = VectorIndex("model-1", "minilm", 8)


def kept(home: Path) -> SqliteStore:
    """Three people, who have said 30, 20 and 10 things."""
    store = SqliteStore(home)
    store.vector_store.start(INDEX)
    for n in range(60):
        user_id = "ann" if n < 30 else "ben" if n < 50 else "cid"
        store.add_turn(Turn("user", f"text {n}", 1000.0 + n, id=f"t{n}", user_id=user_id), "text")
    taken = store.vector_store.pending(INDEX.name, 100)
    store.vector_store.put(INDEX.name, taken, np.ones((len(taken), 8), dtype=np.int8))
    store.close()
    return SqliteStore(home)


def in_memory(store: SqliteStore) -> list[int]:
    vectors = store.vector_store
    assert isinstance(vectors, SqliteVectors)
    return sorted((len(held.table) for held in vectors._tables.values()), reverse=True)


def test_everybody_is_read_ahead_the_busiest_first(home: Path) -> None:
    with closing(kept(home)) as store:
        assert in_memory(store) == []
        store.vector_store.warm_others(INDEX.name, lambda: False)
        assert in_memory(store) == [30, 20, 10]
        near = store.vector_store.nearest(
            INDEX.name, np.ones(8, dtype=np.float32), Scope(user_id="ben"), frozenset({"turn"}), 100
        )
        assert {one.record.user_id for one in near} == {"ben"} and len(near) == 20


def test_no_more_is_read_ahead_than_memory_is_meant_for_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(kept(home)) as store:
        monkeypatch.setattr(vectors, "CACHED_BYTES", 2 * vectors.size_of(30, 8))
        store.vector_store.warm_others(INDEX.name, lambda: False)
        assert in_memory(store) == [30, 20]


def test_nothing_is_read_ahead_once_it_is_to_stop(home: Path) -> None:
    with closing(kept(home)) as store:
        store.vector_store.warm_others(INDEX.name, lambda: True)
        store.vector_store.warm_others("another", lambda: False)
        assert sum(in_memory(store)) == 0
