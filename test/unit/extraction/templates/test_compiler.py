"""What ends a value, how a template is read, and which way of fitting a clause is taken."""

from __future__ import annotations

import re

import pytest

from ovos_persona_memory.extraction.templates.compiler import Compiler
from ovos_persona_memory.extraction.templates.template import Template
from ovos_persona_memory.text import languages
from ovos_persona_memory.text.tokens import Tokens

LISTS = {
    "tail": ("since", "and i"),
    "tail_home": ("near",),
    "drink": ("tea", "green", "green tea"),
    "job": ("keeper", "gardener", "chef de partie"),
    "fav": ("fave",),
    "kin": ("sister", "big sister"),
    "digit": ("two",),
}
MISSED = ("no", "match")
OWNED = "my {subject:kin}'s name is {value}"
COMPILER = Compiler(LISTS, str.split)


def clause(text: str) -> Tokens:
    return Tokens(text, tuple(text.split()), tuple((0, 0) for _ in text.split()))


def taken(slot: str, template: str, text: str) -> tuple[str, int]:
    told = Template(slot, False, COMPILER.pattern(slot, template), None).told(clause(text))
    assert told is not None and told.value is not None
    return " ".join(told.value.folded), told.words


def test_a_value_may_end_where_a_whole_phrase_begins() -> None:
    read = COMPILER.pattern("home", "{value}").tails.read
    assert read(("since", "then", "and", "i", "and")).ends == {0, 2}
    assert read(()).ends == frozenset()


def test_slots_without_phrases_of_their_own_share_those_of_all() -> None:
    likes, pet, home = (COMPILER.pattern(slot, "{value}").tails for slot in ("likes", "pet", "home"))
    assert likes is pet is not home


def test_a_value_ends_where_a_phrase_of_its_slot_begins() -> None:
    assert taken("home", "i live in {value}", "i live in old york near leeds") == ("old york", 5)
    assert taken("likes", "i like {value}", "i like walks near leeds and i run") == ("walks near leeds", 5)
    assert taken("likes", "i like {value}", "i like cats and dogs") == ("cats and dogs", 5)
    assert taken("likes", "i like {value:word}", "i like since") == ("since", 3)


def test_a_phrase_inside_a_template_is_read_as_any_words() -> None:
    assert taken("pet", "i have had since {value}", "i have had since may and i") == ("may", 5)


def test_words_that_were_read_are_kept_until_texts_are_forgotten() -> None:
    tails = COMPILER.pattern("home", "{value}").tails
    said = tails.read(("a", "secret"))
    assert tails.read(("a", "secret")) is said
    languages.forget_texts()
    assert tails.read(("a", "secret")) is not said


def test_what_is_tried_first_is_taken() -> None:
    assert captured("{value} [in {thing}]", "a house in leeds in may") == ("a house in leeds in may", "")
    assert captured("{thing} in {value}", "a house in leeds in may") == ("leeds in may", "a house")
    assert captured("[my] {value:word}", "my") == ("my", "")
    assert captured("i like {value:drink}", "i like green tea") == ("green tea", "")
    assert captured("i like {value:drink} tea", "i like green tea") == ("green", "")


def test_a_word_that_ends_with_one_of_a_list_may_stand_behind_three_others() -> None:
    assert captured("i am {value:*job}", "i am a part time landscape gardener") == MISSED
    assert captured("i am {value:*job}", "i am a part time gardener") == ("a part time gardener", "")
    assert captured("i am {value:*job}", "i am a beekeeper") == ("a beekeeper", "")
    assert captured("i am {value:*job}", "i am a sous chef de partie") == ("a sous chef de partie", "")
    assert captured("i am {value:*job}", "i am since gardener") == MISSED
    assert captured("i am {value:*job}", "i am a gardeners") == MISSED


def test_a_word_may_begin_with_one_of_a_list_and_is_longer() -> None:
    assert captured("my {thing:fav*} is {value}", "my faveband is queen") == ("queen", "faveband")
    assert captured("my {thing:fav*} is {value}", "my fave is queen") == MISSED


def test_who_owns_something_has_an_ending_or_none() -> None:
    for said in ("my big sister s name is ann", "my big sisters name is ann", "my big sister name is ann"):
        told = Template("name", False, COMPILER.pattern("name", OWNED), None).told(clause(said))
        assert told is not None and told.subject == "big sister", said
        assert (
            taken("home", "my <kin>'s house is in {value}", said.replace("name is ann", "house is in york"))[0]
            == "york"
        )
    assert Template("name", False, COMPILER.pattern("name", OWNED), None).told(clause("my s name is ann")) is None


def test_letters_and_digits_are_said_one_by_one() -> None:
    assert captured("my code is {value:signs}", "my code is a two b") == ("a two b", "")
    assert captured("my code is {value:signs}", "my code is a two") == MISSED
    assert captured("my code is {value:signs}", "my code is a two bee") == MISSED


def test_what_follows_a_closed_statement_is_more_of_it() -> None:
    match = COMPILER.pattern("home", "i am {value:drink}").match(("i", "am", "tea", "time", "since"))
    assert match is not None and (match.until, match.more) == (3, True)
    ended = COMPILER.pattern("home", "i am {value:drink}").match(("i", "am", "tea", "since"))
    assert ended is not None and (ended.until, ended.more) == (3, False)
    assert COMPILER.pattern("home", "i am {value:drink} [{what}]").match(("i", "am", "since", "tea")) is None


@pytest.mark.parametrize("text", ["(a", "a)", "<missing>", "{value:missing}", "{}"])
def test_a_template_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        COMPILER.pattern("home", text)


def captured(template: str, text: str) -> tuple[str, str]:
    """Value and thing, where the template takes the whole text."""
    told = Template("likes", False, COMPILER.pattern("likes", template), None).told(clause(text))
    if told is None or told.more:
        return MISSED
    value, thing = (" ".join(words.folded) if words else "" for words in (told.value, told.thing))
    return value, thing
