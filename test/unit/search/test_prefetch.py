"""Recall as everybody asks for it: by words, by meaning, and judged."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.search import Prefetch, Question
from ovos_persona_memory.stores.inmemory import InMemoryStore

AT, TEXT = 1_800_000_000.0, "the plumber comes on friday"


class Judge:
    """Takes everything for a question, and everything for its answer."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def has_learned(self, text: str, lang: str | None) -> bool:
        return True

    def asks(self, text: str, lang: str | None) -> bool:
        return self.looks_for(text, lang)

    def looks_for(self, text: str, lang: str | None) -> bool:
        self.asked.append(text)
        return True

    def asked_in(self, text: str, lang: str | None) -> str:
        return text

    def to_forget(self, text: str, lang: str | None) -> str | None:
        return None

    def asks_what_was_said(self, text: str, lang: str | None) -> bool:
        return False

    def asks_several(self, text: str, lang: str | None) -> bool:
        return False

    def may_ask_several(self, text: str, lang: str | None) -> bool:
        return False

    def surely_asks(self, text: str, lang: str | None) -> bool:
        return False

    def answering(self, question: str, remarks: Sequence[tuple[str, str | None]]) -> list[float]:
        return [0.99] * len(remarks)


@pytest.mark.parametrize(("by_words", "answers"), [(True, False), (False, True)])
def test_a_list_of_words_is_not_judged_and_a_question_is(by_words: bool, answers: bool) -> None:
    store, judge = InMemoryStore(), Judge()
    store.add_turn(Turn("user", TEXT, at=AT, lang="en-US"), "plumber come friday")
    found = Prefetch(store, lambda: AT + 60, None, judge).hits(
        Question("friday evening weekend fortnight", "en-US", by_words=by_words), Scope(), 5
    )
    assert [hit.text for hit in found] == [TEXT]
    assert (found[0].answers, bool(judge.asked)) == (answers, answers)
