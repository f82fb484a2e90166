"""What goes wrong around the daemon: disks, files, the bus, signals. It says so, lives on, and loses nothing."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.servers.bus import HOST, Bus, Daemon, Wire, wait_until
from support.servers.ports import free_port

from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope, Turn

SESSION = Scope(session_id="faults")
TURNS = [Turn(role="user", text="my cat is called Bob"), Turn(role="assistant", text="what a fine name")]
WORDS = [turn.text for turn in TURNS]
SIGTERM_S = 2.0
"""The daemon ends within this after SIGTERM (the issue's bound)."""

Start = Callable[..., Daemon]


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bus]:
    process = Bus(tmp_path_factory.mktemp("bus"), free_port())
    yield process
    process.end()


@pytest.fixture
def start(tmp_path: Path, bus: Bus) -> Iterator[Start]:
    """Starts daemons on a data folder and the module's bus; they end with the test."""
    started: list[Daemon] = []

    def start_one(data: Path | None = None, port: int = bus.port, ready: bool = True, **environment: str) -> Daemon:
        process = Daemon(tmp_path / f"home{len(started)}", data or tmp_path / "memory", port, **environment)
        started.append(process)
        return process.wait_ready() if ready else process

    yield start_one
    for process in started:
        process.kill()


@pytest.fixture
def wire(bus: Bus) -> Iterator[Wire]:
    with Wire(bus.port) as connection:
        yield connection


def record(wire: Wire, *texts: str, session_id: str = "faults") -> dict[str, Any]:
    turns = [{"role": ("user", "assistant")[number % 2], "text": text} for number, text in enumerate(texts)]
    return wire.ask("record", {"turns": turns}, session_id)


def history(wire: Wire, session_id: str = "faults") -> list[str]:
    answer = wire.ask("history", {"max_history": None}, session_id)
    assert answer["ok"], answer
    return [message["text"] for message in answer["messages"]]


def assert_it_lives(wire: Wire) -> dict[str, Any]:
    """It answers is_alive, and status; the status."""
    wire.process_answers("is_alive")
    return wire.ask("status")


def assert_refused(answer: dict[str, Any], *codes: str) -> None:
    assert answer["ok"] is False
    assert answer["error"] in codes, answer
    assert len(answer["reason"].split()) >= 3, f"a sentence for people: {answer}"


def filled_folder(start: Start, data: Path, wire: Wire) -> Path:
    """A data folder that a daemon wrote and left in order; the path of its database."""
    daemon = start(data)
    assert record(wire, *WORDS)["ok"]
    assert daemon.end() == 0
    return data / "memory.db"


# a disk without room


