"""The memory manager.

Each test is a sentence of the document about the memory manager, on a real memory. What needs a server runs
against a real one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.servers.chroma import ChromaServer
from support.servers.redis import RedisServer

from ovos_persona_memory.config import parse, settled
from ovos_persona_memory.conversation import strategies
from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.memory import Model, PersonaMemory
from ovos_persona_memory.records import ContextMessage, ContextRequest, Scope, ToolCall, Turn
from ovos_persona_memory.search import vector_indexer
from ovos_persona_memory.search.embedder import Embedder, Kind
from ovos_persona_memory.stores.base.vector_math import Floats, normalised

from .conftest import Clock, Open

HERE = Scope(session_id="s1", persona_id="Ada")
THERE = Scope(session_id="s2", persona_id="Ada")
OpenKinds = Callable[..., PersonaMemory]

DIFFERENT: tuple[tuple[str, str, str], ...] = (
    (
        "`conversational.backend`, default `memory`: storage backend for chat history.",
        "Without `kinds` everything is in one SQLite file. `memory` is another name for `inmemory`.",
        "Deliberately not: a memory that is lost on restart is none.",
    ),
    (
        "`conversational.strategy`, default `sliding_window`: retention strategy.",
        "`history.strategy` has no default; without one a persona is handed the newest five messages, as by "
        "ovos-persona.",
        "Deliberately not: a persona that changes its memory plugin is handed the same history.",
    ),
    (
        "`semantic.collection`, default `{agent_name}_memory`: vector store collection name.",
        "`kinds.semantic.collection`; one collection holds what belongs to all personas, each record with its persona.",
        "Deliberately not: what a person told no persona in particular is known to each.",
    ),
    (
        "`semantic.top_k`, default 5: number of similar results to retrieve.",
        "`kinds.semantic.top_k`, and without it `recall.limit` of 3.",
        "Deliberately not: more than three quotations mislead a small model.",
    ),
    (
        "`async def build_context(agent_name, session_id, query) -> MemoryContext`.",
        "`context(ContextRequest(utterance, scope))` gives `messages`, `hits` and `tokens`; the scope names the "
        "persona and the session.",
        "In other words: the messages are ready for a model, with what was recalled quoted in them.",
    ),
    (
        "Append user and assistant messages to conversational memory, embed the exchange and store the vector.",
        "Each turn gets a vector of its own, in the background, after the commit.",
        "Deliberately not: nobody waits for an embedder, and a hit is what one of the two said.",
    ),
)


class Animals:
    """An embedder that knows which words name the same animal."""

    kind: Kind = "sentence"
    name = "animals"
    dim = 3

    def embed(self, texts: Sequence[str]) -> Floats:
        groups = (("cat", "kitten", "feline"), ("dog", "puppy", "canine"))
        rows = [[*(float(any(word in text for word in group)) for group in groups), 0.05] for text in texts]
        return normalised(np.array(rows, dtype=np.float32))


@pytest.fixture
def kinds(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenKinds]:
    """Opens a memory with these kinds, after closing the one before: ``kinds(facts={"backend": "sqlite"})``."""
    for name in ("QUIET_S", "YIELD_S", "AGAIN_S"):
        monkeypatch.setattr(vector_indexer, name, 0.001)

    def opener(_: str) -> Embedder:
        return Animals()

    with ExitStack() as stack:

        def open_them(more: dict[str, Any] | None = None, **chosen: dict[str, Any]) -> PersonaMemory:
            stack.pop_all().close()
            section = {"data_dir": str(tmp_path / "kinds"), "kinds": chosen, "recall": {"embedder": "animals"}}
            config = parse({**section, **(more or {})})
            return stack.enter_context(PersonaMemory.open(config=config, clock=clock, opener=opener))

        yield open_them


EVERY = {name: {"backend": "memory"} for name in ("conversational", "semantic", "episodic", "facts")}


def say(memory: PersonaMemory, question: str, answer: str, scope: Scope = HERE, **more: Any) -> list[str]:
    turns = [Turn("user", question, lang="en-US"), Turn("assistant", answer, lang="en-US")]
    return memory.record(turns, scope, **more)


def talk(memory: PersonaMemory, rounds: int, begin: int = 0) -> None:
    for number in range(begin, begin + rounds):
        say(memory, f"question {number}", f"answer {number}")


def texts(messages: Sequence[ContextMessage]) -> list[str]:
    return [message.text for message in messages]


def handed(memory: PersonaMemory, utterance: str = "and now", **limits: Any) -> list[str]:
    """The history that a persona is handed."""
    messages = memory.context(ContextRequest(utterance, HERE, recall=0, lang="en-US", **limits)).messages
    return [one.text for one in messages if one.role in ("user", "assistant")][:-1]


def until_embedded(memory: PersonaMemory) -> None:
    pause = threading.Event()
    for _ in range(500):
        if not memory.status()["index_lag"]:
            return
        pause.wait(0.01)
    raise AssertionError("texts still wait for their vectors")


# three kinds of memory


def test_three_types_of_memory_each_with_a_backend_of_its_own(kinds: OpenKinds, tmp_path: Path) -> None:
    """The Memory Manager provides agents with persistent context across conversations through three distinct memory
    types, each with pluggable backends and configurable retention strategies."""
    chosen: dict[str, dict[str, Any]] = {
        name: {"backend": "sqlite", "connection": str(tmp_path / name)}
        for name in ("conversational", "semantic", "episodic")
    }
    chosen["conversational"]["ttl"] = 86400
    memory = kinds(**chosen)
    say(memory, "my cat is called Bob", "a fine name", metadata={"tokens": 3})
    memory.documents().upsert("a castle", "d")
    memory = kinds(**chosen)
    assert texts(memory.history(HERE)) == ["my cat is called Bob", "a fine name"]
    assert memory.documents().get("d") and memory.episodes(HERE, {"turn_completed"})
    held = {name: (tmp_path / name / "memory.db").read_bytes() for name in chosen}
    assert b"my cat is called Bob" in held["conversational"] and b"my cat" not in held["episodic"]
    assert b"a castle" in held["semantic"] and b"a castle" not in held["conversational"]


def test_conversational_memory_is_the_turns_of_the_session_in_sequence(memory: PersonaMemory) -> None:
    """Conversational: user and assistant message turns for the current session; sequential (recent history)."""
    talk(memory, 3)
    say(memory, "other", "thing", THERE)
    assert texts(memory.history(HERE, 4)) == ["question 1", "answer 1", "question 2", "answer 2"]


def test_semantic_memory_is_found_by_similarity(kinds: OpenKinds) -> None:
    """Semantic: vector embeddings of past interactions and documents; similarity search (nearest neighbor)."""
    memory = kinds(**EVERY)
    say(memory, "my kitten sleeps all day", "how sweet")
    say(memory, "the bins go out on Tuesday", "noted")
    memory.documents().upsert("how to feed a puppy", "puppy")
    until_embedded(memory)
    assert memory.recall("feline", HERE, lang="en-US")[0].text == "my kitten sleeps all day"
    assert [one.id for one in memory.documents().search("canine")] == ["puppy"]


def test_relevant_past_information_is_recalled_across_sessions(memory: PersonaMemory) -> None:
    """Semantic: recall relevant past information across sessions."""
    say(memory, "my cat is called Bob", "a fine name", THERE)
    known = memory.context(ContextRequest("what is my cat called", HERE, lang="en-US"))
    assert "my cat is called Bob" in known.messages[0].text
    assert known.messages[-1].text == "what is my cat called"


def call_tool(memory: PersonaMemory, name: str, scope: Scope = HERE) -> None:
    call = Turn("assistant", "", tool_calls=(ToolCall("c1", name, {"on": True}),))
    result = Turn("tool", "done", tool_call_id="c1", name=name)
    turns = [Turn("user", f"use the {name}"), call, result, Turn("assistant", "done")]
    memory.record(turns, scope, as_passed=True)


def test_episodic_memory_is_event_logs_found_by_type_time_and_agent(memory: PersonaMemory, clock: Clock) -> None:
    """Episodic: structured event logs (tool calls, decisions, outcomes); filtered query (by type, time, agent)."""
    call_tool(memory, "lamp")
    noon = clock.now + 1800
    clock.now += 3600
    say(memory, "hello", "hi", metadata={"tokens": 3})
    call_tool(memory, "fan", Scope(session_id="s1", persona_id="Bob"))
    [lamp] = memory.episodes(HERE, {"tool_call"})
    assert (lamp.name, lamp.detail["arguments"]) == ("lamp", {"on": True})
    assert [one.name for one in memory.episodes(kinds={"tool_call"})] == ["fan", "lamp"]
    assert [(one.kind, one.outcome) for one in memory.episodes(HERE, since=noon)] == [("turn_completed", "handled")]
    assert [one.name for one in memory.episodes(until=noon)] == ["lamp"]


def test_episodic_memory_tells_what_the_agent_did_and_why(memory: PersonaMemory) -> None:
    """Episodic: track what the agent did and why, audit trail."""
    call_tool(memory, "lamp")
    ids = say(memory, "is it on", "it is", metadata={"tools": ["lamp"]})
    completed, called = memory.episodes(HERE, {"tool_call", "turn_completed"}, words=True)
    assert (completed.turn_id, completed.said, completed.detail) == (ids[0], "is it on", {"tools": ["lamp"]})
    told = memory.turn(called.turn_id or "", HERE)
    assert told is not None and [one.name for one in told.tool_calls] == [called.name] == ["lamp"]


# backends


def test_the_backend_memory_is_lost_on_restart(kinds: OpenKinds) -> None:
    """`memory`: dictionary-based, lost on restart."""
    memory = kinds(**EVERY)
    say(memory, "hello", "hi")
    call_tool(memory, "lamp")
    assert memory.history(HERE) and memory.episodes(HERE)
    memory = kinds(**EVERY)
    assert memory.history(HERE) == [] and not memory.episodes(HERE)


@pytest.mark.full
def test_the_backend_redis_persists_is_shared_and_expires(kinds: OpenKinds, redis_server: RedisServer) -> None:
    """`redis`: persistent across restarts, TTL support, shared across instances."""
    chosen = {**EVERY, "conversational": {"backend": "redis", "connection": redis_server.url, "ttl": 86400}}
    say(kinds(**chosen), "hello", "hi")
    assert texts(kinds(**chosen).history(HERE)) == ["hello", "hi"]
    with redis_server.client() as client:
        left = [client.ttl(key) for key in client.scan_iter()]
    assert any(0 < seconds <= 86400 for seconds in left)
    chosen["semantic"] = {"backend": "sqlite"}  # another device
    assert texts(kinds(**chosen).history(HERE)) == ["hello", "hi"]


@pytest.mark.full
def test_the_backend_postgres_is_durable(kinds: OpenKinds, postgres: Callable[[], str]) -> None:
    """`postgres`: full durability, SQL queryable, suitable for production."""
    there = {"backend": "postgres", "connection": postgres()}
    chosen = {**EVERY, "conversational": there, "episodic": there}
    memory = kinds(**chosen)
    say(memory, "hello", "hi")
    call_tool(memory, "lamp")
    memory = kinds(**chosen)
    assert texts(memory.history(HERE, None))[:2] == ["hello", "hi"]
    assert [one.name for one in memory.episodes(HERE, {"tool_call"})] == ["lamp"]


def test_the_backend_memory_compares_by_cosine_and_keeps_nothing(kinds: OpenKinds) -> None:
    """`memory`: simple cosine similarity, no persistence."""
    memory = kinds(**EVERY)
    memory.documents().upsert("zebra", "z", embedding=[3.0, 0.0])
    memory.documents().upsert("horse", "h", embedding=[0.3, 0.4])
    found = memory.documents().search("", embedding=[1.0, 0.0])
    assert [(one.id, round(one.score, 3)) for one in found] == [("z", 1.0), ("h", 0.6)]
    assert kinds(**EVERY).documents().list() == []


@pytest.mark.full
@pytest.mark.parametrize("of_its_own", [True, False])
def test_the_backend_chroma_keeps_vectors(
    kinds: OpenKinds, chroma_server: ChromaServer, tmp_path: Path, of_its_own: bool
) -> None:
    """`chroma`: embedded vector database, file-based persistence."""
    where = str(tmp_path / "vectors") if of_its_own else chroma_server.url
    chosen = {name: {"backend": "sqlite"} for name in EVERY}
    chosen["semantic"] = {"backend": "chroma", "connection": where, "collection": "agent_memory"}
    memory = kinds(**chosen)
    say(memory, "my kitten sleeps all day", "how sweet")
    until_embedded(memory)
    memory = kinds(**chosen)
    until_embedded(memory)
    assert memory.recall("feline", HERE, lang="en-US")[0].text == "my kitten sleeps all day"


@pytest.mark.full
def test_the_backend_pgvector_keeps_vectors(kinds: OpenKinds, postgres: Callable[[], str]) -> None:
    """`pgvector`: production vector store with SQL integration."""
    url = postgres()
    chosen: dict[str, Any] = {name: {"backend": "postgres", "connection": url} for name in EVERY}
    chosen["semantic"]["backend"] = "pgvector"
    memory = kinds(**chosen)
    say(memory, "my kitten sleeps all day", "how sweet")
    until_embedded(memory)
    assert kinds(**chosen).recall("feline", HERE, lang="en-US")[0].text == "my kitten sleeps all day"


def test_the_backend_memory_keeps_a_list_of_events_until_the_end(kinds: OpenKinds) -> None:
    """`memory`: list-based, lost on restart."""
    chosen = {**EVERY, "conversational": {"backend": "sqlite"}}
    memory = kinds(**chosen)
    call_tool(memory, "lamp")
    assert [one.name for one in memory.episodes(HERE)] == ["lamp"]
    memory = kinds(**chosen)
    assert memory.history(HERE) and not memory.episodes(HERE)


# strategies


def test_sliding_window_keeps_only_the_last_turns(opened: Open) -> None:
    """`sliding_window`: keep only the last N turns. Oldest turns are dropped."""
    memory = opened(history={"strategy": "sliding_window", "window_size": 4})
    talk(memory, 5)
    assert handed(memory) == ["question 3", "answer 3", "question 4", "answer 4"]


SUMMARY = {"strategy": "summary", "summary_threshold": 6, "window_size": 4}


def test_summary_compresses_older_turns_by_the_language_model(opened: Open) -> None:
    """`summary`: when history exceeds the threshold, compress older turns into a summary using the LLM."""
    memory = opened(history=SUMMARY, models={"summary": "model", "quiet_s": 0})
    asked: list[str] = []

    def answer(messages: Sequence[ContextMessage], lang: str | None) -> str:
        asked.extend(texts(messages))
        return "They counted."

    memory.models["summary"] = Model("model", "chat", answer)
    talk(memory, 3)
    assert not memory.work() and not asked
    talk(memory, 2, begin=3)
    while memory.work():
        pass
    assert memory.snapshot(HERE)["summary"] == "They counted."
    assert "question 2" in asked[-1] and "question 3" not in asked[-1]
    assert handed(memory) == ["question 3", "answer 3", "question 4", "answer 4"]


def test_token_budget_keeps_as_many_recent_turns_as_fit(opened: Open) -> None:
    """`token_budget`: keep as many recent turns as fit within a token limit."""
    memory = opened(history={"strategy": "token_budget", "max_tokens": 14})
    talk(memory, 5)
    assert handed(memory) == ["question 3", "answer 3", "question 4", "answer 4"]


def test_token_budget_counts_tokens_and_drops_the_oldest_first(opened: Open) -> None:
    """Counts tokens and drops oldest turns first."""
    memory = opened(history={"strategy": "token_budget", "max_tokens": 24})
    say(memory, "a" * 40, "short")
    say(memory, "hello", "hi")
    assert handed(memory) == ["a" * 40, "short", "hello", "hi"]
    say(memory, "b" * 40, "b")
    assert handed(memory) == ["hello", "hi", "b" * 40, "b"]


@pytest.mark.parametrize("strategy", ["sliding_window", "summary", "token_budget"])
def test_strategies_trim_what_a_model_is_handed(opened: Open, strategy: str) -> None:
    """Strategies control how conversational memory is trimmed to fit within the model's context window."""
    memory = opened(history={"strategy": strategy, "window_size": 4, "summary_threshold": 6, "max_tokens": 100})
    talk(memory, 40)
    memory.context(ContextRequest("and now", HERE, recall=0))
    while memory.work():
        pass
    found = handed(memory)
    assert 0 < len(found) < 40 and found[-1] == "answer 39"
    assert memory.status()["counts"]["turns"] == 80


