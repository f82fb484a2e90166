"""Up to where the turns of each session were shown to a language model."""

from __future__ import annotations

import json

from ovos_persona_memory.records import HOUSEHOLD, Scope, Turn
from ovos_persona_memory.stores import Store

SESSIONS = 512
"""So many sessions are kept in mind; of older ones all that was said until then counts as seen."""
READ = 256
"""So many turns of a session are read at once."""


class SeenTurns:
    """Kept in a small value of the store. Thread-safe: each change is a transaction of the store."""

    def __init__(self, store: Store, state: str) -> None:
        """``state``: the name of the small value."""
        self._store, self._state = store, state

    def knows(self, user_id: str, session_id: str) -> bool:
        """Whether anything of a session was shown."""
        return (user_id, session_id) in self._marks()

    def mark(self, user_id: str, session_id: str, seq: int) -> None:
        """The turns of a session up to this ``seq`` count as seen."""
        with self._store.transaction():
            marks = {**self._marks(), (user_id, session_id): seq}
            kept = sorted(marks.items(), key=lambda one: one[1])[-SESSIONS:]
            self._store.put_state(self._state, json.dumps([[*name, last] for name, last in kept]))

    def unseen(self, scope: Scope) -> list[Turn]:
        """The turns of a session that no model has seen, oldest first."""
        seen, limit = self._up_to(scope), READ
        while True:
            turns = self._store.turns(scope, limit)
            if len(turns) < limit or turns[0].seq <= seen:
                return [turn for turn in turns if turn.seq > seen]
            limit *= 4

    def keep(self) -> None:
        """Let go of what names a session in which nothing is left; before each purge."""
        marks = self._marks()
        left = {name: seq for name, seq in marks.items() if self._store.turns(Scope(name[1], name[0]), limit=1)}
        if left != marks:
            self._store.put_state(self._state, json.dumps([[*name, seq] for name, seq in left.items()]) if left else "")

    def _marks(self) -> dict[tuple[str, str], int]:
        told = json.loads(self._store.state(self._state) or "[]")
        return {(user_id, session_id): seq for user_id, session_id, seq in told}

    def _up_to(self, scope: Scope) -> int:
        marks = self._marks()
        floor = min(marks.values()) if len(marks) >= SESSIONS else 0
        return marks.get((scope.user_id or HOUSEHOLD, scope.session_id or ""), floor)
