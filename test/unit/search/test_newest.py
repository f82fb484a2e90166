"""The newest of several statements of one subject."""

from __future__ import annotations

import pytest

from ovos_persona_memory.records import Hit, Scope, Turn
from ovos_persona_memory.search.hits import hit_of
from ovos_persona_memory.search.newest import newest_first
from ovos_persona_memory.search.query import Question
from ovos_persona_memory.search.recall import recall
from ovos_persona_memory.stores.inmemory.store import InMemoryStore
from ovos_persona_memory.text import languages


def told(lang: str, *texts: str, speakers: tuple[str | None, ...] = ()) -> InMemoryStore:
    store = InMemoryStore()
    for number, text in enumerate(texts):
        speaker = speakers[number] if speakers else None
        turn = Turn(
            "user", text, at=float(number), lang=lang, id=f"t{number}", session_id=f"s{number}", speaker=speaker
        )
        store.add_turn(turn, " ".join(languages.for_language(lang).words(text)))
    return store


def _one_after_the_other(lang: str, *texts: str) -> list[Hit]:
    """Hits of statements, of which the first one answers."""
    turns = [Turn("user", text, at=float(at), lang=lang, id=text) for at, text in enumerate(texts)]
    return [hit_of(turn, 1.0, turn is turns[0], "") for turn in turns]


def asked(store: InMemoryStore, question: str, lang: str) -> list[Hit]:
    return recall(store, Question(question, lang), Scope(), 5)


@pytest.mark.parametrize(
    ("lang", "older", "newer", "question"),
    [
        ("en-US", "the plumber comes on friday", "the plumber comes on monday instead", "when does the plumber come"),
        ("en-US", "the cake needs 40 minutes", "no, the cake needs 55 minutes, it was raw", "what does the cake need"),
        ("de-DE", "der Klempner kommt am Freitag", "der Klempner kommt doch am Montag", "wann kommt der Klempner"),
        ("fr-FR", "le plombier passe vendredi", "le plombier passe plutôt lundi", "quand passe le plombier"),
        ("es-ES", "el fontanero viene el viernes", "el fontanero viene el lunes", "cuándo viene el fontanero"),
        ("it-IT", "l'idraulico viene venerdì", "l'idraulico viene invece lunedì", "quando viene l'idraulico"),
        ("nl-NL", "de loodgieter komt vrijdag", "de loodgieter komt toch maandag", "wanneer komt de loodgieter"),
        ("pt-PT", "o canalizador vem sexta", "o canalizador vem afinal segunda", "quando vem o canalizador"),
        ("ca-ES", "el lampista ve divendres", "el lampista ve dilluns", "quan ve el lampista"),
        ("da-DK", "blikkenslageren kommer fredag", "blikkenslageren kommer mandag", "hvornår kommer blikkenslageren"),
        ("gl-ES", "o fontaneiro vén o venres", "o fontaneiro vén o luns", "cando vén o fontaneiro"),
    ],
)
def test_of_two_days_or_numbers_the_newer_answers_and_the_older_holds_no_more(
    lang: str, older: str, newer: str, question: str
) -> None:
    hits = asked(told(lang, older, newer), question, lang)
    assert [(hit.text, hit.answers, hit.outdated) for hit in hits[:2]] == [(newer, True, False), (older, False, True)]


@pytest.mark.parametrize(
    ("lang", "older", "newer", "question"),
    [
        (
            "en-US",
            "the wedding is in Cork",
            "they changed their minds, the wedding is in Galway",
            "where is the wedding",
        ),
        (
            "de-DE",
            "die Hochzeit ist in Bremen",
            "sie haben umgeplant, die Hochzeit ist in Lübeck",
            "wo ist die Hochzeit",
        ),
        ("fr-FR", "le mariage est à Nantes", "ils ont changé, le mariage est à Quimper", "où est le mariage"),
    ],
)
def test_of_two_places_the_newer_comes_first(lang: str, older: str, newer: str, question: str) -> None:
    hits = asked(told(lang, older, newer), question, lang)
    assert [hit.text for hit in hits if hit.answers] == [newer, older]


