"""The memory plugin: a drop-in for ovos-persona's BasicShortTermMemory that asks the daemon."""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, get_args

from ovos_plugin_manager.templates.agents import AgentContextManager, AgentMessage, MessageRole
from ovos_utils.log import LOG

from ovos_persona_memory.config import bus_address, seconds
from ovos_persona_memory.conversation import Recalled, Window, history, prompt, strategies
from ovos_persona_memory.errors import ConfigError, PersonaMemoryError
from ovos_persona_memory.protocol import MemoryClient, Outbox, shared_transport
from ovos_persona_memory.records import (
    ContextMessage,
    ContextRequest,
    Inject,
    Role,
    Scope,
    StrategyName,
    ToolCall,
    Turn,
    Unfit,
    text_of,
)

REST_S = 5.0
"""After a miss the daemon is not asked again for so long, seconds."""
SESSIONS = 200
TURNS = 400
"""What the window in RAM holds at most: sessions, and turns of each."""

_ROLES = {role.value: role for role in MessageRole}


class PersonaMemoryPlugin(AgentContextManager):  # type: ignore[misc]  # ovos_plugin_manager carries no types
    """Asks the daemon for a persona's context and tells it what the persona said.

    A persona never waits: a daemon that is away is a miss at once, an answer takes at most
    ``timeout_s``, and after a miss the conversation goes on from a window in RAM by the same
    rules. What was told meanwhile is delivered when the daemon is back.

    Settings, in the persona's block ``ovos-persona-memory-plugin``: ``max_history`` (5),
    ``max_rounds``, ``max_tokens``, ``strategy`` with ``window_size``, ``max_tokens`` or
    ``summary_threshold``, ``context_tokens`` of the whole context, ``system_prompt``, ``recall`` (hits at
    most), ``recall_session`` (false: of all the user's sessions), ``inject_mode`` (system), ``timeout_s`` (0.5),
    ``host`` and ``port`` of the bus.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__({**(config or {})})
        self.config["system_prompt"] = self.config.get("system_prompt") or ""
        self._strategy = _strategy(self.config)
        self._window = Window(
            _whole(self.config, "max_history", 5),
            _whole(self.config, "max_rounds", None),
            _whole(self.config, "max_tokens", None),
        )
        if self._strategy is not None:
            self._window = replace(self._strategy.window, max_rounds=self._window.max_rounds)
        self._context_tokens = _whole(self.config, "context_tokens", None)
        self._recall = _whole(self.config, "recall", None)
        self._recall_session = _switch(self.config, "recall_session", False)
        self._inject: Inject = _one_of(self.config, "inject_mode", get_args(Inject))
        self._heard: OrderedDict[str, list[Turn]] = OrderedDict()
        self._lock = threading.Lock()  # guards _heard
        self._rest_until = 0.0
        self._transport = shared_transport(**bus_address(self.config.get("host"), self.config.get("port")))
        self._client = MemoryClient(self._transport, timeout_s=seconds(self.config, "timeout_s", 0.5))
        self._transport.told_of_forgetting.append(self._empty_window)
        self._outbox = Outbox(self._transport)

    def get_history(self, session_id: str) -> list[AgentMessage]:
        """The newest messages of the session, oldest first, its ends as they are; empty for an unknown one."""
        window = asdict(self._window)
        limits = {name: window[name] for name in ("max_history", "max_rounds", "max_tokens")}
        answer = self._ask(lambda: self._client.history(Scope(session_id=session_id), hanging=True, **limits))
        if answer is None:
            answer = history.raw_history(self._known(session_id), self._window, time.time())
        return _to_agent(answer)

    def update_history(self, new_messages: list[AgentMessage], session_id: str) -> None:
        """Take in what was said; returns at once."""
        if not new_messages:
            return
        batch, now = uuid.uuid4().hex, time.time()
        turns = [_to_turn(message, batch, now, session_id) for message in new_messages]
        with self._lock:
            known = self._heard.setdefault(session_id, [])
            known.extend(turns)
            del known[:-TURNS]
            self._heard.move_to_end(session_id)
            while len(self._heard) > SESSIONS:
                self._heard.popitem(last=False)
        self._outbox.deliver(turns, Scope(session_id=session_id), batch)

    def build_conversation_context(self, utterance: str, session_id: str) -> list[AgentMessage]:
        """System message if there is anything for it, the session's history, the utterance last."""
        strategy = self._strategy
        request = ContextRequest(
            utterance=utterance,
            scope=Scope(session_id=session_id),
            max_history=self._window.max_history if strategy is None else strategy.window_size,
            max_rounds=self._window.max_rounds,
            max_tokens=self._window.max_tokens,
            strategy=None if strategy is None else strategy.name,
            summary_threshold=None if strategy is None else strategy.summary_threshold,
            context_tokens=self._context_tokens,
            system_prompt=self.system_prompt,
            recall=self._recall,
            session=self._recall_session,
            inject=self._inject,
        )
        known = self._ask(lambda: self._client.context(request))
        if known is not None:
            return _to_agent(known.messages)
        now = time.time()
        recent = history.history(self._known(session_id), self._window, now)
        return _to_agent(prompt.build_prompt(request, recent, Recalled([], 0, 0), now).messages)

    def _empty_window(self) -> None:
        """Something was forgotten: nobody says what, so that everything that is kept in RAM goes."""
        with self._lock:
            self._heard.clear()

    def _known(self, session_id: str) -> list[Turn]:
        with self._lock:
            return list(self._heard.get(session_id, ()))

    def _ask(self, question: Any) -> Any:
        """The daemon's answer; None, soon, where it is away or says no."""
        if not self._transport.connected or time.monotonic() < self._rest_until:
            self._note_absence("the messagebus is away")
            return None
        try:
            answer = question()
        except PersonaMemoryError as error:
            self._rest_until = time.monotonic() + REST_S
            self._note_absence(error.reason)
            return None
        self._absent = False
        return answer

    _absent = False

    def _note_absence(self, reason: str) -> None:
        if not self._absent:
            LOG.warning("the persona goes on without its memory: %s", reason)
        self._absent = True


