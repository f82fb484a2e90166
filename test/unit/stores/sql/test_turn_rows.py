"""Turns out of rows."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ovos_persona_memory.records import ToolCall, Turn
from ovos_persona_memory.stores.sql.turn_rows import COLUMNS, FLAGS, calls_text, turns_of


def test_each_column_becomes_its_field() -> None:
    (turn,) = turns_of([(*COLUMNS, 0, None, "more")])
    assert {name: getattr(turn, name) for name in COLUMNS} == {name: name for name in COLUMNS}
    assert {field.name for field in fields(Turn)} == {*COLUMNS, *FLAGS, "tool_calls"}
    assert not any(getattr(turn, name) for name in FLAGS)


@pytest.mark.parametrize("number", range(1 << len(FLAGS)))
def test_a_number_stands_for_flags(number: int) -> None:
    (turn,) = turns_of([(*COLUMNS, number, None, 0)])
    assert [getattr(turn, name) for name in FLAGS] == [bool(number & 1 << place) for place in range(len(FLAGS))]


def test_tool_calls_come_back_as_they_went() -> None:
    calls = (ToolCall("1", "look", {"for": "cat"}), ToolCall("2", "tell"))
    (turn,) = turns_of([(*COLUMNS, 0, calls_text(Turn("assistant", "", tool_calls=calls)), 0)])
    assert turn.tool_calls == calls
    assert calls_text(Turn("assistant", "")) is None


def test_a_turn_out_of_a_row_equals_one_that_was_made() -> None:
    made = Turn("user", "hello", at=1.0, id="a", seq=3, user_id="ann", session_id="s", linked=True)
    row = (*(getattr(made, name) for name in COLUMNS), 1 << FLAGS.index("linked"), None, 0)
    assert turns_of([row]) == [made]
    assert hash(turns_of([row])[0]) == hash(made)
