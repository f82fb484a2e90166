"""How a chat engine remembers: what it is handed before it answers, and what of the exchange is recorded after it."""

from __future__ import annotations

import functools
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, get_args

from ovos_utils.log import LOG

from ovos_persona_memory.config import RecallConfig, bus_address, seconds
from ovos_persona_memory.conversation import Recalled, prompt
from ovos_persona_memory.errors import ConfigError, PersonaMemoryError
from ovos_persona_memory.opm.agent_messages import to_agent, to_context, to_turn
from ovos_persona_memory.opm.memory_link import MemoryLink, caller, name, one_of, switch, whole
from ovos_persona_memory.protocol import messages, shared_transport
from ovos_persona_memory.records import DEFAULT_SESSION, Context, ContextMessage, ContextRequest, Inject, Scope, Turn

WRAPPER = "ovos-persona-memory-remember"
"""The name of the plugins that wrap an engine, which wrap no other wrapper."""
MORE = 20
"""Hits beyond ``top_k`` that are asked for at most, since the talk that is handed in may hold some already."""
BUDGET_TOKENS = RecallConfig().max_tokens
"""Tokens of quoted text at most, as in a persona's context."""

T = TypeVar("T")


class OpenMemory(Protocol):
    """A memory in this process, or a client of one: the verbs of PersonaMemory that are needed here."""

    def context(self, request: ContextRequest) -> Context:
        """See PersonaMemory.context."""

    def record(self, turns: Sequence[Turn], scope: Scope, **how: Any) -> list[str]:
        """See PersonaMemory.record."""

    def status(self) -> Mapping[str, Any]:
        """See PersonaMemory.status."""


class Link(Protocol):
    """What asks and records: MemoryLink, or OwnLink."""

    client: Any

    def ask(self, question: Callable[[], T]) -> T | None:
        """The memory's answer; None where it is away."""

    def deliver(
        self, turns: Sequence[Turn], scope: Scope, batch: str, context: Mapping[str, Any] | None, learn: bool
    ) -> None:
        """Record the turns of one exchange."""


class OwnLink:
    """To a memory that is handed in. What it refuses is logged; the talk goes on."""

    def __init__(self, memory: OpenMemory) -> None:
        self.client = memory

    def ask(self, question: Callable[[], T]) -> T | None:
        """The memory's answer; None where it refuses."""
        try:
            return question()
        except PersonaMemoryError as error:
            LOG.warning("the engine answers without its memory: %s", error.reason)
            return None

    def deliver(
        self, turns: Sequence[Turn], scope: Scope, batch: str, context: Mapping[str, Any] | None, learn: bool
    ) -> None:
        """Record the turns of one exchange."""
        try:
            self.client.record(turns, scope, as_passed=True, delivery_id=batch, learn=learn)
        except PersonaMemoryError as error:
            LOG.warning("an exchange was not recorded: %s", error.reason)


@dataclass(frozen=True)
class Shape:
    """How an engine's messages are read and written."""

    read: Callable[[Any], ContextMessage]
    write: Callable[[ContextMessage, Any], Any]
    """From a message of ours, and the one in whose place it stands or None, to the engine's own."""


def _as_agent(message: ContextMessage, own: Any) -> Any:
    # replaced, a picture that came with the words stays with them
    return to_agent([message])[0] if own is None else replace(own, content=message.text)


AGENT = Shape(to_context, _as_agent)


@dataclass(frozen=True)
class Remembering:
    """How an engine remembers."""

    open_link: Callable[[], Link]
    """Asked for when somebody speaks for the first time: importing an engine connects to nothing."""
    extract: bool = True
    inject: bool = True
    top_k: int = 5
    mode: Inject = "system"
    system_prompt: str = ""
    """What the notes stand behind where a talk has no system message: an engine may leave out its own prompt then."""
    shape: Shape = AGENT
    extraction_model: str | None = None
    """The plugin that the memory is expected to find facts with, too; the memory's own settings name it."""
    _looked: set[str] = field(default_factory=set, compare=False)

    @classmethod
    def of_block(cls, config: Mapping[str, Any], **more: Any) -> Remembering:
        """As the block of a plugin says; ConfigError naming what cannot be used."""
        address = {"host": config.get("host"), "port": config.get("port")}
        opened = functools.partial(bus_link, seconds(config, "timeout_s", 0.5), **address)
        return cls(functools.cache(opened), **settings(config), **more)

    def begin(self, talk: Sequence[Any], session_id: str | None, lang: str | None) -> Exchange:
        """An exchange opens: what its engine is to be handed, and what of it is recorded at its end."""
        handled = messages.session_of_caller()
        scope = Scope(session_id=session_id or handled or DEFAULT_SESSION)
        told = [self.shape.read(message) for message in talk]
        handed = self._with_recalled(talk, told, scope, lang) if self.inject else list(talk)
        context = caller(scope)
        is_heard = handled == scope.session_id and "utterance_id" not in context
        new = [] if messages.is_out_of_band() else _new(told)
        return Exchange(self, scope, new, handed, context, lang, is_heard)

    def _with_recalled(
        self, talk: Sequence[Any], told: Sequence[ContextMessage], scope: Scope, lang: str | None
    ) -> list[Any]:
        asked = [prompt.without_notes(message.text) for message in told if message.role == "user"][-1:]
        wanted = self.top_k + min(len(told), MORE)
        if not asked or not asked[0].strip() or not self.top_k:
            return list(talk)
        request = ContextRequest(asked[0], scope, max_history=0, recall=wanted, inject=self.mode, lang=lang)
        known = self._link.ask(lambda: self._link.client.context(request))
        if known is None or not known.hits:
            return list(talk)
        led = [ContextMessage("system", self.system_prompt)] if self.system_prompt else []
        led = [] if any(message.role == "system" for message in told[:1]) else led
        recalled = Recalled(known.hits, self.top_k, BUDGET_TOKENS)
        made = prompt.into_talk(request, [*led, *told], recalled, time.time())
        kept = {id(message): own for message, own in zip(told, talk, strict=True)}
        changed = {_asked(made): talk[_asked(told)]} | ({0: talk[0]} if told[0].role == "system" else {})
        return [
            kept[id(message)] if id(message) in kept else self.shape.write(message, changed.get(place))
            for place, message in enumerate(made)
        ]

    @property
    def _link(self) -> Link:
        return self.open_link()

    def look_for_model(self) -> None:
        """Say once where the memory does not find facts with the plugin that is expected; nobody waits for it.

        Whoever may talk to a memory may not choose whom it tells what was said: its owner names that plugin.
        """
        if self.extraction_model is not None and self.extract and self.extraction_model not in self._looked:
            self._looked.add(self.extraction_model)
            threading.Thread(target=self._look_for_model, name="extraction model", daemon=True).start()

    def _look_for_model(self) -> None:
        told = self._link.ask(self._link.client.status)
        if told is None:  # it is away: another exchange looks again
            self._looked.clear()
            return
        found = told.get("models", {}).get("facts", {}).get("plugin")
        if found != self.extraction_model:
            LOG.warning(
                "the memory learns facts %s, and not with %s: its setting models.facts names the plugin",
                *(f"with {found}" if found else "by its own rules", self.extraction_model),
            )


