"""Handlers of guest mode, and of "stop remembering"."""

from __future__ import annotations

from typing import Any

from ovos_persona_memory.errors import NotAllowed
from ovos_persona_memory.skill.spoken_numbers import sentence
from ovos_persona_memory.skill.turn_context import TurnContext
from ovos_persona_memory.text import Language, time_expressions


def guest_on(talk: TurnContext) -> None:
    """Pause reading and writing, for a time or until it is switched off."""
    until = _until(talk)
    _switch(talk, write=False, read=False, until=until)
    _say_with_end(talk, "guest_on", until)


def guest_off(talk: TurnContext) -> None:
    """End guest mode."""
    _switch(talk, write=True, read=True)
    talk.say("guest_off")


def guest_status(talk: TurnContext) -> None:
    """Say whether memory is written and read."""
    capture = talk.client.capture()
    if capture.write and capture.read:
        talk.say("guest_is_off")
    else:
        _say_with_end(talk, "quiet_is_on" if capture.read else "guest_is_on", capture.until)


def quiet_on(talk: TurnContext) -> None:
    """Pause writing; known records stay in use."""
    until = _until(talk)
    _switch(talk, write=False, until=until)
    _say_with_end(talk, "quiet_on", until)


def quiet_off(talk: TurnContext) -> None:
    """Resume writing."""
    _switch(talk, write=True, read=True)
    talk.say("quiet_off")


def _switch(talk: TurnContext, **wanted: Any) -> None:
    """Set the pause everywhere; a guest may set it for the own session alone."""
    try:
        talk.client.capture(talk.session, **wanted)
    except NotAllowed:
        talk.client.capture(talk.session, session=True, **wanted)


def _until(talk: TurnContext) -> float | None:
    return time_expressions.ends_at(talk.slot("period"), talk.spoken, talk.now)


def _say_with_end(talk: TurnContext, dialog: str, until: float | None) -> None:
    if until is None:
        talk.say(dialog)
    else:
        talk.say(f"{dialog}_for", period=lasting(until - talk.means.clock(), talk.spoken))


def lasting(seconds: float, spoken: Language) -> str:
    """A duration in words, in minutes up to an hour and a half, then in hours."""
    minutes = max(1, round(seconds / 60))
    if minutes > 90:
        return sentence(spoken, "hours", count=round(minutes / 60))
    if minutes in (1, 60):
        return spoken.say("minute" if minutes == 1 else "hour")
    return sentence(spoken, "minutes", count=minutes)


INTENTS = {
    "guest_on": guest_on,
    "guest_off": guest_off,
    "guest_status": guest_status,
    "quiet_on": quiet_on,
    "quiet_off": quiet_off,
}
FAILED, PERHAPS = "not_switched", "switched_perhaps"
