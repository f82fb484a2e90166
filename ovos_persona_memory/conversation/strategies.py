"""How the history of a session is kept short: the strategies by their names."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ovos_persona_memory.conversation.window import Window
from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.records import (
    DEFAULT_MAX_HISTORY,
    MAX_HISTORY_TOKENS,
    SUMMARY_THRESHOLD,
    WINDOW_SIZE,
    StrategyName,
)


@dataclass(frozen=True)
class Strategy:
    """A strategy and its numbers, of which it uses its own."""

    name: StrategyName
    window_size: int = WINDOW_SIZE
    """Of sliding_window: messages. Of summary: messages that stay when the older ones go into the summary."""
    max_tokens: int = MAX_HISTORY_TOKENS
    """Of token_budget, and of summary, where it holds what is not summarised yet."""
    summary_threshold: int = SUMMARY_THRESHOLD
    """Of summary: more messages than this, and the older ones go into the summary."""

    @property
    def window(self) -> Window:
        """How much history is shown."""
        if self.name == "sliding_window":
            return Window(self.window_size)
        return Window(max_tokens=self.max_tokens)

    @property
    def overflow(self) -> Overflow | None:
        """When the older part goes into the summary; None where it never does."""
        if self.name != "summary":
            return None
        # of a window as large as the threshold every message would be an overflow, and a call of a model
        return Overflow(self.summary_threshold, min(self.window_size, self.summary_threshold * 2 // 3))


@dataclass(frozen=True)
class Overflow:
    """When the older part of a history goes into the session's summary, and how much stays."""

    threshold: int
    """More messages than this are an overflow."""
    kept: int
    """So many of the newest stay then."""


def named(name: StrategyName, window_size: int | None, max_tokens: int | None, threshold: int | None) -> Strategy:
    """The strategy with this name; a number that is None is the usual one. ConfigError for one that cannot be used."""
    for setting, value, least in (("window_size", window_size, 0), ("max_tokens", max_tokens, 0)):
        if value is not None and value < least:
            raise ConfigError(f"{setting}: must not be below {least}")
    if threshold is not None and threshold < 1:
        raise ConfigError("summary_threshold: must not be below 1")
    return Strategy(
        name,
        WINDOW_SIZE if window_size is None else window_size,
        MAX_HISTORY_TOKENS if max_tokens is None else max_tokens,
        SUMMARY_THRESHOLD if threshold is None else threshold,
    )


def of_request(limits: Window, default: Strategy | None) -> Window:
    """The limits of a request that names no strategy: its own, or the default strategy's where it sets none."""
    unset = replace(limits, max_age_s=None, count_tokens=None) == Window(DEFAULT_MAX_HISTORY)
    if default is None or not unset:
        return limits
    return replace(default.window, max_age_s=limits.max_age_s, count_tokens=limits.count_tokens)