def test_the_numbers_of_strategies_have_the_documents_defaults() -> None:
    """`window_size`, default 20; `summary_threshold`, default 30; `max_tokens`, default 8000."""
    history = parse({"history": {"strategy": "token_budget"}}).history
    assert (history.window_size, history.summary_threshold, history.max_tokens) == (20, 30, 8000)
    named = strategies.named("summary", None, None, None)
    assert (named.window_size, named.summary_threshold, named.max_tokens) == (20, 30, 8000)


EXAMPLE = {
    "history": {"strategy": "token_budget", "max_tokens": 8000},
    "kinds": {
        "conversational": {"backend": "redis", "connection": "redis://localhost:6379/0", "ttl": 86400},
        "semantic": {
            "backend": "chroma",
            "connection": "http://localhost:8000",
            "collection": "my_agent",
            "top_k": 5,
        },
        "episodic": {"backend": "postgres", "connection": "postgresql://user:pass@localhost:5432/memory"},
    },
}


def test_the_full_configuration_example_is_understood() -> None:
    """Full memory configuration example: conversational in Redis with a token budget and a `ttl`, semantic in Chroma
    with a collection and `top_k`, episodic in PostgreSQL."""
    config = settled(parse(EXAMPLE))
    kinds = {name: (kind.backend, kind.collection) for name, kind in config.kinds.chosen.items()}
    assert kinds == {
        "conversational": ("redis", None),
        "semantic": ("chroma", "my_agent"),
        "episodic": ("postgres", None),
    }
    assert (config.recall.limit, config.retention.turns_days, config.history.max_tokens) == (5, 1.0, 8000)