def mount(*arguments: str) -> None:
    """Mount something; the test is skipped where this user may not, and fails in CI where root may not."""
    mounted = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if mounted.returncode:
        why = f"mount {' '.join(arguments)}: {mounted.stderr.strip()}"
        assert os.geteuid() != 0 or not os.environ.get("CI"), f"this must run in CI: {why}"
        pytest.skip(why)


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A file system of two megabytes. It needs root; a limit on the file's size, tested below, does not."""
    place.mkdir()
    mount("-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place))
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path) -> Path:
    """Leave no byte free; the file that takes the room."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        for size in (65536, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"\1" * size)
    return filler


def record_until_refused(wire: Wire) -> tuple[list[str], dict[str, Any]]:
    """What was acknowledged, in order, and the refusal."""
    acknowledged: list[str] = []
    randomness = random.Random(5)
    for number in range(10_000):
        words = " ".join(f"w{randomness.getrandbits(40):x}" for _ in range(200))  # digits alone may be a card number
        pair = f"question {number} {words}", f"answer {number} {words}"
        answer = record(wire, *pair)
        if not answer["ok"]:
            return acknowledged, answer
        acknowledged += pair
    raise AssertionError("the disk never filled")


def assert_full_disk_is_survived(start: Start, wire: Wire, data: Path, make_room: Callable[[], object]) -> None:
    acknowledged, refusal = record_until_refused(wire)
    assert_refused(refusal, "store_full")
    status = assert_it_lives(wire)
    assert status["ok"]
    assert "store_full" in status["last_error"]
    assert history(wire) == acknowledged
    make_room()
    assert record(wire, "there is room", "indeed")["ok"]
    assert history(wire) == [*acknowledged, "there is room", "indeed"]


def test_a_disk_that_fills_up_loses_nothing_acknowledged_and_works_again_with_room(
    start: Start, wire: Wire, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk") as disk:
        filler = disk / "filler"
        filler.write_bytes(b"\1" * 1_000_000)
        daemon = start(disk / "memory")
        assert_full_disk_is_survived(start, wire, disk, filler.unlink)
        before = history(wire)
        daemon.kill()
        start(disk / "memory")
        assert history(wire) == before
        daemon.kill()


def test_a_file_that_may_not_grow_loses_nothing_acknowledged_and_works_again_with_room(
    start: Start, wire: Wire, tmp_path: Path
) -> None:
    daemon = start()
    size = (tmp_path / "memory" / "memory.db").stat().st_size
    resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (size + 400_000, resource.RLIM_INFINITY))
    acknowledged, refusal = record_until_refused(wire)
    assert_refused(refusal, "store_full", "store")
    assert assert_it_lives(wire)["ok"]
    assert history(wire) == acknowledged
    resource.prlimit(daemon.popen.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert record(wire, "there is room", "indeed")["ok"]
    assert history(wire) == [*acknowledged, "there is room", "indeed"]


def test_on_a_full_disk_forgetting_is_done_or_refused_whole_and_works_with_room(
    start: Start, wire: Wire, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk") as disk:
        (disk / "ballast").write_bytes(b"\1" * 1_000_000)
        daemon = start(disk / "memory")
        assert record(wire, "keep this", "kept", session_id="other")["ok"]
        acknowledged, _ = record_until_refused(wire)
        filler = fill(disk)
        answer = wire.ask("session.clear", {}, "faults")
        if not answer["ok"]:
            assert_refused(answer, "store_full")
            assert history(wire) == acknowledged
            filler.unlink()
            (disk / "ballast").unlink()
            assert wire.ask("session.clear", {}, "faults")["ok"]
        assert history(wire) == []
        assert history(wire, "other") == ["keep this", "kept"]
        daemon.kill()


def test_a_daemon_that_starts_on_a_full_disk_says_so_and_works_once_there_is_room(
    start: Start, bus: Bus, wire: Wire, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk") as disk:
        filler = fill(disk)
        daemon = start(disk / "memory", ready=False)
        wait_until_heard(daemon, wire)
        assert_refused(record(wire, *WORDS), "store_full", "store_unavailable")
        assert_it_lives(wire)
        filler.unlink()
        wait_until(lambda: record(wire, *WORDS)["ok"], "a record once there is room")
        assert history(wire) == WORDS
        daemon.kill()


def wait_until_heard(daemon: Daemon, wire: Wire) -> None:
    """Return once the daemon is on the bus, whether its store is open or not."""

    wait_until(lambda: (daemon.check(), is_heard(wire))[1], "the daemon on the bus")


def is_heard(wire: Wire) -> bool:
    with contextlib.suppress(AssertionError):
        wire.process_answers("is_alive", timeout_s=0.2)
        return True
    return False


# folders and files


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder cannot be written inside the block, by root neither."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        try:
            yield
        finally:
            folder.chmod(0o700)
        return
    mount("--bind", str(folder), str(folder))
    try:
        mount("-o", "remount,ro,bind", str(folder))
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("used_before", [False, True])
def test_a_read_only_folder_is_a_clear_error_and_works_once_it_can_be_written(
    start: Start, wire: Wire, tmp_path: Path, used_before: bool
) -> None:
    data = tmp_path / "memory"
    data.mkdir(mode=0o700)
    if used_before:
        filled_folder(start, data, wire)
    with read_only(data):
        daemon = start(data, ready=False)
        wait_until_heard(daemon, wire)
        refusal = record(wire, "anybody", "nobody")
        assert_refused(refusal, "store_unavailable")
        assert str(data) in refusal["reason"], "the reason names the folder"
        status = assert_it_lives(wire)
        assert "store_unavailable" in (status.get("last_error") or status.get("error"))
    wait_until(lambda: record(wire, "works", "again")["ok"], "a record once the folder can be written")
    assert history(wire) == [*(WORDS if used_before else []), "works", "again"]


def test_a_file_in_place_of_the_folder_is_a_clear_error_that_names_it(start: Start, wire: Wire, tmp_path: Path) -> None:
    data = tmp_path / "memory"
    data.write_bytes(b"mine")
    daemon = start(data, ready=False)
    wait_until(lambda: not daemon.lives or is_heard(wire), "its end, or that it is on the bus")
    if daemon.lives:
        answer = record(wire, *WORDS)
        assert_refused(answer, "store_unavailable", "store")
        assert str(data) in answer["reason"]
    else:
        assert daemon.popen.returncode > 0
        said = "".join(daemon.said().replace("│", " ").split())  # a long path is broken at the edge of its box
        assert str(data) in said
        assert "Traceback" not in daemon.said()
    assert data.read_bytes() == b"mine"


def truncate(database: Path) -> None:
    os.truncate(database, database.stat().st_size * 2 // 3 + 100)


def overwrite_in_the_middle(database: Path) -> None:
    content = bytearray(database.read_bytes())
    half = len(content) // 2
    content[4096:half] = random.Random(1).randbytes(half - 4096)
    database.write_bytes(content)


def make_foreign(database: Path) -> None:
    database.unlink()
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
        connection.execute("INSERT INTO recipes VALUES ('pancakes')")
    connection.close()


def make_garbage(database: Path) -> None:
    database.write_bytes(random.Random(2).randbytes(50_000))


def make_future(database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA user_version = 9999")
    connection.commit()
    connection.close()


DAMAGES = [truncate, overwrite_in_the_middle, make_foreign, make_garbage, make_future]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_database_that_is_not_ours_to_use_is_set_aside_byte_for_byte_and_its_name_said(
    start: Start, wire: Wire, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    database = filled_folder(start, tmp_path / "memory", wire)
    damage(database)
    found = database.read_bytes()
    daemon = start()
    status = assert_it_lives(wire)
    aside = status["store"]["set_aside"]
    assert len(aside) == 1, status
    place = Path(aside[0]["path"])
    assert place != database
    assert place.read_bytes() == found
    assert len(aside[0]["reason"].split()) >= 2, aside
    assert str(place) in daemon.said(), "the log names it too"
    assert record(wire, "a new", "beginning")["ok"]
    assert history(wire) == ["a new", "beginning"]


def test_two_damaged_databases_one_after_the_other_are_both_kept(start: Start, wire: Wire, tmp_path: Path) -> None:
    database = filled_folder(start, tmp_path / "memory", wire)
    contents = []
    for seed in (1, 2):
        database.write_bytes(random.Random(seed).randbytes(30_000))
        contents.append(database.read_bytes())
        assert start().end() == 0
    kept = [path.read_bytes() for path in database.parent.iterdir() if path.is_file()]
    assert all(content in kept for content in contents)


def test_a_set_aside_database_is_still_named_after_the_next_start(start: Start, wire: Wire, tmp_path: Path) -> None:
    database = filled_folder(start, tmp_path / "memory", wire)
    make_garbage(database)
    daemon = start()
    named = [aside["path"] for aside in wire.ask("status")["store"]["set_aside"]]
    assert daemon.end() == 0
    start()
    assert [aside["path"] for aside in wire.ask("status")["store"]["set_aside"]] == named


def test_the_journal_of_a_damaged_database_is_set_aside_with_it(start: Start, wire: Wire, tmp_path: Path) -> None:
    daemon = start()
    assert record(wire, *WORDS)["ok"]
    daemon.kill()
    database = tmp_path / "memory" / "memory.db"
    journal = database.with_name("memory.db-wal")
    assert journal.stat().st_size > 0, "what was killed leaves its journal"
    database.write_bytes(random.Random(3).randbytes(30_000))
    contents = {database.read_bytes(), journal.read_bytes()}
    start()
    kept = {path.read_bytes() for path in database.parent.iterdir() if path.is_file()}
    assert contents <= kept


def test_an_empty_database_file_is_a_first_start(start: Start, wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir(mode=0o700)
    (tmp_path / "memory" / "memory.db").touch()
    start()
    assert record(wire, *WORDS)["ok"]
    assert history(wire) == WORDS


def test_a_second_daemon_on_the_same_folder_ends_with_a_clear_error_and_disturbs_nobody(
    start: Start, wire: Wire, tmp_path: Path
) -> None:
    first = start()
    second = start(ready=False)
    wait_until(lambda: not second.lives, "the end of the second daemon")
    assert second.popen.returncode > 0
    assert str(tmp_path / "memory") in second.said()
    assert "Traceback" not in second.said()
    assert record(wire, *WORDS)["ok"]
    with first.door() as client:
        assert [message.text for message in client.history(SESSION)] == WORDS


def test_of_two_daemons_started_at_once_one_serves_and_the_other_says_why_not(
    start: Start, wire: Wire, tmp_path: Path
) -> None:
    both = [start(ready=False), start(ready=False)]
    wait_until(lambda: sum(daemon.lives for daemon in both) == 1, "the end of one of them")
    loser = next(daemon for daemon in both if not daemon.lives)
    assert loser.popen.returncode > 0
    assert str(tmp_path / "memory") in loser.said()
    assert "Traceback" not in loser.said()
    next(daemon for daemon in both if daemon.lives).wait_ready()
    assert record(wire, *WORDS)["ok"]


# the bus


def test_a_bus_that_restarts_ten_times_costs_nothing_that_was_acknowledged(start: Start, tmp_path: Path) -> None:
    port = free_port()
    bus = Bus(tmp_path / "bus", port)
    start(port=port)
    acknowledged: list[str] = []
    back_s: list[float] = []
    try:
        with MemoryClient.over_bus(timeout_s=0.5, host=HOST, port=port) as client:
            for number in range(10):
                pair = [f"question {number}", f"answer {number}"]
                turns = [Turn(role="user", text=pair[0]), Turn(role="assistant", text=pair[1])]
                back_s.append(wait_until(lambda: is_recorded(client, turns, f"d{number}"), "a record"))  # noqa: B023
                acknowledged += pair
                bus.kill()
                bus = Bus(tmp_path / "bus", port)
            wait_until(lambda: is_recorded(client, TURNS, "last"), "a record after the last restart")
            found = [message.text for message in client.history(SESSION, max_history=None)]
            with Wire(port) as wire:
                assert assert_it_lives(wire)["ok"]
    finally:
        bus.kill()
    assert found == [*acknowledged, *WORDS]
    assert max(back_s) < 10, f"seconds until it was back after each restart: {back_s}"


def is_recorded(client: MemoryClient, turns: list[Turn], delivery_id: str) -> bool:
    with contextlib.suppress(PersonaMemoryError):
        return len(client.record(turns, SESSION, as_passed=True, delivery_id=delivery_id)) == 2
    return False


def test_a_daemon_started_before_the_bus_becomes_ready_and_answers_once_the_bus_comes(
    start: Start, tmp_path: Path
) -> None:
    port = free_port()
    daemon = start(port=port, ready=False)
    wait_until(lambda: is_open_door(daemon), "the open door")
    with daemon.door() as client:
        client.record(TURNS, SESSION)
    bus = Bus(tmp_path / "bus", port)
    try:
        daemon.wait_ready()
        with Wire(port) as wire:
            assert wire.process_answers("is_ready")
            assert history(wire) == WORDS
    finally:
        bus.kill()


# signals and systemd


@contextlib.contextmanager
def notifications(path: Path) -> Iterator[socket.socket]:
    """A socket as systemd gives it in NOTIFY_SOCKET (sd_notify(3))."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(path))
        heard.settimeout(20)
        yield heard


