"""Each contract test runs on every backend through one ``store`` fixture."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ovos_persona_memory import config
from ovos_persona_memory.records import Entry, Turn
from ovos_persona_memory.stores import open_store, open_stores
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.postgres import postings
from ovos_persona_memory.stores.postgres.store import open_postgres
from ovos_persona_memory.stores.sqlite import postings as sqlite_postings
from ovos_persona_memory.stores.sqlite.store import SqliteStore


def pytest_configure() -> None:
    """In a run that test_planted_faults.py starts, break the backend first."""
    name = os.environ.get("PLANTED_FAULT")
    if name:
        of_postgres, fault = name.startswith("postgres: "), name.removeprefix("postgres: ")
        file = "postgres/test_planted_faults.py" if of_postgres else "test_planted_faults.py"
        spec = importlib.util.spec_from_file_location(f"{__package__}.faults", Path(__file__).parent / file)
        assert spec and spec.loader
        faults = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(faults)
        faults.FAULTS[fault].plant()


FIRST = ("postgres/test_planted_faults.py", "test_planted_faults.py", "test_side_by_side.py", "test_migration.py")
"""What takes longest, begun first: nobody waits for it at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first what takes longest; everything else stays in its order."""
    first = {Path(__file__).parent / name: place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: first.get(item.path, len(first)))


RAM = Path("/dev/shm")

KINDS = "kinds"
"""Not a backend but four: each kind of memory in an SQLite file of its own."""


REDIS = "redis"
"""What it can keep on a server; documents and vectors in an SQLite file."""


CHROMA = "chroma"
"""Vectors on a server, everything else in an SQLite file."""


def open_beside_chroma(home: Path, url: str) -> Store:
    """Vectors on a Chroma server beside an SQLite file."""
    kinds = {name: {"backend": "sqlite"} for name in ("conversational", "facts", "episodic")}
    chroma = {"backend": "chroma", "connection": url}
    return open_stores(config.parse({"data_dir": str(home), "kinds": {**kinds, "semantic": chroma}}))


def open_beside_redis(home: Path, url: str) -> Store:
    """What Redis can keep there, the rest in the data folder."""
    kinds = {name: {"backend": "redis", "connection": url} for name in ("conversational", "facts", "episodic")}
    return open_stores(config.parse({"data_dir": str(home), "kinds": {**kinds, "semantic": {"backend": "sqlite"}}}))


def open_kinds(home: Path) -> Store:
    """Each kind of memory in a folder of its own."""
    kinds = {name: {"backend": "sqlite", "connection": str(home / name)} for name in ("facts", "episodic", "semantic")}
    settings = {"data_dir": str(home), "kinds": {"conversational": {"backend": "sqlite"}, **kinds}}
    return open_stores(config.parse(settings))


QUICK = ("inmemory", "sqlite")
FULL = ("sqlite-entered_now", KINDS, REDIS, CHROMA, "postgres")
"""What the quick run leaves out."""


@pytest.fixture(params=[*QUICK, *(pytest.param(name, marks=pytest.mark.full) for name in FULL)])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A backend's name; SQLite twice, since words of turns wait in memory before they are in the index on disk."""
    name, _, entered = str(request.param).partition("-")
    if entered:
        monkeypatch.setattr(sqlite_postings, "WAITING", 0)
    monkeypatch.setattr(postings, "WAITING", 3)  # some wait, some are entered: in every test
    return name


