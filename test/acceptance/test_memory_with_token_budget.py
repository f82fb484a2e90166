"""The memory with a token budget.

Each test is a sentence of the document about the memory with a token budget, on a real memory: its buffer and its
conversation store are a session here, its vector store is documents, its user memory is facts.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.memory import Documents, Model, PersonaMemory
from ovos_persona_memory.records import ContextMessage, ContextRequest, Document, Scope, ToolCall, Turn

from .conftest import Clock, Open

HERE = Scope(session_id="s1")
CALL = Turn("assistant", "", tool_calls=(ToolCall("c1", "lamp", {"on": True}),))
RESULT = Turn("tool", "done", tool_call_id="c1", name="lamp")

DIFFERENT: tuple[tuple[str, str, str], ...] = (
    (
        "Maximum number of tokens to retain in the window. Defaults to 40 000.",
        "`history(max_tokens=…)` and `ContextRequest.max_tokens` have no default; the strategy `token_budget` has one "
        "of 8000 tokens. Without either, a context has the newest five messages.",
        "Deliberately not: a voice assistant's model is small, and a prompt of 40,000 tokens takes it minutes.",
    ),
    (
        "Accepts a Completion dataclass (with .content and .tool_calls attributes) or a plain dict.",
        "`record` takes a `Turn` with `tool_calls`, `restore` also a mapping with the same names, and the memory "
        "plugin an `AgentMessage`.",
        "In other words: these are the messages that OVOS has.",
    ),
    (
        "Accepts a ToolResult dataclass or a plain dict.",
        "`record` takes a `Turn` of the role `tool` with a `tool_call_id`, `restore` also a mapping.",
        "In other words: these are the messages that OVOS has.",
    ),
    (
        "For legacy plain lists the raw list is returned.",
        "`snapshot` always gives `messages` and `summary`.",
        "Deliberately not: one shape is enough for whoever loads it.",
    ),
    (
        "Return a sorted list of all stored conversation identifiers.",
        "`sessions` lists each session with its times, turns and description, the last talked in first.",
        "In other words: the ids are names of sessions, and sorted by name nobody finds the newest.",
    ),
    (
        "In-memory vector store using TF-IDF cosine similarity.",
        "Documents are found by words, by BM25, and by embeddings, by cosine.",
        "Deliberately not: BM25 finds more, and TF-IDF gives the only document of a store a score of zero.",
    ),
    (
        "When provided it is used directly (after L2-normalisation); the TF-IDF computation is skipped.",
        "A given embedding is used as it is, normalised. The words of the text are found all the same.",
        "Deliberately not: a document with an embedding would else be found by no word.",
    ),
    (
        "Uses simple substring matching for search (no vector similarity).",
        "Facts are found by `recall`, by words, and by meaning where there is an embedder.",
        "Deliberately not: a substring of three letters finds almost everything.",
    ),
    (
        "Opt a `@agent()` class into automatic user memory extraction/injection.",
        "`@remember()` on an OPM chat engine, or the plugin `ovos-persona-memory-remember` around one.",
        "In other words: what is decorated is a chat engine (test/unit/opm/test_decorator.py).",
    ),
    (
        "When `inject=True`, relevant memories are prepended to the system prompt before each LLM call.",
        "With `inject=True` what is surely relevant is quoted in the system message, or where `inject_mode` says.",
        "In other words: sure hits alone (test/unit/opm/test_decorator.py).",
    ),
    (
        "When `extract=True`, new facts are extracted from each conversation turn and stored in the UserMemoryStore.",
        "With `extract=True` each exchange is recorded, and the daemon learns from what the person said.",
        "In other words: facts are kept with all others (test/unit/opm/test_decorator.py).",
    ),
    (
        "Must be applied BELOW `@agent()`.",
        "`@remember()` stands alone above the class; without its parentheses it raises an error that says so.",
        "In other words: there is no `@agent()` in OVOS.",
    ),
    (
        "DI token name for UserMemoryStore (None = auto-inject).",
        "A plugin reaches the memory of the daemon on its messagebus; `host` and `port` in its block name another.",
        "In other words: OVOS injects nothing, its parts meet on the bus.",
    ),
    (
        "Number of memories to inject.",
        "`top_k` of the decorator, `recall` in a plugin's block, or the setting `recall.limit`.",
        "In other words: at most so many, and only sure ones (test/unit/opm/test_decorator.py).",
    ),
    (
        "Model for fact extraction (defaults to agent model).",
        "Facts are learned by the memory's own rules, and with the plugin that its setting `models.facts` names.",
        "In other words: the owner of the memory names it, none by default (test/unit/opm/test_decorator.py).",
    ),
)


def say(memory: PersonaMemory, *turns: Turn, scope: Scope = HERE) -> list[str]:
    return memory.record(turns, scope, as_passed=True)


def talk(memory: PersonaMemory, rounds: int, begin: int = 0, scope: Scope = HERE) -> None:
    for number in range(begin, begin + rounds):
        say(memory, Turn("user", f"question {number}"), Turn("assistant", f"answer {number}"), scope=scope)


def texts(messages: Sequence[ContextMessage]) -> list[str]:
    return [message.text for message in messages]


def whole(memory: PersonaMemory) -> list[str]:
    """All messages of the buffer."""
    return texts(memory.snapshot(HERE)["messages"])


def numbered(*numbers: int) -> list[str]:
    return [f"{kind} {number}" for number in numbers for kind in ("question", "answer")]


# the buffer


def test_messages_are_trimmed_to_a_token_budget_when_requested(memory: PersonaMemory) -> None:
    """Stores the ordered message history and automatically trims to fit within a token budget when requested."""
    talk(memory, 5)
    assert texts(memory.history(HERE, None)) == numbered(0, 1, 2, 3, 4)
    assert texts(memory.history(HERE, None, max_tokens=12)) == numbered(3, 4)


def test_tokens_are_a_quarter_of_the_characters(memory: PersonaMemory) -> None:
    """Uses the heuristic `chars / 4 ≈ tokens` when no token-counting transport is available."""
    say(memory, Turn("user", "a" * 40), Turn("assistant", "b" * 39))
    known = memory.context(ContextRequest("c" * 41, HERE, recall=0))
    assert known.tokens == 10 + 10 + 11


def test_the_example_of_the_document(memory: PersonaMemory) -> None:
    """Example: `memory.add_user("Hello, how are you?")`, `memory.add_assistant(completion)`,
    `msgs = memory.messages()`, trimmed to budget."""
    say(memory, Turn("user", "Hello, how are you?"))
    say(memory, Turn("assistant", "Fine."))
    found = memory.history(HERE, None, max_tokens=8000)
    assert [(one.role, one.text) for one in found] == [("user", "Hello, how are you?"), ("assistant", "Fine.")]


def test_a_user_message_is_appended(memory: PersonaMemory) -> None:
    """Append a user message to the buffer."""
    talk(memory, 1)
    say(memory, Turn("user", "and now"))
    assert whole(memory) == [*numbered(0), "and now"]


def test_content_is_plain_text_or_a_list_of_blocks(memory: PersonaMemory) -> None:
    """Plain text string or list of content blocks."""
    blocks: Any = [{"type": "text", "text": "look at this"}, {"type": "text", "text": "please"}]
    say(memory, Turn("user", blocks), Turn("assistant", "nice"))
    [asked, answered] = whole(memory)
    assert "look at this" in asked and "please" in asked
    assert answered == "nice"


def test_an_assistant_completion_is_appended(memory: PersonaMemory) -> None:
    """Append an assistant completion to the buffer."""
    say(memory, Turn("user", "lamp on"), CALL, RESULT)
    say(memory, Turn("assistant", "it is on"))
    found = memory.snapshot(HERE)["messages"]
    assert found[1].tool_calls == CALL.tool_calls
    assert found[-1] == ContextMessage("assistant", "it is on")


def test_a_tool_result_is_appended(memory: PersonaMemory) -> None:
    """Append a tool result message to the buffer."""
    say(memory, Turn("user", "lamp on"), CALL)
    say(memory, RESULT, Turn("assistant", "it is on"))
    assert memory.history(HERE)[2] == ContextMessage("tool", "done", tool_call_id="c1", name="lamp")


def test_a_text_is_stored_as_the_summary(memory: PersonaMemory) -> None:
    """Store text as the conversation summary."""
    talk(memory, 1)
    memory.update_session(HERE, summary="They counted.")
    assert memory.snapshot(HERE)["summary"] == "They counted."
    assert "They counted." in memory.context(ContextRequest("and now", HERE, recall=0)).messages[0].text


SUMMARISED = {"strategy": "summary", "summary_threshold": 6, "window_size": 4, "max_age_s": 1e12}


def summarised(opened: Open) -> PersonaMemory:
    """A memory in which a language model has summarised what left the window."""
    memory = opened(history=SUMMARISED, models={"summary": "model", "quiet_s": 0})
    memory.models["summary"] = Model("model", "chat", lambda asked, lang: "They counted.")
    talk(memory, 5)
    while memory.work():
        pass
    return memory


def test_the_summary_is_set_after_a_call_of_a_language_model(opened: Open) -> None:
    """Called by the runner after a summarisation LLM call completes."""
    assert summarised(opened).snapshot(HERE)["summary"] == "They counted."


def test_the_summary_is_persisted_by_snapshot_and_restore(memory: PersonaMemory) -> None:
    """The summary is persisted via `snapshot()` / `restore()` so resumed sessions carry it forward."""
    talk(memory, 1)
    memory.update_session(HERE, summary="They counted.")
    there = Scope(session_id="resumed")
    memory.restore(memory.snapshot(HERE), there)
    assert memory.snapshot(there) == memory.snapshot(HERE)
    assert "They counted." in memory.context(ContextRequest("and now", there, recall=0)).messages[0].text


def test_messages_to_summarize_gives_the_slice_to_compress(memory: PersonaMemory) -> None:
    """Return the slice of messages that should be compressed."""
    talk(memory, 4)
    assert texts(memory.to_summarise(HERE)) == numbered(0)
    memory.trim(HERE)
    assert memory.to_summarise(HERE) == []


@pytest.mark.parametrize("keep_recent", [0, 2, 5, 8, 20])
def test_it_returns_the_oldest_messages(memory: PersonaMemory, keep_recent: int) -> None:
    """Returns the oldest (total - keep_recent) non-system messages."""
    talk(memory, 4)
    assert texts(memory.to_summarise(HERE, keep_recent)) == numbered(0, 1, 2, 3)[: max(8 - keep_recent, 0)]


def test_system_messages_are_excluded_and_never_dropped(memory: PersonaMemory) -> None:
    """System messages are excluded because they are already managed separately (they are never dropped by `messages()`
    either)."""
    say(memory, Turn("system", "be kind"))
    talk(memory, 4)
    assert "be kind" not in texts(memory.to_summarise(HERE, 2))
    assert texts(memory.history(HERE, None, max_tokens=8)) == ["be kind", *numbered(3)]


def test_six_messages_are_preserved_verbatim_by_default(memory: PersonaMemory) -> None:
    """Number of most-recent non-system messages to preserve verbatim. Defaults to 6 (≈ 3 user/assistant pairs)."""
    talk(memory, 5)
    assert texts(memory.to_summarise(HERE)) == numbered(0, 1)
    assert texts(memory.to_summarise(HERE)) == texts(memory.to_summarise(HERE, keep_recent=6))


def test_trim_to_recent_drops_all_but_the_most_recent(memory: PersonaMemory) -> None:
    """Drop all but the most-recent `keep_recent` non-system messages."""
    say(memory, Turn("system", "be kind"))
    talk(memory, 5)
    assert memory.trim(HERE, keep_recent=4) == 6
    assert whole(memory) == ["be kind", *numbered(3, 4)]


def test_trim_to_recent_keeps_six_by_default(memory: PersonaMemory) -> None:
    """Number of most-recent non-system messages to keep. Defaults to 6."""
    talk(memory, 5)
    memory.trim(HERE)
    assert whole(memory) == numbered(2, 3, 4)


def test_after_a_summary_the_buffer_only_holds_recent_turns(opened: Open) -> None:
    """Called by the runner after the summarisation call so the buffer only holds recent turns while the older context
    lives in `self._summary`."""
    memory = summarised(opened)
    assert whole(memory) == numbered(3, 4)
    assert memory.context(ContextRequest("and now", HERE, recall=0)).messages[0].text.endswith('"They counted."')


def test_messages_gives_the_current_list_trimmed_to_the_window(memory: PersonaMemory) -> None:
    """Return the current message list, trimmed to fit the token window."""
    talk(memory, 3)
    assert texts(memory.history(HERE, None, max_tokens=6)) == numbered(2)
    talk(memory, 1, begin=3)
    assert texts(memory.history(HERE, None, max_tokens=6)) == numbered(3)


def test_the_trim_leaves_the_buffer_as_it_is(memory: PersonaMemory) -> None:
    """The trim is applied in-place on a copy; the internal buffer is NOT modified."""
    talk(memory, 3)
    assert len(memory.history(HERE, None, max_tokens=6)) == 2
    assert whole(memory) == numbered(0, 1, 2)


def test_trim_to_fit_changes_the_buffer(memory: PersonaMemory) -> None:
    """Call `trim_to_fit()` explicitly to mutate the buffer."""
    talk(memory, 3)
    assert memory.trim_to_fit(HERE, 6) == 4
    assert whole(memory) == texts(memory.history(HERE, None)) == numbered(2)


@pytest.mark.parametrize("max_tokens", [6, 9, 15, 30])
def test_messages_gives_an_ordered_list_within_the_token_budget(memory: PersonaMemory, max_tokens: int) -> None:
    """Ordered list of messages within the token budget."""
    talk(memory, 6)
    found = texts(memory.history(HERE, None, max_tokens=max_tokens))
    assert found == numbered(0, 1, 2, 3, 4, 5)[-len(found) :]
    assert 0 < sum(-(-len(text) // 4) for text in found) <= max_tokens


def test_trim_to_fit_drops_the_oldest_until_the_estimate_fits(memory: PersonaMemory) -> None:
    """Drop oldest non-system messages until the token estimate fits."""
    say(memory, Turn("system", "be kind"))
    talk(memory, 4)
    memory.trim_to_fit(HERE, 12)
    left = whole(memory)
    assert left[0] == "be kind"
    assert left[1:] == numbered(0, 1, 2, 3)[-len(left[1:]) :]
    assert sum(-(-len(text) // 4) for text in left) <= 12


def test_unlike_messages_trim_to_fit_mutates_the_buffer(memory: PersonaMemory) -> None:
    """Unlike `messages()` this mutates the internal buffer."""
    talk(memory, 4)
    memory.history(HERE, None, max_tokens=6)
    assert len(whole(memory)) == 8
    memory.trim_to_fit(HERE, 6)
    assert len(whole(memory)) == 2


def test_clear_clears_all_messages(memory: PersonaMemory) -> None:
    """Clear all messages from the buffer."""
    talk(memory, 2)
    memory.update_session(HERE, summary="They counted.")
    memory.clear_session(HERE)
    assert memory.snapshot(HERE) == {"messages": [], "summary": None}
    assert memory.history(HERE) == []


def test_snapshot_gives_a_deep_copy_of_the_state(memory: PersonaMemory) -> None:
    """Return a deep copy of the current memory state."""
    say(memory, Turn("user", "lamp on"), CALL, RESULT, Turn("assistant", "it is on"))
    taken = memory.snapshot(HERE)
    before = deepcopy(taken)
    talk(memory, 1)
    assert taken == before != memory.snapshot(HERE)


def test_a_snapshot_includes_messages_and_summary(memory: PersonaMemory) -> None:
    """The returned object includes both the message list and the conversation summary (if any)."""
    talk(memory, 1)
    assert memory.snapshot(HERE)["summary"] is None
    memory.update_session(HERE, summary="They counted.")
    taken = memory.snapshot(HERE)
    assert (texts(taken["messages"]), taken["summary"]) == (numbered(0), "They counted.")


def test_a_snapshot_is_independent_of_the_buffer(memory: PersonaMemory) -> None:
    """It is independent of the internal buffer — mutations do not affect the memory."""
    say(memory, Turn("user", "lamp on"), CALL, RESULT, Turn("assistant", "it is on"))
    taken = memory.snapshot(HERE)
    before = deepcopy(taken)
    taken["messages"][1].tool_calls[0].arguments["on"] = False
    taken["messages"].clear()
    taken["summary"] = "changed"
    assert memory.snapshot(HERE) == before


def test_a_snapshot_is_a_dict_with_messages_and_summary(memory: PersonaMemory) -> None:
    """The format is a dict with "messages" and "summary" keys so that resumed sessions carry the summary forward."""
    talk(memory, 1)
    assert list(memory.snapshot(HERE)) == ["messages", "summary"]


def test_plain_lists_are_still_accepted_by_restore(memory: PersonaMemory) -> None:
    """Old snapshots that are plain list objects are still accepted by `restore()` for backward compatibility."""
    memory.restore([{"role": "user", "text": "hello"}, {"role": "assistant", "text": "hi"}], HERE)
    assert memory.snapshot(HERE) == {
        "messages": [ContextMessage("user", "hello"), ContextMessage("assistant", "hi")],
        "summary": None,
    }


def test_the_buffer_is_restored_from_a_snapshot(memory: PersonaMemory) -> None:
    """Restore the memory buffer from a snapshot."""
    talk(memory, 2)
    taken = memory.snapshot(HERE)
    memory.clear_session(HERE)
    assert whole(memory) == []
    memory.restore(taken, HERE)
    assert memory.snapshot(HERE) == taken
    assert texts(memory.history(HERE)) == numbered(0, 1)


def test_restore_accepts_both_formats(memory: PersonaMemory) -> None:
    """Accepts both the new dict snapshot format (`{"messages": [...], "summary": ...}`) and the legacy plain list
    format produced by older versions of `snapshot()`."""
    said: list[Any] = [{"role": "user", "text": "hello"}, {"role": "assistant", "text": "hi"}]
    memory.restore({"messages": said, "summary": "They met."}, HERE)
    taken = memory.snapshot(HERE)
    memory.restore(said, Scope(session_id="s2"))
    assert memory.snapshot(Scope(session_id="s2")) == {**taken, "summary": None}
    with pytest.raises(InvalidRequest):
        memory.restore({"summary": "They met."}, HERE)


# the conversation store


def test_full_conversation_histories_are_persisted_and_retrieved(reopened: Open) -> None:
    """Protocol for persisting and retrieving full conversation histories."""
    talk(reopened(), 20)
    assert whole(reopened()) == numbered(*range(20))


@pytest.mark.parametrize("name", ["user-1", "3f0c0e0f-4f6f-4c7a-8b1f-0c5b8a113f0c", "größe 猫 / %_'\""])
def test_a_conversation_is_keyed_by_an_arbitrary_string(memory: PersonaMemory, name: str) -> None:
    """Keyed by an arbitrary string `conversation_id` (typically a session or user identifier)."""
    talk(memory, 1, scope=Scope(session_id=name))
    assert texts(memory.snapshot(Scope(session_id=name))["messages"]) == numbered(0)
    assert [one.session_id for one in memory.sessions()] == [name]
    assert memory.snapshot(Scope(session_id=name[:-1]))["messages"] == []


def test_load_gives_the_message_history(memory: PersonaMemory) -> None:
    """Load the message history for `conversation_id`."""
    talk(memory, 1)
    talk(memory, 1, begin=7, scope=Scope(session_id="s2"))
    assert texts(memory.snapshot(Scope(session_id="s2"))["messages"]) == numbered(7)


def test_load_gives_an_empty_list_where_nothing_is_found(memory: PersonaMemory) -> None:
    """Ordered list of Message objects (empty list when not found)."""
    talk(memory, 2)
    assert whole(memory) == numbered(0, 1)
    assert memory.snapshot(Scope(session_id="unknown"))["messages"] == []


def test_save_persists_the_message_history(reopened: Open) -> None:
    """Persist the message history for `conversation_id`."""
    reopened().restore([ContextMessage("user", "hello"), ContextMessage("assistant", "hi")], HERE)
    assert whole(reopened()) == ["hello", "hi"]


def test_save_overwrites_any_existing_history(memory: PersonaMemory) -> None:
    """Overwrites any existing history for that ID."""
    talk(memory, 3)
    memory.restore([ContextMessage("user", "hello"), ContextMessage("assistant", "hi")], HERE)
    assert whole(memory) == ["hello", "hi"]
    assert memory.recall("question 2", HERE) == []


def test_delete_deletes_the_history(memory: PersonaMemory) -> None:
    """Delete the history for `conversation_id`."""
    talk(memory, 1)
    talk(memory, 1, scope=Scope(session_id="s2"))
    memory.clear_session(HERE)
    assert [one.session_id for one in memory.sessions()] == ["s2"]


def test_deep_copies_are_used_on_load_and_save(memory: PersonaMemory) -> None:
    """Deep copies are used on both `load` and `save` so that the caller cannot inadvertently mutate stored data."""
    arguments: dict[str, Any] = {"on": True}
    call = ContextMessage("assistant", "", tool_calls=(ToolCall("c1", "lamp", arguments),))
    result = ContextMessage("tool", "done", tool_call_id="c1", name="lamp")
    given = [ContextMessage("user", "lamp on"), call, result]
    memory.restore(given, HERE)
    arguments["on"] = False
    given.clear()
    taken = memory.snapshot(HERE)["messages"]
    assert taken[1].tool_calls[0].arguments == {"on": True}
    taken[1].tool_calls[0].arguments["on"] = False
    assert memory.snapshot(HERE)["messages"][1].tool_calls[0].arguments == {"on": True}


def test_an_unknown_conversation_is_empty(memory: PersonaMemory) -> None:
    """Returns an empty list when the conversation does not exist (backward compat — callers that check `if prior:`
    still work on empty lists)."""
    assert not memory.snapshot(HERE)["messages"]
    talk(memory, 1)
    assert memory.snapshot(HERE)["messages"]


def test_save_accepts_both_formats(memory: PersonaMemory) -> None:
    """Accepts both the new dict snapshot format (`{"messages": [...], "summary": ...}`) produced by
    `ShortTermMemory.snapshot()` and the legacy plain `list[Message]` format so that code written against the old API
    continues to work."""
    talk(memory, 1)
    taken = memory.snapshot(HERE)
    for given in (taken, taken["messages"]):
        memory.restore(given, Scope(session_id="s2"))
        assert memory.snapshot(Scope(session_id="s2")) == taken


def test_plain_lists_are_normalised_so_that_load_has_one_shape(memory: PersonaMemory) -> None:
    """Plain lists are automatically normalised to the dict format so that `load()` always returns a consistent
    shape."""
    memory.restore([ContextMessage("user", "hello")], HERE)
    assert memory.snapshot(HERE) == {"messages": [ContextMessage("user", "hello")], "summary": None}


def test_deleting_what_is_not_there_does_nothing(memory: PersonaMemory) -> None:
    """Silently does nothing when the conversation does not exist."""
    talk(memory, 1)
    assert memory.clear_session(Scope(session_id="unknown")) == 0
    assert whole(memory) == numbered(0)


def test_clear_removes_all_stored_conversations(memory: PersonaMemory) -> None:
    """Remove all stored conversation histories."""
    talk(memory, 1)
    talk(memory, 1, scope=Scope(session_id="s2"))
    assert len(memory.sessions()) == 2
    memory.forget(Scope(), everything=True)
    assert memory.sessions() == []


# the vector store


@pytest.fixture
def documents(memory: PersonaMemory) -> Documents:
    return memory.documents(lang="en-US")


def ids(found: Sequence[Document]) -> list[str]:
    return [document.id for document in found]


def test_the_example_of_the_vector_store(documents: Documents) -> None:
    """Example: `doc_id = await store.upsert("The quick brown fox", metadata={"tag": "test"})`, `results = await
    store.search("quick fox", k=3)`."""
    kept = documents.upsert("The quick brown fox", metadata={"tag": "test"})
    [found] = documents.search("quick fox", k=3)
    assert (found.id, found.text, found.metadata) == (kept.id, "The quick brown fox", {"tag": "test"})
    assert found.score > 0


def test_it_needs_no_external_dependencies(opened: Open) -> None:
    """Suitable for development and testing; no external dependencies required."""
    found = opened().documents()
    found.upsert("a cat", "d")
    assert ids(found.search("cat")) == ["d"]


def test_upsert_inserts_or_updates_a_document(documents: Documents) -> None:
    """Insert or update a document."""
    documents.upsert("a cat", "d")
    documents.upsert("a dog", "d")
    assert [one.text for one in documents.list()] == ["a dog"]
    assert documents.search("cat") == []
    assert ids(documents.search("dog")) == ["d"]


def test_a_uuid4_is_made_where_no_id_is_given(documents: Documents) -> None:
    """Optional stable identifier. A UUID4 is generated when None."""
    assert documents.upsert("a cat", "d").id == "d"
    assert uuid.UUID(documents.upsert("a cat").id).version == 4


def test_metadata_are_an_optional_dict(documents: Documents) -> None:
    """Optional key/value metadata dict."""
    assert documents.upsert("a cat", "d").metadata == {}
    documents.upsert("a cat", "d", {"tag": "test", "stars": [1, None]})
    found = documents.get("d")
    assert found is not None and found.metadata == {"tag": "test", "stars": [1, None]}


def test_a_precomputed_embedding_may_be_given(documents: Documents) -> None:
    """Pre-computed embedding vector as a list of floats."""
    documents.upsert("zebra", "z", embedding=[3.0, 0.0])
    documents.upsert("horse", "h", embedding=[0.3, 0.4])
    near = documents.search("", embedding=[500.0, 0.0])
    assert [(one.id, round(one.score, 3)) for one in near] == [("z", 1.0), ("h", 0.6)]


@pytest.mark.parametrize("embedding", [[], [0.0, 0.0], [1.0], [float("nan"), 1.0], [[1.0, 2.0]], ["a", "b"]])
def test_an_embedding_has_to_be_dense_and_compatible(documents: Documents, embedding: Any) -> None:
    """Must be dense and compatible with the cosine-similarity computation."""
    documents.upsert("zebra", "z", embedding=[1.0, 0.0])
    with pytest.raises(InvalidRequest):
        documents.upsert("horse", "h", embedding=embedding)
    assert ids(documents.list()) == ["z"]


def test_upsert_gives_the_documents_identifier(documents: Documents) -> None:
    """Returns: the document's identifier."""
    made = documents.upsert("a cat").id
    found = documents.get(made)
    assert found is not None and found.text == "a cat"


