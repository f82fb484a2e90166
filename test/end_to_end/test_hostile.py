"""Requests that nobody should send: each is answered once, refused by the name of its field, and the daemon lives."""

from __future__ import annotations

import json
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.servers.bus import Bus, Daemon, Wire
from support.servers.ports import free_port

from ovos_persona_memory.protocol import requests, topics
from ovos_persona_memory.service import authorization

QUICK = settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
SESSION = {"session": {"session_id": "hostile"}}
RIGHT: dict[str, dict[str, Any]] = {
    "context": {"utterance": "what now"},
    "record": {"turns": [{"role": "user", "text": "hello"}]},
    "history": {},
    "turn": {"id": "none"},
    "sessions": {},
    "session.update": {},
    "session.snapshot": {},
    "session.restore": {"messages": [{"role": "user", "text": "hello"}]},
    "session.to_summarise": {},
    "session.trim": {},
    "session.clear": {},
    "recall": {"question": "what now"},
    "remember": {"text": "the bins go out on Tuesday"},
    "get": {"key": "bins"},
    "list": {},
    "update": {"key": "bins", "text": "the bins go out on Monday"},
    "forget": {"key": "bins"},
    "correct": {"id": "none", "text": "the bins go out on Monday"},
    "referents": {},
    "document.upsert": {"text": "Lisbon has a castle"},
    "document.search": {"query": "castle"},
    "document.get": {"id": "lisbon"},
    "document.list": {},
    "document.delete": {"ids": ["lisbon"]},
    "document.clear": {},
    "capture": {},
    "users": {},
    "why": {"key": "none"},
    "episodes": {},
    "facts": {},
    "facts.history": {"id": "none"},
    "facts.add": {"text": "the bins go out on Tuesday"},
    "facts.update": {"id": "none"},
    "facts.review": {"id": "none", "accept": False},
    "facts.decisions": {},
    "facts.audit": {},
    "status": {},
}
"""A request that is well formed, for each verb that the bus is not refused whatever it asks."""
KNOW_NO_SUCH_ID = {"correct", "facts.history", "facts.review", "facts.update"}
LONE = "half a \ud83d character"
HUGE = 10**30
DEEP: Any = "bottom"
for _ in range(200):
    DEEP = {"deeper": DEEP}
ODD_VALUES = [
    *(True, 0, -1, 1.5, HUGE, -HUGE, float("nan"), float("inf"), float("-inf"), "", "text", "a\0b", LONE),
    *("x" * 1_000_000, [], [[]], [None], {}, {"a": {}}, ["x"] * 20_000, DEEP, [{"role": "user"}]),
]
odd_values = st.sampled_from(ODD_VALUES) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(
    [(verb, name) for verb in topics.VERBS if verb in RIGHT for name in requests.FIELDS[verb].__struct_fields__]
)


@pytest.fixture(scope="module")
def bus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bus]:
    process = Bus(tmp_path_factory.mktemp("bus"), free_port(), trusting=True)
    yield process
    process.kill()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, bus: Bus) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("daemon")
    process = Daemon(folder / "home", folder / "memory", bus.port)
    yield process.wait_ready()
    process.kill()


@pytest.fixture(scope="module")
def wire(bus: Bus, daemon: Daemon) -> Iterator[Wire]:
    """The connection; after all tests the daemon lives, works, and its file is whole."""
    with Wire(bus.port) as connection:
        yield connection
        daemon.check()
        recorded = connection.ask("record", RIGHT["record"], "afterwards")
        assert recorded["ok"], recorded
        assert connection.ask("forget", {"ids": recorded["ids"]}, "afterwards")["forgotten"] == 1
    database = sqlite3.connect(f"file:{daemon.data / 'memory.db'}?mode=ro", uri=True)
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()


def answers(wire: Wire, frame: str, verb: str) -> list[dict[str, Any]]:
    """Every answer on the verb's topic to this frame: what came before the answer to a request sent after it."""
    wire.send_text(frame)
    fence = wire.new_id()
    wire.send(topics.request("status"), {"request_id": fence}, SESSION)
    heard = wire.until(topics.response("status"), fence)[:-1]
    return [message["data"] for message in heard if message.get("type") == topics.response(verb)]


def the_answer(wire: Wire, verb: str, data: Any, context: Any = None) -> dict[str, Any]:
    """The one answer to a request; AssertionError where there are none, or two."""
    return the_answer_to_frame(wire, verb, frame_of(verb, data, SESSION if context is None else context))


