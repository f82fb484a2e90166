"""A PostgreSQL with many turns of some people and their vectors: kept, and built again when what builds it changes."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from support.servers.postgres import PostgresServer

from benchmarks.corpus import CACHE, ROOT, SESSION_TURNS, Talk
from benchmarks.meaning import DIM, STAND_IN, StandIn
from benchmarks.progress import say
from ovos_persona_memory.stores.base.vector_math import Bytes, Floats, quantised
from ovos_persona_memory.stores.postgres.postings import ENTER
from ovos_persona_memory.stores.postgres.store import open_postgres
from ovos_persona_memory.stores.postgres.vectors import BUCKETS, NEAR
from ovos_persona_memory.text import languages

PEOPLE = 20
"""By Zipf's law: the busiest has said more than a quarter of it all."""
AT_ONCE = 20_000
PERSONAS = ("Ada", "Ben", None)
FOR_ALL = Path("/var/tmp/opm-bench")
"""Where it is kept when root measures: the server runs as somebody else, who cannot look below root's home."""
MEMORY: dict[str, Any] = {
    "shared_buffers": "4GB",
    "maintenance_work_mem": "3GB",
    "max_wal_size": "8GB",
    "effective_cache_size": "6GB",
}
LOADED_LATER = ("turn", "vector", "posting")
"""Tables whose indexes are made when all their rows are there: that takes a tenth of the time."""
TURN_COLUMNS = (
    "household, user_id, seq, id, at, role, lang, source, session_id, persona_id, expects_reply, announcement,"
    " machine, linked, redacted, version, text, words"
)
VECTOR_COLUMNS = "household, user_id, slot, kind, doc, version, dim, vector, session_id, persona_id, private"


@dataclass(frozen=True)
class Said:
    """What is there: one entry a turn, whose id is its place."""

    texts: list[str]
    users: list[str]
    sessions: list[str]
    personas: list[str | None]
    vectors: Bytes


@dataclass(frozen=True)
class Took:
    """How long it took to build, seconds."""

    rows: float
    indexes: float
    near: float
    """The HNSW indexes."""


@contextmanager
def crowd(turns: int) -> Iterator[tuple[str, Said, Took]]:
    """The url of so many turns, what they are, and what it took to build them."""
    place = _place(turns)
    if not (place / "complete.json").exists():
        for old in place.parent.glob(f"crowd-{turns}-*"):
            shutil.rmtree(old)
    server = PostgresServer(kept=place, **MEMORY, fsync="off", synchronous_commit="off")
    try:
        if not (place / "complete.json").exists():
            _build(server, place, turns)
        with (place / "complete.json").open(encoding="utf-8") as took:
            yield server.url("crowd"), _said(server.url("crowd"), place), Took(**json.load(took))
    finally:
        server.close()


def embedded(texts: list[str]) -> Floats:
    """The stand-in's vectors, without the time of a model."""
    found: Floats = StandIn.embed(_SILENT, texts)
    return found


def _place(turns: int) -> Path:
    stores = ROOT / "ovos_persona_memory" / "stores"
    made_by = "".join(inspect.getsource(one) for one in (_load, _enter, _row, Talk))
    known = hashlib.sha256(f"{turns} {NEAR} {ENTER} {made_by}".encode())
    for path in sorted((stores / "postgres_schema").glob("*.sql")):
        known.update(path.read_bytes())
    folder = FOR_ALL if os.geteuid() == 0 else CACHE
    return folder / f"crowd-{turns}-{known.hexdigest()[:12]}"


def _said(url: str, place: Path) -> Said:
    with psycopg.connect(url) as connection:
        sql = "SELECT text, user_id, session_id, persona_id FROM persona_memory.turn ORDER BY seq"
        texts, users, sessions, personas = map(list, zip(*connection.execute(sql).fetchall(), strict=True))
        return Said(texts, users, sessions, personas, np.load(place / "vectors.npy", mmap_mode="r"))


# building


class _Silent(StandIn):
    """Without the real model."""

    def __init__(self) -> None:
        pass


_SILENT = _Silent()


