"""From a text to index words."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ovos_persona_memory.text import index_terms, stemming


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("The CATS' Café", ["the", "cats", "cafe"]),
        ("ma sœur, l’été", ["ma", "soeur", "l", "ete"]),
        ("al·lèrgia", ["allergia"]),
        ("мой ёж", ["мой", "еж"]),
        ("größer", ["grosser"]),
        ("２０ Uhr", ["20", "uhr"]),
        ("x" * 70, ["x" * 64]),
    ],
)
def test_words_lose_case_and_accents_but_not_their_letters(text: str, folded: list[str]) -> None:
    assert index_terms.fold(text) == folded


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("猫咪睡觉", ["猫咪", "咪睡", "睡觉"]),
        ("猫", ["猫"]),
        ("用iPhone打", ["用", "iphone", "打"]),
        ("ガレージ", ["ガレ", "レー", "ージ"]),
        ("고양이가 자요", ["고양", "양이", "이가", "자요"]),
        ("แมว", ["แม", "มว"]),
        ("3月5日", ["3", "月", "5", "日"]),
    ],
)
def test_where_words_have_no_blanks_every_two_characters_are_a_word(text: str, folded: list[str]) -> None:
    assert index_terms.fold(text) == folded


def test_letters_that_a_mark_makes_stay_apart() -> None:
    assert index_terms.plain("が") != index_terms.plain("か")
    assert index_terms.plain("ไม่") != index_terms.plain("ไม")


def test_single_han_characters_are_indexed_too_but_asked_for_only_where_they_stand_alone() -> None:
    assert index_terms.document_terms("猫咪", "zh") == ["猫咪", "猫", "咪"]
    assert index_terms.query_terms("猫咪 猫", "zh") == ["猫咪", "猫"]
    assert index_terms.document_terms("고양이", "ko") == ["고양", "양이"]


@pytest.mark.parametrize(
    ("primary", "one", "other"),
    [
        ("fr", "chevaux", "cheval"),
        ("es", "llaves", "llave"),
        ("it", "gatti", "gatto"),
        ("pt", "consultas", "consulta"),
        ("gl", "galiñas", "galiña"),
        ("ca", "gallines", "gallina"),
        ("nl", "katten", "kat"),
        ("da", "nøglerne", "nøgle"),
        ("de", "Häuser", "haus"),
        ("ru", "собаки", "собака"),
    ],
)
def test_inflected_forms_are_one_word(primary: str, one: str, other: str) -> None:
    assert index_terms.document_terms(one, primary) == index_terms.document_terms(other, primary)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("went", "going"),
        ("bought", "buys"),
        ("Gotten", "got"),
        ("kept", "keeping"),
        ("children", "child"),
        ("wives", "wife"),
    ],
)
def test_irregular_forms_are_one_word(one: str, other: str) -> None:
    assert (
        index_terms.document_terms(one, "en")
        == index_terms.document_terms(other, "en")
        == index_terms.query_terms(one, "en")
    )


@pytest.mark.parametrize("text", ["rose", "bit", "lives", "better", "lie"])
def test_what_is_mostly_another_word_stays_itself(text: str) -> None:
    assert {"rise", "bite", "life", "good", "lay"}.isdisjoint(index_terms.document_terms(text, "en"))


def test_irregular_forms_are_of_one_language() -> None:
    assert index_terms.document_terms("went", "de") == ["went"]


def test_each_irregular_form_stands_for_one_word_as_texts_are_folded() -> None:
    for forms in stemming.FIRST_FORM.values():
        assert set(forms).isdisjoint(forms.values())
        assert all(index_terms.fold(form) == [form] for form in (*forms, *forms.values()))


@pytest.mark.parametrize(
    ("text", "said", "told"),
    [
        ("hello", "zh", None),
        ("猫咪睡觉", "en", "zh"),
        ("猫咪睡觉", "zh", None),
        ("東京", "ja", None),
        ("猫はどこ", "en", "ja"),
        ("고양이", "en", "ko"),
        ("แมว", "de", "th"),
        ("где кошка", "en", "ru"),
        ("где кошка", "bg", None),
        ("Tokyo (東京) is far away", "en", None),
        ("où est ma clé", "en", None),
    ],
)
def test_the_script_tells_the_language_where_the_tag_cannot_be_right(text: str, said: str, told: str | None) -> None:
    assert index_terms.language_of_script(text, said) == told


def test_a_stemmer_does_not_bring_in_those_of_other_languages() -> None:
    code = (
        "import sys; from ovos_persona_memory.text import index_terms; index_terms._interpreted('french');"
        "print(*sorted(m for m in sys.modules if m.endswith('_stemmer')))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert [name.rsplit(".", 1)[-1] for name in shown.split()] == ["french_stemmer"]


def test_the_rules_name_the_version_of_the_stemmers() -> None:
    assert index_terms.rules().split()[-1].count(".") >= 1
    assert index_terms.rules().startswith(f"{index_terms.RULES},")


@pytest.mark.parametrize("primary", ["en", "de", "fr", "ja", "ko", "zh", "th", "xx"])
def test_the_first_terms_of_folded_words_are_the_first_of_what_each_is_indexed_by(primary: str) -> None:
    said = "Running houses, 12 Häuser; les chevaux l'eau, 東京に行く 서울에서 ไปตลาด"
    words = ["", *index_terms.fold(said), "x" * 64]
    single = [next(iter(index_terms.document_terms(word, primary)), word) for word in words]
    assert index_terms.first_terms(words, primary) == single
