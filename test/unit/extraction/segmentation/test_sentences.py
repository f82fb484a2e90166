"""Where a sentence ends, and what several of them tell."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.coreference.person_mentions import DialogueContext
from ovos_persona_memory.extraction.pipeline import extract
from ovos_persona_memory.extraction.segmentation.sentences import LanguageResources, around, is_letter, said
from ovos_persona_memory.extraction.tagger import features
from ovos_persona_memory.records import Turn

EN, DE = "en-US", "de-DE"


def spoken(lang: str) -> LanguageResources:
    return LanguageResources.of(Turn("user", "", lang=lang))


CUT = [
    (EN, "Who took the scissors? They're mine.", ["Who took the scissors?", "They're mine."]),
    (EN, "My mum is 71. She still climbs trees.", ["My mum is 71", "She still climbs trees."]),
    (EN, "Dr. Penner is 4.5 km away.", ["Dr. Penner is 4.5 km away."]),
    (EN, "I wear a size 9, do they have those?", ["I wear a size 9", "do they have those?"]),
    (EN, "I'm from Leeds, aren't I?", ["I'm from Leeds, aren't I?"]),
    (EN, "Do I like peas, or do I hate them?", ["Do I like peas, or do I hate them?"]),
    (DE, "Ich habe am 3. Mai Geburtstag. Trag das ein.", ["Ich habe am 3. Mai Geburtstag", "Trag das ein."]),
    (DE, "Mein Opa ist 80. Er wohnt in Kiel.", ["Mein Opa ist 80", "Er wohnt in Kiel."]),
    (DE, "Ich hab Schuhgröße 38, gibt es die noch?", ["Ich hab Schuhgröße 38", "gibt es die noch?"]),
]


@pytest.mark.parametrize(("lang", "text", "parts"), CUT)
def test_a_text_is_cut_where_a_sentence_ends(lang: str, text: str, parts: list[str]) -> None:
    assert said(spoken(lang), text) == parts


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("I love figs! Get some.", True),
        ("I love figs [dried]. Get some. Now.", True),
        ("Look at https://example.org please. I love it.", True),
        ("Yes sir. " * 4, True),
        ("so " * 25 + "it is. Yes.", True),
        ("I love figs. Get some.", False),
        ("I love figs; get some.", True),
    ],
)
def test_what_is_long_or_has_marks_of_writing_is_a_letter(text: str, letter: bool) -> None:
    assert is_letter(text, said(spoken(EN), text)) is letter


def test_a_place_in_a_text_is_found_in_its_own_sentence() -> None:
    text = "Is it late? I hate figs. Stop."
    at = text.index("figs")
    sentence, (first, last) = around(spoken(EN), text, (at, at + 4))
    assert (sentence, sentence[first:last]) == ("I hate figs", "figs")
    assert around(spoken(EN), "figs", (0, 4)) == ("figs", (0, 4))


TOLD = [
    (EN, "What's a good recipe? I'm allergic to shellfish.", [("allergy", "", "shellfish")]),
    (EN, "My favorite color is purple, can you make the lamp purple?", [("favourite", "", "purple")]),
    (EN, "Where is my spare key? I put it in the drawer.", [("location", "", "in the drawer")]),
    (EN, "My sister is coming. She lives in Oslo.", [("home", "sister", "Oslo")]),
    (EN, "Is it cold? If I lived in Oslo I would know.", []),
    (EN, "Play it. Tom says he lives in Oslo. Do I live in Oslo?", []),
    (EN, "I'm a dragon. I live in Oslo.", []),
    (DE, "Gibt es noch Brot? Ich bin gegen Nüsse allergisch.", [("allergy", "", "Nüsse")]),
    (DE, "Kennst du unseren Hund? Der heißt Arko.", [("pet", "", "Arko")]),
    (DE, "Meine Lieblingsfarbe ist Lila, kannst du die Lampe lila machen?", [("favourite", "", "Lila")]),
    (DE, "Wohne ich in Kiel? Spiel Musik.", []),
]


@pytest.mark.parametrize(("lang", "text", "told"), TOLD)
def test_each_sentence_of_what_is_said_tells_what_it_does(
    lang: str, text: str, told: list[tuple[str, str, str]]
) -> None:
    found = [(one.slot, one.subject, one.value) for one in extract(Turn("user", text, lang=lang))]
    kept = [one for one in extract(Turn("user", text, lang=lang)) if one.outcome == "learned"]
    assert [(one.slot, one.subject, one.value) for one in kept] == told, found


def test_models_read_digits_as_they_are_said() -> None:
    words = spoken(EN).templates.words_of("i'm 41 since may 21st and 3 of 1984")
    seen = [look.word for look in features.for_language(EN).extract(words, DialogueContext())]
    assert seen[-7:] == ["since", "may", "first", "and", "three", "of", "1984"]
    assert "forty" in seen
