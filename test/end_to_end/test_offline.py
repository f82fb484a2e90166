"""A store that is away: the daemon goes on, what comes in waits on the disk, and is delivered once in its place."""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from support.servers.bus import Wire
from support.servers.ports import free_port
from support.servers.postgres import FAST, Databases, PostgresServer
from support.servers.redis import RedisServer

from ovos_persona_memory.cli.program import program
from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope
from ovos_persona_memory.service.offline import LOOKED_S
from ovos_persona_memory.stores.postgres.connection import PostgresSettings, household_lock

from .conftest import Daemon, running_bus, wait_until, write_settings

AT_ONCE_S = 2.0
"""Nobody waits longer for an answer while the store is away; a busy machine included."""
FINDS_OUT_S = 7.0
"""The one whose request finds out that a server says nothing waits no longer than this."""
CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
CUT_OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> ALL(%s)"
)
EVERY = Scope("s1")
NUMBERS = itertools.count()


class Away:
    """A server that can be taken away and given back, and the settings of a device on it."""

    def __init__(self, kind: str) -> None:
        self.server: Any
        self.kind = kind
        if kind == "postgres":
            self.server = PostgresServer(**FAST | {"fsync": "on", "synchronous_commit": "on", "max_connections": "12"})
            self._databases = Databases(self.server)
            self.settings: dict[str, Any] = {"backend": "postgres", "connection": self._databases.fresh()}
        else:
            self.server = RedisServer(appendfsync="always")
            place = {"backend": "redis", "connection": f"{self.server.url}?socket_timeout=0.5"}
            self.settings = {"kinds": dict.fromkeys(("conversational", "facts", "episodic"), place)}

    def run(self, *statements: str) -> None:
        """Have the database carry out statements of its owner."""
        with psycopg.connect(self.settings["connection"], autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)


@pytest.fixture(params=["postgres", "redis"])
def away(request: pytest.FixtureRequest) -> Iterator[Away]:
    found = Away(request.param)
    yield found
    found.server.close()


@pytest.fixture
def postgres_away() -> Iterator[Away]:
    found = Away("postgres")
    yield found
    found.server.close()


@pytest.fixture
def redis_away() -> Iterator[Away]:
    found = Away("redis")
    yield found
    found.server.close()


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    number = free_port()
    with running_bus(tmp_path / "bus", number):
        yield number


class Room:
    """A daemon on a bus, and somebody who talks."""

    def __init__(self, port: int, daemon: Daemon) -> None:
        self.daemon = daemon
        self.wire = Wire(port)

    def says(self, *texts: str, session_id: str = "s1") -> None:
        """Utterances, each answered; returns when the daemon has taken them in."""
        session = {"session_id": session_id}
        for text in texts:
            spoken = {"session": session, "utterance_id": f"u{next(NUMBERS)}"}
            self.wire.send("recognizer_loop:utterance", {"utterances": [text], "lang": "en-US"}, {"session": session})
            self.wire.send("speak", {"utterance": f"so {text}", "lang": "en-US"}, spoken)
        self.wire.ask("status")

    def ask(self, verb: str, within_s: float = AT_ONCE_S, **data: Any) -> dict[str, Any]:
        """The answer, which nobody has to wait for."""
        began = time.monotonic()
        answer = self.wire.ask(verb, data, "s1", timeout_s=60)
        assert time.monotonic() - began < within_s
        return answer

    def record(self, text: str, within_s: float = AT_ONCE_S) -> dict[str, Any]:
        """A question and its answer, handed in by a persona."""
        turns = [{"role": "user", "text": text}, {"role": "assistant", "text": f"so {text}"}]
        return self.ask("record", within_s, turns=turns)

    def texts(self) -> list[str]:
        """What is known at the door of the session, oldest first."""
        with MemoryClient.over_door(self.daemon.data) as owner:
            return [one.text for one in owner.history(EVERY, max_history=None, hanging=True)]

    def waits(self) -> int:
        return int(self.wire.ask("status")["waiting"])

    def delivered(self) -> None:
        wait_until(lambda: self.waits() == 0 and not self.ask("history").get("degraded"), "the delivery")


@pytest.fixture
def start(port: int, tmp_path: Path, daemon: Callable[..., Daemon]) -> Iterator[Callable[[Away], Room]]:
    rooms: list[Room] = []

    def begin(away: Away) -> Room:
        rooms.append(Room(port, daemon(tmp_path / "data", ("127.0.0.1", port), away.settings)))
        return rooms[-1]

    yield begin
    for room in rooms:
        room.wire.socket.close()


def on_disk(data: Path, words: bytes) -> list[str]:
    return [path.name for path in data.rglob("*") if path.is_file() and words in path.read_bytes()]


def said(*texts: str) -> list[str]:
    return [one for text in texts for one in (text, f"so {text}")]


