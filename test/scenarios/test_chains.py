"""People who are told of by whose they are, and what is said of others than one's own."""

from __future__ import annotations

import pytest

from test.unit.extraction.test_dialogue_state import Home


def told(lang: str, said: str) -> list[tuple[str | None, str, str | None]]:
    """What is known of a home in which one person said this and nothing else: slot, of whom, value."""
    home = Home(lang=lang)
    home.say("ann", said)
    return home.facts("ann")


@pytest.mark.parametrize(
    ("lang", "said", "fact"),
    [
        ("en-US", "the husband of my sister is vegetarian", ("diet", "sister husband", "vegetarian")),
        ("en-US", "the wife of my brother is called ann", ("family", "brother", "ann")),
        ("de-DE", "die frau von meinem bruder heißt eva", ("family", "bruder", "eva")),
        ("de-DE", "der mann von meiner tochter isst kein fleisch", ("diet", "tochter mann", "fleisch")),
        ("de-DE", "die mutter von meinem mann kommt aus polen", ("origin", "mann mutter", "polen")),
        ("de-DE", "die schwester von meiner mutter heißt ilse", ("family", "mutter", "ilse")),
        ("de-DE", "die katze von oma heißt mia", ("pet", "oma", "mia")),
    ],
)
def test_a_relative_of_somebody_is_neither_them_nor_one_s_own(lang: str, said: str, fact: tuple[str, str, str]) -> None:
    assert told(lang, said) == [fact]


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("en-US", "my mum's best friend lives in leeds"),
        ("en-US", "my best friend lives in leeds"),
        ("de-DE", "die beste freundin von mama ist friseurin"),
        ("de-DE", "der chef von papa wohnt in köln"),
    ],
)
def test_friends_of_somebody_are_not_them(lang: str, said: str) -> None:
    assert told(lang, said) == []


def test_a_friend_s_job_is_not_the_speaker_s() -> None:
    assert told("en-US", "my best friend dave is a teacher") == [("family", "", "dave")]


@pytest.mark.parametrize(
    ("lang", "said", "fact"),
    [
        ("de-DE", "wir wohnen nicht in köln sondern in bonn", ("home", "", "bonn")),
        ("de-DE", "ich heiße nicht anna sondern ann", ("name", "", "ann")),
        ("de-DE", "mein hund heißt nicht bello sondern benno", ("pet", "", "benno")),
    ],
)
def test_what_is_so_instead_is_learned(lang: str, said: str, fact: tuple[str, str, str]) -> None:
    assert told(lang, said) == [fact]


@pytest.mark.parametrize(
    "denied", ["we do not live in leeds", "i never lived in leeds", "it's not true that we live in leeds"]
)
def test_where_nobody_lives_is_not_learned(denied: str) -> None:
    assert told("en-US", denied) == []
    assert told("en-US", "we live in leeds") == [("home", "", "leeds")]


def test_what_a_relation_is_called_holds_no_verb() -> None:
    home = Home(lang="en-US")
    home.say("ann", "my landlord's called mr hughes")
    home.say("ann", "my landlord is called mr grant")
    assert home.facts("ann") == [("detail", "", "mr grant")]


def test_nobody_lies_anywhere_but_their_things_do() -> None:
    home = Home(lang="en-US")
    home.say("ann", "our dog is called juno")
    home.say("ann", "juno's under the stairs she wants a solicitor")
    assert [slot for slot, _, _ in home.facts("ann")] == ["pet"]
    home.say("ann", "juno's lead is under the stairs")
    assert "location" in [slot for slot, _, _ in home.facts("ann")]


def test_a_pet_that_has_another_name_is_no_pet_s_pet() -> None:
    home = Home(lang="en-US")
    home.say("ann", "my kitten is called socks")
    home.say("ann", "actually my kitten isn't socks any more he's waffle")
    assert home.facts("ann") == [("pet", "", "waffle")]


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("you should probably know i have type one diabetes", ("health", "", "type one diabetes")),
        ("leave off the cilantro at the end i can't stand cilantro", ("dislikes", "", "cilantro")),
        ("my brother's real name is terrell", ("family", "", "terrell")),
    ],
)
def test_what_stands_around_a_value_does_not_hide_it(said: str, fact: tuple[str, str, str]) -> None:
    assert told("en-US", said) == [fact]


@pytest.mark.parametrize(
    "said",
    [
        "remember that the chimney sweep comes every september and i'm so tired of finding the card",
        "remember that the plumber comes on friday i feel sad today",
        "remember the gate sticks when it rains i'm tired of pushing it",
    ],
)
def test_what_is_asked_to_be_remembered_is_kept_though_something_else_is_said_behind_it(said: str) -> None:
    assert (None, "", None) in told("en-US", said)
    assert (None, "", None) not in told("en-US", "remember that my cat is called bob")
