"""The verbs: the same in this process, through the owner's door and over the bus."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from support.servers.bus import Wire
from support.servers.ports import free_port

from ovos_persona_memory.errors import CapturePaused, InvalidRequest, NotAllowed, SecretRefused, UnknownEntry
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import (
    Capture,
    Context,
    ContextMessage,
    ContextRequest,
    Entry,
    Hit,
    Scope,
    Session,
    Status,
    ToolCall,
    Turn,
)

from .conftest import Address, Daemon, running_bus, wait_until, write_settings

Memory = PersonaMemory | MemoryClient
HERE = Scope(session_id="s1")
TURN_VERBS = ["record", "history", "turn", "sessions", "clear_session", "recall", "context"]
MEMORY_VERBS = ["remember", "get", "list", "update", "forget", "capture", "status"]


class Served(Daemon):
    """A daemon that knows where its bus is."""

    def __init__(self, home: Path, data: Path, address: Address) -> None:
        self.address = address
        super().__init__(home, data, address)


@contextmanager
def served(home: Path, assistant: dict[str, Any] | None = None, **settings: Any) -> Iterator[Served]:
    """A daemon on a bus of its own, so that nobody else answers; ``assistant``: its settings of others."""
    write_settings(home, persona_memory={"announce": False, **settings}, **(assistant or {}))
    address = ("127.0.0.1", free_port())
    with running_bus(home / "bus", address[1]):
        process = Served(home, home / "data", address)
        try:
            wait_until(process.is_ready, "the start of the daemon")
            yield process
        finally:
            process.end()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The daemon behind both doors."""
    with served(tmp_path_factory.mktemp("verbs")) as daemon:
        yield daemon


@pytest.fixture
def emptied(running: Served) -> Served:
    """The same, with nothing in it and nothing switched off."""
    with MemoryClient.over_door(running.data) as owner:
        for session in (False, True):
            owner.capture(HERE, write=True, read=True, session=session)
        owner.forget(Scope.everyone(), everything=True)
        assert not any(number for name, number in owner.status()["counts"].items() if name in ("turns", "entries"))
    return running


@pytest.fixture(params=["in this process", "through the owner's door", "over the bus"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """An empty memory, reached in one of three ways."""
    with ExitStack() as stack:
        if request.param == "in this process":
            yield stack.enter_context(PersonaMemory.open(tmp_path / "data"))
        elif request.param == "over the bus":
            host, port = request.getfixturevalue("emptied").address
            yield stack.enter_context(MemoryClient.over_bus(host=host, port=port))
        else:
            yield stack.enter_context(MemoryClient.over_door(request.getfixturevalue("emptied").data))


def exchange(question: str, answer: str, at: float | None = None) -> list[Turn]:
    return [Turn("user", question, at=at), Turn("assistant", answer, at=at)]


def texts(messages: list[ContextMessage]) -> list[str]:
    return [message.text for message in messages]


@pytest.mark.parametrize("verb", TURN_VERBS + MEMORY_VERBS)
def test_a_verb_takes_the_same_parameters_everywhere(verb: str) -> None:
    here, there = (inspect.signature(getattr(owner, verb)).parameters for owner in (PersonaMemory, MemoryClient))
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in there.values()):
        return  # it hands on whatever it is given
    ours = {name: (one.default, one.kind) for name, one in here.items() if name not in ("utterance_id", "asked_in")}
    assert {name: (one.default, one.kind) for name, one in there.items()} == ours


# turns


def test_an_empty_memory_gives_empty_answers(memory: Memory) -> None:
    assert memory.history(HERE) == []
    assert memory.sessions(Scope()) == []
    assert memory.recall("what is my cat called", HERE) == []
    assert memory.list(HERE) == []
    assert memory.get("nothing", HERE) is None
    assert memory.forget(HERE, key="nothing") == 0
    assert memory.clear_session(HERE) == 0
    known = memory.context(ContextRequest(" hello ", HERE))
    assert known == Context([ContextMessage("user", "hello")], [], 2)


def test_recorded_turns_come_back_in_order_and_each_has_an_id_of_its_own(memory: Memory) -> None:
    ids = memory.record([*exchange("one", "first"), *exchange("two", "second")], HERE)
    assert len(set(ids)) == 4
    assert all(isinstance(one, str) for one in ids)
    assert memory.history(HERE) == [
        ContextMessage("user", "one"),
        ContextMessage("assistant", "first"),
        ContextMessage("user", "two"),
        ContextMessage("assistant", "second"),
    ]
    assert memory.history(Scope(session_id="s2")) == []


def test_recording_nothing_gives_no_ids(memory: Memory) -> None:
    assert memory.record([], HERE) == []
    assert memory.sessions(HERE) == []


def test_tool_calls_and_their_results_come_back_whole(memory: Memory) -> None:
    call = ToolCall("c1", "weather", {"city": "Lisbon", "days": [1, 2], "deep": {"a": None}})
    talk = [
        Turn("user", "weather"),
        Turn("assistant", "", tool_calls=(call,)),
        Turn("tool", "sunny", tool_call_id="c1", name="weather"),
        Turn("assistant", "It is sunny."),
    ]
    memory.record(talk, HERE, as_passed=True)
    assert memory.history(HERE) == [
        ContextMessage("user", "weather"),
        ContextMessage("assistant", "", (call,)),
        ContextMessage("tool", "sunny", (), "c1", "weather"),
        ContextMessage("assistant", "It is sunny."),
    ]


def test_what_comes_again_under_its_delivery_id_is_recorded_once(memory: Memory) -> None:
    first = memory.record(exchange("one", "first"), HERE, as_passed=True, delivery_id="d1")
    assert memory.record(exchange("one", "first"), HERE, as_passed=True, delivery_id="d1") == first
    assert texts(memory.history(HERE)) == ["one", "first"]


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"max_history": 2}, ["q2", "a2"]),
        ({"max_history": 3}, ["q2", "a2"]),
        ({"max_history": 0}, []),
        ({"max_history": None}, ["q0", "a0", "q1", "a1", "q2", "a2"]),
        ({"max_rounds": 2}, ["q1", "a1", "q2", "a2"]),
        ({"max_history": None, "max_rounds": 0}, ["q0", "a0", "q1", "a1", "q2", "a2"]),
        ({"max_rounds": 0}, ["q1", "a1", "q2", "a2"]),
        ({"max_history": None, "max_tokens": 4}, ["q1", "a1", "q2", "a2"]),
        ({"max_history": 3, "hanging": True}, ["a1", "q2", "a2"]),
    ],
)
def test_a_history_is_cut_to_its_limits(memory: Memory, limits: dict[str, Any], expected: list[str]) -> None:
    memory.record([turn for n in range(3) for turn in exchange(f"q{n}", f"a{n}")], HERE)
    assert texts(memory.history(HERE, **limits)) == expected


