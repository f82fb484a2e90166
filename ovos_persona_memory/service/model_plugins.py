"""Language models by the names of their plugins, and where what they are asked goes to."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from ipaddress import ip_address
from typing import Any, get_args
from urllib.parse import urlsplit

from ovos_persona_memory.config import ModelsConfig, secret
from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.memory import Model, ModelKind, proposals, restatements
from ovos_persona_memory.records import ContextMessage

SESSION = "ovos-persona-memory"
"""The session in which models are asked, so that no plugin mixes it with a talk."""
DEEP = 3
"""So deep an address is looked for in a plugin: a setting, an attribute, an attribute of an attribute."""
TOOLS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "introspection": proposals.DEFINITIONS,
    "facts": restatements.DEFINITIONS,
}
"""The tools that a model may call for a kind of job."""
Made = Callable[[Mapping[str, Any]], Any]
Asked = Callable[[Sequence[ContextMessage], str | None], str]


def open_model(job: str, config: ModelsConfig, named: str | None = None) -> Model | None:
    """The model that the settings name for a kind of job, ``named`` or in ``models``; None where they name none.

    ConfigError, which tells no setting's value, where it cannot be had.
    """
    name: str | None = named or getattr(config, job, None)
    if name is None:
        return None
    setting = f"models.{job}" if hasattr(config, job) else f"{job}.model"
    kind, plugin = _plugin(setting, name, ("chat",) if job in TOOLS else get_args(ModelKind))
    settings = {key: _told(value) for key, value in config.plugins.get(name, {}).items()}
    try:
        engine = plugin(settings)
    except Exception as error:  # a plugin may raise anything, and say a key in it
        raise ConfigError(f"{setting}: {name} cannot be started ({type(error).__name__})") from error
    hosts = sorted({*_hosts(settings), *_hosts(engine)})
    leaves = any(not _is_here(host) for host in hosts) if hosts else None
    asked = _ASKED[kind](engine)
    if job in TOOLS and getattr(engine, "supports_tools", False):
        asked = _calling(engine, TOOLS[job], asked)
    return Model(name, kind, asked, ", ".join(hosts), leaves)


def _plugin(setting: str, name: str, kinds: Collection[ModelKind]) -> tuple[ModelKind, Made]:
    """The kind of a plugin and the plugin: one that summarises talk, else one that summarises texts or chats."""
    try:
        from ovos_plugin_manager import agents
    except ImportError as error:
        raise ConfigError(f"{setting}: this OVOS plugin manager knows no language models") from error
    looked_in: tuple[tuple[ModelKind, str, Callable[[], Mapping[str, Made]]], ...] = (
        ("summarizer", "opm.agents.summarizer.chat", agents.find_chat_summarizer_plugins),
        ("document", "opm.agents.summarizer", agents.find_summarizer_plugins),
        ("chat", "opm.agents.chat", agents.find_chat_plugins),
    )
    for kind, _, find in looked_in:
        if kind in kinds and (made := find().get(name)) is not None:
            return kind, made
    groups = ", ".join(group for kind, group, _ in looked_in if kind in kinds)
    raise ConfigError(f"{setting}: there is no plugin named {name!r} in any of {groups}")


def _told(value: Any) -> Any:
    return secret(value) if isinstance(value, str) else value


def _chatting(engine: Any) -> Asked:
    def answer(messages: Sequence[ContextMessage], lang: str | None) -> str:
        return _text(engine.continue_chat(_agent_messages(messages), session_id=SESSION, lang=lang).content)

    return answer


def _calling(engine: Any, tools: Sequence[Mapping[str, Any]], without: Asked) -> Asked:
    """A chat with tools: what is called comes as JSON behind the answer, so that it is read as though it was written.

    A server that refuses tools is asked without from then on, with the next attempt.
    """
    refused: list[Exception] = []

    def answer(messages: Sequence[ContextMessage], lang: str | None) -> str:
        if refused:
            return without(messages, lang)
        given = _agent_messages(messages)
        try:
            answered = engine.continue_chat(given, session_id=SESSION, lang=lang, tools=list(tools))
        except Exception as error:  # a plugin may raise anything
            refused.append(error)
            raise
        calls = [{"tool": call.name, "arguments": call.arguments} for call in answered.tool_calls or ()]
        return "\n".join(filter(None, (_text(answered.content), json.dumps(calls) if calls else "")))

    return answer


def _summarising(engine: Any) -> Asked:
    def answer(messages: Sequence[ContextMessage], lang: str | None) -> str:
        return _text(engine.summarize(_agent_messages(messages), lang=lang))

    return answer


def _retelling(engine: Any) -> Asked:
    def answer(messages: Sequence[ContextMessage], lang: str | None) -> str:
        return _text(engine.summarize("\n\n".join(message.text for message in messages), lang=lang))

    return answer


_ASKED: dict[ModelKind, Callable[[Any], Asked]] = {
    "chat": _chatting,
    "summarizer": _summarising,
    "document": _retelling,
}


def _text(answered: Any) -> str:
    """What a plugin answered; None, where it has nothing to say, is no text."""
    return answered if isinstance(answered, str) else ""


def _agent_messages(messages: Sequence[ContextMessage]) -> list[Any]:
    from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole

    return [AgentMessage(role=MessageRole(message.role), content=message.text) for message in messages]


# where it goes


def _hosts(held: Any, deep: int = DEEP) -> Iterator[str]:
    """Host and port of every web address in some settings, or in what a plugin holds."""
    if isinstance(held, str):
        yield from _host(held)
    elif deep > 0:
        inner = held.values() if isinstance(held, Mapping) else vars(held).values() if hasattr(held, "__dict__") else ()
        for value in list(inner):
            yield from _hosts(value, deep - 1)


def _host(text: str) -> Iterator[str]:
    if text.startswith(("http://", "https://")):
        try:
            parts = urlsplit(text)
            where = parts.hostname and (f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname)
        except ValueError:
            return
        if where:
            yield where


def _is_here(host: str) -> bool:
    """Whether a host is this device itself."""
    name = host.rpartition(":")[0] or host
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
