"""Notifications of changes on the bus: ids and numbers, no personal text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ovos_persona_memory.protocol import messages, topics
from ovos_persona_memory.records import DEFAULT_SESSION, Heard, Request
from ovos_persona_memory.service.authorization import changes_something

Outcome = Mapping[str, Any]


def events(done: Sequence[tuple[Heard | Request, Outcome | None]]) -> list[bytes]:
    """The frames about these changes; the turns of one session share a frame."""
    recorded: dict[str, list[str]] = {}
    learned: dict[str, list[str]] = {}
    frames: list[bytes] = []
    for what, outcome in done:
        if outcome is None or not outcome["ok"]:
            continue
        session_id = what.scope.session_id or DEFAULT_SESSION
        if outcome.get("learned"):
            learned.setdefault(session_id, []).extend(outcome["learned"])
        if outcome.get("ids"):
            recorded.setdefault(session_id, []).extend(outcome["ids"])
        elif (name := _change_made(what, outcome)) is not None:
            frames += _change(name, outcome, session_id)
    told = [messages.frame(topics.RECORDED, {"ids": ids}, session_id) for session_id, ids in recorded.items()]
    told += [messages.frame(topics.LEARNED, {"ids": ids}, session_id) for session_id, ids in learned.items()]
    return [*told, *frames]


def _change_made(what: Heard | Request, outcome: Outcome) -> str | None:
    """The verb or event that changed something; None where nothing was changed."""
    if isinstance(what, Request):
        return what.verb if changes_something(what) else None
    return what.what if outcome.get("forgotten") else None


class PendingNotifications:
    """Changes that were not announced yet. For the worker alone."""

    def __init__(self) -> None:
        self._done: list[tuple[Heard | Request, Outcome | None]] = []

    def __len__(self) -> int:
        return len(self._done)

    def add(self, done: Iterable[tuple[Heard | Request, Outcome | None]]) -> None:
        """Add those of these outcomes that are news."""
        self._done += [one for one in done if is_news(one[1])]

    def take(self) -> list[bytes]:
        """The frames about all pending changes, which are then no longer pending."""
        told = events(self._done)
        self._done.clear()
        return told


def is_news(outcome: Outcome | None) -> bool:
    """Whether an outcome is announced; one that waits for the store is announced when it is delivered."""
    return (
        outcome is not None
        and not outcome.get("degraded")
        and bool(outcome.get("ids") or outcome.get("learned") or "forgotten" in outcome or "capture" in outcome)
    )


def learned_late(learned: Mapping[str | None, Sequence[str]]) -> list[bytes]:
    """The frames about facts learned in a quiet moment, by session."""
    return [
        messages.frame(topics.LEARNED, {"ids": ids}, session_id or DEFAULT_SESSION)
        for session_id, ids in learned.items()
    ]


def _change(verb: str, outcome: Outcome, session_id: str) -> list[bytes]:
    if "forgotten" in outcome:
        return [messages.frame(topics.FORGOTTEN, {"forgotten": outcome["forgotten"]}, session_id)]
    return [messages.frame(topics.CAPTURED, outcome["capture"], session_id)] if verb == "capture" else []
