"""The history of a prompt by the strategies of the settings and of a persona."""

from __future__ import annotations

import pytest
from support.plugins import Make

from ovos_persona_memory.config import HistoryConfig, MemoryConfig, parse, settled
from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextMessage, ContextRequest, Scope, Turn
from ovos_persona_memory.stores import store_locations

HERE = Scope(session_id="s1")


def opened(**history: object) -> PersonaMemory:
    section = {"backend": "memory", "history": {"max_age_s": 1e9, **history}, "recall": {"embedder": "none"}}
    return PersonaMemory.open(config=parse(section))


def talk(memory: PersonaMemory, rounds: int, text: str = "") -> None:
    for number in range(rounds):
        memory.record([Turn("user", f"question {number}{text}"), Turn("assistant", f"answer {number}{text}")], HERE)


def shown(messages: list[ContextMessage]) -> list[str]:
    return [message.text for message in messages if message.role in ("user", "assistant")]


def asked(memory: PersonaMemory, **limits: object) -> list[str]:
    request = ContextRequest("and now", HERE, recall=0, **limits)  # type: ignore[arg-type]  # its own fields
    return shown(memory.context(request).messages)[:-1]


def test_the_settings_name_a_sliding_window_for_whoever_sets_no_limits() -> None:
    with opened(strategy="sliding_window", window_size=8) as memory:
        talk(memory, 10)
        expected = [f"{kind} {number}" for number in range(6, 10) for kind in ("question", "answer")]
        assert asked(memory) == shown(memory.history(HERE)) == expected
        assert asked(memory, max_history=2) == expected[-2:]


def test_the_settings_name_a_budget_of_tokens() -> None:
    with opened(strategy="token_budget", max_tokens=24) as memory:
        talk(memory, 40)
        expected = [f"{kind} {number}" for number in range(36, 40) for kind in ("question", "answer")]
        assert asked(memory) == expected  # of three tokens each


@pytest.mark.full
def test_of_a_long_session_a_budget_of_tokens_finds_what_reading_everything_would() -> None:
    with opened(strategy="token_budget", max_tokens=3000) as memory:
        talk(memory, 700)
        memory.history(HERE, max_history=None)
        everything = shown(memory.history(HERE, max_history=None))
        found = asked(memory)
        assert found == everything[-len(found) :]
        assert sum(-(-len(text) // 4) for text in found) in range(2990, 3001)


def test_a_persona_names_its_own(plugin: Make) -> None:
    with opened(strategy="sliding_window", window_size=2) as memory:
        talk(memory, 10)
        for block, number in (({}, 2), ({"strategy": "sliding_window", "window_size": 6}, 6), ({"max_history": 4}, 4)):
            messages = plugin("memory", memory, recall=0, **block).build_conversation_context("and now", "s1")
            assert len(messages) - 1 == number, block
            assert len(plugin("memory", memory, **block).get_history("s1")) == number


def test_a_persona_with_a_budget_of_tokens_is_handed_what_fits(plugin: Make) -> None:
    with opened() as memory:
        talk(memory, 10)
        asking = plugin("memory", memory, recall=0, strategy="token_budget", max_tokens=24)
        messages = asking.build_conversation_context("and now", "s1")
        assert [message.content for message in messages] == [
            *(f"{kind} {number}" for number in range(6, 10) for kind in ("question", "answer")),
            "and now",
        ]


def test_a_strategy_that_nobody_knows_is_refused(plugin: Make) -> None:
    with opened() as memory, pytest.raises(ConfigError, match="none of sliding_window, token_budget, summary"):
        plugin("memory", memory, strategy="everything")
    with pytest.raises(ConfigError, match=r"history\.strategy: 'all' is none of sliding_window"):
        parse({"history": {"strategy": "all"}})
    with pytest.raises(ConfigError, match=r"history\.summary_threshold"):
        parse({"history": {"summary_threshold": 0}})


def test_other_names_of_backends_are_understood() -> None:
    kinds = {"conversational": {"backend": "memory"}, "semantic": {"backend": "pgvector", "connection": "postgresql:"}}
    found = store_locations(parse({"kinds": kinds}))
    assert {name: place.backend for name, place in found.items()} == {
        "conversational": "inmemory",
        "semantic": "postgres",
    }


def test_how_many_episodes_a_context_has_can_be_said_with_their_kind() -> None:
    assert settled(parse({"kinds": {"episodic": {"top_k": 4}}})).recall.episodes == 4
    assert settled(MemoryConfig(history=HistoryConfig())).recall.episodes == 0
