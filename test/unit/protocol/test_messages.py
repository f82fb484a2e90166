"""The reader of bus messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ovos_bus_client.message import Message

from ovos_persona_memory.protocol import messages, topics
from ovos_persona_memory.protocol.messages import Envelope, MalformedSession
from ovos_persona_memory.records import Scope, is_clean


def envelope(topic: str, data: dict[str, Any] | None = None, **context: Any) -> Envelope:
    return messages.decode(json.dumps({"type": topic, "data": data or {}, "context": context}).encode(), 5.0)


def test_an_utterance_is_read_with_its_session_site_and_language() -> None:
    session = {"session_id": "s1", "site_id": "kitchen", "lang": "de-DE"}
    heard = messages.heard(envelope("recognizer_loop:utterance", {"utterances": [" hallo ", "halo"]}, session=session))
    assert (heard.what, heard.text, heard.session_id) == ("utterance", "hallo", "s1")
    assert (heard.scope.site_id, heard.lang, heard.at) == ("kitchen", "de-DE", 5.0)


@pytest.mark.parametrize("topic", ["speak", "ovos.utterance.speak"])
def test_speech_is_read_with_what_it_answers(topic: str) -> None:
    data = {"utterance": "sunny", "expect_response": True, "meta": {"dialog": "weather", "skill": "w.me"}}
    heard = messages.heard(envelope(topic, data, utterance_id="u1", scheduler=1))
    assert (heard.what, heard.text, heard.utterance_id, heard.skill_id) == ("speech", "sunny", "u1", "w.me")
    assert (heard.expects_reply, heard.scheduled, heard.dialog) == (True, True, "weather")


def test_a_message_without_a_session_is_of_the_default_session() -> None:
    assert messages.heard(envelope("speak", {"utterance": "hi"})).session_id == "default"


@pytest.mark.parametrize("session", ["s1", 7, ["s1"], True])
def test_a_session_that_is_no_object_is_malformed(session: Any) -> None:
    with pytest.raises(MalformedSession):
        messages.heard(envelope("speak", {"utterance": "hi"}, session=session))


def test_a_user_id_on_a_message_is_ignored() -> None:
    heard = messages.heard(envelope("speak", {"utterance": "hi"}, session={"session_id": "s", "user_id": "alice"}))
    assert heard.scope.user_id == "household"


def test_an_out_of_band_answer_carries_its_question() -> None:
    answer = {"persona_id": "Scribe", "utterance": "who?", "response": "you"}
    heard = messages.heard(envelope("ovos.persona.answer", answer))
    assert (heard.text, heard.question, heard.persona_id) == ("you", "who?", "Scribe")
    assert messages.heard(envelope("ovos.persona.answer", {**answer, "response": None})).text == ""


def test_the_marked_copy_of_a_message_under_its_old_name_is_dropped() -> None:
    twins = messages.DuplicateFilter()
    assert not twins.is_copy(envelope("ovos.utterance.speak", {"utterance": "hi"}, utterance_id="u"))
    assert twins.is_copy(envelope("speak", {"utterance": "hi"}, utterance_id="u", _namespace_compat_twin=True))


def test_a_mark_alone_does_not_make_a_copy() -> None:
    twins = messages.DuplicateFilter()
    assert not twins.is_copy(envelope("speak", {"utterance": "hi"}, _namespace_compat_twin=True))
    assert not twins.is_copy(envelope("speak", {"utterance": "hi"}))


def test_the_same_thing_said_twice_is_no_copy() -> None:
    twins = messages.DuplicateFilter()
    both = [twins.is_copy(envelope("ovos.utterance.speak", {"utterance": "hi"})) for _ in range(2)]
    assert both == [False, False]


def test_an_answer_is_what_message_response_makes() -> None:
    context = {"session": {"session_id": "s1"}, "source": "me", "destination": ["skills", "x"], "other": 1}
    asked = messages.request(envelope(topics.request("get"), {"key": "k", "request_id": "r1"}, **context))
    assert asked is not None
    ours = json.loads(messages.response(asked, {"ok": True}))
    theirs = Message(topics.request("get"), {}, context).response({"ok": True, "request_id": "r1"})
    assert (ours["type"], ours["data"], ours["context"]) == (theirs.msg_type, theirs.data, theirs.context)


def test_events_and_answers_of_ours_are_no_requests() -> None:
    for topic in (topics.RECORDED, topics.FORGOTTEN, topics.CAPTURED, topics.response("get"), "speak"):
        assert messages.request(envelope(topic)) is None


@pytest.mark.parametrize("frame", [b"", b"nonsense", b"[1]", b'"text"', b'{"type": 5}', b"\xff\xfe"])
def test_a_frame_that_is_no_message_is_nobodys_request(frame: bytes) -> None:
    assert messages.request(messages.decode(frame, 0.0)) is None


def test_a_request_nested_too_deeply_is_still_a_request() -> None:
    topic = topics.request("get")
    frame = f'{{"type": "{topic}", "data": {{"request_id": "r1", "key": {"[" * 9000}{"]" * 9000}}}}}'.encode()
    asked = messages.request(messages.decode(frame, 0.0))
    assert asked is not None
    assert (asked.verb, asked.request_id) == ("get", "r1")
    assert asked.unreadable


def test_what_is_heard_is_kept_without_nul_and_half_characters() -> None:
    assert messages.cleaned(" a\0b ") == "ab"
    assert is_clean(messages.cleaned("a\ud800b"))
    assert is_clean("grüße 😀 \ue000")


def test_an_overlong_utterance_is_shortened_visibly_in_the_middle() -> None:
    kept = messages.cleaned("a" * 20_000 + "b" * 20_000)
    assert len(kept) <= messages.MAX_UTTERANCE
    assert kept.startswith("aaa")
    assert " […] " in kept
    assert kept.endswith("bbb")


def test_a_request_takes_the_context_of_the_message_that_is_handled() -> None:
    handled = Message(
        "persona:query",
        {"persona": "Scribe"},
        {"utterance_id": "u9", "session": {"session_id": "s1", "site_id": "den", "lang": "de-DE"}},
    )

    def skill(message: Message) -> dict[str, Any]:
        return messages.context_of_caller(Scope(session_id="s1"))

    context = skill(handled)
    assert context["utterance_id"] == "u9"
    assert context["session"] == {"session_id": "s1", "site_id": "den", "lang": "de-DE", "persona_id": "Scribe"}


def test_the_persona_that_a_message_asks_is_the_one_that_asks_the_memory() -> None:
    session = {"session_id": "s1", "persona_id": "Scribe"}
    handled = Message("ovos.persona.query", {"persona_id": "Ada", "utterance": "who"}, {"session": session})

    def persona(message: Message) -> dict[str, Any]:
        return messages.context_of_caller(Scope(session_id="s1"))

    assert persona(handled)["session"]["persona_id"] == "Ada"
    assert session["persona_id"] == "Scribe", "the message stays as it is"


def test_a_handled_message_of_another_session_is_not_taken() -> None:
    def skill(message: Message) -> dict[str, Any]:
        return messages.context_of_caller(Scope(session_id="s2"))

    handled = Message("persona:query", {}, {"session": {"session_id": "s1"}})
    assert skill(handled) == {"session": {"session_id": "s2"}}


def session_below(message: Message | None, frames: int) -> str | None:
    """The caller's session, asked so many frames below the handler of a message."""
    return messages.session_of_caller() if frames == 0 else session_below(None, frames - 1)


