"""From a fresh environment to seeing what was just said, by the commands of the README and no others."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import shutil
import subprocess
import urllib.request
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.servers.bus import Bus, Wire, is_open, wait_until
from support.servers.ports import free_port

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
COMMANDS = 3
"""A newcomer types at most that many."""
SAID = "my cat is called Bob"
PIP = {
    "PIP_CACHE_DIR": str(Path.home() / ".cache" / "pip"),
    "PIP_NO_COMPILE": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
"""What was downloaded before is not downloaded again, and what is never imported is not compiled."""


def commands() -> list[str]:
    """The first block of commands under the README's heading about a device."""
    text = (ROOT / "README.md").read_text("utf-8")
    [block, *_] = re.findall(r"^```bash\n(.*?)^```$", text[text.index("## Add it to a device") :], re.M | re.S)
    return block.splitlines()


@contextmanager
def left_running(command: list[str], log: Path, **how: object) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, **how)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


def test_after_three_commands_a_newcomer_sees_what_they_just_said(tmp_path: Path) -> None:
    install, run, look = commands()
    checkout = tmp_path / "checkout"
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if not name.startswith(("test/", "training/")) and (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    venv.create(tmp_path / "venv", with_pip=True)
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTHON"))}
    kept = {**PIP, **kept}
    activated = {**kept, "HOME": str(home), "PATH": f"{tmp_path / 'venv' / 'bin'}:{os.environ['PATH']}"}
    # the assistant's own address, as on a device; another one only because tests run side by side
    bus_port, page_port = free_port(), free_port()
    settings = home / ".config" / "mycroft" / "mycroft.conf"
    settings.parent.mkdir(parents=True)
    bus = {"host": "127.0.0.1", "port": bus_port, "route": "/core", "ssl": False}
    settings.write_text(json.dumps({"websocket": bus, "persona_memory": {"web": {"port": page_port}}}))
    installed = subprocess.run(
        ["bash", "-c", install], cwd=checkout, env=activated, capture_output=True, text=True, check=False, timeout=900
    )
    assert installed.returncode == 0, installed.stdout + installed.stderr
    the_bus = Bus(tmp_path / "bus", bus_port)
    try:
        log = tmp_path / "daemon.log"
        with left_running(["bash", "-c", f"exec {run}"], log, cwd=home, env=activated) as daemon:

            def ready() -> bool:
                assert daemon.poll() is None, log.read_text()
                return "Ready: data in" in log.read_text()

            wait_until(ready, "the daemon is ready")
            wait_until(lambda: is_open(page_port), "the page is served")
            told = subprocess.run(
                ["bash", "-c", look], cwd=home, env=activated, capture_output=True, text=True, check=True, timeout=60
            )
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
            with browser.open(told.stdout.strip()) as opened:  # and this leads on to the first page
                assert opened.status == 200
            first = f"http://127.0.0.1:{page_port}/"
            with browser.open(first) as page:
                assert SAID not in page.read().decode()
            with Wire(bus_port) as wire:
                wire.send("recognizer_loop:utterance", {"utterances": [SAID]}, {"session": {"session_id": "default"}})

            def shown() -> bool:
                with browser.open(first) as page:
                    return SAID in page.read().decode()

            wait_until(shown, "what was said is on the first page")
    finally:
        the_bus.end()


def test_the_readme_needs_no_more_commands() -> None:
    assert len(commands()) <= COMMANDS
