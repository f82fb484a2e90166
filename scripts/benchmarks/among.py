"""Part h, second half: one person's recall among a million turns in PostgreSQL, with HNSW, beside an exact search."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import psycopg
from postgres_server import Databases, PostgresServer

from benchmarks.corpus import SESSION_TURNS, Talk
from benchmarks.figures import Figure, Spread
from benchmarks.meaning import DIM, STAND_IN, StandIn
from benchmarks.services import say
from ovos_persona_memory import language
from ovos_persona_memory.config import MemoryConfig, RecallConfig
from ovos_persona_memory.indexer import Indexer
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope
from ovos_persona_memory.stores.base import BOTH
from ovos_persona_memory.stores.postgres import PostgresStore, open_postgres
from ovos_persona_memory.stores.postgres_vectors import NEAR
from ovos_persona_memory.stores.postgres_words import ENTER
from ovos_persona_memory.vectors import Bytes, Floats, cosines, quantised

TURNS = {"quick": 20_000, "full": 1_000_000}
PEOPLE = 20
"""By Zipf's law: the busiest has said more than a quarter of it all."""
ASKED = 150
AT_ONCE = 10_000
PERSONAS = ("Ada", "Ben", None)
LIMIT_MS, RECALLED = 50.0, 0.98
MEMORY = {"shared_buffers": "2GB", "maintenance_work_mem": "3GB", "max_wal_size": "8GB", "effective_cache_size": "6GB"}


@dataclass(frozen=True)
class Said:
    """What was loaded, as far as it is asked about: one entry a turn."""

    texts: list[str]
    users: list[str]
    sessions: list[str]
    personas: list[str | None]
    vectors: Bytes


def run(size: str) -> list[Figure]:
    """The figures of this half."""
    turns = TURNS[size]
    say(f"h: {turns} turns of {PEOPLE} people, with their vectors, into PostgreSQL")
    server = PostgresServer(**MEMORY, fsync="off", synchronous_commit="off")
    try:
        url = Databases(server).fresh()
        said = _load(url, turns)
        say("h: the HNSW index")
        seconds = _index(url)
        store = open_postgres(url)
        memory = PersonaMemory(
            store,
            MemoryConfig(recall=RecallConfig(embedder=STAND_IN)),
            indexer=Indexer(store.vector_store, STAND_IN, lambda _: StandIn(), 30.0),
        )
        with memory:
            memory._indexer.start()  # type: ignore[union-attr]
            return _measured(memory, store, said, seconds)
    finally:
        server.close()


def _measured(memory: PersonaMemory, store: PostgresStore, said: Said, built_s: float) -> list[Figure]:
    chance = random.Random(5)
    asked = chance.sample(range(len(said.texts)), ASKED)
    memory.recall(said.texts[0], Scope(user_id=said.users[0]), lang="en-US")
    figures = []
    who = f"one person among {len(said.texts)} turns"
    for name, narrowed in SCOPES.items():
        scopes = {number: narrowed(said, number) for number in asked}
        took = Spread.of([_recall_ms(memory, said.texts[n], scopes[n]) for n in asked])
        target = f"p95 under {LIMIT_MS:g} ms"
        figures.append(Figure("h", f"recall, {who}, {name}", "ms", took, target=target, met=took.p95 < LIMIT_MS))
        search = Spread.of([_nearest(store, said, n, scopes[n])[1] for n in asked])
        found = [_share(store, said, n, scopes[n]) for n in asked]
        mean = sum(found) / len(found)
        note = f"recall@10 against exact {mean:.4f}, the least {min(found):.1f}; HNSW built in {built_s:.0f} s"
        target = f"recall@10 at least {RECALLED}"
        figures.append(Figure("h", f"by meaning, {name}", "ms", search, target=target, met=mean >= RECALLED, note=note))
    return figures


SCOPES = {
    "all that is theirs": lambda said, n: Scope(user_id=said.users[n]),
    "of one persona": lambda said, n: Scope(user_id=said.users[n], persona_id="Ada"),
    "of one session": lambda said, n: Scope(said.sessions[n], said.users[n]),
}


def _question(text: str) -> Floats:
    """Half of the words: near to the turn, and not the same."""
    words = text.split()
    found: Floats = StandIn.embed(_SILENT, [" ".join(words[::2]), ""])[0]
    return found


def _recall_ms(memory: PersonaMemory, text: str, scope: Scope) -> float:
    began = time.perf_counter()
    memory.recall(" ".join(text.split()[::2]), scope, lang="en-US")
    return (time.perf_counter() - began) * 1000


def _nearest(store: PostgresStore, said: Said, number: int, scope: Scope) -> tuple[list[str], float]:
    query = _question(said.texts[number])
    began = time.perf_counter()
    near = store.vector_store.nearest(STAND_IN, query, scope, BOTH, 10)
    return [one.record.id for one in near], (time.perf_counter() - began) * 1000


