"""Every bus topic that is spoken or heard here: the only place where they are written."""

from __future__ import annotations

from typing import Literal

PREFIX = "ovos.persona.memory."
RESPONSE = ".response"

VERBS = (
    "context",
    "record",
    "history",
    "turn",
    "turns",
    "sessions",
    "session.update",
    "session.snapshot",
    "session.restore",
    "session.to_summarise",
    "session.trim",
    "session.clear",
    "recall",
    "remember",
    "get",
    "list",
    "update",
    "correct",
    "referents",
    "forget",
    "why",
    "episodes",
    "activity",
    "document.upsert",
    "document.search",
    "document.get",
    "document.list",
    "document.delete",
    "document.clear",
    "facts",
    "facts.history",
    "facts.add",
    "facts.update",
    "facts.review",
    "facts.decisions",
    "facts.audit",
    "capture",
    "users",
    "users.list",
    "users.merge",
    "introspect",
    "status",
)
OF_OTHERS: dict[str, Literal["children", "carers"]] = {
    "facts": "children",
    "facts.review": "children",
    "episodes": "carers",
}
"""Verbs that may name another user over the bus, and the relation that it takes: of facts those that wait."""

# heard: old name, new name
UTTERANCE = ("recognizer_loop:utterance", "ovos.utterance.handle")
SPEAK = ("speak", "ovos.utterance.speak")
HANDLED = ("ovos.utterance.handled",)
CANCELLED = ("ovos.utterance.cancelled",)
MATCHED = ("ovos.intent.matched",)
UNMATCHED = ("complete_intent_failure", "ovos.intent.unmatched")
FAILED = ("mycroft.skill.handler.error", "ovos.intent.handler.error")
TOOL_CALL = ("ovos.persona.tools.call",)
TOOL_RESULT = (TOOL_CALL[0] + RESPONSE,)
PERSONA_TURN = ("persona:query",)
PERSONA_QUERY = ("ovos.persona.query",)
PERSONA_ANSWER = ("ovos.persona.answer",)
AUDIO_READY = "mycroft.audio.is_ready"
ALIVE = "mycroft.persona_memory.is_alive"
CLEAR_DATA = ("neon.clear_data",)
ASSISTANT_READY = ("mycroft.ready", AUDIO_READY + RESPONSE)

# told
SAY = "speak"
HUSH = "mycroft.audio.speech.stop"
RECORDED = PREFIX + "recorded"
LEARNED = PREFIX + "learned"
FORGOTTEN = PREFIX + "forgotten"
CAPTURED = PREFIX + "captured"


def request(verb: str) -> str:
    """The topic on which this verb is asked for."""
    return PREFIX + verb


def response(verb: str) -> str:
    """The topic on which this verb is answered."""
    return PREFIX + verb + RESPONSE


def verb_of(topic: str) -> str | None:
    """The verb that a request's topic names; None for any other topic."""
    if not topic.startswith(PREFIX) or topic.endswith(RESPONSE):
        return None
    verb = topic[len(PREFIX) :]
    return None if PREFIX + verb in (RECORDED, LEARNED, FORGOTTEN, CAPTURED) else verb
