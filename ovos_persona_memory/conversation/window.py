"""The window of a history: the newest part of a list of messages, cut without orphans."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from ovos_persona_memory.records import ContextMessage, Role

INSTRUCTIONS = ("system", "developer")
"""Roles that are no part of the conversation: they stay where messages before a cut are dropped."""


SHORTENED = " […] "
"""The mark of a long message's omitted middle."""
WORTH_SHORTENING = 32
"""With a smaller budget, tokens, only the newest question and its answer are shortened."""
LEAST = 4
"""Minimum budget of a readable message, tokens."""


@dataclass(frozen=True)
class Window:
    """Limits of a history. All limits that are set hold; below zero counts as zero."""

    max_history: int | None = None
    """Messages at most, and the system messages before them."""
    max_rounds: int | None = None
    """Rounds at most, 0 for no limit; a round starts with a user message."""
    max_tokens: int | None = None
    """Tokens at most, in whole messages, system messages included; those alone may exceed it.

    The newest question that was answered stays with its answer: where the two do not fit, both are shortened.
    """
    max_age_s: float | None = None
    """Maximum age of a message, seconds."""
    count_tokens: Callable[[str], int] | None = None
    """The tokenizer's count; None: characters / 4, rounded up."""


def window(messages: Sequence[ContextMessage], limits: Window) -> list[ContextMessage]:
    """The newest messages within the limits and the system messages before them, not yet repaired.

    No message takes more than half of a token budget, so that a question and its answer fit: a longer one is shortened
    in the middle, visibly. With a budget < 32 tokens that holds for the newest two alone.
    """
    if limits.max_tokens is not None and limits.max_tokens >= WORTH_SHORTENING:
        messages = [shorten_message(message, limits.max_tokens // 2, limits.count_tokens) for message in messages]
    messages, start = _cut(messages, limits)
    kept = [message for message in messages[:start] if message.role in INSTRUCTIONS]
    return [*kept, *messages[start:]]


def newest(messages: Sequence[ContextMessage], limits: Window) -> list[ContextMessage]:
    """The newest messages within the limits, cut off plainly, as BasicShortTermMemory of ovos-persona does it.

    But where a cut leaves a tool's result without its call, the result is dropped, too. By rounds and by tokens, which
    that does not know, the system messages before the cut stay. So does the newest question in any budget of tokens:
    where it does not fit with what follows it, these are shortened, and at last it stays alone.
    """
    messages, start = _cut(messages, limits, hanging=True)
    while 0 < start < len(messages) and messages[start].role == "tool":
        start += 1
    if limits.max_rounds is None and limits.max_tokens is None:
        return list(messages[start:])
    return [*(message for message in messages[:start] if message.role in INSTRUCTIONS), *messages[start:]]


def of_roles(messages: Sequence[ContextMessage], roles: Collection[Role], limits: Window) -> list[ContextMessage]:
    """The newest messages of these roles within the limits; a tool call is included with its results or not at all."""
    chosen = [message for message in messages if message.role in roles]
    if "tool" not in roles:
        chosen = [replace(one, tool_calls=()) for one in chosen if one.text.strip() or not one.tool_calls]
    limits = replace(limits, max_rounds=None)
    if "assistant" in roles:
        return newest(chosen, limits)
    kept, start = _cut(chosen, limits)
    return list(kept[start:])


def repair(messages: Sequence[ContextMessage]) -> list[ContextMessage]:
    """The messages that a strict chat template accepts; of an accepted list, the same list.

    No answer before the first question, no question after the last answer, no tool result without its call, no call
    without all its results directly after it; the text of such a call stays.
    """
    return _to_last_answer(_from_first_question(_whole_calls(messages)))


def estimate_tokens(text: str) -> int:
    """Characters / 4, rounded up."""
    return -(-len(text) // 4)


def message_tokens(message: ContextMessage, count_tokens: Callable[[str], int] | None = None) -> int:
    """Tokens of a message: its text and the names and arguments of the tools it calls."""
    count = count_tokens or estimate_tokens
    calls = (call.name + json.dumps(call.arguments, ensure_ascii=False, default=str) for call in message.tool_calls)
    return count(message.text) + sum(count(call) for call in calls)


def shorten_message(
    message: ContextMessage, max_tokens: int, count_tokens: Callable[[str], int] | None = None
) -> ContextMessage:
    """The message without the middle of its text where it costs more tokens; system messages stay as they are."""
    if message.role in INSTRUCTIONS:
        return message
    count, text = count_tokens or estimate_tokens, message.text
    kept = len(text)
    while kept > 0 and count(text) > max_tokens:
        kept = min(kept * 3 // 4, max_tokens * 4)
        text = message.text[: kept // 2] + SHORTENED + message.text[len(message.text) - kept // 2 :]
    return message if text == message.text else replace(message, text=text)


def _cut(
    messages: Sequence[ContextMessage], limits: Window, hanging: bool = False
) -> tuple[Sequence[ContextMessage], int]:
    """The start of the newest messages that all limits allow; and the messages, of which the newest may be shortened.

    ``hanging``: a question counts that has no answer, too.
    """
    start = max(0, len(messages) - limits.max_history) if limits.max_history is not None else 0
    if limits.max_rounds is not None:
        start = max(start, _start_by_rounds(messages, limits.max_rounds))
    if limits.max_tokens is None:
        return messages, start
    by_tokens = _start_by_tokens(messages, limits.max_tokens, limits.count_tokens)
    asked = _newest_question(messages) if hanging else _newest_answered(messages)
    if asked is None or not start <= asked < by_tokens:
        return messages, max(start, by_tokens)
    instructions = [message for message in messages if message.role in INSTRUCTIONS]
    left = limits.max_tokens - sum(message_tokens(message, limits.count_tokens) for message in instructions)
    squeezed = _squeezed(messages[asked:], left, limits.count_tokens)
    if squeezed is not None:
        return [*messages[:asked], *squeezed], asked
    if hanging:
        alone = shorten_message(messages[asked], max(left, LEAST), limits.count_tokens)
        return [*messages[:asked], alone, *(one for one in messages[asked:] if one.role in INSTRUCTIONS)], asked
    later = (place for place in range(by_tokens, len(messages)) if messages[place].role == "user")
    return messages, next(later, len(messages))


def _newest_question(messages: Sequence[ContextMessage]) -> int | None:
    """The position of the newest question; None where there is none."""
    return next((place for place in reversed(range(len(messages))) if messages[place].role == "user"), None)


def _newest_answered(messages: Sequence[ContextMessage]) -> int | None:
    """The position of the newest question that has an answer; None where there is none."""
    answered = False
    for place in reversed(range(len(messages))):
        if messages[place].role == "user" and answered:
            return place
        answered = answered or messages[place].role in ("assistant", "tool")
    return None


def _squeezed(
    messages: Sequence[ContextMessage], left: int, count_tokens: Callable[[str], int] | None
) -> list[ContextMessage] | None:
    """A round that does not fit: its question, its last answer if any, the question after it, and what fits of the
    rest.

    The first three are shortened to ``left`` tokens; None where nothing could be read of them then.
    """
    units = _units(messages)
    last = max((place for place, unit in enumerate(units) if messages[unit[0]].role != "user"), default=0)
    needed = sorted({0, last, len(units) - 1})
    shares = _shares([_cost([messages[i] for i in units[place]], count_tokens) for place in needed], left)
    kept: dict[int, ContextMessage] = {}
    for place, share in zip(needed, shares, strict=True):
        whole = [messages[i] for i in units[place]]
        kept.update(zip(units[place], _shortened_unit(whole, share, count_tokens), strict=True))
    left -= _cost(list(kept.values()), count_tokens)
    if left < 0:
        return None
    for unit in reversed(units[1:last]):
        left -= _cost([messages[i] for i in unit], count_tokens)
        if left < 0:
            break
        kept.update((i, messages[i]) for i in unit)
    kept.update((i, message) for i, message in enumerate(messages) if message.role in INSTRUCTIONS)
    return [kept[i] for i in sorted(kept)]


def _units(messages: Sequence[ContextMessage]) -> list[list[int]]:
    """The positions of messages that stay or go together: a message, or a call with its results; no instructions."""
    units: list[list[int]] = []
    for place, message in enumerate(messages):
        if message.role == "tool" and units and messages[units[-1][0]].role == "assistant":
            units[-1].append(place)
        elif message.role not in INSTRUCTIONS:
            units.append([place])
    return units


def _shares(costs: Sequence[int], left: int) -> list[int]:
    """A budget of tokens shared out: a message that needs less leaves the rest to the others."""
    shares = [0] * len(costs)
    for number, place in enumerate(sorted(range(len(costs)), key=lambda place: costs[place])):
        shares[place] = min(costs[place], left // (len(costs) - number))
        left -= shares[place]
    return shares


def _cost(messages: Sequence[ContextMessage], count_tokens: Callable[[str], int] | None) -> int:
    return sum(message_tokens(message, count_tokens) for message in messages)


def _shortened_unit(
    unit: Sequence[ContextMessage], share: int, count_tokens: Callable[[str], int] | None
) -> list[ContextMessage]:
    """The messages within this many tokens, if possible; of a call the results are shortened."""
    costs = [message_tokens(message, count_tokens) for message in unit]
    if sum(costs) <= share or share < LEAST:
        return list(unit)
    fixed = sum(cost for cost, message in zip(costs, unit, strict=True) if message.tool_calls)
    shares = _shares([0 if one.tool_calls else cost for cost, one in zip(costs, unit, strict=True)], share - fixed)
    return [
        one if one.tool_calls else shorten_message(one, most, count_tokens)
        for one, most in zip(unit, shares, strict=True)
    ]


def _start_by_rounds(messages: Sequence[ContextMessage], max_rounds: int) -> int:
    rounds = [i for i, message in enumerate(messages) if message.role == "user"]
    return rounds[-max_rounds] if 0 < max_rounds <= len(rounds) else 0


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
