"""What a request has to pass: its name for the page, its origin, its size, its token."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ovos_persona_memory.web import guard
from ovos_persona_memory.web.access import Access, token_of
from ovos_persona_memory.web.guard import Guard

HOST = "127.0.0.1:8188"
OWN = f"http://{HOST}"


class Page:
    """A page behind a guard: what reached it, and what was answered."""

    def __init__(self, folder: Path) -> None:
        self.access = Access(folder, lambda: 1000.0)
        self.token = token_of(folder)
        self.cookie = f"{guard.COOKIE}={self.access.let_in()}"
        self.bodies: list[bytes] = []
        self._guard = Guard(self._app, self.access, ["memory.lan"])

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.bodies.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    def ask(self, method: str, path: str, body: Sequence[bytes] = (b"",), **headers: str) -> tuple[int, dict[str, str]]:
        """Status and headers of the answer; headers by name, with _ for -."""
        named = {"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "client": ("127.0.0.1", 5),
            "headers": [(name.encode(), value.encode()) for name, value in named.items() if value],
        }
        parts = [
            {"type": "http.request", "body": part, "more_body": number < len(body)}
            for number, part in enumerate(body, 1)
        ]
        sent: list[Mapping[str, Any]] = []

        async def receive() -> Any:
            return parts.pop(0) if parts else {"type": "http.disconnect"}

        async def send(message: Mapping[str, Any]) -> None:
            sent.append(message)

        asyncio.run(self._guard(scope, receive, send))
        assert [one["type"] for one in sent] == ["http.response.start", "http.response.body"]
        return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path)


def test_nobody_comes_in_without_being_let_in(page: Page) -> None:
    assert page.ask("GET", "/")[0] == 303
    assert page.ask("GET", "/")[1]["location"] == "/enter"
    assert page.ask("GET", "/", cookie=f"{guard.COOKIE}=guess")[0] == 303
    assert page.ask("POST", "/forget", origin=OWN)[0] == 401
    assert page.ask("POST", "/api/status")[0] == 401
    assert page.ask("POST", "/api/status", origin=OWN)[0] == 401
    assert page.bodies == []
    assert page.ask("GET", "/", cookie=page.cookie)[0] == 200
    assert page.ask("POST", "/api/status", authorization=f"Bearer {page.token}")[0] == 200


@pytest.mark.parametrize("path", ["/healthz", "/enter", "/static/page.css"])
def test_what_is_open_is_open(page: Page, path: str) -> None:
    assert page.ask("GET", path)[0] == 200


@pytest.mark.parametrize("path", ["/healthz/", "/enterx", "/static", "/staticx/page.css", "/ENTER"])
def test_what_only_looks_open_is_not(page: Page, path: str) -> None:
    assert page.ask("GET", path)[0] in (303, 401)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example:8188", "localhost.evil.example", "", "evil.example:80", "@", "[::1"],
)
def test_a_page_is_not_known_by_somebody_elses_name(page: Page, host: str) -> None:
    assert page.ask("GET", "/", cookie=page.cookie, host=host)[0] == 421


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8188", "localhost:8188", "LOCALHOST", "[::1]:8188", "192.168.1.7:8188", "memory.lan", "Memory.LAN:80"],
)
def test_a_page_is_known_by_addresses_and_its_own_names(page: Page, host: str) -> None:
    assert page.ask("GET", "/", cookie=page.cookie, host=host)[0] == 200


@pytest.mark.parametrize("origin", ["", "null", "http://evil.example", "http://127.0.0.1:9999", f"{OWN}.evil.example"])
def test_no_other_site_changes_anything(page: Page, origin: str) -> None:
    assert page.ask("POST", "/forget", cookie=page.cookie, origin=origin)[0] == 403
    assert page.bodies == []


def test_the_page_itself_changes_something(page: Page) -> None:
    assert page.ask("POST", "/forget", [b"way=hour"], cookie=page.cookie, origin=OWN)[0] == 200
    assert page.ask("POST", "/forget", cookie=page.cookie, origin=OWN, sec_fetch_site="cross-site")[0] == 403
    assert page.bodies == [b"way=hour"]


def test_no_other_site_reads_anything(page: Page) -> None:
    foreign = {"cookie": page.cookie, "sec_fetch_site": "cross-site"}
    assert page.ask("GET", "/live", **foreign, sec_fetch_mode="cors")[0] == 403
    assert page.ask("GET", "/", **foreign, sec_fetch_mode="navigate")[0] == 200


def test_too_much_is_refused_before_and_while_it_is_read(page: Page) -> None:
    signed = {"cookie": page.cookie, "origin": OWN}
    half = b"x" * (guard.MAX_BODY // 2 + 1)
    assert page.ask("POST", "/forget", content_length=str(guard.MAX_BODY + 1), **signed)[0] == 413
    assert page.ask("POST", "/forget", content_length="-5", **signed)[0] == 413
    assert page.ask("POST", "/forget", [half, half], **signed)[0] == 413
    assert page.bodies == []
    assert page.ask("POST", "/move/import", [half, half], **signed)[0] == 200


def test_who_is_slow_is_let_go(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_WITHIN_S", 0.01)

    async def never() -> Any:
        await asyncio.Event().wait()

    bounded = guard._Bounded(never, 10, None)
    with pytest.raises(guard.Refused) as refused:
        asyncio.run(bounded())
    assert refused.value.status == 408


def test_wrong_tokens_have_to_wait_and_browsers_do_not(page: Page) -> None:
    statuses = [page.ask("POST", "/api/status", authorization=f"Bearer {n}")[0] for n in range(8)]
    assert statuses == [401] * 5 + [429] * 3
    status, headers = page.ask("POST", "/api/status", authorization=f"Bearer {page.token}")
    assert (status, headers["retry-after"]) == (429, "2")
    assert page.ask("GET", "/", cookie=page.cookie)[0] == 200


def test_every_answer_forbids_what_a_page_does_not_need(page: Page) -> None:
    for status, headers in (page.ask("GET", "/", cookie=page.cookie), page.ask("GET", "/", host="evil.example")):
        assert status in (200, 421)
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_a_request_that_fails_inside_is_answered(page: Page) -> None:
    async def broken(*_: Any) -> None:
        raise ZeroDivisionError

    page._guard = Guard(broken, page.access, ())
    assert page.ask("GET", "/healthz")[0] == 500
