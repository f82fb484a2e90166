"""Turns out of the rows of a database, quickly: a history reads dozens of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

from ovos_persona_memory.records import ToolCall, Turn

FLAGS = ["expects_reply", "announcement", "machine", "linked", "redacted"]
SAID = {row: dict(zip(FLAGS, map(bool, row), strict=True)) for row in product((0, 1), repeat=len(FLAGS))}
"""The flags that zeros and ones stand for."""


def turns_with(names: Sequence[str], rows: Iterable[tuple[Any, ...]], flags: slice | None = None) -> list[Turn]:
    """The turns that have these fields, all of them, in a third of the time that ``Turn(**fields)`` takes.

    ``rows`` may be longer than ``names``. ``tool_calls`` is as ``calls_text`` gives them. ``flags``: where zeros and
    ones stand for ``FLAGS``.
    """
    turns = []
    for row in rows:
        turn = object.__new__(Turn)
        fields = turn.__dict__
        fields.update(zip(names, row, strict=False))
        if flags is not None:
            fields.update(SAID[row[flags]])
        calls = fields["tool_calls"]
        fields["tool_calls"] = tuple(ToolCall(*call) for call in json.loads(calls)) if calls else ()
        turns.append(turn)
    return turns


def calls_text(turn: Turn) -> str | None:
    """The tool calls of a turn as a column holds them; None where there are none."""
    if not turn.tool_calls:
        return None
    return json.dumps([(call.id, call.name, call.arguments) for call in turn.tool_calls])
