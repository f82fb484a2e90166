"""Between a persona's messages, as its plugins are handed them, and turns and messages of ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ovos_plugin_manager.templates.agents import AgentMessage, MessageRole

from ovos_persona_memory.conversation import shorten_message
from ovos_persona_memory.protocol import MAX_TEXT
from ovos_persona_memory.records import MAX_DEPTH, ContextMessage, Role, ToolCall, Turn, Unfit, is_clean, text_of

_ROLES = {role.value: role for role in MessageRole}


UNNAMED = "unnamed"
"""The id of a call that a model gave none, and the name of one without a name."""
MOST_CALLS = 64
"""Calls of one message that are kept."""
DEEP = MAX_DEPTH - 6
"""Levels of arguments that are kept: the request that they are recorded with adds some."""
LONGEST_NAME = 256
"""Characters of an id or a name that are kept."""


def to_turn(said: ContextMessage, batch: str, now: float, session_id: str | None) -> Turn:
    """A message of ours as a turn that can be recorded, whatever a model made of it.

    One turn that is refused takes its whole exchange with it, so it is made to fit: of a text that is too long the
    middle is left out, visibly, and so are characters that no store takes, and arguments that do not fit.
    """
    fitting = shorten_message(replace(said, text=_clean(said.text)), MAX_TEXT // 4 - 1)
    return Turn(
        role=said.role,
        text=fitting.text,
        at=now,
        session_id=session_id,
        source="record",
        batch=batch,
        tool_calls=tuple(
            ToolCall(_name(call.id), _name(call.name), call.arguments if _fits(call.arguments) else {})
            for call in said.tool_calls[:MOST_CALLS]
        ),
        tool_call_id=_name(said.tool_call_id) if said.role == "tool" else said.tool_call_id,
        name=None if said.name is None else _name(said.name),
        is_error=said.is_error,
    )


def _name(given: object) -> str:
    return _clean(str(given or UNNAMED))[:LONGEST_NAME] or UNNAMED


def _clean(text: str) -> str:
    """A text without NUL and lone surrogates, which no store takes."""
    return text if is_clean(text) else text.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")


def _is_flat(value: Any, deep: int) -> bool:
    """Whether a value has no more levels than this."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return deep >= 0 and all(_is_flat(one, deep - 1) for one in inner)


def _fits(arguments: Mapping[str, Any]) -> bool:
    try:
        written = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return len(written) <= MAX_TEXT and is_clean(written) and r"\u0000" not in written and _is_flat(arguments, DEEP)


def to_context(message: Any) -> ContextMessage:
    """A message, or whatever has the fields of one, in our own shape."""
    calls = getattr(message, "tool_calls", None) or ()
    role: Role = message.role.value if isinstance(message.role, MessageRole) else message.role
    return ContextMessage(
        role=role,
        text=_words(message.content or ""),
        tool_calls=tuple(map(_tool_call, calls)),
        tool_call_id=getattr(message, "tool_call_id", None),
        name=getattr(message, "name", None),
        is_error=bool(getattr(message, "is_error", False)),
    )


def _tool_call(call: Any) -> ToolCall:
    """A call as it is kept: arguments that a model gave as anything but an object are none."""
    arguments = dict(call.arguments) if isinstance(call.arguments, Mapping) else {}
    return ToolCall(str(call.id or UNNAMED), str(call.name or UNNAMED), arguments)


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