def test_what_was_said_while_the_store_was_away_is_delivered_in_its_place_and_once(
    away: Away, start: Callable[[Away], Room]
) -> None:
    room = start(away)
    room.says("good morning")
    away.server.kill()
    left_at = time.time()
    room.says("my parrot is called Ada", "she eats seeds")
    recorded = room.record("the cage is green")
    assert (recorded["ok"], recorded["degraded"]) == (True, True)
    assert on_disk(room.daemon.data, b"the cage is green") != []
    assert room.waits() >= 5
    degraded = room.ask("history", max_history=None, hanging=True)
    assert degraded["degraded"]
    while_away = said("good morning", "my parrot is called Ada", "she eats seeds", "the cage is green")
    assert [one["text"] for one in degraded["messages"]] == while_away
    assert room.ask("recall", question="what is my parrot called")["hits"][0]["text"] == "my parrot is called Ada"
    kept = room.ask("remember", text="the bins go out on Tuesday")
    assert (kept["ok"], kept["degraded"]) == (True, True)
    refused = room.ask("forget", query="parrot")
    assert (refused["ok"], refused["error"]) == (False, "store_unavailable")
    room.daemon.end(signal.SIGKILL)
    room = start(away)
    assert [one["text"] for one in room.ask("history", max_history=None)["messages"]] == while_away[2:]
    room.says("good night")
    back_at = time.time()
    away.server.start()
    room.delivered()
    assert room.texts() == [*while_away, *said("good night")]
    assert room.ask("status")["counts"]["turns"] == 10
    hit = next(hit for hit in room.ask("recall", question="what is my parrot called")["hits"] if hit["kind"] == "turn")
    assert left_at <= hit["at"] <= back_at
    assert room.ask("get", key=kept["memory"]["key"])["memory"]["text"] == "the bins go out on Tuesday"
    assert on_disk(room.daemon.data, b"parrot") == []
    assert on_disk(room.daemon.data, b"cage") == []


def test_a_daemon_killed_over_and_over_while_it_delivers_delivers_each_turn_once(
    postgres_away: Away, start: Callable[[Away], Room]
) -> None:
    away = postgres_away
    room = start(away)
    away.server.kill()
    lines = [f"line {number}" for number in range(150)]
    room.says(*lines)
    for pause_s in (0.0, 0.05):
        room.daemon.end(signal.SIGKILL)
        room = start(away)
        away.server.start()
        wait_until(lambda at=room: at.waits() < 300, "some of the delivery")  # type: ignore[misc]
        time.sleep(pause_s)
        away.server.kill()
    away.server.start()
    room.delivered()
    assert room.texts() == said(*lines)


def test_a_device_that_never_knew_the_store_keeps_nothing_and_starts_all_the_same(
    redis_away: Away, start: Callable[[Away], Room]
) -> None:
    away = redis_away
    away.server.kill()
    room = start(away)
    room.says("may this be kept")
    assert on_disk(room.daemon.data, b"may this be kept") == []
    assert room.record("or this")["ids"] == []
    away.server.start()
    room.delivered()
    room.says("now it is known")
    assert room.texts() == said("now it is known")


def test_of_daemons_that_are_started_on_one_folder_at_once_one_runs_without_the_store(
    away: Away, port: int, tmp_path: Path
) -> None:
    away.server.kill()
    started = []
    for name in ("one", "two"):
        write_settings(tmp_path / name, persona_memory={"announce": False, **away.settings})
        started.append(Daemon(tmp_path / name, tmp_path / "data", ("127.0.0.1", port)))
    try:
        wait_until(lambda: sum(one.has_ended for one in started) == 1, "the end of one")
        [running] = [one for one in started if not one.has_ended]
        wait_until(running.is_ready, "the start of the other")
        data = tmp_path / "data"
        sentences = (f"process {running.pid} has the memory in {data} open\n", f"a daemon already runs on {data}\n")
        for other in started:
            assert other is running or (other.end(), other.said().endswith(sentences)) == (5, True), other.said()
        away.server.start()
        with MemoryClient.over_door(tmp_path / "data") as owner:
            wait_until(lambda: "degraded" not in owner.status(), "the store to be reached")
    finally:
        for one in started:
            one.end()


def test_what_is_forgotten_elsewhere_while_nobody_talks_here_is_not_known_here_without_the_store(
    redis_away: Away, start: Callable[[Away], Room], tmp_path: Path
) -> None:
    room = start(redis_away)
    room.says("my parrot is called Ada")
    config = parse({"data_dir": str(tmp_path / "study"), **redis_away.settings})
    with PersonaMemory.open(config=config) as elsewhere:
        assert elsewhere.forget(Scope(), everything=True)
    time.sleep(LOOKED_S + 2)  # nothing comes in
    redis_away.server.kill()
    answer = room.ask("recall", question="what is my parrot called")
    assert (answer["degraded"], answer["hits"]) == (True, [])


LOOKS = (
    ("recall", "what is my parrot called"),
    ("history", "s1"),
    ("sessions",),
    ("list",),
    ("get", "bins"),
    ("get", "never kept"),
    ("facts",),
    ("episodes", "--since", "1h"),
    ("why", "bins"),
    ("status",),
)
"""Commands that are answered without the store."""