def the_answer_to_frame(wire: Wire, verb: str, frame: str) -> dict[str, Any]:
    found = answers(wire, frame, verb)
    assert len(found) == 1, f"{len(found)} answers to {frame[:300]}"
    assert isinstance(found[0].get("took_ms"), int | float)
    return found[0]


def frame_of(verb: str, data: Any, context: Any) -> str:
    return json.dumps({"type": topics.request(verb), "data": data, "context": context})


def assert_refused_by_name(answer: dict[str, Any], field: str) -> None:
    assert answer["ok"] is False, f"{field} was taken: {str(answer)[:300]}"
    assert answer["error"] == "invalid", str(answer)[:300]
    named, _, problem = answer["reason"].partition(": ")
    assert named.partition("[")[0].partition(".")[0] == field, answer["reason"][:300]
    assert problem, answer
    assert len(answer["reason"]) < 1000, "a reason is for people"


def test_every_verb_of_the_bus_is_attacked_here() -> None:
    assert set(RIGHT) | authorization.OWNERS == set(topics.VERBS)


@given(field=fields, value=odd_values)
@settings(QUICK, max_examples=250)
def test_an_odd_value_in_any_field_is_answered_once_and_a_refusal_names_the_field(
    wire: Wire, field: tuple[str, str], value: Any
) -> None:
    verb, name = field
    answer = the_answer(wire, verb, {**RIGHT[verb], name: value, "request_id": "r"})
    assert answer["request_id"] == "r"
    if not answer["ok"]:
        assert answer["error"] in ("invalid", "unknown_entry", "not_allowed"), str(answer)[:300]
    if answer.get("error") == "invalid" and not answer["reason"].startswith("data: "):
        assert_refused_by_name(answer, name)


WRONG = [
    ("a number", 5),
    ("a text", "text"),
    ("a list", [1]),
    ("an object", {"x": 1}),
    ("true", True),
]
WRONG_FIELDS = [
    (verb, name, what) for verb, kind in requests.FIELDS.items() for name in kind.__struct_fields__ for what, _ in WRONG
]


def is_right(verb: str, name: str, what: str) -> bool:
    """Whether a value of this type may stand in the field, by the interface of the requests."""
    kind = str(requests.FIELDS[verb].__annotations__[name])
    accepted = {
        "a number": any(word in kind for word in ("Count", "Few", "Threshold", "Seconds")),
        "a text": any(word in kind for word in ("Text", "Name")) and "list" not in kind,
        "a list": kind.startswith("Embedding"),
        "an object": "dict" in kind or "ScopeFields" in kind,
        "true": kind.startswith("bool"),
    }
    return accepted[what]


@pytest.mark.parametrize("verb", sorted(RIGHT))
def test_a_wrong_type_in_any_field_is_refused_by_the_name_of_the_field(wire: Wire, verb: str) -> None:
    values = dict(WRONG)
    for of_verb, name, what in WRONG_FIELDS:
        if of_verb == verb and not is_right(verb, name, what):
            assert_refused_by_name(the_answer(wire, verb, {**RIGHT[verb], name: values[what]}), name)


@pytest.mark.parametrize(
    ("verb", "name"), [(v, n) for v, fields in RIGHT.items() for n in fields if v not in ("update", "why")]
)
def test_a_missing_field_is_refused_by_its_name(wire: Wire, verb: str, name: str) -> None:
    data = {field: value for field, value in RIGHT[verb].items() if field != name}
    if (verb, name) == ("forget", "key"):
        assert the_answer(wire, verb, data)["error"] == "invalid"
        return
    answer = the_answer(wire, verb, data)
    assert_refused_by_name(answer, name)
    assert "missing" in answer["reason"]


TEXT_FIELDS = [("context", "utterance"), ("recall", "question"), ("remember", "text"), ("remember", "key"),
               ("get", "key"), ("update", "text"), ("forget", "query"), ("context", "system_prompt")]  # fmt: skip


@pytest.mark.parametrize(("verb", "name"), TEXT_FIELDS)
@pytest.mark.parametrize("what", ["a megabyte", "a NUL", "half a character"])
def test_text_that_cannot_be_kept_is_refused_by_the_name_of_its_field(
    wire: Wire, verb: str, name: str, what: str
) -> None:
    text = {"a megabyte": "x" * 1_000_000, "a NUL": "a\0b", "half a character": LONE}[what]
    assert_refused_by_name(the_answer(wire, verb, {**RIGHT[verb], name: text}), name)


