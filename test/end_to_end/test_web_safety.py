"""Attacks on the owner's page get nothing and stop nothing: the page and the daemon answer on."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.servers.ports import free_port

from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import ContextRequest, Scope, Turn

from .conftest import Daemon, wait_until, write_settings

pytest.importorskip("uvicorn", reason="the extra web is not installed")
pytest.importorskip("starlette", reason="the extra web is not installed")

SECRET = "the velvet curtain hides a door"
EVERYTHING = {
    "GET": ("/", "/known", "/review", "/preview", "/remembering", "/forget", "/move", "/health", "/api", "/live",
            "/going", "/people", "/move/backup/x", "/known/x", "/move/export.jsonl", "/move/export.md",
            "/health/figures", "/health/audit", "/api/openapi.json", "/nothing"),
    "POST": ("/delete", "/undo/x", "/forget", "/review", "/remembering", "/known/add", "/known/edit", "/known/mark",
             "/known/join", "/move/import", "/move/backup", "/move/restore", "/people/merge", "/move/backup/delete",
             "/review/put-back", "/review/undo", "/looks", "/leave", "/api/recall", "/api/forget", "/api/status"),
}  # fmt: skip


@dataclass
class Served:
    """A page, its daemon's memory, and what lets in."""

    port: int
    memory: MemoryClient
    token: str
    process: Daemon

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, str]:
        """Status and text of one answer."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.putrequest(method, path, skip_host="host" in named, skip_accept_encoding=True)
            for name, value in named.items():
                connection.putheader(name, value)
            if "content-length" not in named:
                connection.putheader("content-length", str(len(body)))
            connection.endheaders(body or None)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def raw(self) -> socket.socket:
        """A connection over which anything can be sent."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def is_well(self) -> bool:
        """Whether page and daemon answer, and what was said is still there."""
        self.process.check()
        page, _ = self.ask("POST", "/api/status", authorization=f"Bearer {self.token}", content_type="application/json")
        return page == 200 and [turn.text for turn in self.memory.turns(Scope.everyone())] == [SECRET]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, bus_address: tuple[str, int]) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    port = free_port()
    write_settings(home, persona_memory={"announce": False, "web": {"port": port}})
    process = Daemon(home, home / "memory", bus_address)
    try:
        wait_until(process.is_ready, "the start of the daemon")
        with MemoryClient.over_door(process.data) as memory:
            memory.record([Turn("user", SECRET, lang="en-US")], Scope(session_id="s1"))
            made = Served(port, memory, "", process)
            wait_until(lambda: _answers(made), "the page")
            made.token = (process.data / "web.token").read_text().strip()
            yield made
    finally:
        process.end()


def _answers(served: Served) -> bool:
    try:
        return served.ask("GET", "/healthz")[0] == 200
    except OSError:
        return False


def cookie_of(served: Served) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    kind = {"content-type": "application/x-www-form-urlencoded", "origin": f"http://127.0.0.1:{served.port}"}
    connection.request("POST", "/enter", f"token={served.token}", kind)
    answer = connection.getresponse()
    assert answer.status == 303
    cookie = (answer.getheader("set-cookie") or "").split(";")[0]
    connection.close()
    return cookie


@pytest.mark.parametrize("cookie", ["", "persona_memory=guess", "persona_memory=", 'a=b; persona_memory="x', "\x01"])
def test_who_was_not_let_in_reads_and_changes_nothing(served: Served, cookie: str) -> None:
    origin = f"http://127.0.0.1:{served.port}"
    for path in EVERYTHING["GET"]:
        status, text = served.ask("GET", path, cookie=cookie)
        assert status in (303, 401), path
        assert "velvet" not in text
    for path in EVERYTHING["POST"]:
        status, text = served.ask("POST", path, b"way=everything&everything=true", cookie=cookie, origin=origin)
        assert status == 401, path
        assert "velvet" not in text
    assert served.is_well()