def test_a_history_cut_to_few_tokens_keeps_the_newest_question_with_its_answer(memory: Memory) -> None:
    memory.record([*exchange("one", "first"), *exchange("why is the sky blue " * 4, "scattering " * 40)], HERE)
    for hanging in (False, True):
        asked, answered = memory.history(HERE, max_tokens=20, hanging=hanging)
        assert (asked.role, answered.role) == ("user", "assistant")
        assert asked.text.startswith("why") and answered.text.startswith("scatter")
    call = ToolCall("c1", "look_up")
    tool = Turn("tool", "it is blue " * 20, tool_call_id="c1", name="look_up")
    turns = [Turn("user", "and the sea"), Turn("assistant", "", tool_calls=(call,)), tool, Turn("assistant", "too")]
    memory.record(turns, HERE)
    for limits in ({"max_tokens": 8}, {"max_tokens": 40}, {"max_history": 2, "hanging": True}):
        assert memory.history(HERE, **limits)[0].role != "tool"  # type: ignore[arg-type]  # limits by name
    assert texts(memory.history(HERE, max_tokens=8)) == ["and the sea", "too"]


def test_a_lone_question_is_shown_where_the_ends_hang(memory: Memory) -> None:
    memory.record([Turn("user", "is anybody there")], HERE)
    assert memory.history(HERE) == []
    assert texts(memory.history(HERE, hanging=True)) == ["is anybody there"]
    memory.record([Turn("user", "hello")], HERE)
    assert texts(memory.history(HERE, hanging=True)) == ["hello"], "of two in a row the first goes"


def test_the_history_of_a_user_or_a_task_goes_across_sessions_in_order_of_arrival(memory: Memory) -> None:
    for session, task, word in (
        ("s1", "walk", "one"),
        ("s2", None, "two"),
        ("s1", None, "three"),
        ("s3", "walk", "four"),
    ):
        memory.record(exchange(word, f"to {word}"), Scope(session_id=session, task_id=task))
    every = [said for word in ("one", "two", "three", "four") for said in (word, f"to {word}")]
    assert texts(memory.history(Scope(), max_history=None)) == every
    assert texts(memory.history(Scope(task_id="walk"), max_history=None)) == ["one", "to one", "four", "to four"]
    assert texts(memory.history(Scope())) == every[-4:]
    assert texts(memory.history(Scope(), max_history=None, max_rounds=3)) == every[2:]
    assert texts(memory.history(Scope(session_id="s1"), max_history=None)) == ["one", "to one", "three", "to three"]
    assert texts(memory.history(Scope(session_id="s1", task_id="walk"))) == ["one", "to one"]


def test_a_question_is_answered_in_its_own_session_whoever_talks_in_between(memory: Memory) -> None:
    memory.record([Turn("user", "here")], Scope(session_id="s1"))
    memory.record([Turn("user", "there")], Scope(session_id="s2"))
    memory.record([Turn("assistant", "to here")], Scope(session_id="s1"))
    memory.record([Turn("assistant", "to there")], Scope(session_id="s2"))
    assert texts(memory.history(Scope())) == ["here", "to here", "there", "to there"]


def test_what_a_session_left_to_its_summary_is_in_no_history_across_sessions(memory: Memory) -> None:
    memory.record([*exchange("one", "first"), *exchange("two", "second")], HERE)
    memory.record(exchange("three", "third"), Scope(session_id="s2"))
    assert memory.trim(HERE, keep_recent=2) == 2
    assert texts(memory.history(Scope(), max_history=None)) == ["two", "second", "three", "third"]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"roles": {"user"}}, ["q0", "q1", "q2"]),
        ({"roles": ["assistant"]}, ["a0", "a1", "a2"]),
        ({"roles": {"user"}, "max_history": 2}, ["q1", "q2"]),
        ({"roles": {"user"}, "max_history": None, "max_rounds": 1}, ["q2"]),
        ({"roles": {"user"}, "max_tokens": 2}, ["q1", "q2"]),
        ({"roles": {"user", "assistant"}, "max_history": 2}, ["q2", "a2"]),
        ({"roles": {"tool"}}, ["found 0", "found 1", "found 2"]),
        ({"roles": {"system"}}, ["be kind"]),
        ({"roles": {"user"}, "hanging": True}, ["q0", "q1", "q2", "who asks"]),
        ({"roles": []}, []),
    ],
)
def test_a_history_can_be_of_some_roles_alone(memory: Memory, wanted: dict[str, Any], expected: list[str]) -> None:
    memory.record([Turn("system", "be kind")], HERE)
    for n in range(3):
        call = Turn("assistant", "", tool_calls=(ToolCall(f"c{n}", "look_up"),))
        found = Turn("tool", f"found {n}", tool_call_id=f"c{n}", name="look_up")
        memory.record([Turn("user", f"q{n}"), call, found, Turn("assistant", f"a{n}")], HERE)
    memory.record([Turn("user", "who asks")], HERE)
    kept = memory.history(HERE, **wanted)
    assert texts(kept) == expected
    assert not any(message.tool_calls for message in kept), "no call without its results"


