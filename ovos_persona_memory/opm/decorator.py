"""``@remember``: the methods of a chat engine, with a memory around each."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from ovos_persona_memory.opm.agent_messages import to_context
from ovos_persona_memory.opm.remembering import Exchange, Link, OpenMemory, OwnLink, Remembering, bus_link, settings
from ovos_persona_memory.records import ContextMessage, Inject

ENGINE = {"continue_chat": None, "stream_tokens": "", "stream_sentences": " "}
"""The methods of a chat engine that answer; of one that streams what stands between two pieces of its answer."""

Engine = TypeVar("Engine", bound=type)

_END = object()
_exchanges = threading.local()
"""The exchanges that are open in this thread, by the id of their engine."""


@contextmanager
def _open(engine: object, exchange: Exchange) -> Iterator[None]:
    held: dict[int, Exchange] = _exchanges.__dict__.setdefault("held", {})
    held[id(engine)] = exchange
    try:
        yield
    finally:
        del held[id(engine)]


def _outer(engine: object) -> Exchange | None:
    """The exchange in which an engine calls a method of its own; None where somebody else calls it."""
    held: dict[int, Exchange] = _exchanges.__dict__.get("held", {})
    return held.get(id(engine))


def remembering(engine: Engine, how: Remembering, answers: Mapping[str, str | None] = ENGINE) -> Engine:
    """The class with those of its methods that answer remembering; TypeError where it has none.

    ``answers``: from a method to what stands between two pieces of its answer, None where it answers in one.
    """
    known = {name: joint for name, joint in answers.items() if callable(getattr(engine, name, None))}
    if next(iter(answers)) not in known:
        raise TypeError(f"@remember is for chat engines: {engine.__name__} has no method {next(iter(answers))}")
    for name, joint in known.items():
        method = getattr(engine, name)
        setattr(engine, name, _answering(method, how) if joint is None else _streaming(method, how, joint))
    return engine


@dataclass(frozen=True)
class _Call:
    """One call of a method of an engine, as it was made."""

    method: Callable[..., Any]
    engine: Any
    given: Sequence[Any]
    named: Mapping[str, Any]

    def begin(self, how: Remembering) -> Exchange:
        """The exchange that this call opens."""
        bound = inspect.signature(self.method).bind(self.engine, *self.given, **self.named)
        bound.apply_defaults()
        arguments = {**bound.arguments, **self.named}  # a method may gather what it does not name itself
        lang = arguments.get("lang") or getattr(self.engine, "lang", None)
        return how.begin(arguments[self._talk], arguments.get("session_id"), lang)

    def run(self, exchange: Exchange) -> Any:
        """What the method gives for the talk that an exchange hands it."""
        if self.given:
            return self.method(self.engine, exchange.talk, *self.given[1:], **self.named)
        return self.method(self.engine, **{**self.named, self._talk: exchange.talk})

    @property
    def _talk(self) -> str:
        """The name of the parameter that takes the messages, the first one after the engine."""
        return list(inspect.signature(self.method).parameters)[1]


def _answering(method: Callable[..., Any], how: Remembering) -> Callable[..., Any]:
    @functools.wraps(method)
    def answering(self: Any, *given: Any, **named: Any) -> Any:
        if (outer := _outer(self)) is not None:
            answer = method(self, *given, **named)
            outer.whole = _message(answer).text
            return answer
        call = _Call(method, self, given, named)
        exchange, told = call.begin(how), None
        try:
            with _open(self, exchange):
                answer = call.run(exchange)
            told = _message(answer)
            return answer
        finally:
            exchange.end(told)

    return answering


def _streaming(method: Callable[..., Any], how: Remembering, joint: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def answering(self: Any, *given: Any, **named: Any) -> Iterator[Any]:
        if _outer(self) is not None:
            yield from method(self, *given, **named)
            return
        call = _Call(method, self, given, named)
        exchange = call.begin(how)
        pieces = _stepwise(call, exchange)
        try:
            for piece in pieces:
                exchange.said.append(str(piece or ""))
                yield piece
        except GeneratorExit:
            exchange.is_cut = True
            raise
        finally:
            pieces.close()
            exchange.end(exchange.answered(joint))

    return answering


def _stepwise(call: _Call, exchange: Exchange) -> Generator[Any, None, None]:
    """The pieces of an answer. The exchange is open while the engine makes one, and closed while others have it."""
    pieces: Any = None
    try:
        while True:
            with _open(call.engine, exchange):
                pieces = iter(call.run(exchange)) if pieces is None else pieces
                piece = next(pieces, _END)
            if piece is _END:
                return
            yield piece
    finally:
        if hasattr(pieces, "close"):
            pieces.close()


def _message(answer: Any) -> ContextMessage:
    """An answer in our shape, be it a message or a plain text."""
    return to_context(answer) if hasattr(answer, "role") else ContextMessage("assistant", str(answer or ""))


# the decorator


def remember(
    *given: Any,  # more than five: these are the names that others give them, and each has a default
    store: OpenMemory | str | None = None,
    extract: bool = True,
    inject: bool = True,
    top_k: int = 5,
    extraction_model: str | None = None,
    inject_mode: Inject = "system",
) -> Callable[[Engine], Engine]:
    """Makes a class of chat engines remember: ``@remember()`` before the class.

    ``store``: the memory; a PersonaMemory, a client of one, or the address "host:port" of the messagebus on which its
    daemon is; None: the bus of this device. ``inject``: before it answers, what is surely remembered of the last
    question is put into the talk, at most ``top_k`` hits, where ``inject_mode`` says. What was said is recorded in any
    case. ``extract``: facts are learned from it, by the memory's own rules. ``extraction_model``: the plugin that finds
    more of them; it is the one that the memory's setting ``models.facts`` names, and where that names another, the log
    says so. TypeError where it is used without parentheses.
    """
    if given and inspect.isclass(given[0]):
        raise TypeError(f"@remember needs parentheses: write @remember() before the class {given[0].__name__}")
    if given:
        raise TypeError("@remember takes its settings by name: @remember(top_k=3)")
    block: dict[str, Any] = {"extract": extract, "inject": inject, "top_k": top_k, "inject_mode": inject_mode}
    block["extraction_model"] = extraction_model
    how = Remembering(functools.cache(functools.partial(_link_to, store)), **settings(block))
    return functools.partial(remembering, how=how)


def _link_to(store: OpenMemory | str | None) -> Link:
    if store is not None and not isinstance(store, str):
        return OwnLink(store)
    host, _, port = (store or "").rpartition(":")
    return bus_link(0.5, host or None, int(port) if port else None)
