"""The page as an application: its addresses, and how a visit is read and answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

import anyio
from anyio.to_thread import run_sync
from ovos_utils.log import LOG
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, Router

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import (
    InvalidRequest,
    NoAnswer,
    NotAllowed,
    PersonaMemoryError,
    StoreError,
    UnknownEntry,
)
from ovos_persona_memory.protocol import LocalTransport
from ovos_persona_memory.web import api, pages, texts
from ovos_persona_memory.web.backups import BackupService
from ovos_persona_memory.web.guard import Guard
from ovos_persona_memory.web.live import Live
from ovos_persona_memory.web.shared import ASSETS, Shared
from ovos_persona_memory.web.texts import Texts
from ovos_persona_memory.web.visit import View, Visit, form_of, query_of

THREADS = 6
"""Visits that are answered at a time; the memory answers one after the other anyway."""


_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class App:
    """The page, to be served."""

    def __init__(
        self,
        config: MemoryConfig,
        transport: LocalTransport,
        clock: Callable[[], float],
        backups: BackupService | None = None,
    ) -> None:
        self._shared = Shared(config, transport, clock, backups)
        self._threads = anyio.CapacityLimiter(THREADS)
        self.live = Live(self._render_live, self._on_thread)
        router = Router(self._routes(), redirect_slashes=False, default=self._viewed_nowhere)
        self.guarded = Guard(router, self._shared.access, config.web.names)
        """What is to be served."""

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to serve, in this loop."""
        self.live.loop = loop
        self._shared.going.start()

    def stop(self) -> None:
        """Let all pages go. Thread-safe."""
        self._shared.going.stop()
        if self.live.loop is not None and self.live.loop.is_running():
            self.live.loop.call_soon_threadsafe(self.live.close)

    def _render_live(self, tag: str, ids: Sequence[str]) -> str:
        talks = pages.timeline.talks_of_ids(self._shared.memory, ids)
        made = self._shared.templates.get_template("talks.html")
        return made.render(**self._shared.words(Texts(tag)), talks=talks) if talks else ""

    def _on_thread(self, do: Callable[..., str], *given: Any) -> asyncio.Future[str]:
        return asyncio.ensure_future(run_sync(do, *given, limiter=self._threads))

    # addresses

    def _routes(self) -> list[Route]:
        every = (*pages.ADDRESSES, *api.ADDRESSES)
        found: list[Route] = [Route(path, self._viewed(view), methods=[method]) for method, path, view in every]
        found.append(Route("/static/{name:path}", self._asset, methods=["GET"]))
        found.append(Route("/healthz", self._healthz, methods=["GET"]))
        found.append(Route("/live", self._watched, methods=["GET"]))
        return found

    async def _asset(self, request: Request) -> Response:
        # files are known by their names: no path is ever made of what somebody asks for
        path = ASSETS.get(request.path_params["name"])
        return (
            PlainTextResponse("", 404) if path is None else Response(path.read_bytes(), media_type=_KINDS[path.suffix])
        )

    async def _healthz(self, _: Request) -> Response:
        return JSONResponse({"ok": True})

    async def _watched(self, request: Request) -> Response:
        visit = await self._visit(request)
        return StreamingResponse(self.live.watch(visit.texts.tag), media_type="text/event-stream")

    async def _viewed_nowhere(self, scope: Any, receive: Any, send: Any) -> None:
        visit = await self._visit(Request(scope, receive))
        answer = await run_sync(self._answer, _nowhere, visit, limiter=self._threads)
        await answer(scope, receive, send)

    def _viewed(self, view: View) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                visit = await self._visit(request)
            except ValueError:
                return PlainTextResponse("This cannot be read.", 400)
            return await run_sync(self._answer, view, visit, limiter=self._threads)

        return endpoint

    async def _visit(self, request: Request) -> Visit:
        body = await request.body()
        headers = {name.lower(): value for name, value in request.headers.items()}
        cookies = _cookies(headers.get("cookie", ""))
        query = query_of(request.url.query)
        # a part of a page speaks as the page does in which it is put
        around = query_of(urlsplit(headers.get("hx-current-url", "")).query)
        return Visit(
            app=self._shared,
            method=request.method,
            path=request.url.path,
            query=query,
            headers=headers,
            cookies=cookies,
            texts=texts.chosen(
                query.get("lang") or around.get("lang") or cookies.get("lang"), headers.get("accept-language", "")
            ),
            places=dict(request.path_params),
            form=form_of(headers.get("content-type", ""), body),
            body=body,
            peer=request.client.host if request.client else "",
        )

    def _answer(self, view: View, visit: Visit) -> Response:
        try:
            return view(visit)
        except PersonaMemoryError as refused:
            error, status = refused, _status_of(refused)
        except Exception:  # whatever a visit does, the page goes on
            LOG.exception("a page failed")
            error, status = PersonaMemoryError(), 500
        if visit.path.startswith("/api/"):
            return api.refusal(error, status)
        if visit.is_part:
            return visit.part("problem.html", status, reason=error.reason)
        return visit.page("error.html", status, reason=error.reason)


def _nowhere(visit: Visit) -> Response:
    raise UnknownEntry(visit.texts("gone_already"))


def _status_of(error: PersonaMemoryError) -> int:
    kinds = ((InvalidRequest, 400), (NotAllowed, 403), (UnknownEntry, 404), (NoAnswer, 503), (StoreError, 503))
    return next((status for kind, status in kinds if isinstance(error, kind)), 422)


def _cookies(header: str) -> dict[str, str]:
    try:
        return {name: held.value for name, held in SimpleCookie(header).items()}
    except CookieError:
        return {}
