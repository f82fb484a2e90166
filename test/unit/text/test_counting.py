"""Counts in words."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ovos_persona_memory.records import Forgotten, Moved
from ovos_persona_memory.stores.base.store import Counts
from ovos_persona_memory.text.counting import FORMS, counted, counted_kinds


@pytest.mark.parametrize(("number", "said"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (21, "21 turns")])
def test_one_alone_is_in_the_singular(number: int, said: str) -> None:
    assert counted(number, "turn") == said == counted_kinds({"turns": number})


def test_words_that_change_with_the_number_are_given_twice() -> None:
    assert counted(1, "text waits", "texts wait") == "1 text waits"
    assert counted(2, "text waits", "texts wait") == "2 texts wait"


@pytest.mark.parametrize("record", [Counts, Forgotten, Moved])
def test_everything_that_is_counted_has_its_words(record: type) -> None:
    assert {field.name for field in fields(record)} <= FORMS.keys()


def test_a_kind_of_a_newer_daemon_keeps_its_name() -> None:
    assert counted_kinds({"turns": 1, "songs": 1}) == "1 turn, 1 songs"
