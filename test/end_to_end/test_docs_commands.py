"""The commands on the pages for owners are run as they are written, one after the other, with a real daemon."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers.bus import Wire
from support.servers.ports import free_port

from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Scope, Turn

from .conftest import ROOT, Address, Daemon, own_environment, wait_until, write_settings

NAME = "ovos-persona-memory"
OWNERS = ("quick-start", "with-a-persona", "satellites", "privacy-in-short", "backup", "troubleshooting", "web")
PAGES = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in OWNERS)]
NOT_RUN = {
    "scripts/run": "test_launcher does",
    "scripts/test": "it runs this test",
    "pip install": "test/packaging/test_newcomer.py does, for what the README shows",
    "pip uninstall": "it would take the program away from the tests",
    "python3 -m venv": "scripts/test makes such an environment, .venv-hive",
    "~/.venvs/hivemind/bin/": "test_hivemind does",
    "hivemind-client": "test_hivemind does, with the same client in a program",
    "docker": "no docker runs here; test_packaging lints the files",
    "journalctl": "no systemd runs here",
    "systemctl --user status": "no systemd runs here",
    "curl": "test_web_safety asks the same address with the same token",
    "rm -r": "it deletes the folder of whoever runs the tests",
    f"{NAME} run": "the daemon of the test is started so",
}
"""Beginnings of commands that are not run, and why."""
BY_HAND = {
    "systemctl --user stop": "the daemon of the test is ended",
    "systemctl --user start": "the daemon of the test is started again",
    f"{NAME} watch": "while it runs something is said, and Ctrl-C ends it",
}
"""Beginnings of commands that are done in another way here."""
TOLD = {
    "forget": "--yes",
    "restore": "--yes",
    "install-service": "--dry-run",
    "uninstall-service": "--dry-run",
}
"""What commands are told here that ask whoever sits at a terminal; those of systemd must change nobody's services."""


def commands_of(page: Path) -> list[str]:
    """Every command line on a page, in order."""
    found = []
    for block in re.findall(r"^```(?:bash|console)\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        lines = block.splitlines()
        found += [line[2:] for line in lines if line.startswith("$ ")] or lines
    return found


def begins(line: str, among: dict[str, str]) -> bool:
    return any(line == one or line.startswith(one if one.endswith("/") else f"{one} ") for one in among)


class Device:
    """A daemon in the places where the program looks for it by itself."""

    def __init__(self, home: Path, address: Address) -> None:
        self.home, self.address = home, address
        self.place = home
        host, port = address
        bus = {"host": host, "port": port, "route": "/core", "ssl": False}
        write_settings(home, websocket=bus, persona_memory={"announce": False, "web": {"port": free_port()}})
        self.data = home / "data" / "ovos_persona_memory"
        self.start()

    def turn_to(self, page: Path) -> None:
        """What a page begins with: an empty folder to stand in, everything switched on, and something to find."""
        self.place = self.home / page.stem
        self.place.mkdir()
        if self.daemon.has_ended:
            self.start()
        with MemoryClient.over_door(self.data) as owner:
            owner.forget(Scope.everyone(), everything=True)
            owner.capture(write=True, read=True)
            owner.capture(Scope(site_id="kitchen"), write=True, read=True, site=True)
            owner.record([Turn("user", "my cat is called Bob"), Turn("assistant", "noted")], Scope("talk"))
            owner.remember("the bins go out on Tuesday", key="bins")

    def start(self) -> None:
        self.daemon = Daemon(self.home, self.data, self.address)
        wait_until(self.daemon.is_ready, "the start of the daemon")

    def runs(self, line: str) -> None:
        """Run a command; AssertionError where it fails, or prints nothing."""
        words = shlex.split(line.replace("/media/stick", str(self.place)))
        if words[1] in TOLD and not {"--yes", "--dry-run"} & set(words):
            words.append(TOLD[words[1]])
        done = subprocess.run(
            [sys.executable, "-m", "ovos_persona_memory", *words[1:]],
            capture_output=True,
            text=True,
            cwd=self.place,
            env=own_environment(self.home, HOME=str(self.home)),
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{line}: status {done.returncode}\n{done.stdout}{done.stderr}"
        assert (done.stdout + done.stderr).strip(), f"{line}: nothing is printed"

    def by_hand(self, line: str) -> None:
        """Do what stands for a command here."""
        if line.startswith("systemctl --user stop"):
            assert self.daemon.end() == 0
        elif line.startswith("systemctl --user start"):
            self.start()
        else:
            self._watches(line)

    def _watches(self, line: str) -> None:
        said = self.place / "said"
        with said.open("wb") as output:
            command = [sys.executable, "-m", "ovos_persona_memory", *shlex.split(line)[1:]]
            watching = subprocess.Popen(command, stdout=output, cwd=self.home, env=own_environment(self.home))
        try:
            with Wire(self.address[1]) as wire:

                def seen() -> bool:
                    wire.send("recognizer_loop:utterance", {"utterances": ["open the window"]}, {"session": {}})
                    return "open the window" in said.read_text("utf-8")

                wait_until(seen, "what is said is shown")
        finally:
            watching.send_signal(signal.SIGINT)
            watching.wait(10)


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory, bus_address: Address) -> Iterator[Device]:
    """One for all pages."""
    made = Device(tmp_path_factory.mktemp("device"), bus_address)
    yield made
    made.daemon.end()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_on_the_page_works_as_it_is_written(page: Path, device: Device) -> None:
    device.turn_to(page)
    ran = 0
    for line in commands_of(page):
        if begins(line, BY_HAND):
            device.by_hand(line)
        elif not begins(line, NOT_RUN):
            assert line.startswith(f"{NAME} "), f"neither run nor named in NOT_RUN: {line}"
            device.runs(line)
            ran += 1
    assert ran


def test_what_is_not_run_stands_on_a_page() -> None:
    lines = [line for page in PAGES for line in commands_of(page)]
    for among in (NOT_RUN, BY_HAND):
        for one in among:
            assert any(begins(line, {one: ""}) for line in lines), one
