"""The short-term memory of personas.

Each test is a sentence of the document about the short-term memory of personas, on the real memory plugin and a real
memory. The plugin asks as over the bus.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any

import pytest
from ovos_bus_client import Message
from ovos_persona import Persona
from ovos_plugin_manager.agents import find_memory_plugins
from ovos_plugin_manager.templates.agents import AgentContextManager, AgentMessage, MessageRole
from support.plugins import PLUGINS

from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.opm import PersonaMemoryPlugin
from ovos_persona_memory.records import Scope

Make = Callable[..., Any]
USER, ASSISTANT, SYSTEM = MessageRole.USER, MessageRole.ASSISTANT, MessageRole.SYSTEM
SUM = [AgentMessage(USER, "what is 2+2?"), AgentMessage(ASSISTANT, "4")]

DIFFERENT: tuple[tuple[str, str, str], ...] = (
    (
        "`BasicShortTermMemory` is the default memory implementation for personas.",
        "A persona names `ovos-persona-memory-plugin` in `memory_module`. `Scribe`, which comes with this package, "
        "does.",
        "Not ours: the default is that of ovos-persona, and installing a package changes no other persona.",
    ),
    (
        "It maintains per-session conversation history in RAM.",
        "The history is in the memory's store, on disk unless it is told otherwise. A window in RAM is used while the "
        "memory does not answer.",
        "Deliberately not: what was said outlasts a restart.",
    ),
    (
        "Registered as entry point `ovos-agents-short-term-memory-plugin` in the `opm.agents.memory` group.",
        "It is registered as `ovos-persona-memory-plugin` in that group.",
        "In other words: another plugin has another name.",
    ),
    (
        "History is stored as `{session_id: List[AgentMessage]}`.",
        "Turns are stored with user, session, room, persona, time and language. The list of messages is made of them "
        "for each request.",
        "Deliberately not: the log keeps each turn as it was heard, and recall finds it.",
    ),
    (
        "A default short-term memory is always available, no extra package required.",
        "This package has to be installed.",
        "Not ours: the default is that of ovos-persona.",
    ),
    (
        "Every Persona loads it automatically unless `memory_module` is set to another plugin (or to a falsy value to "
        "disable memory).",
        "A persona loads this plugin where `memory_module` names it. A falsy value disables it, too.",
        "Not ours: ovos-persona loads the plugin.",
    ),
    (
        "Concurrent conversations on different sessions never see each other's context.",
        "Histories never mix. But what surely bears on an utterance is quoted from any conversation of the same user, "
        "unless `recall_session` is true.",
        "Deliberately not: people expect to be remembered in another room and on another day.",
    ),
)


class Wired:
    """A memory, and the plugin of a persona on it."""

    def __init__(self, memory: PersonaMemory, plugin: Make) -> None:
        self.memory = memory
        self._plugin = plugin

    def __call__(self, **settings: Any) -> Any:
        return self._plugin("memory", self.memory, **{"recall": 0, **settings})

    @property
    def transport(self) -> Any:
        """How the plugin that was made last reaches the memory."""
        return PLUGINS["memory"][0].shared_transport()


@pytest.fixture
def made(memory: PersonaMemory, plugin: Make) -> Wired:
    """Makes the plugin with settings: ``made(max_history=3)``."""
    return Wired(memory, plugin)


def told(messages: list[AgentMessage]) -> list[tuple[MessageRole, str]]:
    return [(message.role, message.content) for message in messages]


def exchanges(number: int) -> list[AgentMessage]:
    return [
        message
        for one in range(number)
        for message in (AgentMessage(USER, f"question {one}"), AgentMessage(ASSISTANT, f"answer {one}"))
    ]


def persona(monkeypatch: pytest.MonkeyPatch, made: Wired) -> Persona:
    """A real persona whose memory_module names the plugin."""
    made()
    transport = made.transport
    for module, _ in PLUGINS.values():
        monkeypatch.setattr(module, "shared_transport", lambda **_: transport)
    config = {"handlers": ["ovos-persona-memory-recall-plugin"], "memory_module": "ovos-persona-memory-plugin"}
    return Persona("Ada", {**config, "ovos-persona-memory-plugin": {"recall": 0, "system_prompt": "You are Ada."}})


def test_it_provides_the_history_as_context_when_querying_a_solver(made: Wired) -> None:
    """It maintains per-session conversation history and provides it as context when querying a solver."""
    memory = made()
    memory.update_history(SUM, "s")
    context = memory.build_conversation_context("and 3+3?", "s")
    assert told(context) == [(USER, "what is 2+2?"), (ASSISTANT, "4"), (USER, "and 3+3?")]


def test_persona_loads_it_by_load_memory_plugin(made: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loaded by `Persona.__init__` via `load_memory_plugin()`."""
    assert isinstance(persona(monkeypatch, made).memory, PersonaMemoryPlugin)