@pytest.mark.parametrize("origin", ["http://evil.example", "null", ""])
def test_another_site_changes_nothing_with_the_browsers_cookie(served: Served, origin: str) -> None:
    own = {"cookie": cookie_of(served), "content_type": "application/x-www-form-urlencoded"}
    own |= {"origin": origin} if origin else {}
    for path in EVERYTHING["POST"]:
        assert served.ask("POST", path, b"way=everything", **own)[0] == 403, path
    assert served.is_well()


def test_a_rebound_name_reads_nothing(served: Served) -> None:
    cookie = cookie_of(served)
    for host in ("evil.example", f"evil.example:{served.port}", f"127.0.0.1.evil.example:{served.port}", "[::1"):
        status, text = served.ask("GET", "/", cookie=cookie, host=host)
        assert status == 421
        assert "velvet" not in text
    assert served.ask("GET", "/", cookie=cookie, host=f"localhost:{served.port}")[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/static/../shared.py",
        "/static/..%2f..%2fsetup.py",
        "/static/%2e%2e/%2e%2e/access.py",
        "/static//etc/passwd",
        "/static/....//....//etc/passwd",
        "/static/..%5c..%5cshared.py",
        "/static/%00",
        "//etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/known/..%2f..%2fweb.token",
    ],
)
def test_no_path_leads_out_of_the_page(served: Served, path: str) -> None:
    status, text = served.ask("GET", path, cookie=cookie_of(served))
    assert status in (303, 400, 401, 404), path
    assert "root:" not in text
    assert "import annotations" not in text
    assert served.token not in text


def test_what_was_said_runs_nowhere(served: Served) -> None:
    attack = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg/onload=alert(3)>{{7777*7777}}"
    scope = Scope(session_id=f"s{attack}", user_id=f"u{attack}", persona_id=f"p{attack}", site_id=f"r{attack}")
    [id] = served.memory.record([Turn("user", attack, speaker=attack, lang="en-US")], scope)
    kept = served.memory.remember(attack, scope, f"k{attack}", lang="en-US")
    cookie = cookie_of(served)
    try:
        for path in ("/", "/known", "/remembering", "/move", "/forget?way=hour", "/preview?say=script", f"/known/{id}"):
            text = served.ask("GET", path, cookie=cookie)[1]
            for live in ("<script>alert", "<img src=x", "<svg/onload", "60481729"):
                assert live not in text.replace("/static/", ""), (path, live)
        text = served.ask(
            "GET", "/?q=%22%3E%3Cscript%3Ealert(9)&day=%22%3E%3Cscript%3E&session=%3Cscript%3E", cookie=cookie
        )[1]
        assert "<script>" not in text.replace('<script src="/static/', "")
    finally:
        served.memory.forget(Scope.everyone(), ids=[id, kept.id])
    assert served.is_well()


def test_a_notice_or_a_way_back_is_none_of_a_strangers(served: Served) -> None:
    own = {"cookie": cookie_of(served), "content_type": "application/x-www-form-urlencoded"}
    own |= {"origin": f"http://127.0.0.1:{served.port}"}
    for there in (
        b"http://evil.example",
        b"//evil.example",
        b"/\\evil.example",
        b"javascript:alert(1)",
        b"/%0d%0aSet-Cookie:a=b",
    ):
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        connection.request(
            "POST", "/looks", b"lang=en-US&theme=dark&back=" + there, {k.replace("_", "-"): v for k, v in own.items()}
        )
        answer = connection.getresponse()
        assert answer.status == 303
        assert answer.getheader("location") == "/", there
        connection.close()


def test_bodies_that_are_too_large_are_refused_early(served: Served) -> None:
    signed = {"authorization": f"Bearer {served.token}", "content_type": "application/json"}
    assert served.ask("POST", "/api/recall", content_length="99999999999", **signed)[0] == 413
    with contextlib.suppress(ConnectionError):  # it may be closed while it is still being sent
        assert served.ask("POST", "/api/recall", b"x" * 2_000_000, **signed)[0] == 413
    deep = b'{"question": ' + b"[" * 30000 + b"]" * 30000 + b"}"
    assert served.ask("POST", "/api/recall", deep, **signed)[0] == 400
    assert served.is_well()


