"""Faults planted in the PostgreSQL store, several beneath it as triggers: the contract's tests must notice each.

As in test_planted_faults.py: each in a process of its own, which runs the tests that are to notice it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from support.planted import FOLDER, Run, run_tests
from support.servers.postgres import Databases

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Scope
from ovos_persona_memory.stores.postgres import (
    connection,
    documents,
    episodes,
    facts,
    learning_queue,
    migrations,
    postings,
    rows,
    store,
    turn_queries,
    vectors,
)
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase
from ovos_persona_memory.stores.postgres.documents import PostgresDocuments
from ovos_persona_memory.stores.postgres.insert_batch import InsertBatch
from ovos_persona_memory.stores.postgres.learning_queue import PostgresLearningQueue
from ovos_persona_memory.stores.postgres.postings import PostgresPostings
from ovos_persona_memory.stores.postgres.session_notes import PostgresSessionNotes
from ovos_persona_memory.stores.postgres.store import PostgresStore
from ovos_persona_memory.stores.postgres.vectors import PostgresVectors
from ovos_persona_memory.stores.sql.where_clause import Where, narrowed

pytestmark = pytest.mark.full


class Fault(NamedTuple):
    noticed_by: str
    """Part of the name of the tests that are run."""
    plant: Callable[[], None]
    longest_s: float = 60
    """A run that takes longer is ended, and has noticed it: nobody could overlook that."""


def ignoring(event: str, when: str = "true") -> Callable[[], None]:
    """A change of a table that the server is made to ignore."""
    trigger = (
        "CREATE OR REPLACE FUNCTION ignored() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        f" CREATE OR REPLACE TRIGGER fault BEFORE {event} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION ignored()"
    )
    migrate = connection.migrate

    def broken(connection: psycopg.Connection, schema: str) -> None:
        migrate(connection, schema)
        connection.execute(trigger)

    return lambda: setattr(connection, "migrate", broken)


def instead(owner: Any, name: str, value: Any) -> Callable[[], None]:
    """Something of ours that is replaced."""
    return lambda: setattr(owner, name, value)


def without(owner: Any, name: str, part: str, other: str = "") -> Callable[[], None]:
    """A part of a statement that is missing, or another in its place."""
    assert part in getattr(owner, name), (name, part)
    return instead(owner, name, getattr(owner, name).replace(part, other))


def nothing(*_: Any, **__: Any) -> None:
    """Does nothing."""


LOOKED_AT = learning_queue.TAKE.replace("DELETE FROM", "SELECT id, child FROM").replace(" RETURNING id, child", "")


def everywhere() -> None:
    """Rows of every household."""

    def within(household: str, scope: Scope, kind: str = "turn") -> Where:
        where = rows.ANY_ROW.also("r.household <> %s", "")
        where = where if scope.user_id is None else where.also("r.user_id = %s", scope.user_id)
        return narrowed(where, scope, kind)

    for module in (rows, postings, facts, episodes):
        module.within = within  # type: ignore[attr-defined]  # each holds the name


def users_as_one() -> None:
    """Rows of every user."""

    def within(household: str, scope: Scope, kind: str = "turn") -> Where:
        return narrowed(rows.of_household(household), scope, kind)

    rows.within = within


def leaking(**fields: Any) -> Callable[[], None]:
    """Scopes of which these fields are not looked at."""

    def wider(where: Where, scope: Scope, kind: str = "turn") -> Where:
        return narrowed(where, replace(scope, **fields), kind)

    def plant() -> None:
        for module in (rows, postings):
            module.narrowed = wider  # type: ignore[attr-defined]  # both hold the name

    return plant


def rolled_back_by_committing(self: PostgresDatabase) -> None:
    if self._connection is not None and not self._connection.closed:
        self._connection.execute("COMMIT")


def committed_all_the_same(self: PostgresDatabase) -> None:
    self._execute("COMMIT")


def begun_without_a_turn(self: PostgresDatabase) -> None:
    self._execute("BEGIN")
    self._transaction_id = str(self._execute("SELECT pg_current_xact_id()::text").fetchone()[0])  # type: ignore[index]


def never_lost(self: PostgresDatabase, error: Exception) -> bool:
    return False


def between(where: Where, column: str, since: float | None, until: float | None) -> Where:
    where = where if since is None else where.also(f"r.{column} >= %s", since)
    return where if until is None else where.also(f"r.{column} <= %s", until)


def scope_after_the_limit(
    self: PostgresStore, words: Any, scope: Scope, kinds: Any, limit: int, without: Any = ()
) -> Any:
    found = searched(self, words, Scope(user_id=scope.user_id), kinds, limit, without)
    return [one for one in found if scope.session_id in (None, one.record.session_id)]


def counted_all_the_same(self: PostgresPostings, query: Any, words: Any) -> Any:
    return known_of(self, replace(query, without=()), words)


def any_of(where: Where, groups: Any) -> Where:
    every = sorted(word for group in groups for word in group)
    return where.also("string_to_array(r.words, ' ') && %s::text[]", every) if groups else where.also("false")


def passing_over(self: PostgresStore, turns: Any) -> Any:
    return add_turns(self, [(turn, words) for turn, words in turns if self.turn(turn.id) is None])


def backwards(self: InsertBatch, count: int) -> list[int]:
    return next_numbers(self, count)[::-1]


def written_at_the_end(self: PostgresDatabase) -> None:
    if self.late is not None and sys._getframe(2).f_code.co_name == "_commit":
        self.late.write()


def keeping_numbers(self: InsertBatch) -> None:
    numbers = self._numbers
    write_late(self)
    self._numbers = self._numbers or numbers


def forgiving(self: PostgresDatabase) -> None:
    with contextlib.suppress(StoreError):
        if self.late is not None:
            self.late.write()


known_of = PostgresPostings._known
next_numbers, write_late = InsertBatch._next, InsertBatch.write
searched, add_turns = PostgresStore.search, PostgresStore.add_turns

FAULTS = {
    # first, since its run is waited for until it takes too long
    "a dead line is waited for": Fault("line_that_is_dead", instead(PostgresDatabase, "_watch", nothing), longest_s=20),
    # beneath the port
    "deleted turns stay": Fault("exactly_what_is_selected", ignoring("DELETE ON turn")),
    "deleted entries stay": Fault("no_byte_of_a_deleted_entry", ignoring("DELETE ON entry")),
    "changes of turns are ignored": Fault("changed_turn_keeps_its_place", ignoring("UPDATE ON turn")),
    "frequency not lowered": Fault(
        "deleted_document_counts_no_longer", ignoring("UPDATE ON word", "new.n < old.n AND new.n > 0")
    ),
    "frequency not raised": Fault("equals_the_plain_scan", ignoring("UPDATE ON word", "new.n > old.n")),
    "postings are lost": Fault("equals_the_plain_scan", ignoring("INSERT ON posting", "new.doc % 7 = 3")),
    "postings stay": Fault("deleted_document_counts_no_longer", ignoring("DELETE ON posting")),
    "persons stay": Fault("languages_of_a_user|finds_at_once", ignoring("DELETE ON language")),
    "notes stay": Fault("note_goes_with", ignoring("DELETE ON note")),
    "facts stay": Fault("takes_its_changes", ignoring("DELETE ON fact")),
    "changes of facts stay": Fault("takes_its_changes", ignoring("DELETE ON fact_change")),
    "decisions stay": Fault("decisions_go_with", ignoring("DELETE ON decision")),
    "episodes stay": Fault("selected_episodes_go", ignoring("DELETE ON episode")),
    "documents stay": Fault("no_byte_of_a_document", ignoring("DELETE ON document")),
    "vectors stay": Fault("vectors_of_what_is_forgotten", ignoring("DELETE ON vector")),
    "nothing is lifted from the ledger": Fault("lists_are_apart", ignoring("DELETE ON ledger")),
    # in our own code
    "users are one": Fault("one_user_never_reads", users_as_one),
    "persona leaks": Fault("persona_has_its_own_turns", leaking(persona_id=None)),
    "what is private leaks": Fault("private", leaking(auth_level=None)),
    "status leaks": Fault("scope_with_a_status_holds_only", leaking(status=None)),
    "a key is its user's alone": Fault("two_personas_and_none", instead(store, "owner_name", lambda persona_id: "")),
    "households are one": Fault("households_know_nothing", everywhere),
    "window holds its end": Fault("window_holds_its_start", instead(store, "between", between)),
    "scope after the limit": Fault("scope_narrows_before", instead(PostgresStore, "search", scope_after_the_limit)),
    "what is left out counts": Fault("left_out_counts", instead(PostgresPostings, "_known", counted_all_the_same)),
    "what is left out is beside what is found": Fault(
        "left_out_counts", instead(rows, "but_for", lambda where, _: where)
    ),
    "what is left out speaks its language": Fault(
        "language_of_what_is_left_out",
        without(postings, "SPOKEN", "NOT t.seq = ANY(%s)", "%s::bigint[] IS NOT NULL"),
    ),
    "one word of several is enough": Fault("exactly_what_is_selected", instead(rows, "holding", any_of)),
    "what is spared goes too": Fault("exactly_what_is_selected", instead(rows, "_spared", lambda w, _: w)),
    "waiting words are not looked at": Fault(
        "finds_at_once", without(postings, "TERMS", postings.MARK, "(9000000000000000000 + length(%s))")
    ),
    "deleted words are not taken out": Fault("deleted_document_counts", instead(PostgresPostings, "remove", nothing)),
    "changed words are not entered": Fault("by_its_new_words", instead(PostgresPostings, "changed", nothing)),
    "the index is not tested": Fault("lost_its_words", instead(PostgresPostings, "works", lambda self: True)),
    "a note outlives what it retells": Fault(
        "turn_that_it_may_retell", instead(PostgresSessionNotes, "retelling", lambda self, turns: [])
    ),
    "namespaces are one": Fault("namespace", instead(documents, "name_hash", lambda name: "")),
    "an older document takes the name": Fault(
        "becomes_the_others", instead(PostgresDocuments, "_free", lambda self, user, space, name, at: name)
    ),
    "stale vectors are kept": Fault("vectors_of_what_is_forgotten", instead(PostgresVectors, "changed", nothing)),
    "vectors of others are ranked": Fault(
        "in_every_scope", instead(PostgresVectors, "_listed", lambda self, scope, kinds: [1, 2, 3])
    ),
    "a version is skipped": Fault("taken_up_in_order", without(vectors, "NEW", "version > %s", "version > 1 + %s")),
    "of several turns a known one is passed over": Fault(
        "none_is_kept_where_one_is_refused", instead(PostgresStore, "add_turns", passing_over)
    ),
    "several turns are numbered backwards": Fault("kept_in_their_order", instead(InsertBatch, "_next", backwards)),
    "late turns outlive their transaction": Fault("go_with_their_transaction", instead(InsertBatch, "clear", nothing)),
    "late turns are written too late": Fault(
        "there_for_whatever_comes_next", instead(PostgresDatabase, "_write_late", written_at_the_end)
    ),
    "late turns keep their numbers": Fault(
        "there_for_whatever_comes_next", instead(InsertBatch, "write", keeping_numbers)
    ),
    "what could not be written late is forgiven": Fault(
        "known_undoes_its_transaction", instead(PostgresDatabase, "_write_late", forgiving)
    ),
    "the note of another session is looked at": Fault(
        "left_to_its_summary", without(turn_queries, "TALK", "n.user_id = %s", "n.user_id <> %s || 'x'")
    ),
    "the talk of another session comes with it": Fault(
        "left_to_its_summary", without(turn_queries, "TALK", "r.session_id = %s", "r.session_id <> %s || 'x'")
    ),
    "what was learned from stays listed": Fault(
        "learned_from_by_one_device_alone", instead(learning_queue, "TAKE", LOOKED_AT)
    ),
    "what waits is not listed": Fault("learned_from_after_a_restart", instead(PostgresLearningQueue, "put", nothing)),
    "nobody knows what a child said": Fault(
        "child_said_waits_for_review", without(learning_queue, "OLDEST", "seq, child", "seq, false")
    ),
    "rollback commits": Fault(
        "exception_undoes_the_whole", instead(PostgresDatabase, "_rolled_back", rolled_back_by_committing)
    ),
    "nested failure forgiven": Fault(
        "nested_failure_undoes", instead(PostgresDatabase, "_commit", committed_all_the_same)
    ),
    "writers do not take turns": Fault(
        "daemons_that_write_at_once", instead(PostgresDatabase, "_began", begun_without_a_turn)
    ),
    "a lost connection is not noticed": Fault("nobody_notices", instead(PostgresDatabase, "_lost", never_lost)),
    "a lost commit is taken for one": Fault(
        "never_arrived", instead(PostgresDatabase, "_was_committed", lambda self: True)
    ),
    "a lost commit is taken for none": Fault(
        "answer_is_lost", instead(PostgresDatabase, "_was_committed", lambda self: False)
    ),
    "a silent server is waited for": Fault("says_nothing", instead(PostgresDatabase, "_left", lambda self: 4.0)),
    "a silent server is waited for twice": Fault(
        "line_that_is_dead", instead(PostgresDatabase, "_in_time", lambda self, longest_s=None: nullcontext())
    ),
    "all vectors are compared": Fault("rows_of_a_person", instead(PostgresVectors, "_near", nothing)),
    "tables are made twice": Fault("make_the_tables_once", instead(migrations, "schema_step", lambda connection: 0)),
}

ENDED = -9
"""The code of a run that took too long."""
AT_ONCE = 2
Runs = dict[str, Future[Run]]


def run_of(tests: str, fault: str, folder: Path, longest_s: float | None) -> Run:
    """The contract's tests of these names, with this fault; none for an empty name."""
    names = tests.split("|")  # to collect every file costs most of a run
    found = [path for path in sorted(FOLDER.rglob("test_*.py")) if "planted" not in path.name]
    files = [path for path in found if any(name in path.read_text("utf-8") for name in names)]
    wanted = f"({tests.replace('|', ' or ')}) and postgres"
    return run_tests(files, wanted, fault and f"postgres: {fault}", folder, longest_s)


@pytest.fixture(scope="module")
def runs(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Every fault's run, a few at a time, and under an empty name all of their tests without a fault."""
    wanted = {name: fault.noticed_by for name, fault in FAULTS.items()}
    wanted[""] = "|".join(sorted(set(wanted.values())))
    longest_s = {name: fault.longest_s for name, fault in FAULTS.items()}
    folder = tmp_path_factory.mktemp("faults")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            name: pool.submit(run_of, tests, name, folder / str(number), longest_s.get(name))
            for number, (name, tests) in enumerate(wanted.items())
        }


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_noticed(runs: Runs, name: str) -> None:
    run = runs[name].result()
    if run.code == ENDED:
        return
    assert run.code == 1, f"{name}: {run.output[-2000:]}"
    assert "1 failed" in run.output or "1 error" in run.output


def test_without_a_fault_the_same_tests_pass(runs: Runs) -> None:
    run = runs[""].result()
    assert run.code == 0, run.output[-2000:]
    assert "passed" in run.output
