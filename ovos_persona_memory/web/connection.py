"""A connection of the server that does not wait forever for the head of a request."""

from __future__ import annotations

import asyncio
from typing import Any

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
