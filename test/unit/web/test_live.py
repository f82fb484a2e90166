"""What happens is told to every open page, with one look at the memory for each language."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from ovos_persona_memory.protocol import messages, topics
from ovos_persona_memory.web import live
from ovos_persona_memory.web.live import Live


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "GATHER_S", 0.01)


class Room:
    """A hub whose rendering is counted."""

    def __init__(self) -> None:
        self.rendered: list[tuple[str, list[str]]] = []
        self.live = Live(self._render, self._at_once)
        self.live.loop = asyncio.get_running_loop()

    def _render(self, tag: str, ids: Sequence[str]) -> str:
        self.rendered.append((tag, list(ids)))
        return f"{tag}: {' '.join(ids)}"

    def _at_once(self, do: Callable[..., str], *given: Any) -> asyncio.Future[str]:
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        done.set_result(do(*given))
        return done

    async def viewer(self, tag: str) -> Any:
        """A page that watches."""
        watching = self.live.watch(tag)
        assert (await anext(watching)).startswith(b"retry:")
        return watching


def recorded(*ids: str) -> bytes:
    return messages.frame(topics.RECORDED, {"ids": list(ids)})


def read(event: bytes) -> tuple[str, Any]:
    name, data = event.decode().strip().split("\n")
    return name.removeprefix("event: "), msgspec.json.decode(data.removeprefix("data: "))


def test_what_comes_together_is_shown_together_and_rendered_once_a_language() -> None:
    async def run() -> None:
        room = Room()
        pages = [await room.viewer(tag) for tag in ("en-US", "en-US", "de-DE")]
        room.live.told(recorded("a"))
        room.live.told(recorded("b", "c"))
        told = [read(await asyncio.wait_for(anext(page), 5)) for page in pages]
        assert told[0] == told[1] == ("recorded", {"html": "en-US: a b c", "number": 3})
        assert told[2] == ("recorded", {"html": "de-DE: a b c", "number": 3})
        assert sorted(room.rendered) == [("de-DE", ["a", "b", "c"]), ("en-US", ["a", "b", "c"])]

    asyncio.run(run())


def test_where_nobody_watches_nothing_is_looked_at() -> None:
    async def run() -> None:
        room = Room()
        room.live.told(recorded("a"))
        await asyncio.sleep(0.05)
        assert room.rendered == []

    asyncio.run(run())


def test_every_page_hears_that_something_was_forgotten_and_of_no_other_event() -> None:
    async def run() -> None:
        room = Room()
        page = await room.viewer("en-US")
        room.live.told(messages.frame(topics.CAPTURED, {"write": False}))
        room.live.told(messages.frame(topics.FORGOTTEN, {"forgotten": 3}))
        assert read(await asyncio.wait_for(anext(page), 5)) == ("forgotten", {})
        assert room.rendered == []

    asyncio.run(run())


def test_a_page_that_does_not_read_is_let_go_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "MOST_WAITING", 1)

    async def run() -> None:
        room = Room()
        slow, quick = await room.viewer("en-US"), await room.viewer("en-US")
        for number in range(4):
            room.live.told(recorded(str(number)))
            assert read(await asyncio.wait_for(anext(quick), 5))[1]["html"] == f"en-US: {number}"
        assert len(room.live._viewers) == 1
        await slow.aclose()

    asyncio.run(run())


def test_a_page_that_leaves_is_forgotten_and_all_are_let_go_at_the_end() -> None:
    async def run() -> None:
        room = Room()
        one, other = await room.viewer("en-US"), await room.viewer("en-US")
        await one.aclose()
        assert len(room.live._viewers) == 1
        room.live.close()
        with pytest.raises(StopAsyncIteration):
            await asyncio.wait_for(anext(other), 5)

    asyncio.run(run())
