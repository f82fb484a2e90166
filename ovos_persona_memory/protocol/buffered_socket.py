"""A connected socket of which as much is read at a time as has come."""

from __future__ import annotations

import socket
from typing import Any

from websocket import WebSocketApp

CHUNK = 65536
"""Bytes asked of the kernel at a time."""
_QUICKACK = getattr(socket, "TCP_QUICKACK", None)


class BufferedSocket:
    """Stands for a socket: reads from the kernel in large pieces, and has each acknowledged at once.

    A websocket is read two bytes here and four there; each such call gives the interpreter away, and
    gets it back late from a thread that has work. For one reading thread.
    """

    def __init__(self, connected: Any) -> None:
        self._socket = connected
        self._ahead = b""
        self._at = 0
        self.acknowledge_quickly()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def recv(self, size: int) -> bytes:
        """At most so many bytes, as socket.recv; empty when the other side has closed."""
        if self._at == len(self._ahead):
            self._ahead, self._at = self._socket.recv(CHUNK), 0
            self.acknowledge_quickly()
        part: bytes = self._ahead[self._at : self._at + size]
        self._at += len(part)
        return part

    def pending(self) -> int:
        """How many bytes can be had without asking the kernel."""
        own = len(self._ahead) - self._at
        return own or (self._socket.pending() if hasattr(self._socket, "pending") else 0)

    def acknowledge_quickly(self) -> None:
        """Without this a request that closely follows other messages takes 44 ms: the bus's Nagle waits for our
        delayed ACK. The option does not stick, so it is set at every piece.
        """
        if _QUICKACK is None:
            return
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
        except OSError:
            return  # the connection is closing


class ReadAheadApp(WebSocketApp):
    """A websocket whose loop asks what is ``pending`` before it waits for more."""

    def create_dispatcher(self, ping_timeout: Any, dispatcher: Any = None, is_ssl: bool = False, *rest: Any) -> Any:
        """The loop for sockets that may hold bytes back, as those with encryption do."""
        return super().create_dispatcher(ping_timeout, dispatcher, True, *rest)
