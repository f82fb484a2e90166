"""The remembering solver: on the stable line, any other solver that chats, with a memory around it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ovos_plugin_manager.solvers import find_chat_solver_plugins, find_question_solver_plugins
from ovos_plugin_manager.templates.solvers import ChatMessageSolver

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.opm.decorator import remembering
from ovos_persona_memory.opm.remembering import Remembering, Shape, brain_of
from ovos_persona_memory.records import ContextMessage

SOLVER = {"get_chat_completion": None, "continue_chat": None, "stream_chat_utterances": " "}
"""The methods of a solver that answer; of one that streams what stands between two pieces of its answer."""
Message = dict[str, str]


def _read(message: Message) -> ContextMessage:
    return ContextMessage(message["role"], message["content"])  # type: ignore[arg-type]  # whatever role it has


def _write(message: ContextMessage, _own: Message | None) -> Message:
    return {"role": message.role, "content": message.text}


class RememberingSolver(ChatMessageSolver):  # type: ignore[misc]  # ovos_plugin_manager carries no types
    """Answers as the solver that its block names as ``brain``, which remembers as with ``@remember``.

    Its settings are those of RememberingChatEngine. A solver may leave out its own ``system_prompt`` where the talk
    has a system message: the notes then stand behind the one in the brain's block.
    """

    def __init__(self, config: dict[str, Any] | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)
        solvers = {**find_question_solver_plugins(), **find_chat_solver_plugins()}
        chatting = {name: one for name, one in solvers.items() if issubclass(one, ChatMessageSolver)}
        made, block = brain_of(self.config, chatting)
        opening = str(block.get("system_prompt") or "")
        how = Remembering.of_block(self.config, system_prompt=opening, shape=Shape(_read, _write))
        if how.mode == "tool":
            raise ConfigError("inject_mode: 'tool' is for chat engines, solvers know no tools")
        self._brain = remembering(made, how, SOLVER)(config=block)

    def continue_chat(self, messages: list[Message], lang: str | None, units: str | None = None) -> str | None:
        """The brain's answer."""
        return self._brain.continue_chat(messages=messages, lang=lang, units=units)  # type: ignore[no-any-return]  # as above

    def get_chat_completion(
        self, messages: list[Message], lang: str | None = None, units: str | None = None
    ) -> str | None:
        """The brain's answer, in the language of the talk."""
        return self._brain.get_chat_completion(messages=messages, lang=lang, units=units)  # type: ignore[no-any-return]  # as above

    def stream_chat_utterances(
        self, messages: list[Message], lang: str | None = None, units: str | None = None
    ) -> Iterable[str]:
        """The brain's answer, sentence by sentence."""
        yield from self._brain.stream_chat_utterances(messages=messages, lang=lang, units=units)
