"""The scoped short-term memory.

Each test is a sentence of the document about the scoped short-term memory, on a real memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextMessage, ContextRequest, Role, Scope, ToolCall, Turn

from .conftest import Clock

HERE = Scope(session_id="s1", user_id="u1")

DIFFERENT: tuple[tuple[str, str, str], ...] = (
    (
        "Implements the `MemoryStore` protocol.",
        "`PersonaMemory` and `MemoryClient` have verbs of the same use: `record`, `turn`, `history`, `recall`, `list`, "
        "`forget`. They block, and are safe to call from threads.",
        "In other words: an assistant is no asyncio program.",
    ),
    (
        'scope, str, default "task".',
        "Each call takes a `Scope`, with the fields that it is about. A call without one is about the household.",
        "In other words: one memory serves callers of every scope.",
    ),
    (
        'Raises: `MemoryError` if scope is not one of "user", "session", "task".',
        "A scope is a record with fields; an unknown field is a `TypeError`, and a wrong one over the bus `invalid`.",
        "In other words: there is no name of a scope to be mistaken.",
    ),
    (
        "scope: current filtering scope; max_rounds: maximum rounds setting.",
        "Both are given with each call.",
        "In other words: a memory has no scope of its own.",
    ),
    (
        "Keyword filter (case-insensitive substring match on content).",
        "`recall` finds by words, without case, accents and endings, and where nothing holds a whole word, by parts of "
        "words. It ranks what it finds. A history is filtered by roles, not by keywords.",
        "Deliberately not: a keyword that takes the questions out of a history leaves answers without them.",
    ),
    (
        "`__repr__`: `ShortTermMemory(scope='task', max_rounds=10, items=5)`.",
        "`status()` tells what a memory holds, and where.",
        "In other words: a memory has no scope of its own.",
    ),
)


def say(memory: PersonaMemory, *said: tuple[Role, str], scope: Scope = HERE) -> list[str]:
    return memory.record([Turn(role, text, lang="en-US") for role, text in said], scope, as_passed=True)


def exchange(question: str, answer: str) -> tuple[tuple[Role, str], tuple[Role, str]]:
    return ("user", question), ("assistant", answer)


def texts(messages: Sequence[ContextMessage]) -> list[str]:
    return [message.text for message in messages]


def example(memory: PersonaMemory) -> list[str]:
    """The document's own example."""
    hello, python = exchange("Hello!", "Hi there!"), exchange("What is Python?", "Python is a language.")
    return say(memory, ("system", "You are helpful."), *hello, *python)


def test_it_is_a_conversation_store_with_scope_based_filtering_and_windowing(memory: PersonaMemory) -> None:
    """In-memory conversation store with scope-based filtering and windowing."""
    for number in range(3):
        say(memory, *exchange(f"question {number}", f"answer {number}"))
    say(memory, *exchange("hello", "hi"), scope=Scope(session_id="s2", user_id="u1"))
    assert texts(memory.history(HERE, max_rounds=1)) == ["question 2", "answer 2"]


def test_the_scope_is_user_session_or_task(memory: PersonaMemory) -> None:
    """Filtering scope: "user", "session", or "task"."""
    task = Scope(session_id="s1", user_id="u1", task_id="t1")
    say(memory, *exchange("one", "two"), scope=task)
    say(memory, *exchange("three", "four"), scope=HERE)
    say(memory, *exchange("five", "six"), scope=Scope(session_id="s2", user_id="u1"))
    found = [memory.history(scope, max_history=None) for scope in (Scope(user_id="u1"), HERE, task)]
    assert list(map(len, found)) == [6, 4, 2]


def test_max_rounds_is_the_maximum_of_conversation_rounds_to_keep(memory: PersonaMemory) -> None:
    """Maximum conversation rounds to keep (0 = unlimited)."""
    for number in range(4):
        say(memory, *exchange(f"question {number}", f"answer {number}"))
    assert texts(memory.history(HERE, None, max_rounds=2)) == ["question 2", "answer 2", "question 3", "answer 3"]
    assert len(memory.history(HERE, None, max_rounds=0)) == 8


def test_add_persists_an_item(memory: PersonaMemory) -> None:
    """Persist a memory item to the in-memory store."""
    assert memory.history(HERE) == []
    say(memory, *exchange("hello", "hi"))
    assert texts(memory.history(HERE)) == ["hello", "hi"]


def test_get_retrieves_an_item_by_id(memory: PersonaMemory) -> None:
    """Retrieve a memory item by ID."""
    first, second = say(memory, *exchange("hello", "hi"))
    found = [memory.turn(id, HERE) for id in (first, second)]
    assert [(turn.role, turn.text) for turn in found if turn] == [("user", "hello"), ("assistant", "hi")]


def test_get_returns_none_if_not_found(memory: PersonaMemory) -> None:
    """Returns `None` if not found."""
    [known] = say(memory, ("user", "hello"))
    assert memory.turn("unknown", HERE) is None
    assert memory.turn(known, Scope(user_id="u2")) is None
    assert memory.turn(known, HERE) is not None