def test_the_command_line_says_that_an_answer_is_from_what_the_device_knows_alone(
    redis_away: Away, start: Callable[[Away], Room]
) -> None:
    room = start(redis_away)

    def run(*command: str) -> tuple[str, str]:
        done = CliRunner().invoke(program, [*command, "--data", str(room.daemon.data)])
        return done.stdout, done.stderr

    room.says("my parrot is called Ada")
    room.ask("remember", key="bins", text="the bins go out on Tuesday")
    there = {command: run(*command)[1] for command in LOOKS}
    assert not any("away" in told for told in there.values()), there
    assert "degraded" not in run("recall", "parrot", "--json")[0]
    redis_away.server.kill()
    room.says("she eats seeds")
    room.ask("remember", key="bins", text="the bins go out on Monday")
    without = {command: run(*command)[1] for command in LOOKS}
    assert [command for command, told in without.items() if told.count("The store is away") != 1] == []
    for command in LOOKS:
        told = run(*command, "--json")[0]
        assert command == ("get", "never kept") or json.loads(told)["degraded"] is True
    refused, told = run("forget", "--query", "parrot", "--yes")
    assert (refused, "store is away" in told) == ("", True)


# whatever befalls the server


@contextlib.contextmanager
def cut(away: Away) -> Iterator[None]:
    """Every connection is closed by the server, which goes on."""
    if isinstance(away.server, RedisServer):
        with away.server.client() as client:
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    else:
        away.run(CUT)
    yield


@contextlib.contextmanager
def read_only(away: Away) -> Iterator[None]:
    if isinstance(away.server, RedisServer):
        with away.server.client() as client:
            client.replicaof("127.0.0.1", "1")
            yield
            client.replicaof("NO", "ONE")
        return
    away.run(
        "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()", "SELECT pg_sleep(0.1)", CUT
    )
    yield
    away.run(
        "SET default_transaction_read_only = off",
        "ALTER SYSTEM RESET default_transaction_read_only",
        "SELECT pg_reload_conf()",
        "SELECT pg_sleep(0.1)",
        CUT,
    )


@contextlib.contextmanager
def full_up(away: Away) -> Iterator[None]:
    """Others hold every connection that the server gives."""
    if isinstance(away.server, RedisServer):
        with away.server.client() as client:
            client.config_set("maxclients", 1)
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            yield
            client.config_set("maxclients", 100)
        return
    with contextlib.ExitStack() as held:
        away.run(CUT)
        ours: list[psycopg.Connection] = []
        while True:  # until the daemon, which tries again and again, has got none of them
            with contextlib.suppress(psycopg.OperationalError):
                while True:
                    connection = psycopg.connect(away.settings["connection"], autocommit=True)
                    ours.append(held.enter_context(contextlib.closing(connection)))
            if not ours[0].execute(CUT_OTHERS, ([one.info.backend_pid for one in ours],)).fetchall():
                break
            time.sleep(0.1)
        yield


@contextlib.contextmanager
def slow(away: Away) -> Iterator[None]:
    """It answers nobody who wants to write: another holds the household, or the server is stopped in its tracks."""
    if isinstance(away.server, RedisServer):
        with away.server.client() as client:
            client.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
            yield
            client.execute_command("CLIENT", "UNPAUSE")
        return
    lock = household_lock(PostgresSettings(""))
    with psycopg.connect(away.settings["connection"], autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (lock,))
        yield


@contextlib.contextmanager
def without_room(away: Away) -> Iterator[None]:
    with away.server.client() as client:
        client.config_set("maxmemory", "1")
        yield
        client.config_set("maxmemory", "0")


@contextlib.contextmanager
def silent(away: Away) -> Iterator[None]:
    """Its connections stay, and it takes new ones, and says nothing on any of them."""
    away.server.send(signal.SIGSTOP)
    try:
        yield
    finally:
        away.server.send(signal.SIGCONT)


BOTH = (cut, read_only, full_up, slow)
FAULTS = {"postgres": (*BOTH, silent), "redis": (*BOTH, without_room)}
CODES = {"slow": {"store_busy", "store_unavailable"}, "without_room": {"store_full"}}
"""With which a request is refused that the device cannot carry out alone."""


def test_whatever_befalls_the_server_what_is_acknowledged_arrives(away: Away, start: Callable[[Away], Room]) -> None:
    room = start(away)
    expected = said("good morning")
    room.says("good morning")
    for fault in FAULTS[away.kind]:
        with fault(away):
            for number in (1, 2):
                answer = room.record(f"{fault.__name__} {number}", within_s=FINDS_OUT_S if number == 1 else AT_ONCE_S)
                assert answer["ok"], answer
            if fault is not cut:
                assert answer["degraded"]
                refused = room.ask("forget", query="good morning")
                assert refused["error"] in CODES.get(fault.__name__, {"store_unavailable"}), refused
        expected += said(f"{fault.__name__} 1", f"{fault.__name__} 2")
        room.delivered()
    assert room.texts() == expected
