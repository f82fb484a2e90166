"""What OVOS's stable packages make of ours: they load side by side, and what they cannot use is not offered."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest
from ovos_plugin_manager.agents import find_memory_plugins, load_memory_plugin
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole
from ovos_plugin_manager.utils import PluginTypes, find_plugins
from support.servers.bus import HOST, Bus, Daemon, wait_until

MEMORY = "ovos-persona-memory-plugin"


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("ovos-core", "2.1.1"),
        ("ovos-messagebus", "0.0.10"),
        ("ovos-persona", "0.7.1"),
        ("ovos-bus-client", "1.5.0"),
        ("ovos-plugin-manager", "2.2.0"),
    ],
)
def test_the_stable_line_is_what_these_tests_run_on(package: str, line: str) -> None:
    assert version(package) == line


def test_the_stable_assistant_and_persona_can_be_imported_beside_us() -> None:
    ours = "ovos_persona_memory.service.daemon, ovos_persona_memory.opm.memory, ovos_persona_memory.cli"
    theirs = "ovos_core.intent_services, ovos_core.skill_manager, ovos_persona"
    command = [sys.executable, "-c", f"import {ours}, {theirs}"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_the_plugin_manager_finds_and_loads_the_memory_plugin() -> None:
    plugin = load_memory_plugin(MEMORY)
    assert plugin is find_memory_plugins()[MEMORY]
    assert plugin.__name__ == "PersonaMemoryPlugin"


def test_the_memory_plugin_builds_contexts_with_what_the_daemon_knows(daemon: Daemon, bus: Bus) -> None:
    settings = {"host": HOST, "port": bus.port, "system_prompt": "You are Ada.", "timeout_s": 5.0}
    plugin = load_memory_plugin(MEMORY)(settings)
    exchange = [
        AgentMessage(MessageRole.USER, "my tortoise is called Zeno"),
        AgentMessage(MessageRole.ASSISTANT, "He will arrive."),
    ]
    plugin.update_history(exchange, "tortoise")
    with daemon.door() as owner:
        wait_until(lambda: any(one.session_id == "tortoise" for one in owner.sessions()), "the record at the daemon")

    assert plugin.get_history("tortoise") == exchange
    assert plugin.build_conversation_context(" go on ", "tortoise") == [
        AgentMessage(MessageRole.SYSTEM, "You are Ada."),
        *exchange,
        AgentMessage(MessageRole.USER, "go on"),
    ]
    system, question = plugin.build_conversation_context("what is my tortoise called", "another session")
    assert question == AgentMessage(MessageRole.USER, "what is my tortoise called")
    assert system.content.startswith("You are Ada.")
    assert '"my tortoise is called Zeno"' in system.content, "only the daemon knows what another session said"


def test_the_recall_chat_engine_needs_the_current_line_and_is_not_offered() -> None:
    with pytest.raises(ImportError, match="ChatEngine"):
        import ovos_persona_memory.opm.chat  # noqa: F401  (to see it refused)
    assert "ovos-persona-memory-recall-plugin" not in find_plugins("opm.agents.chat")
    assert "Scribe" not in find_plugins(PluginTypes.PERSONA), "it answers with that engine"
