"""Turns, lasting memories, facts and episodes on a Redis or Valkey server, shared between devices."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Decision, Entry, Episode, Fact, FactChange, Note, Pause, Place, Scope, Turn
from ovos_persona_memory.stores.inmemory.null_store import NullStore
from ovos_persona_memory.stores.inmemory.store import InMemoryStore, entry_key
from ovos_persona_memory.stores.redis.connection import CommitRecord, RedisDatabase, RedisSettings
from ovos_persona_memory.stores.redis.hash_table import HashTable, TableSchema

DIRTY = "purge"
STEP, LAST_STEP = "step", 1
"""The name of the number of the last migration step that was made, and its newest value."""
REWRITTEN_S = 5.0
"""Maximum wait of a purge for the server to rewrite its files, seconds; the server goes on after that."""

SHAPES = (
    TableSchema("turn", str, tuple[Turn, str], lambda _, one: (one[0].user_id, one[0].session_id), 2, True, True),
    TableSchema("note", tuple[str, str], tuple[Note, int], lambda key, _: key, 2, expires=True),
    TableSchema("entry", tuple[str, ...], tuple[Entry, str], lambda key, _: (key[0],), 1),
    TableSchema("fact", str, tuple[Fact, str], lambda _, one: (one[0].user_id,), 1, True),
    TableSchema("episode", str, tuple[Episode, str], lambda _, one: (one[0].user_id, one[0].session_id), 2, True),
    TableSchema("change", int, FactChange),
    TableSchema("decision", int, Decision),
    TableSchema("pause", tuple[Place, float], Pause),
    TableSchema("state", str, str),
    TableSchema("ledger", tuple[str, int], float),
)


def open_redis(settings: RedisSettings | str) -> RedisStore:
    """The store with these settings, or at this URL. Several processes may have it open at the same time.

    A StoreError that says what is wrong where it cannot be reached or used.
    """
    return RedisStore(RedisSettings(settings) if isinstance(settings, str) else settings)


class RedisStore(InMemoryStore):
    """Hashes by session or user; searches scan them in this process, and they are cached until a commit changes them.

    It keeps no documents and no vectors: they have a place of their own. Durable as far as the server is: with
    ``appendonly yes`` and ``appendfsync always`` nothing acknowledged is lost.
    """

    durable = True
    shared = True

    def __init__(self, settings: RedisSettings) -> None:
        self._db = RedisDatabase(settings)
        self._tables = {shape.name: HashTable(self._db, shape) for shape in SHAPES}
        super().__init__()
        nothing = NullStore()
        self.document_store = self._documents = nothing._documents
        self.vector_store = self._vectors = nothing._vectors
        try:
            self._migrate()
        except BaseException:
            self.close()
            raise

    def _migrate(self) -> None:
        """Move the memories of personas, which were once kept under user and key alone, to keys with the persona in
        them."""
        if int(self._db.call("HGET", self._db.name("counters"), STEP) or 0) >= LAST_STEP:
            return
        with self.transaction():
            old = [(place, held) for place, held in self._entries.items() if place != entry_key(held[0])]
            for place, held in old:
                self._set(self._entries, place, self._gone)
                self._set(self._entries, entry_key(held[0]), held)
        self._db.call("HSET", self._db.name("counters"), STEP, LAST_STEP)

    def close(self) -> None:
        self._db.close()

    def _table(self, name: str) -> MutableMapping[Any, Any]:
        return self._tables[name]

    def _next_number(self, name: str) -> int:
        return self._db.next_number(name)

    def _last_seq(self) -> int:
        return self._db.counters.get("seq", 0)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._lock:
            if not self._depth:
                self._db.begin()
            with super().transaction():
                yield

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            finally:
                for table in () if self._depth else self._tables.values():
                    table.forget_changes()

    def _end(self) -> None:
        failed, self._failed = self._failed, False
        try:
            if failed:
                self._db.rollback()
                return
            record = CommitRecord()
            self._db.counters[DIRTY] = 1
            for table in self._tables.values():
                table.add_to(record)
            self._db.commit(record)
        finally:
            for table in self._tables.values():
                table.forget_changes()

    def _set(self, table: Any, key: Any, value: Any) -> None:
        self._db.keep_lock()
        if value is self._gone:
            del table[key]
        else:
            table[key] = value

    # one writer at a time: a read before a change happens under the lock

    def add_turn(self, turn: Turn, words: str) -> Turn:
        if self._depth:
            return super().add_turn(turn, words)
        with self.transaction():
            return super().add_turn(turn, words)

    def add_turns(self, turns: Sequence[tuple[Turn, str]], fresh: bool = False) -> list[Turn]:
        with self.transaction():
            self._tables["turn"].look_ahead([turn.id for turn, _ in turns])
            return super().add_turns(turns, fresh)

    def change_turn(self, turn: Turn, words: str) -> None:
        if self._depth:
            super().change_turn(turn, words)
            return
        with self.transaction():
            super().change_turn(turn, words)

    # narrower than the whole store

    def _turns_in(self, scope: Scope) -> Iterable[tuple[Turn, str]]:
        return self._tables["turn"].within(scope.user_id, scope.session_id).values()

    def _entries_in(self, scope: Scope) -> Iterable[tuple[Entry, str]]:
        return self._tables["entry"].within(scope.user_id).values()

    # forgetting

    def purge_later(self) -> None:
        with self._lock:
            self._db.call("HSET", self._db.name("counters"), DIRTY, 1)

    def purge(self) -> None:
        """Have the server rewrite its files, which hold what was deleted until then."""
        with self._lock:
            raw = self._db.call("HGET", self._db.name("counters"), DIRTY)
            if raw in (None, b"0"):
                return
            self._rewrite_files()
            self._db.call("HSET", self._db.name("counters"), DIRTY, 0)

    def _rewrite_files(self) -> None:
        told = self._db.info("persistence")[0]
        if told.get("aof_enabled"):
            self._db.everywhere("BGREWRITEAOF")
            self._wait_for("aof_rewrite_in_progress", "aof_rewrite_scheduled")
            return
        if not told.get("rdb_last_save_time") or told.get("rdb_bgsave_in_progress"):
            return
        with suppress(StoreError):  # another program's save may begin just now
            self._db.everywhere("BGSAVE")
        self._wait_for("rdb_bgsave_in_progress")

    def _wait_for(self, *names: str) -> None:
        until = time.monotonic() + REWRITTEN_S
        while time.monotonic() < until:
            if not any(told.get(name) for told in self._db.info("persistence") for name in names):
                return
            time.sleep(0.002)

    def details(self) -> Mapping[str, Any]:
        told, server = self._db.info("persistence")[0], self._db.info("server")[0]
        return {
            "redis": self._db.where,
            "version": server.get("valkey_version") or server.get("redis_version"),
            "cluster": self._db.is_cluster,
            "collection": self._db.settings.collection,
            "written_to_disk": "every change" if told.get("aof_enabled") else "now and then",
        }