def _asked(talk: Sequence[ContextMessage]) -> int:
    """The place of the last question in a talk that has one."""
    return max(place for place, message in enumerate(talk) if message.role == "user")


def _new(told: Sequence[ContextMessage]) -> list[ContextMessage]:
    """What a talk holds since its last answer: the question, or within a loop the results of tools."""
    answered = max((place for place, message in enumerate(told) if message.role == "assistant"), default=-1)
    since = told[answered + 1 :]
    asked = [message for message in since if message.role == "user"]
    if not asked:
        return [message for message in since if message.role == "tool"]
    said = prompt.without_notes(asked[-1].text).strip()
    return [replace(asked[-1], text=said)] if said else []


@dataclass
class Exchange:
    """One answer of an engine on its way, recorded once when it ends, however it ends."""

    how: Remembering
    scope: Scope
    new: Sequence[ContextMessage]
    """What was said to the engine; nothing where this exchange is recorded by others."""
    talk: list[Any]
    """What the engine is handed."""
    context: Mapping[str, Any]
    """What the record travels with."""
    lang: str | None
    is_heard: bool = False
    """The daemon hears what is said and spoken of it, and no utterance id tells which record that is."""
    said: list[str] = field(default_factory=list)
    """The pieces of the answer that were handed on."""
    whole: str | None = None
    """The answer from which the engine itself takes its pieces."""
    is_cut: bool = False
    """Nobody wanted the rest of it."""
    _is_over: bool = False

    def answered(self, joint: str) -> ContextMessage:
        """The answer as far as it was handed on, in its own spelling where the engine made it as a whole."""
        text = joint.join(self.said).strip()
        return ContextMessage("assistant", _spelled(text, self.whole) or text)

    def end(self, answer: ContextMessage | None) -> None:
        """Record what was said; None: nothing was answered."""
        if self._is_over or not self.new:
            return
        self._is_over = True
        is_answered = answer is not None and bool(answer.text.strip() or answer.tool_calls)
        # of an answer that was stopped the daemon knows better how much was spoken
        told = [answer] if answer is not None and is_answered and not (self.is_cut and self.is_heard) else []
        if not told and self.is_heard and self.how.extract:
            return
        batch, now = uuid.uuid4().hex, time.time()
        turns = [to_turn(message, batch, now, self.scope.session_id) for message in (*self.new, *told)]
        spoken = [replace(turn, lang=self.lang) for turn in turns]
        self.how.open_link().deliver(spoken, self.scope, batch, self.context, self.how.extract)
        self.how.look_for_model()


def _spelled(text: str, whole: str | None) -> str | None:
    """As much of a whole as a text has of it, white space ignored; None where the text is something else."""
    letters = "".join(text.split())
    if whole is None or not "".join(whole.split()).startswith(letters):
        return None
    places = [place for place, letter in enumerate(whole) if not letter.isspace()]
    return whole[: places[len(letters) - 1] + 1].strip() if letters else ""


def brain_of(config: Mapping[str, Any], known: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A class of one's own made of the engine that a block names as its brain, and the brain's block in it.

    ConfigError where it names none, or none that is known here.
    """
    name = config.get("brain")
    offered = sorted(one for one in known if one != WRAPPER)
    if not isinstance(name, str) or name not in offered:
        problem = "is missing" if name is None else f"{name!r} is no chat engine that is installed"
        raise ConfigError(f"brain: {problem}; name one of {', '.join(offered) or 'none: no other is installed'}")
    own = config.get(name) or {}
    if not isinstance(own, dict):
        raise ConfigError(f"{name}: must be an object")
    engine = known[name]
    return type(engine)(engine.__name__, (engine,), {}), own


def bus_link(timeout_s: float, host: str | None = None, port: int | None = None) -> Link:
    """To the daemon on the bus of this device, unless another address is given; this process's one connection."""
    return MemoryLink(shared_transport(**bus_address(host, port)), timeout_s)


def settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of Remembering that a block sets; ConfigError naming what cannot be used."""
    return {
        "extract": switch(config, "extract", True),
        "inject": switch(config, "inject", True),
        "top_k": whole(config, "top_k", 5) or 0,
        "mode": one_of(config, "inject_mode", get_args(Inject)),
        "extraction_model": name(config, "extraction_model"),
    }
