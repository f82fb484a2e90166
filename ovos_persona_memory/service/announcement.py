"""The announcement at the first start: that the device remembers, and how to stop it."""

from __future__ import annotations

from collections.abc import Callable

from ovos_persona_memory.config import device_language
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.protocol import messages, topics
from ovos_persona_memory.text import languages

ANNOUNCED = "announced"
DIALOG = "first_start"
AUDIBLE = ("ready", "utterance", "handled")
"""Events that show that a voice is available, or somebody who listens: an utterance comes before its answer."""


class Announcement:
    """The announcement, until it was spoken."""

    def __init__(self, send: Callable[[bytes], bool]) -> None:
        """``send``: puts a frame on the bus and returns whether the bus is there."""
        self._send = send
        self._due = False

    def begin(self, memory: PersonaMemory, wanted: bool) -> None:
        """Start anew with this memory, which knows whether the announcement is still due."""
        self._due = wanted and memory.state(ANNOUNCED) is None

    def connected(self) -> None:
        """Ask the audio service whether it is there to speak."""
        if self._due:
            self._send(messages.frame(topics.AUDIO_READY, {}))

    def heard(self, what: str, memory: PersonaMemory) -> None:
        """Speak the announcement once an event shows that a voice is available."""
        if self._due and what in AUDIBLE and self._send(announcement(device_language())):
            self._due = False
            memory.put_state(ANNOUNCED, "1")


def announcement(lang: str) -> bytes:
    """The frame of the announcement, in the device's language where that is shipped, else in English."""
    spoken = languages.for_language(lang)
    tag = spoken.tag if spoken.sentences(DIALOG) else languages.FALLBACK
    data = {
        "utterance": spoken.say(DIALOG),
        "lang": tag,
        "expect_response": False,
        "meta": {"dialog": DIALOG, "data": {}, "skill": "persona_memory"},
    }
    return messages.frame(topics.SAY, data, lang=tag)
