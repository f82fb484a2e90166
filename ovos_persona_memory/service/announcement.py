"""The first start says once, aloud, that it remembers and how to stop it."""

from __future__ import annotations

from collections.abc import Callable

from ovos_persona_memory.config import device_language
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import messages, topics
from ovos_persona_memory.text import languages

ANNOUNCED = "announced"
DIALOG = "first_start"
AUDIBLE = ("ready", "handled")
"""What is heard on the bus when somebody is there to speak."""


class Announcement:
    """What people still have to be told, until they were told."""

    def __init__(self, send: Callable[[bytes], bool]) -> None:
        """``send``: puts a frame on the bus; whether it is there."""
        self._send = send
        self._due = False

    def of(self, memory: PersonaMemory, wanted: bool) -> None:
        """Begin anew: whether people still have to be told is known to this memory."""
        self._due = wanted and memory.state(ANNOUNCED) is None

    def connected(self) -> None:
        """Ask the audio service whether it is there to speak."""
        if self._due:
            self._send(messages.frame(topics.AUDIO_READY, {}))

    def heard(self, what: str, memory: PersonaMemory) -> None:
        """Have it spoken when somebody is there to speak."""
        if self._due and what in AUDIBLE and self._send(announcement(device_language())):
            self._due = False
            memory.put_state(ANNOUNCED, "1")


def announcement(lang: str) -> bytes:
    """The frame that has it spoken, in the device's language where that is shipped, else in English."""
    spoken = languages.for_language(lang)
    tag = spoken.tag if spoken.sentences(DIALOG) else languages.FALLBACK
    data = {
        "utterance": spoken.say(DIALOG),
        "lang": tag,
        "expect_response": False,
        "meta": {"dialog": DIALOG, "data": {}, "skill": "persona_memory"},
    }
    return messages.frame(topics.SAY, data, lang=tag)
