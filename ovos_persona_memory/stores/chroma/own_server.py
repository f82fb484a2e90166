"""A Chroma server of this process's own: on loopback, on a free port, over one folder, and gone when the process is."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ovos_persona_memory.errors import ConfigError, StoreUnavailable
from ovos_persona_memory.stores.base.folder_lock import FolderLock
from ovos_persona_memory.stores.base.vector_backend import VectorBackendAway
from ovos_persona_memory.stores.chroma.http_client import ChromaServer, settings_of

SERVER = "chromadb_rust_bindings"
"""The part of chromadb that is the server."""
PROGRAM = Path(__file__).with_name("server_process.py")
LOOPBACK = "127.0.0.1"
LOCK_FILE, LOG_FILE = "server.lock", "server.log"
END_S = 5.0
"""A server that was asked to end is killed after so long, seconds."""
LEAST_S = 0.05
"""However long the server took to come up, so long a request may take, seconds."""


def check(folder: Path) -> None:
    """ConfigError where no server can be started here, StoreUnavailable where it could not write into the folder."""
    if find_spec(SERVER) is None:
        extra = "pip install 'ovos-persona-memory[chroma]'"
        raise ConfigError(f"the chroma backend needs chromadb to keep vectors in a folder, which is missing: {extra}")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"the folder {folder} cannot be made ({error.strerror})") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StoreUnavailable(f"the folder {folder} cannot be written")


class OwnServer(ChromaServer):
    """Starts the server over a folder, at once, and again where it ends by itself; ``close`` ends it.

    The first request waits for it, as long as it may take. StoreBusy where another process has the folder. Thread-safe:
    a lock guards the process and the socket by which it tells that it listens.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        check(folder)
        self._folder = folder
        self._held = FolderLock(folder, LOCK_FILE)
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None
        self._is_closed = False
        super().__init__(settings_of(f"http://{LOOPBACK}"), clock)
        with self._starting, suppress(VectorBackendAway):  # it is tried again with each request
            self._see_that_it_runs()

    @property
    def name(self) -> str:
        """What people call it."""
        return f"Chroma in {self._folder}"

    def close(self) -> None:
        """End the server; a second call does nothing."""
        with self._starting:
            self._is_closed = True
            super().close()
            self._end()
        self._held.release()

    def _request(self, method: str, path: str, body: object, within_s: float) -> Any:
        began = time.monotonic()
        if (problem := self._problem(within_s)) is not None:
            raise self._away(problem)
        return super()._request(method, path, body, max(within_s - (time.monotonic() - began), LEAST_S))

    def _problem(self, within_s: float) -> str | None:
        """Why the server cannot be asked within this time; None where it can."""
        with self._starting:
            if self._is_closed:
                return "it is closed"
            self._see_that_it_runs()
            link = self._link
        try:
            if link is None or not select.select([link], [], [], within_s)[0]:
                return "it is starting"
            listens = link.recv(1, socket.MSG_PEEK) != b""
        except (OSError, ValueError):  # it was closed meanwhile
            return "it is closed"
        return None if listens else f"it ended: {self._last_words()}"

    def _see_that_it_runs(self) -> None:
        """Start the server where it does not run, each time on another port: somebody may have taken the last one."""
        if self._process is not None and self._process.poll() is None:
            return
        self._end()
        super().close()  # connections to the one before
        port = _free_port()
        self._settings = replace(self._settings, port=port)
        ours, theirs = socket.socketpair()
        command = [sys.executable, str(PROGRAM), str(theirs.fileno()), LOOPBACK, str(port), str(self._folder)]
        try:
            with theirs, (self._folder / LOG_FILE).open("wb") as log:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=[theirs.fileno()],
                    env=os.environ | {"ANONYMIZED_TELEMETRY": "False"},
                    start_new_session=True,  # a Ctrl-C is for whoever started it
                )
        except OSError as error:
            ours.close()
            raise VectorBackendAway(f"{self.name} cannot be started ({error.strerror})") from error
        self._link = ours

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        link, self._link = self._link, None
        if link is not None:
            link.close()

    def _last_words(self) -> str:
        """The last line of the server's log, which holds no word of a person."""
        try:
            told = (self._folder / LOG_FILE).read_text("utf-8", "replace").splitlines()
        except OSError:
            told = []
        return next((line.strip()[:200] for line in reversed(told) if line.strip()), "it did not say why")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        return int(one.getsockname()[1])
