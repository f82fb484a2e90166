"""Words, question forms and sentences of the shipped languages."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from ovos_persona_memory import language

ENGLISH, GERMAN = language.of("en-US"), language.of("de-DE")
DATA = Path(__file__).parent.parent / "data"
HOUSEHOLDS = [json.loads((DATA / f"household_{tag}.json").read_text(encoding="utf-8")) for tag in ("en", "de")]


def test_words_lose_case_accents_and_endings() -> None:
    assert ENGLISH.words("The CATS' Café") == ["the", "cat", "cafe"]
    assert GERMAN.words("Die Katzen, größer") == ["die", "katz", "gross"]


def test_stop_words_are_dropped_from_a_question() -> None:
    assert ENGLISH.content_words("what is my cat called") == ["cat", "call"]


def test_a_question_of_stop_words_alone_keeps_them_all() -> None:
    assert ENGLISH.content_words("who am I") == ["who", "am", "i"]


def test_an_unshipped_language_has_its_stems_and_speaks_english() -> None:
    finnish = language.of("fi-FI")
    assert finnish.words("kissat") == finnish.words("kissa")
    assert finnish.say("nothing_known") == ENGLISH.say("nothing_known")
    assert finnish.content_words("missä on kissa")


@pytest.mark.parametrize(("tag", "found"), [("en", "en-US"), ("EN-us", "en-US"), ("en-GB", "en-US"), ("de", "de-DE")])
def test_the_nearest_shipped_language_is_taken(tag: str, found: str) -> None:
    assert language.of(tag).tag == found


@pytest.mark.parametrize("household", HOUSEHOLDS, ids=lambda household: household["language"])
def test_statements_questions_and_chatter_of_a_household_are_told_apart(household: dict) -> None:
    spoken = language.of(household["language"])
    asked = [entry["question"] for entry in household["questions"] + household["unanswerable"]]
    told = [entry["text"] for entry in household["statements"]]
    assert [text for text in asked if not spoken.is_question(text)] == []
    assert [text for text in told if spoken.is_question(text)] == []
    assert [text for text in told if not spoken.is_statement(text)] == []
    taken_for_statements = [text for text in household["chatter"] if spoken.is_statement(text)]
    assert len(taken_for_statements) <= len(household["chatter"]) // 10


def test_a_question_mark_makes_a_question_of_anything() -> None:
    assert ENGLISH.is_question("my cat?")


def test_the_lead_of_a_request_to_remember_is_taken_off() -> None:
    assert ENGLISH.without_lead("Remember that the bins go out on Tuesday") == "the bins go out on Tuesday"
    assert ENGLISH.without_lead("I remember that well") == "I remember that well"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (datetime(2026, 5, 10, 8), "today"),
        (datetime(2026, 5, 9, 23), "yesterday"),
        (datetime(2026, 5, 6, 9), "4 days ago"),
        (datetime(2026, 5, 3, 9), "on 3 May 2026"),
    ],
)
def test_when_something_was_said_is_put_in_words(said: datetime, words: str) -> None:
    assert ENGLISH.when(said, datetime(2026, 5, 10, 21)) == words


def test_every_shipped_language_has_the_same_files() -> None:
    folder = language.locale_folder()
    files = {tag: sorted(path.name for path in (folder / tag).iterdir()) for tag in language.shipped()}
    assert len(files) >= 2
    assert all(names == files["en-US"] for names in files.values())


def test_every_sentence_has_the_same_slots_in_every_language() -> None:
    for dialog in sorted(path.stem for path in (language.locale_folder() / "en-US").glob("*.dialog")):
        slots = {
            tag: {part.split("}")[0] for line in language.of(tag).sentences(dialog) for part in line.split("{")[1:]}
            for tag in language.shipped()
        }
        assert all(found == slots["en-US"] for found in slots.values()), dialog
