"""Snapshots of a session, and its older part, which a summary may replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, TypedDict

import msgspec

from ovos_persona_memory.conversation.exchanges import blocks
from ovos_persona_memory.conversation.history import message_of, messages
from ovos_persona_memory.conversation.window import INSTRUCTIONS, message_tokens
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import ContextMessage, Turn, Unfit, refuse_unusable, text_of

MessageLike = ContextMessage | Turn | Mapping[str, Any]


class Snapshot(TypedDict):
    """A copy of a whole session, which no later change reaches."""

    messages: list[ContextMessage]
    """Oldest first."""
    summary: str | None
    """None where there is none."""


def snapshot(turns: Sequence[Turn], summary: str, max_history: int | None) -> Snapshot:
    """The newest messages of a session by the rules of history, with hanging questions of batches, and its summary."""
    every = messages(turns)
    newest = every if max_history is None else every[max(len(every) - max_history, 0) :]
    return {"messages": deepcopy(newest), "summary": summary or None}


def turns_of(taken: Mapping[str, Any] | Sequence[MessageLike]) -> tuple[list[Turn], str]:
    """The turns and the summary in a snapshot, or in a plain list of messages.

    A message is a ContextMessage, a Turn or a mapping with the same names. InvalidRequest for anything else.
    """
    if isinstance(taken, Mapping) and "messages" not in taken:
        raise InvalidRequest("messages", "is missing")
    given = taken["messages"] if isinstance(taken, Mapping) else taken
    summary = (taken.get("summary") or "") if isinstance(taken, Mapping) else ""
    if not isinstance(summary, str):
        raise InvalidRequest("summary", "must be a text")
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidRequest("messages", "must be a list")
    return [_turn_of(message, number) for number, message in enumerate(given)], summary


def _turn_of(message: MessageLike, number: int) -> Turn:
    try:
        # from its fields, as if it were read from a file
        told = msgspec.to_builtins(message)
        if isinstance(told, dict) and "text" in told:
            told["text"] = text_of(told["text"])
        said = msgspec.convert(told, ContextMessage)
    except Unfit as unfit:
        raise InvalidRequest(f"messages[{number}].text{unfit.place}", unfit.problem) from unfit
    except (msgspec.ValidationError, TypeError) as error:
        raise InvalidRequest(f"messages[{number}]", str(error)) from error
    turn = message if isinstance(message, Turn) else Turn(said.role, said.text)
    refuse_unusable(replace(turn, tool_calls=said.tool_calls), f"messages[{number}]")
    return Turn(
        said.role,
        said.text,
        at=turn.at,
        speaker=turn.speaker,
        lang=turn.lang,
        tool_calls=said.tool_calls,
        tool_call_id=said.tool_call_id,
        name=said.name,
        is_error=said.is_error,
    )


def older(turns: Sequence[Turn], keep_recent: int, trimmed_to: int = 0) -> list[Turn]:
    """What was said before the newest ``keep_recent`` turns of a session, oldest first; no system messages.

    What takes no part in history is left out, and so are turns with a ``seq`` up to ``trimmed_to``, which only tell
    who answers whom. The cut never falls between a call and its results: it moves to before the call.
    """
    said = _said_since(turns, trimmed_to)
    cut = max(len(said) - max(keep_recent, 0), 0)
    return said[: _before(_calls_and_results(said), cut)]


def overflowing(turns: Sequence[Turn], threshold: int, kept: int, trimmed_to: int = 0) -> list[Turn]:
    """What leaves a window of so many turns when more than ``threshold`` are said, oldest first; else nothing.

    The cut falls between two exchanges where that can be: it moves to before the ones that it would split, so that no
    question is left to the summary whose answer stays, which history does not show then.
    """
    said = _said_since(turns, trimmed_to)
    if len(said) <= threshold:
        return []
    cut = _before(_calls_and_results(said), max(len(said) - kept, 0))
    return said[: _before([*_calls_and_results(said), *_exchanges(turns, said)], cut) or cut]


def pieces(turns: Sequence[Turn], most_tokens: int) -> list[list[Turn]]:
    """The turns in pieces of at most so many tokens each, a longer turn as one; a call stays with its results."""
    parts: list[list[Turn]] = []
    left = 0
    splits = _calls_and_results(turns)
    for place, turn in enumerate(turns):
        cost = message_tokens(message_of(turn))
        if not parts or (cost > left and _before(splits, place) == place):
            parts.append([])
            left = most_tokens
        parts[-1].append(turn)
        left -= cost
    return parts


def beyond(turns: Sequence[Turn], max_tokens: int, trimmed_to: int = 0) -> list[Turn]:
    """The oldest turns that have to go for the rest of a session to fit into so many tokens, a call with its results.

    System messages stay, and count. The newest question stays, with all that follows it, whether it fits or not.
    """
    said = _said_since(turns, trimmed_to)
    left = max_tokens - sum(message_tokens(message_of(turn)) for turn in turns if turn.role in INSTRUCTIONS)
    asked = max((place for place, turn in enumerate(said) if turn.role == "user"), default=len(said))
    cut = len(said)
    while cut > 0 and (left := left - message_tokens(message_of(said[cut - 1]))) >= 0:
        cut -= 1
    splits = _calls_and_results(said)
    while cut < asked and _before(splits, cut) != cut:
        cut += 1
    return said[: _before(splits, min(cut, asked))]


def _said_since(turns: Sequence[Turn], trimmed_to: int) -> list[Turn]:
    return [turn for turn in _talk(turns) if turn.seq > trimmed_to or not turn.seq]


def _talk(turns: Sequence[Turn]) -> list[Turn]:
    taking_part = {turn.id for block in blocks(turns) for turn in (*block.passed, *block.added)}
    spoken = [turn for turn in turns if turn.role not in INSTRUCTIONS and not turn.redacted]
    return [turn for turn in spoken if turn.id in taking_part and (turn.text.strip() or turn.tool_calls)]


Span = tuple[int, int]
"""The places of the first and the last turn of what belongs together."""


def _before(spans: Sequence[Span], cut: int) -> int:
    """The next place at or before a cut where nothing is split that belongs together."""
    while split := [first for first, last in spans if first < cut <= last]:
        cut = min(split)
    return cut


def _calls_and_results(said: Sequence[Turn]) -> list[Span]:
    called: dict[str, int] = {}
    spans: list[Span] = []
    for place, turn in enumerate(said):
        if turn.role == "tool" and turn.tool_call_id in called:
            spans.append((called[turn.tool_call_id], place))
        called.update((call.id, place) for call in turn.tool_calls)
    return spans


def _exchanges(turns: Sequence[Turn], said: Sequence[Turn]) -> list[Span]:
    """Where each exchange among these turns begins and ends; of a batch, each question with what follows it."""
    places = {turn.id: place for place, turn in enumerate(said)}
    spans: list[Span] = []
    for block in blocks(turns):
        parts: list[list[int]] = [[]]
        for turn in (*block.passed, *(one for one in block.added if not one.announcement)):
            if turn.role == "user" and parts[-1]:
                parts.append([])
            parts[-1] += [places[turn.id]] if turn.id in places else []
        spans += [(min(part), max(part)) for part in parts if part]
    return spans
