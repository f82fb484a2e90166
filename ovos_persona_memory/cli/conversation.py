"""A text conversation with the assistant over the messagebus, as one session of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ovos_persona_memory.errors import NoAnswer
from ovos_persona_memory.protocol import BusConnection, messages, topics
from ovos_persona_memory.records import Heard

SOURCE = "persona_memory_chat"
"""Our name on the bus. No audio service takes it for its own, so the device does not speak our replies."""
GRACE_S = 0.25
"""Speech may come after the end of its utterance: the next one waits for this much silence, seconds."""


@dataclass(frozen=True)
class SpokenAnswer:
    """Speech of the assistant."""

    text: str
    ours: bool
    """Whether it answers this conversation; otherwise it is an announcement, or belongs to another session."""


class Conversation:
    """Says utterances and hears speech, in order. ``heard`` is called on the receiving thread."""

    def __init__(
        self,  # more than five: these are the session's fields
        session_id: str,
        lang: str,
        heard: Callable[[SpokenAnswer], None],
        site_id: str | None = None,
        user_id: str | None = None,
        **address: Any,
    ) -> None:
        """``site_id``: the room of the conversation; ``user_id``: the speaker, as far as the device trusts it."""
        named = {"session_id": session_id, "lang": lang, "site_id": site_id, "user_id": user_id}
        self._own = {name: value for name, value in named.items() if value is not None}
        self._session: dict[str, Any] = dict(self._own)
        self._heard = heard
        self._twins = messages.DuplicateFilter()
        self._changed = threading.Condition()  # guards what follows and _session
        self._said = 0
        self._open = 0
        self._known: set[str] = set()
        self._ended: set[str] = set()
        self._asked_back = False
        self._quiet_since = 0.0
        wanted = frozenset({*topics.MATCHED, *topics.SPEAK, *topics.HANDLED})
        self._bus = BusConnection(wanted.__contains__, self._arrived, **address)

    def start(self, timeout_s: float) -> bool:
        """Connect; False where the bus is not reached in time, while the attempts go on."""
        self._bus.start()
        return self.connected(timeout_s)

    def connected(self, timeout_s: float) -> bool:
        """Whether the bus is there, waiting at most this long for it."""
        return bool(self._bus.connected_event.wait(timeout_s))

    def close(self) -> None:
        """Close the connection."""
        self._bus.close()

    def say(self, text: str) -> None:
        """Say one utterance; NoAnswer where the bus is away."""
        with self._changed:
            session = {**self._session, **self._own}
            self._said += 1
            self._open += 1
            self._asked_back = False
            self._quiet_since = time.monotonic()
        data = {"utterances": [messages.cleaned(text)], "lang": self._own["lang"]}
        context = {"session": session, "source": SOURCE, "destination": ["skills"], "client_name": SOURCE}
        if not self._bus.send(messages.encode(topics.UTTERANCE[0], data, context)):
            with self._changed:
                self._open -= 1
            raise NoAnswer("the messagebus is away")

    def wait(self, timeout_s: float) -> bool:
        """Wait until the utterance has been handled, or a question came back, and it is quiet; False on timeout."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while (left_s := deadline - time.monotonic()) > 0:
                settled = self._open == 0 or self._asked_back
                quiet_s = time.monotonic() - self._quiet_since
                if settled and quiet_s >= GRACE_S:
                    return True
                self._changed.wait(min(left_s, GRACE_S - quiet_s) if settled else left_s)
            # timed out: later speech is still heard, and its end is not taken for another utterance's
            self._open = 0
            self._ended |= self._known
        return False

    def _arrived(self, frame: bytes) -> None:
        message = messages.decode(frame, messages.now())
        try:
            event = messages.heard(message)
        except messages.MalformedSession:
            return
        if self._twins.is_copy(message):
            return
        ours = event.session_id == self._own["session_id"] and not event.scheduled
        with self._changed:
            ours = ours and self._said > 0
            if ours:
                self._follow(event, dict(messages.session_of(message)))
        if event.what == "speech" and event.text:
            self._heard(SpokenAnswer(event.text, ours))

    def _follow(self, event: Heard, session: dict[str, Any]) -> None:
        # the client keeps its own session (OVOS-SESSION-2, 2.2): active skills, a skill
        # that waits for a reply, the persona that was called
        if event.what == "handled" or event.expects_reply:
            self._session = session
        if event.what == "handled":
            self._end(event.utterance_id)
        elif event.utterance_id is not None:
            self._known.add(event.utterance_id)
        self._asked_back = self._asked_back or event.expects_reply
        self._quiet_since = time.monotonic()
        self._changed.notify_all()

    def _end(self, utterance_id: str | None) -> None:
        if utterance_id is None:  # the stable line: a reply to a skill's question has no end of its own there
            self._open = 0
        elif utterance_id not in self._ended:
            self._ended.add(utterance_id)
            self._open = max(self._open - 1, 0)
