"""What puts right a statement, and what takes one back."""

from __future__ import annotations

import pytest

from ovos_persona_memory.text import languages
from ovos_persona_memory.text.revision import (
    Correction,
    correction_in,
    denial_in,
    denies,
    retraction_in,
    revised,
    subject_of,
)

# fmt: off
CORRECTIONS = [
    ("en-US", "the exam is on monday", "that's wrong it's on friday", "the exam is on friday"),
    ("en-US", "the plumber comes on monday afternoon", "no hang on it's tuesday",
     "the plumber comes on tuesday afternoon"),
    ("en-US", "the party is at the old mill", "that's not right it's at the town hall",
     "the party is at the town hall"),
    ("en-US", "the saw is on the middle shelf in the shed", "i mean the top shelf",
     "the saw is on the top shelf in the shed"),
    ("en-US", "my brother's name is luke", "no it's mark", "my brother's name is mark"),
    ("en-US", "ida can't eat plums", "sorry no ida can't eat figs not plums", "ida can't eat figs"),
    ("en-US", "the tent pegs are in the shed", "nope wrong again they're in the boot", "the tent pegs are in the boot"),
    ("de-DE", "der Termin ist am Montag um zehn", "nein am Dienstag", "der Termin ist am Dienstag um zehn"),
    ("de-DE", "die Nachbarin heißt Susanne", "nein moment ich meinte Simone", "die Nachbarin heißt Simone"),
    ("de-DE", "das Altpapier wird am Freitag geholt", "nee es wird am Mittwoch geholt",
     "das Altpapier wird am Mittwoch geholt"),
    ("de-DE", "wir fahren im Herbst nach Polen", "nein nicht nach Polen sondern an den See",
     "wir fahren im Herbst an den See"),
    ("fr-FR", "les gouttes vont dans l'oreille gauche", "pardon je voulais dire dans l'oreille droite",
     "les gouttes vont dans l'oreille droite"),
    ("es-ES", "la clase es el jueves a las seis", "perdona quería decir el viernes a las seis",
     "la clase es el viernes a las seis"),
    ("es-ES", "marta es alérgica al marisco", "no marta es alérgica al kiwi al marisco no",
     "marta es alérgica al kiwi"),
    ("it-IT", "la riunione è lunedì alle nove", "no scusa è martedì", "la riunione è martedì alle nove"),
    ("nl-NL", "de tandarts is op maandag", "nee sorry op dinsdag", "de tandarts is op dinsdag"),
    ("da-DK", "mødet er på mandag klokken ni", "nej det er på tirsdag", "mødet er på tirsdag klokken ni"),
    ("pt-PT", "a consulta é na segunda às dez", "não desculpa é na quarta", "a consulta é na quarta às dez"),
]
# fmt: on


@pytest.mark.parametrize(("tag", "told", "said", "right"), CORRECTIONS)
def test_what_is_right_takes_the_place_of_what_is_most_like_it(tag: str, told: str, said: str, right: str) -> None:
    spoken = languages.for_language(tag)
    correction = correction_in(said, spoken)
    assert correction is not None
    made = revised(told, correction, spoken)
    assert made is not None
    assert made.text == right


# fmt: off
DENIED = [
    ("en-US", "in autumn we are sailing to Malta", "we're not sailing to Malta we go to Crete",
     "in autumn we are sailing to Crete"),
    ("en-US", "nora plays the cello in the youth band", "nora doesn't play the cello she plays the harp",
     "nora plays the harp in the youth band"),
    ("en-US", "the cat is in the loft", "the cat is not in the loft, it's in the shed", "the cat is in the shed"),
    ("en-US", "ivo can't stand garlic", "ivo can't stand onions not garlic", "ivo can't stand onions"),
    ("de-DE", "im Winter fahren wir nach Tirol", "wir fahren nicht nach Tirol wir fahren nach Kärnten",
     "im Winter fahren wir nach Kärnten"),
    ("de-DE", "Tante Ruth kommt am Freitag", "Tante Ruth kommt nicht am Freitag, sie kommt am Samstag",
     "Tante Ruth kommt am Samstag"),
    ("fr-FR", "en mars nous allons à Nantes", "nous n'allons pas à Nantes, nous allons à Brest",
     "en mars nous allons à Brest"),
    ("fr-FR", "le rendez-vous est mardi", "ce n'est pas mardi c'est jeudi", "le rendez-vous est jeudi"),
    ("es-ES", "en otoño vamos a teruel", "no vamos a teruel vamos a soria", "en otoño vamos a soria"),
    ("es-ES", "vamos a teruel en otoño", "no, no vamos a teruel, vamos a soria", "vamos a soria en otoño"),
    ("es-ES", "lola es alérgica a la avena", "no lola es alérgica al maíz no a la avena", "lola es alérgica al maíz"),
    ("ca-ES", "a la tardor anem a lleida", "no anem a lleida anem a reus", "a la tardor anem a reus"),
    ("ca-ES", "la núria és al·lèrgica a la civada", "no la núria és al·lèrgica al blat no a la civada",
     "la núria és al·lèrgica al blat"),
    ("pt-PT", "no outono vamos a évora", "não vamos a évora, vamos ao gerês", "no outono vamos ao gerês"),
    ("pt-PT", "a inês é alérgica à aveia", "não a inês é alérgica ao milho não à aveia", "a inês é alérgica ao milho"),
    ("gl-ES", "no outono imos a lugo", "non imos a lugo imos a noia", "no outono imos a noia"),
    ("it-IT", "in autunno andiamo a bari", "non andiamo a bari andiamo a lecce", "in autunno andiamo a lecce"),
    ("it-IT", "la zia arriva venerdì", "la zia non arriva venerdì arriva sabato", "la zia arriva sabato"),
    ("nl-NL", "in de winter gaan we naar zeeland", "we gaan niet naar zeeland, we gaan naar drenthe",
     "in de winter gaan we naar drenthe"),
    ("da-DK", "vi rejser til skagen i juli", "vi rejser ikke til skagen, vi rejser til ribe",
     "vi rejser til ribe i juli"),
]
# fmt: on