def test_memory_module_may_be_any_installed_entry_point_of_that_group(
    made: Wired, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To use a different memory backend, set `memory_module` in the persona config to any installed
    `opm.agents.memory` plugin entry point."""
    assert find_memory_plugins()["ovos-persona-memory-plugin"] is PersonaMemoryPlugin
    assert persona(monkeypatch, made).memory.system_prompt == "You are Ada."


def test_max_history_is_the_maximum_number_of_messages_to_retain_per_session(made: Wired) -> None:
    """`max_history`, default 5: maximum number of messages to retain per session."""
    usual, three = made(), made(max_history=3)
    usual.update_history(exchanges(4), "s")
    assert [text for _, text in told(usual.get_history("s"))] == [
        "answer 1", "question 2", "answer 2", "question 3", "answer 3",
    ]  # fmt: skip
    assert [text for _, text in told(three.get_history("s"))] == ["answer 2", "question 3", "answer 3"]


def test_system_prompt_is_prepended_to_every_context(made: Wired) -> None:
    """`system_prompt`, default "": system prompt prepended to every context."""
    usual, named = made(), made(system_prompt="You are Ada.")
    for session in ("s", "t"):
        assert told(named.build_conversation_context("hello", session)) == [(SYSTEM, "You are Ada."), (USER, "hello")]
    assert told(usual.build_conversation_context("hello", "s")) == [(USER, "hello")]


def test_each_message_has_a_role_and_content(made: Wired) -> None:
    """Each `AgentMessage` has a `role` (USER, ASSISTANT, or SYSTEM) and `content` (string)."""
    memory = made()
    memory.update_history([AgentMessage(SYSTEM, "be kind"), *SUM], "s")
    found = memory.get_history("s")
    assert all(isinstance(message, AgentMessage) for message in found)
    assert told(found) == [(SYSTEM, "be kind"), (USER, "what is 2+2?"), (ASSISTANT, "4")]


def test_update_history_appends_messages_to_the_session_history(made: Wired) -> None:
    """Appends messages to the session history with two normalisation rules."""
    memory = made()
    memory.update_history(SUM, "s")
    memory.update_history([AgentMessage(USER, "thanks"), AgentMessage(ASSISTANT, "welcome")], "s")
    assert [text for _, text in told(memory.get_history("s"))] == ["what is 2+2?", "4", "thanks", "welcome"]


def test_a_hanging_user_message_is_dropped_when_the_next_one_is_a_users_too(made: Wired) -> None:
    """Hanging user messages: if the last stored message is USER and the next message is also USER, the last one is
    dropped (e.g. an utterance that produced no response)."""
    memory = made()
    memory.update_history([AgentMessage(USER, "hanging")], "s")
    assert told(memory.get_history("s")) == [(USER, "hanging")]
    memory.update_history(SUM, "s")
    assert told(memory.get_history("s")) == told(SUM)


def test_consecutive_assistant_messages_are_merged_with_a_newline(made: Wired) -> None:
    """Consecutive assistant messages: if both the last stored and the next message are ASSISTANT, they are merged into
    a single message with a newline separator (e.g. multiple `speak` events from one response)."""
    memory = made()
    memory.update_history(SUM, "s")
    memory.update_history([AgentMessage(ASSISTANT, "or four")], "s")
    assert told(memory.get_history("s")) == [(USER, "what is 2+2?"), (ASSISTANT, "4\nor four")]


def test_after_appending_the_history_is_truncated_to_the_most_recent_messages(made: Wired) -> None:
    """After appending, history is truncated to the most recent `max_history` messages."""
    memory = made(max_history=2)
    for message in exchanges(3):
        memory.update_history([message], "s")
        assert len(memory.get_history("s")) <= 2
    assert told(memory.get_history("s")) == told(exchanges(3)[-2:])


def test_get_history_returns_a_copy_of_the_sessions_message_list(made: Wired) -> None:
    """Returns a copy of the session's message list."""
    memory = made()
    memory.update_history(SUM, "s")
    taken = memory.get_history("s")
    taken[0].content = "changed"
    taken.clear()
    assert told(memory.get_history("s")) == told(SUM)


def test_get_history_returns_an_empty_list_for_unknown_sessions(made: Wired) -> None:
    """Returns `[]` for unknown sessions."""
    memory = made()
    memory.update_history(SUM, "s")
    assert memory.get_history("unknown") == []


def test_build_conversation_context_produces_the_full_list_to_pass_to_a_solver(made: Wired) -> None:
    """Produces the full message list to pass to a solver."""
    memory = made(system_prompt="You are a helpful assistant.")
    memory.update_history(SUM, "sess-123")
    assert told(memory.build_conversation_context("what is the capital of France?", "sess-123")) == [
        (SYSTEM, "You are a helpful assistant."),
        *told(SUM),
        (USER, "what is the capital of France?"),
    ]


def test_the_context_begins_with_the_history_of_the_session(made: Wired) -> None:
    """Retrieve history for the session."""
    memory = made()
    memory.update_history(exchanges(2), "s")
    assert told(memory.build_conversation_context("hello", "s"))[:-1] == told(memory.get_history("s"))


def test_trailing_user_messages_without_a_response_are_dropped_from_the_context(made: Wired) -> None:
    """Drop any trailing USER messages without a matching ASSISTANT response."""
    memory = made()
    memory.update_history([*SUM, AgentMessage(USER, "hanging")], "s")
    assert told(memory.get_history("s"))[-1] == (USER, "hanging")
    assert told(memory.build_conversation_context("hello", "s")) == [*told(SUM), (USER, "hello")]


def test_the_system_prompt_stands_at_position_0_if_it_is_not_empty(made: Wired) -> None:
    """If `system_prompt` is non-empty, prepend `AgentMessage(SYSTEM, system_prompt)` at position 0."""
    memory = made(system_prompt=" You are Ada. ")
    memory.update_history(SUM, "s")
    assert told(memory.build_conversation_context("hello", "s"))[0] == (SYSTEM, "You are Ada.")
    assert told(made(system_prompt="").build_conversation_context("hello", "s"))[0] == (USER, "what is 2+2?")


def test_the_utterance_is_appended_at_the_end(made: Wired) -> None:
    """Append `AgentMessage(USER, utterance)` at the end."""
    memory = made()
    memory.update_history(SUM, "s")
    assert told(memory.build_conversation_context(" hello ", "s"))[-1] == (USER, "hello")
    assert told(memory.get_history("s")) == told(SUM)


def test_it_extends_agent_context_manager(made: Wired) -> None:
    """`BasicShortTermMemory` extends `AgentContextManager` from `ovos-plugin-manager`."""
    assert isinstance(made(), AgentContextManager)


@pytest.mark.parametrize("name", ["get_history", "update_history", "build_conversation_context"])
def test_third_party_memory_plugins_implement_the_same_interface(name: str) -> None:
    """Third-party memory plugins (e.g. persistent database-backed, vector-store-based) implement the same
    interface."""
    wanted = inspect.signature(getattr(AgentContextManager, name)).parameters
    assert list(inspect.signature(getattr(PersonaMemoryPlugin, name)).parameters) == list(wanted)


def test_a_persona_goes_on_where_its_memory_is_unavailable(made: Wired) -> None:
    """If a configured `memory_module` is unavailable, the persona degrades gracefully with memory disabled rather than
    failing to load."""
    memory = made(system_prompt="You are Ada.")
    made.transport.bus.connected = False
    memory.update_history(SUM, "s")
    context = memory.build_conversation_context("hello", "s")
    assert told(context) == [(SYSTEM, "You are Ada."), *told(SUM), (USER, "hello")]
    assert "context" not in [asked.verb for asked in made.transport.bus.asked]
    made.transport.bus.connected = True
    assert told(memory.build_conversation_context("hello", "s")) == told(context)
    assert "context" in [asked.verb for asked in made.transport.bus.asked]


def test_history_is_isolated_per_session(made: Wired) -> None:
    """History is isolated per session: all storage and retrieval are keyed by `session_id`."""
    memory = made()
    memory.update_history(SUM, "s")
    memory.update_history([AgentMessage(USER, "hello"), AgentMessage(ASSISTANT, "hi")], "t")
    assert told(memory.get_history("s")) == told(SUM)
    assert told(memory.get_history("t")) == [(USER, "hello"), (ASSISTANT, "hi")]


def test_concurrent_conversations_never_see_each_others_context(made: Wired) -> None:
    """Concurrent conversations on different sessions never see each other's context (with `recall_session: true`)."""
    memory = made(max_history=40, recall=3, recall_session=True)

    def talk(name: str) -> None:
        for number in range(10):
            asked = AgentMessage(USER, f"my {name} is called Bob {number}")
            memory.update_history([asked, AgentMessage(ASSISTANT, f"a fine {name}")], name)

    talking = [threading.Thread(target=talk, args=(name,)) for name in ("cat", "dog")]
    for one in talking:
        one.start()
    for one in talking:
        one.join()
    for name, other in (("cat", "dog"), ("dog", "cat")):
        context = memory.build_conversation_context(f"what is my {other} called", name)
        assert len(context) == 21
        assert all(name in message.content and other not in message.content for message in context[:-1])


def test_turns_are_recorded_against_the_persona_active_for_their_session(made: Wired) -> None:
    """With per-session active personas, each session's turns are recorded against the persona active for that
    session."""
    memory = made()

    def handle(message: Message) -> None:
        memory.update_history(SUM, message.context["session"]["session_id"])

    for session, active in (("s", "Ada"), ("t", "Bob")):
        handle(Message("persona:query", {}, {"session": {"session_id": session, "persona_id": active}}))
    for session, active, other in (("s", "Ada", "Bob"), ("t", "Bob", "Ada")):
        assert made.memory.history(Scope(session_id=session, persona_id=active))
        assert made.memory.history(Scope(session_id=session, persona_id=other)) == []
