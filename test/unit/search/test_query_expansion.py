"""Other index words under which a question's words may stand."""

from __future__ import annotations

import pytest

from ovos_persona_memory.records import Hit, Scope, Turn
from ovos_persona_memory.search.query import Question
from ovos_persona_memory.search.query_expansion import LOOKED_THROUGH, NONE, QueryExpansion, expand_query
from ovos_persona_memory.search.recall import recall
from ovos_persona_memory.stores.inmemory.store import InMemoryStore
from ovos_persona_memory.text import languages

TURNS = frozenset({"turn"})


def told(lang: str, *texts: str, store: InMemoryStore | None = None) -> InMemoryStore:
    store = store or InMemoryStore()
    for text in texts:
        number = store.counts().turns
        words = " ".join(languages.for_language(lang).words(text))
        store.add_turn(Turn("user", text, at=float(number), lang=lang, id=f"t{number}"), words)
    return store


def forms(store: InMemoryStore, text: str, lang: str, scope: Scope = Scope()) -> QueryExpansion:
    return expand_query(
        store, languages.for_language(lang).bare_words(text), languages.for_language(lang), scope, TURNS
    )


def asked(store: InMemoryStore, question: str, lang: str) -> list[Hit]:
    return recall(store, Question(question, lang), Scope(), 5)


def test_a_question_whose_words_are_known_has_no_other_forms() -> None:
    assert forms(told("de-DE", "die Reifen liegen im Keller"), "wo liegen die Reifen", "de-DE") == NONE


def test_with_everybody_in_scope_there_are_no_other_forms() -> None:
    assert forms(told("de-DE", "die Winterreifen"), "wo liegen die Reifen", "de-DE", Scope.everyone()) == NONE


# other languages


@pytest.mark.parametrize(
    ("told_in", "text", "asked_in", "question"),
    [
        ("es-ES", "Marta vive en Lisboa", "en-US", "where does Marta live"),
        ("it-IT", "Luca suona il clarinetto", "en-US", "what does Luca play"),
        ("en-US", "Sofia moved to Toulouse", "pt-PT", "para onde foi a Sofia"),
        ("zh-CN", "我的iphones坏了", "en-US", "which iphones are broken"),
    ],
)
def test_what_was_told_in_another_language_is_found_by_a_name(
    told_in: str, text: str, asked_in: str, question: str
) -> None:
    store = told(told_in, text, "12345")
    assert [hit.text for hit in asked(store, question, asked_in)] == [text]


def test_a_stop_word_or_a_short_stem_of_another_language_stands_for_nothing() -> None:
    store = told("de-DE", "not tut weh", "die not ist gross")
    assert asked(store, "where are my notes", "en-US") == []
    assert asked(store, "what is in the note", "en-US") == []


# compounds


def test_a_compound_is_looked_for_in_its_parts() -> None:
    store = told("de-DE", "der Termin beim Zahnarzt ist am Montag", "der Termin beim Friseur ist am Dienstag")
    assert forms(store, "wann ist der Zahnarzttermin", "de-DE").parts == {"zahnarzttermin": ("zahnarzt", "termin")}
    hits = asked(store, "wann ist der Zahnarzttermin", "de-DE")
    assert [(hit.text[:28], hit.answers) for hit in hits] == [
        ("der Termin beim Zahnarzt ist", True),
        ("der Termin beim Friseur ist ", False),
    ]


def test_one_known_part_of_a_compound_never_answers_for_the_whole() -> None:
    store = told("de-DE", "der Termin beim Friseur ist am Dienstag")
    hits = asked(store, "wann ist der Zahnarzttermin", "de-DE")
    assert [(hit.text[:15], hit.answers) for hit in hits] == [("der Termin beim", False)]


@pytest.mark.parametrize(
    ("lang", "text", "question"),
    [
        ("de-DE", "die Winterreifen liegen im Keller", "wo sind die Reifen"),
        ("nl-NL", "de fietspomp ligt in de schuur", "waar is de pomp"),
        ("da-DK", "havestolene er på loftet", "hvor er stolene"),
    ],
)
def test_a_word_is_found_as_a_part_of_a_compound_and_may_answer(lang: str, text: str, question: str) -> None:
    (hit,) = asked(told(lang, text, "12345"), question, lang)
    assert (hit.text, hit.sure) == (text, True)
    assert " (as " in hit.reason


def test_what_is_left_beside_a_part_is_a_word_too() -> None:
    assert asked(told("de-DE", "ich hatte einen Traum"), "wo ist der Raum", "de-DE") == []


# near words


def test_words_that_nobody_said_are_looked_for_by_their_beginning_and_nothing_is_sure() -> None:
    (hit,) = asked(told("en-US", "the accordion is in the attic"), "where is the accordio", "en-US")
    assert (hit.text, hit.sure, hit.answers) == ("the accordion is in the attic", False, False)
    assert "accordio (near to accordion)" in hit.reason


def test_in_english_a_part_of_a_word_is_only_near() -> None:
    (hit,) = asked(told("en-US", "the bookshelf is in the garage"), "where is the shelf", "en-US")
    assert not hit.sure


def test_where_one_word_is_known_the_others_are_not_guessed_in_english() -> None:
    store = told("en-US", "the accordion is in the attic", "the garage is cold")
    assert forms(store, "is the accordio in the garage", "en-US") == NONE


def test_short_words_and_pairs_of_characters_are_not_guessed() -> None:
    assert forms(told("en-US", "the cattle is outside"), "is a cat", "en-US") == NONE
    assert forms(told("zh-CN", "猫咪睡觉"), "狗狗", "zh-CN") == NONE


# parts of words


@pytest.mark.parametrize(
    ("lang", "text", "part"),
    [
        ("en-US", "the infrastructure is old", "struct"),
        ("en-US", "they moved to kubernetes", "kub"),
        ("en-US", "the dishwasher leaks", "washer"),
        ("de-DE", "der Geschirrspüler tropft", "schirr"),
        ("fr-FR", "le chauffagiste vient mardi", "auffag"),
        ("ar", "هذا الكتاب جميل", "كتاب"),
    ],
)
def test_letters_inside_of_a_word_find_it_and_make_nothing_sure(lang: str, text: str, part: str) -> None:
    store = told(lang, "12345", text, "67890")
    hits = asked(store, part, lang)
    assert hits[0].text == text
    assert not any(hit.sure for hit in hits)


def test_two_letters_are_no_part_of_a_word() -> None:
    assert asked(told("en-US", "they moved to kubernetes"), "ku", "en-US") == []


def test_a_part_of_an_old_word_is_found_where_nothing_but_words_is_given() -> None:
    store = told("en-US", "the infrastructure is old", *("nothing like it" for _ in range(LOOKED_THROUGH)))
    assert [hit.text for hit in asked(store, "struct", "en-US")][:1] == ["the infrastructure is old"]
    assert asked(store, "where is the struct", "en-US") == []


def test_a_part_is_not_looked_for_where_the_word_itself_is_known() -> None:
    store = told("en-US", "the dishwasher leaks", "the washer is new")
    assert forms(store, "washer", "en-US") == NONE
