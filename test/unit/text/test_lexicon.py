"""The word lists by which secrets, tag questions and topics are recognised."""

from __future__ import annotations

import pytest

from ovos_persona_memory.text import languages, lexicon
from ovos_persona_memory.text.lexicon import Lexicon, made_of

LINES = ["tag: isn't it, is it", "tag: do you know", "place: in, in front of", "digit: null, eins, null, ei"]
NUMBERS = {"nine": 9.0, "eleven": 11.0, "one hundred": 100.0, "ten and a half": 10.5}
NEEDED = (
    "secret",
    "secret_is",
    "locked",
    "code",
    "no_secret",
    "no_code",
    "preposition",
    "digit",
    "determiner",
    "joint",
)
TOPICS = ("about_food", "about_health", "about_greeting", "about_place")


@pytest.fixture
def known() -> Lexicon:
    return made_of(LINES, NUMBERS)


def test_lines_of_one_name_add_up_and_no_apostrophe_is_needed(known: Lexicon) -> None:
    assert known.lists["tag"] == ("isn t it", "isnt it", "is it", "do you know")


def test_words_for_numbers_from_ten_on_come_from_the_table_of_numbers(known: Lexicon) -> None:
    assert known.lists["number"] == ("eleven",)


def test_the_longest_phrase_counts_wherever_it_stands(known: Lexicon) -> None:
    words = known.words_of("In front of the house, isn't it")
    assert known.starts(words, "place") == 3
    assert known.starts_at(words.folded, 1, "place") == 0
    assert known.ends(words, "tag") == 3
    assert list(known.places(words, "place")) == [(0, 1), (0, 3)]
    assert known.has(words, "tag") and not known.has(words.part(0, 5), "tag")
    assert known.has_word(("digit", "place"), "in") and not known.has_word(("digit",), "in")
    assert known.opening("tag") == {"isn", "isnt", "is", "do"}


def test_a_list_that_is_not_there_holds_nothing(known: Lexicon) -> None:
    for words in (known.words_of("is it"), known.words_of("")):
        assert (known.starts(words, "x"), known.ends(words, "x"), known.has(words, "x")) == (0, 0, False)
    assert known.opening("x") == frozenset()
    assert lexicon.for_language("ja-JP").lists == {}


@pytest.mark.parametrize("tag", languages.shipped())
def test_every_language_that_is_spoken_knows_secrets_and_topics(tag: str) -> None:
    known = lexicon.for_language(tag)
    assert [name for name in (*NEEDED, *TOPICS) if not known.lists.get(name)] == []
    assert sorted(set(known.digits.values())) == list("0123456789")
    lines = (languages.locale_folder() / tag / lexicon.FILE).read_text("utf-8").splitlines()
    assert len(lines) <= 150
    assert [line for line in lines if line and not line.startswith("#") and line.count(":") != 1] == []


@pytest.mark.parametrize("tag", ["0" * 256, "../../etc/passwd", "../en-US", "/", "\n", "xx-XX"])
def test_a_tag_that_names_no_language_has_an_empty_lexicon(tag: str) -> None:
    assert not lexicon.for_language(tag).lists
