"""What every request has to pass before it is read: its host, its origin, its size, its time, and who sent it."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

import msgspec
from ovos_utils.log import LOG

from ovos_persona_memory.web.access import Access, MustWait

Message = MutableMapping[str, Any]
ASGI = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]

COOKIE = "persona_memory"
OPEN_TO_ALL = ("/healthz", "/enter", "/static/")
"""Paths, and beginnings of paths that end in a slash, for which nobody has to be let in."""
MAX_BODY = 64 * 1024
"""Bytes of a request's body at most."""
MAX_FILE = 32 * 1024 * 1024
"""Bytes of a file to be taken in at most."""
FILES = ("/move/import",)
"""Paths that take files."""
BODY_WITHIN_S = 20.0
"""How long the next part of a body is waited for, seconds."""
DRAINED, DRAIN_S = 1024 * 1024, 2.0
"""So much of a body that is too large is read before it is refused: bytes, and seconds."""
SAFE = ("GET", "HEAD", "OPTIONS")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


class Refused(Exception):
    """A request that goes no further."""

    def __init__(self, status: int, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.wait_s = status, reason, wait_s


class Guard:
    """An ASGI application in front of another one."""

    def __init__(self, app: ASGI, access: Access, names: Iterable[str]) -> None:
        self._app = app
        self._access = access
        self._names = {"localhost", *(name.lower() for name in names)}

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        """Pass a request on, or answer why not."""
        if scope["type"] != "http":
            return
        headers = _headers(scope)
        answering = _WithHeaders(send, cached=scope["path"].startswith("/static/"))
        try:
            self._check(scope, headers)
            reading = _Bounded(receive, _limit(scope["path"]), headers.get("content-length"))
            await self._app(scope, reading, answering)
        except Refused as refused:
            if refused.status == 413:
                await _drain(receive)
            if not answering.begun:
                await _answer(answering, refused, scope)
        except Exception:  # whatever a request does, the others are answered
            LOG.exception("a request to the owner's page failed")
            if not answering.begun:
                await _answer(answering, Refused(500, "That failed inside."), scope)

    def _check(self, scope: Message, headers: dict[str, str]) -> None:
        if not self._is_own_name(headers.get("host", "")):
            raise Refused(421, "This page is not known by that name; the setting web.names lists names for it.")
        is_open = any(_under(scope["path"], one) for one in OPEN_TO_ALL)
        if self._has_token(scope, headers):
            return
        if not (is_open or self._access.is_in(cookie_of(headers))):
            raise Refused(401, "Open the link that the command ovos-persona-memory web gives you.")
        _check_origin(scope, headers)

    def _is_own_name(self, host: str) -> bool:
        """Whether a Host header names this page: with a name of somebody else's a page of theirs could read this one
        (DNS rebinding), and an address in digits cannot be rebound."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() and host.rpartition(":")[0] else host
        if name.lower().rstrip(".") in self._names:
            return True
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True

    def _has_token(self, scope: Message, headers: dict[str, str]) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return False
        try:
            if self._access.is_token(given.strip(), peer_of(scope)):
                return True
        except MustWait as wait:
            raise Refused(429, "Too many wrong tokens came from there.", wait.wait_s) from None
        raise Refused(401, "This is not the token.")


def peer_of(scope: Message) -> str:
    """The address that a request comes from."""
    return str((scope.get("client") or ("",))[0])


def cookie_of(headers: dict[str, str]) -> str:
    """The cookie of a browser that was let in; empty where there is none."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _headers(scope: Message) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _check_origin(scope: Message, headers: dict[str, str]) -> None:
    """Refuse what another site sends with the browser's cookie: what is to change something has to name this page as
    its origin, and what is only read by another site has to be a page that somebody opens."""
    fetched_by = headers.get("sec-fetch-site", "")
    if scope["method"] in SAFE:
        if fetched_by in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate":
            raise Refused(403, "Another site asked for this.")
        return
    # behind a proxy of the owner's with TLS the browser says https
    own = {f"{kind}://{headers.get('host', '').lower()}" for kind in ("http", "https")}
    if headers.get("origin", "").lower() not in own or fetched_by not in ("", "same-origin"):
        raise Refused(403, "This did not come from the page itself.")


def _under(path: str, place: str) -> bool:
    return path.startswith(place) if place.endswith("/") else path == place


def _limit(path: str) -> int:
    return MAX_FILE if path in FILES else MAX_BODY


class _Bounded:
    """What is received, up to a size and without long pauses."""

    def __init__(self, receive: Any, limit: int, announced: str | None) -> None:
        self._receive, self._left = receive, limit
        self._is_whole = False
        if announced is not None and (not announced.isdecimal() or int(announced) > limit):
            raise _too_large(limit)

    async def __call__(self) -> Message:
        if self._is_whole:  # then only a goodbye is waited for, and that may take long
            left: Message = await self._receive()
            return left
        try:
            message: Message = await asyncio.wait_for(self._receive(), BODY_WITHIN_S)
        except asyncio.TimeoutError:
            raise Refused(408, "The request did not come to its end.") from None
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise _too_large(None)
        self._is_whole = message["type"] == "http.request" and not message.get("more_body", False)
        return message


async def _drain(receive: Any) -> None:
    """Read a little of what is too much: who is still sending when the connection closes never sees the answer."""
    left, until = DRAINED, asyncio.get_running_loop().time() + DRAIN_S
    while left > 0 and (wait_s := until - asyncio.get_running_loop().time()) > 0:
        try:
            message = await asyncio.wait_for(receive(), wait_s)
        except asyncio.TimeoutError:
            return
        left -= len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


def _too_large(limit: int | None) -> Refused:
    return Refused(413, "That is too much." if limit is None else f"That is too much: at most {limit} bytes.")


class _WithHeaders:
    """What is sent, with the headers that every answer has."""

    def __init__(self, send: Any, cached: bool) -> None:
        self._send, self._cached = send, cached
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            kept = b"private, max-age=86400" if self._cached else b"no-store"
            named = {name for name, _ in message["headers"]}
            added = [one for one in (*HEADERS, (b"cache-control", kept)) if one[0] not in named]
            message["headers"] = [*message["headers"], *added]
        await self._send(message)


async def _answer(send: Any, refused: Refused, scope: Message) -> None:
    """Say why: to a browser that wants a page where it can be let in, to a program as an answer of the API."""
    wants_page = refused.status == 401 and not scope["path"].startswith("/api") and scope["method"] == "GET"
    headers = [(b"connection", b"close")] if refused.status in (408, 413) else []
    if refused.wait_s is not None:
        headers.append((b"retry-after", str(int(refused.wait_s) + 1).encode()))
    if wants_page:
        await send({"type": "http.response.start", "status": 303, "headers": [*headers, (b"location", b"/enter")]})
        await send({"type": "http.response.body", "body": b""})
        return
    if refused.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    body = _refusal(refused)
    headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _refusal(refused: Refused) -> bytes:
    return msgspec.json.encode({"ok": False, "error": "not_allowed", "reason": refused.reason})
