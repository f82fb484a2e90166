"""What holds for a memory on a Redis or Valkey server beyond what every store promises: real servers all of them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.servers.redis import RedisCluster, RedisServer

from ovos_persona_memory.config import parse
from ovos_persona_memory.errors import ConfigError, StoreBusy, StoreError, StoreFull, StoreUnavailable
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Entry, Note, Scope, Selection, Turn
from ovos_persona_memory.stores import open_stores
from ovos_persona_memory.stores.redis import connection
from ovos_persona_memory.stores.redis.connection import RedisDatabase, RedisSettings
from ovos_persona_memory.stores.redis.store import RedisStore, open_redis

pytestmark = pytest.mark.full

Open = Callable[..., RedisStore]
Answer = Callable[..., str]
PASSWORD = "hunter2secret"


@pytest.fixture
def at() -> Iterator[Open]:
    """Opens stores, and closes them after the test."""
    stores: list[RedisStore] = []

    def opened(url: str, **settings: object) -> RedisStore:
        stores.append(open_redis(RedisSettings(url, **settings)))  # type: ignore[arg-type]  # as the test says
        return stores[-1]

    yield opened
    for store in stores:
        store.close()


def said(store: RedisStore, number: int, session: str = "s") -> Turn:
    text = f"hello {number}"
    return store.add_turn(Turn("user", text, id=f"{session}-{number}", at=1000.0 + number, session_id=session), text)


def texts(store: RedisStore, scope: Scope = Scope()) -> list[str]:
    return [turn.text for turn in store.turns(scope)]


def test_what_one_device_is_told_another_knows_at_once(redis_server: RedisServer, at: Open) -> None:
    kitchen, study = at(redis_server.url), at(redis_server.url)
    for number in range(6):
        said((kitchen, study)[number % 2], number)
        assert texts(kitchen) == texts(study) == [f"hello {one}" for one in range(number + 1)]
    study.delete(Selection(Scope(), ids=("s-0",)))
    assert kitchen.turn("s-0") is None
    assert texts(kitchen)[0] == "hello 1"
    with pytest.raises(StoreError, match="already"):
        said(study, 1)


def test_collections_know_nothing_of_each_other(redis_server: RedisServer, at: Open) -> None:
    one, other = at(redis_server.url), at(redis_server.url, collection="other {home}")
    said(one, 1)
    assert (texts(other), other.users(), said(other, 1).seq) == ([], [], 1)
    assert texts(one) == ["hello 1"]


def test_memories_of_before_a_persona_named_them_are_all_there(redis_server: RedisServer, at: Open) -> None:
    store = at(redis_server.url)
    entries = [
        store.put_entry(Entry(key, f"of {owner}", {"a": 1}, f"{key} {owner}", persona_id=owner, updated_at=5.0), "of")
        for key, owner in (("safe", "Ada"), ("bins", None), ("boat", "Eve"))
    ]
    with store.transaction():  # as it was: user and key alone, whichever persona kept it
        for place, held in list(store._entries.items()):
            store._set(store._entries, place, store._gone)
            store._set(store._entries, place[:2], held)
    store._db.call("HDEL", store._db.name("counters"), "step")
    assert store.entry("safe", "household", "Ada") is None, "it is not where it is looked for"
    for _ in range(2):
        store = at(redis_server.url)
        assert sorted(store.entries(Scope()), key=lambda one: one.seq) == entries
        assert [store.entry(one.key, "household", one.persona_id) for one in entries] == entries
        assert len(store._entries) == len(entries)
    other = store.put_entry(Entry("safe", "of Eve", id="new", persona_id="Eve"), "of")
    assert (store.entry("safe", "household", "Ada"), store.entry("safe", "household", "Eve")) == (entries[0], other)


WRITER = """
import sys
from ovos_persona_memory.records.core import Entry, Turn
from ovos_persona_memory.stores.redis.store import open_redis

