"""What puts right what was just said, by oneself or by the assistant."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.assertion.corrections import RecentStatement, as_speaker, corrected
from ovos_persona_memory.extraction.templates import loader
from ovos_persona_memory.records import Scope
from test.unit.extraction.test_dialogue_state import Home

ALLERGY = RecentStatement("allergy", "", "peanut", ("peanuts",))
NAME = RecentStatement("family", "", "sister", ("odile",))


@pytest.mark.parametrize(
    ("said", "stated", "right"),
    [
        ("it's penicillin not peanuts penicillin", ALLERGY, "penicillin"),
        ("not peanuts it's penicillin", ALLERGY, "penicillin"),
        ("no no not odile it's odette with two t's", NAME, "odette"),
        ("no it's odette", NAME, "odette"),
        ("nope wrong it's odette i told you that already", NAME, "odette"),
    ],
)
def test_what_is_wrong_is_put_right(said: str, stated: RecentStatement, right: str) -> None:
    found = corrected(loader.for_language("en-US"), said, [stated])
    assert found is not None
    assert (found[0], found[1].spelled) == (stated, right)


@pytest.mark.parametrize(
    "said", ["not that anybody calls", "no thank you i do not want any more of it today", "it's not raining", "no"]
)
def test_what_puts_nothing_right_is_no_correction(said: str) -> None:
    assert corrected(loader.for_language("en-US"), said, [NAME]) is None


def test_what_was_told_to_somebody_is_turned_into_their_own_words() -> None:
    known = loader.for_language("en-US")
    swaps = {"my": "your", "our": "your", "me": "you", "i": "you"}
    assert as_speaker(known, swaps, "You're allergic to peanuts.") == "i am allergic to peanuts"
    assert as_speaker(known, swaps, "your favorite beer is Guinness") == "my favourite beer is guinness"


def test_a_correction_takes_the_place_of_what_was_said() -> None:
    home = Home()
    home.say("ann", "my birthday is the fifth of may")
    home.say("ann", "no it's the sixth of may")
    assert home.facts("ann") == [("birthday", "", "sixth of may")]


def test_a_correction_is_kept_so_that_it_can_be_understood_alone() -> None:
    home = Home()
    home.say("ann", "my birthday is on the fifth of may")
    home.say("ann", "no it's on the sixth of may")
    home.say("bob", "my sister is called odette")
    home.say("bob", "no it is odile")
    texts = {one.text for user in ("ann", "bob") for one in home.memory.facts.list(Scope(user_id=user))}
    assert texts == {"my birthday is on the sixth of may", "my sister is called odile"}


def test_what_another_person_said_is_not_put_right_by_no() -> None:
    home = Home()
    home.say("ann", "my birthday is the fifth of may")
    home.say("bob", "no it's the sixth of may")
    assert home.facts("ann") == [("birthday", "", "fifth of may")]
    assert home.facts("bob") == []


def test_what_is_put_right_in_the_same_breath_is_learned_as_it_ends() -> None:
    home = Home()
    home.say("ann", "my birthday is the fifth of may oh no i tell a lie it's the sixth of may")
    home.say("bob", "my dad is seventy no wait my dad is seventy one")
    assert home.facts("ann") == [("birthday", "", "sixth of may")]
    assert home.facts("bob") == [("age", "dad", "seventy one")]


def test_what_was_said_long_ago_is_put_right_by_name_alone() -> None:
    home = Home()
    home.say("ann", "my birthday is the fifth of may")
    home.say("ann", "no it's the sixth of may", after_s=1000)
    assert home.facts("ann") == [("birthday", "", "fifth of may")]