def test_a_context_may_keep_to_what_was_said_in_its_own_session(memory: Memory) -> None:
    there = Scope(session_id="s2")
    memory.record([Turn("user", "my cat is called Bob", lang="en-US"), Turn("assistant", "nice")], there)
    asked = ContextRequest("what is my cat called", HERE, max_history=0, lang="en-US")
    assert [hit.text for hit in memory.context(asked).hits] == ["my cat is called Bob"]
    assert memory.context(replace(asked, session=True)).hits == []
    assert [hit.text for hit in memory.context(replace(asked, session=True, scope=there)).hits] == [
        "my cat is called Bob"
    ]


def test_a_turn_is_found_by_its_id_by_whom_it_reaches(memory: Memory) -> None:
    call = ToolCall("c1", "look_up", {"word": "cat"})
    said = Turn("user", "my cat is called Bob", at=1000.0, speaker="Ann", lang="en-US")
    ids = memory.record([said, Turn("assistant", "nice", at=1001.0, tool_calls=(call,))], Scope("s1", task_id="walk"))
    turn, answered = (memory.turn(one, HERE) for one in ids)
    assert turn is not None and answered is not None
    assert (turn.id, turn.text, turn.at, turn.speaker) == (ids[0], "my cat is called Bob", 1000.0, "Ann")
    assert (turn.role, turn.lang, turn.session_id, turn.task_id, turn.user_id) == (
        "user",
        "en-US",
        "s1",
        "walk",
        "household",
    )
    assert answered.tool_calls == (call,)
    assert turn.seq < answered.seq
    assert memory.turn("nothing", HERE) is None
    assert memory.turn(ids[0], Scope(task_id="swim")) is None
    assert memory.forget(HERE, ids=ids) > 0
    assert memory.turn(ids[0], HERE) is None


def test_no_turn_is_given_while_reading_is_off(memory: Memory) -> None:
    [turn_id] = memory.record([Turn("user", "my cat is called Bob")], HERE)
    memory.capture(HERE, read=False)
    assert memory.turn(turn_id, HERE) is None


def test_sessions_say_how_much_was_said_and_when(memory: Memory) -> None:
    memory.record([*exchange("one", "first", at=1000.0), *exchange("two", "second", at=2000.5)], HERE)
    assert memory.sessions(HERE) == [Session("s1", "household", 4, 1000.0, 2000.5)]


def test_clearing_a_session_forgets_its_turns_and_no_other(memory: Memory) -> None:
    memory.record(exchange("one", "first"), HERE)
    memory.record(exchange("two", "second"), Scope(session_id="s2"))
    memory.remember("the bins go out on Tuesday", HERE, key="bins")
    assert memory.clear_session(HERE) == 2
    assert memory.history(HERE) == []
    assert texts(memory.history(Scope(session_id="s2"))) == ["two", "second"]
    assert memory.get("bins", HERE) is not None


# finding


def test_recall_gives_hits_with_their_reasons_best_first(memory: Memory) -> None:
    ids = memory.record([Turn("user", "my cat is called Bob", at=1000.0, speaker="Ann", lang="en-US")], HERE)
    memory.record([Turn("user", "the cat is hungry", at=1000.0)], HERE)
    best, other = memory.recall("what is my cat called", HERE)
    assert isinstance(best, Hit)
    assert best.score > other.score > 0
    assert best.confidence is not None and best.confidence > 0.9 > (other.confidence or 0.0)
    assert best == Hit(
        id=ids[0],
        kind="turn",
        text="my cat is called Bob",
        score=best.score,
        sure=True,
        reason=best.reason,
        at=1000.0,
        role="user",
        speaker="Ann",
        session_id="s1",
        lang="en-US",
        answers=True,
        confidence=best.confidence,
    )
    assert "cat" in best.reason
    assert not other.sure


def test_recall_keeps_to_the_number_and_the_kinds_asked_for(memory: Memory) -> None:
    memory.record([Turn("user", f"cat number {number}") for number in range(3)], HERE)
    entry = memory.remember("the cat eats at six", HERE, key="cat")
    assert len(memory.recall("cat", HERE, k=2)) == 2
    assert memory.recall("cat", HERE, k=0) == []
    [hit] = memory.recall("cat", HERE, kinds={"memory"})
    assert (hit.kind, hit.key, hit.id, hit.text) == ("memory", "cat", entry.id, "the cat eats at six")
    assert {hit.kind for hit in memory.recall("cat", HERE, kinds={"turn"})} == {"turn"}
    assert memory.recall("cat", HERE, kinds=set()) == []


