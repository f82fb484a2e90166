"""Whose the question is, and whose the text is."""

from __future__ import annotations

import pytest

from ovos_persona_memory.records import Hit, Scope
from ovos_persona_memory.search.ownership import Ownership
from ovos_persona_memory.search.query import Question
from ovos_persona_memory.search.recall import recall
from ovos_persona_memory.stores.inmemory.store import InMemoryStore
from ovos_persona_memory.text import languages
from test.unit.search.test_recall import told


def is_of_another(tag: str, question: str, text: str) -> bool:
    spoken = languages.for_language(tag)
    alike = {word: [f" {other} " for other in spoken.alike(word)] for word in spoken.content_words(question)}
    asked = Ownership(question, spoken, alike)
    return asked.is_of_another(text, spoken) or asked.is_of_another_thing(text, spoken)


@pytest.mark.parametrize(
    ("tag", "question", "text", "of_another"),
    [
        ("en-US", "where do I live", "I live in Leeds", False),
        ("en-US", "where do I live", "we live in Leeds now", False),
        ("en-US", "where do I live", "my brother lives in Leeds", True),
        ("en-US", "where do I live", "I still live in Leeds", False),
        ("en-US", "where do I live", "my flatmate lives in Leeds", True),
        ("en-US", "where do I live", "yesterday I moved to Leeds", False),
        ("en-US", "where did we live before", "we moved here from Leeds", False),
        ("en-US", "what's my name", "my brother's name is luke", True),
        ("en-US", "what's my name", "my brother is called luke", True),
        ("en-US", "what's my name", "my name is anna", False),
        ("en-US", "what is my name", "I'm called anna", False),
        ("en-US", "when is my birthday", "dad's birthday is on may 3", True),
        ("en-US", "when is my birthday", "my birthday is on may 3", False),
        ("en-US", "when is my birthday", "my birthday is the same as dads birthday", False),
        ("en-US", "what is my shoe size", "ben's shoe size is 42", True),
        ("en-US", "what is my shoe size", "bens shoe size is 42", True),
        ("en-US", "what is my shoe size", "my shoe size is 42", False),
        ("en-US", "where is the car", "the car key is on the hook", True),
        ("en-US", "where is the car", "the car is in the garage", False),
        ("en-US", "where is the car key", "the car key is on the hook", False),
        ("en-US", "where is my bike", "my bike stands in the shed", False),
        ("en-US", "where is my key", "my spare key is under the pot", False),
        ("en-US", "where is my key", "the spare key is under the pot", False),
        ("en-US", "what is the wifi password", "the wifi password is zebra", False),
        ("en-US", "what is my wifi password", "the new wifi password is zebra", False),
        ("en-US", "where does my brother live", "my brother lives in Leeds", False),
        ("en-US", "where does my brother live", "my wife's brother lives in Leeds", True),
        ("en-US", "where does emma live", "emma lives in Leeds", False),
        ("en-US", "when do I have the dentist", "I have a dentist appointment on friday", False),
        ("en-US", "what is my wife called", "my wife is called Ann", False),
        ("en-US", "what is my wife called", "my brother's wife is called Ann", True),
        ("en-US", "where did I put the key", "I left the key in the drawer", False),
        ("en-US", "what am I allergic to", "I am allergic to nuts", False),
        ("en-US", "what am I allergic to", "my daughter is allergic to nuts", True),
        ("en-US", "what do I like", "I like tea", False),
        ("de-DE", "wo wohne ich", "ich wohne in Bremen", False),
        ("de-DE", "wo wohne ich", "in Bremen wohne ich seit 2010", False),
        ("de-DE", "wo wohne ich", "mein Bruder wohnt in Bremen", True),
        ("de-DE", "wie heiße ich", "mein Bruder heißt Luke", True),
        ("de-DE", "wie heiße ich", "ich heiße Anna", False),
        ("de-DE", "wann ist mein Geburtstag", "Papas Geburtstag ist im Mai", True),
        ("de-DE", "wann ist mein Geburtstag", "mein Geburtstag ist im Mai", False),
        ("de-DE", "welche Schuhgröße habe ich", "meine Schuhgröße ist 42", False),
        ("de-DE", "welche Schuhgröße habe ich", "Bens Schuhgröße ist 42", True),
        ("fr-FR", "où est-ce que j'habite", "j'habite à Lyon", False),
        ("fr-FR", "où est-ce que j'habite", "mon frère habite à Lyon", True),
        ("fr-FR", "c'est quoi mon nom", "mon nom est Anna", False),
        ("fr-FR", "quelle est ma pointure", "ma pointure est le 42", False),
        ("fr-FR", "où est la voiture", "la voiture est dans le garage", False),
        ("es-ES", "dónde vivo", "un amigo mío vive en Bilbao", True),
        ("es-ES", "dónde vivo yo", "vivo en Madrid", False),
        ("es-ES", "cómo se llama mi hermano", "mi hermano se llama Luis", False),
        ("es-ES", "cuál es mi talla", "mi talla es la 42", False),
        ("it-IT", "dove abito io", "mio fratello abita a Bari", True),
        ("it-IT", "qual è il mio nome", "il mio nome è Anna", False),
        ("nl-NL", "waar woon ik", "ik woon in Gent", False),
        ("da-DK", "hvor bor jeg", "min bror bor i Aarhus", True),
        ("da-DK", "hvor bor jeg", "jeg bor i Aarhus", False),
        ("pt-PT", "onde moro eu", "o meu irmão mora em Braga", True),
        ("pt-PT", "qual é o meu nome", "o meu nome é Ana", False),
        ("ca-ES", "on visc jo", "el meu germà viu a Girona", True),
        ("ca-ES", "quin és el meu nom", "el meu nom és Anna", False),
        ("gl-ES", "onde vivo eu", "o meu irmán vive en Vigo", True),
        ("gl-ES", "onde vivo eu", "eu vivo en Vigo", False),
    ],
)
def test_what_is_mine_is_not_answered_by_what_is_anothers(tag: str, question: str, text: str, of_another: bool) -> None:
    assert is_of_another(tag, question, text) is of_another


