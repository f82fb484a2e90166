"""Part h: 500 sessions at once through PersonaMemory, beside raw inserts and selects of the same rows.

As in the daemon, what waits when the worker is free shares one commit: here each of the sessions has one
exchange under way, is told when it is durable, and reads its history. What the memory puts off for a quiet moment
(words into the index, learning) is done after that, and counted in figures of its own.

Beside it are bare statements on tables with the same indexes and the same durability. Every row that the memory left in
any table, as it was found there afterwards, is written one session after the other: with a commit for each exchange, as
500 sessions would that know nothing of each other (on PostgreSQL over eight connections at a time), and with one commit
for all, as the memory does. So are the turns' rows alone. As many turns of a session are read as the memory reads for a
history. For scale, the same rows are loaded table by table, too, as nobody can who has 500 sessions to answer; what is
put off is loaded so in all cases.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from support.servers.postgres import Databases, PostgresServer

from benchmarks.baseline import BarePostgres, BareSqlite, BareTables, Rows
from benchmarks.corpus import BY_WORDS, WITHOUT_LEARNING, Talk
from benchmarks.figures import Figure, Spread
from benchmarks.progress import say
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn, replace_fast
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.postgres.store import open_postgres
from ovos_persona_memory.stores.sqlite.store import SqliteStore

SESSIONS = 500
PEOPLE = 50
ROUNDS = {"quick": 3, "full": 20}
TARGET = 0.5
READ = 5
"""Messages of a history."""
ROWS_READ = 8 * READ + 16
"""Turns that the memory reads for it, where a session has as many."""
OURS, WITHOUT_FACTS = "ours", "ours, facts off"
ITSELF, TOGETHER = "turns alone, a commit each", "turns alone, one commit"
EACH, SAME = "the same rows, a commit each", "the same rows, one commit"
LOADED = "the same rows loaded by table"


@dataclass(frozen=True)
class RoundTimes:
    """Times of one round of one side, seconds."""

    waited: list[float]
    """Until the commit was durable, for each session."""
    read: float
    later: float = 0.0
    """Time of postponed work."""

    @property
    def kept(self) -> float:
        """Time until all was durable."""
        return max(self.waited)


@dataclass(frozen=True)
class MemoryAndCopies:
    """One memory, and the empty tables into which its rows are copied."""

    memory: PersonaMemory
    watched: BareTables
    copy: BareTables
    others: Sequence[BareTables] = ()
    """Further copies: for one commit, and for a commit each, of one memory alone."""


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        return on_postgres(Path(folder), size) + on_sqlite(Path(folder), size)


def on_postgres(folder: Path, size: str) -> list[Figure]:
    """The figures on a server with full durability."""
    server = PostgresServer(folder)
    try:
        databases = Databases(server)
        urls = [databases.fresh() for _ in range(7)]
        stores = [open_postgres(urls[0]), open_postgres(urls[1])]
        with ExitStack() as stack:
            bare = [stack.enter_context(closing(BarePostgres(url))) for url in (*urls[:2], *urls[2:])]
            return _compared("PostgreSQL", stores, bare, size)
    finally:
        server.close()


def on_sqlite(folder: Path, size: str) -> list[Figure]:
    """The figures on files on the disk."""
    stores = [SqliteStore(folder / "0"), SqliteStore(folder / "1")]
    with ExitStack() as stack:
        bare = [stack.enter_context(closing(BareSqlite(folder / str(number)))) for number in range(7)]
        return _compared("SQLite", stores, bare, size)


def _compared(name: str, stores: Sequence[Store], bare: Sequence[BareTables], size: str) -> list[Figure]:
    """``bare``: a look into each of the two stores, an empty copy for each of them, and three more."""
    say(f"h: {ROUNDS[size]} rounds of {SESSIONS} sessions at once on {name}, and as many raw ones")
    talk, taken, rows = Talk(17), defaultdict[str, list[RoundTimes]](list), Counter[str]()
    with PersonaMemory(stores[0], BY_WORDS) as full, PersonaMemory(stores[1], WITHOUT_LEARNING) as plain:
        ours = {
            OURS: MemoryAndCopies(full, bare[0], bare[2], bare[5:]),
            WITHOUT_FACTS: MemoryAndCopies(plain, bare[1], bare[3]),
        }
        for one in ours.values():
            began = one.watched.news()
            for copy in (one.copy, *one.others):
                copy.put(began)
        for number in range(ROUNDS[size] + 1):
            for side, one in ours.items():
                said = _exchanges(talk, f"{number}-{side}", number)
                took, copied, others, written = _both(one, said)
                if number:  # the first one warms up
                    taken[side].append(took)
                    taken[f"{LOADED} {side}"].append(copied)
                    for other, bare_took in others.items():
                        taken[other].append(bare_took)
                    rows.update(written if side == OURS else {})
            for side, at_once in ((TOGETHER, True), (ITSELF, False)):
                took = _turns_alone(bare[4], _exchanges(talk, f"{number}-{side}", number), at_once)
                taken[side] += [took] if number else []
    return _figures(name, taken, rows)


def _exchanges(talk: Talk, name: str, number: int) -> list[list[Turn]]:
    exchanges = []
    for session in range(SESSIONS):
        at = 1_700_000_000.0 + 60 * number
        said = partial(Turn, session_id=f"s{session}", user_id=f"person-{session % PEOPLE}", lang="en-US")
        asked = said("user", talk.sentence()[0], at=at, id=f"{name}-{session}-u")
        told = said("assistant", talk.sentence()[0], at=at + 2, id=f"{name}-{session}-a")
        exchanges.append([asked, told])
    return exchanges


def _both(
    ours: MemoryAndCopies, said: Sequence[list[Turn]]
) -> tuple[RoundTimes, RoundTimes, dict[str, RoundTimes], Counter[str]]:
    """A round through the memory, and its rows written by bare statements; the number of rows of each table."""
    scopes = [Scope(turns[0].session_id, turns[0].user_id) for turns in said]
    given = [[replace_fast(turn, id="") for turn in turns] for turns in said]
    memory, began = ours.memory, time.perf_counter()
    with memory.transaction(crowded=memory.transcript.backlog.may_grow):
        for turns, scope in zip(given, scopes, strict=True):
            memory.record(turns, scope)
    memory.sync()
    kept = time.perf_counter()
    for scope in scopes:
        memory.history(scope, max_history=READ)
    read = time.perf_counter()
    at_once = ours.watched.news()
    tidied, commits = _tidied(memory)
    later = ours.watched.news()
    took = RoundTimes([kept - began] * len(said), read - kept, tidied)
    written = Counter({table: len(rows) for table, rows in at_once.items()})
    written.update({f"{table} later": len(rows) for table, rows in later.items()})
    parts = _parts(later, commits)
    sides = zip((SAME, EACH), ours.others, strict=False)
    others = {name: _one_by_one(bare, said, at_once, parts, name == SAME) for name, bare in sides}
    return took, _copied(ours.copy, said, at_once, parts), others, written


def _tidied(memory: PersonaMemory) -> tuple[float, int]:
    """Do the postponed work: seconds, and number of commits."""
    began, commits = time.perf_counter(), 1
    while memory.tidy():
        commits += 1
    return time.perf_counter() - began, commits


def _parts(rows: Rows, number: int) -> list[Rows]:
    """The rows in this many parts."""
    return [{table: every[part::number] for table, every in rows.items()} for part in range(number)]


def _copied(copy: BareTables, said: Sequence[list[Turn]], at_once: Rows, later: Sequence[Rows]) -> RoundTimes:
    began = time.perf_counter()
    copy.put(at_once)
    kept = time.perf_counter()
    for turns in said:
        copy.read(turns[0], ROWS_READ)
    read = time.perf_counter()
    for part in later:
        copy.put(part)
    return RoundTimes([kept - began] * len(said), read - kept, time.perf_counter() - read)


def _one_by_one(
    copy: BareTables, said: Sequence[list[Turn]], at_once: Rows, later: Sequence[Rows], together: bool
) -> RoundTimes:
    """Write the rows in as many parts as there are sessions, a commit for each of them, or one (``together``)."""
    parts, began = _parts(at_once, len(said)), time.perf_counter()
    if together:
        copy.put_together(parts)
        waited = [time.perf_counter() - began] * len(said)
    else:
        waited = copy.put_each(parts)
    read = time.perf_counter()
    for turns in said:
        copy.read(turns[0], ROWS_READ)
    done = time.perf_counter()
    for part in later:
        copy.put(part)
    return RoundTimes(waited, done - read, time.perf_counter() - done)


def _turns_alone(bare: BareTables, said: Sequence[list[Turn]], at_once: bool) -> RoundTimes:
    """Write each part alone; all are requested at once, so that each waits for those before it."""
    began, waited = time.perf_counter(), []
    for commit in [list(chain.from_iterable(said))] if at_once else said:
        bare.keep(commit)
        waited.append(time.perf_counter() - began)
    read = time.perf_counter()
    for turns in said:
        bare.read(turns[0], ROWS_READ)
    return RoundTimes(waited * len(said) if at_once else waited, time.perf_counter() - read)


# figures


def _figures(name: str, taken: dict[str, list[RoundTimes]], rows: Counter[str]) -> list[Figure]:
    what = f"{SESSIONS} sessions at once on {name}"
    rounds = len(taken[OURS])
    note = "rows a round: " + ", ".join(f"{table} {n / rounds:.0f}" for table, n in sorted(rows.items()) if n >= rounds)
    found = []
    kept, whole = f"exchanges kept and histories read, {what}", f"... with what is put off, {what}"
    for other in (EACH, SAME, ITSELF, TOGETHER):
        found.append(_rate(kept, _per_s(taken[OURS]), _per_s(taken[other]), other, TARGET))
    for other in (EACH, SAME):  # understanding what was said is work that no bare statement does: no target
        found.append(_rate(whole, _per_s(taken[OURS], True), _per_s(taken[other], True), other))
    for side, off, target in ((OURS, "", None), (WITHOUT_FACTS, ", facts off", TARGET)):
        loaded = taken[f"{LOADED} {side}"]
        found.append(_rate(kept + off, _per_s(taken[side]), _per_s(loaded), LOADED))
        found.append(_rate(whole + off, _per_s(taken[side], True), _per_s(loaded, True), LOADED, target))
    for other in (EACH, SAME, ITSELF):
        found.append(_spread(f"until it is durable, {what}", _waited(taken[OURS]), _waited(taken[other]), other))
    read = [Spread.from_values([1000 * one.read / SESSIONS for one in taken[side]]) for side in (OURS, SAME)]
    return [*found, Figure("h", f"a history read, {what}", "ms", read[0], read[1], SAME, note=note)]


def _per_s(rounds: Sequence[RoundTimes], later: bool = False) -> Spread:
    return Spread.from_values([SESSIONS / (one.kept + one.read + (one.later if later else 0.0)) for one in rounds])


def _waited(rounds: Sequence[RoundTimes]) -> Spread:
    return Spread.from_values([1000 * waited for one in rounds for waited in one.waited])


def _rate(name: str, ours: Spread, other: Spread, against: str, target: float | None = None) -> Figure:
    if target is None:
        return Figure("h", name, "a second", ours, other, against)
    met = ours.p50 >= target * other.p50
    return Figure("h", name, "a second", ours, other, against, f"at least {target:.0%} of the raw rate", met)


def _spread(name: str, ours: Spread, other: Spread, against: str) -> Figure:
    return Figure("h", name, "ms", ours, other, against)