# build_context


def test_the_history_of_the_session_is_loaded(memory: PersonaMemory) -> None:
    """Load conversational history for the session from the backend."""
    talk(memory, 2)
    say(memory, "other", "thing", THERE)
    assert handed(memory) == ["question 0", "answer 0", "question 1", "answer 1"]


@pytest.mark.parametrize(
    ("strategy", "begin"),
    [({"strategy": "sliding_window", "max_history": 2}, 4), ({"strategy": "token_budget", "max_tokens": 12}, 3)],
)
def test_the_configured_strategy_trims_the_history(memory: PersonaMemory, strategy: dict[str, Any], begin: int) -> None:
    """Apply the configured strategy (sliding_window, summary, or token_budget) to trim history."""
    talk(memory, 5)
    assert handed(memory, **strategy)[0] == f"question {begin}"


def test_with_semantic_memory_the_most_similar_entries_are_retrieved(kinds: OpenKinds) -> None:
    """If semantic memory is enabled, embed the current query and retrieve top-k similar past entries."""
    memory = kinds(**{**EVERY, "semantic": {"backend": "memory", "top_k": 1}})
    for number in range(3):
        say(memory, f"my kitten is called Bob {number}", "how sweet", THERE)
    until_embedded(memory)
    known = memory.context(ContextRequest("what is my kitten called", HERE, lang="en-US"))
    assert len(known.hits) == 1 and "kitten" in known.hits[0].text
    [near] = memory.recall("feline", Scope(), k=1, lang="en-US")
    assert "kitten" in near.text


