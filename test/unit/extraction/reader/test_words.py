"""The words of an utterance."""

from __future__ import annotations

from ovos_persona_memory.extraction.reader.words import words_of


def test_words_are_lower_case_and_know_where_they_stand() -> None:
    text = "I'm Anna, née Bell!"
    assert [word.lower for word in words_of(text)] == ["i", "m", "anna", "née", "bell"]
    assert [text[word.first : word.last] for word in words_of(text)] == ["I", "m", "Anna", "née", "Bell"]


def test_a_script_without_blanks_is_taken_letter_by_letter() -> None:
    assert [word.lower for word in words_of("我住在ABC")] == ["我", "住", "在", "abc"]


def test_nothing_said_has_no_words() -> None:
    assert words_of("") == words_of("?! …") == []
