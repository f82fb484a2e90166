"""Which statements a question about the talk itself asks for."""

from __future__ import annotations

import pytest

from ovos_persona_memory import extraction
from ovos_persona_memory.records import Hit, Scope, Turn
from ovos_persona_memory.search.query import Question
from ovos_persona_memory.search.what_was_said import LATELY_S, said_as_asked
from ovos_persona_memory.stores.inmemory import InMemoryStore
from ovos_persona_memory.text import languages

Talk = tuple[tuple[float, str | None, str], ...]
EN, NOW = "en-US", 1_800_014_400.0
HOUR, DAY = 3600.0, 86400.0
TALK: Talk = (
    (2 * DAY, "bram", "the boiler man comes on friday"),
    (DAY, "ineke", "i put the boiler papers in the blue tin"),
    (DAY - 60, "ineke", "my back hurts"),
    (120.0, "bram", "i sold the old bike to henk"),
    (60.0, "ineke", "the cat sleeps in the bath"),
    (30.0, "zoe", "my recital is at six"),
)
"""How long ago who told what, seconds."""


def asked(question: str, asker: str | None = "zoe", lang: str = EN, talk: Talk = TALK) -> list[Hit]:
    """What is found for a question about this talk."""
    store = InMemoryStore()
    for number, (ago, who, text) in enumerate(talk):
        turn = Turn("user", text, at=NOW - ago, lang=lang, speaker=who, id=f"t{number}")
        store.add_turn(turn, " ".join(languages.for_language(lang).words(text)))
    said = Question(question, lang, at=NOW, timezone="UTC", asker=asker)
    return said_as_asked(store, said, Scope(), extraction)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what did bram just tell you", "i sold the old bike to henk"),
        ("what did ineke say about the boiler", "i put the boiler papers in the blue tin"),
        ("what did i just tell you", "my recital is at six"),
        ("what did bram tell you two days ago", "the boiler man comes on friday"),
    ],
)
def test_who_said_it_when_and_about_what_are_weighed_together(question: str, told: str) -> None:
    hits = asked(question)
    assert hits[0].text == told and hits[0].answers
    assert all(hit.part for hit in hits) or len(hits) == 1


def test_where_a_relation_is_named_it_is_nobody_who_asks() -> None:
    talk = ((30.0, "bram", "my lab is on tuesday"), (20.0, "zoe", "my recital is at six"))
    assert [hit.speaker for hit in asked("what did dad just tell you", talk=talk)] == ["bram"]


def test_what_is_named_behind_a_preposition_did_not_say_it() -> None:
    talk = ((60.0, "ineke", "bram has the flu"), (30.0, "bram", "i like leeks"))
    assert asked("what did ineke tell you about bram", talk=talk)[0].text == "bram has the flu"


def test_everything_said_lately_about_what_is_named_follows_the_newest_first() -> None:
    told = [hit.text for hit in asked("what have we told you about the boiler")]
    assert set(told[:2]) == {"the boiler man comes on friday", "i put the boiler papers in the blue tin"}
    old = ((LATELY_S + HOUR, "bram", "the boiler man comes on friday"), *TALK[1:])
    assert "the boiler man comes on friday" not in [hit.text for hit in asked("what did bram say about it", talk=old)]


def test_of_what_nobody_spoke_of_nothing_is_found() -> None:
    assert asked("what did pops say today") == []
    assert asked("what did bram tell you", talk=()) == []


def test_questions_and_requests_to_forget_are_nothing_that_was_told() -> None:
    talk = (
        (60.0, "bram", "i like leeks"),
        (40.0, "bram", "where is my hat"),
        (20.0, "bram", "forget what i said about the hat"),
    )
    assert [hit.text for hit in asked("what did bram just tell you", talk=talk)] == ["i like leeks"]


def test_who_speaks_alone_is_told_what_they_said() -> None:
    talk = ((60.0, None, "the bins go out on tuesday"), (30.0, None, "the shed is locked"))
    assert asked("what did i just tell you", asker=None, talk=talk)[0].text == "the shed is locked"
