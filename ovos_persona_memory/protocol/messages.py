"""The only reader of bus messages: frames become events and requests here, and answers become frames."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
from ovos_bus_client.message import Message, dig_for_message
from ovos_bus_client.session import Session

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.protocol import message_values as values
from ovos_persona_memory.protocol import topics
from ovos_persona_memory.protocol.message_values import MAX_UTTERANCE as MAX_UTTERANCE
from ovos_persona_memory.protocol.message_values import cleaned as cleaned
from ovos_persona_memory.records import DEFAULT_SESSION, MAX_USER_ID, Claim, Heard, Request, Scope

HIGHEST_LEVEL, HIGHEST_ON_DEFAULT = 5, 1
"""OVOS-USER-ID-1, section 3.2: everybody on the device shares the default session."""


def claim_in(session: Mapping[str, Any], on_default: bool, context: Mapping[str, Any]) -> Claim:
    """Who a session says is speaking, and how surely. What cannot be read counts as left out."""
    highest = HIGHEST_ON_DEFAULT if on_default else HIGHEST_LEVEL
    level = min(_level(session.get("auth_level")), highest)
    return Claim(_name(session.get("user_id")), level, _client(context.get("peer")))


def _client(peer: Any) -> str | None:
    """The name of a HiveMind client, of the ``peer`` that its hub writes into the context.

    That is ``useragent::number::name::session``: the client states the first, which can hold no colon, and the last. So
    hivemind-websocket-protocol and hivemind-http-protocol make it (read in 0.0.3, 1.0.6a1 and 0.0.20a2).
    """
    if not isinstance(peer, str):
        return None
    parts = peer.split("::", 3)
    return parts[2] if len(parts) == 4 and parts[1].isdecimal() else ""


def _name(value: Any) -> str | None:
    if isinstance(value, str) and value.strip() and len(value) <= MAX_USER_ID and "\0" not in value:
        with suppress(UnicodeEncodeError):  # half of a surrogate pair
            value.encode()
            return value
    return None


def _level(value: Any) -> int:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and value in range(HIGHEST_LEVEL + 1)
    return int(value) if known else 0


FRAMES = 50
"""Of the stack that are searched for the message being handled: an agent loop lies deep."""
MAX_DETAIL = 2000
"""Characters of slots, arguments or an error that an episode keeps."""
_TWINS = dict([topics.UTTERANCE, topics.SPEAK])
_TWIN_MARK = "_namespace_compat_twin"
"""Set by bus-client 2.x on the old-name copy of a message that it also sent under the new name."""


class MalformedSession(InvalidRequest):
    """The session of the message is not an object."""


@dataclass(frozen=True)
class Envelope:
    """One bus message."""

    topic: str
    data: Mapping[str, Any]
    context: Mapping[str, Any]
    received_at: float
    """Seconds since the epoch, UTC."""
    unreadable: str | None = None
    """What is wrong with a frame that could be read in part only."""
    malformed: bool = False
    """Its context is no object: whose it is cannot be told."""


@dataclass(frozen=True)
class Addressed:
    """One utterance that was given to the skill."""

    text: str
    """As it was matched: transformers may have rewritten it."""
    forms: tuple[str, ...]
    """All forms that the assistant went by, the one that was heard among them."""
    slots: Mapping[str, str]
    """What the intent's slots took; empty for a reply."""
    session_id: str
    site_id: str | None
    lang: str | None
    zone: str | None
    """The person's time zone, as in the IANA database; None: that of the device."""


def decode(frame: bytes, received_at: float) -> Envelope:
    """The message in a frame; one that is not valid throughout is read as far as it goes."""
    unreadable = None
    try:
        raw = msgspec.json.decode(frame)
    except (msgspec.MsgspecError, RecursionError):
        raw, unreadable = values.decoded_leniently(frame)
    raw = raw if isinstance(raw, dict) else {}
    data, context = raw.get("data"), raw.get("context")
    if data is not None and not isinstance(data, dict):
        unreadable = "data: must be an object"
    return Envelope(
        topic=str(raw.get("type", "")),
        data=data if isinstance(data, dict) else {},
        context=context if isinstance(context, dict) else {},
        received_at=received_at,
        unreadable=unreadable,
        malformed=context is not None and not isinstance(context, dict),
    )


