"""What happens now, told to every open page: one look at the memory and one text a language, however many watch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress

import msgspec

from ovos_persona_memory.protocol import messages, topics

GATHER_S = 0.4
"""What is told within this time after the first is shown together, seconds: whoever answers now comes first."""
BEAT_S = 20.0
"""An idle connection gets a sign of life so often, seconds."""
MOST_VIEWERS = 200
MOST_WAITING = 20
"""Messages that wait for a slow page at most; then it is let go, and comes back by itself."""
MOST_TOLD = 50
"""Turns that are shown at once at most."""

Render = Callable[[str, Sequence[str]], str]
"""From a language and the ids of turns to the text that shows them."""
_EVENTS = {topics.RECORDED: "recorded", topics.FORGOTTEN: "forgotten"}


class Live:
    """The open pages. For the page's own loop, but for ``told``."""

    def __init__(self, render: Render, on_thread: Callable[..., asyncio.Future[str]]) -> None:
        """``on_thread``: runs a function on another thread."""
        self._render, self._on_thread = render, on_thread
        self._viewers: dict[asyncio.Queue[bytes | None], str] = {}
        """Of each page what waits for it, and its language."""
        self._ids: list[str] = []
        self._is_shorter = False
        """Whether something was forgotten that pages may still show."""
        self._task: asyncio.Task[None] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def told(self, frame: bytes) -> None:
        """An event that the daemon told everybody. Thread-safe; costs nothing where nobody watches."""
        if self._viewers and self.loop is not None:
            with suppress(RuntimeError):  # the loop ended meanwhile
                self.loop.call_soon_threadsafe(self._heard, frame)

    async def watch(self, tag: str) -> AsyncIterator[bytes]:
        """What one page is sent, until it leaves: text/event-stream."""
        if len(self._viewers) >= MOST_VIEWERS:
            yield b"retry: 60000\n\n"
            return
        waiting: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_WAITING)
        self._viewers[waiting] = tag
        try:
            yield b"retry: 3000\n: hello\n\n"
            while True:
                try:
                    told = await asyncio.wait_for(waiting.get(), BEAT_S)
                except asyncio.TimeoutError:
                    yield b": beat\n\n"
                    continue
                if told is None:
                    return
                yield told
        finally:
            self._viewers.pop(waiting, None)

    def close(self) -> None:
        """Let every page go."""
        for waiting in self._viewers:
            with suppress(asyncio.QueueFull):
                waiting.put_nowait(None)

    def _heard(self, frame: bytes) -> None:
        topic, ids = messages.told_ids(frame)
        kind = _EVENTS.get(topic)
        if kind == "recorded":
            self._ids += ids
        elif kind == "forgotten":
            self._is_shorter = True
        if kind is not None and self._task is None:
            self._task = asyncio.ensure_future(self._tell())

    async def _tell(self) -> None:
        try:
            while self._ids or self._is_shorter:
                await asyncio.sleep(GATHER_S)
                ids, self._ids = self._ids[-MOST_TOLD:], []
                shorter, self._is_shorter = self._is_shorter, False
                if ids:
                    await self._tell_turns(ids)
                if shorter:
                    self._send(_event("forgotten", {}), None)
        finally:
            self._task = None

    async def _tell_turns(self, ids: Sequence[str]) -> None:
        for tag in set(self._viewers.values()):
            if text := await self._on_thread(self._render, tag, ids):
                self._send(_event("recorded", {"html": text, "number": len(ids)}), tag)

    def _send(self, event: bytes, tag: str | None) -> None:
        for waiting, spoken in list(self._viewers.items()):
            if tag in (None, spoken):
                try:
                    waiting.put_nowait(event)
                except asyncio.QueueFull:
                    del self._viewers[waiting]


def _event(name: str, data: object) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))
