"""A plugin's link to the memory: it asks without ever making a persona wait, and records what cannot be lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ovos_utils.log import LOG

from ovos_persona_memory.errors import ConfigError, PersonaMemoryError
from ovos_persona_memory.protocol import BusTransport, MemoryClient, Outbox, messages
from ovos_persona_memory.records import Scope, Turn

REST_S = 5.0
"""After a miss the daemon is not asked again for so long, seconds."""

T = TypeVar("T")


class MemoryLink:
    """To the daemon on the bus. A daemon that is away is a miss at once; the absence is logged once."""

    def __init__(self, transport: BusTransport, timeout_s: float) -> None:
        self.transport = transport
        self.client = MemoryClient(transport, timeout_s)
        self._outbox = Outbox(transport)
        self._rest_until = 0.0
        self._is_absent = False

    def ask(self, question: Callable[[], T]) -> T | None:
        """The daemon's answer; None, soon, where it is away or says no."""
        if not self.transport.connected or time.monotonic() < self._rest_until:
            self._note_absence("the messagebus is away")
            return None
        try:
            answer = question()
        except PersonaMemoryError as error:
            self._rest_until = time.monotonic() + REST_S
            self._note_absence(error.reason)
            return None
        self._is_absent = False
        return answer

    def deliver(
        self,
        turns: Sequence[Turn],
        scope: Scope,
        batch: str,
        context: Mapping[str, Any] | None = None,
        learn: bool = True,
    ) -> None:
        """Hand over the turns of one exchange; returns at once. ``context``: see Outbox."""
        self._outbox.deliver(turns, scope, batch, context, learn)

    def _note_absence(self, reason: str) -> None:
        if not self._is_absent:
            LOG.warning("the persona goes on without its memory: %s", reason)
        self._is_absent = True


def caller(scope: Scope) -> dict[str, Any]:
    """The context of the message that is being handled: with it travels what is recorded later."""
    return messages.context_of_caller(scope)


# the settings of a plugin's block


def whole(config: Mapping[str, Any], name: str, default: int | None) -> int | None:
    """A whole number, not below 0; ConfigError naming it where it is none."""
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


def switch(config: Mapping[str, Any], name: str, default: bool) -> bool:
    """True or false; ConfigError naming it where it is neither."""
    value = config.get(name, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{name}: {value!r} is neither true nor false")
    return value


def name(config: Mapping[str, Any], setting: str) -> str | None:
    """A text; None where there is none; ConfigError naming the setting where it is no text."""
    value = config.get(setting)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise ConfigError(f"{setting}: {value!r} is no name")
    return value


def one_of(config: Mapping[str, Any], name: str, allowed: tuple[Any, ...]) -> Any:
    """One of these values, the first unless given; ConfigError naming it where it is none of them."""
    value = config.get(name) or allowed[0]
    if value not in allowed:
        raise ConfigError(f"{name}: {value!r} is none of {', '.join(allowed)}")
    return value
