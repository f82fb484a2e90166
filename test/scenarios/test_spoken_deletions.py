"""Every way to have something forgotten by voice, with every answer that is no yes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.deletions import ANSWERS, DELETIONS, KEPT, SAID_BACK, TOLD, Deletion, without_number
from support.talking import Household, household

from ovos_persona_memory.stores.inmemory import InMemoryStore


@pytest.fixture
def home() -> Iterator[Household]:
    yield from household(InMemoryStore())


@pytest.mark.parametrize("answer", sorted(set(ANSWERS) - {"stop"}))  # the assistant's own stop is end to end
@pytest.mark.parametrize("deletion", DELETIONS, ids=lambda deletion: deletion.said)
def test_without_a_yes_it_says_that_all_is_kept_and_a_late_yes_deletes_nothing(
    home: Household, deletion: Deletion, answer: str
) -> None:
    assert home.say(TOLD) == [SAID_BACK]
    [asked] = home.say(deletion.said)
    assert without_number(asked).startswith(deletion.asked)
    assert " ".join(home.say(answer)) == ANSWERS[answer]
    assert not any("forgotten" in said for said in home.say("yes"))
    assert home.notes() == [KEPT]
