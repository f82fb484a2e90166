"""Which statements only go on with what was said right before them."""

from __future__ import annotations

import pytest

from ovos_persona_memory.text import continues, languages


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en-US", "he gets drops in his left eye"),
        ("en-US", "and she comes back on monday"),
        ("de-DE", "er bekommt Tropfen ins linke Auge"),
        ("de-DE", "nächste Woche muss er wieder hin"),
        ("nl-NL", "en vrijdag komt ze weer thuis"),
        ("da-DK", "han får dråber i det venstre øje"),
        ("fr-FR", "il prend des gouttes dans l'œil gauche"),
        ("es-ES", "él toma gotas en el ojo izquierdo"),
        ("it-IT", "lui prende le gocce nell'occhio sinistro"),
        ("pt-PT", "ele põe gotas no olho esquerdo"),
        ("ca-ES", "ell es posa gotes a l'ull esquerre"),
        ("gl-ES", "ela bota pingas no ollo esquerdo"),
        ("de-DE", "im vierten Stock ganz links"),
        ("nl-NL", "op de tweede verdieping rechts"),
        ("fr-FR", "au deuxième étage à droite"),
        ("it-IT", "al terzo piano a destra"),
        ("es-ES", "en el tercer piso a la derecha"),
    ],
)
def test_a_pronoun_that_names_nobody_and_a_part_of_a_sentence_go_on(tag: str, text: str) -> None:
    assert continues(text, 5.0, languages.for_language(tag))


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en-US", "my aunt says she is coming"),
        ("en-US", "and i have the dentist on monday"),
        ("de-DE", "meine Tante sagt sie kommt"),
        ("de-DE", "am Samstag kommt Oma"),
        ("de-DE", "die Katze hat ihre Tabletten bekommen"),
        ("nl-NL", "de gordijnen zijn gewassen"),
        ("nl-NL", "op zondag komt tante Riet"),
        ("fr-FR", "c'est moi qui fais la cuisine"),
        ("es-ES", "el gato toma gotas"),
        ("it-IT", "la zia dice che viene"),
        ("pt-PT", "a tia diz que vem"),
    ],
)
def test_what_names_its_own_subject_or_begins_with_a_time_does_not(tag: str, text: str) -> None:
    assert not continues(text, 5.0, languages.for_language(tag))


def test_what_is_said_later_goes_on_with_nothing() -> None:
    english = languages.for_language("en-US")
    assert continues("he has to lose nine pounds", 180.0, english)
    assert not continues("he has to lose nine pounds", 181.0, english)
    assert not continues("he has to lose nine pounds", -1.0, english)