def test_a_body_without_an_end_is_refused(served: Served) -> None:
    with served.raw() as connection:
        head = f"POST /api/recall HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {served.token}\r\n"
        connection.sendall(head.encode() + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        answered = b""
        with contextlib.suppress(OSError):
            for _ in range(100):
                connection.sendall(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
        with contextlib.suppress(OSError):
            answered = connection.recv(4096)
        assert answered.startswith(b"HTTP/1.1 413") or answered == b""
    assert served.is_well()


def test_a_thousand_wrong_tokens_get_nothing_and_stop_nobody(served: Served) -> None:
    cookie = cookie_of(served)
    statuses: dict[int, int] = {}
    for number in range(1000):
        status, _ = served.ask("POST", "/api/status", authorization=f"Bearer wrong{number}")
        statuses[status] = statuses.get(status, 0) + 1
    assert statuses.keys() == {401, 429}
    assert statuses[401] < 50
    assert served.ask("GET", "/", cookie=cookie)[0] == 200
    assert served.memory.status()["counts"]["turns"] == 1
    wait_until(served.is_well, "the end of the back-off", timeout_s=90)


def test_slow_clients_hold_up_nobody(served: Served) -> None:
    cookie = cookie_of(served)
    held: list[socket.socket] = []
    try:
        for _ in range(100):
            connection = served.raw()
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            held.append(connection)
        for _ in range(20):
            connection = served.raw()
            head = f"POST /api/status HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {served.token}\r\n"
            connection.sendall(head.encode() + b"Content-Length: 5000\r\n\r\n{")
            held.append(connection)
        began = time.monotonic()
        assert served.ask("GET", "/", cookie=cookie)[0] == 200
        assert time.monotonic() - began < 2.0
        assert served.is_well()
        held[0].settimeout(30)
        assert held[0].recv(100) == b""  # it was let go
    finally:
        for connection in held:
            connection.close()


def test_garbage_stops_nothing(served: Served) -> None:
    for sent in (
        b"\0" * 4096,
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"A" * 200_000,
    ):
        with served.raw() as connection, contextlib.suppress(OSError):
            connection.sendall(sent)
            connection.settimeout(2)
            connection.recv(4096)
    assert served.is_well()


def test_fifty_viewers_leave_the_daemon_at_ease(served: Served) -> None:
    cookie = cookie_of(served)
    request = ContextRequest("what does the curtain hide", Scope(session_id="s1"), lang="en-US", preview=True)

    def took_ms() -> float:
        took = []
        for _ in range(60):
            began = time.perf_counter()
            served.memory.context(request)
            took.append((time.perf_counter() - began) * 1000)
        return statistics.median(took)

    alone = took_ms()
    viewers: list[socket.socket] = []
    received: list[int] = []
    try:
        for _ in range(50):
            connection = served.raw()
            connection.sendall(f"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n".encode())
            assert b"200 OK" in connection.recv(4096)
            viewers.append(connection)
        watched = took_ms()
        [id] = served.memory.record([Turn("user", "a second sentence", lang="en-US")], Scope(session_id="s2"))

        def read(connection: socket.socket) -> None:
            told = b""
            with contextlib.suppress(OSError):
                while b"a second sentence" not in told:
                    told += connection.recv(65536) or b"\0" * 1_000_000
                    assert len(told) < 1_000_000
                received.append(1)

        readers = [threading.Thread(target=read, args=(one,)) for one in viewers]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(20)
        assert len(received) == 50
        served.memory.forget(Scope.everyone(), ids=[id])
    finally:
        for connection in viewers:
            connection.close()
    # idle viewers cost nothing; the margin is for what else the machine does
    assert watched < alone * 1.5 + 2.0, (alone, watched)
    assert served.is_well()


def test_files_of_the_page_are_the_owners_alone(served: Served) -> None:
    cookie_of(served)
    for path in Path(served.process.data).glob("web.*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_the_log_says_nothing_of_what_was_said(served: Served) -> None:
    assert "velvet" not in served.process.said()
    assert served.token not in served.process.said()
    assert json.dumps(served.memory.status()["web"]) == f'"http://127.0.0.1:{served.port}"'
