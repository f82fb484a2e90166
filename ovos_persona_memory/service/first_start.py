"""The first start says once, aloud, that it remembers and how to stop it."""

from __future__ import annotations

from ovos_persona_memory import language, messages, topics
from ovos_persona_memory.memory import PersonaMemory

ANNOUNCED = "announced"
DIALOG = "first_start"


def is_due(memory: PersonaMemory, wanted: bool) -> bool:
    """Whether people still have to be told."""
    return wanted and memory.state(ANNOUNCED) is None


def ask_whether_audible() -> bytes:
    """The frame that asks the audio service whether it is there to speak."""
    return messages.frame(topics.AUDIO_READY, {})


def announcement(lang: str) -> bytes:
    """The frame that has it spoken, in the device's language where that is shipped, else in English."""
    spoken = language.of(lang)
    tag = spoken.tag if spoken.sentences(DIALOG) else language.FALLBACK
    data = {
        "utterance": spoken.say(DIALOG),
        "lang": tag,
        "expect_response": False,
        "meta": {"dialog": DIALOG, "data": {}, "skill": "persona_memory"},
    }
    return messages.frame(topics.SAY, data, lang=tag)


def done(memory: PersonaMemory) -> None:
    """Take note that people were told."""
    memory.put_state(ANNOUNCED, "1")