def test_search_finds_documents_semantically_similar(memory: PersonaMemory) -> None:
    """Search for documents semantically similar to query."""

    def embed(given: list[str]) -> Any:
        animals = ("cat", "kitten", "feline")
        return np.array([[float(any(word in text for word in animals)), 0.1] for text in given], np.float32)

    documents = memory.documents(lang="en-US", embed=embed)
    documents.upsert("my kitten sleeps", "cat")
    documents.upsert("the bins go out", "bins")
    assert ids(documents.search("feline"))[0] == "cat"


def test_k_is_the_maximum_number_of_results(documents: Documents) -> None:
    """Maximum number of results to return."""
    for number in range(7):
        documents.upsert(f"a cat {number}", str(number))
    assert [len(documents.search("cat", k)) for k in (0, 1, 3, 10)] == [0, 1, 3, 7]
    assert len(documents.search("cat")) == 5


def test_only_documents_with_all_specified_pairs_are_returned(documents: Documents) -> None:
    """Only documents whose metadata contains all specified key/value pairs are returned."""
    for name, metadata in (("a", {"tag": "x", "n": 1}), ("b", {"tag": "x", "n": 2}), ("c", {"n": 1})):
        documents.upsert("a cat", name, metadata)
    assert sorted(ids(documents.search("cat", filter={"tag": "x"}))) == ["a", "b"]
    assert ids(documents.search("cat", filter={"tag": "x", "n": 1})) == ["a"]
    assert documents.search("cat", filter={"tag": "y"}) == []


