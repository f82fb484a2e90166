"""Part l: the owner's page over HTTP, and contexts while many people look at it."""

from __future__ import annotations

import http.client
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from support.browser import NoBrowser, chromium
from support.servers.ports import free_port

from benchmarks.asking import PATIENCE, BenchTransport, connected, timed_ms
from benchmarks.corpus import CACHE, Asked, Built, Corpus, Talk, built
from benchmarks.figures import Figure, Spread
from benchmarks.progress import say
from benchmarks.requests import ANY_AGE
from benchmarks.services import BY_WORDS, DAEMON, Stack, stack
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope
from ovos_persona_memory.web import token_of

SIZES = {"quick": (20_000, 2, 6), "full": (100_000, 5, 40)}
"""Turns stored, starts of the daemon, and rounds."""
MEMORIES = 500
"""Memories made within the last hour."""
VIEWERS, BLOCK = 50, 5
"""Open pages, and contexts in a row with and without them."""
FIRST_MS, SEARCH_MS, PREVIEW_MS, SHARE = 300.0, 150.0, 300.0, 1.1
TALK = Scope(session_id="talk")
SEARCHED = """words => new Promise(done => {
    let began = 0;
    document.body.addEventListener('htmx:beforeRequest', () => { began = performance.now(); }, {once: true});
    document.body.addEventListener('htmx:afterSettle', () => {
        requestAnimationFrame(() => done(performance.now() - began));
    }, {once: true});
    const field = document.querySelector('#q');
    field.value = words;
    field.dispatchEvent(new Event('input', {bubbles: true}));
})"""
"""Types words into the search field; the milliseconds from the request to the results, painted."""
PART = {"hx-request": "true", "hx-target": "items"}
"""So the page asks for what it searches as somebody types."""


class Browser:
    """One connection to the page, which is kept as browsers do."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._token = {"authorization": f"Bearer {token}"}
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def timed_ms(self, path: str, headers: Mapping[str, str] | None = None) -> float:
        """How long a page took to its last byte, milliseconds; RuntimeError where it is not the page."""
        began = time.perf_counter()
        self._connection.request("GET", path, headers={**self._token, **(headers or {})})
        answer = self._connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path} was answered with {answer.status}")
        return (time.perf_counter() - began) * 1000

    def wait(self) -> None:
        """Return once the page is served."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                self.timed_ms("/healthz")
                return
            except OSError:
                self._connection.close()
                time.sleep(0.02)
        raise RuntimeError("the page is not served")

    def watch(self) -> socket.socket:
        """A connection over which the page is told what happens."""
        opened = socket.create_connection(("127.0.0.1", self._port))
        lines = "".join(f"{name}: {value}\r\n" for name, value in self._token.items())
        opened.sendall(f"GET /live HTTP/1.1\r\nhost: 127.0.0.1\r\n{lines}\r\n".encode())
        if b"hello" not in _until(opened, b"hello"):
            raise RuntimeError("a viewer was not let in")
        return opened

    def close(self) -> None:
        """Leave."""
        self._connection.close()


class Viewers:
    """Open pages: what they were told is read and counted."""

    def __init__(self) -> None:
        self.told = 0

    @contextmanager
    def looking(self, browser: Browser) -> Iterator[None]:
        """Fifty pages are open inside."""
        with ExitStack() as opened, selectors.DefaultSelector() as chosen:
            for _ in range(VIEWERS):
                chosen.register(opened.enter_context(browser.watch()), selectors.EVENT_READ)
            ended = threading.Event()
            reader = threading.Thread(target=self._read, args=(chosen, ended))
            reader.start()
            try:
                yield
            finally:
                ended.set()
                reader.join()

    def _read(self, chosen: selectors.BaseSelector, ended: threading.Event) -> None:
        while not ended.is_set():
            for key, _ in chosen.select(0.05):
                self.told += key.fileobj.recv(65536).count(b"event: recorded")  # type: ignore[union-attr]  # a socket


def _until(opened: socket.socket, word: bytes) -> bytes:
    got = b""
    while word not in got and (more := opened.recv(4096)):
        got += more
    return got


def run(size: str) -> list[Figure]:
    """The figures of this part."""
    turns, starts, rounds = SIZES[size]
    base, port = built(Corpus(turns)), free_port()
    with stack({**BY_WORDS, "web": {"port": port}}) as services, TemporaryDirectory(dir=CACHE) as scratch:
        data = base.copy(Path(scratch) / "data")
        services.start_daemon(data)
        with MemoryClient.over_door(data) as memory:
            _remember(memory)
        say(f"l: the page, {turns} turns and {MEMORIES} memories stored")
        browser = Browser(port, token_of(data))
        first = [_first(services, browser, data) for _ in range(starts)]
        took = _pages(browser, base, rounds)
        took |= _in_chromium(port, token_of(data), base, rounds)
        say(f"l: contexts beside {VIEWERS} open pages, and without")
        watched, alone, told = _contexts(services.port, browser, base.questions, rounds)
        browser.close()
    spreads = {name: Spread.from_values(values) for name, values in took.items()}
    return [*_page_figures(Spread.from_values(first), spreads), _watched(watched, alone, told)]


