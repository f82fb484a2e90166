"""Requests that are known by their words alone, in whatever order they are said."""

from __future__ import annotations

import pytest

from ovos_persona_memory.skill.acts import requested, says_forget, says_nothing, topic_of
from ovos_persona_memory.skill.intent_matching import MatchedIntent
from ovos_persona_memory.text import is_pointing, languages

THAT = {
    "en-US": [
        "okay delete that one",
        "hm take that out again",
        "wipe what i just told you please",
        "get rid of that too",
    ],
    "de-DE": ["lösch das mal wieder", "das kannst du gleich wieder streichen", "vergiss was ich eben gesagt habe"],
    "fr-FR": [
        "supprime ça s'il te plaît",
        "tu peux effacer ça je l'ai vendue",
        "oublie ce que je viens de te raconter",
    ],
    "es-ES": ["borra eso anda", "eso también lo puedes borrar", "olvida lo que te acabo de decir"],
    "it-IT": ["cancella quello che ho appena detto", "mah scordati quello che ho detto"],
    "pt-PT": ["apaga isso", "esquece o que acabei de dizer"],
    "nl-NL": ["wis dat maar weer", "vergeet wat ik net zei"],
    "da-DK": ["slet det igen", "glem hvad jeg lige sagde"],
    "ca-ES": ["esborra això", "oblida el que acabo de dir"],
    "gl-ES": ["borra iso", "esquece o que acabo de dicir"],
}
THIS = {
    "en-US": ["write that down for me", "can you remember that please", "don't forget that okay", "keep this in mind"],
    "de-DE": ["merk dir das", "schreib dir das auf bitte", "vergiss das bloß nicht", "das bitte dauerhaft merken"],
    "fr-FR": ["retiens ça", "n'oublie surtout pas ça", "prends-en note", "écris ça quelque part"],
    "es-ES": ["apúntatelo", "y eso anótalo también", "que no se te olvide eso", "toma nota de eso"],
    "it-IT": ["ricordatelo", "prendi nota"],
    "pt-PT": ["anota isso", "não te esqueças disso"],
    "nl-NL": ["onthoud dat", "schrijf dit op"],
    "da-DK": ["husk det", "skriv det ned"],
    "ca-ES": ["apunta això", "recorda això"],
    "gl-ES": ["apunta iso", "lembra isto"],
}
NAMED = [
    ("en-US", "you can forget about the truck's oil change now", {"truck", "oil", "change"}),
    ("en-US", "and also erase the thing about florida", {"florida"}),
    ("en-US", "you don't need to remember the gardener any more", {"gardener"}),
    ("de-DE", "vergiss die Handynummer von Oma", {"handynummer", "oma"}),
    ("de-DE", "du kannst opas ohrenarzttermin vergessen", {"opas", "ohrenarzttermin"}),
    ("fr-FR", "oublie le numéro de mamie", {"numero", "mamie"}),
    ("es-ES", "olvida el teléfono de la abuela", {"telefono", "abuela"}),
    ("es-ES", "ya no hace falta que sepas dónde está la tienda bórralo", {"tienda"}),
    ("it-IT", "dimentica il numero della nonna", {"numero", "nonna"}),
    ("it-IT", "non serve più che ti ricordi della patente di aldo", {"patente", "aldo"}),
    ("nl-NL", "vergeet het nummer van oma", {"nummer", "oma"}),
]


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in THAT.items() for text in texts])
def test_who_names_nothing_wants_what_was_spoken_of_forgotten(tag: str, text: str) -> None:
    meant = requested(text, languages.for_language(tag))
    assert (meant and meant.intent) == "forget_that"


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in THIS.items() for text in texts])
def test_who_names_nothing_wants_what_was_said_kept(tag: str, text: str) -> None:
    meant = requested(text, languages.for_language(tag))
    assert (meant and meant.intent) == "remember_this"


@pytest.mark.parametrize(("tag", "text", "topic"), NAMED)
def test_what_is_named_is_the_topic(tag: str, text: str, topic: set[str]) -> None:
    meant = requested(text, languages.for_language(tag))
    assert meant is not None
    assert meant.intent == "forget_about"
    assert topic <= set(languages.fold(meant.slots["topic"]))


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en-US", "i'll never forget that"),
        ("en-US", "i always forget my keys"),
        ("en-US", "my wife will never forget that"),
        ("en-US", "don't forget to lock the door"),
        ("en-US", "forget it"),
        ("en-US", "did you forget that"),
        ("en-US", "keep that door open"),
        ("en-US", "write down the shopping list"),
        ("de-DE", "vergiss nicht den müll rauszubringen"),
        ("de-DE", "ich vergesse das immer"),
        ("fr-FR", "n'oublie pas le pain"),
        ("fr-FR", "oublie"),
        ("es-ES", "guarda silencio"),
        ("pt-PT", "apaga a televisão"),  # switch it off
        ("gl-ES", "apaga a luz do corredor"),
    ],
)
def test_what_asks_for_nothing_of_the_kind(tag: str, text: str) -> None:
    assert requested(text, languages.for_language(tag)) is None


@pytest.mark.parametrize(
    ("tag", "text", "topic"),
    [
        ("pt-PT", "apaga lá aquela conversa da alzira", "alzira"),
        ("gl-ES", "apaga o que che dixen da chave", "chave"),
    ],
)
def test_what_switches_things_off_asks_to_forget_beside_what_was_said(tag: str, text: str, topic: str) -> None:
    assert requested(text, languages.for_language(tag)) == MatchedIntent("forget_about", {"topic": topic})


def test_small_words_name_nothing() -> None:
    english = languages.for_language("en-US")
    assert is_pointing("that last bit please", english)
    assert not is_pointing("that last plum", english)
    assert topic_of("the thing about the green bicycle please", english) == "green bicycle"
    assert topic_of("that thing", english) == ""
    assert says_nothing("oh nothing", english)
    assert not says_nothing("the plums are ripe", english)


def test_to_delete_is_said_to_others_too() -> None:
    english = languages.for_language("en-US")
    assert says_forget("forget the plums", english)
    assert not says_forget("delete the plums", english)