@pytest.mark.parametrize(
    ("tag", "question", "text"),
    [
        ("en-US", "where do I live", "a mate of mine lives in Bristol"),
        ("en-US", "where did we live before", "I moved the car to the back"),
        ("en-US", "what's my name", "the name of my brother is luke"),
        ("en-US", "where is the car", "I put the car key on the hook"),
        ("de-DE", "wo wohne ich", "ein Freund von mir wohnt in Bremen"),
        ("de-DE", "was ist mein Name", "der Name meines Bruders ist Luke"),
        ("fr-FR", "c'est quoi mon nom", "le nom de mon frère est Luc"),
        ("fr-FR", "quelle est ma pointure", "la pointure de Tom est 42"),
        ("fr-FR", "où est la voiture", "la clé de la voiture est dans le tiroir"),
        ("es-ES", "cuál es mi talla", "la talla de Tomás es la 42"),
        ("es-ES", "dónde está el coche", "la llave del coche está en el cajón"),
        ("it-IT", "qual è il mio nome", "il nome di mio fratello è Luca"),
        ("nl-NL", "waar woon ik", "een vriend van mij woont in Gent"),
        ("nl-NL", "waar woon ik", "mijn broer woont in Gent"),
        ("pt-PT", "qual é o meu nome", "o nome do meu irmão é Rui"),
    ],
)
def test_lists_of_people_tell_more_of_what_is_anothers(tag: str, question: str, text: str) -> None:
    assert is_of_another(tag, question, text)


def asked(store: InMemoryStore, question: str) -> list[Hit]:
    return recall(store, Question(question, "en-US"), Scope(), 5)


def test_where_the_speaker_lives_is_not_where_a_brother_lives() -> None:
    store = told("my brother lives in Bristol", "his brother's name is luke", "bens shoe size is 42")
    for question in ("where do I live", "what's my name", "what is my shoe size"):
        assert not any(hit.sure or hit.answers for hit in asked(store, question)), question
    store = told("I live in Leeds", "my name is anna", "my shoe size is 38", store=store)
    for question, text in (("where do I live", "I live in Leeds"), ("what's my name", "my name is anna")):
        assert [hit.text for hit in asked(store, question) if hit.answers] == [text]


def test_the_car_is_not_the_car_key() -> None:
    store = told("the car key is on the hook")
    assert not any(hit.answers for hit in asked(store, "where is the car"))
    assert asked(store, "where is the car key")[0].answers
