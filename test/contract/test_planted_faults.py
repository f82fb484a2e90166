"""Faults planted in the backends, several beneath the port: the contract's tests must notice each.

A fault is planted in a process of its own (conftest.py does it when ``PLANTED_FAULT`` names one),
which runs the tests that are to notice it. Without a fault the same tests pass. On 2026-11-22 each fault
was also noticed by the whole contract, run without being told where to look.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.planted import FOLDER, Run, run_tests

from ovos_persona_memory.records import Fact, Scope
from ovos_persona_memory.stores.base import bm25, documents, facts, score_accumulator, selection, store, vectors
from ovos_persona_memory.stores.base import folder_lock as locks
from ovos_persona_memory.stores.base.facts import FactStore
from ovos_persona_memory.stores.base.vector_backend import key_of, records_of
from ovos_persona_memory.stores.base.vector_math import VectorFilter, VectorTable
from ovos_persona_memory.stores.chroma.vectors import ChromaVectors
from ovos_persona_memory.stores.chroma.write_behind import WriteBehind
from ovos_persona_memory.stores.composite import merged_search
from ovos_persona_memory.stores.composite.external_vectors import ExternalVectors
from ovos_persona_memory.stores.composite.store import ComposedStore
from ovos_persona_memory.stores.inmemory import store as inmemory_store
from ovos_persona_memory.stores.inmemory.store import InMemoryStore
from ovos_persona_memory.stores.redis import connection
from ovos_persona_memory.stores.redis.hash_table import HashTable
from ovos_persona_memory.stores.redis.store import RedisStore
from ovos_persona_memory.stores.sql import turn_rows
from ovos_persona_memory.stores.sql.where_clause import Where, between, narrowed
from ovos_persona_memory.stores.sqlite import (
    database_file,
    deletion,
    postings,
    rows,
    session_notes,
    turn_queries,
    users,
)
from ovos_persona_memory.stores.sqlite import facts as sqlite_facts
from ovos_persona_memory.stores.sqlite import store as sqlite_store
from ovos_persona_memory.stores.sqlite import vectors as sqlite_vectors
from ovos_persona_memory.stores.sqlite.deletion import SqliteDeletion
from ovos_persona_memory.stores.sqlite.documents import SqliteDocuments
from ovos_persona_memory.stores.sqlite.episodes import SqliteEpisodes
from ovos_persona_memory.stores.sqlite.postings import ScoredDocument, SqlitePostings
from ovos_persona_memory.stores.sqlite.postings_buffer import PostingsBuffer
from ovos_persona_memory.stores.sqlite.session_notes import SqliteSessionNotes
from ovos_persona_memory.stores.sqlite.store import SqliteStore
from ovos_persona_memory.stores.sqlite.vectors import SqliteVectors

pytestmark = pytest.mark.full


class Fault(NamedTuple):
    noticed_by: str
    """Part of the name of the tests that are run."""
    plant: Callable[[], None]


def beneath(*statements: str) -> Callable[[], None]:
    """Runs statements on each connection that a store opens: a trigger, a pragma."""

    def plant() -> None:
        configure = database_file._migrate

        def broken(connection: Any) -> None:
            configure(connection)
            for statement in statements:
                connection.execute(statement)

        database_file._migrate = broken

    return plant


def ignoring(event: str, when: str = "1") -> Callable[[], None]:
    """A change of a table that SQLite is made to ignore."""
    return beneath(f"CREATE TEMP TRIGGER fault BEFORE {event} WHEN {when} BEGIN SELECT RAISE(IGNORE); END")


def instead(owner: Any, name: str, value: Any) -> Callable[[], None]:
    """Something of ours that is replaced."""
    return lambda: setattr(owner, name, value)


def nothing(*_: Any, **__: Any) -> None:
    """Does nothing."""


def scope_after_the_limit(
    self: SqliteStore, words: Any, scope: Scope, kinds: Any, limit: int, without: Any = ()
) -> Any:
    found = searched(self, words, Scope(user_id=scope.user_id), kinds, limit, without)
    return [item for item in found if in_scope(item.record, scope)]


def text_changed_in_place(self: SqliteStore, num: int, body: Any) -> int:
    self._sql.execute("INSERT OR IGNORE INTO pending (what) VALUES ('purge')")
    self._sql.execute("UPDATE body SET text=?, words=?, speaker=?, name=?, data=? WHERE num=?", (*body, num))
    return num


def journal_kept(self: SqliteStore) -> None:
    self._sql.execute("PRAGMA wal_checkpoint(PASSIVE)")
    self._sql.execute("DELETE FROM pending")


def failure_forgiven(self: SqliteStore) -> None:
    self._sql.execute("COMMIT")


def committed_all_the_same(self: SqliteStore) -> None:
    self._failed = False
    if self._sql.in_transaction:
        self._sql.execute("COMMIT")


def older_first(self: ScoredDocument) -> Any:
    return (-self.score, self.doc > 0, abs(self.doc))


def turns_first(self: ScoredDocument) -> Any:
    return (-self.score, self.doc < 0, -abs(self.doc))


def unsettled(self: SqliteStore, connection: Any) -> None:
    self._sql, self._index, self._notes = connection, SqlitePostings(connection), SqliteSessionNotes(connection)
    self._deletions = SqliteDeletion(connection, self._index, self._notes)
    self.document_store = SqliteDocuments(connection, self.transaction, self._reading)
    self.vector_store = self._vectors = SqliteVectors(connection, self.transaction, self._reading, self._records)


def holding_any(self: SqlitePostings, groups: Any, owner: Any) -> set[int]:
    return set().union(*(held_by(self, [group], owner) for group in groups))


def found_nowhere(self: HashTable, keys: Any) -> None:
    self._found_in.update(dict.fromkeys(keys))


def not_spared(where: Any, selection: Any) -> Any:
    return where


def small_budget() -> None:
    sqlite_store.BUDGET = sqlite_store.MIN_BUDGET = 20


def oldest_turns(sql: Any, selection: Any, owner: Any, limit: int | None) -> list[int]:
    return walked(sql, selection, owner, None)[::-1][:limit][::-1]


def not_undone(self: InMemoryStore) -> None:
    self._undo, self._failed = [], False


def persona_forgotten(record: Any, scope: Scope) -> bool:
    return in_scope(record, replace(scope, persona_id=None))


def window_with_its_end(where: Any, column: str, since: Any, until: Any) -> Any:
    where = between(where, column, since, None)
    return where if until is None else where.also(f"r.{column} <= ?", until)


def narrowed_but_for_persona(where: Where, scope: Scope, kind: str = "turn") -> Where:
    return narrowed(where, replace(scope, persona_id=None), kind)


def leaking_persona() -> None:
    for module in (rows, postings):
        module.narrowed = narrowed_but_for_persona  # type: ignore[attr-defined]  # both hold the name


def narrowed_but_for_status(where: Where, scope: Scope, kind: str = "turn") -> Where:
    return narrowed(where, replace(scope, status=None), kind)


def leaking_status() -> None:
    for module in (rows, postings):
        module.narrowed = narrowed_but_for_status  # type: ignore[attr-defined]  # both hold the name


def scored_together(documents: Any, words: Any, scope: Any, kinds: Any) -> Any:
    return scored([*documents, *documents[:1], *documents[:1]], words, scope, kinds)


held_by, sized, termed = SqlitePostings.holding, SqlitePostings._size, SqlitePostings._terms
searched, walked = SqliteStore.search, sqlite_store.newest_turns
in_scope, scored = selection.in_scope, store._search_one_user

IGNORED_VECTOR = (
    "CREATE TEMP TRIGGER fault_{slot:d} BEFORE UPDATE ON vector_{slot:d} WHEN new.vector IS NULL"
    " BEGIN SELECT RAISE(IGNORE); END"
)


def everything_within(scope: Scope, kinds: Any) -> VectorFilter:
    return VectorFilter()


def there_all_the_same(self: SqliteVectors, one: Any) -> Any:
    return still_there(self, one) or (1, None, None, None, None, 0)


def farthest(self: VectorTable, query: Any, mask: Any, number: int) -> Any:
    return nearest_by_signs(self, -query, mask, number)


still_there, nearest_by_signs = SqliteVectors._still_there, VectorTable._nearest_by_signs


def all_words(text: str) -> Any:
    return bm25.set_of(text or "cat")


def everywhere(where: Where, *_: Any) -> Where:
    return where


def no_facts(*_: Any) -> list[Fact]:
    return []


BY_SLOT_ALONE = property(lambda fact: fact.slot or "")


def first_alone(stores: Any, words: Any, user_id: str, without: Any = ()) -> Any:
    return stores[0].statistics(words, user_id, without)


def counted_all_the_same(self: ComposedStore, words: Any, user_id: str, without: Any = ()) -> Any:
    return merged_search.statistics((self._talk, self._lasting), words, user_id)


def of_all_sizes(self: SqlitePostings, owner: int, without: Any) -> Any:
    return sized(self, owner, ())


def of_all_words(self: SqlitePostings, owner: int, words: Any, without: Any) -> Any:
    return termed(self, owner, words, ())


def everything(self: Any, scope: Scope, kinds: Any, without: Any) -> Any:
    return self.documents(scope, kinds)


def one_store_deletes(self: ComposedStore, selection: Any) -> Any:
    return self._talk.delete(selection)


def ended_well(self: RedisStore) -> None:
    self._failed = False
    end_redis(self)


def part_of_keys_alone(self: HashTable, key: Any) -> Any:
    return None if self._shape.located else part_of(self, key)


def whatever_their_texts(self: ExternalVectors, labels: Any) -> Any:
    given = list(labels)
    there = records_of(self._texts, {key_of(label) for label in given})
    return {label: there[key_of(label)] for label in given if key_of(label) in there}


def kept_blindly(self: WriteBehind, index: str, rows: Any, within_s: float) -> None:
    if rows:
        self._vectors.keep(index, list(rows), np.stack(list(rows.values())), within_s)


end_redis, part_of = RedisStore._end, HashTable._part_of


FAULTS = {
    # beneath the port
    "secure_delete off": Fault("no_byte_of_a_deleted_turn", beneath("PRAGMA secure_delete = OFF")),
    "acknowledged before it is on disk": Fault(
        "settings_that_keep_the_promises", beneath("PRAGMA synchronous = NORMAL")
    ),
    "temporary files on disk": Fault("settings_that_keep_the_promises", beneath("PRAGMA temp_store = FILE")),
    "deleted texts stay": Fault("no_byte_of_a_deleted_turn", ignoring("UPDATE ON body", "new.text IS NULL")),
    "deleted turns stay": Fault("exactly_what_is_selected", ignoring("DELETE ON turn")),
    "journal not emptied": Fault("no_byte_of_a_deleted_turn", instead(SqliteStore, "purge", journal_kept)),
    "purge not noted": Fault("no_byte_of_a_deleted_turn", ignoring("INSERT ON pending")),
    "purge not finished by opening": Fault("is_purged_by_opening", instead(SqliteStore, "_settle", unsettled)),
    "text changed in place": Fault(
        "left_after_thousands_of_changes", instead(SqliteStore, "_replaced_body", text_changed_in_place)
    ),
    "frequency not lowered": Fault("deleted_document_counts_no_longer", ignoring("UPDATE ON word", "new.n < old.n")),
    "frequency not raised": Fault("equals_the_plain_scan", ignoring("UPDATE ON word", "new.n > old.n")),
    "word index row lost": Fault("equals_the_plain_scan", ignoring("INSERT ON posting", "new.doc % 7 = 3")),
    "word index row left": Fault("equals_the_plain_scan", ignoring("DELETE ON posting")),
    "index not tested when opened": Fault(
        "lost_something_is_rebuilt", instead(SqliteStore, "_index_works", lambda self: True)
    ),
    "others change the mean length": Fault(
        "what_others_say",
        beneath(
            "CREATE TEMP TRIGGER fault AFTER UPDATE OF documents ON owner BEGIN"
            " UPDATE owner SET words = words + 3 WHERE num <> new.num; END"
        ),
    ),
    "others change the number of documents": Fault(
        "what_others_say",
        beneath(
            "CREATE TEMP TRIGGER fault AFTER UPDATE OF documents ON owner BEGIN"
            " UPDATE owner SET documents = documents + 1 WHERE num <> new.num; END"
        ),
    ),
    "creation time follows change": Fault(
        "known_key_is_replaced",
        beneath(
            "CREATE TEMP TRIGGER fault AFTER UPDATE ON entry BEGIN"
            " UPDATE entry SET created_at = new.updated_at WHERE seq = new.seq; END"
        ),
    ),
    "seq moves with a change": Fault(
        "changed_turn_keeps_its_place",
        instead(rows, "CHANGE_TURN", rows.CHANGE_TURN.replace(" WHERE", ", seq = seq + 1000 WHERE")),
    ),
    "change ignored": Fault("changed_turn_keeps_its_place", ignoring("UPDATE ON turn")),
    "users are one": Fault("one_user_never_reads", instead(SqliteStore, "_owner_in", lambda self, scope: None)),
    "the note of another session is looked at": Fault(
        "left_to_its_summary",
        instead(turn_queries, "TOLD", rows.TOLD.replace("n.session_id = ?2", "n.session_id <> ?2")),
    ),
    "the talk of another session comes with it": Fault(
        "left_to_its_summary", instead(turn_queries, "TOLD", rows.TOLD.replace("r.session_id = ?2", "?2 <> ''"))
    ),
    "what is said of a turn is not read": Fault("has_every_field", instead(turn_rows, "SAID", [{}] * 32)),
    "notes stay": Fault("note_goes_with", ignoring("DELETE ON note")),
    "embeddings stay": Fault("no_byte_of_a_document", ignoring("UPDATE ON document_embedding")),
    "words of documents stay": Fault("fast_search_equals", ignoring("DELETE ON document_posting")),
    "namespaces share statistics": Fault(
        "what_others_keep",
        beneath(
            "CREATE TEMP TRIGGER fault AFTER UPDATE OF documents ON namespace BEGIN"
            " UPDATE namespace SET documents = documents + 1 WHERE num <> new.num; END"
        ),
    ),
    # in our own code
    "a note outlives what it retells": Fault(
        "turn_that_it_may_retell",
        instead(session_notes, "RETOLD", session_notes.RETOLD.replace("n.seq >= r.seq", "n.seq < r.seq")),
    ),
    "a note outlives what it retells, redacted": Fault(
        "redacted_turn_keeps_its_place", instead(SqliteStore, "notes_retelling", lambda self, turns: [])
    ),
    "the ledger loses its entries": Fault("numbers_are_kept_with_their_time", ignoring("INSERT ON ledger")),
    "nothing is lifted from the ledger": Fault("lists_are_apart", ignoring("DELETE ON ledger")),
    "written anew over what is kept": Fault(
        "mostly_full_stay", instead(SqliteStore, "_is_mostly_empty", lambda self: True)
    ),
    "episodes stay": Fault("selected_episodes_go", ignoring("DELETE ON episode")),
    "uses stay": Fault("last_use_of_a_record", ignoring("DELETE ON episode_used")),
    "episodes outlive their redacted turns": Fault(
        "episodes_of_a_redacted_turn", instead(SqliteEpisodes, "ids_of_turns", lambda *_: [])
    ),
    "one word of several is enough": Fault("exactly_what_is_selected", instead(SqlitePostings, "holding", holding_any)),
    "what is spared goes too": Fault("exactly_what_is_selected", instead(rows, "_spared", not_spared)),
    "documents that hold the words stay": Fault(
        "documents_that_hold_all_words", instead(SqliteDocuments, "holding", lambda *_: [])
    ),
    "rows of one kind are not deleted": Fault(
        "exactly_what_is_selected",
        instead(deletion, "DELETED", deletion.DELETED + " WHERE r.seq > 1"),
    ),
    "superseded facts stay in the index": Fault("only_active_facts", instead(sqlite_facts, "set_of", all_words)),
    "words of facts stay": Fault("replaced_in_its_place", ignoring("DELETE ON fact_word")),
    "a fact's changes stay": Fault("takes_its_changes", ignoring("DELETE ON fact_change")),
    "a fact's scope forgotten": Fault("scope_narrows_facts", instead(sqlite_facts, "narrowed", everywhere)),
    "facts outlive everything of their user": Fault("and_nothing_else", instead(FactStore, "chosen", no_facts)),
    "decisions outlive their user": Fault("decisions_go_with", instead(facts, "takes_everything", nothing)),
    "decisions are never shortened": Fault("only_the_newest_are_kept", ignoring("DELETE ON decision")),
    "a forgotten fact's words stay": Fault("of_a_forgotten_fact", instead(sqlite_facts, "empty_bodies", nothing)),
    "places of facts told by slot alone": Fault("by_user_subject_and_thing", instead(Fact, "place", BY_SLOT_ALONE)),
    "of two users' facts both hold": Fault("last_said_holds", instead(FactStore, "_keep_newest", nothing)),
    "documents outlive their user": Fault("everything_of_their_user", instead(documents, "takes_documents", nothing)),
    "rollback commits": Fault("exception_undoes_the_whole", instead(SqliteStore, "_end", committed_all_the_same)),
    "nested failure forgiven": Fault("nested_failure_undoes", instead(SqliteStore, "_commit", failure_forgiven)),
    "scope after the limit": Fault(
        "scope_narrows_before_the_limit", instead(SqliteStore, "search", scope_after_the_limit)
    ),
    "persona leaks": Fault("persona_has_its_own_turns", leaking_persona),
    "a key is its user's alone": Fault(
        "two_personas_and_none", instead(sqlite_store, "owner_name", lambda persona_id: "")
    ),
    "status leaks": Fault("scope_with_a_status_holds_only", leaking_status),
    "waiting words are not looked at": Fault(
        "what_waits_is_found", instead(PostingsBuffer, "postings", lambda self, owner, word, docs=None: [])
    ),
    "waiting words outlive what was undone": Fault("an_undone_turn_waits", instead(SqlitePostings, "undone", nothing)),
    "waiting words are not dropped": Fault(
        "deleted_while_it_waits", instead(PostingsBuffer, "__contains__", lambda self, doc: False)
    ),
    "entered turns are not noted": Fault(
        "what_waits_is_found", beneath("CREATE TEMP TRIGGER fault AFTER UPDATE ON entered BEGIN DELETE FROM owner; END")
    ),
    "oldest instead of newest": Fault(
        "newest_turns_come_oldest_first", instead(sqlite_store, "newest_turns", oldest_turns)
    ),
    "window holds its end": Fault("window_holds_its_start", instead(rows, "between", window_with_its_end)),
    "older before newer": Fault("equal_scores_put", instead(ScoredDocument, "order", property(older_first))),
    "turns before memories": Fault(
        "equal_scores_put",
        instead(ScoredDocument, "order", property(lambda self: (-self.score, self.doc < 0, -abs(self.doc)))),
    ),
    "too little read": Fault("equals_the_plain_scan", small_budget),
    "nothing looked up after the walk": Fault(
        "common_words_of_a_large_store", instead(SqlitePostings, "_look_up", nothing)
    ),
    "what is left out adds to the length": Fault("left_out_counts", instead(SqlitePostings, "_size", of_all_sizes)),
    "what is left out makes words known": Fault("left_out_counts", instead(SqlitePostings, "_terms", of_all_words)),
    "what is left out is found": Fault(
        "left_out_counts", instead(score_accumulator.ScoreAccumulator, "_leave_out", nothing)
    ),
    "what is left out is beside what is found": Fault("left_out_counts", instead(turn_queries, "but_for", everywhere)),
    "what is left out speaks its language": Fault(
        "language_of_what_is_left_out", instead(users, "SPEAKS", "SELECT 1 WHERE ?1 + ?2 + ?3 IS NOT NULL")
    ),
    "unstorable text taken": Fault("text_that_cannot_be_kept", instead(sqlite_store, "refuse_unstorable", nothing)),
    "no lock on the folder": Fault("two_owners_of_a_folder", instead(locks.fcntl, "flock", nothing)),
    "damaged file overwritten": Fault(
        "is_set_aside_whole", instead(database_file, "set_aside", lambda path, clock: path.unlink() or path)
    ),
    "foreign file taken": Fault("is_set_aside_whole", instead(database_file, "_not_ours", nothing)),
    "files for everybody": Fault("are_the_owners_alone", instead(database_file, "create_private", nothing)),
    # in memory
    "in memory: rollback does nothing": Fault("exception_undoes_the_whole", instead(InMemoryStore, "_end", not_undone)),
    "in memory: a key is its user's alone": Fault(
        "a_key_is_replaced_for_its_owner",
        instead(inmemory_store, "_owned_key", lambda user_id, key, persona_id: (user_id, key)),
    ),
    "in memory: persona leaks": Fault(
        "persona_has_its_own_entries", instead(inmemory_store, "in_scope", persona_forgotten)
    ),
    "in memory: length ignored": Fault(
        "score_is_that_of_the_book", instead(bm25.Bm25, "damping", lambda self, length: bm25.K1)
    ),
    "in memory: a document found thrice": Fault(
        "equal_scores_put", instead(store, "_search_one_user", scored_together)
    ),
    "in memory: what is left out counts": Fault("left_out_counts", instead(store.Store, "_but_for", everything)),
    "in memory: unstorable text taken": Fault(
        "text_that_cannot_be_kept", instead(inmemory_store, "refuse_unstorable", nothing)
    ),
    # on a Redis server
    "redis: rollback commits": Fault("exception_undoes_the_whole", instead(RedisStore, "_end", ended_well)),
    "redis: what is remembered is never stale": Fault(
        "another_knows_at_once", instead(HashTable, "_is_stale", lambda self, key, _: key not in self._held)
    ),
    "redis: deleted items stay": Fault(
        "exactly_what_is_selected", instead(connection, "APPLY", connection.APPLY.replace("'HDEL'", "'HGET'"))
    ),
    "redis: its files are not written anew": Fault("no_byte_of_a_deleted_turn", instead(RedisStore, "purge", nothing)),
    "redis: what moves stays where it was, too": Fault(
        "nothing_of_the_merged_user", instead(HashTable, "_part_of", part_of_keys_alone)
    ),
    # several stores as one
    "kinds: words are counted apart": Fault("equals_the_plain_scan", instead(merged_search, "statistics", first_alone)),
    "kinds: what is left out counts": Fault(
        "left_out_counts", instead(ComposedStore, "statistics", counted_all_the_same)
    ),
    "kinds: one store forgets": Fault("exactly_what_is_selected", instead(ComposedStore, "delete", one_store_deletes)),
    "kinds: vectors outlive their texts": Fault(
        "changed_text_has_no_vector", instead(ExternalVectors, "went", nothing)
    ),
    "kinds: vectors stay where they were": Fault(
        "goes_where_its_document_goes", instead(ExternalVectors, "moved", nothing)
    ),
    "kinds: what waits is not undone": Fault("taken_up_in_vain", instead(ExternalVectors, "undone", nothing)),
    "kinds: what an index lacks is not found": Fault(
        "vectors_are_there_after_a_restart", instead(ExternalVectors, "_compare", nothing)
    ),
    "redis: it is not looked whether a turn is known": Fault(
        "none_is_kept_where_one_is_refused", instead(HashTable, "look_ahead", found_nowhere)
    ),
    "in memory: documents come as they lie": Fault(
        "in_the_order_of_arrival", instead(inmemory_store, "sorted", lambda held, key=None: list(held))
    ),
    # vectors on a Chroma server
    "chroma: what was forgotten stays there": Fault(
        "deleted_as_soon_as_it_is_back", instead(WriteBehind, "remove", nothing)
    ),
    "chroma: what was not deleted is not remembered": Fault(
        "remembered_over_a_restart", instead(WriteBehind, "_put_due", nothing)
    ),
    "chroma: what it says of a text is believed": Fault(
        "by_its_old_meaning", instead(ExternalVectors, "_those_of", whatever_their_texts)
    ),
    "chroma: undone changes are made": Fault("not_made_by_the_next_change", instead(WriteBehind, "undone", nothing)),
    "chroma: vectors stay where they were": Fault(
        "goes_where_its_document_goes", instead(WriteBehind, "move", nothing)
    ),
    "chroma: what it lacks is not found": Fault(
        "mended_by_the_next_start", instead(ChromaVectors, "mend", lambda *_: [])
    ),
    "chroma: names are sent": Fault("no_name_reaches", instead(ChromaVectors, "_hash", lambda self, *parts: parts[-1])),
    "chroma: what goes while it travels stays": Fault(
        "while_its_vector_travels", instead(WriteBehind, "_keep", kept_blindly)
    ),
    # vectors
    "vectors of forgotten texts stay": Fault(
        "no_byte_of_the_vector", beneath(*(IGNORED_VECTOR.format(slot=slot) for slot in (0, 1)))
    ),
    "vectors of others are ranked": Fault("in_every_scope", instead(sqlite_vectors, "_within", everything_within)),
    "stale vectors are kept": Fault("no_stale_vector", instead(SqliteVectors, "_still_there", there_all_the_same)),
    "forgotten vectors stay in memory": Fault("is_forgotten_is_not_found", instead(SqliteVectors, "deleted", nothing)),
    "moved vectors stay where they were": Fault(
        "goes_where_its_document_goes", instead(SqliteVectors, "moved", nothing)
    ),
    "undone vectors stay in memory": Fault(
        "leaves_the_vectors_as_they_were", instead(SqliteVectors, "undone", nothing)
    ),
    "nothing is said of new texts": Fault("listener_hears", instead(vectors.VectorStore, "wake", nothing)),
    "signs are compared the wrong way": Fault("signs_choose", instead(VectorTable, "_nearest_by_signs", farthest)),
}

QUICK = Path("/dev/shm")
"""A disk in memory, where there is one: these tests look for wrong answers, not for lost power."""


ENTERED = ("frequency not lowered", "word index row lost")
"""Faults of the index on disk, which new turns reach only later."""


def backend_of(name: str) -> str:
    """The part of the tests' names that stands for the backend in which a fault is planted."""
    if name.startswith("in memory"):
        return "inmemory"
    if name.startswith(("kinds", "redis", "chroma")):
        return name.partition(":")[0]
    return "entered_now" if name in ENTERED else "sqlite and not entered_now"


