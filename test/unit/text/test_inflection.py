from __future__ import annotations

import pytest

from ovos_persona_memory.text import languages, says_another_word
from ovos_persona_memory.text.inflection import is_same_word


@pytest.mark.parametrize(
    ("tag", "one", "other"),
    [
        ("en-US", "cat", "cats"),
        ("en-US", "baby", "babies"),
        ("en-US", "knife", "knives"),
        ("en-US", "swim", "swimming"),
        ("en-US", "painting", "painted"),
        ("de-DE", "katze", "katzen"),
        ("de-DE", "kind", "kinder"),
        ("fr-FR", "cheval", "chevaux"),
        ("es-ES", "lápiz", "lápices"),
        ("it-IT", "amico", "amici"),
        ("nl-NL", "huis", "huizen"),
        ("da-DK", "hund", "hundene"),
        ("pt-PT", "avião", "aviões"),
        ("ja-JP", "猫", "犬"),  # no list: never another word
    ],
)
def test_forms_of_one_word(tag: str, one: str, other: str) -> None:
    (first,), (second,) = languages.fold(one)[:1], languages.fold(other)[:1]
    spoken = languages.for_language(tag)
    assert is_same_word(first, second, spoken)
    assert is_same_word(second, first, spoken)


@pytest.mark.parametrize(
    ("tag", "one", "other"),
    [
        ("en-US", "gardener", "garden"),
        ("en-US", "plumber", "plumbing"),
        ("en-US", "teacher", "teach"),
        ("fr-FR", "boulanger", "boulangerie"),
        ("it-IT", "giardiniere", "giardino"),
    ],
)
def test_other_words_of_the_same_stem(tag: str, one: str, other: str) -> None:
    assert not is_same_word(one, other, languages.for_language(tag))


def test_a_text_says_another_word_only_where_no_word_of_it_is_meant() -> None:
    english = languages.for_language("en-US")
    assert says_another_word("the garden hose leaks", "the gardener", english)
    assert not says_another_word("the gardener waters the garden", "the gardener", english)
    assert not says_another_word("the gardeners come on monday", "the gardener", english)
    assert not says_another_word("the hose leaks", "the gardener", english)