store, me = open_redis(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for number in range(60):
    with store.transaction():
        known = store.entry("counter", "household")
        count = int(known.text) + 1 if known else 1
        store.put_entry(Entry("counter", str(count), id=f"{me}-{number}"), str(count))
        turn = Turn("user", f"{me} {number} {count}", id=f"{me}-{number}", at=float(number), session_id="s")
        store.add_turn(turn, "")
store.close()
"""


def test_writers_at_the_same_time_lose_nothing(
    redis_server: RedisServer, at: Open, python: Callable[..., subprocess.Popen[str]]
) -> None:
    writers = [python(WRITER, redis_server.url, name) for name in ("a", "b", "c")]
    for writer in writers:
        assert writer.stdout and writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, err = writer.communicate(timeout=60)
        assert not writer.returncode, err
    store = at(redis_server.url)
    entry = store.entry("counter", "household")
    assert entry is not None
    assert entry.text == "180"
    turns = store.turns(Scope())
    assert len({turn.seq for turn in turns}) == len(turns) == 180
    assert [turn.text.split()[2] for turn in turns] == [str(count) for count in range(1, 181)]
    for name in ("a", "b", "c"):
        own = [int(turn.text.split()[1]) for turn in turns if turn.text.startswith(name)]
        assert own == sorted(own)


def test_what_was_committed_and_not_carried_out_is_carried_out_by_the_next(
    redis_server: RedisServer, at: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying, next_one = at(redis_server.url), at(redis_server.url)
    said(dying, 0)
    with monkeypatch.context() as patched:
        patched.setattr(RedisDatabase, "_apply", _lost)
        with dying.transaction():
            said(dying, 1, "one")
            said(dying, 2, "two")
            dying.delete(Selection(Scope(), ids=("s-0",)))
    assert texts(next_one) == ["hello 0"]
    said(next_one, 3)
    assert texts(next_one) == texts(dying) == ["hello 1", "hello 2", "hello 3"]


def _lost(*_: object) -> None:
    raise StoreUnavailable("the connection was cut")


def test_what_is_carried_out_too_late_changes_nothing(
    redis_server: RedisServer, at: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = at(redis_server.url), at(redis_server.url)
    said(slow, 0)
    late: list[connection.CommitRecord] = []
    with monkeypatch.context() as patched:
        patched.setattr(RedisDatabase, "_apply", lambda _, record: late.append(record) or _lost())
        slow.put_entry(Entry("k", "old", id="e"), "old")
    quick.put_entry(Entry("k", "new", id="e"), "new")
    slow._db._apply(late[0])
    assert [one.text for one in slow.entries(Scope())] == ["new"]
    quick.delete(Selection(Scope(), keys=("k",)))
    slow._db._apply(late[0])
    assert slow.entries(Scope()) == []


def test_a_transaction_that_lost_its_lock_is_refused_whole(
    redis_server: RedisServer, at: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = at(redis_server.url), at(redis_server.url)
    with pytest.raises(StoreError, match="others have written"), slow.transaction():
        said(slow, 1)
        with redis_server.client() as client:
            client.delete(slow._db.name("lock"))  # its time is over
        said(quick, 2)
    assert texts(slow) == ["hello 2"]
    said(slow, 3)
    monkeypatch.setattr(connection, "WAIT_S", 0.05)
    with quick.transaction():
        with pytest.raises(StoreBusy):
            said(slow, 4)
        said(quick, 5)
    assert texts(slow) == ["hello 2", "hello 3", "hello 5"]


def test_a_long_transaction_keeps_its_lock(
    redis_server: RedisServer, at: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOCK_MS", 1500)
    store, began = at(redis_server.url), time.monotonic()
    with store.transaction():
        number = 0
        while time.monotonic() < began + 2.5:
            number += 1
            said(store, number)
    assert len(texts(store)) == number


def test_a_session_goes_by_itself_and_what_lasts_stays(redis_server: RedisServer, at: Open) -> None:
    store = at(redis_server.url, ttl_s=100.0)
    said(store, 1)
    store.put_note("household", "s", Note("a summary"))
    store.put_entry(Entry("bins", "on Tuesday", id="e"), "tuesday")
    with redis_server.client() as client:
        left = {key.decode().split(":")[1]: client.pttl(key) / 1000 for key in client.keys("*")}
    assert 90 < left["turn"] <= 100
    assert 90 < left["note"] <= 100
    assert 100 < left["turn-at"] <= 200
    assert (left["entry"], left["counters"]) == (-0.001, -0.001)
    with redis_server.client() as client:
        for key in client.keys("*:turn:*"):
            client.delete(key)  # as if its time were over
    assert (texts(store), store.turn("s-1"), store.counts().turns) == ([], None, 0)
    said(store, 1)
    assert texts(store) == ["hello 1"]


def test_a_cluster_of_three_holds_the_sessions_of_one_memory(at: Open, tmp_path: Path) -> None:
    with RedisCluster() as cluster:
        store = at(cluster.url)
        with store.transaction():
            for number in range(40):
                said(store, number, f"session {number % 8}")
        other = at(cluster.nodes[2].url)
        assert texts(other) == [f"hello {number}" for number in range(40)]
        assert texts(other, Scope("session 3")) == [f"hello {number}" for number in range(3, 40, 8)]
        other.put_entry(Entry("k", "v", id="e"), "v")
        other.delete(Selection(Scope("session 3")))
        assert len(store.turns(Scope())) == 35
        store.purge()
        with pytest.raises(ZeroDivisionError), store.transaction():
            said(store, 99)
            assert 1 // 0
        assert other.turn("s-99") is None
        for node in cluster.nodes:
            with node.client() as client:
                keys = [key.decode() for key in client.keys("*:turn:*")]
                assert keys
                assert all("{=household/=session%20" in key for key in keys)
        assert not any(b"hello 11" in content for node in cluster.nodes for content in node.kept().values())
        assert store.details()["cluster"]
        kinds = {name: {"backend": "redis", "connection": cluster.url} for name in ("conversational", "facts")}
        with PersonaMemory.open(config=parse({"data_dir": str(tmp_path), "kinds": kinds})) as memory:
            assert memory.recall("hello 12", Scope(), k=3)


# when something is wrong


def test_a_server_that_was_killed_has_everything_again(at: Open) -> None:
    with RedisServer(appendfsync="always") as server:
        store = at(server.url)
        for number in range(20):
            said(store, number)
        server.kill()
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            said(store, 20)
        with pytest.raises(StoreUnavailable):
            store.turns(Scope())
        server.start()
        assert len(texts(store)) == 20
        said(store, 20)
        assert texts(store)[-1] == "hello 20"


def test_a_server_without_room_says_so_and_what_was_there_stays(at: Open) -> None:
    with RedisServer(maxmemory="4mb", maxmemory_policy="noeviction") as server:
        store = at(server.url)
        said(store, 1)
        with pytest.raises(StoreFull):
            for number in range(2, 200):
                store.add_turn(Turn("user", "x" * 100_000, id=str(number), at=1.0, session_id="big"), "")
        with server.client() as client:
            client.config_set("maxmemory", "100mb")
        assert texts(store)[0] == "hello 1"
        said(store, 2)


def test_a_replica_can_be_read_and_not_written(redis_server: RedisServer, at: Open) -> None:
    with RedisServer(port=0) as server:
        store = at(server.url)
        said(store, 1)
        with server.client() as client:
            client.replicaof("127.0.0.1", "1")
        assert texts(store) == ["hello 1"]
        with pytest.raises(StoreUnavailable, match="can only be read"):
            said(store, 2)


@pytest.mark.parametrize("url", [f"unix://me:{PASSWORD}@/nowhere", f"redis://me:{PASSWORD}@127.0.0.1:1/0", PASSWORD])
def test_a_server_that_is_not_there_is_named_without_the_password(url: str, at: Open) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        at(url, timeout_s=0.5)
    assert PASSWORD not in caught.value.reason


def test_a_wrong_password_is_refused_and_not_told(at: Open) -> None:
    with RedisServer(requirepass="right") as server:
        pass_in_url = f"unix://:{PASSWORD}@{server.socket}"
        with pytest.raises(StoreUnavailable, match="does not let") as caught:
            at(pass_in_url)
        assert PASSWORD not in caught.value.reason


def test_everything_alone_in_redis_is_refused_with_what_to_do(redis_server: RedisServer, tmp_path: Path) -> None:
    for settings in (
        {"backend": "redis", "connection": redis_server.url},
        {"kinds": {"semantic": {"backend": "redis", "connection": redis_server.url}}},
    ):
        with pytest.raises(ConfigError, match=r"name another for kinds\.semantic"):
            open_stores(parse({"data_dir": str(tmp_path), **settings}))
    with pytest.raises(ConfigError, match="needs a connection, such as redis://"):
        open_stores(parse({"data_dir": str(tmp_path), "kinds": {"facts": {"backend": "redis"}}}))