@pytest.mark.parametrize("text", ["x" * 1_000_000, "a\0b", LONE], ids=["a megabyte", "a NUL", "half a character"])
def test_a_turn_that_cannot_be_kept_is_refused_and_its_neighbours_are_not_recorded(wire: Wire, text: str) -> None:
    turns = [{"role": "user", "text": "a good one"}, {"role": "assistant", "text": text}]
    context = {"session": {"session_id": "neighbours"}}
    answer = the_answer(wire, "record", {"turns": turns}, context)
    assert_refused_by_name(answer, "turns")
    assert "turns[1].text" in answer["reason"]
    assert wire.ask("sessions", {}, "neighbours")["sessions"] == []


@pytest.mark.parametrize("depth", [20, 200, 900, 5_000, 200_000])
@pytest.mark.parametrize("verb", ["remember", "record", "status"])
def test_deep_nesting_is_answered_once(wire: Wire, verb: str, depth: int) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    inside = {
        "remember": f'"text": "deep", "metadata": {nested}',
        "record": f'"turns": [{{"role": "user", "text": "deep", "tool_calls": [{{"id": "1", "name": "n", '
        f'"arguments": {nested}}}]}}]',
        "status": f'"unknown": {nested}',
    }[verb]
    frame = f'{{"type": "{topics.request(verb)}", "data": {{"request_id": "deep", {inside}}}, "context": {{}}}}'
    answer = the_answer_to_frame(wire, verb, frame)
    if verb != "status":
        assert answer["error"] == "invalid", answer


@pytest.mark.parametrize("depth", [200, 900, 5_000])
@pytest.mark.parametrize("place", ["context", "session", "request_id"])
def test_deep_nesting_around_a_request_is_answered_at_most_once(wire: Wire, place: str, depth: int) -> None:
    nested = "[" * depth + "]" * depth
    request_id = nested if place == "request_id" else '"deep"'
    context = {"context": f'{{"x": {nested}}}', "session": f'{{"session": {{"x": {nested}}}}}'}.get(place, "{}")
    frame = f'{{"type": "{topics.request("list")}", "data": {{"request_id": {request_id}}}, "context": {context}}}'
    assert len(answers(wire, frame, "list")) == 1


NOT_JSON_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "9" * 400, "9" * 6000, "-" + "9" * 25, "0.1e-9999"]


@pytest.mark.parametrize("number", NOT_JSON_NUMBERS, ids=lambda number: number[:12])
@pytest.mark.parametrize(("verb", "name"), [("recall", "k"), ("recall", "at"), ("list", "offset"), ("forget", "since")])
def test_numbers_that_are_none_or_too_large_are_refused(wire: Wire, verb: str, name: str, number: str) -> None:
    assume_small = number == "0.1e-9999" and name in ("at", "since")
    rest = json.dumps(RIGHT[verb])[1:-1]
    data = f'"request_id": "n", "{name}": {number}' + (f", {rest}" if rest else "")
    frame = f'{{"type": "{topics.request(verb)}", "data": {{{data}}}, "context": {json.dumps(SESSION)}}}'
    answer = the_answer_to_frame(wire, verb, frame)
    assert answer["request_id"] == "n"
    if not assume_small:
        assert answer["ok"] is False, answer
        assert answer["error"] == "invalid"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "9" * 40], ids=lambda number: number[:12])
def test_metadata_with_odd_numbers_is_answered_once_and_can_be_read_afterwards(wire: Wire, number: str) -> None:
    data = f'"text": "odd", "key": "odd-number", "metadata": {{"n": {number}}}'
    frame = f'{{"type": "{topics.request("remember")}", "data": {{{data}}}, "context": {json.dumps(SESSION)}}}'
    answer = the_answer_to_frame(wire, "remember", frame)
    if answer["ok"]:
        kept = the_answer(wire, "get", {"key": "odd-number"})
        assert kept["ok"], kept
        assert the_answer(wire, "list", {"limit": 1000})["ok"]
        assert the_answer(wire, "forget", {"key": "odd-number"})["ok"]
    else:
        assert answer["error"] == "invalid"


@pytest.mark.parametrize("verb", sorted(RIGHT))
@pytest.mark.parametrize("request_id", [5, 1.5, True, None, [], ["a"], {"a": 1}, "", HUGE, "x" * 100_000, "a\0b", LONE])
def test_a_request_id_of_any_type_gets_one_answer(wire: Wire, verb: str, request_id: Any) -> None:
    answer = the_answer(wire, verb, {**RIGHT[verb], "request_id": request_id})
    if not answer["ok"] and answer["error"] != "unknown_entry":
        assert_refused_by_name(answer, "request_id")


