"""The JSON API of a real daemon is as its own description says: schemathesis sends what fits it and what does not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.servers.ports import free_port

from ovos_persona_memory.protocol import MemoryClient, topics
from ovos_persona_memory.records import Scope, Turn

from .conftest import Daemon, own_environment, wait_until
from .test_web_page import Browser, is_served

pytest.importorskip("uvicorn", reason="the extra web is not installed")
pytest.importorskip("starlette", reason="the extra web is not installed")

EXAMPLES = 3
"""Requests of each verb made up at random, beside those made from the limits of every field: 6,000 in all."""
SETTINGS = """
[checks.positive_data_acceptance]
# 422: it has the described form and cannot be done (a session's verb without a session); 413: it is larger than any
# request may be. 400 would say that it has not the form.
expected-statuses = ["2xx", "403", "404", "413", "422"]
[checks.negative_data_rejection]
expected-statuses = ["4xx"]
"""


def test_the_api_is_as_it_describes_itself(daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    port = free_port()
    process = daemon(settings={"web": {"port": port}})
    browser = Browser(port, process.data, tmp_path / "home0")
    wait_until(lambda: is_served(browser), "the page")
    with MemoryClient.over_door(process.data) as memory:
        _fill(memory)
        done = _schemathesis(f"http://127.0.0.1:{port}", browser.command("web", "--token"), tmp_path)
        assert done.returncode == 0, "\n".join(line[:400] for line in done.stdout.splitlines())[-12_000:]
        assert f"Tested: {len(topics.VERBS)}" in done.stdout  # else nothing was tried
        assert memory.status()["bus"]


def _fill(memory: MemoryClient) -> None:
    """Something of every kind, for answers that are not empty."""
    for scope in (Scope(), Scope(user_id="ada", session_id="kitchen-1", site_id="kitchen")):
        memory.record([Turn("user", "i live in Lisbon", lang="en-US"), Turn("assistant", "nice", lang="en-US")], scope)
        memory.remember("the bins go out on Tuesday", scope, "bins")
        memory.facts.add("my cat is called Bob", scope)
        memory.documents(scope=scope).upsert("the boiler is serviced in May")


def _schemathesis(url: str, token: str, folder: Path) -> subprocess.CompletedProcess[str]:
    settings = folder / "schemathesis.toml"
    settings.write_text(SETTINGS)
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(settings), "run"]
    chosen = ["--checks", "all", "--max-examples", str(EXAMPLES), "--seed", "1", "--no-color", "--no-shrink"]
    return subprocess.run(
        [*command, f"{url}/api/openapi.json", "--header", f"Authorization: Bearer {token}", *chosen],
        cwd=folder,  # it keeps what it found there
        env=own_environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
