"""MemoryClient: the verbs of PersonaMemory, asked of the daemon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ovos_persona_memory.errors import NoAnswer, PersonaMemoryError, from_wire
from ovos_persona_memory.records import (
    Capture,
    Context,
    ContextMessage,
    ContextRequest,
    Entry,
    Hit,
    Scope,
    Session,
    Turn,
)
from ovos_persona_memory.transport import BusTransport, DoorTransport, Transport, wire_turn

T = TypeVar("T")


class MemoryClient:
    """The verbs of PersonaMemory with the same names, shapes and errors; NoAnswer where nobody answers in time.

    Over the bus a call reaches the session of its scope, or of the message that is being handled,
    and the records of that session's user. Thread-safe.
    """

    def __init__(self, transport: Transport, timeout_s: float = 5.0) -> None:
        self._transport = transport
        self._timeout_s = timeout_s

    @classmethod
    def over_bus(cls, timeout_s: float = 5.0, connect_s: float = 10.0, **address: Any) -> MemoryClient:
        """A client with a bus connection of its own; NoAnswer when the bus is not reached in ``connect_s``."""
        transport = BusTransport(**address)
        transport.bus.start()
        if not transport.wait_connected(connect_s):
            transport.close()
            raise NoAnswer("the messagebus is away")
        return cls(transport, timeout_s)

    @classmethod
    def over_door(cls, folder: Path, timeout_s: float = 30.0) -> MemoryClient:
        """A client at the owner's door of this data folder; NoAnswer where no daemon runs."""
        return cls(DoorTransport(folder), timeout_s)

    def __enter__(self) -> MemoryClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the connection."""
        self._transport.close()

    def ask(self, verb: str, scope: Scope, **data: Any) -> dict[str, Any]:
        """The data of one verb's answer; fields that are None are left out. The error that it names is raised."""
        return self._ask(verb, {name: value for name, value in data.items() if value is not None}, scope)

    def _ask(self, verb: str, data: dict[str, Any], scope: Scope) -> dict[str, Any]:
        answer = self._transport.ask(verb, data, scope, self._timeout_s)
        if answer.get("ok") is not True:
            raise from_wire(str(answer.get("error")), str(answer.get("reason")))
        return answer

    def record(
        self, turns: Sequence[Turn], scope: Scope = Scope(), as_passed: bool = False, delivery_id: str | None = None
    ) -> list[str]:
        """See PersonaMemory.record."""
        answer = self.ask(
            "record", scope, turns=[wire_turn(t) for t in turns], as_passed=as_passed, delivery_id=delivery_id
        )
        return _as(list[str], answer["ids"])

    def recall(
        self,  # more than five: these are the protocol's fields
        question: str,
        scope: Scope = Scope(),
        k: int = 5,
        kinds: set[str] | frozenset[str] | None = None,
        at: float | None = None,
        lang: str | None = None,
    ) -> list[Hit]:
        """See PersonaMemory.recall. Over the bus the whole memory of the session's user is searched."""
        chosen = sorted(kinds) if kinds is not None else None
        return _as(list[Hit], self.ask("recall", scope, question=question, k=k, kinds=chosen, at=at, lang=lang)["hits"])

    def context(self, request: ContextRequest) -> Context:
        """See PersonaMemory.context. A ``recall`` of None leaves it to the daemon's settings."""
        names = set(ContextRequest.__dataclass_fields__) - {"scope", "utterance_id"}
        return _as(Context, self._ask("context", {name: getattr(request, name) for name in names}, request.scope))

    def history(
        self,
        scope: Scope,
        max_history: int | None = 5,
        max_rounds: int | None = None,
        max_tokens: int | None = None,
        hanging: bool = False,
    ) -> list[ContextMessage]:
        """See PersonaMemory.history."""
        window = {"max_history": max_history, "max_rounds": max_rounds, "max_tokens": max_tokens, "hanging": hanging}
        return _as(list[ContextMessage], self._ask("history", window, scope)["messages"])

    def sessions(self, scope: Scope = Scope(), limit: int = 100) -> list[Session]:
        """See PersonaMemory.sessions."""
        return _as(list[Session], self.ask("sessions", scope, limit=limit)["sessions"])

    def clear_session(self, scope: Scope) -> int:
        """See PersonaMemory.clear_session."""
        return int(self.ask("session.clear", scope)["forgotten"])

    def remember(
        self,
        text: str,
        scope: Scope = Scope(),
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        lang: str | None = None,
    ) -> Entry:
        """See PersonaMemory.remember."""
        data = dict(metadata) if metadata is not None else None
        return _as(Entry, self.ask("remember", scope, text=text, key=key, metadata=data, lang=lang)["memory"])

    def get(self, key: str, scope: Scope = Scope()) -> Entry | None:
        """See PersonaMemory.get."""
        found = self.ask("get", scope, key=key).get("memory")
        return None if found is None else _as(Entry, found)

    def list(self, scope: Scope = Scope(), limit: int = 20, offset: int = 0) -> list[Entry]:
        """See PersonaMemory.list."""
        return _as(list[Entry], self.ask("list", scope, limit=limit, offset=offset)["memories"])

    def update(
        self, key: str, scope: Scope = Scope(), text: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> Entry:
        """See PersonaMemory.update."""
        data = dict(metadata) if metadata is not None else None
        return _as(Entry, self.ask("update", scope, key=key, text=text, metadata=data)["memory"])

    def forget(self, scope: Scope = Scope(), **what: Any) -> int:
        """See PersonaMemory.forget."""
        return int(self.ask("forget", scope, **what)["forgotten"])

    def capture(
        self,
        scope: Scope = Scope(),
        write: bool | None = None,
        read: bool | None = None,
        until: float | None = None,
        session: bool = False,
    ) -> Capture:
        """See PersonaMemory.capture."""
        answer = self.ask("capture", scope, write=write, read=read, until=until, session=session)
        return _as(Capture, answer["capture"])

    def status(self) -> Mapping[str, Any]:
        """See PersonaMemory.status."""
        return self.ask("status", Scope())


def _as(shape: type[T], value: Any) -> T:
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise PersonaMemoryError(f"the daemon's answer cannot be read: {error}") from error
