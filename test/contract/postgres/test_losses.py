"""What the PostgreSQL store survives: a server that is killed, restarted, read-only, full up, slow or out of reach."""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from support.servers.postgres import FAST, PORT, Databases, PostgresServer

from ovos_persona_memory.errors import StoreBusy, StoreError, StoreUnavailable
from ovos_persona_memory.records import Entry, Scope, Selection, Turn
from ovos_persona_memory.stores.postgres.connection import PostgresSettings
from ovos_persona_memory.stores.postgres.store import PostgresStore, open_postgres

TIMEOUT_S = 1.0

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def own() -> Iterator[PostgresServer]:
    """A server of these tests alone, which may be killed."""
    server = PostgresServer(**FAST | {"fsync": "on", "synchronous_commit": "on", "max_connections": "12"})
    yield server
    server.close()


@pytest.fixture
def server(own: PostgresServer) -> PostgresServer:
    with contextlib.suppress(psycopg.Error), psycopg.connect(own.url(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM RESET ALL")
        connection.execute("SELECT pg_reload_conf()")
        return own
    own.start()
    return own


@pytest.fixture
def at(server: PostgresServer) -> Iterator[str]:
    """The url of a fresh database."""
    databases = Databases(server)
    url = databases.fresh()
    yield url
    databases.drop(url)


@pytest.fixture
def opened(at: str) -> Iterator[Callable[..., PostgresStore]]:
    stores: list[PostgresStore] = []

    def open_it(url: str = at) -> PostgresStore:
        stores.append(open_postgres(PostgresSettings(url, timeout_s=TIMEOUT_S)))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


def say(store: PostgresStore, text: str) -> Turn:
    return store.add_turn(Turn(role="user", text=text, at=1.0, id=text), text)


def said(store: PostgresStore) -> list[str]:
    return [turn.text for turn in store.turns(Scope())]


def cut(at: str) -> None:
    """Have the server close everybody's connection to a database."""
    with psycopg.connect(at, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.mark.parametrize("how", ["killed", "stopped", "cut"])
def test_what_was_acknowledged_is_there_and_nobody_notices(
    server: PostgresServer, at: str, opened: Callable[..., PostgresStore], how: str
) -> None:
    store = opened()

    def lose() -> None:
        if how == "cut":
            return cut(at)
        server.kill() if how == "killed" else server.stop()
        return server.start()

    say(store, "one")
    lose()
    assert said(store) == ["one"]
    lose()
    say(store, "two")
    lose()
    with store.transaction():
        say(store, "three")
        store.put_entry(Entry("key", "value"), "value")
    assert said(store) == ["one", "two", "three"]


def test_what_was_under_way_is_not_kept_and_the_next_is_whole(
    server: PostgresServer, opened: Callable[..., PostgresStore]
) -> None:
    store = opened()
    say(store, "before")
    with pytest.raises(StoreUnavailable), store.transaction():
        say(store, "half")
        server.kill()
        server.start()
        say(store, "whole")
    with pytest.raises(StoreUnavailable), store.transaction():
        say(store, "half")
        server.kill()
        server.start()
        with pytest.raises(StoreUnavailable):
            store.turns(Scope())
    say(store, "after")
    assert said(store) == ["before", "after"]


def test_while_it_is_down_whoever_asks_is_told_at_once(
    server: PostgresServer, opened: Callable[..., PostgresStore]
) -> None:
    store = opened()
    say(store, "one")
    server.kill()
    began = time.monotonic()
    for _ in range(20):
        with pytest.raises(StoreUnavailable) as raised:
            store.turns(Scope())
        with pytest.raises(StoreUnavailable):
            say(store, "lost")
    assert time.monotonic() - began < TIMEOUT_S
    assert (raised.value.code, "cannot be reached" in raised.value.reason) == ("store_unavailable", True)
    server.start()
    time.sleep(0.6)
    assert said(store) == ["one"]
    say(store, "two")


def test_a_read_only_server_is_read(at: str, opened: Callable[..., PostgresStore]) -> None:
    store = opened()
    say(store, "one")
    with psycopg.connect(at, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        connection.execute("SELECT pg_reload_conf()")
    time.sleep(0.1)
    cut(at)
    for known in (store, opened()):
        assert said(known) == ["one"]
        with pytest.raises(StoreUnavailable, match="read-only"):
            say(known, "two")
    with psycopg.connect(at, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute("ALTER SYSTEM RESET ALL")
        connection.execute("SELECT pg_reload_conf()")
    time.sleep(0.1)
    say(store, "two")


def test_a_server_without_a_free_connection_says_so(at: str, opened: Callable[..., PostgresStore]) -> None:
    with contextlib.ExitStack() as held:
        with contextlib.suppress(psycopg.OperationalError):
            while True:
                held.enter_context(contextlib.closing(psycopg.connect(at)))
        with pytest.raises(StoreUnavailable, match="no connection left"):
            opened()
    said(opened())


def test_another_who_holds_the_database_is_waited_for_and_not_for_ever(
    at: str, opened: Callable[..., PostgresStore]
) -> None:
    slow, store = opened(), opened()
    with slow.transaction():
        say(slow, "one")
        began = time.monotonic()
        with pytest.raises(StoreBusy, match="another daemon"):
            say(store, "two")
        assert TIMEOUT_S * 0.75 < time.monotonic() - began < TIMEOUT_S * 3
        assert said(store) == []
    say(store, "two")
    assert said(store) == ["one", "two"]


def test_a_statement_that_takes_too_long_is_given_up(at: str, opened: Callable[..., PostgresStore]) -> None:
    store = opened()
    with pytest.raises(StoreUnavailable, match="too long"):
        store._db.all("SELECT pg_sleep(60)")
    with pytest.raises(StoreUnavailable, match="too long"), store.transaction():
        say(store, "one")
        store._db.all("SELECT pg_sleep(60)")
    assert said(store) == []


def test_forgetting_much_is_not_given_up(at: str, opened: Callable[..., PostgresStore]) -> None:
    store = opened()
    with psycopg.connect(at, options="-c search_path=persona_memory,public") as connection:
        connection.execute(
            "INSERT INTO turn (household, user_id, seq, id, at, role, source, session_id, expects_reply, announcement,"
            " machine, linked, redacted, version, text, words)"
            " SELECT 'home', 'household', n, n, n, 'user', 'heard', 's', false, false, false, false, false, n,"
            " 'cat', 'cat'"
            " FROM generate_series(1, 9000) n"
        )
        # some rows are slow, as all together are where there are very many
        connection.execute(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN IF OLD.seq % 1000 = 0 THEN PERFORM pg_sleep(0.5); END IF; RETURN OLD; END'"
        )
        connection.execute("CREATE TRIGGER slow BEFORE DELETE ON turn FOR EACH ROW EXECUTE FUNCTION slow()")
    everything = Selection(Scope())
    assert store.count(everything).turns == 9000
    assert [turn.id for turn in store.select(everything, 2001) if isinstance(turn, Turn)][::2000] == ["9000", "7000"]
    assert store.delete(everything).turns == 9000
    assert said(store) == []
    with pytest.raises(StoreUnavailable, match="too long"):
        store._db.all("SELECT pg_sleep(60)")


def test_an_error_that_was_caught_within_does_not_pass_for_a_commit(opened: Callable[..., PostgresStore]) -> None:
    store = opened()
    with pytest.raises(StoreError, match="part of the transaction"), store.transaction():
        say(store, "one")
        with pytest.raises(StoreError):
            store._db.all("SELECT 1 / 0")
    assert said(store) == []


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://nobody-known@/{name}?host={home}&port=5432", "refuses this user"),
        ("postgresql://postgres@/missing?host={home}&port=5432", "no such database"),
        ("postgresql://postgres@/{name}?host={home}/absent&port=5432", "cannot be reached"),
        ("postgresql://postgres@127.0.0.1:9/{name}", "cannot be reached"),
        ("not a url = 'x", "url of the PostgreSQL store"),
    ],
)
def test_what_cannot_be_opened_is_told_in_a_sentence_without_the_password(
    server: PostgresServer, at: str, url: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "hunter2")
    name = at.split("@/")[1].split("?")[0]
    with pytest.raises(StoreUnavailable, match=reason) as raised:
        open_postgres(url.format(name=name, home=server.home))
    assert "hunter2" not in raised.value.reason


# on the way


class Relay:
    """A socket between a store and its server, which passes on what it gets until it is told otherwise."""

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self._server, self.folder = server, folder
        folder.chmod(0o700)
        self.lose: str | None = None
        """``request``: what is to commit never arrives; ``answer``: it does, and nobody hears of it; ``silence``."""
        self.lost = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / f".s.PGSQL.{PORT}"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(str(self._server.home / f".s.PGSQL.{PORT}"))
                for pair in ((near, far, "request"), (far, near, "answer")):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, what: str) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                committing = b"COMMIT" in data
                if self.lose == "silence":
                    continue
                if self.lose == what and committing:
                    self.lose = None
                    self.lost.set()
                    break
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        source.close()  # the other one is closed by its own thread

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def relay(server: PostgresServer) -> Iterator[Relay]:
    with tempfile.TemporaryDirectory(prefix="opm-") as folder:  # the name of a socket is at most 107 bytes
        between = Relay(server, Path(folder))
        yield between
        between.close()


@pytest.fixture
def through(relay: Relay, server: PostgresServer, at: str, opened: Callable[..., PostgresStore]) -> PostgresStore:
    """A store beyond the relay."""
    return opened(at.replace(str(server.home), str(relay.folder)))


def test_a_commit_whose_answer_is_lost_is_one(through: PostgresStore, relay: Relay) -> None:
    say(through, "one")
    relay.lose = "answer"
    say(through, "two")
    assert relay.lost.is_set()
    assert said(through) == ["one", "two"]


def test_a_commit_that_never_arrived_is_none(through: PostgresStore, relay: Relay) -> None:
    say(through, "one")
    relay.lose = "request"
    with pytest.raises(StoreUnavailable):
        say(through, "two")
    assert relay.lost.is_set()
    assert said(through) == ["one"]
    say(through, "two")
    assert said(through) == ["one", "two"]


READ, WRITE = (lambda store: said(store)), (lambda store: say(store, "lost"))


@pytest.mark.parametrize("asked", [READ, WRITE], ids=["read", "write"])
def test_a_line_that_is_dead_is_given_up_in_time(
    through: PostgresStore, relay: Relay, asked: Callable[[PostgresStore], object]
) -> None:
    say(through, "one")
    relay.lose = "silence"
    for first in (True, False):  # on the line that was there, then on one that is made anew
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="does not answer") as raised:
            asked(through)
        assert time.monotonic() - began < 1.5 * TIMEOUT_S, first
        with pytest.raises(StoreUnavailable, match="does not answer"):
            asked(through)
        assert time.monotonic() - began < 1.5 * TIMEOUT_S, "it is tried again too soon"
        time.sleep(0.6)
    relay.lose = None
    assert raised.value.code == "store_unavailable"
    assert said(through) == ["one"]
    say(through, "two")


def test_a_commit_on_a_line_that_is_dead_is_given_up_in_time(through: PostgresStore, relay: Relay) -> None:
    say(through, "one")
    with pytest.raises(StoreUnavailable, match="not known"), through.transaction():
        say(through, "two")
        relay.lose = "silence"
        began = time.monotonic()
    assert time.monotonic() - began < 1.5 * TIMEOUT_S
    relay.lose = None
    time.sleep(0.6)
    assert said(through) == ["one"]


def test_a_server_that_accepts_and_says_nothing_is_given_up_in_time(
    relay: Relay, server: PostgresServer, at: str, opened: Callable[..., PostgresStore]
) -> None:
    relay.lose = "silence"
    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="does not answer"):
        opened(at.replace(str(server.home), str(relay.folder)))
    assert time.monotonic() - began < 1.5 * TIMEOUT_S
