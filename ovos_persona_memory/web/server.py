"""The page's server: a thread of the daemon with a loop of its own, which the bus never waits for."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ovos_utils.log import LOG

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.protocol import LocalTransport
from ovos_persona_memory.web.backups import BackupService
from ovos_persona_memory.web.network import is_loopback, url_of

if TYPE_CHECKING:
    from ovos_persona_memory.web.app import App
    from ovos_persona_memory.web.connection import Server

MOST_CONNECTIONS = 512
STOP_WITHIN_S = 2.0

Put = Callable[[bytes, Callable[[bytes], None]], None]
"""Hands a request to the daemon, with the way back."""


class PageServer:
    """Serves the owner's page of a daemon. A page that cannot be served is logged; the daemon goes on."""

    def __init__(self, config: MemoryConfig, put: Put, backups: BackupService | None = None) -> None:
        """``backups``: None where the memory cannot be backed up from here."""
        self._config, self._backups = config, backups
        self._transport = LocalTransport(put)
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)
        self._server: Server | None = None
        self._app: App | None = None
        self._ended = False
        self.url: str | None = None
        """Where it is served; None while it is not."""

    def start(self) -> None:
        """Start; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End it."""
        self._ended = True
        if self._app is not None:
            self._app.stop()
        if self._server is not None:
            self._server.end()
        if self._thread.ident is not None:
            self._thread.join(STOP_WITHIN_S)

    def told(self, frame: bytes) -> None:
        """An event that the daemon tells everybody. Thread-safe."""
        if self._app is not None:
            self._app.live.told(frame)

    def _run(self) -> None:
        try:
            with self._listening() as listening:
                self.url = url_of(self._config.web.host, listening.getsockname()[1])
                asyncio.run(self._serve(listening))
        except OSError as error:
            LOG.error("the owner's page cannot be served at port %s: %s", self._config.web.port, error)
        except Exception:  # whatever its libraries do, the daemon goes on
            LOG.exception("the owner's page ended")
        finally:
            self.url = None

    def _listening(self) -> socket.socket:
        host = self._config.web.host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, self._config.web.port), family=family, backlog=128)
        # inherited by its connections: asyncio sets it only where the socket was made with proto=IPPROTO_TCP, and an
        # answer on a connection that was used before came 40 ms late (measured 2026-11-29)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening

    async def _serve(self, listening: socket.socket) -> None:
        import uvicorn  # costs 0.2 s: not before the page is wanted

        from ovos_persona_memory.web.app import App
        from ovos_persona_memory.web.connection import Connection, Server

        self._app = App(self._config, self._transport, time.time, self._backups)
        settings: dict[str, Any] = {"lifespan": "off", "ws": "none", "log_config": None, "access_log": False}
        settings |= {"server_header": False, "date_header": False, "proxy_headers": False, "loop": "asyncio"}
        settings |= {"limit_concurrency": MOST_CONNECTIONS, "timeout_graceful_shutdown": 1, "log_level": "critical"}
        self._server = Server(uvicorn.Config(self._app.guarded, http=Connection, **settings))
        self._app.start(asyncio.get_running_loop())
        if not is_loopback(self._config.web.host):
            LOG.warning("the owner's page is served at %s, where there is no TLS", self.url)
        if not self._ended:
            await self._server.serve(sockets=[listening])