def _share(store: PostgresStore, said: Said, number: int, scope: Scope) -> float:
    """How many of the ten that were found are as near as the ten that are nearest."""
    near, _ = _nearest(store, said, number, scope)
    question, rows = _question(said.texts[number]), _of_user(said, scope.user_id or "")
    inside = rows[[_in_scope(said, n, scope) for n in rows]]
    exact = np.sort(cosines(said.vectors[inside], question))[::-1][:10]
    scores = cosines(said.vectors[[int(one) for one in near]], question)
    return float((scores >= exact[-1] - 1e-6).sum()) / len(exact)


_USERS: dict[str, np.ndarray] = {}


def _of_user(said: Said, user_id: str) -> np.ndarray:
    if not _USERS:
        users = np.array(said.users)
        _USERS.update({one: np.flatnonzero(users == one) for one in set(said.users)})
    return _USERS[user_id]


def _in_scope(said: Said, number: int, scope: Scope) -> bool:
    return (scope.session_id in (None, said.sessions[number])) and (
        scope.persona_id is None or said.personas[number] in (None, scope.persona_id)
    )


# loading


class _Silent(StandIn):
    """Without the real model."""

    def __init__(self) -> None:
        pass


_SILENT = _Silent()


def _load(url: str, turns: int) -> Said:
    talk, chance = Talk(11), random.Random(3)
    shares = list(accumulate(1 / rank for rank in range(1, PEOPLE + 1)))
    said = Said([], [], [], [], np.empty((turns, DIM), dtype=np.int8))
    open_postgres(url).close()
    with psycopg.connect(url, options="-c search_path=persona_memory,public") as connection:
        for start in range(0, turns, AT_ONCE):
            number = len(said.texts)
            while len(said.texts) < start + AT_ONCE:
                person = f"person-{chance.choices(range(PEOPLE), cum_weights=shares)[0]}"
                persona = chance.choice(PERSONAS)
                session = f"talk-{len(said.texts) // SESSION_TURNS}"
                for _ in range(SESSION_TURNS):
                    said.texts.append(talk.sentence()[0])
                    said.users.append(person)
                    said.sessions.append(session)
                    said.personas.append(persona)
            _enter(connection, said, number, start + AT_ONCE)
            connection.commit()
        connection.execute("INSERT INTO entered (household, seq) VALUES ('home', %s)", (turns,))
        connection.execute(f"SELECT setval('persona_memory_order', {turns + 1})")
        connection.execute(
            "INSERT INTO vector_index (household, name, slot, setting, dim, done_to, started)"
            " VALUES ('home', %s, 0, %s, %s, %s, 1)",
            (STAND_IN, STAND_IN, DIM, turns),
        )
    return said


def _enter(connection: psycopg.Connection, said: Said, first: int, end: int) -> None:
    spoken = language.of("en-US")
    words = [" ".join(spoken.words(text)) for text in said.texts[first:end]]
    said.vectors[first:end] = quantised(_SILENT.embed(said.texts[first:end]))
    with connection.cursor().copy(f"COPY turn ({TURN_COLUMNS}) FROM STDIN") as copy:
        for n, text in zip(range(first, end), words, strict=True):
            copy.write_row(_row(said, n, text))
    with connection.cursor().copy(f"COPY vector ({VECTOR_COLUMNS}) FROM STDIN") as copy:
        for n in range(first, end):
            place = (said.sessions[n], said.personas[n])
            vector = str(said.vectors[n].tolist())
            copy.write_row(("home", said.users[n], 0, "turn", n + 1, n + 1, DIM, vector, *place, 0))
    connection.execute(ENTER, (said.users[first:end], list(range(first + 1, end + 1)), words, "home", "home", "home"))


TURN_COLUMNS = (
    "household, user_id, seq, id, at, role, lang, source, session_id, persona_id, expects_reply, announcement,"
    " machine, linked, redacted, version, text, words"
)
VECTOR_COLUMNS = "household, user_id, slot, kind, doc, version, dim, vector, session_id, persona_id, private"


def _row(said: Said, n: int, words: str) -> tuple[object, ...]:
    place = (said.sessions[n], said.personas[n])
    at = 1_700_000_000.0 + 30 * n
    flags = (False,) * 5
    role = "assistant" if n % 2 else "user"
    said_by = ("home", said.users[n], n + 1, str(n), at, role)
    return (*said_by, "en-US", "heard", *place, *flags, n + 1, said.texts[n], words)


def _index(url: str) -> float:
    began = time.monotonic()
    with psycopg.connect(url, autocommit=True, options="-c search_path=persona_memory,public") as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("SET max_parallel_maintenance_workers = 2")
        connection.execute("SET maintenance_work_mem = '3GB'")
        connection.execute(NEAR.format(dim=DIM))
    return time.monotonic() - began