class DuplicateFilter:
    """Tells the copies that a sender of the current line adds under an old topic name.

    A copy is dropped only where its original was seen just before: the mark alone proves nothing,
    since replies inherit it.
    """

    def __init__(self, remembered: int = 64) -> None:
        self._seen: dict[tuple[str, bytes], None] = {}
        self._remembered = remembered

    def is_copy(self, message: Envelope) -> bool:
        """Whether this very event has been seen under its new name."""
        if message.topic in _TWINS.values():
            self._seen[(message.topic, _fingerprint(message))] = None
            while len(self._seen) > self._remembered:
                del self._seen[next(iter(self._seen))]
            return False
        if message.topic not in _TWINS or not message.context.get(_TWIN_MARK):
            return False
        return self._seen.pop((_TWINS[message.topic], _fingerprint(message)), 0) is None


def _fingerprint(message: Envelope) -> bytes:
    context = {key: value for key, value in message.context.items() if key != _TWIN_MARK}
    return msgspec.json.encode([message.data, context], order="deterministic")


def session_of(message: Envelope) -> Mapping[str, Any]:
    """The session of a message, empty where it carries none; MalformedSession where it is no object."""
    session = message.context.get("session")
    if message.malformed:
        raise MalformedSession("context", "must be an object")
    if session is None:
        return {}
    if not isinstance(session, dict):
        raise MalformedSession("session", "must be an object")
    return session


def _scope_in(session: Mapping[str, Any]) -> Scope:
    return Scope(
        session_id=values.text(session.get("session_id")) or DEFAULT_SESSION,
        site_id=values.site(session.get("site_id")),
        persona_id=values.text(session.get("persona_id")),
    )


def _claim_in(session: Mapping[str, Any], scope: Scope, context: Mapping[str, Any]) -> Claim:
    return claim_in(session, scope.session_id == DEFAULT_SESSION, context)


_WHAT = {
    topic: what
    for what, names in {
        "utterance": topics.UTTERANCE,
        "speech": topics.SPEAK,
        "handled": topics.HANDLED,
        "cancelled": topics.CANCELLED,
        "matched": topics.MATCHED,
        "persona_turn": topics.PERSONA_TURN,
        "query": topics.PERSONA_QUERY,
        "answer": topics.PERSONA_ANSWER,
        "unmatched": topics.UNMATCHED,
        "failed": topics.FAILED,
        "tool_call": topics.TOOL_CALL,
        "tool_result": topics.TOOL_RESULT,
        "ready": topics.ASSISTANT_READY,
        "clear_data": topics.CLEAR_DATA,
    }.items()
    for topic in names
}
HEARD_TOPICS = frozenset(_WHAT)
"""Every topic that the daemon listens to beside its requests."""


def heard(message: Envelope) -> Heard:
    """The event that a message reports; MalformedSession where its session is no object."""
    data, context = message.data, message.context
    meta = values.mapping(data.get("meta"))
    session = session_of(message)
    scope = _scope_in(session)
    what = _WHAT[message.topic]
    if what == "ready" and data.get("status", True) is not True:
        what = "nothing"  # the audio service says that it is not there yet
    answer = data.get("response")
    text = (answer if isinstance(answer, str) else "") if what == "answer" else values.spoken(data)
    return Heard(
        what=what,
        scope=scope,
        session_id=scope.session_id or DEFAULT_SESSION,
        at=message.received_at,
        text=cleaned(text),
        lang=values.first(data.get("lang"), context.get("lang"), session.get("lang")),
        utterance_id=values.text(context.get("utterance_id")),
        skill_id=values.first(data.get("skill_id"), context.get("skill_id"), meta.get("skill")),
        persona_id=values.text(data.get("persona")) or values.text(data.get("persona_id")) or scope.persona_id,
        intent=values.text(data.get("intent_name")),
        dialog=values.text(meta.get("dialog")),
        expects_reply=data.get("expect_response") is True or data.get("listen") is True,
        scheduled="scheduler" in context,
        question=cleaned(values.spoken(data)) if what == "answer" else "",
        names_user=values.text(data.get("username")),
        clears=tuple(asked) if isinstance(asked := data.get("data_to_remove"), list) else (),
        claim=_claim_in(session, scope, context),
        detail=_detail(what, data),
    )


