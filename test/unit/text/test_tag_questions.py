"""What is asked in the words of a statement teaches nothing."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.pipeline import extract
from ovos_persona_memory.records import Turn
from ovos_persona_memory.text.tag_questions import statement_asked_about

EN, DE = "en-US", "de-DE"


def learned(lang: str, text: str) -> list[tuple[str | None, str | None]]:
    told = extract(Turn("user", text, at=1.0, lang=lang))
    return [(one.slot, one.value) for one in told if one.outcome in ("learned", "kept")]


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        (EN, "i don't eat pork do i"),
        (EN, "i live in rome isn't that right"),
        (EN, "i play the violin do i or am i mixing that up with someone else"),
        (EN, "my favourite film is casablanca is that what i told you"),
        (EN, "did i tell you that my sister is a nurse"),
        (EN, "is it true that i'm allergic to peanuts"),
        (EN, "siri have you stored that my home is in chester"),
        (DE, "bin ich müde oder nur hungrig was meinst du"),
        (DE, "könnte es sein dass ich gegen pollen allergisch bin"),
        (DE, "mein arzt heißt doktor böhm oder irre ich mich"),
        (DE, "ich bin in würzburg geboren steht das so bei dir"),
        (DE, "habe ich bei dir hinterlegt dass ich schwerhörig bin"),
        (DE, "ich arbeite bei der sparkasse ja oder nein"),
        (DE, "sage ich jetzt ich bin müde oder ich bin ermüdet"),
    ],
)
def test_what_is_asked_is_not_learned(lang: str, text: str) -> None:
    assert learned(lang, text) == []


@pytest.mark.parametrize(
    ("lang", "text", "told"),
    [
        (EN, "i don't eat pork", ("diet", "pork")),
        (EN, "my wife likes jazz and so do i", ("likes", "jazz")),
        (EN, "i'm allergic to peanuts can you check what is in it", ("allergy", "peanuts")),
        (DE, "ich mag spinat nicht", ("dislikes", "spinat")),
        (DE, "bin ich müde", ("mood", "müde")),
        (DE, "ich bin in würzburg geboren", ("origin", "würzburg")),
    ],
)
def test_what_is_stated_is(lang: str, text: str, told: tuple[str, str]) -> None:
    assert told in learned(lang, text)


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
        (EN, "i'll be home at six if i remember right"),
        ("ja-JP", "寿司が好きです"),
    ],
)
def test_who_states_something_asks_nothing(lang: str, text: str) -> None:
    assert statement_asked_about(text, lang) is None
