"""A folder in place of a Chroma server's address: the server is started over it, and ends with whoever started it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.letters import Letters

from ovos_persona_memory.cli import doctor
from ovos_persona_memory.config import MemoryConfig, parse
from ovos_persona_memory.errors import ConfigError, StoreBusy, StoreUnavailable
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.search import vector_indexer
from ovos_persona_memory.stores import store_locations
from ovos_persona_memory.stores.chroma import http_client, own_server

pytestmark = pytest.mark.full
OTHERS = ("conversational", "facts", "episodic")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again soon."""
    monkeypatch.setattr(http_client, "AGAIN_S", 0.0)
    for name in ("QUIET_S", "YIELD_S", "AGAIN_S"):
        monkeypatch.setattr(vector_indexer, name, 0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "chroma"


def settings(home: Path, connection: Path | str) -> MemoryConfig:
    kinds: dict[str, Any] = {name: {"backend": "sqlite"} for name in OTHERS}
    kinds["semantic"] = {"backend": "chroma", "connection": str(connection)}
    return parse({"data_dir": str(home / "data"), "kinds": kinds, "recall": {"embedder": "letters"}})


@contextmanager
def remembering(home: Path, folder: Path) -> Iterator[PersonaMemory]:
    with PersonaMemory.open(config=settings(home, folder), opener=lambda _: Letters()) as memory:
        yield memory


def wait_for(condition: Callable[[], Any], what: str) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.02)


def by_meaning(memory: PersonaMemory) -> list[str]:
    """What is found without a word in common."""
    return [hit.text for hit in memory.recall("tac ym", Scope(), kinds={"turn"}, lang="en-US") if hit.text == "my cat"]


def servers(folder: Path) -> list[int]:
    """The processes that are servers over a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        if os.fsencode(folder) in words and os.fsencode(own_server.PROGRAM) in words:
            found.append(int(place.name))
    return found


def listening(process: int) -> set[str]:
    """The addresses at which a process listens, as Linux writes them."""
    sockets = {str(one.readlink()) for one in Path(f"/proc/{process}/fd").iterdir() if one.is_symlink()}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets}


def test_what_is_kept_in_a_folder_is_found_by_meaning_and_again_after_the_next_start(
    tmp_path: Path, folder: Path
) -> None:
    with remembering(tmp_path, folder) as memory:
        memory.record([Turn("user", "my cat"), Turn("user", "the bins")], Scope("s"))
        wait_for(lambda: memory.status()["index_lag"] == 0 and by_meaning(memory), "the vectors")
        details = memory.status()["store"]["vectors"]
        assert (details["at"], details["problem"]) == (f"Chroma in {folder}", None)
        [server] = servers(folder)
        assert listening(server) == {"0100007F"}, "on loopback, and nowhere else"
    assert servers(folder) == [], "it ends with the memory"
    assert folder.stat().st_mode & 0o077 == 0
    made: list[str] = []

    class Counted(Letters):
        def embed(self, texts: Any) -> Any:
            made.extend(texts)
            return super().embed(texts)

    with PersonaMemory.open(config=settings(tmp_path, folder), opener=lambda _: Counted()) as memory:
        wait_for(lambda: by_meaning(memory), "the vectors of before")
        assert "my cat" not in made, "no vector is made anew"


def test_a_server_that_ends_by_itself_is_started_again(tmp_path: Path, folder: Path) -> None:
    with remembering(tmp_path, folder) as memory:
        memory.record([Turn("user", "my cat")], Scope("s"))
        wait_for(lambda: by_meaning(memory), "the vectors")
        [first] = servers(folder)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: by_meaning(memory), "the vectors of before")
        [second] = servers(folder)
        assert second != first
        assert memory.forget(Scope(), query="cat", lang="en-US") == 1
        wait_for(lambda: memory.status()["store"]["vectors"]["to_be_deleted"] == 0, "the deletion")
    assert servers(folder) == []


OPEN = """
import sys
from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
kinds = {name: {"backend": "sqlite"} for name in ("conversational", "facts", "episodic")}
kinds["semantic"] = {"backend": "chroma", "connection": sys.argv[2]}
memory = PersonaMemory.open(config=parse({"data_dir": sys.argv[1], "kinds": kinds, "recall": {"embedder": "none"}}))
print("open", flush=True)
sys.stdin.read()
"""


def test_however_its_starter_ends_the_server_ends_too(tmp_path: Path, folder: Path) -> None:
    for number in (signal.SIGKILL, signal.SIGTERM):
        command = [sys.executable, "-c", OPEN, str(tmp_path / "data"), str(folder)]
        starter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert starter.stdin is not None and starter.stdout is not None
        with starter.stdin, starter.stdout:
            assert starter.stdout.readline() == b"open\n"
            wait_for(lambda: len(servers(folder)) == 1, "the server")
            starter.send_signal(number)
            starter.wait()
        wait_for(lambda: servers(folder) == [], "the end of the server")


def test_two_memories_do_not_have_one_folder(tmp_path: Path, folder: Path) -> None:
    with remembering(tmp_path / "one", folder):
        with pytest.raises(StoreBusy, match=str(os.getpid())), remembering(tmp_path / "two", folder):
            pass
        assert len(servers(folder)) == 1
    with remembering(tmp_path / "two", folder):
        wait_for(lambda: len(servers(folder)) == 1, "the server of the other")


def test_what_hinders_the_server_is_said_and_recall_goes_by_words(tmp_path: Path, folder: Path) -> None:
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(b"no database" * 1000)
    with remembering(tmp_path, folder) as memory:
        memory.record([Turn("user", "my cat")], Scope("s"))
        wait_for(lambda: memory.status()["store"]["vectors"]["problem"], "the problem")
        assert f"Chroma in {folder} cannot be used" in memory.status()["store"]["vectors"]["problem"]
        assert memory.recall("cat", Scope(), lang="en-US")[0].text == "my cat"


def test_where_the_extra_is_missing_that_is_said_with_the_command_that_installs_it(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_server, "SERVER", "no_such_module")
    with pytest.raises(ConfigError, match=r"needs chromadb .* pip install 'ovos-persona-memory\[chroma\]'"):
        PersonaMemory.open(config=settings(tmp_path, folder))
    told = {one.check: one for one in doctor.check_stores(settings(tmp_path, folder), in_use=False)}
    assert told["store for semantic"].state == "problem"
    assert "pip install" in told["store for semantic"].found
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="file/chroma cannot be made"):
        PersonaMemory.open(config=settings(tmp_path, tmp_path / "file" / "chroma"))


def test_the_doctor_starts_no_second_server(tmp_path: Path, folder: Path) -> None:
    given = settings(tmp_path, folder)
    assert str(store_locations(given)["semantic"]) == f"chroma in {folder}"
    with remembering(tmp_path, folder):
        told = {one.check: one for one in doctor.check_stores(given, in_use=True)}
        assert told["store for semantic"].state == "ok"
        assert len(servers(folder)) == 1


def test_a_port_that_somebody_else_has_taken_is_left_to_them(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = socket.create_server((own_server.LOOPBACK, 0))
    ports = iter([taken.getsockname()[1]])
    free = own_server._free_port
    monkeypatch.setattr(own_server, "_free_port", lambda: next(ports, None) or free())
    with taken, remembering(tmp_path, folder) as memory:
        memory.record([Turn("user", "my cat")], Scope("s"))
        wait_for(lambda: by_meaning(memory), "the vectors")
        taken.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody ever connected
            taken.accept()
