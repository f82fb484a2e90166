"""Language models by the names of their plugins, and where what they are asked goes to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ovos_plugin_manager import agents
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, ChatSummarizerEngine, MessageRole, ToolCall

from ovos_persona_memory.config import ModelsConfig
from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.records import ContextMessage
from ovos_persona_memory.service.model_plugins import open_model

CHAT, DOCUMENT = "ovos-chat-openai-plugin", "ovos-summarizer-openai-plugin"


def named(name: str, **settings: Any) -> ModelsConfig:
    return ModelsConfig(summary=name, plugins={name: settings})


class Retelling(ChatSummarizerEngine):  # type: ignore[misc]  # ovos_plugin_manager carries no types
    """A plugin of somebody else."""

    def summarize(self, messages: list[AgentMessage], lang: str | None = None) -> str:
        return f"{lang}: " + ", ".join(f"{one.role.value} {one.content}" for one in messages)


def test_none_is_named_and_none_is_opened() -> None:
    assert open_model("summary", ModelsConfig()) is None


@pytest.mark.parametrize(("name", "kind"), [(CHAT, "chat"), (DOCUMENT, "document")])
@pytest.mark.parametrize(
    ("url", "where", "leaves"),
    [
        ("http://127.0.0.1:11434/v1", "127.0.0.1:11434", False),
        ("http://localhost:8080/v1", "localhost:8080", False),
        ("http://192.168.1.5:11434/v1", "192.168.1.5:11434", True),
        ("https://models.example.org/v1", "models.example.org", True),
        (None, "api.openai.com", True),
    ],
)
def test_a_plugin_says_where_it_asks_also_by_its_own_default(
    name: str, kind: str, url: str | None, where: str, leaves: bool
) -> None:
    model = open_model("summary", named(name, **({"api_url": url} if url else {})))
    assert model is not None
    assert (model.name, model.kind, model.where, model.leaves_device) == (name, kind, where, leaves)


def test_of_a_plugin_without_an_address_nobody_says_that_it_stays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "find_chat_summarizer_plugins", lambda: {"retelling": Retelling})
    model = open_model("summary", named("retelling"))
    assert model is not None
    assert (model.kind, model.where, model.leaves_device) == ("summarizer", "", None)
    messages = [ContextMessage("user", "hello"), ContextMessage("assistant", "hi")]
    assert model.answer(messages, "de-DE") == "de-DE: user hello, assistant hi"


def test_a_key_can_be_kept_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[dict[str, Any]] = []

    class Keeping(Retelling):
        def __init__(self, config: dict[str, Any]) -> None:
            kept.append(config)

    (tmp_path / "key").write_text("from the file\n")
    monkeypatch.setenv("MODEL_KEY", "from the environment")
    monkeypatch.setattr(agents, "find_chat_summarizer_plugins", lambda: {"keeping": Keeping})
    open_model("summary", named("keeping", a="env:MODEL_KEY", b=f"file:{tmp_path / 'key'}", c="plain", d=3))
    assert kept == [{"a": "from the environment", "b": "from the file", "c": "plain", "d": 3}]


def test_a_plugin_that_nobody_has_is_named_and_so_is_one_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"models\.summary: there is no plugin named 'nobody' in any of opm\."):
        open_model("summary", named("nobody"))

    def broken(config: dict[str, Any]) -> None:
        raise ValueError(f"bad key {config['key']}")

    monkeypatch.setattr(agents, "find_chat_plugins", lambda: {"broken": broken})
    with pytest.raises(ConfigError) as refused:
        open_model("summary", named("broken", key="hunter2"))
    assert refused.value.reason == "models.summary: broken cannot be started (ValueError)"


class Calling(ChatEngine):  # type: ignore[misc]  # ovos_plugin_manager carries no types
    """A chat of somebody else that can call tools, and a server that may refuse them."""

    supports_tools = True

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(config)
        self.refuses = bool((config or {}).get("refuses"))

    def continue_chat(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
        tools: Any = None,
    ) -> AgentMessage:
        if tools and self.refuses:
            raise OSError("tools are not supported")
        names = [one["function"]["name"] for one in tools or ()]
        calls = [ToolCall(id="1", name=names[0], arguments={"content": "Bob"})] if names else None
        return AgentMessage(role=MessageRole.ASSISTANT, content="" if calls else "[]", tool_calls=calls)


def calling(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Any:
    monkeypatch.setattr(agents, "find_chat_plugins", lambda: {"calling": Calling})
    model = open_model("introspection", ModelsConfig(plugins={"calling": settings}), "calling")
    assert model is not None and model.kind == "chat"
    return model


def test_what_a_model_calls_comes_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = calling(monkeypatch).answer([ContextMessage("user", "hello")], "en-US")
    assert json.loads(answer) == [{"tool": "memory_add", "arguments": {"content": "Bob"}}]


def test_a_server_that_refuses_tools_is_asked_without_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    model = calling(monkeypatch, refuses=True)
    with pytest.raises(OSError, match="not supported"):
        model.answer([ContextMessage("user", "hello")], "en-US")
    assert model.answer([ContextMessage("user", "hello")], "en-US") == "[]"


def test_what_only_summarises_cannot_propose() -> None:
    with pytest.raises(ConfigError, match=r"introspection\.model: there is no plugin named .* opm\.agents\.chat$"):
        open_model("introspection", ModelsConfig(), DOCUMENT)