Runs = dict[str, Future[Run]]


def files_with(tests: str) -> list[Path]:
    """The files that hold a test of this expression: to collect all of them costs most of a run."""
    names = re.findall(r"\w+", tests.partition(" and ")[0])
    names = [name for name in names if name != "or"]
    found = [path for path in sorted(FOLDER.rglob("test_*.py")) if not path.name.startswith("test_planted_")]
    return [path for path in found if any(name in path.read_text("utf-8") for name in names)]


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Every fault's run, a few at a time, and under an empty name all of their tests without a fault."""
    disk = tempfile.TemporaryDirectory(dir=QUICK if os.access(QUICK, os.W_OK) else tmp_path_factory.mktemp("faults"))
    wanted = {"": " or ".join(sorted({fault.noticed_by for fault in FAULTS.values()}))}
    for name, fault in FAULTS.items():
        wanted[name] = f"{fault.noticed_by} and {backend_of(name)}"
    with disk as folder, ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
        yield {
            name: pool.submit(run_tests, files_with(tests), tests, name, Path(folder) / str(number))
            for number, (name, tests) in enumerate(wanted.items())
        }


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_noticed(runs: Runs, name: str) -> None:
    run = runs[name].result()
    assert run.code == 1, f"{name}: {run.output[-2000:]}"
    assert "1 failed" in run.output or "1 error" in run.output


def test_without_a_fault_the_same_tests_pass(runs: Runs) -> None:
    run = runs[""].result()
    assert run.code == 0, run.output[-2000:]
    assert "passed" in run.output
