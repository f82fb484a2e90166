"""A real HiveMind hub in front of a messagebus, and real satellites of it, in an environment of their own."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from support.servers.bus import HOST, ROOT, Process, is_open, wait_until

BIN = ROOT / ".venv-hive" / "bin"
"""The packages of HiveMind, as scripts/test installs them."""
SATELLITE = ROOT / "test" / "support" / "satellite.py"
SPEECH = ("ovos.utterance.speak", "speak")
"""The assistant says it under the first name; the older one is a copy."""
MAY_SAY = ("recognizer_loop:utterance", "ovos.utterance.handle")
ANSWER_S = 20.0


class Hub(Process):
    """hivemind-core on a messagebus, with data and settings of its own; on its way up once this returns."""

    def __init__(self, folder: Path, port: int, bus_port: int) -> None:
        self.port = port
        settings = folder / "config" / "hivemind-core" / "server.json"
        settings.parent.mkdir(parents=True)
        agent = {"module": "hivemind-ovos-agent-plugin"}
        agent["hivemind-ovos-agent-plugin"] = {"host": HOST, "port": bus_port}  # type: ignore[assignment]
        network = {"hivemind-websocket-plugin": {"host": HOST, "port": port, "ssl": False}}
        settings.write_text(json.dumps({"agent_protocol": agent, "network_protocol": network}))
        self._folder = folder
        super().__init__(folder, "hub", [str(BIN / "hivemind-core"), "listen"], HOME=str(folder))

    def wait_ready(self) -> Hub:
        """Itself, once satellites can connect."""
        wait_until(self._is_open, "the start of hivemind-core")
        return self

    def _is_open(self) -> bool:
        self.check()
        return is_open(self.port)

    def add_clients(self, *names: str) -> list[dict[str, str]]:
        """The key and password of each new client that may speak to the assistant, as its owner would add it."""
        allowed = [word for topic in MAY_SAY for word in ("--allow", topic)]
        commands = [["add-client", "--name", name, *allowed] for name in names]
        # the program's own command line, in one process: each takes a second to start
        program = "from hivemind_core.scripts import hmcore_cmds as run\n"
        program += f"for one in {commands}: run(one, standalone_mode=False)"
        process = Process(self._folder, "add-clients", [str(BIN / "python"), "-c", program], HOME=str(self._folder))
        assert process.popen.wait(60) == 0, process.said()
        told = re.findall(r"^Access Key: (\S+)\nPassword: (\S+)$", process.said(), re.MULTILINE)
        assert len(told) == len(names), process.said()
        return [{"key": key, "password": password} for key, password in told]


def spoken(messages: list[dict[str, Any]]) -> list[str]:
    """What is spoken in the messages that a satellite got."""
    return [one["data"]["utterance"] for one in messages if one["type"] == SPEECH[0]]


class Satellite:
    """A client of the hub in a room, in a session of its own; it is connecting once this returns."""

    def __init__(self, folder: Path, hub: Hub, secrets: dict[str, str], site: str, session: str, **claims: Any) -> None:
        """``claims``: what it puts into the session of each utterance beside the session's id and its room."""
        folder.mkdir(parents=True)
        self.log = folder / "satellite.log"
        xdg = {f"XDG_{kind.upper()}_HOME": str(folder / kind) for kind in ("config", "data", "state", "cache")}
        command = [str(BIN / "python"), str(SATELLITE), "--port", str(hub.port), "--claims", json.dumps(claims)]
        for name, value in {**secrets, "site": site, "session": session}.items():
            command += [f"--{name}", value]
        with self.log.open("wb") as log:
            self.popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=folder,
                env={**xdg, "HOME": str(folder), "PATH": "/usr/bin:/bin", "OVOS_DEFAULT_LOG_NAME": "satellite"},
            )
        self.came: list[dict[str, Any]] = []
        """Every message that the hub sent it, in order."""
        self._queue: queue.Queue[dict[str, Any]] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.popen.stdout is not None
        for line in self.popen.stdout:
            if line.startswith("{"):
                self._queue.put(json.loads(line))

    def until(self, topic: str, timeout_s: float = ANSWER_S) -> list[dict[str, Any]]:
        """All messages up to the first on this topic; AssertionError where it does not come."""
        deadline = time.monotonic() + timeout_s
        heard: list[dict[str, Any]] = []
        while (left_s := deadline - time.monotonic()) > 0:
            try:
                message = self._queue.get(timeout=left_s)
            except queue.Empty:
                break
            heard.append(message)
            self.came.append(message)
            if message["type"] == topic:
                return heard
        raise AssertionError(f"no {topic} came within {timeout_s:g} s:\n{self.log.read_text()[-3000:]}")

    def wait_connected(self) -> Satellite:
        """Itself, once the hub has let it in."""
        self.until("connected")
        return self

    def say(self, utterance: str) -> list[str]:
        """What is spoken to it for an utterance, up to the end of its handling."""
        assert self.popen.stdin is not None
        self.popen.stdin.write(utterance + "\n")
        self.popen.stdin.flush()
        return spoken(self.until("ovos.utterance.handled"))

    def rest(self) -> list[dict[str, Any]]:
        """What came without having been waited for."""
        while not self._queue.empty():
            self.came.append(self._queue.get())
        return self.came

    def end(self) -> None:
        """End it."""
        self.popen.kill()
        self.popen.wait()
        self._reader.join()
        for pipe in (self.popen.stdin, self.popen.stdout):
            assert pipe is not None
            pipe.close()
