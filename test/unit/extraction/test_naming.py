"""Whom and what facts are about, by the words that name them."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.naming import (
    bare_stems,
    naming_words,
    owner_behind,
    subject_of,
    thing_of,
    whole_name,
)
from ovos_persona_memory.text import languages

NAMES = {"tom": "brother", "lena": "sister", "anna": ""}


@pytest.mark.parametrize(
    ("tag", "words", "subject"),
    [
        ("en-US", "my big sister", "sister"),
        ("en-US", "mum", "mother"),
        ("en-US", "my mother in law", "mother in law"),
        ("en-US", "my sister's husband", "sister husband"),
        ("en-US", "the husband of my sister", "sister husband"),
        ("en-US", "tom", "brother"),
        ("en-US", "tom's wife", "brother wife"),
        ("en-US", "my sister lena", "sister"),
        ("en-US", "I", ""),
        ("en-US", "anna", ""),
        ("en-US", "oscar", "oscar"),
        ("de-DE", "meine kleine Schwester", "schwester"),
        ("de-DE", "der Mann von meiner Tochter", "tochter mann"),
        ("fr-FR", "la femme de mon frère", "frere femme"),
        ("fr-FR", "mamie", "mamie"),
        ("it-IT", "mia sorella", "sorella"),
        ("nl-NL", "mijn zusje", "zus"),
    ],
)
def test_somebody_is_named_by_relation_or_name(tag: str, words: str, subject: str) -> None:
    assert subject_of(words, languages.for_language(tag), NAMES, None) == subject


@pytest.mark.parametrize(("tag", "pronoun"), [("en-US", "she"), ("de-DE", "er"), ("fr-FR", "elle"), ("es-ES", "ella")])
def test_a_pronoun_means_who_was_spoken_of_and_nobody_else(tag: str, pronoun: str) -> None:
    language = languages.for_language(tag)
    assert subject_of(pronoun, language, {}, "lotte") == "lotte"
    assert subject_of(pronoun, language, {}, None) is None


def test_her_brother_is_the_brother_of_whom_was_spoken_of() -> None:
    english = languages.for_language("en-US")
    assert subject_of("her brother", english, {}, "lotte") == "lotte brother"
    assert subject_of("her brother", english, {}, None) is None


def test_of_the_hearer_nobody_knows_who_it_is() -> None:
    assert subject_of("you", languages.for_language("en-US"), {}, "lotte") is None


def test_things_are_told_apart_by_their_words_and_not_by_small_ones() -> None:
    english = languages.for_language("en-US")
    assert thing_of("my spare key", english) == thing_of("the spare keys", english) != thing_of("the key", english)
    assert thing_of("my mum", english) == thing_of("mother", english)
    assert bare_stems("a golf", "en-US") == bare_stems("the golf", "en-US")
    assert bare_stems("", "en-US") == frozenset()


def test_every_language_that_is_learned_has_its_words() -> None:
    for tag in ("ca-ES", "da-DK", "de-DE", "en-US", "es-ES", "fr-FR", "gl-ES", "it-IT", "nl-NL", "pt-PT"):
        known = naming_words(tag)
        assert known.speaker and known.other and known.small and known.jokes and known.pets, tag
        assert len(known.relations) >= 40 and known.single < set(known.relations.values()), tag
    assert naming_words("ja-JP").relations == {}


@pytest.mark.parametrize(
    ("tag", "text", "named", "whole", "owner"),
    [
        ("en-US", "the wife of my brother lives here", "wife of", "wife of my brother", "my brother"),
        ("en-US", "the wife of my brother lives here", "the", "the wife of my brother", None),
        ("en-US", "the wife of my mother in law is here", "wife", "wife of my mother in law", "my mother in law"),
        ("en-US", "my brother likes the sound of my sister", "my brother", "my brother", None),
        ("en-US", "a friend of mine is here", "friend", "friend", None),
        ("de-DE", "der hund von oma bellt", "hund", "hund von oma", "oma"),
    ],
)
def test_whose_relative_somebody_is_stands_behind_them(
    tag: str, text: str, named: str, whole: str, owner: str | None
) -> None:
    language, span = languages.for_language(tag), (text.index(named), text.index(named) + len(named))
    assert whole_name(text, span, language) == whole
    found = owner_behind(text, span, language)
    assert (None if found is None else text[slice(*found)]) == owner
