"""Durable replies: each is sent once the disk holds the commit that it reports, in the order in which they were
given."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from ovos_utils.log import LOG

from ovos_persona_memory.errors import PersonaMemoryError, StoreError

Leave = Callable[[PersonaMemoryError | None], None]
"""Sends a held reply; its argument is the failure of the sync, or None."""


class Acknowledging:
    """Lets the worker go on while the disk syncs; one sync serves all replies given meanwhile.

    Thread-safe. A reply that reports no write is sent at once, on the caller's thread, unless an earlier one is still
    held back.
    """

    def __init__(self, sync: Callable[[], None]) -> None:
        """``sync``: returns when all earlier commits are on the disk; StoreError where it cannot be."""
        self._sync = sync
        self._changed = threading.Condition()  # guards the three below
        self._held: deque[tuple[Leave, bool]] = deque()
        self._busy = False
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="acknowledging", daemon=True)

    @property
    def busy(self) -> bool:
        """Whether a reply is held back right now."""
        return self._busy or bool(self._held)

    def start(self) -> None:
        """Start the thread; replies given before wait until now."""
        self._thread.start()

    def add(self, leave: Leave, written: bool) -> None:
        """Send a reply; ``written``: not before the disk holds all commits up to now."""
        with self._changed:
            at_once = not (written or self._held or self._busy)
            if not at_once:
                self._held.append((leave, written))
                self._changed.notify()
        if at_once:
            leave(None)

    def stop_for(self, work: Callable[[], None]) -> None:
        """Do something while no reply is under way; those that are held back are sent before it."""
        with self._changed:
            self._changed.wait_for(lambda: not (self._held or self._busy))
            work()

    def stop(self, timeout_s: float) -> None:
        """Send all replies that are held back, waiting at most this long for the disk."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._held or self._ended)
                if not self._held:
                    return
                held, self._busy = list(self._held), True
                self._held.clear()
            failure = self._on_disk() if any(written for _, written in held) else None
            for leave, written in held:
                self._leave(leave, failure if written else None)

    def _on_disk(self) -> PersonaMemoryError | None:
        try:
            self._sync()
        except StoreError as error:
            return error
        except Exception as error:  # no unsynced write is acknowledged, and the thread survives
            LOG.exception("what was written could not be brought to the disk")
            return PersonaMemoryError(f"it failed inside: {type(error).__name__}")
        return None

    def _leave(self, leave: Leave, failure: PersonaMemoryError | None) -> None:
        try:
            leave(failure)
        except Exception:  # one answer that cannot be sent must not keep back the others
            LOG.exception("an answer could not be sent")
