"""Answers on their way out: each leaves when the disk has what it tells of, in the order in which they were given."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from ovos_utils.log import LOG

from ovos_persona_memory.errors import PersonaMemoryError, StoreError

Leave = Callable[[PersonaMemoryError | None], None]
"""Sends what was held back: told why the disk does not have it, or None."""


class Acknowledging:
    """Lets the worker go on while the disk is busy; one wait serves all that were given meanwhile.

    Thread-safe. What tells of nothing unwritten leaves at once, on the caller's thread, unless something
    that was given before is still held back.
    """

    def __init__(self, sync: Callable[[], None]) -> None:
        """``sync``: returns when all that was committed before is on the disk; StoreError where it cannot be."""
        self._sync = sync
        self._changed = threading.Condition()  # guards the three below
        self._held: deque[tuple[Leave, bool]] = deque()
        self._busy = False
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="acknowledging", daemon=True)

    @property
    def busy(self) -> bool:
        """Whether something is held back right now."""
        return self._busy or bool(self._held)

    def start(self) -> None:
        """Begin; what was given before waits until now."""
        self._thread.start()

    def add(self, leave: Leave, written: bool) -> None:
        """Let something leave; ``written``: not before the disk has all that was committed until now."""
        with self._changed:
            at_once = not (written or self._held or self._busy)
            if not at_once:
                self._held.append((leave, written))
                self._changed.notify()
        if at_once:
            leave(None)

    def stop(self, timeout_s: float) -> None:
        """Let everything leave that is held back, waiting at most so long for it."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
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
        except Exception as error:  # nothing is acknowledged that may not be there, and the thread lives
            LOG.exception("what was written could not be brought to the disk")
            return PersonaMemoryError(f"it failed inside: {type(error).__name__}")
        return None

    def _leave(self, leave: Leave, failure: PersonaMemoryError | None) -> None:
        try:
            leave(failure)
        except Exception:  # one answer that cannot be sent must not keep back the others
            LOG.exception("an answer could not be sent")