def test_results_come_by_descending_similarity(documents: Documents) -> None:
    """Up to k results ordered by descending cosine similarity."""
    for name, embedding in (("far", [0.1, 1.0]), ("near", [1.0, 0.1]), ("between", [1.0, 1.0])):
        documents.upsert(name, name, embedding=embedding)
    found = documents.search("", embedding=[1.0, 0.0])
    assert ids(found) == ["near", "between", "far"]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_get_retrieves_a_document_by_its_identifier(documents: Documents) -> None:
    """Retrieve a document by its identifier."""
    kept = documents.upsert("a cat", "d", {"tag": "test"})
    assert documents.get("d") == kept


def test_get_gives_none_when_not_found(documents: Documents) -> None:
    """The MemoryResult, or None when not found."""
    documents.upsert("a cat", "d")
    assert documents.get("e") is None
    assert documents.get("d") is not None


def test_delete_deletes_documents_by_their_identifiers(documents: Documents) -> None:
    """Delete documents by their identifiers."""
    for name in "abc":
        documents.upsert("a cat", name)
    documents.delete(["a", "c"])
    assert ids(documents.search("cat")) == ["b"]


def test_clear_removes_all_documents(documents: Documents) -> None:
    """Remove all documents from the store."""
    for name in "abc":
        documents.upsert("a cat", name)
    documents.clear()
    assert documents.search("cat") == documents.list() == []


