"""The owner of a household of ten thousand turns, at a real browser before a real daemon on a real bus."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ovos_bus_client import Message, MessageBusClient
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, StorageState, expect
from support import household
from support.browser import NoBrowser, chromium
from support.model_server import ModelServer
from support.servers.ports import free_port

from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope, Turn

from ..conftest import Address, Daemon, own_environment, running_bus, wait_until, write_settings

TURNS = 10_000
SCREENSHOTS = "OPM_TEST_SCREENSHOTS"
"""The folder in which tests put pictures of the page; none are made where it is not set."""
WITHIN_MS = 15_000
ZONE = "Europe/Lisbon"
MONTH_S = 31 * 86400.0
PLUGIN = "ovos-chat-openai-plugin"
PROPOSED = "the boiler was serviced in March by Schmidt"
"""What a language model proposes to remember, of a session in which it was said."""


@dataclass
class Owner:
    """Whoever the device belongs to: the page's address, a browser that is let in, and the memory behind it all."""

    url: str
    home: Path
    daemon: Daemon
    memory: MemoryClient
    browser: Browser
    bus: MessageBusClient
    let_in: StorageState | None = None
    complaints: list[str] = field(default_factory=list)
    """What pages said to the browser's console: errors of scripts, what the policy forbade, what was not there."""

    def command(self, *words: str) -> str:
        """What the command line answers."""
        command = [sys.executable, "-m", "ovos_persona_memory", *words, "--data", str(self.daemon.data)]
        done = subprocess.run(command, env=own_environment(self.home), capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def context(self, **settings: Any) -> BrowserContext:
        """A browser of its own, let in unless ``storage_state`` says otherwise."""
        shape = {
            "viewport": {"width": 1280, "height": 800},
            "locale": "en-US",
            "timezone_id": ZONE,
            "storage_state": self.let_in,
        }
        made = self.browser.new_context(base_url=self.url, **{**shape, **settings})
        made.set_default_timeout(WITHIN_MS)
        made.on("console", self._heard)
        made.on("weberror", lambda error: self.complaints.append(str(error.error)))
        return made

    def say(self, text: str, session: str, room: str = "kitchen", user: str | None = None) -> None:
        """Somebody says something to the assistant, on the bus."""
        told: dict[str, Any] = {"session": {"session_id": session, "site_id": room}}
        self.bus.emit(Message("recognizer_loop:utterance", {"utterances": [text], "lang": "en-US"}, told))

    def _heard(self, message: ConsoleMessage) -> None:
        # a search that is typed on is given up: htmx tells that, too
        if message.type in ("error", "warning") and not message.text.startswith(("htmx:sendAbort", "htmx:afterReq")):
            self.complaints.append(message.text)


@pytest.fixture(scope="session")
def running_browser() -> Iterator[Browser]:
    """One browser for all tests."""
    try:
        context = chromium()
        browser = context.__enter__()
    except NoBrowser as missing:
        if "CI" in os.environ and "OPM_TEST_NO_CHROMIUM" not in os.environ:
            pytest.fail(str(missing))
        pytest.skip(str(missing))
    try:
        yield browser
    finally:
        context.__exit__(None, None, None)


@pytest.fixture(scope="session")
def own_bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A bus of its own: the daemon of the browser lives on while other tests have theirs on the shared bus, and two
    daemons on one bus answer everything twice."""
    port = free_port()
    with running_bus(tmp_path_factory.mktemp("bus"), port):
        yield "127.0.0.1", port


@pytest.fixture(scope="session")
def owner(running_browser: Browser, tmp_path_factory: pytest.TempPathFactory, own_bus: Address) -> Iterator[Owner]:
    """One daemon for all tests, let in by a link of the command line."""
    home, data, port = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("data") / "memory", free_port()
    household.fill(data, TURNS, time.time())
    add = [{"tool": "memory_add", "content": PROPOSED, "turns": [1]}]
    model = ModelServer(f"```json\n{json.dumps(add)}\n```")
    settings = {
        "announce": False,
        "web": {"port": port},
        "models": {"plugins": {PLUGIN: {"api_url": model.url, "key": "none", "model": "test"}}, "quiet_s": 0.0},
        "introspection": {"model": PLUGIN, "turn_interval": 1000},
    }
    write_settings(home, persona_memory=settings, location={"timezone": {"code": ZONE}})
    running = Daemon(home, data, own_bus)
    bus = MessageBusClient(host=own_bus[0], port=own_bus[1])
    bus.run_in_thread()
    try:
        wait_until(running.is_ready, "the start of the daemon")
        assert bus.connected_event.wait(10)
        with MemoryClient.over_door(data) as memory:
            made = Owner(f"http://127.0.0.1:{port}", home, running, memory, running_browser, bus)
            _live_in(memory)
            made.let_in = _let_in(made)
            yield made
    finally:
        bus.close()
        running.end()
        model.close()


def _live_in(memory: MemoryClient) -> None:
    """What the household knows: memories that were asked for, and facts out of what was said."""
    now = time.time()
    told = {
        "ada": (
            "i live in Lisbon",
            "my cat is called Bob",
            "i am allergic to peanuts",
            "i think my keys are in the drawer",
        ),
        "ben": ("my name is Ben", "i work at the harbour", "i like rowing"),
        "mia": ("my favourite colour is green", "i live in Ghent", "i live in Delft"),
    }
    for began, (person, sentences) in zip((now - 20_000.0, now - 19_000.0, now - 18_000.0), told.items(), strict=True):
        scope = Scope(f"about-{person}", person, site_id="kitchen")
        turns = [
            Turn("user", text, at=began + 60.0 * number, speaker=person.capitalize(), lang="en-US")
            for number, text in enumerate(sentences)
        ]
        memory.record(turns, scope)
    for key, text in (
        ("bins", "the bins go out on Tuesday"),
        ("boiler", "the boiler code is on the cellar door"),
        ("wifi", "the guest network is called Walnut"),
    ):
        memory.remember(text, Scope(), key, lang="en-US")
    for person in ("rosa", "sara", "tom", "leo"):  # the page asks only every few seconds who there is
        memory.record([Turn("user", "hello", at=now - MONTH_S)], Scope("hello", person))
    memory.facts.audit(Scope.everyone())  # it waits until everything is learned


def _let_in(owner: Owner) -> StorageState:
    with owner.context(storage_state=None) as context:
        page = context.new_page()
        page.goto(owner.command("web"))
        page.wait_for_url("**/")
        return context.storage_state()


@pytest.fixture
def page(owner: Owner) -> Iterator[Page]:
    """A page of a browser that was let in; nothing may go wrong in it."""
    owner.complaints.clear()
    expect.set_options(timeout=WITHIN_MS)
    with owner.context() as context:
        yield context.new_page()
    assert owner.complaints == []


@pytest.fixture
def picture() -> Callable[[Page, str], None]:
    """Keeps a picture of what a page shows under a name, where pictures are wanted."""

    def keep(page: Page, name: str) -> None:
        if folder := os.environ.get(SCREENSHOTS):
            page.screenshot(path=Path(folder) / f"{name}.png", animations="disabled")

    return keep
