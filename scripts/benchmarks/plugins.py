"""Plugins that run inside ovos-core in part b: a memory chosen by the name of the session, and a persona's voice."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ovos_plugin_manager.templates.agents import AgentContextManager, AgentMessage, ChatEngine, MessageRole

from benchmarks.asking import BenchTransport
from benchmarks.without_quickack import acknowledge_when_it_suits
from ovos_persona_memory.opm.memory import PersonaMemoryPlugin
from ovos_persona_memory.protocol.transport import BusTransport, Patience
from ovos_persona_memory.records import Scope

TIMES = "BENCH_TIMES"
"""Environment variable: the file that takes one line of JSON for each request."""
UNHURRIED = "BENCH_UNHURRIED"
"""Environment variable: set where this process is not to use TCP_QUICKACK."""


class EchoMemory(AgentContextManager):
    """Asks the echo for each context, and stores nothing."""

    def __init__(self) -> None:
        super().__init__({})
        self.transport = BenchTransport()
        self.transport.bus.start()

    def get_history(self, session_id: str) -> list[AgentMessage]:
        """Nothing."""
        return []

    def update_history(self, new_messages: list[AgentMessage], session_id: str) -> None:
        """Nothing is kept."""

    def build_conversation_context(self, utterance: str, session_id: str) -> list[AgentMessage]:
        """The utterance, once the echo has answered."""
        echo = "stock" if os.environ.get(UNHURRIED) else "quick"
        self.transport.ask(echo, {"utterance": utterance}, Scope(session_id=session_id), Patience(0.5))
        return [AgentMessage(MessageRole.USER, utterance)]


class BenchMemory(AgentContextManager):
    """Passes each session to the memory that its name begins with, and notes how long the request took."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(config)
        if os.environ.get(UNHURRIED):
            acknowledge_when_it_suits()
        self._memories = {
            "echo": EchoMemory(),
            "history": PersonaMemoryPlugin({"recall": 0}),
            "recall": PersonaMemoryPlugin(),
        }
        BusTransport.ask = self._timed(BusTransport.ask)  # type: ignore[method-assign]  # to see the request alone
        self._request_ms: float | None = None
        self._inside_ms: float | None = None

    def _timed(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def timed(transport: BusTransport, *args: Any) -> Any:
            began = time.perf_counter()
            answer = ask(transport, *args)
            self._request_ms = (time.perf_counter() - began) * 1000
            self._inside_ms = answer.get("took_ms")
            return answer

        return timed

    def _memory(self, session_id: str) -> AgentContextManager:
        return self._memories[session_id.partition("-")[0]]

    def get_history(self, session_id: str) -> list[AgentMessage]:
        """As the memory of this session says."""
        return self._memory(session_id).get_history(session_id)

    def update_history(self, new_messages: list[AgentMessage], session_id: str) -> None:
        """Handed on."""
        self._memory(session_id).update_history(new_messages, session_id)

    def build_conversation_context(self, utterance: str, session_id: str) -> list[AgentMessage]:
        """As the memory of this session says; its time goes into the file."""
        self._request_ms = self._inside_ms = None
        began = time.perf_counter()
        built = self._memory(session_id).build_conversation_context(utterance, session_id)
        whole_ms = (time.perf_counter() - began) * 1000
        line = {
            "session": session_id,
            "request_ms": self._request_ms,
            "inside_ms": self._inside_ms,
            "whole_ms": whole_ms,
            "messages": len(built),
        }
        with Path(os.environ[TIMES]).open("a", encoding="utf-8") as times:
            times.write(json.dumps(line) + "\n")
        return built


class BenchChat(ChatEngine):
    """Always gives the same answer, at once."""

    def continue_chat(self, *_: Any, tools: Any = None, **__: Any) -> AgentMessage:
        """One sentence."""
        return AgentMessage(MessageRole.ASSISTANT, "That may well be so.")
