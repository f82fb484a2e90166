"""scripts/demo/assistant.py: where the bus is, who answers, and what the services started by it are told."""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "demo" / "assistant.py"
SPEC = importlib.util.spec_from_file_location("assistant", SCRIPT)
assert SPEC and SPEC.loader
assistant = sys.modules["assistant"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(assistant)

ADDRESS = assistant.Address("127.0.0.1", 8181, "/core", False)


def asked(persona: str | None = None, persona_file: Path | None = None) -> argparse.Namespace:
    return argparse.Namespace(persona=persona, persona_file=persona_file)


@pytest.fixture
def alice(tmp_path: Path) -> Path:
    path = tmp_path / "alice.json"
    path.write_text('{"name": "Alice", "handlers": ["some-plugin"]}')
    return path


def test_the_bus_is_where_the_users_settings_say() -> None:
    settings = {"websocket": {"host": "kitchen.local", "port": 8282, "route": "/bus", "ssl": True}}
    assert assistant.bus_address(settings, None).url == "wss://kitchen.local:8282/bus"
    assert assistant.bus_address(settings, 9000).port == 9000


def test_a_bus_on_all_addresses_is_reached_on_loopback() -> None:
    assert assistant.bus_address({"websocket": {"host": "0.0.0.0"}}, None) == ADDRESS


def test_port_0_is_a_free_one() -> None:
    address = assistant.bus_address({}, 0)
    assert address.port > 0
    assert not address.answers()


@pytest.mark.parametrize(
    ("host", "here"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("192.168.1.2", False), ("hub", False)]
)
def test_a_bus_is_started_on_loopback_only(host: str, here: bool) -> None:
    assert assistant.Address(host, 8181, "/core", False).is_here is here


def test_scribe_answers_unless_another_is_named(alice: Path) -> None:
    assert assistant.persona_name(asked()) == "Scribe"
    assert assistant.persona_name(asked(persona_file=alice)) == "Alice"
    assert assistant.persona_name(asked("Bob", alice)) == "Bob"


def test_a_persona_file_that_is_missing_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    with pytest.raises(assistant.StartError, match=rf"^{re.escape(str(path))}: there is no such file$"):
        assistant.persona_name(asked(persona_file=path))


@pytest.mark.parametrize("text", ["[]", "no json"])
def test_a_file_that_defines_no_persona_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(assistant.StartError, match=r"broken\.json is no persona definition"):
        assistant.persona_name(asked(persona_file=path))


def test_the_users_personas_are_linked_and_old_links_go(tmp_path: Path, alice: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    (source / "bob.json").write_text("{}")
    (source / "notes.txt").write_text("")
    assistant.collect_personas(source, target, alice)
    assert {link.name: link.resolve() for link in target.iterdir()} == {
        "alice.json": alice,
        "bob.json": source / "bob.json",
    }
    assistant.collect_personas(source, target, None)
    assert [link.name for link in target.iterdir()] == ["bob.json"]


def test_the_services_are_told_what_the_user_set(tmp_path: Path) -> None:
    settings = {"lang": "de-DE", "persona_memory": {"history": {}}, "tts": {"module": "some-voice"}}
    assistant.write_settings(tmp_path, settings, ADDRESS, "Alice")
    told = json.loads((tmp_path / "config" / "mycroft" / "mycroft.conf").read_text())
    assert told["lang"] == "de-DE"
    assert told["persona_memory"] == {"history": {}}
    assert "tts" not in told
    assert told["websocket"]["port"] == 8181
    assert told["intents"]["persona"]["default_persona"] == "Alice"


def test_the_log_of_core_keeps_no_utterances(tmp_path: Path) -> None:
    assistant.write_settings(tmp_path, {}, ADDRESS, "Scribe")
    told = json.loads((tmp_path / "config" / "mycroft" / "mycroft.conf").read_text())
    assert told["logging"]["log_level"] == "WARNING"


def test_a_service_that_ends_is_told_with_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    services = assistant.Services(tmp_path, assistant.Ending())
    try:
        services.start("clock", "no_such_module_of_ours")
        services.running["clock"].wait(10)
        with pytest.raises(assistant.StartError, match=r"(?s)The clock ended with status 1.*No module named"):
            services.check()
    finally:
        services.end()
    assert not services.running
