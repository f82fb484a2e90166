"""The remembering chat engine: any other chat engine, named in a persona, with a memory around it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# The stable line has no chat engines: this import fails there, and opm/remembering_solver is offered instead.
from ovos_plugin_manager.agents import find_chat_plugins, find_multimodal_chat_plugins
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine

from ovos_persona_memory.opm.decorator import remembering
from ovos_persona_memory.opm.remembering import Remembering, brain_of


class RememberingChatEngine(ChatEngine):  # type: ignore[misc]  # ovos_plugin_manager carries no types
    """Answers as the engine that its block names as ``brain``, which remembers as with ``@remember``.

    Settings, in the block ``ovos-persona-memory-remember``: ``brain``, and under its name the brain's own block;
    ``extract`` (true), ``extraction_model``, ``inject`` (true), ``top_k`` (5), ``inject_mode`` (system), ``timeout_s``
    (0.5), ``host`` and ``port`` of the bus.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(config)
        made, block = brain_of(self.config, {**find_chat_plugins(), **find_multimodal_chat_plugins()})
        self._brain = remembering(made, Remembering.of_block(self.config))(config=block)
        self.supports_tools = bool(getattr(self._brain, "supports_tools", False))

    def continue_chat(  # more than five: these are the parameters of every chat engine
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
        tools: Any = None,
    ) -> AgentMessage:
        """The brain's answer."""
        more = {} if tools is None else {"tools": tools}
        return self._brain.continue_chat(messages, session_id=session_id, lang=lang, units=units, **more)

    def stream_tokens(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
    ) -> Iterable[str]:
        """The brain's answer, piece by piece."""
        yield from self._brain.stream_tokens(messages, session_id=session_id, lang=lang, units=units)

    def stream_sentences(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
    ) -> Iterable[str]:
        """The brain's answer, sentence by sentence; nothing where the brain yields nothing."""
        yield from self._brain.stream_sentences(messages, session_id=session_id, lang=lang, units=units)
