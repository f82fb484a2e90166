"""Restatements: read from whatever a model answers."""

from __future__ import annotations

import pytest

from ovos_persona_memory.memory.tidying.restatements import MOST, Restatement, restatements_in

ANNA = Restatement("My sister is called Anna.", (3,))


@pytest.mark.parametrize(
    "answer",
    [
        '[{"turn": 3, "says": "My sister is called Anna."}]',
        'Here is what I found:\n```json\n[{"turn": 3, "says": "My sister is called Anna."}]\n```\nAnything else?',
        '{"facts": [{"turns": ["t3"], "fact": " My sister is called Anna. "}]}',
        '[{"tool": "restate", "arguments": {"turn": 3, "says": "My sister is called Anna."}}]',
        '[{"name": "restate", "arguments": "{\\"turn\\": \\"3\\", \\"says\\": \\"My sister is called Anna.\\"}"}]',
        '[{"line": 3, "sentence": "My sister is called Anna."}, {"line": 4, "sentence": "My bro',
        '{"turn": 3, "says": "My sister is called Anna."} {"says": "without a turn"} {"turn": 4, "says": ""}',
    ],
)
def test_what_is_whole_is_read_whatever_stands_around_it(answer: str) -> None:
    assert restatements_in(answer) == [ANNA]


@pytest.mark.parametrize("answer", ["[]", "I found nothing: []", "{}", "```\n[]\n```"])
def test_an_empty_list_says_that_there_is_nothing(answer: str) -> None:
    assert restatements_in(answer) == []


@pytest.mark.parametrize("answer", ["", "Your sister is called Anna.", "[" * 5000, '{"turn": 3', "<html>"])
def test_prose_alone_is_no_answer(answer: str) -> None:
    assert restatements_in(answer) is None


def test_an_endless_list_ends() -> None:
    assert len(restatements_in('{"turn": 1, "says": "I have a cat."}' * 1000) or []) == MOST