def test_systemd_is_told_when_the_daemon_is_ready(start: Start, tmp_path: Path) -> None:
    with notifications(tmp_path / "notify") as heard:
        start(NOTIFY_SOCKET=str(tmp_path / "notify"))
        assert b"READY=1" in heard.recv(1024).split(b"\n")


def test_systemd_is_told_on_an_abstract_socket(start: Start) -> None:
    name = f"persona-memory-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind("\0" + name)
        heard.settimeout(20)
        start(NOTIFY_SOCKET=f"@{name}")
        assert b"READY=1" in heard.recv(1024).split(b"\n")


def test_a_notify_socket_that_nobody_hears_does_not_keep_the_daemon_from_its_work(
    start: Start, wire: Wire, tmp_path: Path
) -> None:
    start(NOTIFY_SOCKET=str(tmp_path / "nobody"))
    assert record(wire, *WORDS)["ok"]


def assert_ends_in_time(daemon: Daemon) -> None:
    daemon.popen.send_signal(signal.SIGTERM)
    try:
        status = daemon.popen.wait(SIGTERM_S)
    except subprocess.TimeoutExpired:
        pytest.fail(f"it had not ended {SIGTERM_S:g} s after SIGTERM")
    assert status == 0, daemon.said()[-2000:]


def test_sigterm_ends_an_idle_daemon_in_time(start: Start, wire: Wire) -> None:
    daemon = start()
    assert record(wire, *WORDS)["ok"]
    assert_ends_in_time(daemon)
    assert "Traceback" not in daemon.said()


