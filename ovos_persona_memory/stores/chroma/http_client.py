"""HTTP client of a Chroma server: short timeouts, and a pause after a request that was not answered."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.stores.base.vector_backend import VectorBackendAway

QUESTION_S, CHANGE_S, WORK_S = 0.5, 2.0, 20.0
"""Timeouts, seconds: where a person waits, after a change, and in the background."""
AGAIN_S = 2.0
"""Pause after a request that was not answered, seconds, so that no caller waits twice."""
PORTS = {"http": 8000, "https": 443}
OTHER, NOT_FOUND = 300, 404


class CollectionMissing(VectorBackendAway):
    """A collection that was there is gone."""


@dataclass(frozen=True)
class ChromaSettings:
    """Address of a Chroma server of version 1."""

    host: str
    port: int
    path: str
    """The path before /api, where the server stands behind another one."""
    secure: bool
    space: str
    """Tenant and database, as path segments."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Authentication headers."""


def settings_of(url: str) -> ChromaSettings:
    """The settings in a URL, http://user:password@host:8000/path?tenant=…&database=…; a password alone is a token.

    ConfigError, without the URL, where it cannot be read.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in PORTS or not parts.hostname:
        raise ConfigError(
            "the chroma backend needs a connection such as http://host:8000 or the absolute path of a folder"
        )
    asked = parse_qs(parts.query)
    tenant, database = (asked.get(name, [f"default_{name}"])[0] for name in ("tenant", "database"))
    headers = _headers(unquote(parts.username or ""), unquote(parts.password or ""))
    space = f"/api/v2/tenants/{tenant}/databases/{database}/collections"
    secure = parts.scheme == "https"
    return ChromaSettings(parts.hostname, port or PORTS[parts.scheme], parts.path.rstrip("/"), secure, space, headers)


def _headers(user: str, password: str) -> dict[str, str]:
    if user:
        return {"Authorization": f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"}
    return {"Authorization": f"Bearer {password}", "X-Chroma-Token": password} if password else {}


class ChromaServer:
    """Requests to one server. Thread-safe: the lock guards idle connections and the pause."""

    def __init__(self, settings: ChromaSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock = settings, clock
        self._lock = threading.Lock()
        self._idle: list[HTTPConnection] = []
        self._away_until: float | None = None
        self.problem: str | None = None
        """Why the server cannot be used; None as far as is known."""

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def check(self) -> None:
        """VectorBackendAway where the server does not answer."""
        self._request("GET", f"{self._settings.path}/api/v2/heartbeat", None, CHANGE_S)

    def ask(self, method: str, path: str, body: object = None, within_s: float = QUESTION_S) -> Any:
        """The reply on a path below the collections; CollectionMissing where there is none, VectorBackendAway where the
        server does not answer, or not well. During the pause after that it is not asked at all."""
        with self._lock:
            left_alone = self._away_until is not None and self._clock() < self._away_until
        if left_alone:
            raise VectorBackendAway(self.problem)
        return self._request(method, f"{self._settings.path}{self._settings.space}{path}", body, within_s)

    def _request(self, method: str, path: str, body: object, within_s: float) -> Any:
        try:
            status, answer = self._sent(method, path, msgspec.json.encode(body) if body is not None else None, within_s)
            decoded = msgspec.json.decode(answer) if status < OTHER and answer else None
        except (OSError, HTTPException, msgspec.DecodeError) as error:
            raise self._away(str(error) or type(error).__name__) from error
        if status == NOT_FOUND:
            raise CollectionMissing(f"{self.name}: the collection is gone")
        if status >= OTHER:
            raise self._away(f"it answers {status}")
        with self._lock:
            self.problem = self._away_until = None
        return decoded

    def _sent(self, method: str, path: str, body: bytes | None, within_s: float) -> tuple[int, bytes]:
        with self._lock:
            known = self._idle.pop() if self._idle else None
        if known is not None:
            # the server may have closed an idle connection; a timeout is another matter
            with suppress(ConnectionError, HTTPException):
                return self._over(known, method, path, body, within_s)
        return self._over(self._connection(), method, path, body, within_s)

    def _connection(self) -> HTTPConnection:
        made = HTTPSConnection if self._settings.secure else HTTPConnection
        return made(self._settings.host, self._settings.port)

    def _over(
        self, connection: HTTPConnection, method: str, path: str, body: bytes | None, within_s: float
    ) -> tuple[int, bytes]:
        connection.timeout = within_s
        if connection.sock is not None:
            connection.sock.settimeout(within_s)
        headers = {"Content-Type": "application/json", **self._settings.headers}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            found = answer.status, answer.read()
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._idle.append(connection)
        return found

    @property
    def name(self) -> str:
        """Address for people, without secrets."""
        return f"Chroma at {self._settings.host}:{self._settings.port}"

    def _away(self, why: str) -> VectorBackendAway:
        with self._lock:
            self.problem = f"{self.name} cannot be used ({why})"
            self._away_until = self._clock() + AGAIN_S
        return VectorBackendAway(self.problem)
