"""What ends a value, and how the words of a clause are marked with it."""

from __future__ import annotations

from ovos_persona_memory import language
from ovos_persona_memory.patterns import Compiler
from ovos_persona_memory.template import Template, Words

LISTS = {"tail": ("since", "and i"), "tail_home": ("near",)}
COMPILER = Compiler(LISTS, str.split)


def clause(text: str) -> Words:
    return Words(text, tuple(text.split()), tuple((0, 0) for _ in text.split()))


def taken(slot: str, template: str, text: str) -> tuple[str, int]:
    told = Template(slot, False, COMPILER.pattern(slot, template), None).told(clause(text))
    assert told is not None and told.value is not None
    return " ".join(told.value.folded), told.words


def test_a_mark_stands_where_a_whole_phrase_begins() -> None:
    marked = COMPILER.pattern("home", "{value}").tails.marked
    assert marked(("since", "then", "and", "i", "and")) == "\tsince then\tand i and "
    assert marked(()) == " "


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


def test_marked_words_are_kept_until_texts_are_forgotten() -> None:
    tails = COMPILER.pattern("home", "{value}").tails
    said = tails.marked(("a", "secret"))
    assert tails.marked(("a", "secret")) is said
    language.forget_texts()
    assert tails.marked(("a", "secret")) is not said
