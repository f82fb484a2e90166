"""What joins a persona's context beside what answers: the memories that were changed last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ovos_persona_memory.config import parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import GUEST, OUTDATED, PINNED, Context, ContextRequest, Scope, Turn

HERE = Scope(session_id="s1")
Opened = Callable[..., PersonaMemory]


class Clock:
    now = 1_795_000_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def opened() -> Iterator[Opened]:
    every: list[PersonaMemory] = []

    def begin(**recall: Any) -> PersonaMemory:
        section = {"backend": "inmemory", "recall": {"embedder": "none", **recall}}
        memory = PersonaMemory.open(config=parse(section), clock=Clock())
        every.append(memory)
        for key, text in (
            ("bins", "the bins go out on Tuesday"),
            ("key", "Kramer has a spare key"),
            ("router", "the router stands behind the piano"),
        ):
            memory.remember(text, key=key, lang="en-US")
        return memory

    yield begin
    for memory in every:
        memory.close()


def asked(memory: PersonaMemory, utterance: str = "good morning", **fields: Any) -> Context:
    return memory.context(ContextRequest(utterance, **{"scope": HERE, **fields}))


def keys(known: Context) -> list[str | None]:
    return [hit.key for hit in known.hits]


def test_by_default_only_what_bears_on_the_utterance_is_handed(opened: Opened) -> None:
    assert asked(opened()).hits == []


def test_the_memories_changed_last_join_whatever_is_asked(opened: Opened) -> None:
    known = asked(opened(context_entry_limit=2))
    assert keys(known) == ["router", "key"]
    assert "the router stands behind the piano" in known.messages[0].text
    assert {hit.sure for hit in known.hits} == {True}


def test_what_answers_comes_first_and_nothing_twice(opened: Opened) -> None:
    memory = opened(context_entry_limit=3)
    known = asked(memory, "when do the bins go out")
    assert keys(known) == ["bins", "router", "key"]
    assert known.messages[0].text.count("Tuesday") == 1


def test_what_answers_takes_the_place_of_none_of_them(opened: Opened) -> None:
    memory = opened(context_entry_limit=1)
    assert keys(asked(memory, "where does the router stand", recall=1)) == ["router", "key"]


def test_they_stand_in_the_system_message_before_the_history(opened: Opened) -> None:
    memory = opened(context_entry_limit=1)
    memory.record([Turn("user", "hello", lang="en-US"), Turn("assistant", "hi")], HERE)
    memory.update_session(HERE, summary="they met")
    known = asked(memory, system_prompt="Be short.")
    assert [one.role for one in known.messages] == ["system", "user", "assistant", "user"]
    places = [known.messages[0].text.index(part) for part in ("Be short.", "they met", "the router")]
    assert places == sorted(places)


def test_they_keep_to_the_budget_of_what_is_recalled(opened: Opened) -> None:
    memory = opened(context_entry_limit=3, max_tokens=20)
    assert keys(asked(memory)) == ["router"]
    assert asked(memory, recall_tokens=0).hits == []


@pytest.mark.parametrize("fields", [{"recall": 0}, {"scope": Scope(session_id="s1", user_id=GUEST)}])
def test_none_joins_where_nothing_is_recalled(opened: Opened, fields: dict[str, Any]) -> None:
    assert asked(opened(context_entry_limit=3), **fields).hits == []


def test_none_joins_while_reading_is_off(opened: Opened) -> None:
    memory = opened(context_entry_limit=3)
    memory.capture(read=False)
    assert asked(memory).hits == []


def test_drafts_outdated_private_and_secret_ones_and_those_of_others_stay_out(opened: Opened) -> None:
    memory = opened(context_entry_limit=9)
    memory.remember("a draft", status="draft")
    memory.remember("off", metadata={OUTDATED: True})
    memory.remember("private", metadata={"private": 3})
    memory.remember("my pin is 4711", secret=True)
    memory.remember("of Ada", Scope(user_id="ada"))
    memory.remember("of Bob", Scope(persona_id="Bob"))
    here = Scope(session_id="s1", persona_id="Ada", auth_level=0)
    assert keys(asked(memory, scope=here)) == ["router", "key", "bins"]


def test_what_is_pinned_comes_first_whatever_is_asked(opened: Opened) -> None:
    memory = opened()
    memory.update("key", Scope(), metadata={PINNED: True})
    assert keys(asked(memory)) == ["key"]
    assert "Kramer has a spare key" in asked(memory).messages[0].text
    assert keys(asked(memory, "when do the bins go out")) == ["key", "bins"]
    assert keys(asked(memory, "who has a spare key")) == ["key"]
    memory.update("key", Scope(), metadata={PINNED: False})
    assert keys(asked(memory)) == []


def test_a_pinned_fact_is_handed_to_its_person_alone(opened: Opened) -> None:
    memory = opened()
    fact = memory.facts.add("i am allergic to bees", Scope(user_id="ada"), lang="en-US")
    memory.facts.update(fact.id, Scope(user_id="ada"), topics=[*fact.topics, PINNED])
    known = asked(memory, scope=Scope(session_id="s1", user_id="ada"))
    assert [(hit.kind, hit.text) for hit in known.hits] == [("fact", "i am allergic to bees")]
    assert asked(memory).hits == []
    assert asked(memory, scope=Scope(user_id=GUEST)).hits == []


def test_of_many_pins_the_newest_join_and_take_the_place_of_no_answer(opened: Opened) -> None:
    memory = opened()
    for number in range(6):
        memory.remember(f"crate {number} holds apples", key=f"c{number}", metadata={PINNED: True}, lang="en-US")
    assert keys(asked(memory)) == ["c5", "c4", "c3"]
    assert keys(asked(memory, "when do the bins go out")) == ["c5", "c4", "c3", "bins"]
    assert keys(asked(memory, "when do the bins go out", recall=1)) == ["c5", "c4", "c3", "bins"]
    assert keys(asked(memory, recall=0)) == []
    memory.update("c5", Scope(), metadata={OUTDATED: True})
    assert keys(asked(memory)) == ["c4", "c3", "c2"]


def test_no_text_can_pin_itself(opened: Opened) -> None:
    memory = opened()
    memory.remember("#pinned pinned", key="pinned", lang="en-US")
    assert keys(asked(memory)) == []
