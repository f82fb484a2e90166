"""A real Chroma server out of its package, for tests and figures: on a free port, killed, started again, emptied."""

from __future__ import annotations

import importlib.util
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.servers.ports import free_port

QUICK = Path("/dev/shm")
START_S = 20.0
PACKAGE = "chromadb"
RUN = (
    "import ctypes, signal, sys, chromadb_rust_bindings\n"
    "ctypes.CDLL(None).prctl(1, signal.SIGKILL)\n"  # it ends with whoever started it
    "chromadb_rust_bindings.cli(['chroma', 'run', *sys.argv[1:]])\n"
)
"""The command chroma without its Python part, which wants some eighty packages."""


class NoServer(RuntimeError):
    """No Chroma can be run here, and why."""


class ChromaServer:
    """One server in a folder of its own; ``close`` ends it and deletes the folder."""

    def __init__(self) -> None:
        if importlib.util.find_spec("chromadb_rust_bindings") is None:
            raise NoServer(f"{PACKAGE} is not installed: pip install --no-deps {PACKAGE}")
        self.folder = Path(tempfile.mkdtemp(prefix="chroma-", dir=QUICK if QUICK.is_dir() else None))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """How it is reached."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def command(self) -> list[str]:
        """What stands behind ``chroma run``."""
        return ["--path", str(self.folder / "data"), "--host", "127.0.0.1", "--port", str(self.port)]

    def start(self) -> None:
        """Start it, with what it had before; returns when it answers."""
        with (self.folder / "log").open("ab") as log:
            command = [sys.executable, "-c", RUN, *self.command]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.folder)
        until = time.monotonic() + START_S
        while True:
            try:
                self.ask("GET", "/api/v2/heartbeat")
                return
            except OSError as error:
                if time.monotonic() > until or self._process.poll() is not None:
                    self.kill()
                    raise NoServer((self.folder / "log").read_text(errors="replace")[-500:]) from error
                time.sleep(0.02)

    def kill(self) -> None:
        """End it as kill -9 does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self, going_on: bool = False) -> None:
        """Have it answer nobody, though its port is open; ``going_on``: answer again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT if going_on else signal.SIGSTOP)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """What it answers to a plain request."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=START_S) as answer:
            return json.loads(answer.read() or b"null")

    def collections(self) -> dict[str, str]:
        """The name and id of each."""
        return {one["name"]: one["id"] for one in self.ask("GET", f"{SPACE}?limit=1000")}

    def everything(self) -> dict[str, list[dict[str, Any]]]:
        """All that it has: of each collection every id, vector and what is said of it."""
        wanted = {"limit": 10_000, "include": ["embeddings", "metadatas", "documents", "uris"]}
        found = {name: self.ask("POST", f"{SPACE}/{one}/get", wanted) for name, one in self.collections().items()}
        fields = ("ids", "embeddings", "metadatas", "documents", "uris")
        return {
            name: [dict(zip(fields, row, strict=True)) for row in zip(*(part[key] for key in fields), strict=True)]
            for name, part in found.items()
        }

    def empty(self) -> None:
        """Delete everything."""
        for name in self.collections():
            self.ask("DELETE", f"{SPACE}/{name}")

    def kept(self) -> Mapping[str, bytes]:
        """The content of each file in which it keeps data."""
        found = [path for path in (self.folder / "data").rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}

    def close(self) -> None:
        """End it and delete everything."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> ChromaServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


SPACE = "/api/v2/tenants/default_tenant/databases/default_database/collections"


if __name__ == "__main__":
    try:
        with ChromaServer() as server:
            print(f"answers: {server.ask('GET', '/api/v2/version')}")
    except (NoServer, OSError) as error:
        print(str(error).splitlines()[-1] if str(error) else "it does not start")
        sys.exit(1)