def test_a_context_is_system_prompt_and_memories_then_history_then_the_utterance(memory: Memory) -> None:
    memory.record([Turn("user", "my cat is called Bob", at=time.time() - 3600)], Scope(session_id="s0"))
    memory.record(exchange("hello", "hi"), HERE)
    known = memory.context(ContextRequest(" what is my cat called ", HERE, system_prompt="You are Ada."))
    assert isinstance(known, Context)
    system, *talk = known.messages
    assert talk == [
        ContextMessage("user", "hello"),
        ContextMessage("assistant", "hi"),
        ContextMessage("user", "what is my cat called"),
    ]
    assert system.role == "system"
    assert system.text.startswith("You are Ada.\n")
    assert '"my cat is called Bob"' in system.text
    assert [(hit.text, hit.sure) for hit in known.hits] == [("my cat is called Bob", True)]
    assert known.tokens == sum(-(-len(message.text) // 4) for message in known.messages)


@pytest.mark.parametrize("field", ["persona_id", "site_id"])
def test_a_scope_with_a_persona_or_a_site_holds_no_turns_of_another(
    memory: Memory, request: pytest.FixtureRequest, field: str
) -> None:
    for name in ("Ada", "Bert"):
        memory.record(exchange(f"hello {name}", f"{name} here"), Scope(session_id="s1", **{field: name}))
    assert texts(memory.history(Scope(session_id="s1", **{field: "Ada"}))) == ["hello Ada", "Ada here"]


@pytest.mark.parametrize("nothing", [{"recall": 0}, {"recall_tokens": 0}])
def test_a_context_recalls_nothing_where_none_is_wanted(memory: Memory, nothing: dict[str, int]) -> None:
    memory.record([Turn("user", "my cat is called Bob", at=time.time() - 3600)], Scope(session_id="s0"))
    known = memory.context(ContextRequest("what is my cat called", HERE, **nothing))
    assert known == Context([ContextMessage("user", "what is my cat called")], [], 6)


# lasting memories


def test_a_memory_is_kept_under_its_key(memory: Memory) -> None:
    kept = memory.remember(" the bins go out on Tuesday ", HERE, key="bins", metadata={"by": ["Ann"]}, lang="en-US")
    assert isinstance(kept, Entry)
    assert (kept.key, kept.text, kept.metadata) == ("bins", "the bins go out on Tuesday", {"by": ["Ann"]})
    assert (kept.session_id, kept.user_id, kept.lang) == ("s1", "household", "en-US")
    assert kept.created_at == kept.updated_at > 0
    assert memory.get("bins", HERE) == kept
    assert memory.list(HERE) == [kept]


def test_a_memory_without_a_key_gets_one(memory: Memory) -> None:
    one, two = memory.remember("the bins", HERE), memory.remember("the bins", HERE)
    assert one.key != two.key
    assert memory.get(one.key, HERE) == one


def test_remembering_under_a_known_key_replaces_the_text_and_merges_the_metadata(memory: Memory) -> None:
    before = memory.remember("Tuesday", HERE, key="bins", metadata={"by": "Ann", "old": 1})
    after = memory.remember("Friday", HERE, key="bins", metadata={"by": "Bea"})
    assert (after.id, after.text, after.metadata) == (before.id, "Friday", {"by": "Bea", "old": 1})
    assert after.created_at == before.created_at
    assert memory.list(HERE) == [after]


def test_an_update_changes_what_it_is_given(memory: Memory) -> None:
    memory.remember("Tuesday", HERE, key="bins", metadata={"by": "Ann"})
    assert memory.update("bins", HERE, text="Friday").metadata == {"by": "Ann"}
    changed = memory.update("bins", HERE, metadata={"sure": True})
    assert (changed.text, changed.metadata) == ("Friday", {"by": "Ann", "sure": True})
    assert memory.get("bins", HERE) == changed


def test_memories_are_listed_in_pages_the_last_changed_first(memory: Memory) -> None:
    for number in range(5):
        memory.remember(f"thing {number}", HERE, key=f"k{number}")
    memory.update("k1", HERE, text="changed")
    assert [one.key for one in memory.list(HERE, limit=3)] == ["k1", "k4", "k3"]
    assert [one.key for one in memory.list(HERE, limit=3, offset=3)] == ["k2", "k0"]
    assert memory.list(HERE, limit=0) == []


def test_an_update_of_what_is_not_there_is_an_unknown_entry(memory: Memory) -> None:
    with pytest.raises(UnknownEntry, match="bins"):
        memory.update("bins", HERE, text="Friday")


def test_a_memory_needs_a_text(memory: Memory) -> None:
    with pytest.raises(InvalidRequest) as refused:
        memory.remember("  ", HERE)
    assert refused.value.field == "text"
    assert memory.list(HERE) == []


# whose a memory is


def of(persona: str | None) -> Scope:
    return replace(HERE, persona_id=persona)


def safe(memory: Memory) -> dict[str | None, str | None]:
    """What each persona, and none, has under the same key."""
    found = {persona: memory.get("safe", of(persona)) for persona in ("Ada", "Bob", None)}
    return {persona: entry.text if entry else None for persona, entry in found.items()}


def test_a_persona_neither_reads_nor_changes_nor_takes_over_what_another_keeps(memory: Memory) -> None:
    hers = memory.remember("behind the picture", of("Ada"), key="safe")
    assert hers.persona_id == "Ada"
    assert memory.get("safe", of("Bob")) is None
    assert memory.list(of("Bob")) == memory.recall("picture", of("Bob")) == []
    assert memory.why(of("Bob"), key="safe") is None
    for change in ({"text": "gone"}, {"metadata": {"by": "Bob"}}, {"status": "discard"}):
        with pytest.raises(UnknownEntry):
            memory.update("safe", of("Bob"), **change)  # type: ignore[arg-type]  # each its own type
    assert memory.forget(of("Bob"), key="safe") == 0
    his = memory.remember("under the stairs", of("Bob"), key="safe")
    assert (his.persona_id, his.id != hers.id, memory.get("safe", of("Ada"))) == ("Bob", True, hers)
    assert memory.update("safe", of("Bob"), text="in the shed").id == his.id
    assert (safe(memory)["Ada"], safe(memory)["Bob"]) == ("behind the picture", "in the shed")
    assert memory.forget(of("Bob"), key="safe") == 1
    assert (memory.get("safe", of("Bob")), memory.get("safe", of("Ada"))) == (None, hers)


def test_a_fact_that_was_told_to_a_persona_is_not_anothers_by_its_id(
    memory: Memory, request: pytest.FixtureRequest
) -> None:
    # what was forgotten in one of the ways is not learned again in the next
    name = {"in this process": "Ann", "over the bus": "Clara"}.get(request.node.callspec.params["memory"], "Doris")
    memory.record([Turn("user", f"my name is {name}", lang="en-US")], of("Ada"))
    wait_until(lambda: bool(memory.facts.list(of("Ada"))), "the learning")
    [fact] = memory.facts.list(of("Ada"))
    assert fact.persona_id == "Ada"
    assert memory.get(fact.id, of("Ada")) is not None
    assert memory.get(fact.id, of("Bob")) is None
    assert memory.why(of("Bob"), id=fact.id) is None
    assert memory.forget(of("Bob"), key=fact.id) == 0
    with pytest.raises(UnknownEntry):
        memory.update(fact.id, of("Bob"), text="my name is Bea")
    with pytest.raises(UnknownEntry):
        memory.facts.history(fact.id, of("Bob"))
    found = memory.get(fact.id, WHOEVERS)
    assert found is not None and found.persona_id == "Ada"


def test_a_personas_own_memory_comes_before_that_of_no_persona(memory: Memory) -> None:
    everyones = memory.remember("the neighbour has the key", HERE, key="safe")
    assert everyones.persona_id is None
    assert memory.update("safe", of("Ada"), metadata={"seen": True}).id == everyones.id, "she has none of her own"
    hers = memory.remember("behind the picture", of("Ada"), key="safe")
    assert hers.id != everyones.id, "she does not take over what is everybody's"
    assert hers.metadata == {}
    assert safe(memory) == {"Ada": "behind the picture", "Bob": everyones.text, None: everyones.text}
    assert memory.update("safe", of("Ada"), text="behind the clock").id == hers.id
    assert [entry.text for entry in memory.list(of("Ada"))] == ["behind the clock", everyones.text]
    assert memory.forget(of("Ada"), key="safe") == 1
    assert safe(memory) == dict.fromkeys(("Ada", "Bob", None), everyones.text)
    assert memory.forget(of("Ada"), key="safe") == 1
    assert safe(memory) == dict.fromkeys(("Ada", "Bob", None))


def test_what_no_persona_remembers_changes_nothing_of_a_personas(memory: Memory) -> None:
    hers = memory.remember("behind the picture", of("Ada"), key="safe")
    memory.remember("the neighbour has the key", HERE, key="safe")
    assert memory.get("safe", of("Ada")) == hers


WHOEVERS = replace(HERE, any_persona=True)
"""What the person asks, rather than a persona: over the bus it must be said, elsewhere it is so."""


def test_the_person_reaches_what_any_persona_keeps(memory: Memory) -> None:
    memory.remember("behind the picture", of("Ada"), key="safe")
    memory.record([Turn("user", "the boat is in the shed")], of("Bob"))
    found = memory.get("safe", WHOEVERS)
    assert found is not None and found.text == "behind the picture"
    assert [hit.persona_id for hit in memory.recall("picture", WHOEVERS)] == ["Ada"]
    assert [hit.persona_id for hit in memory.recall("where is the boat", WHOEVERS)] == ["Bob"]
    assert memory.update("safe", WHOEVERS, text="behind the clock").persona_id == "Ada"
    assert memory.remember("the bins go out on Tuesday", WHOEVERS, key="bins").persona_id is None
    assert memory.forget(WHOEVERS, key="safe") == 1


def test_of_several_personas_that_have_a_key_the_one_last_changed_is_meant(memory: Memory) -> None:
    for persona in ("Ada", "Bob"):
        memory.remember(f"of {persona}", of(persona), key="safe")
    memory.update("safe", of("Ada"), text="of Ada, changed")

    def meant() -> str:
        found = memory.get("safe", WHOEVERS)
        return found.text if found else ""

    assert meant() == "of Ada, changed"
    named = memory.get("safe", replace(WHOEVERS, persona_id="Bob"))
    assert named is not None and named.text == "of Bob"
    memory.remember("of none", HERE, key="safe")
    assert meant() == "of none"
    assert memory.forget(WHOEVERS, key="safe") == 1
    assert meant() == "of Ada, changed"
    assert memory.forget(replace(WHOEVERS, persona_id="Ada"), key="safe") == 1
    assert meant() == "of Bob"


@pytest.mark.parametrize(
    ("setting", "of_assistant", "owner"), [("Ada", "Eve", "Ada"), (None, "Eve", "Eve"), (None, None, None)]
)
def test_a_message_without_a_persona_is_the_default_ones(
    tmp_path: Path, setting: str | None, of_assistant: str | None, owner: str | None
) -> None:
    assistant = {"intents": {"persona": {"default_persona": of_assistant} if of_assistant else {}}}
    with served(tmp_path, assistant, **({"default_persona": setting} if setting else {})) as daemon:
        host, port = daemon.address
        with MemoryClient.over_bus(host=host, port=port) as bus, MemoryClient.over_door(daemon.data) as door:
            assert bus.remember("behind the picture", HERE, key="safe").persona_id == owner
            door.remember("under the stairs", of("Bob"), key="boat")
            assert [entry.key for entry in bus.list(HERE)] == ["safe"]
            assert [entry.key for entry in door.list(HERE)] == ["boat", "safe"]


# whether a memory holds


def test_a_draft_and_what_is_discarded_are_recalled_only_where_they_are_asked_for(memory: Memory) -> None:
    memory.record([Turn("user", "the lamp is blue")], HERE)
    for status in get_args(Status):
        kept = memory.remember(f"the lamp is {status}", HERE, key=status, status=status)
        assert kept.status == status
    assert memory.remember("the lamp is here", HERE, key="here").status == "accepted"
    assert {hit.text for hit in memory.recall("lamp", HERE)} == {
        "the lamp is blue", "the lamp is accepted", "the lamp is here",
    }  # fmt: skip
    assert [hit.key for hit in memory.recall("lamp", HERE, status="draft")] == ["draft"]
    assert [hit.key for hit in memory.recall("lamp", HERE, status="discard")] == ["discard"]
    asked = ContextRequest("what is the lamp", HERE, recall=50)
    assert {hit.key for hit in memory.context(asked).hits} <= {None, "accepted", "here"}
    for status in (None, *get_args(Status)):
        expected = {"here", "accepted", "draft", "discard"} if status is None else {status}
        listed = {entry.key for entry in memory.list(HERE, status=status)}
        assert listed - {"here"} == expected - {"here"}
    found = memory.get("draft", HERE)
    assert found is not None and found.status == "draft", "by its key each is found"


def test_a_status_goes_forward_only(memory: Memory) -> None:
    kept = memory.remember("the lamp is red", HERE, key="lamp", status="draft")
    accepted = memory.update("lamp", HERE, status="accepted")
    assert (accepted.status, accepted.text, accepted.id) == ("accepted", "the lamp is red", kept.id)
    assert memory.recall("lamp", HERE)
    assert memory.update("lamp", HERE, text="the lamp is dim").status == "accepted"
    with pytest.raises(InvalidRequest) as refused:
        memory.update("lamp", HERE, status="draft")
    assert refused.value.field == "status"
    assert memory.update("lamp", HERE, status="discard").status == "discard"
    assert memory.recall("lamp", HERE) == []
    with pytest.raises(InvalidRequest):
        memory.update("lamp", HERE, status="accepted")
    assert memory.remember("the lamp is red", HERE, key="lamp").status == "accepted", "whoever asks anew means it"


@pytest.mark.parametrize("verb", ["remember", "update", "list", "recall"])
def test_a_status_that_there_is_not_is_refused(memory: Memory, verb: str) -> None:
    memory.remember("the lamp is red", HERE, key="red")
    first = () if verb == "list" else ("red",)
    with pytest.raises(InvalidRequest) as refused:
        getattr(memory, verb)(*first, HERE, status="maybe")
    assert refused.value.field == "status"


# forgetting


def remembered(memory: Memory) -> list[str]:
    """Two turns of 1000 and 2000 s, and a memory of now; the ids of the turns."""
    memory.remember("the bins go out on Tuesday", HERE, key="bins")
    turns = [Turn("user", "my cat is called Bob", at=1000.0), Turn("user", "my dog is called Rex", at=2000.0)]
    return memory.record(turns, HERE)


def left(memory: Memory) -> set[str]:
    words = ("cat", "dog", "bins")
    return {word for word in words if memory.recall(word, HERE)}


@pytest.mark.parametrize(
    ("selector", "gone"),
    [
        ({"key": "bins"}, {"bins"}),
        ({"query": "cat called"}, {"cat"}),
        ({"query": "cat dog"}, set()),
        ({"since": 1500.0}, {"dog", "bins"}),
        ({"until": 2000.0}, {"cat"}),
        ({"since": 1000.0, "until": 2000.0}, {"cat"}),
        ({"query": "called", "since": 1500.0}, {"dog"}),
        ({"source": "Ada"}, set()),
        ({"everything": True}, {"cat", "dog", "bins"}),
    ],
    ids=str,
)
def test_what_a_selector_names_is_forgotten_and_nothing_else(
    memory: Memory, selector: dict[str, Any], gone: set[str]
) -> None:
    remembered(memory)
    assert memory.forget(HERE, **selector) == len(gone)
    assert left(memory) == {"cat", "dog", "bins"} - gone


def test_records_are_forgotten_by_their_ids(memory: Memory) -> None:
    cat, _ = remembered(memory)
    [entry] = memory.list(HERE)
    assert memory.forget(HERE, ids=[cat, entry.id, "no such id"]) == 2
    assert left(memory) == {"dog"}
    assert memory.forget(HERE, ids=[]) == 0


def test_what_a_persona_said_is_forgotten_by_its_name(memory: Memory) -> None:
    memory.record([Turn("user", "my cat is called Bob")], HERE)
    memory.record([Turn("assistant", "the dog barks")], Scope(session_id="s1", persona_id="Ada"))
    assert memory.forget(replace(HERE, any_persona=True), source="Ada") == 1
    assert left(memory) == {"cat"}


def test_forgetting_in_the_scope_of_a_session_leaves_the_other_sessions_alone(memory: Memory) -> None:
    remembered(memory)
    memory.record([Turn("user", "my cat is called Tom", at=1000.0)], Scope(session_id="s2"))
    assert memory.forget(HERE, query="cat") == 1
    assert memory.forget(HERE, everything=True) == 2
    assert [hit.text for hit in memory.recall("cat", Scope(session_id="s2"))] == ["my cat is called Tom"]


def test_forgetting_a_scope_needs_no_selector_where_the_scope_is_a_session(memory: Memory) -> None:
    remembered(memory)
    assert memory.forget(HERE) == 3
    assert left(memory) == set()


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        (lambda memory: memory.recall("cat", HERE, k=-1), "k"),
        (lambda memory: memory.list(HERE, limit=-1), "limit"),
        (lambda memory: memory.history(HERE, max_history=-1), "max_history"),
        (lambda memory: memory.record([Turn("nobody", "x")], HERE), "turns[0].role"),
        (lambda memory: memory.record([Turn("user", "a\0b")], HERE), "turns[0].text"),
    ],
    ids=["k", "limit", "max_history", "role", "nul"],
)
def test_what_cannot_be_used_is_refused_by_the_name_of_its_field(
    memory: Memory, ask: Callable[[Any], object], field: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        ask(memory)
    assert refused.value.field == field


def test_forgetting_needs_to_be_told_what(memory: Memory) -> None:
    remembered(memory)
    with pytest.raises(InvalidRequest) as refused:
        memory.forget(Scope())
    assert refused.value.field == "everything"
    assert left(memory) == {"cat", "dog", "bins"}


# switches and state


def test_what_is_said_while_remembering_is_off_is_not_kept(memory: Memory) -> None:
    memory.remember("Tuesday", HERE, key="bins")
    assert memory.capture(HERE, write=False) == Capture(write=False, read=True)
    assert memory.capture(HERE) == Capture(write=False, read=True)
    assert memory.record(exchange("one", "first"), HERE) == []
    for change in (lambda: memory.remember("secret", HERE), lambda: memory.update("bins", HERE, text="Friday")):
        with pytest.raises(CapturePaused):
            change()
    assert [one.text for one in memory.list(HERE)] == ["Tuesday"]
    assert memory.capture(HERE, write=True) == Capture()
    assert len(memory.record(exchange("two", "second"), HERE)) == 2
    assert texts(memory.history(HERE)) == ["two", "second"]


def test_nothing_is_read_while_reading_is_off(memory: Memory) -> None:
    remembered(memory)
    memory.record(exchange("one", "first"), HERE)
    memory.capture(HERE, read=False)
    assert memory.recall("cat", HERE) == []
    assert memory.history(HERE) == []
    assert memory.list(HERE) == []
    assert memory.get("bins", HERE) is None
    known = memory.context(ContextRequest("what is my cat called", HERE))
    assert known.messages == [ContextMessage("user", "what is my cat called")]
    memory.capture(HERE, read=True)
    assert left(memory) == {"cat", "dog", "bins"}


def test_capture_is_off_for_one_session_alone_until_a_time(memory: Memory) -> None:
    until = time.time() + 3600
    expected = Capture(write=False, read=True, until=until, session_id="s1")
    assert memory.capture(HERE, write=False, until=until, session=True) == expected
    assert memory.record(exchange("one", "first"), HERE) == []
    assert len(memory.record(exchange("one", "first"), Scope(session_id="s2"))) == 2
    assert memory.capture(Scope(session_id="s2"), session=True) == Capture(session_id="s2")
    assert memory.capture(HERE) == Capture(), "everything else goes on"


def test_a_setting_that_has_ended_holds_no_longer(memory: Memory) -> None:
    memory.capture(HERE, write=False, read=False, until=time.time() - 1, session=True)
    assert memory.capture(HERE, session=True) == Capture(session_id="s1")
    assert len(memory.record(exchange("one", "first"), HERE)) == 2


def test_status_counts_what_is_kept(memory: Memory) -> None:
    remembered(memory)
    status = memory.status()
    assert {"version", "backend", "counts", "store", "capture", "index_lag", "up_s"} <= set(status)
    assert status["counts"]["turns"] == 2
    assert status["backend"] == "sqlite"
    assert status["capture"] == {
        "write": True,
        "read": True,
        "until": None,
        "session_id": None,
        "site_id": None,
        "user_id": None,
    }


# what the bus does not reach


@pytest.fixture
def wire(emptied: Served) -> Iterator[Wire]:
    with Wire(emptied.address[1]) as connected:
        yield connected


@pytest.fixture
def owner(emptied: Served) -> Iterator[MemoryClient]:
    with MemoryClient.over_door(emptied.data) as client:
        yield client


REQUESTS: dict[str, dict[str, Any]] = {
    "record": {"turns": [{"role": "user", "text": "forged"}]},
    "context": {"utterance": "cat"},
    "history": {"all_sessions": True},
    "turn": {"id": "t"},
    "sessions": {},
    "session.clear": {},
    "recall": {"question": "cat"},
    "remember": {"text": "forged"},
    "get": {"key": "bins"},
    "list": {},
    "update": {"key": "bins", "text": "forged"},
    "forget": {"everything": True},
    "capture": {"write": False},
}
CHANGES = ("record", "session.clear", "remember", "update", "forget", "capture")


@pytest.mark.parametrize("verb", REQUESTS)
@pytest.mark.parametrize(
    ("scope", "field"),
    [
        ({"session_id": "s1"}, "scope.session_id"),
        ({"site_id": "bedroom"}, "scope.site_id"),
        ({"persona_id": "Ada"}, "scope.persona_id"),
        ({"user_id": "ann"}, "scope.user_id"),
        ({"everyone": True}, "scope.user_id"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_over_the_bus_another_session_or_person_is_refused_by_name(
    wire: Wire, owner: MemoryClient, verb: str, scope: dict[str, Any], field: str
) -> None:
    remembered(owner)  # type: ignore[arg-type]
    answer = wire.ask(verb, {**REQUESTS[verb], "scope": scope}, session_id="s2")
    assert (answer["ok"], answer["error"]) == (False, "not_allowed")
    assert answer["reason"].startswith(f"{field}: ")
    assert left(owner) == {"cat", "dog", "bins"}
    assert owner.capture() == Capture()


def test_over_the_bus_a_request_may_name_what_its_message_carries(wire: Wire, owner: MemoryClient) -> None:
    scope = {"session_id": "s2", "user_id": "household"}
    assert wire.ask("record", {**REQUESTS["record"], "scope": scope}, session_id="s2")["ok"]
    assert [one.session_id for one in owner.sessions()] == ["s2"]


def test_over_the_bus_the_sessions_of_other_people_are_not_found(wire: Wire, owner: MemoryClient) -> None:
    owner.record([Turn("user", "my cat is called Bob")], Scope(session_id="s1", user_id="ann"))
    owner.remember("the bins go out", Scope(session_id="s1", user_id="ann"), key="bins")
    assert wire.ask("recall", {"question": "cat"}, session_id="s1")["hits"] == []
    assert wire.ask("list", session_id="s1")["memories"] == []
    assert wire.ask("get", {"key": "bins"}, session_id="s1")["memory"] is None
    assert wire.ask("sessions", session_id="s1")["sessions"] == []
    assert wire.ask("history", {"all_sessions": True}, session_id="s1")["messages"] == []
    [turn_id] = owner.record([Turn("user", "the dog is called Rex")], Scope(session_id="s1", user_id="ann"))
    assert wire.ask("turn", {"id": turn_id}, session_id="s1")["turn"] is None
    theirs = owner.turn(turn_id, Scope(user_id="ann"))
    assert theirs is not None and theirs.text == "the dog is called Rex"
    assert wire.ask("forget", {"everything": True}, session_id="s1")["forgotten"] == 0


def test_where_changes_are_closed_the_bus_reads_and_the_owner_changes(tmp_path: Path) -> None:
    with served(tmp_path, bus={"changes": "closed"}) as closed, Wire(closed.address[1]) as wire:
        with MemoryClient.over_door(closed.data) as owner:
            remembered(owner)
            for verb in CHANGES:
                answer = wire.ask(verb, REQUESTS[verb], session_id="s1")
                assert (answer["ok"], answer["error"]) == (False, "not_allowed"), verb
                assert "bus.changes" in answer["reason"]
            assert left(owner) == {"cat", "dog", "bins"}
            for verb in ("context", "history", "sessions", "recall", "get", "list"):
                assert wire.ask(verb, REQUESTS[verb], session_id="s1")["ok"], verb
            assert wire.ask("capture", {}, session_id="s1")["capture"]["write"] is True
            assert owner.forget(HERE, everything=True) == 3
        client = MemoryClient.over_bus(host=closed.address[0], port=closed.address[1])
        with client, pytest.raises(NotAllowed):
            client.remember("the bins go out", HERE)


def test_over_the_bus_every_request_has_a_session_and_clearing_clears_that(wire: Wire, owner: MemoryClient) -> None:
    owner.record(exchange("one", "first"), Scope(session_id="default"))
    owner.record(exchange("two", "second"), Scope(session_id="s1"))
    assert wire.ask("session.clear", session_id="default")["forgotten"] == 2
    assert [one.session_id for one in owner.sessions()] == ["s1"]
    with pytest.raises(InvalidRequest, match="session_id"):
        owner.clear_session(Scope())


def test_a_fact_is_added_confirmed_listed_by_topic_and_weighed_anew(memory: Memory) -> None:
    scope = Scope(session_id="facts")
    added = memory.facts.add("I'm allergic to walnuts", scope, 0.7, ["School"], "en-US")
    assert (added.slot, added.value, added.confidence) == ("allergy", "walnuts", 0.7)
    assert memory.facts.add("I'm allergic to walnuts", scope, topics=["trips"], lang="en-US").id == added.id
    assert [fact.id for fact in memory.facts.list(scope, topic="school")] == [added.id]
    assert [fact.id for fact in memory.facts.list(scope, topic="trips")] == [added.id]
    assert memory.facts.list(scope, topic="work") == []
    assert memory.facts.update(added.id, scope, confidence=0.25).confidence == 0.25
    with pytest.raises(InvalidRequest) as refused:
        memory.facts.update(added.id, scope, confidence=1.5)
    assert refused.value.field == "confidence"
    with pytest.raises(SecretRefused):
        memory.facts.add("my pin is 4711", scope, lang="en-US")
    assert memory.forget(scope, ids=[added.id]) == 1
    assert memory.facts.list(scope, topic="school") == []