def test_search_has_optional_filters_scope_awareness_and_windowing(memory: PersonaMemory) -> None:
    """Search memory with optional filters, scope awareness, and windowing."""
    for number in range(3):
        say(memory, *exchange(f"question {number}", f"answer {number}"))
    say(memory, *exchange("hello", "hi"), scope=Scope(session_id="s2", user_id="u1"))
    assert texts(memory.history(HERE, None, max_rounds=2, roles={"user"})) == ["question 1", "question 2"]


def test_first_come_scope_based_and_optional_filters(memory: PersonaMemory) -> None:
    """Scope-based and optional filters (metadata, type, status)."""
    say(memory, ("system", "be kind"), *exchange("hello", "hi"))
    say(memory, *exchange("other", "thing"), scope=Scope(session_id="s2", user_id="u1"))
    assert texts(memory.history(HERE, roles={"assistant"})) == ["hi"]
    memory.remember("the lamp is red", HERE, key="lamp", status="draft")
    memory.remember("the rope is long", HERE, key="rope")
    assert [entry.key for entry in memory.list(HERE, status="draft")] == ["lamp"]
    assert [entry.key for entry in memory.list(HERE, status="accepted")] == ["rope"]


def test_then_conversation_windowing_if_max_rounds_is_above_0(memory: PersonaMemory) -> None:
    """Conversation windowing (if max_rounds > 0)."""
    say(memory, *exchange("one", "1"), scope=HERE)
    say(memory, *exchange("two", "2"), scope=Scope(session_id="s2", user_id="u1"))
    say(memory, *exchange("three", "3"), scope=HERE)
    # the round of the other session was filtered out before, and takes no place in the window
    assert texts(memory.history(HERE, None, max_rounds=2)) == ["one", "1", "three", "3"]
    assert texts(memory.history(HERE, None, max_rounds=1)) == ["three", "3"]


def test_then_tool_call_integrity_filtering(memory: PersonaMemory) -> None:
    """Tool call integrity filtering (removes dangling tool calls/results)."""
    call = Turn("assistant", "", tool_calls=(ToolCall("c1", "lamp", {"on": True}),))
    result = Turn("tool", "done", tool_call_id="c1", name="lamp")
    memory.record([Turn("user", "lamp on"), call, result, Turn("assistant", "it is on")], HERE, as_passed=True)
    assert [message.role for message in memory.history(HERE)] == ["user", "assistant", "tool", "assistant"]
    dangling = Turn("assistant", "", tool_calls=(ToolCall("c2", "lamp", {"on": False}),))
    memory.record([Turn("user", "lamp off"), dangling], HERE, as_passed=True)
    assert [call.id for message in memory.history(HERE, None) for call in message.tool_calls] == ["c1"]


def test_the_limit_is_applied_last(memory: PersonaMemory) -> None:
    """Limit applied."""
    for number in range(4):
        say(memory, *exchange(f"question {number}", f"answer {number}"))
    assert texts(memory.history(HERE, max_history=4, roles={"user"})) == [f"question {one}" for one in range(4)]
    assert texts(memory.history(HERE, max_history=2, roles={"user"})) == ["question 2", "question 3"]


def test_clear_removes_items_matching_the_filter(memory: PersonaMemory) -> None:
    """Remove memory items matching the filter."""
    say(memory, *exchange("hello", "hi"))
    say(memory, *exchange("other", "thing"), scope=Scope(session_id="s2", user_id="u1"))
    memory.forget(HERE)
    assert memory.history(HERE) == []
    assert texts(memory.history(Scope(session_id="s2", user_id="u1"))) == ["other", "thing"]


def test_clear_returns_the_count_removed(memory: PersonaMemory) -> None:
    """Returns count removed."""
    say(memory, *exchange("hello", "hi"))
    assert memory.clear_session(HERE) == 2
    assert memory.clear_session(HERE) == 0


WHO = [
    Scope(session_id="s1", user_id="u1", persona_id="Ada", task_id="t1"),
    Scope(session_id="s1", user_id="u1", persona_id="Ada", task_id="t2"),
    Scope(session_id="s2", user_id="u1", persona_id="Ada", task_id="t1"),
    Scope(session_id="s1", user_id="u1", persona_id="Bob", task_id="t1"),
    Scope(session_id="s1", user_id="u2", persona_id="Ada", task_id="t1"),
]


def found_in(memory: PersonaMemory, scope: Scope) -> list[int]:
    """Which of WHO are found in a scope."""
    for number, who in enumerate(WHO):
        say(memory, *exchange(f"who {number}", f"number {number}"), scope=who)
    return [int(message.text[4:]) for message in memory.history(scope, None, roles={"user"})]


def test_the_scope_user_matches_on_user_and_agent(memory: PersonaMemory) -> None:
    """ "user" matches on user_id, agent_id."""
    assert found_in(memory, Scope(user_id="u1", persona_id="Ada")) == [0, 1, 2]


