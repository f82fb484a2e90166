"""A real messagebus and real memory daemons as processes, and a bare wire to talk with them: for tests and figures."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import websocket

ROOT = Path(__file__).resolve().parents[3]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # a script is run where it stands

from ovos_persona_memory.errors import PersonaMemoryError  # noqa: E402
from ovos_persona_memory.protocol import MemoryClient, topics  # noqa: E402  (the line above must come first)

HOST = "127.0.0.1"
START_S = 30.0
TRUSTING_BUS = (
    "from ovos_messagebus import __main__, event_handler\n"
    "event_handler.MessageBusEventHandler._reject_malformed_carrier = lambda *_: False\n"
    "__main__.main()\n"
)
"""The messagebus as the stable line ships it: it passes every frame on, whatever its session is."""


def wait_until(condition: Callable[[], Any], what: str, timeout_s: float = START_S) -> float:
    """How long it took until the condition held, seconds; AssertionError where it did not in time."""
    began = time.monotonic()
    pause = threading.Event()
    while not condition():
        assert time.monotonic() - began < timeout_s, f"{what}: not within {timeout_s:g} s"
        pause.wait(0.01)
    return time.monotonic() - began


def is_open(port: int) -> bool:
    """Whether anything accepts a connection there."""
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


class Process:
    """A process with settings of its own under a folder, its output in a file beside them."""

    def __init__(self, folder: Path, name: str, command: Sequence[str], **environment: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / f"{name}.log"
        xdg = {f"XDG_{kind.upper()}_HOME": str(folder / kind) for kind in ("config", "data", "state", "cache")}
        # a broken copy of the package may stand before the real one, to see a test fail
        places = os.pathsep.join(filter(None, (os.environ.get("PERSONA_MEMORY_TREE"), str(ROOT))))
        with self.log.open("ab") as log:
            self.popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env=os.environ | xdg | {"PYTHONPATH": places, "PYTHONUNBUFFERED": "1"} | environment,
            )

    @property
    def lives(self) -> bool:
        """Whether it has not ended."""
        return self.popen.poll() is None

    def said(self) -> str:
        """What it wrote so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def check(self) -> None:
        """AssertionError where it has ended."""
        assert self.lives, f"it ended with status {self.popen.returncode}:\n{self.said()[-4000:]}"

    def end(self, number: signal.Signals = signal.SIGTERM, timeout_s: float = 10.0) -> int:
        """End it, by force when it does not go in time; its status."""
        if self.lives:
            self.popen.send_signal(number)
        try:
            return self.popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            return self.popen.wait()

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        self.end(signal.SIGKILL)


def write_settings(folder: Path, **sections: Any) -> None:
    """The mycroft.conf of the processes of a folder."""
    path = folder / "config" / "mycroft" / "mycroft.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"logging": {"log_level": "WARNING", "logs": {"path": "stdout"}}, **sections}))


class Bus(Process):
    """A messagebus, accepting connections once this returns. ``trusting``: it checks no frame."""

    def __init__(self, folder: Path, port: int, trusting: bool = False) -> None:
        self.port = port
        write_settings(folder, websocket={"host": HOST, "port": port, "route": "/core", "ssl": False})
        program = ("-c", TRUSTING_BUS) if trusting else ("-m", "ovos_messagebus")
        super().__init__(folder, "bus", [sys.executable, *program])
        try:
            wait_until(self._is_open, "the start of the messagebus")
        except BaseException:
            self.kill()
            raise

    def _is_open(self) -> bool:
        self.check()
        return is_open(self.port)


