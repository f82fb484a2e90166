"""The part of a long text that bears on a question."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ovos_persona_memory.conversation.prompt import excerpt
from ovos_persona_memory.text import languages

ENGLISH = languages.for_language("en-US")
LONG = "We had tea. It rained. My cat is called Bob. He is old. He likes fish. We went home."


def of(text: str, most: int, question: str = "what is my cat called") -> str:
    return excerpt(text, question, ENGLISH, most)


def test_a_short_text_stays_as_it_is() -> None:
    assert of(LONG, len(LONG)) == LONG


def test_the_sentences_around_the_best_one_are_taken() -> None:
    assert of(LONG, 30) == "… My cat is called Bob. …"
    assert of(LONG, 40) == "… My cat is called Bob. He is old. …"
    assert of(LONG, 60) == "… My cat is called Bob. He is old. He likes fish. …"
    assert of(LONG, 80) == "… It rained. My cat is called Bob. He is old. He likes fish. We went home."


def test_the_beginning_is_taken_where_nothing_bears_on_the_question() -> None:
    assert of(LONG, 30, "what about boats") == "We had tea. It rained. …"


def test_a_sentence_that_is_too_long_loses_its_middle() -> None:
    assert of("a" * 50 + "b" * 50, 23) == "a" * 10 + " … " + "b" * 10


def test_sentences_of_languages_without_blanks_end_too() -> None:
    text = "下雨了。" * 9 + "我的猫叫鲍勃。" + "回家了。" * 9
    assert "我的猫叫鲍勃。" in excerpt(text, "我的猫叫什么", languages.for_language("zh-CN"), 30)


@settings(derandomize=True, deadline=None)
@given(st.text("ab .!\n。", max_size=80), st.integers(0, 90))
def test_an_excerpt_is_never_longer_than_wanted(text: str, most: int) -> None:
    assert len(of(text, most, "a b")) <= most
