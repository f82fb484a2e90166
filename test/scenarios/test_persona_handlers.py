"""Our handlers of a persona whose memory puts its notes before the utterance (injection mode user)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import ConfigError, InvalidRequest
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextRequest, Scope, Turn
from ovos_persona_memory.stores.inmemory.store import InMemoryStore

Make = Callable[..., Any]


@pytest.fixture
def memory() -> PersonaMemory:
    known = PersonaMemory(InMemoryStore(), MemoryConfig())
    known.record([Turn("user", "my cat is called Bob")], Scope(session_id="elsewhere"))
    return known


def asked(plugin: Make, memory: PersonaMemory, utterance: str) -> list[AgentMessage]:
    built: list[AgentMessage] = plugin("memory", memory, inject_mode="user").build_conversation_context(
        utterance, "here"
    )
    assert built[-1].content.startswith("What was said earlier."), "the notes stand before the utterance"
    return built


def test_a_question_is_answered_as_if_there_were_no_notes(plugin: Make, memory: PersonaMemory) -> None:
    built = asked(plugin, memory, "what is my cat called")
    assert "Bob" in plugin("chat", memory).continue_chat(built, "here", "en-US").content
    assert plugin("retrieval", memory).query(built[-1].content, "en-US", k=1) == [("my cat is called Bob", 1.0)]


def context_of(plugin: Make, memory: PersonaMemory, **settings: Any) -> str:
    made = plugin("memory", memory, max_history=2, **settings)
    built: list[AgentMessage] = made.build_conversation_context("what is my cat called", "here")
    return "\n".join(message.content for message in built)


def test_recall_may_keep_to_the_own_session(plugin: Make, memory: PersonaMemory) -> None:
    assert "Bob" in context_of(plugin, memory)
    assert "Bob" not in context_of(plugin, memory, recall_session=True)
    for n in range(30):
        memory.record([Turn("user", f"my cat is called Noisy {n}")], Scope(session_id=f"noise {n}"))
    memory.record([Turn("user", "my cat is called Kim"), Turn("assistant", "nice")], Scope(session_id="here"))
    memory.record([Turn("user", "what now"), Turn("assistant", "tea")], Scope(session_id="here"))
    found = context_of(plugin, memory, recall_session=True)
    assert "Kim" in found and "Bob" not in found and "Noisy" not in found


def test_who_keeps_to_the_own_session_is_foreseen_nothing_of_another(memory: PersonaMemory) -> None:
    here = ContextRequest("what is my cat called", Scope(session_id="here"), session=True)
    assert memory.context(here).hits == []
    memory.prefetch(Turn("user", "what is my cat called", session_id="here"))
    assert memory.context(here).hits == []
    assert [hit.text for hit in memory.context(replace(here, session=False)).hits] == ["my cat is called Bob"]


def test_the_own_session_needs_a_session(memory: PersonaMemory) -> None:
    with pytest.raises(InvalidRequest, match=r"^session: "):
        memory.context(ContextRequest("what is my cat called", session=True))


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_a_switch_that_is_none_is_refused_by_its_name(plugin: Make, memory: PersonaMemory, value: object) -> None:
    with pytest.raises(ConfigError, match="recall_session"):
        plugin("memory", memory, recall_session=value)


def test_notes_are_not_taken_for_what_the_user_says(plugin: Make, memory: PersonaMemory) -> None:
    built = asked(plugin, memory, "my cat is Bob")
    plugin("chat", memory).continue_chat(built, "here", "en-US")
    kept = [message.text for message in memory.snapshot(Scope(session_id="here"), None)["messages"]]
    hits = memory.recall("my cat Bob", Scope(session_id="here"), k=9)
    assert "my cat is Bob" in [hit.text for hit in hits]
    assert not [text for text in (*kept, *(hit.text for hit in hits)) if "What was said earlier" in text]


def test_scribe_answers_who_asks_in_the_words_of_a_statement(plugin: Make, memory: PersonaMemory) -> None:
    scribe = plugin("chat", memory)

    def answer(text: str) -> str:
        content: str = scribe.continue_chat([AgentMessage(MessageRole.USER, text)], "here", "en-US").content
        return content

    assert answer("my cat is called Bob isn't that right") == "You told me today: my cat is called Bob."
    assert answer("I don't eat pork do I") == "I know nothing about that."
    assert answer("I don't eat pork") == "I'll remember: I don't eat pork."
    assert answer("I don't eat pork do I") == "You told me today: I don't eat pork."