def test_with_episodic_memory_recent_events_are_retrieved(kinds: OpenKinds) -> None:
    """If episodic memory is enabled, retrieve recent events relevant to the agent/session."""
    memory = kinds(**{**EVERY, "episodic": {"backend": "memory", "top_k": 1}})
    call_tool(memory, "lamp")
    call_tool(memory, "fan", Scope(session_id="s3", persona_id="Ada"))
    known = memory.context(ContextRequest("and now", HERE, lang="en-US"))
    assert [hit.kind for hit in known.hits] == ["episode"]
    assert "lamp" in known.messages[0].text and "fan" not in known.messages[0].text


def test_the_context_combines_all_three(kinds: OpenKinds) -> None:
    """Return a `MemoryContext` combining all three."""
    memory = kinds(**{**EVERY, "episodic": {"backend": "memory", "top_k": 1}})
    say(memory, "my cat is called Bob", "a fine name", THERE)
    call_tool(memory, "lamp")
    known = memory.context(ContextRequest("what is my cat called", HERE, lang="en-US"))
    assert {"Bob" in known.messages[0].text, "lamp" in known.messages[0].text} == {True}
    assert texts(known.messages)[1:] and known.messages[1].text == "use the lamp"
    assert known.messages[-1].text == "what is my cat called"


