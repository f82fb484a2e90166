from __future__ import annotations

import pytest

from ovos_persona_memory.text import is_long, is_worth_checking, languages, until_its_end

ENGLISH = languages.for_language("en-US")


@pytest.mark.parametrize(
    ("tag", "said", "left"),
    [
        ("en-US", "the plumber is called Mr Okafor and.", "the plumber is called Mr Okafor"),
        ("en-US", "the plumber is called Mr Okafor, and", "the plumber is called Mr Okafor"),
        ("de-DE", "der Klempner heißt Herr Okafor und", "der Klempner heißt Herr Okafor"),
        ("fr-FR", "le plombier s'appelle Okafor mais", "le plombier s'appelle Okafor"),
        ("en-US", "the key is in the drawer.", "the key is in the drawer"),
        ("en-US", "and", "and"),
    ],
)
def test_a_quotation_ends_where_a_statement_ends(tag: str, said: str, left: str) -> None:
    assert until_its_end(said, languages.for_language(tag)) == left


def test_a_long_text_is_cut_after_a_whole_sentence() -> None:
    said = "The boiler was serviced in March. The man said that it is fine. " + "and the rest of it " * 20
    assert until_its_end(said, ENGLISH, 80) == "The boiler was serviced in March. The man said that it is fine"


def test_a_long_text_of_one_sentence_is_cut_before_small_words() -> None:
    assert until_its_end("the boiler was serviced and the chimney was swept in March", ENGLISH, 31) == (
        "the boiler was serviced"
    )


def test_sixty_words_are_long_and_ten_are_not() -> None:
    assert is_long(" ".join(["tea"] * 60))
    assert is_long("x" * 200)
    assert not is_long("my sister and her two children come to us for lunch")


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("en-US", "my cat is called minka"),
        ("en-US", "the bins go out on tuesday"),
        ("en-US", "we moved here in march"),
        ("en-US", "I take 40 milligrams"),
        ("en-US", "she flew to Lisbon"),
        ("en-US", "lena is allergic to hazelnuts"),
        ("de-DE", "meine katze heißt minka"),
        ("de-DE", "der Termin ist um zehn"),
        ("de-DE", "wir waren bei Frau Bell"),
        ("en-US", "the gardener comes on alternate mondays"),
        ("de-DE", "übermorgen kommt der Klempner"),
        ("fr-FR", "mon fils s'appelle luc"),
        ("es-ES", "tenemos tres hijos"),
        ("it-IT", "ho due gatti"),
    ],
)
def test_names_numbers_days_and_allergies_are_worth_checking(tag: str, said: str) -> None:
    assert is_worth_checking(said, languages.for_language(tag))


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("en-US", "I like tea"),
        ("en-US", "The shop may be open. I like it there."),
        ("de-DE", "wir waren im Kino"),
        ("de-DE", "Die Katze schläft auf dem Sofa"),
        ("de-DE", "Emma mag Pferde"),
        ("en-US", "it was cold today"),
        ("fr-FR", "j'aime le thé"),
        ("it-IT", "sei molto gentile con me"),
    ],
)
def test_a_remark_with_nothing_of_the_kind_is_not(tag: str, said: str) -> None:
    assert not is_worth_checking(said, languages.for_language(tag))
