"""Between a persona's messages, as its plugins are handed them, and turns and messages of ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole

from ovos_persona_memory.records import ContextMessage, Role, ToolCall, Turn, Unfit, text_of

_ROLES = {role.value: role for role in MessageRole}


def to_turn(said: ContextMessage, batch: str, now: float, session_id: str | None) -> Turn:
    """A message of ours as a turn to record."""
    return Turn(
        role=said.role,
        text=said.text,
        at=now,
        session_id=session_id,
        source="record",
        batch=batch,
        tool_calls=said.tool_calls,
        tool_call_id=said.tool_call_id,
        name=said.name,
        is_error=said.is_error,
    )


def to_context(message: Any) -> ContextMessage:
    """A message, or whatever has the fields of one, in our own shape."""
    calls = getattr(message, "tool_calls", None) or ()
    role: Role = message.role.value if isinstance(message.role, MessageRole) else message.role
    return ContextMessage(
        role=role,
        text=_words(message.content or ""),
        tool_calls=tuple(ToolCall(call.id, call.name, dict(call.arguments)) for call in calls),
        tool_call_id=getattr(message, "tool_call_id", None),
        name=getattr(message, "name", None),
        is_error=bool(getattr(message, "is_error", False)),
    )


def _words(content: Any) -> str:
    """What a message says, its content blocks as text; whatever else it may be as Python writes it."""
    try:
        return text_of(content)
    except Unfit:
        return str(content)


def to_agent(messages: Iterable[ContextMessage]) -> list[AgentMessage]:
    """Our messages as a persona takes them; those of a role that this version does not know are left out."""
    return [_agent_message(message) for message in messages if message.role in _ROLES]


def _agent_message(message: ContextMessage) -> AgentMessage:
    made = AgentMessage(role=_ROLES[message.role], content=message.text)
    if message.tool_calls:
        made.tool_calls = _agent_calls(message.tool_calls)
    if message.role == "tool":
        made.tool_call_id, made.name = message.tool_call_id, message.name
    return made


def _agent_calls(calls: Sequence[ToolCall]) -> list[Any]:
    # OPM before 2.3 knows no tool calls, and then none was ever handed in
    from ovos_plugin_manager.templates import agents

    return [agents.ToolCall(id=call.id, name=call.name, arguments=call.arguments) for call in calls]