def test_its_history_is_trimmed_turns(memory: PersonaMemory) -> None:
    """`history`: trimmed conversational turns."""
    talk(memory, 5)
    known = memory.context(ContextRequest("and now", HERE, max_history=2, recall=0))
    assert [(one.role, one.text) for one in known.messages[:2]] == [("user", "question 4"), ("assistant", "answer 4")]


def test_its_results_are_texts_with_a_score(memory: PersonaMemory) -> None:
    """`semantic_results`: relevant past interactions (text + similarity score)."""
    say(memory, "my cat is called Bob", "a fine name", THERE)
    [hit, *_] = memory.context(ContextRequest("what is my cat called", HERE, lang="en-US")).hits
    assert "my cat is called Bob" in hit.text and hit.score > 0


def test_its_episodes_are_recent_events(opened: Open) -> None:
    """`episodes`: recent event log entries."""
    memory = opened(recall={"embedder": "none", "episodes": 2, "limit": 3})
    for name in ("lamp", "fan", "door"):
        call_tool(memory, name)
    hits = memory.context(ContextRequest("and now", HERE, lang="en-US")).hits
    assert [next(name for name in ("lamp", "fan", "door") if name in hit.text) for hit in hits] in (
        ["door", "fan"], ["fan", "door"],
    )  # fmt: skip


