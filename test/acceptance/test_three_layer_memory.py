"""The three-layer memory.

Each test is a sentence of the document about the three layers, on a real memory, and for the tools on the real
toolbox.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import pytest
from ovos_bus_client import Message

from ovos_persona_memory.config import IntrospectionConfig, parse
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.records import ContextMessage, ContextRequest, Scope, Turn

from .conftest import Clock, Open

HERE = Scope(session_id="s1")
THERE = Scope(session_id="s2")
Call = Callable[..., Any]

DIFFERENT: tuple[tuple[str, str, str], ...] = (
    (
        "Long-term memory is implemented by `DbMemoryProvider`.",
        "It is implemented by the verbs `remember`, `get`, `list`, `update` and `forget`, on any store.",
        "In other words: SQLite, PostgreSQL, Redis and RAM keep the same entries.",
    ),
    (
        "`content_tsv`: generated PostgreSQL FTS column, created by SQL migration/lazy setup.",
        "Each store has an index of stems of its own, made in the commit that keeps the text.",
        "Deliberately not: the same question finds the same in every store and language.",
    ),
    (
        "Search first uses PostgreSQL tsvector ranking, then falls back to per-word ILIKE over key and content.",
        "Search ranks by BM25 over stems in one pass; a word that nothing holds stands for words that begin or are "
        'spelt like it. The end of a word finds nothing: "washer" does not find "dishwasher".',
        "Not yet: for the middle and the end of words. Otherwise in other words: one search, which tells for each hit "
        "why it was found, and no fallback that fails unseen.",
    ),
    (
        "Introspection-only tools: `working_memory_update`, `session_description_update`.",
        "A model that looks back over a talk may propose both; no tool of a persona sets them.",
        "In other words: they are proposals with limits (test/unit/memory/tidying/test_introspection.py).",
    ),
    (
        "At turn start, the prompt can include: recent long-term memory context from `getContextBlock`.",
        "Memories that surely bear on the utterance are quoted, and behind them as many of those that were "
        "changed last "
        "as `recall.context_entry_limit` says, none unless it is set.",
        "In other words: what has nothing to do with the question takes tokens and misleads a small model.",
    ),
    (
        "At turn start, the prompt can include: skill index.",
        "None.",
        "Not ours: OVOS knows its skills.",
    ),
    (
        "Introspection is program-triggered and model-executed.",
        "The daemon says when a model looks back over a talk; what it proposes is checked against what was said.",
        "In other words: the model proposes, the program decides (test/unit/memory/tidying/test_introspection.py).",
    ),
    (
        "It sees recent unsummarized history, previous working memory, current description, and memory tools.",
        "It sees what was said since its last look, the summary, the description and what is remembered of it.",
        "In other words: the range is that of its own last look (test/unit/memory/tidying/test_introspection.py).",
    ),
    (
        "It may: add/update/delete long-term memories, update working memory, update the session description.",
        "It may propose all of these; a deletion only sets aside, and only what somebody asked to delete.",
        "In other words: nothing becomes a memory that nobody said (test/unit/memory/tidying/test_introspection.py).",
    ),
    (
        "Memory content is agent-generated or user-requested, but memory lifecycle is runtime-controlled.",
        "What a person says or asks for is kept. What a model adds with a tool is kept as the assistant's, and answers "
        "nothing.",
        "Deliberately not: nothing becomes a fact that nobody has said.",
    ),
    (
        "The runtime decides when introspection runs and what transcript range it sees.",
        "The daemon decides when, and a range that failed is looked at again.",
        "In other words: see above (test/unit/memory/tidying/test_introspection.py).",
    ),
)


def talk(memory: PersonaMemory, rounds: int, begin: int = 0) -> None:
    for number in range(begin, begin + rounds):
        memory.record([Turn("user", f"question {number}"), Turn("assistant", f"answer {number}")], HERE)


def texts(messages: Sequence[ContextMessage]) -> list[str]:
    return [message.text for message in messages]


def system(memory: PersonaMemory, utterance: str, **more: Any) -> str:
    """The system message that a persona is handed."""
    first = memory.context(ContextRequest(utterance, THERE, lang="en-US", **more)).messages[0]
    return first.text if first.role == "system" else ""


# the three layers


def test_session_history_is_a_persisted_event_log(reopened: Open) -> None:
    """Session history: persisted event log in `session_events`."""
    talk(reopened(), 3)
    memory = reopened()
    assert texts(memory.history(HERE, None))[::2] == ["question 0", "question 1", "question 2"]
    assert memory.sessions()[0].turns == 6


def test_working_memory_is_a_summary_stored_with_the_session(reopened: Open) -> None:
    """Working memory: session-local summary stored on `sessions`."""
    reopened().update_session(HERE, summary="They counted.")
    memory = reopened()
    assert memory.update_session(HERE).summary == "They counted."
    assert memory.update_session(THERE).summary == ""


def test_long_term_memory_is_entries_by_key(reopened: Open) -> None:
    """Long-term memory: key/content entries in `memories`."""
    reopened().remember("the bins go out on Tuesday", HERE, key="bins")
    entry = reopened().get("bins", THERE)
    assert entry is not None and entry.text == "the bins go out on Tuesday"


def test_the_key_is_a_stable_id(memory: PersonaMemory) -> None:
    """`memory_key`: stable memory ID."""
    kept = memory.remember("bins on Tuesday", key="bins")
    memory.update("bins", text="bins on Friday")
    changed = memory.remember("bins on Monday", key="bins")
    assert (changed.key, changed.id) == (kept.key, kept.id)
    assert len(memory.list()) == 1


def test_the_content_is_the_memorys_text(memory: PersonaMemory) -> None:
    """`content`: memory text."""
    text = "größe 猫\nsecond line"
    assert memory.remember(text, key="odd").text == text
    entry = memory.get("odd")
    assert entry is not None and entry.text == text


def test_metadata_are_arbitrary(memory: PersonaMemory) -> None:
    """`metadata_json`: arbitrary metadata."""
    metadata = {"room": "kitchen", "n": 1, "deep": {"a": [1, None, True]}}
    memory.remember("bins on Tuesday", key="bins", metadata=metadata)
    entry = memory.get("bins")
    assert entry is not None and entry.metadata == metadata


def test_created_and_updated_are_told(memory: PersonaMemory, clock: Clock) -> None:
    """`created_at` / `updated_at`: timestamps."""
    kept = memory.remember("bins on Tuesday", key="bins")
    clock.now += 3600
    changed = memory.update("bins", text="bins on Friday")
    assert changed.created_at == kept.created_at == pytest.approx(clock.now - 3600, abs=1)
    assert changed.updated_at == pytest.approx(clock.now, abs=1)


FALLBACK = {
    "a part of a word": ("the dishwasher is broken", "dish", "en-US"),
    "a beginning": ("the refrigerator hums", "refrig", "en-US"),
    "a key": ("on Tuesday", "bins", "en-US"),
    "German": ("die Mülltonnen kommen am Dienstag raus", "Mülltonne", "de-DE"),
    "Japanese": ("ゴミは火曜日に出します", "火曜日", "ja-JP"),
    "a language without a stemmer": ("roska-astiat tyhjennetään tiistaina", "tiistaina", "et-EE"),
}


@pytest.mark.parametrize("case", FALLBACK)
def test_partial_matches_keys_and_other_languages_are_found(memory: PersonaMemory, case: str) -> None:
    """The fallback matters for partial matches, keys, and non-English text."""
    text, asked, lang = FALLBACK[case]
    memory.remember(text, key="bins", lang=lang)
    memory.remember("the cat sleeps on the sofa", key="cat", lang="en-US")
    assert [hit.key for hit in memory.recall(asked, lang=lang)][:1] == ["bins"]


# the tools


@pytest.fixture
def call(memory: PersonaMemory, plugin: Callable[..., Any]) -> Call:
    """Calls a tool of the toolbox while a message is handled: ``call("memory_get", key="bins")``."""
    toolbox = plugin("toolbox", memory)

    def handle(message: Message, name: str, arguments: dict[str, Any]) -> Any:
        return toolbox.call_tool(name, arguments)

    return lambda name, **arguments: handle(
        Message("persona:query", {}, {"session": {"session_id": "s1"}}), name, arguments
    )


def test_memory_get(memory: PersonaMemory, call: Call) -> None:
    """Main agent memory tools: `memory_get`."""
    memory.remember("the bins go out on Tuesday", key="bins")
    assert call("memory_get", key="bins").memory.text == "the bins go out on Tuesday"
    assert call("memory_get", key="none").error == "unknown_entry"


def test_memory_list(memory: PersonaMemory, call: Call) -> None:
    """Main agent memory tools: `memory_list`."""
    for number in range(60):
        memory.remember(f"memory {number}", key=f"k{number}")
    assert [one.key for one in call("memory_list").memories] == [f"k{number}" for number in range(59, 39, -1)]
    assert len(call("memory_list", limit=90).memories) == 50


def test_memory_recall(memory: PersonaMemory, call: Call) -> None:
    """Main agent memory tools: `memory_recall`."""
    memory.remember("the bins go out on Tuesday", key="bins", lang="en-US")
    memory.remember("the cat sleeps on the sofa", key="cat", lang="en-US")
    [best, *_] = call("memory_recall", query="when do the bins go out").found
    assert (best.key, best.sure) == ("bins", True)


def test_memory_add(memory: PersonaMemory, call: Call) -> None:
    """Main agent memory tools: `memory_add`."""
    added = call("memory_add", content="the bins go out on Tuesday", key="bins", metadata={"room": "yard"}).memory
    entry = memory.get(added.key)
    assert entry is not None and entry.text == "the bins go out on Tuesday"
    assert entry.metadata["room"] == "yard"


def test_memory_update(memory: PersonaMemory, call: Call) -> None:
    """Main agent memory tools: `memory_update`."""
    memory.remember("bins on Tuesday", key="bins", metadata={"a": 1})
    call("memory_update", key="bins", content="bins on Friday", metadata={"b": 2})
    entry = memory.get("bins")
    assert entry is not None and (entry.text, entry.metadata) == ("bins on Friday", {"a": 1, "b": 2})


def test_memory_delete(memory: PersonaMemory, call: Call) -> None:
    """Main agent memory tools: `memory_delete`."""
    memory.remember("bins on Tuesday", key="bins")
    assert call("memory_delete", key="bins").deleted == "bins"
    assert memory.get("bins") is None
    assert call("memory_delete", key="bins").error == "unknown_entry"


# what a prompt holds


def test_the_prompt_includes_the_agents_instructions(memory: PersonaMemory) -> None:
    """At turn start, the prompt can include: agent instructions."""
    assert system(memory, "hello", system_prompt="You are Ada.") == "You are Ada."
    assert system(memory, "hello") == ""


def test_the_prompt_includes_recent_session_history(memory: PersonaMemory) -> None:
    """At turn start, the prompt can include: recent session history."""
    talk(memory, 3)
    known = memory.context(ContextRequest("and now", HERE, recall=0, max_history=4))
    assert texts(known.messages) == ["question 1", "answer 1", "question 2", "answer 2", "and now"]


def test_the_prompt_includes_the_sessions_working_memory(memory: PersonaMemory) -> None:
    """At turn start, the prompt can include: current session working memory."""
    memory.update_session(THERE, summary="They counted.")
    assert '"They counted."' in system(memory, "hello")
    memory.update_session(THERE, summary="")
    assert system(memory, "hello") == ""


def test_the_prompt_includes_what_is_known_of_the_user(memory: PersonaMemory) -> None:
    """At turn start, the prompt can include: user/role context."""
    memory.record([Turn("user", "i'm allergic to hazelnuts", lang="en-US"), Turn("assistant", "noted")], HERE)
    assert "hazelnuts" in system(memory, "what shall i cook for dinner")
    assert system(memory, "what is the capital of France") == ""


# compaction


def test_compaction_is_apart_from_what_is_kept(memory: PersonaMemory) -> None:
    """Compaction is separate from introspection."""
    talk(memory, 40)
    before = memory.snapshot(HERE)
    assert memory.context(ContextRequest("and now", HERE, None, context_tokens=60)).tokens <= 60
    assert memory.snapshot(HERE) == before


def test_compaction_reduces_a_context_that_is_too_large(memory: PersonaMemory) -> None:
    """It reduces model context when history grows too large, preserving recent continuity and summarized older
    context."""
    for number in range(20):
        asked = Turn("user", f"we walk to village number {number} on Sunday", lang="en-US")
        memory.record([asked, Turn("assistant", f"That is {number} miles.", lang="en-US")], HERE)
    whole = memory.context(ContextRequest("and now", HERE, None, recall=0, lang="en-US"))
    known = memory.context(ContextRequest("and now", HERE, None, recall=0, lang="en-US", context_tokens=150))
    assert known.tokens <= 150 < whole.tokens
    first, *recent, last = texts(known.messages)
    assert recent and recent == texts(whole.messages)[-1 - len(recent) : -1]
    assert last == "and now"
    assert "walk to village" in first and not any(text in first for text in recent)


def test_compaction_decides_nothing_about_long_term_memory(memory: PersonaMemory) -> None:
    """It does not decide what belongs in long-term memory."""
    talk(memory, 40)
    memory.remember("the bins go out on Tuesday", key="bins")
    before = memory.list(), memory.facts.list(), memory.update_session(HERE)
    memory.context(ContextRequest("and now", HERE, None, context_tokens=60))
    assert (memory.list(), memory.facts.list(), memory.update_session(HERE)) == before


def test_the_limit_says_how_many_memories_that_changed_last_join_a_context(opened: Open) -> None:
    """`memory.context_entry_limit` controls how many recent memory entries are included in the context block."""
    memory = opened(memory={"context_entry_limit": 2})
    for key, text in (("bins", "the bins go out on Tuesday"), ("key", "Kramer has a key"), ("shed", "the shed is dry")):
        memory.remember(text, key=key)
    told = system(memory, "tell me a joke")
    assert [text in told for text in ("the bins go out", "Kramer has a key", "the shed is dry")] == [False, True, True]


def test_the_settings_of_introspection_are_taken_as_they_stand_in_the_document() -> None:
    """`"introspection": {"enabled": true, "turn_interval": 5, "idle_timeout_minutes": 10, "max_tool_calls": 10,
    "model": null}`."""
    five = {"enabled": True, "turn_interval": 7, "idle_timeout_minutes": 12, "max_tool_calls": 9, "model": None}
    config = parse({"memory": {"context_entry_limit": 10, "introspection": five}})
    assert asdict(config.introspection) == five
    assert config == parse({"recall": {"context_entry_limit": 10}, "introspection": five})
    assert parse({}).introspection == IntrospectionConfig(True, 5, 10, 10, None)
