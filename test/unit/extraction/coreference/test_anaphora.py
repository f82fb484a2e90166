"""What is named first and then stood for."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.pipeline import extract
from ovos_persona_memory.records import Turn
from test.unit.extraction.test_dialogue_state import Home


def told(text: str) -> list[tuple[str | None, str, str, str | None]]:
    verdicts = extract(Turn("user", text, lang="en-US", user_id="ann"))
    return [(one.slot, one.subject, one.thing, one.value) for one in verdicts if one.outcome == "learned"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the passports they're in the wardrobe", ("location", "", "passport", "in the wardrobe")),
        ("my dad he was born in india", ("origin", "dad", "", "india")),
        ("the ladder isn't there any more it's behind the shed", ("location", "", "ladder", "behind the shed")),
        ("my violin's not in my room it's in the coat closet", ("location", "", "violin", "in the coat closet")),
        ("don't put coriander down my wife hates it", ("dislikes", "wife", "coriand", "coriander")),
        ("get some cardamom tea on the list i can't get enough of it", ("likes", "", "cardamom tea", "cardamom tea")),
        ("i've got eczema on my elbows", ("health", "", "eczema", "eczema")),
        ("i'm forty four for my sins", ("age", "", "", "forty four")),
    ],
)
def test_what_is_stood_for_is_told(text: str, expected: tuple[str, str, str, str]) -> None:
    assert told(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "tell ann i live in porto",
        "i hate it",
        "if i had a dog it would be in the garden",
        "what is in the garden i wonder",
        "she said the keys they're in the hall",
    ],
)
def test_what_stands_for_nothing_tells_nothing(text: str) -> None:
    assert told(text) == []


def test_what_others_ask_is_answered_by_anybody() -> None:
    home = Home()
    home.say("ann", "my favorite color is mustard yellow")
    home.say("bob", "mine's teal")
    home.say("cleo", "for me it's navy blue")
    home.say("bob", "where's the leash")
    home.say("ann", "on the coat rack")
    assert home.facts("bob") == [("favourite", "", "teal")]
    assert home.facts("cleo") == [("favourite", "", "navy blue")]
    assert ("location", "", "on the coat rack") in home.facts("ann")


@pytest.mark.parametrize(
    ("lang", "question", "answer", "thing", "place"),
    [
        (
            "en-US",
            "where's the ladder",
            "it's at the bottom of our wardrobe",
            "ladder",
            "at the bottom of our wardrobe",
        ),
        ("en-US", "where's your bottle", "it's upstairs", "bottl", "upstairs"),
        (
            "en-US",
            "is there any mint sauce",
            "it's in the door of the fridge",
            "mint sauc",
            "in the door of the fridge",
        ),
        ("en-US", "have you seen my glasses", "on the piano", "glass", "on the piano"),
        ("en-US", "i've got judo now where's my belt", "it'll be in the van", "belt", "in the van"),
        ("de-DE", "wo ist der rotwein", "im keller", "rotwein", "im keller"),
        ("de-DE", "mama ich hab heut judo wo ist mein anzug", "hängt auf der leine", "anzug", "auf der leine"),
        ("de-DE", "wo ist mein stock", "der steht am ofen", "stock", "am ofen"),
        ("de-DE", "wo hast du den kleber hingetan", "ins regal im flur", "kleb", "ins regal im flur"),
    ],
)
def test_who_asks_where_something_is_is_told(lang: str, question: str, answer: str, thing: str, place: str) -> None:
    home = Home(lang)
    home.say("ann", question)
    home.say("bob", answer)
    assert home.placed("bob") == [(thing, place)]


@pytest.mark.parametrize(
    ("lang", "question", "answer"),
    [
        ("de-DE", "wo ist meine brille", "auf deinem kopf"),
        ("en-US", "where's my pen", "behind your ear"),
        ("en-US", "what's the time", "in the drawer"),
        ("en-US", "where's the key", "it's on top of the key"),
    ],
)
def test_what_answers_no_such_question_places_nothing(lang: str, question: str, answer: str) -> None:
    home = Home(lang)
    home.say("ann", question)
    home.say("bob", answer)
    assert home.placed("bob") == []


def test_words_that_answer_nothing_are_no_answer() -> None:
    home = Home()
    home.say("ann", "my favorite color is mustard yellow")
    home.say("bob", "on the coat rack")
    home.say("cleo", "navy blue")
    assert home.facts("bob") == []
    assert home.facts("cleo") == []
