"""What is said sign by sign."""

from __future__ import annotations

import pytest

from ovos_persona_memory.extraction.segmentation import spelled_codes
from ovos_persona_memory.extraction.templates import loader
from test.unit.extraction.test_dialogue_state import Home

ENGLISH = loader.for_language("en-US")


@pytest.mark.parametrize(
    ("said", "place", "run"),
    [
        ("it is k l seven two b c d", 5, "k l seven two b c d"),
        ("it is k l seven two i think", 3, "k l seven two"),
        ("give it a one two three", 4, "one two three"),
        ("it is k l seven", 1, ""),
        ("two b is mine", 0, ""),
    ],
)
def test_signs_in_a_row(said: str, place: int, run: str) -> None:
    words = ENGLISH.words_of(said)
    assert words.part(*spelled_codes.run_at(ENGLISH, words, place)).spelled == run


def test_signs_in_a_row_count_as_one_word() -> None:
    assert spelled_codes.size(ENGLISH, ENGLISH.words_of("flat k l seven two b c d")) == 2
    assert spelled_codes.size(ENGLISH, ENGLISH.words_of("two cats and a dog")) == 5


@pytest.mark.parametrize(
    ("lang", "said", "fact"),
    [
        ("en-US", "my number plate is k l seven two b c d", ("detail", "k l seven two b c d")),
        ("en-US", "my number plate is k l seven two b c d by the way", ("detail", "k l seven two b c d")),
        ("en-US", "my phone number is oh seven seven double four", ("detail", "oh seven seven double four")),
        ("en-US", "my postcode is l s one four d y", ("detail", "l s one four d y")),
        ("en-US", "we live at two one seven b baker street", ("home", "two one seven b baker street")),
        ("de-DE", "unser kennzeichen ist b i d y vier eins acht", ("detail", "b i d y vier eins acht")),
        ("de-DE", "das kennzeichen ist b i d y vier eins acht", ("detail", "b i d y vier eins acht")),
        ("de-DE", "meine nummer ist null eins sieben sechs", ("detail", "null eins sieben sechs")),
        (
            "en-US",
            "my mobile's oh seven seven double oh nine hundred three one one for the delivery people",
            ("detail", "oh seven seven double oh nine hundred three one one"),
        ),
        (
            "de-DE",
            "meine handynummer ist null eins sieben sechs drei vier fünf sechs sieben acht neun falls was ist",
            ("detail", "null eins sieben sechs drei vier fünf sechs sieben acht neun"),
        ),
    ],
)
def test_what_is_spelled_is_kept_to_its_last_sign(lang: str, said: str, fact: tuple[str, str]) -> None:
    home = Home(lang=lang)
    home.say("ann", said)
    assert [(slot, value) for slot, _, value in home.facts("ann")] == [fact]


def test_what_is_no_number_is_no_phone_number() -> None:
    home = Home()
    home.say("ann", "my mobile is broken")
    assert home.facts("ann") == []