@pytest.mark.parametrize("verb", sorted(RIGHT))
def test_a_request_without_a_request_id_is_answered_without_one(wire: Wire, verb: str) -> None:
    assert "request_id" not in the_answer(wire, verb, RIGHT[verb])


@pytest.mark.parametrize("verb", sorted(RIGHT))
def test_unknown_fields_are_ignored(wire: Wire, verb: str) -> None:
    answer = the_answer(wire, verb, {**RIGHT[verb], "newer": {"x": [1, None]}, "": 1, "a.b": "c", LONE: "\0"})
    assert answer["ok"] or answer["error"] == "unknown_entry", answer


@pytest.mark.parametrize("verb", sorted(RIGHT))
@pytest.mark.parametrize("data", [None, 5, "text", [], [{}], True])
def test_data_that_is_no_object_is_answered_once(wire: Wire, verb: str, data: Any) -> None:
    answer = the_answer(wire, verb, data)
    if data is not None:
        assert_refused_by_name(answer, "data")


@pytest.mark.parametrize("verb", ["why.none", "users.none", "no such verb", "", ".", "x" * 5000, "\u00fc", "a\0b"])
def test_a_verb_that_does_not_exist_is_refused_once_with_its_own_error(wire: Wire, verb: str) -> None:
    assert verb not in topics.VERBS
    answer = the_answer(wire, verb, {"request_id": "u"})
    assert answer["ok"] is False
    assert answer["error"] == "unknown_verb"
    assert answer["request_id"] == "u"


@pytest.mark.parametrize("topic", [topics.RECORDED, topics.FORGOTTEN, topics.CAPTURED, topics.response("get")])
def test_events_and_answers_are_not_taken_for_requests(wire: Wire, topic: str) -> None:
    verb = topic.removeprefix(topics.PREFIX)
    assert answers(wire, json.dumps({"type": topic, "data": {}, "context": SESSION}), verb) == []


NO_MESSAGES = ["", "{", "[]", "5", "null", '"text"', '{"type": 5}', '{"data": {}}', "\0", "x" * 100_000]
NO_MESSAGES += [
    '{"type": null, "data": {}}',
    '{"type": "ovos.persona.memory."}',
    '{"type": "ovos.persona.memory.get.response"}',
]


@pytest.mark.parametrize("frame", NO_MESSAGES, ids=lambda frame: frame[:30])
def test_a_frame_that_is_no_message_disturbs_nobody(wire: Wire, frame: str) -> None:
    assert answers(wire, frame, "status") == []