def _detail(what: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an episode keeps of an event: the slots of an intent, a tool call, what went wrong."""
    if what == "matched":
        return values.bounded(data.get("slots"), MAX_DETAIL)
    if what == "tool_call":
        told = values.first(data.get("name")), values.first(data.get("toolbox_id"))
        return {"tool": told[0], "toolbox": told[1], "arguments": values.bounded(data.get("kwargs"), MAX_DETAIL)}
    error = values.first(data.get("error"), data.get("exception")) if what in ("tool_result", "failed") else None
    return {"toolbox": values.first(data.get("toolbox_id"))} | ({"error": cleaned(error)[:MAX_DETAIL]} if error else {})


def addressed(message: Message) -> Addressed:
    """What was said to the skill, by whom, where: of an intent's message, or of one that asks it to converse."""
    data = message.data
    session = values.mapping(message.context.get("session"))
    return Addressed(
        text=cleaned(values.spoken(data)),
        forms=tuple(cleaned(form) for form in data.get("utterances") or () if isinstance(form, str)),
        slots={name: value for name, value in data.items() if isinstance(value, str) and name not in _NO_SLOTS},
        session_id=values.text(session.get("session_id")) or DEFAULT_SESSION,
        site_id=values.site(session.get("site_id")),
        lang=values.text(data.get("lang")) or values.text(session.get("lang")),
        zone=values.zone(values.mapping(session.get("location"))),
    )


def activate_skill(message: Message, skill_id: str) -> Message:
    """The message with the skill among the active ones of its session, so that the reply to a question comes to it.

    What the stable core hands to a fallback lacks that.
    """
    session = Session.from_message(message)
    if skill_id not in [active[0] for active in session.active_skills]:
        session.activate_skill(skill_id)
        message.context["session"] = session.serialize()
    return message


_NO_SLOTS = frozenset({"utterance", "lang", "skill_id", "intent_name", "intent_type", "name"})


def request(message: Envelope) -> Request | None:
    """The request that a message makes; None where its topic names no verb. MalformedSession as above."""
    verb = topics.verb_of(message.topic)
    if verb is None:
        return None
    session = session_of(message)
    scope = _scope_in(session)
    return Request(
        verb=verb,
        data=message.data,
        scope=scope,
        claim=_claim_in(session, scope, message.context),
        request_id=message.data.get("request_id"),
        lang=values.text(message.data.get("lang")) or values.text(session.get("lang")),
        utterance_id=values.text(message.context.get("utterance_id")),
        timezone=values.zone(values.mapping(session.get("location"))),
        unreadable=message.unreadable,
        context=message.context,
    )


def from_the_bus(message: Envelope) -> Heard | Request | None:
    """What a message on the bus is to us; None for nothing. MalformedSession as above."""
    if message.topic in HEARD_TOPICS:
        return heard(message)
    asked = request(message)
    # whoever names itself with a request_id waits for an answer; anything else may be news of a later version
    known = asked is not None and (asked.verb in topics.VERBS or asked.request_id is not None)
    return asked if known else None


def at_the_door(message: Envelope) -> Request:
    """What a line at the owner's door asks, and be it for a verb that there is not: each line is answered."""
    asked = request(message)
    return asked or Request(message.topic, message.data, Scope(), message.data.get("request_id"))


def response(asked: Request, answer: Mapping[str, Any]) -> bytes:
    """The frame that answers a request: what ``message.response`` makes (OVOS-MSG-1, section 5.2)."""
    context = dict(asked.context)
    source, destination = context.get("source"), context.get("destination")
    if destination is not None:
        context["source"] = destination[0] if isinstance(destination, list) and destination else destination
    if source is not None:
        context["destination"] = source
    data = answer if asked.request_id is None else {**answer, "request_id": asked.request_id}
    return encode(topics.response(asked.verb), data, context)


def encode(topic: str, data: Mapping[str, Any], context: Mapping[str, Any]) -> bytes:
    """The frame of a message."""
    try:
        return msgspec.json.encode({"type": topic, "data": data, "context": context})
    except (UnicodeEncodeError, RecursionError):
        # an echoed field of a hostile request: json escapes what UTF-8 cannot hold
        return json.dumps({"type": topic, "data": data, "context": {}}).encode()


def frame(topic: str, data: Mapping[str, Any], session_id: str = DEFAULT_SESSION, lang: str | None = None) -> bytes:
    """The frame of a message of our own."""
    session = {"session_id": session_id} | ({"lang": lang} if lang else {})
    return encode(topic, data, {"session": session, "source": "persona_memory"})


def told_ids(frame: bytes) -> tuple[str, list[str]]:
    """The topic of an event of our own, and the ids that it tells; none where it tells numbers."""
    message = decode(frame, 0.0)
    ids = message.data.get("ids")
    return message.topic, [id for id in ids if isinstance(id, str)] if isinstance(ids, list) else []


_BETWEEN_US = {"source": "persona_memory_client", "destination": "persona_memory"}
"""The addresses of a plugin's request. Those of the message being handled name whoever is to hear the assistant: a
HiveMind hub sends a satellite every message that has it as its destination."""


def context_of_caller(scope: Scope) -> dict[str, Any]:
    """The message context that a plugin's request travels with.

    It is that of the message which the plugin's caller is handling, found on the stack (an agent
    loop lies deeper than the usual ten frames), so that the request carries session, site,
    language and utterance id; where none is found, or it is of another session, a bare session.
    A site and a persona of the scope stand in it, and the persona that the message itself names.
    """
    handled = dig_for_message(max_records=FRAMES)
    context = dict(handled.context) if isinstance(handled, Message) else {}
    session = context.get("session")
    own = {name: value for name in ("site_id", "persona_id") if (value := getattr(scope, name)) is not None}
    if not isinstance(session, dict) or (scope.session_id and session.get("session_id") != scope.session_id):
        return {"session": {"session_id": scope.session_id or DEFAULT_SESSION, **own}}
    data = handled.data if isinstance(handled, Message) else {}
    persona = values.text(data.get("persona")) or values.text(data.get("persona_id"))
    named = {"persona_id": persona} if persona else {}
    return {**context, **_BETWEEN_US, "session": {**session, **named, **own}}


def notification(frame: bytes) -> tuple[str, str | None, Mapping[str, Any]]:
    """Of an event that the daemon tells: its topic, its session, None where it names none, and its data."""
    message = decode(frame, now())
    session = values.mapping(message.context.get("session"))
    return message.topic, values.text(session.get("session_id")), message.data


def session_of_caller() -> str | None:
    """The session of the message that a plugin's caller is handling; None where none is found on the stack."""
    handled = dig_for_message(max_records=FRAMES)
    if not isinstance(handled, Message):
        return None
    return values.text(values.mapping(handled.context.get("session")).get("session_id"))


def is_out_of_band() -> bool:
    """Whether a plugin's caller is handling a question that was put to a persona past the pipeline: it and its answer
    are recorded as they are heard."""
    handled = dig_for_message(max_records=FRAMES)
    return isinstance(handled, Message) and handled.msg_type in topics.PERSONA_QUERY


def now() -> float:
    """Seconds since the epoch, UTC."""
    return time.time()