def test_sigterm_ends_a_daemon_whose_bus_is_away_in_time(start: Start, tmp_path: Path) -> None:
    port = free_port()
    bus = Bus(tmp_path / "bus", port)
    daemon = start(port=port)
    bus.kill()
    with daemon.door() as client:
        wait_until(lambda: not client.status()["bus"], "that it misses the bus")
    assert_ends_in_time(daemon)


def test_sigterm_ends_a_daemon_that_never_had_a_bus_in_time(start: Start) -> None:
    daemon = start(port=free_port(), ready=False)
    wait_until(lambda: is_open_door(daemon), "the open door")
    assert_ends_in_time(daemon)


def is_open_door(daemon: Daemon) -> bool:
    with contextlib.suppress(PersonaMemoryError), daemon.door() as client:
        return bool(client.status())
    return False


def test_sigterm_ends_a_busy_daemon_in_time_and_loses_nothing_acknowledged(start: Start, bus: Bus, wire: Wire) -> None:
    daemon = start()
    texts = [f"turn {number} of many that wait in line" for number in range(50_000)]
    ids = iter(range(50_000))
    context = {"session": {"session_id": "busy"}}
    ended = threading.Event()
    acknowledged: set[int] = set()

    def listen() -> None:
        with contextlib.suppress(Exception), Wire(bus.port) as listening:
            while not ended.is_set():
                message = listening.receive(0.2)
                data = (message or {}).get("data", {})
                if message and message["type"].endswith("record.response") and data["ok"]:
                    acknowledged.add(int(data["request_id"]))

    def turns(number: int) -> list[dict[str, str]]:
        return [{"role": "user", "text": texts[number]}, {"role": "assistant", "text": f"answer {number}"}]

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        for number in ids:
            wire.send("ovos.persona.memory.record", {"turns": turns(number), "request_id": str(number)}, context)
            if len(acknowledged) > 20 and number > 500:
                break
        assert_ends_in_time(daemon)
    finally:
        ended.set()
        listener.join()
    assert len(acknowledged) > 20
    with start().door() as client:
        kept = {message.text for message in client.history(Scope(session_id="busy"), max_history=None)}
    assert {texts[number] for number in acknowledged} <= kept


@pytest.mark.parametrize("attempt", range(3))
def test_sigterm_ends_a_daemon_that_was_frozen_in_time(start: Start, wire: Wire, attempt: int) -> None:
    # a thawed process takes the signal on whichever thread runs first: that must not be the end of it
    daemon = start()
    assert record(wire, *WORDS)["ok"]
    daemon.popen.send_signal(signal.SIGSTOP)
    state = Path(f"/proc/{daemon.popen.pid}/stat")
    wait_until(lambda: state.read_text().rpartition(") ")[2].startswith("T"), "the standstill")
    daemon.popen.send_signal(signal.SIGTERM)
    daemon.popen.send_signal(signal.SIGCONT)
    assert_ends_in_time(daemon)


def test_sigterm_again_and_again_ends_it_no_worse_than_once(start: Start, wire: Wire) -> None:
    daemon = start()
    assert record(wire, *WORDS)["ok"]
    until = time.monotonic() + SIGTERM_S
    while daemon.popen.poll() is None and time.monotonic() < until:
        daemon.popen.send_signal(signal.SIGTERM)
        time.sleep(0.001)
    assert daemon.popen.returncode == 0, daemon.said()[-2000:]
