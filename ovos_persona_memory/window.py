"""The newest part of a list of messages, cut so that nothing in it is an orphan."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ovos_persona_memory.records import ContextMessage

INSTRUCTIONS = ("system", "developer")
"""Roles that are no part of the talk: they stay where messages before a cut go."""


SHORTENED = " […] "
"""Stands where the middle of a long message was."""
WORTH_SHORTENING = 32
"""Of a smaller budget, tokens, half a message would say nothing."""


@dataclass(frozen=True)
class Window:
    """How much history is wanted. All limits that are set hold; below zero counts as zero."""

    max_history: int | None = None
    """At most so many messages, and the system messages before them."""
    max_rounds: int | None = None
    """At most so many rounds; a round starts with a user message."""
    max_tokens: int | None = None
    """At most so many tokens, in whole messages, system messages included; those alone may exceed it."""
    max_age_s: float | None = None
    """Nothing that was said longer ago than this, seconds."""
    count_tokens: Callable[[str], int] | None = None
    """None: characters / 4, rounded up."""


def window(messages: Sequence[ContextMessage], limits: Window) -> list[ContextMessage]:
    """The newest messages within the limits and the system messages before them, not yet repaired.

    Of a budget of tokens no message takes more than half, so that a question and its answer fit:
    a longer one is shortened in the middle, visibly. Not under a budget of 32.
    """
    if limits.max_tokens is not None and limits.max_tokens >= WORTH_SHORTENING:
        messages = [shortened(message, limits.max_tokens // 2, limits.count_tokens) for message in messages]
    start = _start(messages, limits)
    kept = [message for message in messages[:start] if message.role in INSTRUCTIONS]
    return [*kept, *messages[start:]]


def newest(messages: Sequence[ContextMessage], limits: Window) -> list[ContextMessage]:
    """The newest messages within the limits, cut off plainly, as BasicShortTermMemory of ovos-persona does it."""
    return list(messages[_start(messages, limits) :])


def repair(messages: Sequence[ContextMessage]) -> list[ContextMessage]:
    """The messages that a strict chat template accepts; of an accepted list, the same list.

    No answer before the first question, no question after the last answer, no tool result without
    its call, no call without all its results directly after it; the text of such a call stays.
    """
    return _to_last_answer(_from_first_question(_whole_calls(messages)))


def estimate_tokens(text: str) -> int:
    """Characters / 4, rounded up."""
    return -(-len(text) // 4)


def message_tokens(message: ContextMessage, count_tokens: Callable[[str], int] | None = None) -> int:
    """What a message costs: its text and the names and arguments of the tools it calls."""
    count = count_tokens or estimate_tokens
    calls = (call.name + json.dumps(call.arguments, ensure_ascii=False, default=str) for call in message.tool_calls)
    return count(message.text) + sum(count(call) for call in calls)


def shortened(
    message: ContextMessage, max_tokens: int, count_tokens: Callable[[str], int] | None = None
) -> ContextMessage:
    """The message with the middle of its text taken out where it costs more; system messages stay as they are."""
    if message.role in INSTRUCTIONS:
        return message
    count, text = count_tokens or estimate_tokens, message.text
    kept = len(text)
    while kept > 0 and count(text) > max_tokens:
        kept = min(kept * 3 // 4, max_tokens * 4)
        text = message.text[: kept // 2] + SHORTENED + message.text[len(message.text) - kept // 2 :]
    return message if text == message.text else replace(message, text=text)


def _start(messages: Sequence[ContextMessage], limits: Window) -> int:
    """Where the newest messages begin that all limits allow."""
    starts = [0]
    if limits.max_history is not None:
        starts.append(len(messages) - limits.max_history)
    if limits.max_rounds is not None:
        starts.append(_start_by_rounds(messages, limits.max_rounds))
    if limits.max_tokens is not None:
        starts.append(_start_by_tokens(messages, limits.max_tokens, limits.count_tokens))
    return max(starts)


def _start_by_rounds(messages: Sequence[ContextMessage], max_rounds: int) -> int:
    rounds = [i for i, message in enumerate(messages) if message.role == "user"]
    if max_rounds <= 0:
        return len(messages)
    return rounds[-max_rounds] if len(rounds) >= max_rounds else 0


def _start_by_tokens(
    messages: Sequence[ContextMessage], max_tokens: int, count_tokens: Callable[[str], int] | None
) -> int:
    costs = [message_tokens(message, count_tokens) for message in messages]
    is_talk = [message.role not in INSTRUCTIONS for message in messages]
    left = max_tokens - sum(cost for cost, talk in zip(costs, is_talk, strict=True) if not talk)
    for i in reversed(range(len(messages))):
        if is_talk[i]:
            left -= costs[i]
            if left < 0:
                return i + 1
    return 0


def _whole_calls(messages: Sequence[ContextMessage]) -> list[ContextMessage]:
    whole: list[ContextMessage] = []
    for i, message in enumerate(messages):
        if message.tool_calls:
            whole.extend(_call_and_results(message, _results_after(messages, i)))
        elif message.role != "tool":
            whole.append(message)
    return whole


def _results_after(messages: Sequence[ContextMessage], call: int) -> dict[str | None, ContextMessage]:
    """The results that follow this call directly, by the id of their call; the first of two with one id."""
    results: dict[str | None, ContextMessage] = {}
    for message in messages[call + 1 :]:
        if message.role != "tool":
            break
        results.setdefault(message.tool_call_id, message)
    return results


def _call_and_results(message: ContextMessage, results: dict[str | None, ContextMessage]) -> list[ContextMessage]:
    asked = {call.id for call in message.tool_calls}
    if asked <= results.keys():
        return [message, *(result for call_id, result in results.items() if call_id in asked)]
    return [replace(message, tool_calls=())] if message.text.strip() else []


def _from_first_question(messages: Sequence[ContextMessage]) -> list[ContextMessage]:
    first = next((i for i, message in enumerate(messages) if message.role == "user"), len(messages))
    return [message for i, message in enumerate(messages) if i >= first or message.role in INSTRUCTIONS]


def _to_last_answer(messages: Sequence[ContextMessage]) -> list[ContextMessage]:
    last = max((i for i, message in enumerate(messages) if message.role in ("assistant", "tool")), default=-1)
    return [message for i, message in enumerate(messages) if i <= last or message.role != "user"]