@pytest.fixture
def home(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """The data folder; beside Chroma on a disk in memory: that SQLite waits for the real one is seen without it."""
    parameters = getattr(getattr(request.node, "callspec", None), "params", {})
    if parameters.get("backend") != CHROMA or not RAM.is_dir():
        yield tmp_path / "memory"
        return
    with tempfile.TemporaryDirectory(prefix="contract-", dir=RAM) as folder:
        yield Path(folder) / "memory"


@pytest.fixture
def url(backend: str, request: pytest.FixtureRequest) -> str:
    """Where the database is; empty for a backend without a server."""
    if backend == REDIS:
        return str(request.getfixturevalue("redis_server").url)
    if backend == CHROMA:
        return str(request.getfixturevalue("chroma_server").url)
    return str(request.getfixturevalue("postgres")()) if backend == "postgres" else ""


@pytest.fixture
def open_again(backend: str, home: Path, url: str) -> Iterator[Callable[[], Store]]:
    """Closes the store, if open, and opens it; one that does not keep stays as it is."""
    opened: list[Store] = []

    def again() -> Store:
        if opened and not opened[-1].durable:
            return opened[-1]
        if opened:
            opened[-1].close()
        opened.append(_opened(backend, home, url))
        return opened[-1]

    yield again
    for store in opened:
        store.close()


def _opened(backend: str, home: Path, url: str) -> Store:
    if backend == KINDS:
        return open_kinds(home)
    if backend == REDIS:
        return open_beside_redis(home, url)
    if backend == CHROMA:
        return open_beside_chroma(home, url)
    return open_postgres(url) if backend == "postgres" else open_store(backend, home)


@pytest.fixture
def store(open_again: Callable[[], Store]) -> Store:
    return open_again()


Kept = Callable[[], Mapping[str, bytes]]


@pytest.fixture
def kept(backend: str, home: Path, url: str, request: pytest.FixtureRequest) -> Kept:
    """All that is kept: the content of each file of the data folder and of a Redis or Chroma server's own, or the
    rows of each table of the database."""
    servers = {REDIS: "redis_server", CHROMA: "chroma_server"}
    server = request.getfixturevalue(servers[backend]) if backend in servers else None

    def files() -> dict[str, bytes]:
        found = [path for path in home.rglob("*") if path.is_file()] if home.exists() else []
        of_server = server.kept() if server is not None else {}
        return {**of_server, **{str(path.relative_to(home)): path.read_bytes() for path in found}}

    def tables() -> dict[str, bytes]:
        with psycopg.connect(url) as connection:
            names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'persona_memory'").fetchall()
            return {name: _copied(connection, name) for (name,) in names}

    return tables if backend == "postgres" else files


def _copied(connection: psycopg.Connection, table: str) -> bytes:
    with connection.cursor().copy(f"COPY persona_memory.{table} TO STDOUT (FORMAT binary)") as copy:
        return b"".join(bytes(part) for part in copy)


@pytest.fixture
def left_in_files(kept: Kept) -> Callable[[str], list[str]]:
    """The files or tables in which a text can still be read, in any encoding."""

    def left(text: str) -> list[str]:
        forms = [text.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]
        return [name for name, content in kept().items() if any(form in content for form in forms)]

    return left


@pytest.fixture
def say(store: Store) -> Callable[..., Turn]:
    """Adds a turn whose words are those of its text; ids and times count up."""
    count = iter(range(1_000_000))

    def add(text: str, **fields: Any) -> Turn:
        number = next(count)
        turn = Turn(**{"role": "user", "text": text, "id": f"turn-{number}", "at": 1000.0 + number, **fields})
        return store.add_turn(turn, text)

    return add


@pytest.fixture
def keep(store: Store) -> Callable[..., Entry]:
    """Puts an entry whose words are those of its text; ids and times count up."""
    count = iter(range(1_000_000))

    def put(key: str, text: str, **fields: Any) -> Entry:
        number = next(count)
        at = 1000.0 + number
        entry = Entry(**{"key": key, "text": text, "id": f"m-{number}", "created_at": at, "updated_at": at, **fields})
        return store.put_entry(entry, text)

    return put


NOW = 1795298400.0  # 2026-11-21T22:00:00Z


@pytest.fixture
def database(home: Path) -> Path:
    return home / "memory.db"


@pytest.fixture
def opened(home: Path) -> Iterator[Callable[[], SqliteStore]]:
    """Opens the store, after closing the one before."""
    stores: list[SqliteStore] = []

    def open_it() -> SqliteStore:
        for store in stores:
            store.close()
        stores.append(SqliteStore(home, lambda: NOW))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


@pytest.fixture
def python() -> Callable[..., subprocess.Popen[str]]:
    """Starts a child that runs a program with our package."""

    def start(program: str, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-W", "error", "-c", program, *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)

    return start


@pytest.fixture
def answer_of(python: Callable[..., subprocess.Popen[str]]) -> Callable[..., str]:
    """What a child prints; it must end well."""

    def answer(program: str, *arguments: object) -> str:
        with python(program, *arguments) as child:
            out, err = child.communicate()
        assert not child.returncode, err
        return out.strip()

    return answer
