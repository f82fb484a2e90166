"""A real messagebus, and daemons as processes of their own; everything started here ends with the tests."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.assistants import Assistant, skill_settings
from support.servers.ports import free_port

from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.protocol import MemoryClient

collect_ignore = [] if importlib.util.find_spec("playwright") else ["browser"]
ROOT = Path(__file__).parent.parent.parent
START_S = 30.0
SPEAKING = ("test_skill.py", "test_spoken_care.py", "test_spoken_deletions.py", "test_spoken_memory.py")
"""Files whose tests share the assistant ``speaking``."""
LONGEST = (
    "browser",
    *SPEAKING,
    *("test_durability.py", "test_utterances.py", "test_conversation.py", "test_faults.py", "test_web_page.py"),
    *("test_offline.py", "test_crash.py", "test_two_assistants.py", "test_persona.py", "test_hivemind.py"),
)
"""What takes a minute and more, the longest first: begun before everything else, so that nobody waits for it at the
end."""
Address = tuple[str, int]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest first."""
    items.sort(key=lambda item: LONGEST.index(name) if (name := _file_of(item.path)) in LONGEST else len(LONGEST))


def _file_of(path: Path) -> str:
    """The name of a file; of the tests in a browser, which share it and a daemon, that of their folder."""
    return path.parent.name if path.parent.name == "browser" else path.name


@pytest.hookimpl(optionalhook=True)  # where pytest-xdist is
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """For ``--dist loadgroup``: a file stays together on one worker, and so do the files of ``SPEAKING`` and of the
    folder ``browser``.

    Its marks ``xdist_group`` do nothing here: pytest-xdist 3.8 writes them into ``Item._nodeid``, which pytest 9.2 has
    no more. Each test would be on its own, and every worker would start every assistant.
    """
    from xdist.scheduler import LoadScopeScheduling  # only here is it sure to be installed

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = _file_of(Path(nodeid.partition("::")[0]))
            return "speaking" if file in SPEAKING else file

    return ByFile(config, log) if config.getvalue("dist") == "loadgroup" else None


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = START_S) -> None:
    """Return once the condition holds; fail the test when it does not in time."""
    deadline = time.monotonic() + timeout_s
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {timeout_s:g} s"
        pause.wait(0.02)


def own_environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a process whose settings, logs and data are under this folder."""
    xdg = {f"XDG_{kind.upper()}_HOME": str(folder / kind) for kind in ("config", "data", "state", "cache")}
    return os.environ | xdg | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | more


def write_settings(folder: Path, **sections: object) -> None:
    """The mycroft.conf of the processes with ``own_environment(folder)``.

    By words alone where no embedder is named, and without the owner's page where nothing is said of it.
    """
    memory = dict(sections.pop("persona_memory", None) or {})  # type: ignore[call-overload]  # settings are a mapping
    recall = {"embedder": "none", **memory.get("recall", {})}
    web = memory.get("web", {"enabled": False})
    sections["persona_memory"] = {**memory, "recall": recall, "web": web}
    path = folder / "config" / "mycroft" / "mycroft.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"logging": {"log_level": "WARNING", "logs": {"path": "stdout"}}, **sections}))


class Process:
    """A python module running as a process, its output in a file."""

    def __init__(self, folder: Path, *command: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / f"{command[0]}.log"
        with self.log.open("ab") as log:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env=own_environment(folder),
            )

    @property
    def pid(self) -> int:
        """Its number."""
        return self._popen.pid

    @property
    def has_ended(self) -> bool:
        """Whether it runs no more."""
        return self._popen.poll() is not None

    def said(self) -> str:
        """What it wrote so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def check(self) -> None:
        """Fail the test where it has ended."""
        assert self._popen.poll() is None, f"{self._popen.args} ended:\n{self.said()[-4000:]}"

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it, and give its status."""
        if self._popen.poll() is None:
            self._popen.send_signal(number)
        try:
            return self._popen.wait(10)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            return self._popen.wait()


class Daemon(Process):
    """The memory daemon of a data folder."""

    def __init__(self, home: Path, data: Path, address: Address) -> None:
        self.data = data
        host, port = address
        super().__init__(home, "ovos_persona_memory", "run", "--data", str(data), "--host", host, "--port", str(port))

    def is_ready(self) -> bool:
        """Whether it answers at its door and has reached the bus."""
        self.check()
        with contextlib.suppress(PersonaMemoryError), MemoryClient.over_door(self.data) as client:
            return bool(client.status()["bus"])
        return False


def is_open(address: Address) -> bool:
    """Whether anything accepts a connection there."""
    try:
        socket.create_connection(address, timeout=1).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def running_bus(folder: Path, port: int) -> Iterator[Process]:
    """A real messagebus on this port."""
    write_settings(folder, websocket={"host": "127.0.0.1", "port": port, "route": "/core", "ssl": False})
    bus = Process(folder, "ovos_messagebus")
    try:
        wait_until(lambda: bus.check() or is_open(("127.0.0.1", port)), "the start of the messagebus")
        yield bus
    finally:
        bus.end()


@pytest.fixture(scope="session")
def bus_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """Host and port of a real messagebus that all tests share."""
    port = free_port()
    with running_bus(tmp_path_factory.mktemp("bus"), port):
        yield "127.0.0.1", port


@pytest.fixture
def daemon(tmp_path: Path, bus_address: Address) -> Iterator[Callable[..., Daemon]]:
    """Starts daemons and waits until each is ready: ``daemon(data=..., address=..., settings={...})``."""
    started: list[Daemon] = []

    def start(
        data: Path | None = None, address: Address = bus_address, settings: dict[str, object] | None = None
    ) -> Daemon:
        home = tmp_path / f"home{len(started)}"
        write_settings(home, persona_memory={"announce": False, **(settings or {})})
        process = Daemon(home, data or tmp_path / "data", address)
        started.append(process)
        wait_until(process.is_ready, "the start of the daemon")
        return process

    yield start
    for process in started:
        process.end()


SHARED_ROOM = "hall"
"""A room in which others may hear what is said, as the skill of ``speaking`` is told."""


@pytest.fixture(scope="session")
def speaking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    """One assistant for all tests of what is said aloud; its owner speaks English and German.

    Each test talks in sessions of its own, and begins with an empty memory.
    """
    home, data = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("data")
    settings = home / ".config" / "mycroft" / "mycroft.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"lang": "en-US", "secondary_langs": ["de-DE"]}))
    skill_settings(data).parent.mkdir(parents=True)
    skill_settings(data).write_text(json.dumps({"shared_rooms": f"porch, {SHARED_ROOM}"}))
    with Assistant(data, home, free_port(), others=True) as assistant:
        yield assistant
