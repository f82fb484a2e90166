"""Forget: what is to go is read back first, and goes after a yes alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ovos_persona_memory.errors import PersonaMemoryError, Unanswered
from ovos_persona_memory.records import HOUSEHOLD, Scope
from ovos_persona_memory.skill.ask import found, is_hushed_text
from ovos_persona_memory.skill.speech import agrees, own_words, speakable, time_words, turned, whole_topic
from ovos_persona_memory.skill.talk import Ends, Talk
from ovos_persona_memory.times import span

# every dialog of this module begins with "forget": what is said under these names is logged without its words
SOON_S = 1.0
"""After so long without a result the person is told that it takes a moment, seconds."""


@dataclass(frozen=True)
class Deletion:
    """What goes after a yes, and what is said then."""

    done: str
    what: dict[str, Any]
    """The conditions of ``MemoryClient.forget``."""
    slots: dict[str, str] = field(default_factory=dict)
    scope: Scope = Scope()


def forget_about(talk: Talk) -> None:
    """Forget everything that has the words of a topic."""
    topic = whole_topic(talk.slot("topic"), talk.said.text, talk.spoken)
    if talk.slot("topic"):
        _ask_by_words(talk, topic, "forget_about")
    else:  # an engine took it for a request to forget, and nothing says what
        talk.say("forget_that_nothing")


def _ask_by_words(talk: Talk, topic: str, dialog: str) -> None:
    shown = turned(speakable(topic), talk.spoken)
    what = {"query": topic, "lang": talk.spoken.tag}
    count = len(found(talk, topic, topic)) or _number(talk, what)
    if not count:
        talk.say("forget_about_nothing", topic=shown)
        return
    question = f"{dialog}_ask_one" if count == 1 else f"{dialog}_ask"
    _ask(talk, question, Deletion(f"{dialog}_done", what, {"topic": shown}), count=count, topic=shown)


def _number(talk: Talk, what: dict[str, Any]) -> int:
    """How many records would go."""
    return talk.means.counting.forget_by_kind(preview=True, **what).total


def forget_that(talk: Talk) -> None:
    """Forget what was last spoken of, wherever its words stand; else what was said last in this session."""
    last = talk.client.history(talk.session, max_history=6, hanging=True)
    said = [message.text for message in last if message.role == "user" and message.text]
    items = talk.moment.items
    text = items[0].text if items and (not said or said[-1] == talk.moment.utterance) else "".join(said[-1:])
    if not text:
        talk.say("forget_that_nothing")
        return
    what = {"query": talk.spoken.without_lead(text), "lang": talk.spoken.tag}
    if talk.is_overheard and _is_hushed(talk, text):
        _ask(talk, "forget_quietly_ask", Deletion("forget_quietly_done", what))
        return
    shown = own_words(text, talk.spoken)
    _ask(talk, "forget_that_ask", Deletion("forget_that_done", what, {"text": shown}), text=shown)


def _is_hushed(talk: Talk, text: str) -> bool:
    """Whether it is not to be read back in this room: others may hear it."""
    return talk.client.users.which().user_id != HOUSEHOLD or is_hushed_text(talk, text)


def forget_time(talk: Talk) -> None:
    """Forget what was said and kept in a time, in every session of the person."""
    named = span(talk.said.text, talk.spoken, talk.now)
    if named is None:
        talk.say("forget_time_what")
        return
    period = speakable(time_words(talk.said.text, talk.spoken, talk.now))
    what = {"since": named.since, "until": named.until}
    count = _number(talk, what)
    if not count:
        talk.say("forget_time_nothing", period=period)
        return
    deletion = Deletion("forget_time_done", what, {"period": period})
    question = "forget_time_ask_one" if count == 1 else "forget_time_ask"
    _ask(talk, question, deletion, count=count, period=period)


def forget_me(talk: Talk) -> None:
    """Forget everything of the person who speaks."""
    _ask_for_everything(talk, "forget_me")


def forget_all(talk: Talk) -> None:
    """Forget everything that this person may reach."""
    _ask_for_everything(talk, "forget_all")


def _ask_for_everything(talk: Talk, dialog: str) -> None:
    what = {"everything": True}
    count = _number(talk, what)
    if count:
        _ask(talk, f"{dialog}_ask", Deletion(f"{dialog}_done", what), count=count)
    else:
        talk.say("forget_all_nothing")


def _ask(talk: Talk, question: str, deletion: Deletion, **slots: object) -> None:
    ends = Ends("forget_silence", "forget_kept", "forget_unclear", _is_reply)
    talk.moment.items = []
    talk.ask(question, lambda reply: _answered(reply, deletion), ends, **slots)


def _is_reply(reply: Talk) -> bool:
    """Whether it is a yes or a no, or at least no question or command of its own."""
    if agrees(reply.said.text, reply.spoken) is not None:
        return True
    return not (reply.spoken.is_question(reply.said.text) or reply.spoken.is_command(reply.said.text))


def _answered(reply: Talk, deletion: Deletion) -> None:
    agreed = agrees(reply.said.text, reply.spoken)
    if agreed:
        _delete(reply, deletion)
    else:
        reply.say("forget_unclear" if agreed is None else "forget_kept")


def _delete(reply: Talk, deletion: Deletion) -> None:
    """Delete, for as long as that takes, and say what came of it; a handler waits for a second only."""
    work = threading.Thread(target=lambda: reply.forwarded(lambda _: _delete_and_say(reply, deletion)), daemon=True)
    work.start()
    work.join(SOON_S)
    if work.is_alive():
        reply.say("forget_slowly")


def _delete_and_say(reply: Talk, deletion: Deletion) -> None:
    try:
        reply.means.patient.forget(deletion.scope, **deletion.what)
    except Unanswered:
        reply.say(PERHAPS)
        return
    except PersonaMemoryError as error:
        reply.say("forget_closed" if error.code == "not_allowed" else FAILED)
        return
    reply.moment.items, reply.moment.left = [], []
    reply.say(deletion.done, **deletion.slots)


INTENTS: dict[str, Callable[[Talk], None]] = {
    "forget_that": forget_that,
    "forget_time": forget_time,
    "forget_about": forget_about,
    "forget_me": forget_me,
    "forget_all": forget_all,
}
FAILED, PERHAPS = "forget_failed", "forget_perhaps"