# facts about a user


def told(memory: PersonaMemory, text: str, scope: Scope = HERE) -> None:
    memory.record([Turn("user", text, lang="en-US"), Turn("assistant", "I see.")], scope)


def test_a_fact_about_a_user_is_persisted(reopened: Open) -> None:
    """A single persisted fact about a user."""
    told(reopened(), "my cat is called Bob")
    [fact] = reopened().facts.list()
    assert (fact.user_id, fact.slot, fact.value, fact.session_id) == ("household", "pet", "Bob", "s1")


def test_facts_have_a_confidence_that_decays_if_not_reinforced(opened: Open, clock: Clock) -> None:
    """Facts are stored with a confidence score [0.0-1.0] that can decay over time if not reinforced."""
    memory = opened(facts={"half_life_d": 10})
    told(memory, "my favourite food is pizza")
    told(memory, "my favourite colour is blue")

    def confidence(value: str) -> float:
        return next(fact.confidence for fact in memory.facts.list() if value in fact.text)

    fresh = confidence("pizza")
    assert 0.0 < fresh <= 1.0
    clock.now += 10 * 86400
    told(memory, "my favourite food is pizza")
    assert confidence("blue") == pytest.approx(fresh / 2, abs=0.01)
    assert confidence("pizza") > 1.5 * confidence("blue")


def test_facts_are_kept_for_each_user(memory: PersonaMemory) -> None:
    """Protocol for user-level persistent memory stores."""
    told(memory, "my name is Ann", Scope(session_id="s1", user_id="ann"))
    told(memory, "my name is Ben", Scope(session_id="s1", user_id="ben"))
    found = {user: [fact.value for fact in memory.facts.list(Scope(user_id=user))] for user in ("ann", "ben", "cem")}
    assert found == {"ann": ["Ann"], "ben": ["Ben"], "cem": []}


def test_facts_may_be_kept_in_process(opened: Open, backend: str) -> None:
    """In-process `UserMemoryStore` for testing and development."""
    memory = opened()
    told(memory, "my name is Ann")
    assert [fact.value for fact in memory.facts.list()] == ["Ann"]
    assert memory.status()["backend"] == backend