# persist_turn and clear_history


def test_a_completed_exchange_is_stored_in_all_configured_backends(kinds: OpenKinds) -> None:
    """Stores a completed user/assistant exchange in all configured memory backends."""
    memory = kinds(**EVERY)
    say(memory, "my kitten sleeps all day", "how sweet", metadata={"tokens": 12})
    until_embedded(memory)
    assert texts(memory.history(HERE)) == ["my kitten sleeps all day", "how sweet"]
    assert memory.recall("feline", HERE, lang="en-US")
    assert memory.episodes(HERE, {"turn_completed"})


def test_user_and_assistant_messages_are_appended(memory: PersonaMemory) -> None:
    """Append user and assistant messages to conversational memory."""
    talk(memory, 1)
    say(memory, "hello", "hi")
    assert [(one.role, one.text) for one in memory.history(HERE)][2:] == [("user", "hello"), ("assistant", "hi")]


def test_the_exchange_gets_vectors(kinds: OpenKinds) -> None:
    """If semantic memory is enabled, embed the exchange and store the vector."""
    memory = kinds(**EVERY)
    say(memory, "my kitten sleeps all day", "your puppy, too?")
    until_embedded(memory)
    assert memory.recall("feline", HERE, lang="en-US")[0].text == "my kitten sleeps all day"
    assert memory.recall("canine", HERE, lang="en-US")[0].text == "your puppy, too?"


def test_a_turn_completed_event_is_logged_with_metadata(memory: PersonaMemory) -> None:
    """If episodic memory is enabled, log a `turn_completed` event with metadata (tokens used, tools called,
    latency)."""
    ids = say(memory, "hello", "hi", metadata={"tokens": 12, "tools": ["lamp"], "latency_ms": 840, "model": "small"})
    [event] = memory.episodes(HERE, {"turn_completed"})
    assert (event.turn_id, event.latency_ms) == (ids[0], 840)
    assert event.detail == {"tokens": 12, "tools": ["lamp"], "model": "small"}


def test_clear_history_deletes_all_history_of_a_session(memory: PersonaMemory) -> None:
    """Delete all conversational history for a session."""
    talk(memory, 30)
    say(memory, "other", "thing", THERE)
    assert memory.clear_session(HERE) == 60
    assert memory.history(HERE) == []
    assert texts(memory.history(THERE)) == ["other", "thing"]


def test_semantic_memory_is_off_where_it_is_omitted(kinds: OpenKinds) -> None:
    """`semantic.backend`: backend for vector memory. Omit to disable semantic memory."""
    memory = kinds(conversational={"backend": "memory"})
    say(memory, "my kitten sleeps all day", "how sweet")
    assert memory.recall("feline", HERE, lang="en-US") == []
    with pytest.raises(PersonaMemoryError):
        memory.documents().upsert("a castle", "d")
    memory = kinds(conversational={"backend": "memory"}, semantic={"backend": "memory"})
    say(memory, "my kitten sleeps all day", "how sweet")
    until_embedded(memory)
    assert memory.recall("feline", HERE, lang="en-US") and memory.documents().upsert("a castle", "d")


def test_episodic_memory_is_off_where_it_is_omitted(kinds: OpenKinds) -> None:
    """`episodic.backend`: backend for event logs. Omit to disable episodic memory."""
    memory = kinds(conversational={"backend": "memory"})
    call_tool(memory, "lamp")
    assert not memory.episodes(HERE) and memory.history(HERE)
    memory = kinds(conversational={"backend": "memory"}, episodic={"backend": "memory"})
    call_tool(memory, "lamp")
    assert memory.episodes(HERE)