class Daemon(Process):
    """A memory daemon, on its way up once this returns. ``wrapped``: the command that runs it, strace for example."""

    def __init__(  # more than five: what a script changes of a daemon
        self,
        folder: Path,
        data: Path,
        port: int,
        wrapped: Sequence[str] = (),
        embedder: str = "none",
        **environment: str,
    ) -> None:
        self.data = data
        write_settings(folder, persona_memory={"announce": False, "recall": {"embedder": embedder}})
        command = [sys.executable, "-m", "ovos_persona_memory", "run", "--data", str(data)]
        command += ["--host", HOST, "--port", str(port)]
        super().__init__(folder, "daemon", [*wrapped, *command], **environment)

    def door(self) -> MemoryClient:
        """A client at the owner's door; NoAnswer while it is shut."""
        return MemoryClient.over_door(self.data)

    def is_ready(self) -> bool:
        """Whether it answers at the owner's door and has reached the bus."""
        self.check()
        with contextlib.suppress(PersonaMemoryError), self.door() as client:
            return bool(client.status()["bus"])
        return False

    def wait_ready(self, timeout_s: float = START_S) -> Daemon:
        """Itself, once it is ready."""
        try:
            wait_until(self.is_ready, "the start of the daemon", timeout_s)
        except AssertionError:
            self.kill()
            raise
        return self


class Core(Process):
    """An ovos-core with the settings it ships with, on its way up once this returns."""

    def __init__(self, folder: Path, port: int, **sections: Any) -> None:
        """``sections``: more of its settings."""
        self.port = port
        write_settings(folder, websocket={"host": HOST, "port": port, "route": "/core", "ssl": False}, **sections)
        super().__init__(folder, "core", [sys.executable, "-m", "ovos_core", "--disable-installer"])


class Wire:
    """A bare connection to the bus: sends what nobody should, and sees every answer. For one thread."""

    def __init__(self, port: int) -> None:
        self.socket = websocket.create_connection(f"ws://{HOST}:{port}/core", timeout=10, skip_utf8_validation=True)
        self._numbers = itertools.count(1)
        assert self.receive() is not None, "the messagebus says that one is connected"

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def new_id(self) -> str:
        """A request_id that was not used before on this connection."""
        return f"wire-{os.getpid()}-{id(self):x}-{next(self._numbers)}"

    def send(self, topic: str, data: Any, context: Any = None) -> None:
        """Send one message."""
        self.send_text(json.dumps({"type": topic, "data": data, "context": {} if context is None else context}))

    def send_text(self, text: str) -> None:
        """Send a frame as it is."""
        self.socket.send(text)

    def receive(self, timeout_s: float = 10.0) -> dict[str, Any] | None:
        """The next message; None where none came in time."""
        if self.socket.sock and hasattr(socket, "TCP_QUICKACK"):
            self.socket.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)  # else 44 ms an answer
        self.socket.settimeout(max(timeout_s, 0.001))
        try:
            frame = self.socket.recv()
        except (websocket.WebSocketTimeoutException, BlockingIOError):
            return None
        try:
            message = json.loads(frame)
        except (ValueError, RecursionError):
            return {}
        return message if isinstance(message, dict) else {}

    def ask(
        self, verb: str, data: Mapping[str, Any] | None = None, session_id: str = "default", timeout_s: float = 10.0
    ) -> dict[str, Any]:
        """The answer to a request of one's own."""
        request_id = self.new_id()
        context = {"session": {"session_id": session_id}}
        self.send(topics.request(verb), {**(data or {}), "request_id": request_id}, context)
        return self.until(topics.response(verb), request_id, timeout_s)[-1]["data"]  # type: ignore[no-any-return]

    def until(self, topic: str, request_id: str | None = None, timeout_s: float = 10.0) -> list[dict[str, Any]]:
        """All messages up to the first on this topic (with this request_id); AssertionError where it does not come."""
        deadline = time.monotonic() + timeout_s
        heard: list[dict[str, Any]] = []
        while (left_s := deadline - time.monotonic()) > 0:
            message = self.receive(left_s)
            if message is None:
                break
            heard.append(message)
            if message.get("type") == topic and (request_id is None or message["data"].get("request_id") == request_id):
                return heard
        raise AssertionError(f"no {topic} came within {timeout_s:g} s")

    def process_answers(self, what: str, timeout_s: float = 10.0) -> bool:
        """What the daemon says to ``is_alive`` or ``is_ready``."""
        topic = f"mycroft.persona_memory.{what}"
        self.send(topic, {})
        return bool(self.until(f"{topic}.response", timeout_s=timeout_s)[-1]["data"]["status"])
