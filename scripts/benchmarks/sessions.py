"""Part h: 500 sessions at once through PersonaMemory, beside raw inserts and selects of the same rows.

As in the daemon, what waits when the worker is free shares one commit: here each of the sessions has one
exchange under way, is told when it is durable, and reads its history. The raw side writes the same rows into
tables with the same indexes, and reads as many of them: with commits of the same size on the same disk (together),
and, as programs do that know nothing of each other, with a commit for each exchange (each by itself). The target counts
against the second: to let sessions share a commit is a part of what the memory does.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

import psycopg
from postgres_server import Databases, PostgresServer

from benchmarks import among
from benchmarks.corpus import BY_WORDS, Talk
from benchmarks.figures import Figure, Spread
from benchmarks.services import say
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn, changed
from ovos_persona_memory.stores import postgres_rows, sqlite_rows
from ovos_persona_memory.stores.base import Store
from ovos_persona_memory.stores.postgres import open_postgres
from ovos_persona_memory.stores.sqlite import SqliteStore
from ovos_persona_memory.stores.sqlite_bodies import add_body
from ovos_persona_memory.wording import index_words

SESSIONS = 500
PEOPLE = 50
ROUNDS = {"quick": 3, "full": 20}
TARGET = 0.5
READ = 5
TOGETHER, ITSELF = "raw, commits together", "raw, each by itself"
Round = Callable[[Sequence[list[Turn]]], list[float]]
"""Keeps one exchange of each session and reads its history; how long each waited for it, seconds."""


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        server = PostgresServer(Path(folder))
        try:
            databases = Databases(server)
            figures = _compared("PostgreSQL", open_postgres(databases.fresh()), _RawPostgres(databases.fresh()), size)
        finally:
            server.close()
        sides = SqliteStore(Path(folder) / "ours"), _RawSqlite(Path(folder) / "raw")
        figures += _compared("SQLite", *sides, size)
    return [*figures, *among.run(size)]


def _compared(name: str, store: Store, raw: _Raw, size: str) -> list[Figure]:
    say(f"h: {ROUNDS[size]} rounds of {SESSIONS} sessions at once on {name}, and as many raw ones")
    talk = Talk(17)
    sides = ("ours", TOGETHER, ITSELF)
    rates: dict[str, list[float]] = {side: [] for side in sides}
    waited: dict[str, list[float]] = {side: [] for side in sides}
    with closing(raw), PersonaMemory(store, BY_WORDS) as memory:
        rounds: dict[str, Round] = {
            "ours": lambda said: _ours(memory, said),
            TOGETHER: raw.together,
            ITSELF: raw.by_itself,
        }
        for number in range(ROUNDS[size] + 1):
            for place, (side, keep) in enumerate(rounds.items()):
                said = _exchanges(talk, f"{number}-{place}", number)
                began = time.perf_counter()
                took = keep(said)
                if number:  # the first one warms up
                    rates[side].append(SESSIONS / (time.perf_counter() - began))
                    waited[side] += [1000 * one for one in took]
            while memory.tidy():
                pass
    ours, other = Spread.of(rates["ours"]), Spread.of(rates[ITSELF])
    target = f"at least {TARGET:.0%} of the raw rate"
    what = f"{SESSIONS} sessions at once on {name}"
    met = ours.p50 >= TARGET * other.p50
    note = f"{TOGETHER}: {Spread.of(rates[TOGETHER]).p50:.0f} a second"
    return [
        Figure("h", f"exchanges kept and histories read, {what}", "a second", ours, other, ITSELF, target, met, note),
        Figure("h", f"until it is durable, {what}", "ms", Spread.of(waited["ours"]), Spread.of(waited[ITSELF]), ITSELF),
    ]


def _exchanges(talk: Talk, name: str, number: int) -> list[list[Turn]]:
    exchanges = []
    for session in range(SESSIONS):
        at = 1_700_000_000.0 + 60 * number
        place = {"session_id": f"s{session}", "user_id": f"person-{session % PEOPLE}", "lang": "en-US"}
        asked = Turn("user", talk.sentence()[0], at=at, id=f"{name}-{session}-u", **place)
        told = Turn("assistant", talk.sentence()[0], at=at + 2, id=f"{name}-{session}-a", **place)
        exchanges.append([asked, told])
    return exchanges


def _ours(memory: PersonaMemory, said: Sequence[list[Turn]]) -> list[float]:
    began, scopes = time.perf_counter(), [Scope(turns[0].session_id, turns[0].user_id) for turns in said]
    with memory.transaction():
        for turns, scope in zip(said, scopes, strict=True):
            memory.record([changed(turn, id="") for turn in turns], scope)
    took = [time.perf_counter() - began] * len(said)
    for scope in scopes:
        memory.history(scope, max_history=READ)
    return took


class _Raw(ABC):
    """The same rows by bare statements."""

    def together(self, said: Sequence[list[Turn]]) -> list[float]:
        """See Round: one commit for all."""
        began = time.perf_counter()
        self.keep(said)
        took = [time.perf_counter() - began] * len(said)
        self.read(said)
        return took

    def by_itself(self, said: Sequence[list[Turn]]) -> list[float]:
        """See Round: each waits for those before it, which were all asked for at once."""
        began, took = time.perf_counter(), []
        for turns in said:
            self.keep([turns])
            took.append(time.perf_counter() - began)
        self.read(said)
        return took

    @abstractmethod
    def keep(self, said: Sequence[list[Turn]]) -> None:
        """Write turns with one commit."""

    @abstractmethod
    def read(self, said: Sequence[list[Turn]]) -> None:
        """Read the newest turns of each session."""

    @abstractmethod
    def close(self) -> None:
        """End the connection."""


class _RawPostgres(_Raw):
    def __init__(self, url: str) -> None:
        options = "-c search_path=persona_memory,public"
        self._sql = psycopg.connect(url, autocommit=True, options=options)
        self._read = f"{postgres_rows.TURNS} WHERE r.household = %s AND r.user_id = %s AND r.session_id = %s"

    def keep(self, said: Sequence[list[Turn]]) -> None:
        self._sql.execute("BEGIN")
        for turn in chain.from_iterable(said):
            values = postgres_rows.turn_values(turn, index_words(turn))
            self._sql.execute(postgres_rows.ADD_TURN, ("home", turn.user_id, *values)).fetchone()
        self._sql.execute("COMMIT")

    def read(self, said: Sequence[list[Turn]]) -> None:
        for turn, _ in said:
            names = ("home", turn.user_id, turn.session_id, READ)
            self._sql.execute(f"{self._read} ORDER BY r.seq DESC LIMIT %s", names).fetchall()

    def close(self) -> None:
        self._sql.close()


class _RawSqlite(_Raw):
    def __init__(self, folder: Path) -> None:
        SqliteStore(folder).close()
        self._sql = sqlite3.connect(folder / "memory.db", isolation_level=None)
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "cache_size = -8000"):
            self._sql.execute(f"PRAGMA {pragma}")
        self._read = f"{sqlite_rows.TURNS} WHERE r.owner = ? AND r.session_id = ? ORDER BY r.seq DESC LIMIT ?"
        self._owners: dict[str, int] = {}

    def _owner(self, user_id: str) -> int:
        if user_id not in self._owners:
            added = self._sql.execute("INSERT INTO owner (user_id) VALUES (?)", (user_id,))
            self._owners[user_id] = added.lastrowid or 0
        return self._owners[user_id]

    def keep(self, said: Sequence[list[Turn]]) -> None:
        self._sql.execute("BEGIN IMMEDIATE")
        for turn in chain.from_iterable(said):
            body = add_body(self._sql, sqlite_rows.turn_body(turn, index_words(turn)))
            self._sql.execute(sqlite_rows.ADD_TURN, (self._owner(turn.user_id), body, *sqlite_rows.turn_values(turn)))
        self._sql.execute("COMMIT")

    def read(self, said: Sequence[list[Turn]]) -> None:
        for turn, _ in said:
            self._sql.execute(self._read, (self._owner(turn.user_id), turn.session_id, READ)).fetchall()

    def close(self) -> None:
        self._sql.close()
