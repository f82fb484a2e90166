"""The tables of the PostgreSQL store: who makes them, what their keys are, who sees them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import psycopg
import pytest
from support.servers.postgres import Databases

from ovos_persona_memory.errors import StoreDamaged, StoreUnavailable
from ovos_persona_memory.records import (
    Document,
    Entry,
    Episode,
    Fact,
    Namespace,
    Note,
    Pause,
    Place,
    Scope,
    Selection,
    Turn,
)
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.base.vectors import VectorIndex, VectorStore
from ovos_persona_memory.stores.postgres import migrations, vectors
from ovos_persona_memory.stores.postgres.connection import PostgresSettings
from ovos_persona_memory.stores.postgres.store import PostgresStore, open_postgres

BOTH = frozenset({"turn", "memory"})

pytestmark = pytest.mark.full


@pytest.fixture
def url(postgres: Callable[[], str]) -> str:
    return postgres()


@pytest.fixture
def empty(url: str) -> str:
    """A database without anything of ours."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA persona_memory CASCADE; DROP EXTENSION vector")
    return url


def query(url: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(sql).fetchall()


def test_daemons_that_start_at_once_make_the_tables_once(empty: str) -> None:
    together = threading.Barrier(6)

    def start(number: int) -> int:
        together.wait()
        store = open_postgres(empty)
        store.put_state(f"daemon {number}", "ready")
        store.close()
        return number

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(start, range(6))) == list(range(6))
    steps = query(empty, "SELECT step FROM persona_memory.schema_step ORDER BY step")
    assert steps == [(number,) for number in range(1, len(migrations.STEPS) + 1)]
    assert query(empty, "SELECT count(*) FROM persona_memory.state WHERE value = 'ready'") == [(6,)]


