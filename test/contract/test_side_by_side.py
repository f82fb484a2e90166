"""Random sequences of all verbs on every backend at once: the same answers, but for how hits are ranked."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.letters import Letters
from support.servers.chroma import ChromaServer
from support.servers.redis import RedisServer

from ovos_persona_memory.config import MemoryConfig, RecallConfig, RetentionConfig, parse
from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextRequest, Heard, Scope, Turn
from ovos_persona_memory.search.vector_indexer import Indexer, SemanticSearch
from ovos_persona_memory.stores import open_store, open_stores
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.postgres.store import open_postgres

ROOT, REAL, REAL_BYTES = "ovos_persona_memory", uuid.uuid4, os.urandom
RAM = Path("/dev/shm")
DAY = 86400.0
NOW = 1795298400.0
USERS, SESSIONS, PERSONAS, SITES = ("ada", "bob"), ("s", "t"), (None, "Ada", "Ben"), ("kitchen", "hall")
WORDS = ["lamp", "rope", "river", "tower", "garden", "violin", "pepper", "harbour", "saddle", "copper"]
TOLD = (
    "my name is {w}",
    "I like {w}",
    "I don't like {w} any more",
    "my cat is called {w}",
    "the {w} is in the kitchen",
    "remember the {w}",
    "what is the {w} of the {v}",
    "{w} {v} {w}",
)
EVERY_KIND = frozenset({"turn", "memory", "fact"})
LISTED = EVERY_KIND - {"turn"}

pytestmark = pytest.mark.full


class AtOnce(Indexer):
    """Takes everything up before it answers, in the thread of who asks: on each side the same is known."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.vector_store, "letters", lambda _: Letters())
        self._begin(Letters())

    def meaning(self) -> SemanticSearch | None:
        while self._take_up():
            continue
        return self._answering


class Side:
    """One backend's memory, with a clock and ids that are the same on every side."""

    def __init__(self, name: str, store: Store) -> None:
        self.name, self.store, self.now = name, store, NOW
        config = MemoryConfig(recall=RecallConfig(embedder="letters"), retention=RetentionConfig(turns_days=40.0))
        self.memory = PersonaMemory(store, config, lambda: self.now, AtOnce(store))


Sides = AbstractContextManager[list[Side]]


@pytest.fixture
def sides(postgres: Callable[[], str], redis_server: RedisServer, chroma_server: ChromaServer) -> Callable[[], Sides]:
    """Opens a fresh memory on every backend."""

    @contextmanager
    def opened() -> Iterator[list[Side]]:
        with redis_server.client() as client:
            client.flushall()
        chroma_server.empty()
        disk = RAM if RAM.is_dir() else None
        with ExitStack() as closing, tempfile.TemporaryDirectory(dir=disk) as folder:
            home, redis = Path(folder), {"backend": "redis", "connection": redis_server.url}
            stores: dict[str, Store] = {}
            for name, make in {
                "inmemory": lambda: open_store("inmemory", None),
                "sqlite": lambda: open_store("sqlite", home / "one"),
                "kinds": lambda: on_kinds(
                    home / "k", **{name: in_file(home / name) for name in ("facts", "episodic", "semantic")}
                ),
                "redis": lambda: on_kinds(home / "r", **dict.fromkeys(("conversational", "facts", "episodic"), redis)),
                "postgres": lambda: open_postgres(postgres()),
                "chroma": lambda: on_kinds(home / "c", semantic={"backend": "chroma", "connection": chroma_server.url}),
            }.items():
                stores[name] = make()
                closing.callback(stores[name].close)
            yield [Side(name, store) for name, store in stores.items()]

    return opened


def in_file(folder: Path) -> dict[str, str]:
    return {"backend": "sqlite", "connection": str(folder)}


def on_kinds(home: Path, **kinds: dict[str, str]) -> Store:
    """A store in which these kinds are elsewhere than the others, which are in the data folder."""
    names = ("conversational", "facts", "episodic", "semantic")
    chosen = {name: kinds.get(name, {"backend": "sqlite"}) for name in names}
    return open_stores(parse({"data_dir": str(home), "kinds": chosen}))


