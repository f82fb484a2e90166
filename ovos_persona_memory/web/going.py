"""Deletions that can still be undone: carried out ten seconds after they were asked for, and after a restart too."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

FILE = "web.going"
"""Name of the file in the data folder in which they wait: ids and conditions, no words of what is to go."""
UNDO_S = 10.0
AGAIN_S = 5.0
"""Where it failed, it is tried again after so long, seconds."""


class Deletion(msgspec.Struct, frozen=True):
    """One deletion that waits."""

    id: str
    verb: str
    data: dict[str, Any]
    """As the verb takes it."""
    due: float
    """When it is carried out, seconds since the epoch."""
    number: int
    """How many records it takes, as far as is known."""


class Going:
    """The deletions that wait. Thread-safe; its thread lives as long as any waits."""

    def __init__(
        self, folder: Path, clock: Callable[[], float], ask: Callable[[str, Mapping[str, Any]], object]
    ) -> None:
        """``ask``: carries out a verb with its data; an error that it raises has it tried again."""
        self._path = folder / FILE
        self._clock, self._ask = clock, ask
        self._changed = threading.Condition()  # guards all below
        self._waiting: dict[str, Deletion] = {one.id: one for one in _kept(self._path)}
        self._thread: threading.Thread | None = None
        self._ended = False

    def start(self) -> None:
        """Go on with what waited when the daemon ended."""
        with self._changed:
            self._run_if_needed()

    def stop(self) -> None:
        """Let go; what waits is carried out after the next start."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def add(self, verb: str, data: dict[str, Any], number: int) -> Deletion:
        """Have something deleted in ten seconds."""
        made = Deletion(uuid.uuid4().hex, verb, data, self._clock() + UNDO_S, number)
        with self._changed:
            self._waiting[made.id] = made
            self._keep()
            self._run_if_needed()
            self._changed.notify_all()
        return made

    def undo(self, id: str) -> bool:
        """Whether it waited still: it is not carried out, then."""
        with self._changed:
            undone = self._waiting.pop(id, None) is not None
            if undone:
                self._keep()
            self._changed.notify_all()
        return undone

    def waiting(self) -> list[Deletion]:
        """What waits, the oldest first."""
        with self._changed:
            return list(self._waiting.values())

    def ids(self) -> set[str]:
        """The ids of records that go, as far as they are named."""
        return {id for one in self.waiting() for id in one.data.get("ids") or ()}

    def sessions(self) -> set[tuple[str, str]]:
        """Users and sessions that go as a whole."""
        scopes = (one.data.get("scope", {}) for one in self.waiting() if one.verb == "session.clear")
        return {(str(scope.get("user_id")), str(scope.get("session_id"))) for scope in scopes}

    def _run_if_needed(self) -> None:
        if self._waiting and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="web-undo", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (due := self._next()) is not None:
            try:
                self._ask(due.verb, due.data)
            except Exception:  # whoever carries it out logs why; it is tried again
                with self._changed:
                    self._changed.wait(AGAIN_S)
            else:
                self.undo(due.id)

    def _next(self) -> Deletion | None:
        """The next one, once it is due; None where nothing waits any more."""
        with self._changed:
            while self._waiting and not self._ended:
                first = min(self._waiting.values(), key=lambda one: one.due)
                left_s = first.due - self._clock()
                if left_s <= 0:
                    return first
                self._changed.wait(min(left_s, UNDO_S))
            self._thread = None
            return None

    def _keep(self) -> None:
        if not self._waiting:
            self._path.unlink(missing_ok=True)
            return
        beside = self._path.with_suffix(".new")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(list(self._waiting.values())))
        beside.replace(self._path)


def _kept(path: Path) -> list[Deletion]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Deletion])
    except (OSError, msgspec.MsgspecError):
        return []
