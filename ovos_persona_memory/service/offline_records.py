"""Serialisation of the offline queue: an event or a request, without any secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from ovos_persona_memory.extraction import without_secrets
from ovos_persona_memory.records import Heard, Request, replace_fast, text_of
from ovos_persona_memory.service.inbox import Arrival
from ovos_persona_memory.stores import QueuedArrival
from ovos_persona_memory.text import tells_secret


def record_of(arrival: Arrival, tried: bool, bare: bool = False) -> QueuedArrival:
    """The queued form of an arrival. ``tried``: the store may hold it already; ``bare``: its text is left out."""
    what = arrival.what
    if isinstance(what, Heard):
        body = encoded(replace(what, text="", question="", detail={}, secret=True) if bare else _without_secret(what))
        return QueuedArrival(what.id, "heard", arrival.at, body, arrival.owner, tried)
    data = {**what.data, "turns": [_turn_without_secret(turn) for turn in what.data.get("turns", ())]}
    body = encoded(replace_fast(what, data=data if what.verb == "record" else what.data, context={}))
    return QueuedArrival(what.id, "request", arrival.at, body, arrival.owner, tried)


def encoded(what: Heard | Request) -> bytes:
    """The body of a queued arrival."""
    return msgspec.json.encode(what)


def read_record(kept: QueuedArrival) -> Heard | Request:
    """The event or request of a queued arrival."""
    if kept.kind == "heard":
        return msgspec.json.decode(kept.body, type=Heard)
    return msgspec.json.decode(kept.body, type=Request)


def _without_secret(heard: Heard) -> Heard:
    """The event without its secret: secrets never reach a disk."""
    if not any(tells_secret(text, heard.lang) for text in (heard.text, heard.question)):
        return heard
    left = without_secrets(heard.text, heard.lang) if heard.what in ("utterance", "matched") else ""
    return replace(heard, text=left, question="", detail={}, secret=True)


def _turn_without_secret(turn: Mapping[str, Any]) -> Mapping[str, Any]:
    text = text_of(turn.get("text", ""))
    if not tells_secret(text, turn.get("lang")):
        return {**turn, "text": text}
    return {**turn, "text": without_secrets(text, turn.get("lang")) if turn.get("role") == "user" else ""}
