"""What a correction changes: what was asked about or just told, in its own words; never a neighbour of that."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from support.talking import Household, household

from ovos_persona_memory.stores.inmemory import InMemoryStore
from ovos_persona_memory.text import languages

pytestmark = pytest.mark.full

# fmt: off
ASKED = [
    ("en-US", "the rehearsal is on tuesday", "the market opens on thursday", "when is the rehearsal",
     "that's wrong it's on friday", "the rehearsal is on friday"),
    ("de-DE", "der Elternabend ist am Montag", "die Werkstatt schließt am Donnerstag", "wann ist der Elternabend",
     "das ist falsch er ist am Mittwoch", "der Elternabend ist am Mittwoch"),
    ("fr-FR", "la vaccination est lundi", "la mairie ferme vendredi", "quand est la vaccination",
     "c'est faux c'est mardi", "la vaccination est mardi"),
    ("es-ES", "la mudanza es el lunes", "la biblioteca abre el viernes", "cuándo es la mudanza",
     "eso está mal es el martes", "la mudanza es el martes"),
    ("it-IT", "il trasloco è lunedì", "il mercato apre venerdì", "quando è il trasloco", "è sbagliato è martedì",
     "il trasloco è martedì"),
    ("pt-PT", "a mudança é na segunda", "o mercado abre na sexta", "quando é a mudança", "está errado é na terça",
     "a mudança é na terça"),
    ("ca-ES", "el trasllat és dilluns", "el mercat obre divendres", "quan és el trasllat",
     "això està malament és dimarts", "el trasllat és dimarts"),
    ("gl-ES", "a mudanza é o luns", "o mercado abre o venres", "cando é a mudanza", "iso está mal é o martes",
     "a mudanza é o martes"),
    ("nl-NL", "de verhuizing is op maandag", "de markt opent op vrijdag", "wanneer is de verhuizing",
     "dat klopt niet het is op dinsdag", "de verhuizing is op dinsdag"),
    ("da-DK", "flytningen er på mandag", "biblioteket åbner på fredag", "hvornår er flytningen",
     "det er forkert det er på tirsdag", "flytningen er på tirsdag"),
]
UNKNOWN = [
    ("en-US", "the auction is on monday", "when is the regatta", "no it's on friday", "the regatta is on friday"),
    ("de-DE", "die Auktion ist am Montag", "wann ist die Regatta", "nein am Freitag", "die Regatta ist am Freitag"),
    ("es-ES", "la subasta es el lunes", "cuándo es la regata", "no es el viernes", "la regata es el viernes"),
    ("it-IT", "l'asta è lunedì", "quando è la regata", "no è venerdì", "la regata è venerdì"),
    ("da-DK", "auktionen er på mandag", "hvornår er regattaen", "nej det er på fredag", "regattaen er på fredag"),
]
SMALL_TALK = [
    ("en-US", "the sunset is gorgeous", "that's wrong it's on thursday"),
    ("de-DE", "der Abend ist herrlich", "das ist falsch es ist am Donnerstag"),
    ("fr-FR", "la soirée est superbe", "c'est faux c'est jeudi"),
    ("es-ES", "la tarde es preciosa", "eso está mal es el jueves"),
    ("nl-NL", "de avond is prachtig", "dat klopt niet het is op donderdag"),
]
QUOTED = [
    ("en-US", "max is allergic to hazelnuts", "no max is allergic to kiwi not hazelnuts", "what is max allergic to"),
    ("ca-ES", "la núria és al·lèrgica a la civada", "no la núria és al·lèrgica al blat no a la civada",
     "a què és al·lèrgica la núria"),
    ("pt-PT", "a inês é alérgica à aveia", "não a inês é alérgica ao milho não à aveia", "a que é alérgica a inês"),
    ("gl-ES", "a icía é alérxica á avea", "non a icía é alérxica ao millo non á avea", "a que é alérxica a icía"),
    ("da-DK", "mikkel er allergisk over for havre", "nej mikkel er allergisk over for hvede ikke havre",
     "hvad er mikkel allergisk over for"),
    ("es-ES", "en otoño vamos a teruel", "no vamos a teruel vamos a soria", "adónde vamos en otoño"),
    ("it-IT", "in autunno andiamo a bari", "non andiamo a bari, andiamo a lecce", "dove andiamo in autunno"),
    ("nl-NL", "in de winter gaan we naar zeeland", "we gaan niet naar zeeland, we gaan naar drenthe",
     "waar gaan we in de winter naartoe"),
]
# fmt: on
home = contextmanager(household)


def notes(told: Household) -> set[tuple[str, ...]]:
    return {tuple(languages.fold(text)) for text in told.notes()}


def words(text: str) -> tuple[str, ...]:
    return tuple(languages.fold(text))


@pytest.mark.parametrize(("lang", "told", "other", "question", "correction", "right"), ASKED)
def test_a_correction_changes_what_the_question_was_about(
    lang: str, told: str, other: str, question: str, correction: str, right: str
) -> None:
    for first, second in ((told, other), (other, told)):
        with home(InMemoryStore(), lang) as told_here:
            for text in (first, second, question, correction):
                said = told_here.say(text)
            assert right in " ".join(said)
            assert notes(told_here) == {words(right)}
            assert other in told_here.told()


@pytest.mark.parametrize(("lang", "told", "question", "correction", "right"), UNKNOWN)
def test_what_is_not_known_is_asked_for_and_no_neighbour_is_changed(
    lang: str, told: str, question: str, correction: str, right: str
) -> None:
    with home(InMemoryStore(), lang) as told_here:
        for text in (told, question):
            told_here.say(text)
        assert told_here.say(correction) == [languages.for_language(lang).say("correct_how")]
        assert not told_here.notes()
        assert right in " ".join(told_here.say(right))
        assert notes(told_here) == {words(right)}
        assert told in told_here.told()


@pytest.mark.parametrize(("lang", "told", "correction"), SMALL_TALK)
def test_a_day_is_not_laid_into_small_talk(lang: str, told: str, correction: str) -> None:
    with home(InMemoryStore(), lang) as told_here:
        for text in (told, correction):
            told_here.say(text)
        assert not told_here.notes()


def test_a_correction_behind_small_talk_changes_what_holds_a_day() -> None:
    with home(InMemoryStore()) as told_here:
        for text in ("the recital is on monday", "the sunset is gorgeous", "that's wrong it's on thursday"):
            said = told_here.say(text)
        assert said == ["I have corrected that: the recital is on thursday."]
        assert notes(told_here) == {words("the recital is on thursday")}


@pytest.mark.parametrize(("lang", "told", "correction", "question"), QUOTED)
def test_neither_what_was_wrong_nor_the_words_that_corrected_it_are_quoted(
    lang: str, told: str, correction: str, question: str
) -> None:
    with home(InMemoryStore(), lang) as told_here:
        for text in (told, correction):
            told_here.say(text)
        [right] = told_here.notes()
        wrong = set(words(told)) - set(words(right))
        assert wrong
        answer = " ".join(told_here.say(question))
        assert right in answer
        assert wrong.isdisjoint(words(answer))


@pytest.mark.parametrize("between", ["sing me a song", "what is the weather like in Oslo"])
def test_a_no_to_somebody_else_corrects_nothing(between: str) -> None:
    with home(InMemoryStore()) as told_here:
        for text in ("my canary is called Pavarotti", between, "no my canary is called Caruso"):
            told_here.say(text)
        assert not told_here.notes()
