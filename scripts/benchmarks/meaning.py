"""Part f: recall by words and with vectors, beside what SQLite and numpy take for their part of it."""

from __future__ import annotations

import sqlite3
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.corpus import Asked, Built, Corpus, built
from benchmarks.figures import Figure, Spread
from benchmarks.progress import say
from ovos_persona_memory.config import MemoryConfig, RecallConfig
from ovos_persona_memory.evaluation.rankers import wait_until_indexed
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.search import embedding, vector_indexer
from ovos_persona_memory.search.embedder import Embedder, Kind
from ovos_persona_memory.stores.base.vector_math import Floats, normalised
from ovos_persona_memory.stores.sqlite.vectors import SqliteVectors
from ovos_persona_memory.text import languages

HOUSEHOLD_TURNS = {"quick": 5_000, "full": 100_000}
CROWD_TURNS = {"quick": 20_000, "full": 1_000_000}
PERSON_TURNS = {"quick": 100, "full": 1_000}
PEOPLE = 500
ASKED = 300
DIM = 384
STAND_IN = "stand-in"
REAL = "when did my sister tell me about the new dentist"
"""A question that MiniLM embeds each time: invented words give three times as many tokens as those of a language."""


class StandIn:
    """A random vector for each word, and their mean for a text: as large as MiniLM's, and made a thousand times sooner.

    A question takes MiniLM's time, since a real one is embedded by MiniLM, too.
    """

    kind: Kind = "sentence"
    name = STAND_IN
    dim = DIM

    def __init__(self) -> None:
        self._real = embedding.open_embedder("minilm")

    def embed(self, texts: Sequence[str]) -> Floats:
        """See Embedder."""
        if len(texts) == 1:
            self._real.embed([REAL])
        return normalised(
            np.stack([sum(map(_of_word, languages.fold(text)), np.zeros(DIM, np.float32)) for text in texts])
        )


@cache
def _of_word(word: str) -> Floats:
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(DIM, dtype=np.float32)


@cache
def _stand_in(_: str) -> Embedder:
    return StandIn()


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    vector_indexer.QUIET_S = 0.0
    vector_indexer.TAKEN = vector_indexer.TOGETHER = 1000  # nobody asks while the stand-in works
    household = Corpus(HOUSEHOLD_TURNS[size])
    crowd = Corpus(CROWD_TURNS[size], PEOPLE)
    return [
        *_compared(household, "p50", (6.0, 12.0)),
        *_compared(crowd, "p95", (25.0, 40.0)),
        *_alone(crowd, PERSON_TURNS[size]),
    ]