def test_what_comes_first_does_not_go_by_time_alone() -> None:
    store = told("en-US", "the dentist is in the old town", "I saw the dentist at a party in Rome and we danced")
    assert asked(store, "where is the dentist", "en-US")[0].text == "the dentist is in the old town"


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        ("the bins go out on tuesday", "the paper bins go out on thursday", "when do the bins go out"),
        ("Tom's birthday is on 3 may", "Tom's party is on 5 may", "when is Tom's birthday"),
        ("Emma likes pizza", "Emma likes pasta", "what does Emma like"),
    ],
)
def test_another_thing_or_one_more_makes_nothing_outdated(older: str, newer: str, question: str) -> None:
    hits = asked(told("en-US", older, newer), question, "en-US")
    assert not any(hit.outdated for hit in hits)
    assert older in [hit.text for hit in hits if hit.answers]


def test_two_people_may_say_two_things_of_themselves() -> None:
    store = told("en-US", "my class starts at six", "my class starts at seven", speakers=("Anna", "Ben"))
    assert not any(hit.outdated for hit in asked(store, "when does the class start", "en-US"))


@pytest.mark.parametrize(
    ("lang", "older", "newer", "question"),
    [
        (
            "de-DE",
            "der Kaminkehrer kommt am Montag um zehn",
            "du der Kehrer hat sich gemeldet der kommt erst am Dienstag um elf",
            "wann kommt der Kaminkehrer",
        ),
        (
            "nl-NL",
            "de gordijnen worden op de twaalfde gehangen",
            "de gordijnen zijn uitgesteld naar de achttiende",
            "wanneer worden de gordijnen gehangen",
        ),
        (
            "it-IT",
            "sabato viene a colazione mio fratello ettore con la moglie",
            "ettore ha detto che sabato non vengono più a colazione ma a merenda alle cinque",
            "a che ora viene ettore sabato",
        ),
        (
            "en-US",
            "the piano tuner is coming monday between two and four",
            "so the piano shop called they can't do monday it's tuesday at nine now",
            "when is the piano tuner coming",
        ),
        (
            "es-ES",
            "el lunes viene el de la lavadora a las diez",
            "el de la lavadora ha llamado que no puede el lunes que viene el martes a las cinco",
            "cuándo viene el de la lavadora",
        ),
        (
            "en-US",
            "i found a roofer a mister quill he'll be here tuesday at nine",
            "quill's been on the phone tuesday's no good to him it'll be thursday",
            "when does the roofer come",
        ),
        (
            "fr-FR",
            "le four chauffe mal j'ai appelé barnabé il passe mercredi",
            "barnabé a téléphoné il peut pas mercredi il vient samedi matin",
            "quand est-ce qu'on répare le four",
        ),
    ],
)
def test_what_moves_a_statement_with_other_words_takes_its_place(
    lang: str, older: str, newer: str, question: str
) -> None:
    hits = _one_after_the_other(lang, older, newer)
    asked = languages.for_language(lang).content_words(question)
    found = newest_first(hits, asked)
    assert [(one.text, one.answers, one.outdated) for one in found] == [(newer, True, False), (older, False, True)]


@pytest.mark.parametrize(
    ("lang", "older", "other", "question"),
    [
        (
            "de-DE",
            "paul hat am Montag um zehn Zahnarzt",
            "paul sein Konzert ist auf Dienstag verschoben",
            "wann hat paul Zahnarzt",
        ),
        (
            "it-IT",
            "sabato viene a colazione ettore",
            "ha chiamato bruno lunedì non può più viene martedì",
            "quando viene ettore",
        ),
        (
            "it-IT",
            "per sabato servono due chili di patate e sei uova",
            "anzi di patate ne basta un chilo",
            "quante uova servono",
        ),
        (
            "en-US",
            "my brother winston is coming on sunday",
            "pauline can't do sunday she's coming monday",
            "when is winston here",
        ),
        (
            "en-US",
            "i found a roofer a mister quill he'll be here tuesday",
            "tell mister quill the ladder is in the shed on tuesday",
            "when does the roofer come",
        ),
    ],
)
def test_what_moves_something_else_takes_no_place(lang: str, older: str, other: str, question: str) -> None:
    hits = _one_after_the_other(lang, older, other)
    found = newest_first(hits, languages.for_language(lang).content_words(question))
    assert not any(one.outdated for one in found)