def test_the_scope_session_matches_on_user_session_and_agent(memory: PersonaMemory) -> None:
    """ "session" matches on user_id, session_id, agent_id."""
    assert found_in(memory, Scope(user_id="u1", session_id="s1", persona_id="Ada")) == [0, 1]


def test_the_scope_task_matches_on_user_session_task_and_agent(memory: PersonaMemory) -> None:
    """ "task" matches on user_id, session_id, task_id, agent_id."""
    assert found_in(memory, Scope(user_id="u1", session_id="s1", task_id="t1", persona_id="Ada")) == [0]


def test_only_the_last_rounds_are_returned(memory: PersonaMemory) -> None:
    """When `max_rounds > 0`, only the last N conversation rounds are returned."""
    for number in range(5):
        say(memory, *exchange(f"question {number}", f"answer {number}"))
    for rounds in (1, 3, 5, 9):
        assert len(memory.history(HERE, None, max_rounds=rounds)) == 2 * min(rounds, 5)


def test_a_round_starts_with_a_human_message(memory: PersonaMemory) -> None:
    """A round starts with a human message."""
    say(memory, ("user", "one"), ("assistant", "1"), ("user", "two"), ("assistant", "2"), ("assistant", "also 2"))
    assert texts(memory.history(HERE, None, max_rounds=1))[0] == "two"


def test_system_messages_before_the_window_cutoff_are_always_retained(memory: PersonaMemory) -> None:
    """System messages before the window cutoff are always retained."""
    say(memory, ("system", "be kind"), *exchange("one", "1"), *exchange("two", "2"))
    assert texts(memory.history(HERE, None, max_rounds=1)) == ["be kind", "two", "2"]


def test_ai_messages_with_tool_calls_without_results_are_removed(memory: PersonaMemory) -> None:
    """AI messages with `tool_calls` that have no following tool results."""
    call = Turn("assistant", "", tool_calls=(ToolCall("c1", "lamp", {}), ToolCall("c2", "lamp", {})))
    result = Turn("tool", "done", tool_call_id="c1", name="lamp")
    memory.record([*_turns(exchange("hello", "hi")), Turn("user", "lamps on"), call, result], HERE, as_passed=True)
    assert texts(memory.history(HERE, None)) == ["hello", "hi"]
    assert texts(memory.context(ContextRequest("and now", HERE, recall=0)).messages) == ["hello", "hi", "and now"]


def test_tool_results_with_no_matching_ai_message_are_removed(memory: PersonaMemory) -> None:
    """Tool results with no matching AI message."""
    result = Turn("tool", "done", tool_call_id="c1", name="lamp")
    memory.record([Turn("user", "lamp on"), result, Turn("assistant", "it is on")], HERE, as_passed=True)
    assert texts(memory.history(HERE, None)) == ["lamp on", "it is on"]


def _turns(said: Sequence[tuple[Role, str]]) -> list[Turn]:
    return [Turn(role, text) for role, text in said]


def test_the_number_of_stored_items_is_told(memory: PersonaMemory) -> None:
    """`__len__`: number of stored items."""
    assert memory.status()["counts"]["turns"] == 0
    example(memory)
    assert memory.status()["counts"]["turns"] == 5


def test_in_the_example_a_search_with_scope_filtering_finds_five(memory: PersonaMemory) -> None:
    """Search with scope filtering: `results = await memory.search(metadata=meta)`, 5 results."""
    example(memory)
    assert len(memory.history(HERE)) == 5
    assert memory.history(Scope(session_id="s1", user_id="u2")) == []


def test_in_the_example_a_keyword_search_finds_question_and_answer(memory: PersonaMemory, clock: Clock) -> None:
    """Keyword search: `results = await memory.search(query="Python", metadata=meta)`, 2 (question + answer about
    Python)."""
    example(memory)
    found = memory.recall("Python", HERE, k=2, at=clock.now + 3600)
    assert {hit.text for hit in found} == {"What is Python?", "Python is a language."}
    assert memory.recall("Python", Scope(session_id="s2", user_id="u1"), k=10) == []


def test_in_the_example_clearing_the_session_removes_five(memory: PersonaMemory) -> None:
    """Clear by session: `removed = await memory.clear(metadata=meta)`, 5 removed."""
    example(memory)
    say(memory, *exchange("other", "thing"), scope=Scope(session_id="s2", user_id="u1"))
    assert memory.forget(HERE) == 5
    assert memory.status()["counts"]["turns"] == 2


@pytest.mark.parametrize("scope", [Scope(session_id="s1", user_id="u2"), Scope(session_id="s1"), Scope()])
def test_nobody_elses_items_are_found(memory: PersonaMemory, scope: Scope) -> None:
    """The scope parameter controls how metadata matching works."""
    example(memory)
    assert memory.history(scope, None) == []
    assert memory.recall("Python", scope) == []
    assert memory.history(HERE, None) and memory.recall("Python", HERE)
