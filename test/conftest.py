"""What holds for all tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import pytest

from ovos_persona_memory.extraction.reader.judge_model import JudgeModel
from ovos_persona_memory.extraction.reader.model import ReaderModel, Scores, Utterance
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


READ_ONCE = 4096
"""So many readings of the model, and so many of its judgements, are kept in mind."""


@pytest.fixture(scope="session", autouse=True)
def nothing_read_twice() -> Iterator[None]:
    """The model makes the same of the same words each time: what one test has had read costs the next one nothing."""
    read, answers = ReaderModel.read, JudgeModel.answers

    @lru_cache(maxsize=READ_ONCE)
    def read_once(
        model: _ByIdentity, words: tuple[str, ...], before: tuple[str, ...], by_assistant: bool, known: frozenset[int]
    ) -> Scores | None:
        return read(cast(ReaderModel, model.model), Utterance(words, before, by_assistant, known))

    @lru_cache(maxsize=READ_ONCE)
    def judged_once(model: _ByIdentity, question: tuple[str, ...], remarks: tuple[tuple[str, ...], ...]) -> list[float]:
        return answers(cast(JudgeModel, model.model), question, remarks)

    def remembered_reading(model: ReaderModel, given: Utterance, always: bool = False) -> Scores | None:
        if always:
            return read(model, given, always)
        return read_once(_ByIdentity(model), tuple(given.words), tuple(given.before), given.by_assistant, given.known)

    def remembered_judgement(
        model: JudgeModel, question: Sequence[str], remarks: Sequence[Sequence[str]]
    ) -> list[float]:
        return list(judged_once(_ByIdentity(model), tuple(question), tuple(tuple(one) for one in remarks)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReaderModel, "read", remembered_reading)
        patch.setattr(JudgeModel, "answers", remembered_judgement)
        yield


class _ByIdentity:
    """A model as a key: the same object is the same model."""

    def __init__(self, model: ReaderModel | JudgeModel) -> None:
        self.model = model

    def __hash__(self) -> int:
        return id(self.model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.model is self.model


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
