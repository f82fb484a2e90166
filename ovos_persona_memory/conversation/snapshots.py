"""The older part of a session, which a summary may stand for, and a session as something to take and put back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, TypedDict

import msgspec

from ovos_persona_memory.conversation.exchanges import blocks
from ovos_persona_memory.conversation.history import messages
from ovos_persona_memory.conversation.window import INSTRUCTIONS
from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import ContextMessage, Turn, Unfit, refuse_unusable, text_of

MessageLike = ContextMessage | Turn | Mapping[str, Any]


class Snapshot(TypedDict):
    """A session taken out whole; a copy, which no later change reaches."""

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

    A message is a ContextMessage, a Turn or a mapping with the same names. InvalidRequest where it is none.
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
        # from its fields, as it would come from a file
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


def older(turns: Sequence[Turn], keep_recent: int) -> list[Turn]:
    """What was said before the newest ``keep_recent`` turns of a session, oldest first; no system messages.

    What takes no part in history is left out. The cut never falls between a call and its results:
    it moves to before the call.
    """
    said = _talk(turns)
    cut = max(len(said) - max(keep_recent, 0), 0)
    return said[: _before_open_call(said, cut)]


def _talk(turns: Sequence[Turn]) -> list[Turn]:
    taking_part = {turn.id for block in blocks(turns) for turn in (*block.passed, *block.added)}
    spoken = [turn for turn in turns if turn.role not in INSTRUCTIONS and not turn.redacted]
    return [turn for turn in spoken if turn.id in taking_part and (turn.text.strip() or turn.tool_calls)]


def _before_open_call(said: Sequence[Turn], cut: int) -> int:
    called: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    for place, turn in enumerate(said):
        if turn.role == "tool" and turn.tool_call_id in called:
            pairs.append((called[turn.tool_call_id], place))
        called.update((call.id, place) for call in turn.tool_calls)
    while split := [call for call, result in pairs if call < cut <= result]:
        cut = min(split)
    return cut
