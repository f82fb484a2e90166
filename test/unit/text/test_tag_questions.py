"""What is asked in the words of a statement."""

from __future__ import annotations

import pytest

from ovos_persona_memory.text.tag_questions import statement_asked_about

EN, DE = "en-US", "de-DE"


@pytest.mark.parametrize(
    ("lang", "text", "asked"),
    [
        (EN, "I don't eat pork, do I?", "I don't eat pork"),
        (EN, "is it true that i'm allergic to peanuts", "that i'm allergic to peanuts"),
        (EN, "my boat is called Argo or is it", "my boat is called Argo"),
        (EN, "my sister lives in rome or does she", "my sister lives in rome"),
        (EN, "i was born in leeds or was that hull", "i was born in leeds"),
        (DE, "ich mag Oliven oder", "ich mag Oliven"),
        (DE, "mein arzt heißt doktor böhm oder irre ich mich", "mein arzt heißt doktor böhm"),
        (EN, "he plays the violin doesnt he", "he plays the violin"),
        (EN, "is it true that im allergic to peanuts", "that im allergic to peanuts"),
    ],
)
def test_who_asks_in_the_words_of_a_statement_asks_about_it(lang: str, text: str, asked: str) -> None:
    assert statement_asked_about(text, lang) == asked


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "i don't eat pork"),
        (EN, "i like tea so do i"),
        (EN, "the shop is on the right"),
        (EN, "do i"),
        (EN, "is it true"),
        (EN, ""),
        (DE, "ich mag tee oder kaffee"),
        (DE, "merk dir dass oma am dienstag oder schon am montag kommt"),
        (DE, "ich nehme den bus oder habe das rad dabei"),
        (EN, "nobody knows who left or did the dishes"),
        (EN, "remember that i owe tom ten euros or is it five"),
        (EN, "let me know if it rains"),
        (EN, "i'll do it"),
        (EN, "i take a size eleven boot if they have it"),
        (EN, "i'll be home at six if i remember right"),
        ("ja-JP", "寿司が好きです"),
    ],
)
def test_who_states_something_asks_nothing(lang: str, text: str) -> None:
    assert statement_asked_about(text, lang) is None