def _whole(config: dict[str, Any], name: str, default: int | None) -> int | None:
    value = config.get(name, default)
    if value is None:
        return default
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise ConfigError(f"{name}: {value!r} is no whole number") from None
    if number < 0:
        raise ConfigError(f"{name}: must not be below 0")
    return number


def _strategy(config: dict[str, Any]) -> strategies.Strategy | None:
    """How the history is kept short; None: by ``max_history``, ``max_rounds`` and ``max_tokens``."""
    named = config.get("strategy")
    if named is not None and named not in get_args(StrategyName):
        raise ConfigError(f"strategy: {named!r} is none of {', '.join(get_args(StrategyName))}")
    size, tokens = _whole(config, "window_size", None), _whole(config, "max_tokens", None)
    threshold = _whole(config, "summary_threshold", None)
    return None if named is None else strategies.named(named, size, tokens, threshold)


def _switch(config: dict[str, Any], name: str, default: bool) -> bool:
    value = config.get(name, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{name}: {value!r} is neither true nor false")
    return value


def _one_of(config: dict[str, Any], name: str, allowed: tuple[Any, ...]) -> Any:
    value = config.get(name) or allowed[0]
    if value not in allowed:
        raise ConfigError(f"{name}: {value!r} is none of {', '.join(allowed)}")
    return value


def _to_turn(message: AgentMessage, batch: str, now: float, session_id: str) -> Turn:
    calls = getattr(message, "tool_calls", None) or ()
    role: Role = message.role.value if isinstance(message.role, MessageRole) else message.role
    return Turn(
        role=role,
        text=_words(message.content or ""),
        at=now,
        session_id=session_id,
        source="record",
        batch=batch,
        tool_calls=tuple(ToolCall(call.id, call.name, dict(call.arguments)) for call in calls),
        tool_call_id=getattr(message, "tool_call_id", None),
        name=getattr(message, "name", None),
    )


def _words(content: Any) -> str:
    """What a message says, its content blocks as text; whatever else it may be as Python writes it."""
    try:
        return text_of(content)
    except Unfit:
        return str(content)


def _to_agent(messages: Iterable[ContextMessage]) -> list[AgentMessage]:
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
