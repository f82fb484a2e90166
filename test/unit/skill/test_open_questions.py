"""Who is counted of whom, who is meant by a relation, and what asks for plans."""

from __future__ import annotations

from datetime import datetime

import pytest

from ovos_persona_memory.records import Fact
from ovos_persona_memory.skill.ask import _named_alike
from ovos_persona_memory.skill.open_questions import (
    Counted,
    _says_count,
    asks_what_was_just_told,
    words_beside_plans,
)
from ovos_persona_memory.text import languages


def says(tag: str, text: str, noun: str, is_own: bool = True) -> bool:
    spoken = languages.for_language(tag)
    terms = frozenset(spoken.words(noun))
    return _says_count(text, Counted(terms, terms, frozenset(), is_own), spoken)


@pytest.mark.parametrize(
    ("tag", "text", "noun"),
    [
        ("en-US", "we have three kids", "kids"),
        ("en-US", "we've got three lovely little kids", "kids"),
        ("en-US", "there are 3 kids", "kids"),
        ("en-US", "my sister has a house and we have three kids", "kids"),
        ("en-US", "remember that we have three kids", "kids"),
        ("de-DE", "zu Hause habe ich drei Kinder", "Kinder"),
        ("de-DE", "wir haben einundzwanzig Schafe", "Schafe"),
        ("es-ES", "tenemos tres hijos", "hijos"),
        ("es-ES", "ya tenemos tres hijos", "hijos"),
        ("fr-FR", "j'ai trois enfants", "enfants"),
    ],
)
def test_a_number_of_ones_own_is_a_count(tag: str, text: str, noun: str) -> None:
    assert says(tag, text, noun)


@pytest.mark.parametrize(
    ("tag", "text", "noun"),
    [
        ("en-US", "my sister has three kids", "kids"),
        ("en-US", "she has three kids", "kids"),
        ("de-DE", "meine Schwester hat drei Kinder", "Kinder"),
        ("de-DE", "er hat drei Kinder", "Kinder"),
        ("es-ES", "mi hermana tiene tres hijos", "hijos"),
        ("es-ES", "él tiene tres hijos", "hijos"),
        ("fr-FR", "elle a trois enfants", "enfants"),
    ],
)
def test_a_number_of_somebody_elses_counts_only_where_they_are_asked_of(tag: str, text: str, noun: str) -> None:
    assert not says(tag, text, noun)
    assert says(tag, text, noun, is_own=False)


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("we have a kid", "kids"),
        ("the kids come at three", "kids"),
        ("three of the neighbours have kids", "kids"),
        ("two of our goldfish died", "goldfish"),
    ],
)
def test_a_number_of_something_else_is_no_count(text: str, noun: str) -> None:
    assert not says("en-US", text, noun, is_own=False)


def named(thing: str, value: str) -> Fact:
    return Fact(f"my {thing} is called {value}", "family", "", thing, value)


def test_a_relation_means_its_name_only_while_one_has_it() -> None:
    english = languages.for_language("en-US")
    emma, ben = named("daughter", "Emma"), named("son", "Ben")
    assert _named_alike([emma, ben], "Emma", english) == ["daughter"]
    assert _named_alike([emma, ben], "my daughter", english) == ["Emma"]
    assert _named_alike([emma, named("daughter", "Lena"), ben], "Emma", english) == []
    assert _named_alike([emma, ben], "the shed", english) == []


@pytest.mark.parametrize(
    ("tag", "text", "others"),
    [
        ("en-US", "what have i got tomorrow", []),
        ("en-US", "what has ben got at school on friday", ["ben", "school"]),
        ("en-US", "what's the weather tomorrow", ["weather"]),
        ("en-US", "what have i got", None),
        ("en-US", "i have something on tomorrow", None),
        ("de-DE", "was hab ich heut für einen termin", []),
        ("de-DE", "was hat mirja morgen vor", ["mirja"]),
        ("pt-PT", "que é que há hoje", []),
        ("es-ES", "qué toca mañana", []),
        ("es-ES", "qué tiene nel mañana", ["nel"]),
        ("fr-FR", "qu'est-ce qu'il y a demain", []),
    ],
)
def test_what_is_asked_beside_a_day_and_words_of_plans(tag: str, text: str, others: list[str] | None) -> None:
    assert words_beside_plans(text, languages.for_language(tag), datetime(2026, 11, 26, 15)) == others


@pytest.mark.parametrize(
    ("tag", "asked", "is_one"),
    [
        ("en-US", "what was it i just told you", True),
        ("en-US", "what did you just tell me", False),
        ("en-US", "what did i just say about the boiler", False),
        ("en-US", "i just told you", False),
        ("da-DK", "hvad var det jeg lige fortalte dig", True),
        ("da-DK", "hvad sagde du lige", False),
        ("es-ES", "qué te acabo de contar yo", True),
        ("es-ES", "qué me has dicho hace un momento", False),
        ("de-DE", "was hab ich dir eben grad erzählt", True),
        ("de-DE", "das hab ich gerade gesagt", False),
    ],
)
def test_what_was_just_told_is_asked_for_in_its_words_and_no_others(tag: str, asked: str, is_one: bool) -> None:
    assert asks_what_was_just_told(asked, languages.for_language(tag)) is is_one
