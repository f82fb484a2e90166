"""How an engine remembers: what its block says, and which engine it is put around."""

from __future__ import annotations

from typing import Any

import pytest
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.opm.remembering import WRAPPER, brain_of, settings


class Engine(ChatEngine):  # type: ignore[misc]  # ovos_plugin_manager carries no types
    """Says nothing."""

    def continue_chat(self, messages: list[AgentMessage], **_: Any) -> AgentMessage:
        return AgentMessage(MessageRole.ASSISTANT, "")


KNOWN = {"engine": Engine, WRAPPER: ChatEngine}


def test_the_brain_is_a_class_of_its_own_with_the_block_of_its_name() -> None:
    made, block = brain_of({"brain": "engine", "engine": {"key": "none"}}, KNOWN)
    assert made is not Engine and issubclass(made, Engine)
    assert (made.__name__, block) == ("Engine", {"key": "none"})
    assert brain_of({"brain": "engine"}, KNOWN)[1] == {}


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({}, "brain: is missing; name one of engine"),
        ({"brain": "nothing"}, "brain: 'nothing' is no chat engine that is installed"),
        ({"brain": WRAPPER}, f"brain: {WRAPPER!r} is no chat engine"),
        ({"brain": "engine", "engine": "x"}, "engine: must be an object"),
    ],
)
def test_a_brain_that_cannot_be_wrapped_is_named(config: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        brain_of(config, KNOWN)


def test_settings_are_read_with_their_defaults_and_refused_by_name() -> None:
    assert settings({}) == {"extract": True, "inject": True, "top_k": 5, "mode": "system", "extraction_model": None}
    for name, value in (("extract", 1), ("inject", "yes"), ("top_k", -1), ("inject_mode", "aloud")):
        with pytest.raises(ConfigError, match=f"{name}: "):
            settings({name: value})
