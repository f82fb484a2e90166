"""Whatever cannot be used is refused by the name of its field, in this process as over the bus, and changes nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

import pytest
from support.plugins import Wire

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import InvalidRequest, NotAllowed, UnknownEntry
from ovos_persona_memory.memory import Documents, PersonaMemory
from ovos_persona_memory.memory.facts import Facts
from ovos_persona_memory.memory.users import Users
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.protocol.client import DocumentsClient, FactsClient, UsersClient
from ovos_persona_memory.protocol.transport import BusTransport
from ovos_persona_memory.records import ContextRequest, Scope, ToolCall, Turn

Memory = PersonaMemory | MemoryClient
NOW = 1_795_298_400.0
MILLISECONDS = NOW * 1000
HERE = Scope(session_id="s1")
SAID = Turn("user", "my cat is called Bob", lang="en-US")


def opened() -> PersonaMemory:
    return PersonaMemory.open(config=MemoryConfig(backend="inmemory"), clock=lambda: NOW)


def asked_of(memory: PersonaMemory) -> MemoryClient:
    """A client whose requests are answered at once, as the daemon answers what comes over the bus."""
    transport = BusTransport(host="127.0.0.1", port=1, route="/core", ssl=False)
    transport.bus = Wire(memory, transport._arrived)  # type: ignore[assignment]  # it does all that is needed
    return MemoryClient(transport)


@pytest.fixture(scope="module", params=["in this process", "asked of it"])
def memory(request: pytest.FixtureRequest) -> Iterator[Memory]:
    with opened() as own:
        reached = own if request.param == "in this process" else asked_of(own)
        reached.remember("the bins go out on Tuesday", HERE, key="bins")
        reached.record([SAID], HERE)
        reached.documents(HERE).upsert("Lisbon has a castle", id="lisbon")
        yield reached


# of each verb every parameter with a value that can be used


VERBS: dict[str, dict[str, Any]] = {
    "record": {
        "turns": [SAID],
        "scope": HERE,
        "as_passed": True,
        "delivery_id": "d1",
        "metadata": {"tokens": 12},
        "learn": True,
    },
    "history": {
        "scope": HERE,
        "max_history": 5,
        "max_rounds": 2,
        "max_tokens": 100,
        "hanging": True,
        "roles": {"user"},
    },
    "turn": {"id": "nothing", "scope": HERE},
    "turns": {"scope": HERE, "since": 0.0, "until": NOW, "limit": 5, "offset": 0},
    "sessions": {"scope": HERE, "limit": 5},
    "clear_session": {"scope": Scope(session_id="nobody's")},
    "asks": {"text": "is tom a vegetarian", "lang": "en-US"},
    "may_ask": {"text": "is tom a vegetarian", "lang": "en-US"},
    "surely_asks": {"text": "is tom a vegetarian", "lang": "en-US"},
    "question_kind": {"text": "what do you know about my cat", "lang": "en-US"},
    "recall": {
        "question": "what is my cat called",
        "scope": HERE,
        "k": 3,
        "kinds": {"turn"},
        "at": NOW,
        "lang": "en-US",
        "timezone": "Europe/Lisbon",
        "secrets": False,
        "withheld": False,
        "status": "accepted",
        "about": False,
        "by_words": False,
        "asker": "nora",
        "since": None,
        "until": None,
    },
    "context": {"request": ContextRequest("what is my cat called", HERE)},
    "remember": {
        "text": "the paper goes out on Friday",
        "scope": HERE,
        "key": "paper",
        "metadata": {"by": "me", "n": [1, 2.5, None, True, {"deep": ("a",)}]},
        "lang": "en-US",
        "secret": False,
        "status": "accepted",
    },
    "get": {"key": "bins", "scope": HERE, "secrets": False},
    "list": {
        "scope": HERE,
        "limit": 5,
        "offset": 0,
        "kinds": {"memory", "fact"},
        "secrets": False,
        "status": "accepted",
    },
    "update": {
        "key": "bins",
        "scope": HERE,
        "text": "the bins go out on Wednesday",
        "metadata": {"by": "me"},
        "status": "accepted",
    },
    "correct": {"id": "nothing", "text": "the bins go out on Monday", "scope": HERE, "lang": "en-US"},
    "referents": {"scope": HERE, "said": "forget that"},
    "would_forget": {
        "scope": HERE,
        "key": None,
        "ids": ("nothing",),
        "query": "nothing whatever",
        "topic": "nothing",
        "since": 0.0,
        "until": NOW,
        "source": "a.skill",
        "everything": False,
        "lang": "en-US",
    },
    "documents": {"scope": HERE, "namespace": "guides", "lang": "en-US", "embed": None},
    "why": {"scope": HERE, "id": "nothing", "key": None},
    "episodes": {"scope": HERE, "kinds": ["intent"], "since": 0.0, "until": NOW, "limit": 5, "words": True},
    "capture": {
        "scope": HERE,
        "write": True,
        "read": True,
        "until": NOW + 60,
        "session": False,
        "site": False,
        "person": False,
    },
    "update_session": {"scope": HERE, "summary": "of cats", "description": "talk"},
    "snapshot": {"scope": HERE, "max_history": 5},
    "restore": {"taken": [{"role": "user", "text": "hello"}], "scope": Scope(session_id="other")},
    "to_summarise": {"scope": HERE, "keep_recent": 6},
    "trim": {"scope": HERE, "keep_recent": 100},
    "trim_to_fit": {"scope": HERE, "max_tokens": 1000},
    "forget": {
        "scope": HERE,
        "key": None,
        "ids": ("nothing",),
        "query": "nothing whatever",
        "since": 0.0,
        "until": NOW,
        "source": "a.skill",
        "everything": False,
        "lang": "en-US",
    },
    "introspect": {"scope": HERE, "undo": None, "look": True},
    "facts.list": {"scope": HERE, "status": "all", "slot": "pet", "at": NOW, "limit": 5, "offset": 0, "topic": "home"},
    "facts.history": {"fact_id": "nothing", "scope": HERE},
    "facts.review": {"fact_id": "nothing", "accept": False, "scope": HERE},
    "facts.decisions": {"scope": HERE, "limit": 5},
    "facts.audit": {"scope": HERE},
    "facts.add": {"text": "a tower", "scope": HERE, "confidence": 0.5, "topics": ["towers"], "lang": "en-US"},
    "facts.update": {"fact_id": "nothing", "scope": HERE, "confidence": 1, "topics": []},
    "activity": {"scope": HERE, "since": 0.0},
    "users.list": {"counted": True},
    "users.merge": {"user_id": "nobody", "into": "no-one"},
    "documents.upsert": {"text": "a tower", "id": "tower", "metadata": {"from": "guide"}, "embedding": None},
    "documents.search": {"query": "castle", "k": 3, "filter": {"from": "guide"}, "embedding": None},
    "documents.get": {"id": "lisbon"},
    "documents.list": {"limit": 20, "offset": 0},
    "documents.delete": {"ids": ["nothing"]},
    "documents.clear": {},
}
NAMED: dict[str, Any] = {name: VERBS[name] for name in ("forget", "would_forget")}
"""Verbs that take their conditions by name alone."""
NO_VERBS = {"open", "close", "transaction", "sync", "tidy", "work", "hear", "hear_within", "foresee", "state",
            "put_state", "status", "facts", "users", "over_bus", "over_door", "ask", "forget_by_kind", "captures",
            "finding", "retention", "transcript"}  # fmt: skip
OTHERS = {"documents": (Documents, DocumentsClient), "facts": (Facts, FactsClient), "users": (Users, UsersClient)}


def public(owner: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    return ((name, one) for name, one in inspect.getmembers(owner, callable) if not name.startswith("_"))


def test_the_table_holds_every_parameter_of_every_verb() -> None:
    in_both = {}
    for prefix, owners in {"": (PersonaMemory, MemoryClient), **OTHERS}.items():
        for owner in owners:
            for name, verb in public(owner):
                in_both[f"{prefix}.{name}".lstrip(".")] = set(inspect.signature(verb).parameters)
    ours = {"facts.get", "facts.correct", "facts.entry", "facts.settle", "users.clear",
            "facts.take_learned_late", "users.which", "users.relatives"}  # fmt: skip
    assert in_both.keys() - NO_VERBS - ours == VERBS.keys()
    for name, given in VERBS.items():
        assert name in NAMED or in_both[name] - {"self", "utterance_id", "asked_in"} == given.keys(), name


def called(memory: Memory, verb: str, given: Mapping[str, Any]) -> object:
    prefix, _, name = verb.rpartition(".")
    owner: Any = getattr(memory, prefix) if prefix else memory
    return getattr(owner(HERE) if prefix == "documents" else owner, name)(**given)


@pytest.mark.parametrize("verb", [name for name in VERBS if name not in ("clear_session",)])
def test_what_can_be_used_passes(memory: Memory, verb: str) -> None:
    try:
        called(memory, verb, VERBS[verb])
    except (UnknownEntry, NotAllowed):
        assert verb.startswith(("facts.", "users.", "correct", "introspect", "turns", "activity"))


# values that cannot be used, by what a parameter is


TEXTS = (5, b"x", ["x"], {"text": "x"}, "half \ud83d of it", "a\0b")
NUMBERS = (-1, 1.5, "5", True, float("nan"), 10**30, [1])
MOMENTS = (float("nan"), float("inf"), -1.0, "now", True, MILLISECONDS, [NOW])
LISTS = ("py", 5, b"py", {"a": "b"}, [5], [None], [""], (one for one in ("a",)))
SWITCHES = ("yes", 1, 0.0, [])
RECORDS = ("s1", 5, {"session_id": "s1"}, [HERE])
OBJECTS = (
    {"a": {1}},
    {"a": float("nan")},
    {"a": object()},
    {"a": b"x"},
    {1: "a"},
    {"half \ud83d": 1},
    {"a": ["half \ud83d"]},
    ["a"],
    "a",
)
FUNCTIONS = ("embed", 5)

BAD: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(("text", "question", "query", "topic", "said", "summary", "description"), TEXTS),
    **dict.fromkeys(
        ("key", "id", "undo", "fact_id", "user_id", "into", "namespace", "lang", "timezone", "asker"), (*TEXTS, "")
    ),
    **dict.fromkeys(("delivery_id", "source", "slot"), (*TEXTS, "")),
    **dict.fromkeys(("k", "limit", "offset", "max_history", "max_rounds", "max_tokens", "keep_recent"), NUMBERS),
    **dict.fromkeys(("at", "since", "until"), MOMENTS),
    **dict.fromkeys(("kinds", "ids", "roles", "topics"), LISTS),
    **dict.fromkeys(("as_passed", "hanging", "words", "write", "read", "session", "site", "learn"), SWITCHES),
    **dict.fromkeys(("look", "counted"), SWITCHES),
    **dict.fromkeys(("person", "accept", "everything", "secret", "secrets", "withheld", "about", "by_words"), SWITCHES),
    **dict.fromkeys(("metadata", "filter"), OBJECTS),
    "confidence": (-0.1, 1.1, "much", True, float("nan"), [1]),
    "scope": (None, *RECORDS),
    "request": (None, "hello", HERE, {"utterance": "hello"}),
    "turns": (None, "hello", SAID, (one for one in [SAID]), {"role": "user"}),
    "status": (5, "dreamt", ["all"]),
    "embed": FUNCTIONS,
    "embedding": ("ab", 5, [float("nan")], ["x"], [[1.0]], [0.0]),
    "taken": ("hello", 5, {"summary": "x"}, [5], [{"role": "user", "text": None}], [{"role": "cat", "text": "x"}]),
}
NEEDED = {
    *("text", "question", "query", "key", "fact_id", "user_id", "into", "turns", "request", "ids", "accept", "taken"),
    *("k", "limit", "offset", "keep_recent", "hanging", "as_passed", "words", "session", "site", "person", "scope"),
}
"""Parameters for which None says nothing, unless None is their default."""


def bad_calls() -> Iterator[Any]:
    for verb, given in VERBS.items():
        for name in given:
            if verb.startswith("users.") and name not in ("user_id", "into"):
                continue
            for number, value in enumerate(BAD[name]):
                yield pytest.param(verb, name, value, id=f"{verb}-{name}-{number}")
            if name in NEEDED and takes_no_none(verb, name):
                yield pytest.param(verb, name, None, id=f"{verb}-{name}-None")


def takes_no_none(verb: str, name: str) -> bool:
    prefix, _, short = verb.rpartition(".")
    owner = OTHERS[prefix][0] if prefix else PersonaMemory
    parameters = inspect.signature(getattr(owner, short)).parameters
    return name in parameters and "None" not in str(parameters[name].annotation)


def counts(memory: Memory) -> Mapping[str, int]:
    found: Mapping[str, int] = memory.status()["counts"]
    return found


@pytest.mark.parametrize(("verb", "name", "value"), list(bad_calls()))
def test_what_cannot_be_used_is_refused_by_its_name_and_changes_nothing(
    memory: Memory, verb: str, name: str, value: object
) -> None:
    before = counts(memory)
    with pytest.raises(InvalidRequest) as refused:
        called(memory, verb, {**VERBS[verb], name: value})
    expected = {"taken": "messages"}.get(name, name)
    assert refused.value.field.partition("[")[0].partition(".")[0] == expected
    assert counts(memory) == before


# fields of records


BAD_FIELDS: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(("role", "inject", "source"), ("nobody", None, 5)),
    **dict.fromkeys(("speaker", "lang", "session_id", "site_id", "task_id"), (*TEXTS, "")),
    "persona_id": TEXTS,
    "status": (5, "dreamt", ["all"]),
    **dict.fromkeys(
        ("user_id", "utterance_id", "skill_id", "batch", "tool_call_id", "name", "timezone", "asker"), (*TEXTS, "")
    ),
    **dict.fromkeys(("text", "utterance", "system_prompt", "id"), (*(t for t in TEXTS if t != ["x"]), None)),
    **dict.fromkeys(("max_history", "max_rounds", "max_tokens", "recall", "recall_tokens", "seq"), NUMBERS),
    **dict.fromkeys(
        ("expects_reply", "announcement", "machine", "linked", "redacted", "is_error", "unlearned", "blind", "preview"),
        (*SWITCHES, None),
    ),
    **dict.fromkeys(("secrets", "assumed_persona", "any_persona", "preview"), (*SWITCHES, None)),
    **dict.fromkeys(("summary_threshold", "context_tokens"), NUMBERS),
    "strategy": ("nobody", 5, ["summary"]),
    "auth_level": NUMBERS,
    "at": MOMENTS,
    "max_age_s": (float("nan"), -1.0, "long", True),
    "scope": (None, *RECORDS),
    "session": (*SWITCHES, None),
    "tool_calls": (
        "look_up",
        [{"id": "1", "name": "look_up", "arguments": {}}],
        (ToolCall("", "look_up"),),
        (ToolCall("1", 5),),  # type: ignore[arg-type]  # on purpose
        (ToolCall("1", "look_up", {"word": {1}}),),
        (ToolCall("1", "look_up", ["word"]),),  # type: ignore[arg-type]  # on purpose
    ),
}


def bad_fields(record: type) -> list[Any]:
    return [
        pytest.param(field.name, value, id=f"{field.name}-{number}")
        for field in fields(record)
        for number, value in enumerate(BAD_FIELDS[field.name])
    ]


def refused_field(ask: Callable[[], object]) -> str:
    with pytest.raises(InvalidRequest) as refused:
        ask()
    return refused.value.field


@pytest.mark.parametrize(("name", "value"), bad_fields(Turn))
def test_a_turn_with_a_field_that_cannot_be_used_leaves_out_those_beside_it_too(
    memory: Memory, name: str, value: object
) -> None:
    before = counts(memory)
    field = refused_field(lambda: memory.record([SAID, replace(SAID, **{name: value})], HERE))  # type: ignore[arg-type]
    assert field.startswith(f"turns[1].{name}")
    assert counts(memory) == before


@pytest.mark.parametrize(("name", "value"), bad_fields(Scope))
def test_a_scope_is_looked_at_wherever_it_stands(memory: Memory, name: str, value: object) -> None:
    scope = replace(HERE, **{name: value})  # type: ignore[arg-type]  # on purpose
    for ask in (
        lambda: memory.record([SAID], scope),
        lambda: memory.get("bins", scope),
        lambda: memory.context(ContextRequest("hello", scope)),
        lambda: memory.documents(scope),
        lambda: memory.forget(scope, everything=True),
    ):
        assert refused_field(ask) == f"scope.{name}"


@pytest.mark.parametrize(("name", "value"), bad_fields(ContextRequest))
def test_a_context_request_is_refused_by_its_own_fields(memory: Memory, name: str, value: object) -> None:
    request = replace(ContextRequest("hello", HERE), **{name: value})  # type: ignore[arg-type]  # on purpose
    assert refused_field(lambda: memory.context(request)).partition(".")[0] == name


# what was lost or done unasked


def test_deleting_documents_by_a_text_deletes_nothing(memory: Memory) -> None:
    documents = memory.documents(HERE, "letters")
    for name in "py":
        documents.upsert(f"all about {name}", id=name)
    assert refused_field(lambda: documents.delete("py")) == "ids"
    assert [bool(documents.get(name)) for name in "py"] == [True, True]


def test_a_time_in_milliseconds_is_told_the_unit(memory: Memory) -> None:
    with pytest.raises(InvalidRequest, match=r"^turns\[0\]\.at: must be seconds since the epoch, UTC"):
        memory.record([replace(SAID, at=MILLISECONDS)], HERE)
    assert memory.recall("what is my cat called", HERE)


def test_a_fact_takes_no_metadata_and_stays_as_it_is(memory: Memory) -> None:
    [fact] = [one for one in memory.facts.list(HERE) if one.text != "a tower"]
    assert refused_field(lambda: memory.update(fact.id, HERE, metadata={"by": "me"})) == "metadata"
    both = {"text": "my cat is called Tom", "metadata": {"by": "me"}}
    assert refused_field(lambda: memory.update(fact.id, HERE, **both)) == "metadata"  # type: ignore[arg-type]
    assert refused_field(lambda: memory.update(fact.id, HERE)) == "text"
    assert fact in memory.facts.list(HERE)
    assert fact.value == "Bob"


def test_a_condition_of_forgetting_that_there_is_not_forgets_nothing(memory: Memory) -> None:
    before = counts(memory)
    with pytest.raises(TypeError, match="sesion"):
        memory.forget(HERE, everything=True, sesion=True)
    assert counts(memory) == before


def test_to_forget_by_no_words_forgets_nothing(memory: Memory) -> None:
    before = counts(memory)
    assert memory.forget(HERE, query="") == memory.forget(HERE, query="?!") == 0
    assert counts(memory) == before


def test_what_contains_itself_is_no_metadata(memory: Memory) -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    assert refused_field(lambda: memory.remember("x", HERE, metadata=endless)).startswith("metadata.again")


def test_lists_of_any_kind_are_lists(memory: Memory) -> None:
    for kinds in ({"turn"}, frozenset({"turn"}), ["turn"], ("turn",), {"turn": 1}.keys()):
        assert [hit.kind for hit in memory.recall("what is my cat called", HERE, kinds=kinds)]  # type: ignore[arg-type]
    assert memory.record((SAID,), HERE)
    assert memory.documents(HERE, "letters").delete({"none"}) == 0  # type: ignore[arg-type]  # on purpose


# content blocks


def of_blocks(*blocks: object) -> Turn:
    return Turn("user", list(blocks), lang="en-US")  # type: ignore[arg-type]  # record takes them for their text


def test_a_turn_of_content_blocks_is_kept_as_their_text(memory: Memory) -> None:
    here = Scope(session_id="blocks")
    blocks = [{"type": "text", "text": "my dog is called"}, {"type": "image_url"}, {"type": "text", "text": "Rex"}]
    memory.record([of_blocks(*blocks), Turn("assistant", "hello Rex")], here)
    assert [one.text for one in memory.history(here)] == ["my dog is called\nRex", "hello Rex"]
    memory.restore([{"role": "user", "text": blocks}, Turn("assistant", [{"text": "hi"}])], here)  # type: ignore[arg-type]
    assert [one.text for one in memory.history(here)] == ["my dog is called\nRex", "hi"]


def test_what_is_no_content_block_is_refused_by_its_place(memory: Memory) -> None:
    before = counts(memory)
    wrong = of_blocks("one", {"type": "text", "text": None})
    assert refused_field(lambda: memory.record([SAID, wrong], HERE)) == "turns[1].text[1].text"
    assert refused_field(lambda: memory.restore([wrong], HERE)) == "messages[0].text[1].text"
    assert refused_field(lambda: memory.record([of_blocks("a\0b")], HERE)) == "turns[0].text"
    assert counts(memory) == before