def _remember(memory: MemoryClient) -> None:
    said = Talk(seed=41)
    for _ in range(MEMORIES):
        memory.remember(said.sentence()[0], Scope(), lang="en-US")


def _first(services: Stack, browser: Browser, data: Path) -> float:
    """The first page that is asked for after a start, milliseconds."""
    browser.close()
    services.end(DAEMON)
    services.start_daemon(data)
    browser.wait()
    return browser.timed_ms("/")


def _pages(browser: Browser, base: Built, rounds: int) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {}
    asked, topics = cycle(base.questions), _topics(base)
    for _ in range(rounds):
        words = quote(next(asked).text)
        for name, path, headers in (
            ("nothing", "/healthz", {}),
            ("the page again", "/", {}),
            ("search in everything", f"/known?q={words}", PART),
            ("search in what was said", f"/known?q={words}&kind=turn", PART),
            ("forget the last hour, foreseen", "/forget?way=hour", {}),
            ("forget a day, foreseen", "/forget?way=day", {}),
            ("forget everything about a topic, foreseen", f"/forget?way=about&about={quote(next(topics))}", {}),
        ):
            took.setdefault(name, []).append(browser.timed_ms(path, headers))
    return took


def _in_chromium(port: int, token: str, base: Built, rounds: int) -> dict[str, list[float]]:
    """The same as a browser sees it: until the page is loaded, and from the request of a search until its results
    stand on the page. Nothing where there is no Chromium."""
    took: dict[str, list[float]] = {}
    asked = cycle(base.questions)
    try:
        with chromium() as started:
            page = started.new_context(extra_http_headers={"authorization": f"Bearer {token}"}).new_page()
            for number in range(rounds + 1):
                page.goto(f"http://127.0.0.1:{port}/")
                loaded = page.evaluate("performance.getEntriesByType('navigation')[0].duration")
                page.goto(f"http://127.0.0.1:{port}/known")
                found = page.evaluate(SEARCHED, next(asked).text)
                if number:  # the first time scripts and styles are fetched
                    took.setdefault("the page in Chromium", []).append(loaded)
                    took.setdefault("search in Chromium", []).append(found)
    except NoBrowser as error:
        say(f"l: nothing is measured in a browser: {error}")
    return took


def _topics(base: Built) -> Iterator[str]:
    """Two words of each question: by the law that the words follow, one alone may be in a sixth of all turns."""
    return (" ".join(one.text.rstrip("?").split()[-2:]) for one in cycle(base.questions))


def _contexts(
    port: int, browser: Browser, questions: list[Asked], rounds: int
) -> tuple[list[float], list[float], float]:
    """Milliseconds of contexts with viewers and without, in turns, and how much a viewer was told."""
    transport, asked, viewers = connected(port), cycle(questions), Viewers()
    watched: list[float] = []
    alone: list[float] = []
    for number in range(rounds + 1):
        with viewers.looking(browser):
            with_them = _block(transport, asked)
        without = _block(transport, asked)
        if number:  # the first round warms everything up
            watched += with_them
            alone += without
    transport.close()
    return watched, alone, viewers.told / VIEWERS


def _block(transport: BenchTransport, asked: Iterator[Asked]) -> list[float]:
    """Contexts, an exchange recorded before each; long enough that what was recorded is told meanwhile."""
    said, took = Talk(seed=23), []
    for _ in range(BLOCK):
        exchange = [{"role": role, "text": said.sentence()[0]} for role in ("user", "assistant")]
        transport.ask("record", {"turns": exchange}, TALK, PATIENCE)
        for _ in range(3):
            one = next(asked)
            took.append(timed_ms(transport, "context", {"utterance": one.text, **ANY_AGE}, one.session_id))
            time.sleep(0.05)
    return took


def _page_figures(first: Spread, took: Mapping[str, Spread]) -> list[Figure]:
    nothing = took["nothing"]

    def figure(name: str, ours: Spread, limit: float) -> Figure:
        return Figure("l", name, "ms", ours, nothing, "/healthz", f"p95 under {limit:.0f} ms", ours.p95 < limit)

    limits = {"the page": FIRST_MS, "search": SEARCH_MS, "forget": PREVIEW_MS}
    found = [figure("first page after a start", first, FIRST_MS)]
    for name, ours in took.items():
        limit = next((limit for begun, limit in limits.items() if name.startswith(begun)), None)
        found += [] if limit is None else [figure(name, ours, limit)]
    return found


def _watched(watched: list[float], alone: list[float], told: float) -> Figure:
    ours, other = Spread.from_values(watched), Spread.from_values(alone)
    note = f"each viewer was told {told:.0f} times"
    target, met = f"p50 at most {SHARE:.1f} x that without", ours.p50 <= SHARE * other.p50 and told > 1
    return Figure("l", f"context beside {VIEWERS} viewers", "ms", ours, other, "no viewers", target, met, note)
