"""What holds for all tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from ovos_persona_memory.search import embedding

if TYPE_CHECKING:
    from support.servers.chroma import ChromaServer
    from support.servers.postgres import Databases
    from support.servers.redis import RedisServer

POSTGRES = "OPM_TEST_POSTGRES"
"""The url of a server that is running already: of the tests that started these."""


NEEDED = {"postgres": "databases", "chroma": "chroma_running"}
"""Servers, and the fixture that starts each. scripts/test sets OPM_TEST_NO_POSTGRES or OPM_TEST_NO_CHROMA where one
cannot be run, which it says: its tests are left out then."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a server that cannot be had."""
    missing = {name: fixture for name, fixture in NEEDED.items() if f"OPM_TEST_NO_{name.upper()}" in os.environ}
    needing = [
        one
        for one in items
        for name, fixture in missing.items()
        if name in one.nodeid or fixture in getattr(one, "fixturenames", ())
    ]
    if needing:
        items[:] = [one for one in items if one not in needing]
        config.hook.pytest_deselected(items=needing)


@pytest.fixture(autouse=True)
def no_default_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """``auto`` finds nothing here: a test that wants an embedder names it, and the others need not load one."""
    monkeypatch.setattr(embedding, "DEFAULTS", {})


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """Fresh databases, on one server for all tests."""
    from support.servers.postgres import FAST, Databases, running  # the stable line's environment has no driver

    if POSTGRES in os.environ:
        yield Databases(os.environ[POSTGRES])
        return
    with running(**FAST) as server:
        os.environ[POSTGRES] = server.url()
        try:
            yield Databases(server)
        finally:
            del os.environ[POSTGRES]


@pytest.fixture
def postgres(databases: Databases) -> Iterator[Callable[[], str]]:
    """Makes databases for a test, and gives their urls."""
    made: list[str] = []

    def fresh() -> str:
        made.append(databases.fresh())
        return made[-1]

    yield fresh
    for url in made:
        databases.drop(url)


@pytest.fixture(scope="session")
def redis_running() -> Iterator[RedisServer]:
    """One server for all tests."""
    from support.servers.redis import RedisServer

    with RedisServer() as server:
        yield server


@pytest.fixture
def redis_server(redis_running: RedisServer) -> RedisServer:
    """A server that holds nothing."""
    with redis_running.client() as client:
        client.flushall()
    return redis_running


@pytest.fixture(scope="session")
def chroma_running() -> Iterator[ChromaServer]:
    """One server for all tests."""
    from support.servers.chroma import ChromaServer

    with ChromaServer() as server:
        yield server


@pytest.fixture
def chroma_server(chroma_running: ChromaServer) -> ChromaServer:
    """A server that holds nothing."""
    chroma_running.empty()
    return chroma_running
