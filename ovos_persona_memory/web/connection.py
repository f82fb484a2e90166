"""The HTTP server: asleep while nobody asks, and with connections that do not wait forever for a request's head."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_WITHIN_S = 10.0
"""A connection over which no request has come within this time is closed, seconds."""


class Connection(H11Protocol):
    """As uvicorn's, which sets a limit only between two requests."""

    def connection_made(self, transport: Any) -> None:
        """See asyncio.Protocol."""
        super().connection_made(transport)
        self._late = asyncio.get_running_loop().call_later(HEAD_WITHIN_S, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.Protocol."""
        self._late.cancel()
        super().connection_lost(exc)

    def _close_if_silent(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """As uvicorn's, which wakes up ten times a second to see whether it is to end. To be made in its loop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._loop = asyncio.get_running_loop()
        self._is_over = asyncio.Event()

    async def main_loop(self) -> None:
        """See uvicorn.Server."""
        await self._is_over.wait()

    def end(self) -> None:
        """End it. Thread-safe."""
        self.should_exit = True
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._is_over.set)