def _compared(corpus: Corpus, mark: str, limits: tuple[float, float]) -> list[Figure]:
    """By words beside SQLite's own search, with vectors beside numpy's product."""
    say(f"f: {corpus.turns} turns of {corpus.people}, built and indexed unless they are still there")
    base = built(corpus)
    questions = base.questions[:ASKED]
    who = f"{corpus.turns} turns of {corpus.people} {'people, one of them' if corpus.people > 1 else 'household'}"
    with _opened(base.folder, "none") as memory:
        first_by_words = Spread.from_values([_recall_ms(memory, one) for one in questions])
        by_words = Spread.from_values([_recall_ms(memory, one) for one in questions])
        raw = _fts(memory, base, questions)
    with _opened(base.folder, STAND_IN) as memory:
        _wait_until_read_ahead(memory)
        first_by_vectors = Spread.from_values([_recall_ms(memory, one) for one in questions])
        with_vectors = Spread.from_values([_recall_ms(memory, one) for one in questions])
        product = _product(corpus.turns if corpus.people == 1 else corpus.turns // corpus.people)
    figures = []
    for name, ours, other, against, limit_ms, note in (
        ("by words", by_words, raw, "FTS5, all users in one table", limits[0], _first(first_by_words)),
        ("with vectors", with_vectors, product, "numpy float32 product", limits[1], NOTE + _first(first_by_vectors)),
    ):
        target = f"{mark} under {limit_ms:.0f} ms"
        met = getattr(ours, mark) < limit_ms
        figures.append(Figure("f", f"recall {name}, {who}", "ms", ours, other, against, target, met, note))
    return figures


NOTE = "random vectors by word stand in for MiniLM's; for each question MiniLM embeds one of ten words; "


def _first(took: Spread) -> str:
    return f"right after opening the same questions took {took.p50:.1f} / {took.p95:.1f} ms"


def _wait_until_read_ahead(memory: PersonaMemory) -> None:
    """Wait until the tables of a question are cached, as they are some seconds after a start."""
    held, vectors = -1, memory._store.vector_store
    assert isinstance(vectors, SqliteVectors)
    while held < len(vectors._tables):
        held = len(vectors._tables)
        time.sleep(2)


def _alone(crowd: Corpus, turns: int) -> list[Figure]:
    """One person's questions among all, and in a memory that holds nobody else's."""
    base = built(crowd)
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("none", STAND_IN):
            with _opened(base.folder, name) as memory:
                if name == STAND_IN:
                    _wait_until_read_ahead(memory)
                user_id = _with_about(memory, turns)
                said = memory._store.turns(Scope(user_id=user_id))
                questions = [Asked(f"{turn.text[:60]}?", user_id, "") for turn in said[:: max(len(said) // 60, 1)]]
                among = Spread.from_values([_recall_ms(memory, one) for one in questions * 3])
            with _opened(Path(folder), name) as memory:
                if not memory.status()["counts"]["turns"]:
                    _copy(said, memory)
                    wait_until_indexed(memory)
                alone = Spread.from_values([_recall_ms(memory, one) for one in questions * 3])
            met = among.p50 < 1.5 * alone.p50
            what = f"recall {'by words' if name == 'none' else 'with vectors'}, {len(said)} turns among {crowd.turns}"
            figures.append(Figure("f", what, "ms", among, alone, "alone", "within 1.5 of alone", met))
    return figures


def _with_about(memory: PersonaMemory, turns: int) -> str:
    users = [(abs(len(memory._store.turns(Scope(user_id=one))) - turns), one) for one in memory._store.users()[:200]]
    return min(users)[1]


def _copy(said: Sequence[Turn], memory: PersonaMemory) -> None:
    with memory.transaction():
        for turn in said:
            memory.record([turn], Scope(turn.session_id, turn.user_id))
    while memory.tidy():
        pass


@contextmanager
def _opened(folder: Path, name: str) -> Iterator[PersonaMemory]:
    config = MemoryConfig(recall=RecallConfig(embedder=name))
    with PersonaMemory.open(folder, config, opener=_stand_in) as memory:
        wait_until_indexed(memory)
        yield memory


def _recall_ms(memory: PersonaMemory, asked: Asked) -> float:
    began = time.perf_counter()
    memory.recall(asked.text, Scope(user_id=asked.user_id), lang="en-US")
    return (time.perf_counter() - began) * 1000


def _fts(memory: PersonaMemory, base: Built, questions: Sequence[Asked]) -> Spread:
    """SQLite's full-text search over the same texts, by the same content words, of all users."""
    path = base.folder.parent / "fts.db"
    made = path.exists()
    spoken = languages.for_language("en-US")
    with closing(sqlite3.connect(path)) as sql:
        if not made:
            sql.execute("CREATE VIRTUAL TABLE said USING fts5(text, content='', tokenize=porter)")
            for record, _ in memory._store.documents(Scope.everyone(), frozenset({"turn"})):
                sql.execute("INSERT INTO said (rowid, text) VALUES (?, ?)", (record.seq, record.text))
            sql.commit()
        took = []
        for one in questions:
            words = " OR ".join(f'"{word}"' for word in languages.fold(one.text) if word not in spoken.stop_words)
            began = time.perf_counter()
            sql.execute("SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT 15", (words,)).fetchall()
            took.append((time.perf_counter() - began) * 1000)
    return Spread.from_values(took)


def _product(turns: int) -> Spread:
    rows = np.random.default_rng(1).standard_normal((turns, DIM), dtype=np.float32)
    took = []
    for number in range(50):
        query = rows[number % turns].copy()
        began = time.perf_counter()
        np.argpartition(rows @ query, -15)
        took.append((time.perf_counter() - began) * 1000)
    return Spread.from_values(took)