def text(chance: random.Random) -> str:
    return chance.choice(TOLD).format(w=chance.choice(WORDS), v=chance.choice(WORDS))


def scope_of(chance: random.Random, narrow: bool = True) -> Scope:
    found = Scope(chance.choice(SESSIONS), chance.choice(USERS), chance.choice(PERSONAS), chance.choice(SITES))
    if narrow:
        return found
    kept = {name: getattr(found, name) for name in ("session_id", "persona_id", "site_id") if chance.random() < 0.3}
    return Scope(user_id=found.user_id, auth_level=chance.choice([None, 0, 5]), **kept)


# each verb takes a memory, chance and the time, and gives what is to be equal


def record(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    turns = [Turn("user", text(chance), lang="en-US"), Turn("assistant", text(chance), lang="en-US")]
    return memory.record(turns[: chance.randint(1, 2)], scope_of(chance), chance.random() < 0.2)


def hear(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    scope, number = scope_of(chance), f"u{chance.randrange(6)}"
    what = chance.choice(["utterance", "speech", "matched", "handled", "cancelled"])
    heard = Heard(what, scope, now, text(chance), "en-US", number, "skill.a", session_id=scope.session_id or "s")
    return memory.hear(heard)


def remember(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    key = chance.choice([None, "k1", "k2", "k3"])
    return memory.remember(text(chance), scope_of(chance), key, {"n": chance.randrange(3)}, "en-US")


def remember_privately(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    return memory.remember(text(chance), scope_of(chance), "private", {"private": chance.randrange(1, 5)}, "en-US")


def update(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    return memory.update(chance.choice(["k1", "k2", "k9"]), scope_of(chance), text(chance), {"m": 1})


def recall(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    scope = scope_of(chance, narrow=False)
    found = memory.recall(text(chance), scope, 1000, EVERY_KIND, lang="en-US")
    assert all(hit.user_id == scope.user_id for hit in found), "a foreign record was found"
    assert all(scope.session_id in (None, hit.session_id) for hit in found if hit.kind == "turn")
    return sorted((hit.kind, hit.id, hit.text, hit.at, hit.key or "") for hit in found)


def context(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    known = memory.context(ContextRequest(text(chance), scope_of(chance), recall=0, max_history=chance.randint(1, 9)))
    return known.messages


def look(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    scope = scope_of(chance, narrow=False)
    return (
        memory.history(replace(scope, session_id="s"), max_history=20, hanging=True),
        memory.sessions(scope),
        memory.list(scope, 50, chance.randrange(3), LISTED),
        [memory.get(key, scope) for key in ("k1", "private")],
        memory.facts.list(scope),
        memory.episodes(scope),
    )


def session(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    scope = scope_of(chance)
    if chance.random() < 0.3:
        return memory.clear_session(scope)
    if chance.random() < 0.5:
        memory.update_session(scope, f"about {text(chance)}", chance.choice(WORDS))
    return memory.snapshot(scope)


def documents(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    shelf = memory.documents(scope_of(chance), chance.choice(["guides", "notes"]), "en-US")
    name = f"d{chance.randrange(4)}"
    action = chance.random()
    if action < 0.5:
        embedding = [chance.random() for _ in range(3)] if chance.random() < 0.5 else None
        return shelf.upsert(text(chance), name, {"n": chance.randrange(2)}, embedding)
    if action < 0.6:
        return shelf.delete([name])
    return shelf.get(name), sorted(one.id for one in shelf.search(text(chance), 100))


def forget(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    scope, span = scope_of(chance, narrow=False), chance.choice([10.0, 600.0, DAY])
    wanted: dict[str, Any] = chance.choice(
        [{"key": "k1"}, {"query": chance.choice(WORDS), "lang": "en-US"}, {"since": now - span}, {"source": "skill.a"}]
    )
    if chance.random() < 0.1:
        wanted = {"everything": True}
    preview = memory.forget_by_kind(scope, True, **wanted)
    return preview, memory.forget_by_kind(scope, **wanted)


def merge(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    pair = chance.sample(USERS, 2)
    return memory.users.merge(pair[0], pair[1]) if chance.random() < 0.3 else sorted(map(repr, memory.users.list()))


def capture(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    return memory.capture(scope_of(chance), write=chance.random() < 0.8, session=True)


def tidy(memory: PersonaMemory, chance: random.Random, now: float) -> Any:
    while memory.tidy():
        pass
    return asdict(memory._store.counts())


Verb = Callable[[PersonaMemory, random.Random, float], Any]
VERBS: tuple[Verb, ...] = (
    *(record, record, record, hear, hear, remember, remember_privately, update, recall, recall, context, look, look),
    *(session, documents, documents, forget, merge, capture, tidy),
)


def outcome(side: Side, verb: Callable[..., Any], seed: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the verb gave, or which error; without the numbers that each store gives by itself."""
    ids = random.Random(seed)

    def is_ours() -> bool:  # and not a store's own, or its driver's
        by = str(sys._getframe(2).f_globals["__name__"])
        return by.startswith(f"{ROOT}.") and not by.startswith(f"{ROOT}.stores.")

    def uuid4() -> uuid.UUID:
        return uuid.UUID(int=ids.getrandbits(128), version=4) if is_ours() else REAL()

    def urandom(size: int) -> bytes:
        return ids.randbytes(size) if is_ours() else REAL_BYTES(size)

    monkeypatch.setattr(uuid, "uuid4", uuid4)
    monkeypatch.setattr(os, "urandom", urandom)
    try:
        found = verb(side.memory, random.Random(seed), side.now)
    except PersonaMemoryError as error:
        return f"{error.code}: {error.reason}"
    return repr(without_numbers(found))


def without_numbers(found: Any) -> Any:
    if isinstance(found, list | tuple):
        return [without_numbers(one) for one in found]
    if isinstance(found, dict):
        return {name: without_numbers(one) for name, one in found.items()}
    return replace(found, seq=0) if hasattr(found, "seq") else found


STEPS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 2**32 - 1)), min_size=60, max_size=90)
FRESH = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(
    max_examples=6, phases=[Phase.generate], derandomize=True, deadline=None, database=None, suppress_health_check=FRESH
)
@given(steps=STEPS)
def test_the_same_verbs_have_the_same_answers_everywhere(
    sides: Callable[[], Sides], steps: list[tuple[Verb, int]]
) -> None:
    with sides() as opened, pytest.MonkeyPatch.context() as monkeypatch:
        done: list[str] = []
        for step, (verb, number) in enumerate(steps):
            done.append(verb.__name__)
            for side in opened:
                side.now = NOW + 37.0 * step + (DAY * 20 if step > 50 else 0)
            answers = {side.name: outcome(side, verb, number, monkeypatch) for side in opened}
            assert len(set(answers.values())) == 1, (done[-5:], answers)


def test_what_was_forgotten_is_never_found_again(sides: Callable[[], Sides], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word of every text, asked for after each part of the forgetting."""
    chance = random.Random(99)
    with sides() as opened:
        for _ in range(60):
            verb, number = chance.choice((record, remember, documents, hear)), chance.getrandbits(32)
            for side in opened:
                side.now += 10.0
                outcome(side, verb, number, monkeypatch)
        for word in WORDS[:5]:
            for user_id in USERS:
                for side in opened:
                    side.memory.forget(Scope(user_id=user_id), query=word, lang="en-US")
                    left = side.memory.recall(word, Scope(user_id=user_id), 1000, EVERY_KIND, lang="en-US")
                    assert [hit.text for hit in left if word in hit.text] == [], side.name
                    both = (side.memory.recall(word, Scope(user_id=one), 1000, EVERY_KIND) for one in USERS)
                    for one, hits in zip(USERS, both, strict=True):
                        assert {hit.user_id for hit in hits} <= {one}, side.name
        everyone = [Scope(user_id=one) for one in USERS]
        lists = {side.name: [side.memory.list(scope, 999, 0, LISTED) for scope in everyone] for side in opened}
        left_over = {name: repr(without_numbers(found)) for name, found in lists.items()}
        assert len(set(left_over.values())) == 1, left_over