def test_a_step_that_fails_leaves_nothing_behind(empty: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    class Broken:
        def read_bytes(self) -> bytes:
            return b"CREATE TABLE half (n integer); SELECT 1 / 0"

    good = migrations.STEPS
    monkeypatch.setattr(migrations, "STEPS", [*good, Broken()])
    with pytest.raises(Exception, match="zero"):
        open_postgres(empty)
    assert query(empty, "SELECT nspname FROM pg_namespace WHERE nspname = 'persona_memory'") == []
    monkeypatch.setattr(migrations, "STEPS", good)
    open_postgres(empty).close()


def test_newer_tables_are_left_alone(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO persona_memory.schema_step VALUES (9999)")
    with pytest.raises(StoreDamaged, match="too new"):
        open_postgres(url)


TAKEN_BACK = """
SET search_path TO persona_memory;
ALTER TABLE note DROP COLUMN summarised_at;
ALTER TABLE turn DROP COLUMN is_error, DROP COLUMN unlearned;
DROP INDEX entry_key;
CREATE UNIQUE INDEX entry_key ON entry (household, user_id, md5(key));
ALTER TABLE entry DROP COLUMN status;
ALTER TABLE vector DROP COLUMN status;
DELETE FROM schema_step WHERE step > 3;
"""
"""To the last step with which a key was its user's alone, whichever persona kept it."""
SHAPE = (
    "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns"
    " WHERE table_schema = 'persona_memory' UNION ALL SELECT tablename, indexname, indexdef, '' FROM pg_indexes"
    " WHERE schemaname = 'persona_memory' ORDER BY 1, 2"
)


def test_memories_of_before_a_persona_named_them_are_all_there(
    url: str, postgres: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_postgres(url)
    kept = [
        store.put_entry(Entry(key, f"of {owner}", {"a": 1}, f"{key} {owner}", persona_id=owner, updated_at=5.0), "of")
        for key, owner in (("safe", "Ada"), ("bins", None), ("boat", "Eve"))
    ]
    store.vector_store.start(VectorIndex("model", "minilm", 8))
    pending = store.vector_store.pending("model", 9)
    store.vector_store.put("model", pending, np.ones((len(pending), 8), dtype=np.int8))
    store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TAKEN_BACK)
    with monkeypatch.context() as earlier:
        earlier.setattr(migrations, "STEPS", migrations.STEPS[:3])
        fresh = postgres()
        with psycopg.connect(fresh, autocommit=True) as connection:
            connection.execute("DROP SCHEMA persona_memory CASCADE")
            connection.execute("SET search_path TO persona_memory, public")
            migrations.migrate(connection, "persona_memory")
        columns = [row for row in query(url, SHAPE) if not str(row[1]).startswith("vector_near")]
        assert columns == query(fresh, SHAPE)
    for _ in range(2):
        store = open_postgres(url)
        assert sorted(store.entries(Scope()), key=lambda one: one.seq) == kept
        assert [store.entry(one.key, "household", one.persona_id) for one in kept] == kept
        near = store.vector_store.nearest("model", np.ones(8, dtype=np.float32), Scope(status="accepted"), BOTH, 9)
        assert {one.record.id for one in near} == {one.id for one in kept}
        store.close()
    store = open_postgres(url)
    other = store.put_entry(Entry("safe", "of Eve", id="new", persona_id="Eve"), "of")
    assert (store.entry("safe", "household", "Ada"), store.entry("safe", "household", "Eve")) == (kept[0], other)
    store.close()


def test_turns_of_before_a_tools_result_could_be_an_error_are_all_there(url: str) -> None:
    store = open_postgres(url)
    result = Turn("tool", "no such room", at=5.0, id="r", session_id="s", tool_call_id="c", name="light")
    kept = [
        store.add_turn(Turn("user", "light on", at=4.0, id="u", session_id="s", linked=True), "light"),
        store.add_turn(result, "room"),
    ]
    store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO persona_memory")
        connection.execute("ALTER TABLE turn DROP COLUMN is_error, DROP COLUMN unlearned")
        connection.execute("ALTER TABLE note DROP COLUMN summarised_at")
        connection.execute("DELETE FROM schema_step WHERE step > 4")
    for _ in range(2):
        store = open_postgres(url)
        assert store.turns(Scope()) == kept
        store.close()
    store = open_postgres(url)
    store.change_turn(replace(kept[1], is_error=True, unlearned=True), "room")
    assert store.turns(Scope()) == [kept[0], replace(kept[1], is_error=True, unlearned=True)]
    store.close()


def test_a_user_who_may_not_make_tables_is_told_what_to_do(empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS limited")
        connection.execute("CREATE ROLE limited LOGIN")
    with pytest.raises(StoreUnavailable, match=r"grant|CREATE EXTENSION"):
        open_postgres(empty.replace("postgres@", "limited@"))


def test_every_key_leads_with_household_and_user(url: str) -> None:
    keys = query(
        url,
        "SELECT c.relname, array_agg(a.attname::text ORDER BY k.place)"
        " FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary"
        " LEFT JOIN LATERAL unnest(i.indkey::int[]) WITH ORDINALITY k (number, place) ON true"
        " LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number"
        " WHERE c.relnamespace = 'persona_memory'::regnamespace AND c.relkind = 'r' AND c.relname <> 'schema_step'"
        " GROUP BY 1",
    )
    assert len(keys) > 10
    assert [name for name, columns in keys if columns[:2] != ["household", "user_id"]] == []  # type: ignore[index]


def test_every_other_index_leads_with_the_household(url: str) -> None:
    store = open_postgres(url)
    store.vector_store.start(VectorIndex("model", "minilm", 8))
    store.close()
    found = query(
        url,
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'persona_memory'"
        " AND indexdef NOT LIKE '%(household%' AND tablename <> 'schema_step'",
    )
    # that of lists takes no second column; those of pgvector neither, but each is for some households and users
    assert {name for name, _ in found} == {"episode_used"}
    near = query(url, "SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'vector_near_8%'")
    assert len(near) == vectors.BUCKETS


def test_no_extension_but_pgvector_is_needed(empty: str) -> None:
    open_postgres(empty).close()
    assert {name for (name,) in query(empty, "SELECT extname FROM pg_extension")} == {"plpgsql", "vector"}


# vectors


def searched(store: PostgresStore, scope: Scope, number: int) -> tuple[bool, int]:
    """Whether the nearest are found, and how often the HNSW index was asked."""
    query, asked = np.ones(4, dtype=np.float32), []
    for _ in range(2):
        store._db.all("SELECT pg_stat_force_next_flush()")
        asked += store._db.one(
            "SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE starts_with(indexrelname, 'vector_near')"
        )
        found = store.vector_store.nearest("model", query, scope, BOTH, number)
    return found == VectorStore.nearest(store.vector_store, "model", query, scope, BOTH, number), asked[1] - asked[0]


def test_the_rows_of_a_person_with_few_are_compared_and_hnsw_searches_those_of_a_person_with_many(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "EXACT", 100)
    store, chance = open_postgres(url), np.random.default_rng(1)
    store.vector_store.start(VectorIndex("model", "minilm", 4))
    for number in range(400):
        who = "few" if number % 4 == 0 else "many"
        turn = Turn("user", "cat", at=1.0, id=f"{number}", user_id=who, persona_id=f"{number % 100}")
        store.add_turn(turn, "cat")
    while taken := store.vector_store.pending("model", 1000):
        store.vector_store.put("model", taken, chance.integers(-127, 127, (len(taken), 4), np.int8))
    while store.tidy():
        pass
    store._db.run("ANALYZE vector")
    assert searched(store, Scope(user_id="few"), 10) == (True, 0)
    assert searched(store, Scope(user_id="many"), 10) == (True, 1)
    assert searched(store, Scope(user_id=None), 10) == (True, 0)
    # where HNSW would meet very many rows of others, it is not asked
    monkeypatch.setattr(vectors, "WIDTH", 1)
    assert searched(store, Scope(user_id="many"), 10) == (True, 0)
    # where it meets too few that are in scope, all are compared
    monkeypatch.setattr(vectors, "EXACT", 1)
    assert searched(store, Scope(user_id="many", persona_id="1"), 4) == (True, 1)
    # everybody's are in every bucket
    monkeypatch.setattr(vectors, "WIDTH", 700)
    assert searched(store, Scope(user_id=None), 10) == (True, vectors.BUCKETS)
    store.close()


# households


@pytest.fixture
def houses(url: str) -> Iterator[tuple[PostgresStore, PostgresStore]]:
    stores = [open_postgres(PostgresSettings(url, household=name)) for name in ("north", "south")]
    yield stores[0], stores[1]
    for store in stores:
        store.close()


def fill(store: Store, text: str) -> None:
    """Something of everything, under the same names in each household."""
    store.add_turn(Turn(role="user", text=text, at=1.0, id="turn", session_id="s", lang="en-US"), text)
    store.put_entry(Entry("key", text, id="entry", updated_at=1.0), text)
    store.put_note("household", "s", Note(text))
    store.put_state("name", text)
    store.put_pause(Pause(Place(), 1.0, None, write=False, read=True))
    store.fact_store.put(Fact(text, id="fact", turn_id="turn"), text)
    store.episode_store.add(Episode("recall", 1.0, id="episode", turn_id="turn", used=("turn",)), text)
    store.document_store.put(Document("document", text), text, np.ones(4, dtype=np.float32))
    store.ledger_store.add("forgotten", [7], 1.0)
    index = VectorIndex("model", "minilm", 4)
    store.vector_store.start(index)
    while taken := store.vector_store.pending("model", 10):
        store.vector_store.put("model", taken, np.ones((len(taken), 4), dtype=np.int8))


def everything(store: Store) -> str:
    scope, space = Scope.everyone(), Namespace()
    return repr(
        (
            store.turns(scope),
            store.entries(scope),
            store.sessions(scope),
            store.notes(scope),
            store.users(),
            store.counts(),
            store.pauses(),
            store.state("name"),
            store.languages("household"),
            store.statistics(["cat", "dog"], "household"),
            store.search(["cat", "dog"], scope, BOTH, 9),
            store.fact_store.held(None),
            store.fact_store.fact("fact"),
            store.episode_store.held(None),
            store.episode_store.last_use("turn"),
            list(store.document_store.held(space)),
            store.document_store.count(None),
            store.ledger_store.at("forgotten", 7),
            store.vector_store.indexes(),
            store.vector_store.lag("model"),
            store.vector_store.nearest("model", np.ones(4, dtype=np.float32), Scope(), BOTH, 9),
        )
    )


def test_two_households_know_nothing_of_each_other(houses: tuple[PostgresStore, PostgresStore]) -> None:
    north, south = houses
    nothing = everything(south)
    fill(north, "cat")
    assert everything(south) == nothing
    fill(south, "dog")
    known = everything(north)
    assert ("cat" in known, "'dog'" in known) == (True, False)
    kept = everything(south)
    assert north.delete(Selection(Scope.everyone())).total > 0
    north.ledger_store.remove("forgotten", [7])
    north.delete_pauses(north.pauses())
    north.fact_store.delete_decisions(None)
    while not north.vector_store.drop("model"):
        pass
    north.episode_store.delete_before(99.0)
    assert everything(south) == kept
    assert everything(north).count("cat") == 1  # the small value, which nobody deletes


# several daemons of one household


def test_what_one_daemon_writes_another_finds_at_once(url: str) -> None:
    kitchen, study = open_postgres(url), open_postgres(url)
    for number in range(30):
        say, hear = (kitchen, study) if number % 2 else (study, kitchen)
        text = f"word{number}"
        kept = say.add_turn(Turn(role="user", text=text, at=1.0, id=text, lang="en-US"), f"{text} all")
        assert [found.record.id for found in hear.search([text], Scope(), BOTH, 3)] == [text]
        assert hear.statistics(["all"], "household").frequency == {"all": number + 1}
        hear.change_turn(replace(kept, persona_id="p"), f"{text} all")
    assert [turn.text for turn in kitchen.turns(Scope())] == [f"word{number}" for number in range(30)]
    assert study.delete(Selection(Scope())).turns == 30
    assert kitchen.search(["all"], Scope(), BOTH, 3) == []
    assert kitchen.languages("household") == frozenset()
    kitchen.add_turn(Turn(role="user", text="x", at=1.0, id="x", lang="en-US"), "x")
    assert study.languages("household") == {"en-US"}
    for store in (kitchen, study):
        store.close()


def test_daemons_that_write_at_once_lose_and_double_nothing(url: str) -> None:
    def write(number: int) -> list[int]:
        store = open_postgres(url)
        seqs = []
        for turn in range(60):
            with store.transaction():
                seqs.append(store.add_turn(Turn("user", "cat", at=1.0, id=f"{number}-{turn}"), "cat dog").seq)
                count = int(store.state("count") or "0")
                store.put_state("count", str(count + 1))
                store.put_entry(Entry("shared", f"{count}"), "dog")
        store.close()
        return seqs

    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(write, range(4)))
    store = open_postgres(url)
    assert store.state("count") == "240"
    assert all(seqs == sorted(seqs) for seqs in written)
    assert len({seq for seqs in written for seq in seqs}) == store.counts().turns == 240
    while store.tidy():
        pass
    assert store.statistics(["cat", "dog"], "household").frequency == {"cat": 240, "dog": 241}
    assert query(url, "SELECT n FROM persona_memory.word ORDER BY n") == [(240,), (241,)]
    store.close()


def test_an_index_that_lost_its_words_is_built_anew(url: str) -> None:
    store = open_postgres(url)
    for text in ("cat", "dog"):
        store.add_turn(Turn("user", text, at=1.0, id=text), text)
        store.put_entry(Entry(text, text), text)
    while store.tidy():
        pass
    store.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DELETE FROM persona_memory.posting")
    again = open_postgres(url)
    assert len(again.search(["cat", "dog"], Scope(), BOTH, 9)) == 4
    assert again.statistics(["cat"], "household").frequency == {"cat": 2}
    again.close()


def test_the_vectors_of_what_is_forgotten_or_changed_go_with_it(url: str) -> None:
    store = open_postgres(url)
    fill(store, "cat")
    kinds = "SELECT kind FROM persona_memory.vector ORDER BY kind"
    assert query(url, kinds) == [("document",), ("memory",), ("turn",)]
    turn = store.turn("turn")
    assert turn is not None
    store.change_turn(replace(turn, text="dog"), "dog")
    assert query(url, kinds) == [("document",), ("memory",)]
    store.delete(Selection(Scope()))
    assert query(url, kinds) == []
    store.close()


def test_databases_are_apart(databases: Databases) -> None:
    one, other = databases.fresh(), databases.fresh()
    assert one != other
    for url in (one, other):
        databases.drop(url)
