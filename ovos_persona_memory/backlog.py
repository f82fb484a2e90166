"""Turns from which something is still to be learned: put off while many come at once, and kept over a restart."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import islice

from ovos_persona_memory.errors import PersonaMemoryError, StoreError
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
        self._waiting: deque[tuple[str, int]] = deque()
        self._noted = False
        self._is_crowded = False
        self._learned: dict[str | None, list[str]] = {}
        first = store.state(STATE)
        if first:
            self._waiting.extend((turn.id, turn.seq) for turn in _since(store, int(first)))

    @property
    def may_grow(self) -> bool:
        """Whether anything may be put off: not where other devices write to the store, too, and keep a place of theirs
        under the same name.
        """
        return not self._store.shared

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
        self._waiting.append((turn.id, turn.seq))
        if not self._noted:
            self._note()
            self._noted = True

    def catch_up(self, limit: int | None = STEP) -> bool:
        """Learn from so many of those that wait, the oldest first, all where ``limit`` is None; whether more are left.

        A turn that was forgotten or changed meanwhile counts as it is now. A turn from which nothing can be learned
        for a failure inside is left out, and a PersonaMemoryError says so; after a StoreError all wait as before.
        """
        taken = list(islice(self._waiting, limit))
        if not taken:
            return False
        try:
            self._learn_from(taken)
        except StoreError:
            raise
        except Exception:  # whatever a turn does to those who read it
            self._learner.take_learned()  # it was undone
            self._learn_one_by_one(taken)
        return bool(self._waiting)

    def _learn_from(self, taken: Sequence[tuple[str, int]]) -> None:
        """Learn from the first of those that wait, all or none of them."""
        learned: dict[str | None, list[str]] = {}
        with self._store.transaction():
            for turn_id, _ in taken:
                turn = self._store.turn(turn_id)
                if turn is not None:
                    self._learner.learn(turn)
                    learned.setdefault(turn.session_id, []).extend(self._learner.take_learned())
            self._note(len(taken))
        self._leave_out(len(taken))
        for session_id, ids in learned.items():
            self._learned.setdefault(session_id, []).extend(ids)

    def _learn_one_by_one(self, taken: Sequence[tuple[str, int]]) -> None:
        failure: Exception | None = None
        for one in taken:
            try:
                self._learn_from([one])
            except StoreError:
                raise
            except Exception as error:
                failure = error
                self._learner.take_learned()
                self._note(1)
                self._leave_out(1)
        if failure is not None:
            raise PersonaMemoryError(f"nothing was learned from a turn: {type(failure).__name__}") from failure

    def _note(self, after: int = 0) -> None:
        """Keep where the waiting ones begin, but for so many of them."""
        following = next(islice(self._waiting, after, None), None)
        self._store.put_state(STATE, str(following[1]) if following else "")

    def _leave_out(self, count: int) -> None:
        for _ in range(count):
            self._waiting.popleft()

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
