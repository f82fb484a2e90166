"""Whether words have content of their own."""

from __future__ import annotations

import pytest

from ovos_persona_memory.text import is_sentence, is_small_talk, languages, names_nothing_to_keep, names_role

SMALL_TALK = [
    ("en-US", ("thank you so much", "oh okay then", "no thanks", "good night", "yes please", "great well done")),
    ("de-DE", ("vielen dank", "alles klar danke dir", "nein danke", "gute nacht", "ja bitte")),
    ("fr-FR", ("merci beaucoup", "très bien merci", "non merci", "bonne nuit")),
    ("es-ES", ("muchas gracias", "vale perfecto", "no gracias", "buenas noches")),
    ("it-IT", ("grazie mille", "va bene grazie", "no grazie", "buona notte")),
    ("nl-NL", ("dank je wel", "oké prima", "nee dank je", "welterusten")),
    ("pt-PT", ("muito obrigada", "está bem", "não obrigado", "boa noite")),
    ("ca-ES", ("moltes gràcies", "molt bé", "no gràcies", "bona nit")),
    ("da-DK", ("mange tak", "okay fint", "nej tak", "god nat")),
    ("gl-ES", ("moitas grazas", "moi ben", "non grazas", "boas noites")),
]
TOLD = [
    ("en-US", ("that's my uncle's rowing boat", "no sugar for the twins please", "thanks to aunt Ida we have a tent")),
    ("de-DE", ("das ist der schlitten von onkel hans", "kein zucker für die zwillinge")),
    ("fr-FR", ("c'est bien le traîneau de mon oncle", "pas de sucre pour les jumeaux")),
    ("es-ES", ("no ronco", "no tomo azúcar", "eso es el trineo de mi tío")),
    ("it-IT", ("non russo", "non prendo zucchero")),
    ("nl-NL", ("dat is de slee van mijn oom", "geen suiker voor de tweeling")),
    ("pt-PT", ("não ressono", "não tomo açúcar")),
    ("ca-ES", ("no ronco", "no prenc sucre")),
    ("da-DK", ("det er min onkels slæde", "ingen sukker til tvillingerne")),
    ("gl-ES", ("non ronco", "non tomo azucre")),
]


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in SMALL_TALK for text in texts])
def test_courtesy_and_answers_tell_nothing(tag: str, text: str) -> None:
    assert is_small_talk(text, languages.for_language(tag))


@pytest.mark.parametrize(("tag", "text"), [(tag, text) for tag, texts in TOLD for text in texts])
def test_what_merely_begins_so_tells_something(tag: str, text: str) -> None:
    assert not is_small_talk(text, languages.for_language(tag))


def test_two_words_are_a_sentence_where_one_of_them_is_its_subject() -> None:
    english, spanish = languages.for_language("en-US"), languages.for_language("es-ES")
    assert is_sentence("i yodel", english)
    assert not is_sentence("holy smoke", english)
    assert is_sentence("soy celíaca", spanish)
    assert is_sentence("it leaks badly", english)


@pytest.mark.parametrize(
    ("tag", "text", "is_role"),
    [
        ("en-US", "as a keepsake", True),
        ("en-US", "in your memory", False),
        ("de-DE", "als andenken", True),
        ("de-DE", "unter rezepten", False),
        ("fr-FR", "comme souvenir", True),
        ("es-ES", "como recordatorio", True),
        ("it-IT", "come promemoria", True),
        ("nl-NL", "als geheugensteuntje", True),
        ("pt-PT", "como lembrança", True),
        ("ca-ES", "com a recordatori", True),
        ("da-DK", "som et minde", True),
        ("gl-ES", "como lembranza", True),
    ],
)
def test_how_something_is_kept_names_nothing_to_keep(tag: str, text: str, is_role: bool) -> None:
    spoken = languages.for_language(tag)
    assert names_nothing_to_keep(text, spoken)
    assert names_role(text, spoken) == is_role


@pytest.mark.parametrize("text", ["the bolt cutter", "in the shed hangs a bolt cutter", "bolt cutter"])
def test_a_name_or_a_sentence_is_something_to_keep(text: str) -> None:
    assert not names_nothing_to_keep(text, languages.for_language("en-US"))
