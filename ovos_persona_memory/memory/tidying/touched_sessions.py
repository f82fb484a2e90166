"""Sessions in which something was said, until somebody looks what there is to do about them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from ovos_persona_memory.errors import PersonaMemoryError
from ovos_persona_memory.records import GUEST, HOUSEHOLD, Scope
from ovos_persona_memory.stores import Store

AT_START = 32
"""At the start so many of the sessions that were talked in last are looked at."""
_What = TypeVar("_What")


class TouchedSessions(Generic[_What]):
    """Each with what is to be looked for, the one that was touched first in front. Thread-safe."""

    def __init__(self, most: int, guests: bool) -> None:
        """``most``: so many are kept in mind, the last ones. ``guests``: whether those of guests count."""
        self._most, self._guests = most, guests
        self._touched: OrderedDict[tuple[str, str], _What] = OrderedDict()
        self._has_begun = False

    def __bool__(self) -> bool:
        return bool(self._touched)

    def touch(self, user_id: str | None, session_id: str | None, what: _What) -> None:
        """Have a look soon; nothing where there is no session."""
        if session_id is None or (user_id == GUEST and not self._guests):
            return
        self._touched[(user_id or HOUSEHOLD, session_id)] = what
        with suppress(KeyError):  # another thread has emptied it
            while len(self._touched) > self._most:
                self._touched.popitem(last=False)

    def touch_newest(self, store: Store, what: _What | None) -> None:
        """At the first call: what was said before the last end may not have been looked at. None: nothing is."""
        if not self._has_begun and what is not None:
            for session in store.sessions(Scope.everyone(), limit=AT_START):
                self.touch(session.user_id, session.session_id, what)
        self._has_begun = True

    def look(self, plan: Callable[[str, str, _What], None]) -> None:
        """Call ``plan`` with user, session and what is looked for, of each; one for which it fails is kept."""
        while self._touched:
            try:
                (user_id, session_id), what = self._touched.popitem(last=False)
            except KeyError:  # another thread has taken it
                return
            try:
                plan(user_id, session_id, what)
            except PersonaMemoryError:  # it is looked at again, unless somebody has talked there again
                self._touched.setdefault((user_id, session_id), what)
                raise
