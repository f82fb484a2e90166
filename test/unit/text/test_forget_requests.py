"""Requests to forget behind something else, and sentences that only state that something is forgotten."""

from __future__ import annotations

import pytest

from ovos_persona_memory.text import correction_in, forbids_forgetting, forget_clause, languages, states_forgetting

REQUESTS = [
    ("en-US", "rats delete the thing about the canoe", "rats", "delete the thing about the canoe"),
    ("en-US", "we sold the boat so forget what i paid for it", "we sold the boat", "forget what i paid for it"),
    ("de-DE", "verdammt vergiss den Bootssteg", "verdammt", "vergiss den Bootssteg"),
    ("de-DE", "der Kurs ist abgesagt vergiss den Raum", "der Kurs ist abgesagt", "vergiss den Raum"),
    ("fr-FR", "punaise oublie le canoë de luc", "punaise", "oublie le canoë de luc"),
    ("fr-FR", "on a vendu la barque oublie le prix", "on a vendu la barque", "oublie le prix"),
    ("es-ES", "caramba olvida la barca de luis", "caramba", "olvida la barca de luis"),
    ("es-ES", "no espera borra lo de la barca", "", "borra lo de la barca"),
    ("es-ES", "la han vendido olvida el precio", "la han vendido", "olvida el precio"),
    ("it-IT", "perbacco dimentica la barca di luca", "perbacco", "dimentica la barca di luca"),
    ("it-IT", "abbiamo venduto la barca dimentica il prezzo", "abbiamo venduto la barca", "dimentica il prezzo"),
    ("pt-PT", "caramba esquece o barco do rui", "caramba", "esquece o barco do rui"),
    ("gl-ES", "caramba esquece o barco de xan", "caramba", "esquece o barco de xan"),
    ("gl-ES", "ese prezo cambiou onte esquece o barco", "ese prezo cambiou onte", "esquece o barco"),
    ("ca-ES", "caram oblida la barca d'en pau", "caram", "oblida la barca d'en pau"),
    ("nl-NL", "verdikkeme vergeet de boot van piet", "verdikkeme", "vergeet de boot van piet"),
    ("nl-NL", "de boot is verkocht dus vergeet de prijs", "de boot is verkocht", "vergeet de prijs"),
    ("da-DK", "pokkers glem båden", "pokkers", "glem båden"),
    ("da-DK", "vi har solgt båden så glem prisen", "vi har solgt båden", "glem prisen"),
]
STATEMENTS = [
    ("en-US", "my sister wants to forget the canoe"),
    ("en-US", "they usually forget the paddles"),
    ("en-US", "the coach said we must not forget the paddles"),
    ("en-US", "you'll never forget the lake"),
    ("en-US", "did your sister forget the canoe"),
    ("de-DE", "ich vergesse ständig das Paddel"),
    ("de-DE", "ach vergiss mein Paddel morgen nicht"),
    ("fr-FR", "elle oublie la pagaie"),
    ("fr-FR", "mon père oublie la pagaie"),
    ("fr-FR", "cousine claire oublie souvent la pagaie"),
    ("fr-FR", "paul a oublié la pagaie"),
    ("es-ES", "ayer olvidé el remo"),
    ("fr-FR", "surtout n'oublie pas la pagaie"),
    ("es-ES", "a mi padre se le olvida el remo"),
    ("es-ES", "mi padre olvida el remo"),
    ("es-ES", "oye no olvides el remo"),
    ("it-IT", "luca dimentica sempre il remo"),
    ("it-IT", "mio padre dimentica il remo"),
    ("pt-PT", "o meu pai esquece o remo"),
    ("pt-PT", "não esquece o remo"),
    ("gl-ES", "o meu pai esquece o remo"),
    ("ca-ES", "ahir vam pintar i m'he oblidat el rem"),
    ("it-IT", "ci siamo dimenticati il remo"),
    ("nl-NL", "voor ik het vergeet de peddel is stuk"),
    ("en-US", "don't you dare forget the paddle"),
    ("ca-ES", "el meu pare oblida el rem"),
    ("ca-ES", "en pau sempre oblida el rem"),
    ("nl-NL", "piet vergeet altijd zijn peddel"),
    ("nl-NL", "gisteren vergeet hij zijn peddel"),
    ("da-DK", "vi glemmer altid åren"),
    ("da-DK", "det er slet ikke min åre"),
]


@pytest.mark.parametrize(("tag", "text", "before", "request_"), REQUESTS)
def test_a_request_is_found_behind_an_exclamation_and_behind_a_clause(
    tag: str, text: str, before: str, request_: str
) -> None:
    found = forget_clause(text, languages.for_language(tag))
    assert found is not None
    assert (found.before, found.request) == (before, request_)


@pytest.mark.parametrize(("tag", "text"), STATEMENTS)
def test_who_states_that_something_is_forgotten_asks_for_nothing(tag: str, text: str) -> None:
    assert forget_clause(text, languages.for_language(tag)) is None


def test_an_exclamation_states_nothing_and_a_clause_does() -> None:
    english = languages.for_language("en-US")
    rats, sold = (forget_clause(text, english) for text in ("rats forget the canoe", "we sold it forget the canoe"))
    assert rats is not None
    assert rats.exclaims
    assert sold is not None
    assert not sold.exclaims


@pytest.mark.parametrize(
    ("tag", "text", "forbids"),
    [
        ("de-DE", "vergiss mein Paddel bloß nicht", True),
        ("nl-NL", "vergeet mijn peddel morgen niet", True),
        ("fr-FR", "oublie pas ma pagaie", True),
        ("de-DE", "vergiss mein Paddel", False),
        ("es-ES", "olvida lo del remo no", False),  # a tag question
    ],
)
def test_a_not_behind_the_verb_makes_it_the_contrary(tag: str, text: str, forbids: bool) -> None:
    assert forbids_forgetting(text, languages.for_language(tag)) is forbids


def test_a_verb_behind_a_pronoun_states_something() -> None:
    assert states_forgetting("a mi padre se le olvida el remo", languages.for_language("es-ES"))
    assert not states_forgetting("you can forget the paddle", languages.for_language("en-US"))


@pytest.mark.parametrize(
    ("tag", "text", "right"),
    [
        ("en-US", "no it's the green canoe forget the red one", "the green canoe"),
        ("de-DE", "nein es ist das grüne Boot vergiss das rote Boot", "das grüne Boot"),
        ("nl-NL", "nee het is de groene boot vergeet de rode", "de groene boot"),
    ],
)
def test_a_correction_ends_where_a_request_to_forget_begins(tag: str, text: str, right: str) -> None:
    found = correction_in(text, languages.for_language(tag))
    assert found is not None
    assert found.text == right