def _build(server: PostgresServer, place: Path, turns: int) -> None:
    say(f"i: {turns} turns of {PEOPLE} people, with their vectors, into PostgreSQL: kept in {place}")
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS crowd")
        connection.execute("CREATE DATABASE crowd")
    url = server.url("crowd")
    open_postgres(url).close()
    with psycopg.connect(url, autocommit=True, options="-c search_path=persona_memory,public") as connection:
        connection.execute("SET max_parallel_maintenance_workers = 2")
        clock = [time.monotonic()]
        later = _without_indexes(connection)
        np.save(place / "vectors.npy", _load(connection, turns))
        clock.append(time.monotonic())
        say("i: the indexes")
        for sql in later:
            connection.execute(sql)
        connection.execute("VACUUM ANALYZE")
        clock.append(time.monotonic())
        say("i: the HNSW indexes")
        for bucket in range(BUCKETS):
            connection.execute(NEAR.format(dim=DIM, bucket=bucket))
        connection.execute("ANALYZE vector")
        connection.execute("CHECKPOINT")
        clock.append(time.monotonic())
    took = Took(*(later - earlier for earlier, later in pairwise(clock)))
    (place / "complete.json").write_text(json.dumps(asdict(took)), encoding="utf-8")


def _without_indexes(connection: psycopg.Connection) -> list[str]:
    """Drop what makes rows wait; statements that make it again."""
    keys = (
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE contype = 'p' AND conrelid::regclass::text = ANY(%s)"
    )
    others = (
        "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
        " WHERE NOT indisprimary AND indrelid::regclass::text = ANY(%s)"
    )
    again = []
    for table, name, made in connection.execute(keys, (list(LOADED_LATER),)).fetchall():
        connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        again.append(f"ALTER TABLE {table} ADD CONSTRAINT {name} {made}")
    for name, made in connection.execute(others, (list(LOADED_LATER),)).fetchall():
        connection.execute(f"DROP INDEX {name}")
        again.append(made)
    return again


def _load(connection: psycopg.Connection, turns: int) -> Bytes:
    """Enter the turns; their vectors."""
    said = Said([], [], [], [], np.empty((turns, DIM), dtype=np.int8))
    talk, chance = Talk(11), random.Random(3)
    shares = list(accumulate(1 / rank for rank in range(1, PEOPLE + 1)))
    for start in range(0, turns, AT_ONCE):
        while len(said.texts) < start + AT_ONCE:
            person = f"person-{chance.choices(range(PEOPLE), cum_weights=shares)[0]}"
            session = f"talk-{len(said.texts) // SESSION_TURNS}"
            said.texts.extend(talk.sentence()[0] for _ in range(SESSION_TURNS))
            said.users.extend([person] * SESSION_TURNS)
            said.sessions.extend([session] * SESSION_TURNS)
            said.personas.extend([chance.choice(PERSONAS)] * SESSION_TURNS)
        with connection.transaction():
            _enter(connection, said, start, start + AT_ONCE)
    connection.execute("INSERT INTO entered (household, seq) VALUES ('home', %s)", (turns,))
    connection.execute(f"SELECT setval('persona_memory_order', {turns + 1})")
    connection.execute(
        "INSERT INTO vector_index (household, name, slot, setting, dim, done_to, started)"
        " VALUES ('home', %s, 0, %s, %s, %s, 1)",
        (STAND_IN, STAND_IN, DIM, turns),
    )
    return said.vectors


def _enter(connection: psycopg.Connection, said: Said, first: int, end: int) -> None:
    spoken = languages.for_language("en-US")
    words = [" ".join(spoken.words(text)) for text in said.texts[first:end]]
    said.vectors[first:end] = quantised(embedded(said.texts[first:end]))
    with connection.cursor().copy(f"COPY turn ({TURN_COLUMNS}) FROM STDIN") as copy:
        for n, text in zip(range(first, end), words, strict=True):
            copy.write_row(_row(said, n, text))
    with connection.cursor().copy(f"COPY vector ({VECTOR_COLUMNS}) FROM STDIN") as copy:
        for n in range(first, end):
            place = (said.sessions[n], said.personas[n])
            vector = str(said.vectors[n].tolist())
            copy.write_row(("home", said.users[n], 0, "turn", n + 1, n + 1, DIM, vector, *place, 0))
    connection.execute(ENTER, (said.users[first:end], list(range(first + 1, end + 1)), words, "home", "home", "home"))


def _row(said: Said, n: int, words: str) -> tuple[object, ...]:
    place = (said.sessions[n], said.personas[n])
    at = 1_700_000_000.0 + 30 * n
    flags = (False,) * 5
    role = "assistant" if n % 2 else "user"
    said_by = ("home", said.users[n], n + 1, str(n), at, role)
    return (*said_by, "en-US", "heard", *place, *flags, n + 1, said.texts[n], words)
