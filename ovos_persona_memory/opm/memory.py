"""The memory plugin: a drop-in for ovos-persona's BasicShortTermMemory that asks the daemon."""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from dataclasses import asdict, replace
from typing import Any, get_args

from ovos_plugin_manager.templates.agents import AgentContextManager, AgentMessage

from ovos_persona_memory.config import HistoryConfig, bus_address, device_language, load, seconds
from ovos_persona_memory.conversation import Recalled, Window, compaction, history, strategies
from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.opm.agent_messages import to_agent, to_context, to_turn
from ovos_persona_memory.opm.memory_link import MemoryLink, caller, one_of, switch, whole
from ovos_persona_memory.protocol import shared_transport
from ovos_persona_memory.records import Context, ContextRequest, Inject, Scope, StrategyName, Turn

SESSIONS = 200
TURNS = 400
"""Capacity of the window in RAM: sessions, and turns of each."""


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
            whole(self.config, "max_history", 5),
            whole(self.config, "max_rounds", None),
            whole(self.config, "max_tokens", None),
        )
        if self._strategy is not None:
            self._window = replace(self._strategy.window, max_rounds=self._window.max_rounds)
        self._context_tokens = whole(self.config, "context_tokens", None)
        self._recall = whole(self.config, "recall", None)
        self._recall_session = switch(self.config, "recall_session", False)
        self._inject: Inject = one_of(self.config, "inject_mode", get_args(Inject))
        self._heard: OrderedDict[str, list[Turn]] = OrderedDict()
        self._lock = threading.Lock()  # guards _heard
        transport = shared_transport(**bus_address(self.config.get("host"), self.config.get("port")))
        self._link = MemoryLink(transport, seconds(self.config, "timeout_s", 0.5))
        transport.told_of_forgetting.append(self._empty_window)

    def get_history(self, session_id: str) -> list[AgentMessage]:
        """The newest messages of the session, oldest first, its ends as they are; empty for an unknown one."""
        window = asdict(self._window)
        limits = {name: window[name] for name in ("max_history", "max_rounds", "max_tokens")}
        answer = self._link.ask(lambda: self._link.client.history(Scope(session_id=session_id), hanging=True, **limits))
        if answer is None:
            answer = history.raw_history(self._known(session_id), self._window, time.time())
        return to_agent(answer)

    def update_history(self, new_messages: list[AgentMessage], session_id: str) -> None:
        """Record the messages; returns at once."""
        if not new_messages:
            return
        batch, now = uuid.uuid4().hex, time.time()
        turns = [to_turn(to_context(message), batch, now, session_id) for message in new_messages]
        with self._lock:
            known = self._heard.setdefault(session_id, [])
            known.extend(turns)
            del known[:-TURNS]
            self._heard.move_to_end(session_id)
            while len(self._heard) > SESSIONS:
                self._heard.popitem(last=False)
        self._link.deliver(turns, Scope(session_id=session_id), batch)

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
        known = self._link.ask(lambda: self._link.client.context(request))
        if known is not None:
            return to_agent(known.messages)
        return to_agent(self._without_daemon(request, session_id).messages)

    def _without_daemon(self, request: ContextRequest, session_id: str) -> Context:
        """What is known in RAM, by the same rules, as short as the context is to be."""
        now, settings = time.time(), _history_settings()
        most = settings.context_tokens if request.context_tokens is None else request.context_tokens
        lang = caller(request.scope)["session"].get("lang") or device_language()
        recent = history.history(self._known(session_id), self._window, now)
        parts = compaction.ContextParts(replace(request, lang=lang), recent, Recalled([], 0, 0), now)
        return compaction.fitted(parts, most, settings.summary_tokens)

    def _empty_window(self) -> None:
        """Clear the window in RAM after a deletion, since the notification does not say which turns are gone."""
        with self._lock:
            self._heard.clear()

    def _known(self, session_id: str) -> list[Turn]:
        with self._lock:
            return list(self._heard.get(session_id, ()))


def _history_settings() -> HistoryConfig:
    """The settings of this device; the usual ones where they cannot be used, of which the daemon tells."""
    try:
        return load().history
    except ConfigError:
        return HistoryConfig()


def _strategy(config: dict[str, Any]) -> strategies.Strategy | None:
    """How the history is kept short; None: by ``max_history``, ``max_rounds`` and ``max_tokens``."""
    named = config.get("strategy")
    if named is not None and named not in get_args(StrategyName):
        raise ConfigError(f"strategy: {named!r} is none of {', '.join(get_args(StrategyName))}")
    size, tokens = whole(config, "window_size", None), whole(config, "max_tokens", None)
    threshold = whole(config, "summary_threshold", None)
    return None if named is None else strategies.named(named, size, tokens, threshold)