@pytest.mark.parametrize(("tag", "told", "said", "right"), DENIED)
def test_what_is_denied_gives_way_to_what_is_said_in_its_place(tag: str, told: str, said: str, right: str) -> None:
    spoken = languages.for_language(tag)
    correction = correction_in(said, spoken) or denial_in(said, spoken)
    assert correction is not None
    made = revised(told, correction, spoken)
    assert made is not None
    assert made.text == right


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en-US", "the exam is on friday"),
        ("en-US", "no"),
        ("en-US", "is that wrong"),
        ("en-US", "oh the meeting is cancelled"),
        ("es-ES", "hasta cuándo no puede levantar peso mi suegra"),
        ("de-DE", "ach nee der Elternabend fällt aus"),
    ],
)
def test_what_puts_nothing_right(tag: str, text: str) -> None:
    assert correction_in(text, languages.for_language(tag)) is None


@pytest.mark.parametrize(
    ("tag", "told", "said"),
    [
        ("en-US", "the exam is on tuesday", "no thanks"),
        ("en-US", "the exam is on tuesday", "no the dog is in the garden"),
        ("es-ES", "en semana santa vamos a salamanca", "no vamos a salamanca"),
        ("it-IT", "ad agosto andiamo a bari", "non andiamo a bari"),
        ("pt-PT", "o dentista fica em braga", "não vamos a braga vamos a guimarães"),
        ("en-US", "the dog is in the garden", "the dog is not in the garden, the cat is in the loft"),
        ("de-DE", "die Feier ist im Garten", "die Feier ist nicht im Garten, das Grillen ist im Hof"),
        ("en-US", "the wallet is in the hall", "the keys are in the drawer not in the hall"),
        ("en-US", "the view is splendid", "that's wrong it's on thursday"),
        ("fr-FR", "la vue est splendide", "c'est faux c'est jeudi"),
        ("es-ES", "me gusta el pescado con limón", "no me gusta el pescado"),
        ("en-US", "the exam is on tuesday", "no it's on tuesday"),
    ],
)
def test_a_no_that_is_no_correction(tag: str, told: str, said: str) -> None:
    spoken = languages.for_language(tag)
    for correction in (correction_in(said, spoken), denial_in(said, spoken)):
        assert correction is None or revised(told, correction, spoken) is None


def test_a_name_of_several_words_is_replaced_as_a_whole() -> None:
    spoken = languages.for_language("en-US")
    made = revised("the tent is in the kitchen drawer", Correction("in the attic"), spoken)
    assert made is None or made.text == "the tent is in the attic"


RETRACTIONS = [
    ("en-US", "the parent meeting got cancelled", "the parent meeting is on monday", "the parent is on holiday"),
    ("en-US", "we're not going to Venice, we go to Porto", "we are going to Venice in June", "we liked Venice"),
    ("en-US", "the recital was moved to friday", "the recital is on monday", "the rehearsal is on monday"),
    ("de-DE", "das Treffen fällt aus", "das Treffen ist am Montag", "das Essen ist am Montag"),
    ("fr-FR", "la réunion est annulée", "la réunion est lundi", "la fête est lundi"),
    ("es-ES", "ya no vamos a cádiz en agosto", "en agosto nos vamos a cádiz", "en agosto hace calor"),
    ("it-IT", "la lezione è annullata", "la lezione è lunedì", "la cena è lunedì"),
    ("nl-NL", "de vergadering is afgelast", "de vergadering is op maandag", "het feest is op maandag"),
]


@pytest.mark.parametrize(("tag", "said", "meant", "other"), RETRACTIONS)
def test_what_is_called_off_or_denied_is_known_by_its_words(tag: str, said: str, meant: str, other: str) -> None:
    spoken = languages.for_language(tag)
    found = retraction_in(said, spoken)
    assert found is not None
    for text, is_meant in ((meant, True), (other, False)):
        held = set(spoken.words(text))
        assert all(not held.isdisjoint(group) for group in found.words) is is_meant, text


@pytest.mark.parametrize(
    "text", ["i don't know", "I moved to Leeds", "we moved the sofa to the attic", "the meeting is on monday"]
)
def test_what_calls_nothing_off(text: str) -> None:
    assert retraction_in(text, languages.for_language("en-US")) is None


def test_a_denial_is_told_from_what_it_denies() -> None:
    english = languages.for_language("en-US")
    assert denies("we're not going to Venice", english)
    assert denies("the meeting is cancelled", english)
    assert not denies("we are going to Venice", english)


def test_who_names_nothing_means_what_was_just_spoken_of() -> None:
    spoken = languages.for_language("de-DE")
    found = retraction_in("der wurde auf donnerstag verschoben", spoken)
    assert found is not None
    assert found.words == ()
    groups = subject_of("wann ist der termin beim kinderarzt", spoken)
    assert ["termin" in groups[0], "kinderarzt" in groups[1], len(groups)] == [True, True, 2]


def test_a_possessive_is_no_correction_and_who_means_something_makes_one() -> None:
    german = languages.for_language("de-DE")
    assert correction_in("meine Katze heißt Minka", german) is None
    assert correction_in("nein meine Katze heißt Minka", german) == Correction(
        "meine Katze heißt Minka", is_plain=False
    )
    assert correction_in("nein ich meine Susi", german) == Correction("Susi")
