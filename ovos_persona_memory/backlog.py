"""Turns from which something is still to be learned: put off while many come at once, and kept over a restart."""

from __future__ import annotations

from collections import deque

from ovos_persona_memory.learning import Learner
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores.base import Store

STATE = "unlearned_from"
"""Name of its small value in the store: the ``seq`` of the first turn that waits; empty where none does."""
STEP = 64
"""Turns at a time: some ten milliseconds."""


class Backlog:
    """Not thread-safe by itself: the store's transactions are."""

    def __init__(self, store: Store, learner: Learner) -> None:
        """What waited when the process ended waits again."""
        self._store = store
        self._learner = learner
        self._waiting: deque[str] = deque()
        self._first = ""
        self._noted = False
        self._is_crowded = False
        self._learned: dict[str | None, list[str]] = {}
        first = store.state(STATE)
        if first:
            self._waiting.extend(turn.id for turn in _since(store, int(first)))
            self._first, self._noted = first, True

    def crowd(self, is_crowded: bool) -> None:
        """Whether the turns of the transaction that begins now are put off."""
        self._is_crowded = is_crowded
        self._noted = False  # an earlier note may have been undone with its transaction

    def take(self, turn: Turn, as_said: Turn) -> None:
        """Learn from a turn that was just kept, now or later; one kept without its words is judged at once.

        ``as_said``: the turn with its words.
        """
        late = self._is_crowded or self._waiting  # nothing overtakes what waits
        if not late or turn.redacted or not self._learner.config.learn:
            self._learner.learn(as_said)
            return
        if not self._noted:
            self._first = self._first if self._waiting else str(turn.seq)
            self._store.put_state(STATE, self._first)
            self._noted = True
        self._waiting.append(turn.id)

    def catch_up(self, limit: int | None = STEP) -> bool:
        """Learn from so many of those that wait, the oldest first, all where ``limit`` is None; whether more are left.

        A turn that was forgotten or changed meanwhile counts as it is now.
        """
        if not self._waiting:
            return False
        count = len(self._waiting) if limit is None else min(limit, len(self._waiting))
        with self._store.transaction():
            for turn_id in [self._waiting[place] for place in range(count)]:
                turn = self._store.turn(turn_id)
                if turn is not None:
                    self._learner.learn(turn)
                    self._learned.setdefault(turn.session_id, []).extend(self._learner.take_learned())
            following = self._store.turn(self._waiting[count]) if count < len(self._waiting) else None
            # where the next one is gone, what was learned is learned again at most: that changes nothing
            self._first = str(following.seq) if following else self._first if count < len(self._waiting) else ""
            self._store.put_state(STATE, self._first)
        for _ in range(count):
            self._waiting.popleft()
        return bool(self._waiting)

    def take_learned(self) -> dict[str | None, list[str]]:
        """The ids of what was learned late since the last call, by the session in which it was said."""
        learned, self._learned = {session_id: ids for session_id, ids in self._learned.items() if ids}, {}
        return learned


def _since(store: Store, first: int) -> list[Turn]:
    """The turns from this ``seq`` on, oldest first."""
    limit = STEP
    while True:
        newest = sorted(store.turns(Scope.everyone(), limit=limit), key=lambda turn: turn.seq)
        if len(newest) < limit or newest[0].seq < first:
            return [turn for turn in newest if turn.seq >= first]
        limit *= 4