def test_a_frame_of_a_known_verb_that_breaks_off_is_answered_at_most_once(wire: Wire) -> None:
    whole = frame_of("remember", {**RIGHT["remember"], "request_id": "cut"}, SESSION)
    for length in range(len(whole) // 3, len(whole), 7):
        found = answers(wire, whole[:length], "remember")
        assert len(found) <= 1
        assert not any(answer["ok"] for answer in found)


NO_OBJECTS = [5, "text", [], True, 0, "", ["default"]]


@pytest.mark.parametrize("verb", sorted(RIGHT))
@pytest.mark.parametrize("session", NO_OBJECTS, ids=repr)
def test_a_session_that_is_no_object_gets_no_answer(wire: Wire, verb: str, session: Any) -> None:
    assert answers(wire, frame_of(verb, RIGHT[verb], {"session": session}), verb) == []


@pytest.mark.parametrize("session", NO_OBJECTS, ids=repr)
def test_what_comes_with_a_session_that_is_no_object_is_recorded_nowhere(wire: Wire, session: Any) -> None:
    before = recorded(wire)
    assert answers(wire, frame_of("record", RIGHT["record"], {"session": session}), "record") == []
    for topic, data in (
        ("recognizer_loop:utterance", {"utterances": ["whose is this"], "lang": "en-US"}),
        ("speak", {"utterance": "nobody's", "expect_response": False}),
    ):
        wire.send(topic, data, {"session": session})
    assert recorded(wire) == before


@pytest.mark.parametrize("context", [5, "text", [], True])
def test_what_comes_with_a_context_that_is_no_object_is_recorded_nowhere(wire: Wire, context: Any) -> None:
    before = recorded(wire)
    found = answers(wire, frame_of("record", RIGHT["record"], context), "record")
    assert not any(answer["ok"] for answer in found)
    wire.send_text(
        json.dumps({"type": "recognizer_loop:utterance", "data": {"utterances": ["whose"]}, "context": context})
    )
    assert recorded(wire) == before


def recorded(wire: Wire) -> int:
    """How many turns there are."""
    return int(wire.ask("status")["counts"]["turns"])


@pytest.mark.parametrize("session", [None, {}, {"session_id": None}, {"session_id": 5}, {"session_id": ""}], ids=repr)
def test_a_session_without_a_usable_name_is_the_default_one(wire: Wire, session: Any) -> None:
    # OVOS-SESSION-1, section 2: null, and a field of the wrong type, are as if they were left out
    assert wire.ask("session.clear", {}, "default")["ok"]
    answer = the_answer(wire, "record", RIGHT["record"], {"session": session})
    assert answer["ok"]
    assert [s["session_id"] for s in wire.ask("sessions", {}, "default")["sessions"]] == ["default"]
    assert wire.ask("session.clear", {}, "default")["forgotten"] == 1


@pytest.mark.parametrize(
    "scope",
    [{"everyone": True}, {"user_id": "alice"}, {"session_id": "somebody-else"}, {"persona_id": "p"}, {"site_id": "s"}],
    ids=repr,
)
@pytest.mark.parametrize("verb", sorted(verb for verb in RIGHT if verb != "status"))
def test_over_the_bus_no_scope_but_the_messages_own_is_reached(wire: Wire, verb: str, scope: dict[str, Any]) -> None:
    answer = the_answer(wire, verb, {**RIGHT[verb], "scope": scope})
    assert answer["ok"] is False
    assert answer["error"] == "not_allowed"
    assert f"scope.{next(iter(scope))}".replace("everyone", "user_id") in answer["reason"]


def test_what_is_heard_in_any_shape_disturbs_nobody(wire: Wire) -> None:
    odd: list[Any] = [None, 5, "", [], [None], [5], {}, LONE, "a\0b", DEEP, HUGE]
    for topic in (*topics.UTTERANCE, *topics.SPEAK, *topics.HANDLED, *topics.CANCELLED, *topics.MATCHED):
        for value in odd:
            for data in (value, {"utterances": value, "utterance": value, "lang": value, "meta": value}):
                context = {**SESSION, "utterance_id": value, "scheduler": value, "skill_id": value}
                wire.send_text(json.dumps({"type": topic, "data": data, "context": context}))
    assert wire.ask("status")["ok"]
    assert wire.ask("session.clear", {}, "hostile")["ok"]


@pytest.mark.parametrize("verb", sorted(RIGHT))
def test_the_owners_door_answers_hostile_lines_once_too(daemon: Daemon, verb: str) -> None:
    lines = [
        frame_of(verb, 5, {}),
        frame_of(verb, {**RIGHT[verb], "request_id": HUGE}, {}),
        frame_of(verb, {**RIGHT[verb], "request_id": "deep", "x": DEEP}, {}),
        frame_of(verb, {**RIGHT[verb], "request_id": LONE}, {}),
    ]
    errors = [answer.get("error") for answer in answers_at_the_door(daemon.data, lines)]
    assert errors[0] == errors[1] == errors[3] == "invalid"
    wants_a_session = verb.startswith("session.") or verb == "referents"
    assert errors[2] == "invalid" if wants_a_session else errors[2] in (None, "unknown_entry")


def test_the_owners_door_refuses_a_verb_that_does_not_exist(daemon: Daemon) -> None:
    assert [a["error"] for a in answers_at_the_door(daemon.data, [frame_of("none", {}, {})])] == ["unknown_verb"]


@pytest.mark.parametrize("line", NO_MESSAGES, ids=lambda line: line[:30])
def test_a_line_at_the_door_that_is_no_message_does_not_shut_it(daemon: Daemon, line: str) -> None:
    answers_at_the_door(daemon.data, [line])


def answers_at_the_door(folder: Path, lines: list[str]) -> list[dict[str, Any]]:
    """What the owner's door says to these lines, up to its answer to a request sent after them."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door, door.makefile("rb") as heard:
        door.settimeout(10)
        door.connect(str(folder / "door.sock"))
        door.sendall(
            "".join(f"{line}\n" for line in [*lines, frame_of("status", {"request_id": "fence"}, {})]).encode()
        )
        found: list[dict[str, Any]] = []
        while not found or found[-1].get("request_id") != "fence":
            found.append(json.loads(heard.readline())["data"])
        return found[:-1]
