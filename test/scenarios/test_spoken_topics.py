"""Talks about topics: all that was said of one is told, once, without questions, and with what went on with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from support.talking import Household, household

from ovos_persona_memory.stores.inmemory import InMemoryStore

Home = Callable[[str], Household]


@pytest.fixture
def home() -> Iterator[Home]:
    """A household of this language, with an empty memory."""
    with ExitStack() as stack:
        yield lambda lang: stack.enter_context(contextmanager(household)(InMemoryStore(), lang))


def heard(at: Household, *said: str) -> str:
    """What is answered to the last of these."""
    return " / ".join([at.say(text) for text in said][-1])


PARROT = [
    (
        "en-US",
        ["the vet looked at the parrot yesterday", "he gets drops twice a day"],
        "how old is the parrot",
        "what do you know about the parrot",
        ["looked at the parrot", "drops twice a day"],
    ),
    (
        "de-DE",
        ["der Tierarzt hat sich den Papagei angesehen", "er bekommt zweimal am Tag Tropfen"],
        "wie alt ist der Papagei",
        "was weißt du über den Papagei",
        ["den Papagei angesehen", "Tropfen"],
    ),
    (
        "nl-NL",
        ["de dierenarts heeft naar de papegaai gekeken", "hij krijgt twee keer per dag druppels"],
        "hoe oud is de papegaai",
        "wat weet je over de papegaai",
        ["papegaai gekeken", "druppels"],
    ),
    (
        "fr-FR",
        ["nous avons adopté un perroquet au refuge", "il est un peu sourd de l'oreille gauche"],
        "quel âge a le perroquet",
        "qu'est-ce que tu sais sur le perroquet",
        ["un perroquet au refuge", "oreille gauche"],
    ),
]


@pytest.mark.parametrize(("lang", "told", "question", "asked", "expected"), PARROT)
def test_a_topic_is_told_with_what_went_on_with_it_and_without_questions(
    home: Home, lang: str, told: list[str], question: str, asked: str, expected: list[str]
) -> None:
    answer = heard(home(lang), *told, question, asked)
    assert all(part in answer for part in expected)
    assert question not in answer


@pytest.mark.parametrize(
    ("lang", "told", "asked", "expected"),
    [
        ("de-DE", "der Gartenzaun wird am Freitag gestrichen", "was weißt du über den Zaun", "Gartenzaun"),
        ("nl-NL", "de tuinpoort klemt bij regen", "wat weet je over de poort", "tuinpoort"),
        ("da-DK", "haveslangen drypper når det regner", "hvad ved du om slangen", "haveslangen"),
        ("it-IT", "ho visto Ornella alla stazione", "che sai di Ornella", "alla stazione"),
    ],
)
def test_a_topic_is_found_in_a_compound_and_by_a_short_question(
    home: Home, lang: str, told: str, asked: str, expected: str
) -> None:
    assert expected in heard(home(lang), told, asked)


@pytest.mark.parametrize(
    ("lang", "first", "second", "asked"),
    [
        ("en-US", "we moved to a flat in mill lane", "it is behind the bakery", "what did i just tell you"),
        ("de-DE", "wir ziehen in die Mühlgasse", "im vierten Stock ganz links", "was hab ich dir gerade erzählt"),
        ("nl-NL", "we verhuizen naar de molensteeg", "op de vierde verdieping links", "wat heb ik je net verteld"),
        ("it-IT", "ci trasferiamo in via del mulino", "al terzo piano a sinistra", "che ti ho appena detto"),
    ],
)
def test_what_was_just_told_is_told_whole(home: Home, lang: str, first: str, second: str, asked: str) -> None:
    answer = heard(home(lang), first, second, asked)
    assert f"{first}, {second}" in answer


TODAY = [
    (
        "en-US",
        ["well that was quite a day", "the ferry leaves at nine twenty", "how long is the ferry"],
        "what did i tell you today",
        "the ferry leaves at nine twenty",
    ),
    (
        "de-DE",
        ["na das war mal ein schöner Tag", "die Fähre fährt um neun Uhr zwanzig", "wie lang ist die Fähre"],
        "was hab ich dir heute gesagt",
        "die Fähre fährt um neun Uhr zwanzig",
    ),
    (
        "es-ES",
        ["pues ha sido un día precioso", "el barco sale a las nueve y veinte", "cómo de largo es el barco"],
        "qué te he contado hoy",
        "el barco sale a las nueve y veinte",
    ),
]


@pytest.mark.parametrize(("lang", "said", "asked", "expected"), TODAY)
def test_of_a_time_statements_are_told_and_no_questions(
    home: Home, lang: str, said: list[str], asked: str, expected: str
) -> None:
    answer = heard(home(lang), *said, asked)
    assert expected in answer
    assert said[2] not in answer and asked not in answer


def test_of_a_long_day_what_matters_most_is_told_first_in_its_order(home: Home) -> None:
    at = home("en-US")
    chatter = ["that soup was rather nice", "the sky looks lovely over there", "somebody sings in the street"]
    facts = [f"the {thing} comes at {number}" for thing, number in zip(THINGS, NUMBERS, strict=True)]
    first, more = heard(at, *chatter, *facts, "what did i tell you today"), heard(at, "say more")
    assert [one for one in facts if one in first] == facts
    assert not any(one in first for one in chatter)
    assert all(one in more for one in chatter)


THINGS = ("plumber", "painter", "carpenter", "baker", "postman")
NUMBERS = ("two", "three", "four", "five", "six")


def test_several_answers_are_told_three_at_a_time_where_several_are_asked_for(home: Home) -> None:
    at = home("en-US")
    food = {"ruth": "lactose", "ned": "nuts", "jack": "fish", "ann": "soy"}
    told = [f"my friend {name} can't eat {one}" for name, one in food.items()]
    (first,), (more,) = [at.say(text) for text in (*told, "who can't eat what", "say more")][-2:]
    assert sorted(told) == sorted(text for part in (first, more) for text in told if text in part)
    assert len([text for text in told if text in first]) == 3
    assert "say more" not in more.casefold()


TWO_DAYS_S = 2 * 24 * 3600.0
ON_FRIDAY = [
    (
        "de-DE",
        "der Hase braucht neues Heu",
        "was habe ich am freitagmorgen erzählt",
        "was habe ich am freitagabend erzählt",
    ),
    (
        "en-US",
        "the rabbit needs new hay",
        "what did i tell you on friday morning",
        "what did i tell you on friday evening",
    ),
    (
        "da-DK",
        "kaninen skal have nyt hø",
        "hvad har jeg fortalt dig fredag morgen",
        "hvad har jeg fortalt dig fredag aften",
    ),
]


@pytest.mark.parametrize(("lang", "told", "then", "later"), ON_FRIDAY)
def test_what_was_told_in_a_part_of_a_day_is_told_and_nothing_else(
    home: Home, lang: str, told: str, then: str, later: str
) -> None:
    at = home(lang)
    at.say(told)
    at.now += TWO_DAYS_S
    assert told in " ".join(at.say(then))
    assert told not in " ".join(at.say(later))


@pytest.mark.parametrize(
    ("lang", "named", "bare", "asked"),
    [
        (
            "en-US",
            "aunt carol's coming on saturday",
            "carol has to have her pills at six",
            "what do you know about aunt carol",
        ),
        (
            "de-DE",
            "tante gerda kommt am samstag",
            "gerda nimmt ihre tabletten um sechs",
            "was weißt du über tante gerda",
        ),
    ],
)
def test_whoever_is_named_with_a_relation_is_meant_by_the_name_alone(
    lang: str, named: str, bare: str, asked: str
) -> None:
    with contextmanager(household)(InMemoryStore(), lang) as at:
        at.say(named)
        at.say(bare)
        at.say({"en-US": "the car is red", "de-DE": "das auto ist rot"}[lang])
        told = " ".join(at.say(asked))
        assert named in told and bare in told and "red" not in told and "rot" not in told


IN_ANY_WORDS = [
    ("en-US", "mister nguyen has our ladder", "what you got on mister nguyen"),
    ("en-US", "the goat limps on the left", "let me hear what you know about the goat"),
    ("de-DE", "die ziege hinkt vorne links", "was haben wir denn alles über die ziege"),
    ("fr-FR", "la chèvre boite de la patte gauche", "raconte-moi tout sur la chèvre"),
    ("es-ES", "la vecina milagros se rompió la muñeca", "cuénteme lo que sepa de la vecina milagros"),
    ("it-IT", "la capra zoppica davanti", "aggiornami un po' sulla capra"),
    ("pt-PT", "a cabra está a coxear", "põe-me a par do que há sobre a cabra"),
    ("nl-NL", "de geit loopt kreupel", "wat hebben we allemaal over de geit"),
]


@pytest.mark.parametrize(("lang", "told", "asked"), IN_ANY_WORDS)
def test_all_about_something_is_asked_for_in_any_words(home: Home, lang: str, told: str, asked: str) -> None:
    assert told in heard(home(lang), told, "xylophon 12", asked)
    assert "xylophon" not in heard(home(lang), told, "xylophon 12", asked)


def test_of_what_nobody_spoke_of_nothing_is_told_though_a_word_before_it_is_known(home: Home) -> None:
    at = home("en-US")
    at.say("my daughter has a new bike")
    assert "bike" not in heard(at, "what you got on the daughter of yadira")
    assert "bike" in heard(at, "what you got on my daughter")


NAMED = [
    ("en-US", "my brother Donato eats no meat", "Donato marries in may", "what do you know about my brother Donato"),
    (
        "it-IT",
        "mio fratello Donato non mangia carne",
        "Donato si sposa a maggio",
        "che cosa sai di mio fratello Donato",
    ),
    (
        "de-DE",
        "mein Bruder Donato isst kein Fleisch",
        "Donato heiratet im Mai",
        "was weißt du über meinen Bruder Donato",
    ),
]


@pytest.mark.parametrize(("lang", "first", "second", "asked"), NAMED)
def test_whoever_is_named_with_what_they_are_is_meant_by_the_name_too(
    home: Home, lang: str, first: str, second: str, asked: str
) -> None:
    at = home(lang)
    told = heard(at, first, second, asked)
    assert first in told
    assert second in told


def test_a_thing_of_somebody_is_not_all_that_is_known_of_them(home: Home) -> None:
    at = home("en-US")
    told = heard(at, "my brother Donato eats no meat", "Donato's bike is green", "what do you know about Donato's bike")
    assert "green" in told
    assert "meat" not in told


LISTED = [
    (
        "en-US",
        ["put milk and teabags on the shopping list", "dish soap for the shopping list please"],
        "what's on the shopping list",
        ["milk", "soap"],
    ),
    (
        "de-DE",
        ["setz milch auf die einkaufsliste", "auf die einkaufsliste bitte noch hafermilch"],
        "was steht alles auf der einkaufsliste",
        ["setz milch", "hafermilch"],
    ),
    (
        "it-IT",
        ["aggiungi alla spesa il detersivo", "aggiungi il gelato alla spesa"],
        "che cosa c'è nella lista della spesa",
        ["detersivo", "gelato"],
    ),
]


@pytest.mark.parametrize(("lang", "told", "asked", "expected"), LISTED)
def test_what_was_put_on_a_list_is_on_it(
    home: Home, lang: str, told: list[str], asked: str, expected: list[str]
) -> None:
    at = home(lang)
    for other in ("Ann 7 Porto", "Bo 8 Lisboa", "Cy 9 Faro", "Di 10 Braga"):  # what all say tells nothing apart
        at.say(other)
    for one in told:
        at.say(one, "ann")
    answered = " / ".join(at.say(asked, "bo"))
    for one in expected:
        assert one in answered


def test_of_a_coming_day_what_names_another_day_is_not_told(home: Home) -> None:
    at = home("en-US")
    at.say("the furnace man comes tomorrow at ten", "ann")
    at.say("my brother sings tomorrow evening", "ann")
    told = " ".join(at.say("what all have we got going on tomorrow", "bo"))
    assert "furnace" in told
    assert "sings" in told
    at.now += 3 * 86400
    told = " ".join(at.say("what all have we got going on tomorrow", "bo"))
    assert "furnace" not in told