def test_the_session_of_the_caller_is_found_deep_in_an_agent_loop() -> None:
    handled = Message("persona:query", {}, {"session": {"session_id": "s1"}})
    assert session_below(handled, 40) == "s1"


@pytest.mark.parametrize("session", [None, "s1", [], {}, {"session_id": ""}, {"session_id": 7}])
def test_a_caller_without_a_session_has_none_rather_than_the_default(session: object) -> None:
    handled = Message("persona:query")
    handled.context["session"] = session
    assert session_below(handled, 1) is None
    assert session_below(None, 1) is None


def test_a_plugins_request_and_its_answer_are_addressed_to_no_satellite() -> None:
    def asking(message: Message) -> dict[str, Any]:
        return messages.context_of_caller(Scope(session_id="s1"))

    satellite = "sat::1::ana-phone::s1"
    session = {"session": {"session_id": "s1"}, "peer": satellite}
    for source, destination in (("skills", satellite), (satellite, "hivemind"), ("skills", [satellite, "audio"])):
        handled = Message("persona:query", {}, {**session, "source": source, "destination": destination})
        context = asking(handled)
        asked = messages.request(envelope(topics.request("get"), {"key": "k"}, **context))
        assert asked is not None
        answered = json.loads(messages.response(asked, {"ok": True}))["context"]
        for one in (context, answered):
            assert satellite not in str((one["source"], one["destination"]))
            assert one["peer"] == satellite
        assert handled.context["destination"] == destination
