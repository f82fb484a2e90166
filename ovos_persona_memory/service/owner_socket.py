"""The owner's door: a Unix socket in the data folder that speaks the verbs, one JSON object a line."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from ovos_utils.log import LOG

from ovos_persona_memory.protocol import DOOR, door_address

MAX_LINE = 4 * 1024 * 1024
"""Bytes of one request at most; a longer line ends the connection."""

Reply = Callable[[bytes], None]


class Door:
    """Listens at the socket of a data folder; whoever may open the folder is the owner.

    Each line is passed to ``arrived`` with the function that sends its answer back; each visitor has a thread.
    """

    def __init__(self, folder: Path, arrived: Callable[[bytes, Reply], None]) -> None:
        self._folder = folder
        self._arrived = arrived
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def open(self) -> None:
        """Start listening; OSError where the socket cannot be made."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._folder / DOOR).unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            with door_address(self._folder) as address:
                self._socket.bind(address)
        finally:
            os.umask(before)
        self._socket.listen(16)
        threading.Thread(target=self._welcome, name="door", daemon=True).start()

    def close(self) -> None:
        """Stop listening and remove the socket."""
        self._socket.close()
        (self._folder / DOOR).unlink(missing_ok=True)

    def _welcome(self) -> None:
        while True:
            try:
                visitor, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(visitor,), name="visitor", daemon=True).start()

    def _serve(self, visitor: socket.socket) -> None:
        lock = threading.Lock()  # guards the connection: answers come from another thread

        def reply(frame: bytes) -> None:
            try:
                with lock:
                    visitor.sendall(frame + b"\n")
            except OSError as error:
                LOG.debug("a visitor left before the answer: %s", error)

        with visitor, visitor.makefile("rb") as lines:
            try:
                while (line := lines.readline(MAX_LINE)).endswith(b"\n"):
                    self._arrived(line, reply)
            except OSError as error:
                LOG.debug("a visitor left: %s", error)
