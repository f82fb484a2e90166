"""What each verb takes."""

from __future__ import annotations

from typing import Any

import pytest

from ovos_persona_memory.errors import InvalidRequest, UnknownVerb
from ovos_persona_memory.protocol import requests, topics
from ovos_persona_memory.records import Request, Scope


def read(verb: str, **data: Any) -> Any:
    return requests.read_request(Request(verb, data, Scope(), request_id=data.get("request_id")))


def refused(verb: str, **data: Any) -> str:
    with pytest.raises(InvalidRequest) as refusal:
        read(verb, **data)
    return refusal.value.field


def test_every_verb_has_its_fields() -> None:
    assert set(requests.FIELDS) == set(topics.VERBS)


def test_unknown_fields_are_ignored() -> None:
    assert read("get", key="k", colour=["red", {"\0": 1}]).key == "k"


def test_a_missing_field_is_named() -> None:
    assert refused("get") == "key"
    assert refused("record", turns=[{"role": "user"}]) == "turns[0].text"


@pytest.mark.parametrize(
    ("verb", "data", "field"),
    [
        ("get", {"key": 5}, "key"),
        ("get", {"key": ""}, "key"),
        ("recall", {"question": "x", "k": "many"}, "k"),
        ("recall", {"question": "x", "k": -1}, "k"),
        ("recall", {"question": "x", "kinds": ["dream"]}, "kinds[0]"),
        ("context", {"utterance": None}, "utterance"),
        ("record", {"turns": [{"role": "cat", "text": "x"}]}, "turns[0].role"),
        ("record", {"turns": {"role": "user"}}, "turns"),
        ("remember", {"text": "x", "metadata": [1]}, "metadata"),
        ("capture", {"write": "yes"}, "write"),
        ("history", {"scope": {"session_id": 1}}, "scope.session_id"),
    ],
)
def test_a_wrong_type_is_refused_by_the_name_of_its_field(verb: str, data: dict[str, Any], field: str) -> None:
    assert refused(verb, **data) == field


def test_a_text_that_is_too_long_is_refused_with_its_length() -> None:
    with pytest.raises(InvalidRequest, match=r"^text: has 1000000 characters, at most 16384 are kept$"):
        read("remember", text="a" * 1_000_000)


@pytest.mark.parametrize("text", ["a\0b", "half \ud83d of it"])
def test_text_that_cannot_be_kept_is_refused_wherever_it_stands(text: str) -> None:
    assert refused("remember", text=text) == "text"
    assert refused("record", turns=[{"role": "user", "text": text}]) == "turns[0].text"
    assert refused("remember", text="x", metadata={"a": [text]}) == "metadata.a[0]"
    assert refused("remember", text="x", metadata={text: 1}) == "metadata"


def test_deep_nesting_is_refused() -> None:
    deep: Any = "x"
    for _ in range(50):
        deep = [deep]
    assert refused("remember", text="x", metadata={"a": deep}).startswith("metadata")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_refused_wherever_it_stands(number: float) -> None:
    assert refused("remember", text="x", metadata={"a": [number]}) == "metadata.a[0]"
    assert refused("recall", question="x", at=number) == "at"


def test_a_time_in_milliseconds_is_told_the_unit() -> None:
    with pytest.raises(InvalidRequest, match=r"^turns\[0\]\.at: must be seconds since the epoch"):
        read("record", turns=[{"role": "user", "text": "x", "at": 1_795_298_400_000}])
    assert read("record", turns=[{"role": "user", "text": "x", "at": 1_795_298_400}]).turns[0].at == 1_795_298_400


def test_content_blocks_are_read_as_their_text() -> None:
    blocks = [{"type": "text", "text": "one"}, {"type": "image_url"}, {"type": "text", "text": "two"}]
    assert read("record", turns=[{"role": "user", "text": blocks}]).turns[0].text == "one\ntwo"
    assert refused("record", turns=[{"role": "user", "text": [{"type": "text"}]}]) == "turns[0].text[0].text"
    assert refused("record", turns=[{"role": "user", "text": [{"text": "a" * 16_000}] * 2}]) == "turns[0].text"
    assert refused("record", turns=[{"role": "user", "text": [{"text": "a\0b"}]}]) == "turns[0].text[0].text"


@pytest.mark.parametrize("request_id", [5, ["r"], "r" * 300, "r\0"])
def test_a_request_id_that_cannot_be_echoed_safely_is_refused(request_id: Any) -> None:
    assert refused("status", request_id=request_id) == "request_id"


def test_an_unknown_verb_is_named() -> None:
    with pytest.raises(UnknownVerb, match="'dream'"):
        read("dream")
