"""The skill in the stable ovos-core: it loads, and what people say most works."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest
from servers import HOST, Bus, Daemon, Process, Wire, wait_until, write_settings

PIPELINE = ["ovos-stop-pipeline-plugin-high", "ovos-converse-pipeline-plugin", "ovos-padacioso-pipeline-plugin-high"]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory, bus: Bus, daemon: Daemon) -> Iterator[Process]:
    """ovos-core 2.1.1 with the skill, ready."""
    folder = tmp_path_factory.mktemp("core")
    write_settings(
        folder,
        lang="en-US",
        websocket={"host": HOST, "port": bus.port, "route": "/core", "ssl": False},
        intents={"pipeline": PIPELINE},
        open_data={"intent_urls": []},
        skills={"use_deferred_loading": False},
    )
    running = Process(folder, "core", [sys.executable, "-m", "ovos_core"])
    try:
        with Wire(bus.port) as wire:
            wait_until(lambda: _is_loaded(running, wire), "the start of ovos-core", 90.0)
        yield running
    finally:
        running.end()


def _is_loaded(core: Process, wire: Wire) -> bool:
    core.check()
    wire.send("mycroft.skills.is_ready", {})
    while (message := wire.receive(0.5)) is not None:
        if message.get("type") == "mycroft.skills.is_ready.response":
            return bool(message["data"]["status"])
    return False


def says(wire: Wire, utterance: str, session: dict[str, object]) -> str:
    """What is spoken next in the session, which goes on as the assistant left it."""
    wire.send("recognizer_loop:utterance", {"utterances": [utterance], "lang": "en-US"}, {"session": session})
    while (message := wire.receive(60.0)) is not None:
        context = message.get("context") or {}
        if message.get("type") == "speak" and context.get("session", {}).get("session_id") == session["session_id"]:
            session.update(context["session"])
            return str(message["data"]["utterance"])
    raise AssertionError(f"nothing was said to {utterance!r}")


def test_tell_ask_and_forget(core: Process, bus: Bus, daemon: Daemon) -> None:
    session: dict[str, object] = {"session_id": "stable", "lang": "en-US"}
    with Wire(bus.port) as wire:
        assert says(wire, "remember that my gnu is called Berta", session) == "I'll remember: my gnu is called Berta."
        assert says(wire, "what do you know about me", session) == "You told me today: my gnu is called Berta."
        asked = "I'll forget one thing about your gnu. Say yes to delete it, no to keep it."
        assert says(wire, "forget everything about my gnu", session) == asked
        assert says(wire, "yes", session) == "I have forgotten everything about your gnu."
    left = b"".join(path.read_bytes() for path in daemon.data.iterdir() if path.is_file())
    assert b"Berta" not in left
    assert json.dumps("Berta").encode() not in left
