"""Part i: one person's recall among a million turns in PostgreSQL, with HNSW, beside an exact search."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.figures import Figure, Spread
from benchmarks.large_postgres import Said, Took, crowd, embedded
from benchmarks.meaning import DIM, STAND_IN, StandIn
from benchmarks.progress import say
from ovos_persona_memory.config import MemoryConfig, RecallConfig
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope
from ovos_persona_memory.search.vector_indexer import Indexer
from ovos_persona_memory.stores.base.selection import BOTH
from ovos_persona_memory.stores.base.vector_math import Floats, cosines
from ovos_persona_memory.stores.postgres.store import PostgresStore, open_postgres
from ovos_persona_memory.stores.postgres.vectors import SPARE

TURNS = {"quick": 20_000, "full": 1_000_000}
ASKED = 200
FIRST = 300
"""Warm-up questions before anything is measured: a server that has run for a while has its indexes in memory."""
FOUND = 10
LIMIT_MS, RECALLED = 50.0, 0.98
SCOPES: dict[str, Callable[[Said, int], Scope]] = {
    "all that is theirs": lambda said, n: Scope(user_id=said.users[n]),
    "of one persona": lambda said, n: Scope(user_id=said.users[n], persona_id="Ada"),
    "of one session": lambda said, n: Scope(said.sessions[n], said.users[n]),
}
EVERYBODY = "of everybody"
NAMED = "such a question is searched for by meaning twice, with its names and without"
HNSW, COMPARED = "HNSW", "one by one"


@dataclass(frozen=True)
class SearchResult:
    """A question, its scope, and the documents that a search by meaning alone found."""

    query: Floats
    scope: Scope
    way: str
    """Whether HNSW is searched or the rows are compared one by one."""
    docs: list[int]
    took_ms: float


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    with crowd(TURNS[size]) as (url, said, took):
        store = open_postgres(url)
        memory = PersonaMemory(
            store,
            MemoryConfig(recall=RecallConfig(embedder=STAND_IN)),
            indexer=Indexer(store.vector_store, STAND_IN, lambda _: StandIn(), 30.0),
        )
        with memory:
            memory._indexer.start()  # type: ignore[union-attr]
            figures, searches = _timed(memory, store, said)
        say("i: exact searches beside what was found")
        return figures + _compared(said, searches, took)


def _timed(
    memory: PersonaMemory, store: PostgresStore, said: Said
) -> tuple[list[Figure], dict[str, list[SearchResult]]]:
    chance = random.Random(5)
    numbers = chance.sample(range(len(said.texts)), ASKED + FIRST)
    asked, first = numbers[:ASKED], numbers[ASKED:]
    say(f"i: {FIRST} questions before anything is measured")
    for number in first:
        _recall_ms(memory, _half(said.texts[number]), Scope(user_id=said.users[number]))
    say(f"i: {ASKED} questions in each scope")
    figures, searches = [], {}
    for name, narrowed in SCOPES.items():
        scopes = {number: narrowed(said, number) for number in asked}
        took = Spread.from_values([_recall_ms(memory, _half(said.texts[n]), scopes[n]) for n in asked])
        searches[name] = [_searched(store, said.texts[n], scopes[n]) for n in asked]
        what = f"recall, one person among {len(said.texts)} turns, {name}"
        met = took.p95 < LIMIT_MS
        figures.append(Figure("i", what, "ms", took, target=f"p95 under {LIMIT_MS:g} ms", met=met))
    took = Spread.from_values(
        [_recall_ms(memory, _half(said.texts[n]).capitalize(), Scope(user_id=said.users[n])) for n in asked]
    )
    figures.append(Figure("i", "recall, all that is theirs, by a question with a name in it", "ms", took, note=NAMED))
    searches[EVERYBODY] = [_searched(store, said.texts[n], Scope.everyone()) for n in asked]
    return figures, searches


def _half(text: str) -> str:
    """Half of a turn's words: a question near to the turn, and not the same."""
    return " ".join(text.lower().split()[::2])


def _recall_ms(memory: PersonaMemory, text: str, scope: Scope) -> float:
    began = time.perf_counter()
    memory.recall(text, scope, lang="en-US")
    return (time.perf_counter() - began) * 1000


def _searched(store: PostgresStore, text: str, scope: Scope) -> SearchResult:
    query, vectors = embedded([_half(text), ""])[0], store._vectors
    few = vectors._listed(scope, BOTH) is not None or vectors._near(DIM, scope.user_id, SPARE * FOUND) is None
    began = time.perf_counter()
    near = vectors.nearest(STAND_IN, query, scope, BOTH, FOUND)
    took_ms = (time.perf_counter() - began) * 1000
    return SearchResult(query, scope, COMPARED if few else HNSW, [int(one.record.id) for one in near], took_ms)


# beside an exact search


def _compared(said: Said, searches: dict[str, list[SearchResult]], took: Took) -> list[Figure]:
    figures, exact = [], ExactSearch(said)
    for name, all_ways in searches.items():
        for way in (HNSW, COMPARED):
            some = [one for one in all_ways if one.way == way]
            if some:
                figures.append(_by_meaning(f"by meaning, {name}, {way}", some, exact))
    note = f"rows in {took.rows:.0f} s, their indexes in {took.indexes:.0f} s, HNSW in {took.near:.0f} s"
    say(f"i: built of {len(said.texts)} {note}")
    return figures


def _by_meaning(name: str, searches: Sequence[SearchResult], exact: ExactSearch) -> Figure:
    shares = [exact.share(one) for one in searches]
    mean = sum(shares) / len(shares)
    rows = sorted(exact.size(one.scope) for one in searches)
    note = (
        f"recall@{FOUND} against exact {mean:.4f}, the least {min(shares):.1f}; {rows[0]} to {rows[-1]} rows in scope"
    )
    took = Spread.from_values([one.took_ms for one in searches])
    return Figure("i", name, "ms", took, target=f"recall@10 at least {RECALLED}", met=mean >= RECALLED, note=note)


class ExactSearch:
    """Compares a question with every vector in scope."""

    def __init__(self, said: Said) -> None:
        self._vectors = said.vectors
        self._users, self._sessions = np.array(said.users), np.array(said.sessions)
        self._personas = np.array([persona or "" for persona in said.personas])

    def _rows(self, scope: Scope) -> np.ndarray:
        inside = np.ones(len(self._users), dtype=bool)
        if scope.user_id is not None:
            inside &= self._users == scope.user_id
        if scope.session_id is not None:
            inside &= self._sessions == scope.session_id
        if scope.persona_id is not None:
            inside &= (self._personas == "") | (self._personas == scope.persona_id)
        return np.flatnonzero(inside)

    def size(self, scope: Scope) -> int:
        """Number of rows in scope."""
        return len(self._rows(scope))

    def share(self, search: SearchResult) -> float:
        """How many of the ten found documents are as near as the ten nearest."""
        rows = self._rows(search.scope)
        scores = cosines(self._vectors[rows], search.query)
        last = np.partition(scores, -FOUND)[-FOUND] if len(scores) > FOUND else scores.min()
        found = cosines(self._vectors[search.docs], search.query)
        return float((found >= last - 1e-6).sum()) / min(FOUND, len(scores))
