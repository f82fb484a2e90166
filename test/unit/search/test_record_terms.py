"""The index terms of records: a fact is found by what asks for it."""

from __future__ import annotations

import pytest

from ovos_persona_memory.records import Fact
from ovos_persona_memory.search.record_terms import asking_words


@pytest.mark.parametrize(
    ("text", "thing", "value", "is_asked_for"),
    [
        ("my cat is called Bob", "cat bob", "Bob", True),
        ("my cat is called Bob", "cat", "Bob", True),
        ("we have a cat", "cat", "cat", False),
    ],
)
def test_the_name_of_a_pet_is_asked_for_and_a_pet_without_one_is_not(
    text: str, thing: str, value: str, is_asked_for: bool
) -> None:
    fact = Fact(text=text, slot="pet", thing=thing, value=value, lang="en-US")
    assert bool(asking_words(fact)) == is_asked_for
