"""Turns from which something is still to be learned: put off while many come at once, and kept over a restart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ovos_persona_memory.errors import PersonaMemoryError, StoreError
from ovos_persona_memory.memory.learning.learner import Learner, Speaker
from ovos_persona_memory.memory.learning.pending_turns import waiting_turns
from ovos_persona_memory.records import Turn
from ovos_persona_memory.stores import Store, UnlearnedTurn

STEP = 64
"""Turns at a time: some ten milliseconds."""


class LearningQueue:
    """Not thread-safe by itself: the store's transactions are."""

    def __init__(self, store: Store, learner: Learner) -> None:
        """What waited when the process ended waits again."""
        self._store = store
        self._learner = learner
        self._waiting = waiting_turns(store, learner.children)
        self._is_crowded = False
        self._depth = 0
        self._learned: dict[str | None, list[str]] = {}

    @property
    def may_grow(self) -> bool:
        """Whether anything may be put off: where other devices write, too, the store needs a list of what waits."""
        return not self._store.shared or self._store.unlearned is not None

    @contextmanager
    def crowd(self, is_crowded: bool) -> Iterator[None]:
        """Within, in a transaction, turns are put off or not; where one is within another, the outermost says so."""
        self._depth += 1
        try:
            if self._depth == 1:
                self._is_crowded = is_crowded
                self._waiting.begin()
            yield
            if self._depth == 1:
                self._waiting.keep()
        finally:
            self._depth -= 1
            self._is_crowded = self._is_crowded and self._depth > 0

    def take(self, turn: Turn, as_said: Turn) -> None:
        """Learn from a turn that was just kept, now or later; one kept without its words is judged at once.

        ``as_said``: the turn with its words.
        """
        late = self._is_crowded or self._waiting.may_wait()  # nothing overtakes what waits
        if not late or turn.redacted or not self._learner.config.learn:
            self._learner.learn(as_said)
            return
        child = turn.user_id in self._learner.children
        self._waiting.add(UnlearnedTurn(turn.id, turn.seq, child), self._is_crowded)

    def settle(self) -> None:
        """Learn from all that wait of this process; as ``catch_up`` does."""
        if self._waiting.may_wait():
            self.catch_up(None)

    def catch_up(self, limit: int | None = STEP) -> bool:
        """Learn from so many of those that wait, the oldest first, all where ``limit`` is None; whether more are left.

        A turn that was forgotten or changed meanwhile counts as it is now. A turn from which nothing can be learned
        for a failure inside is left out, and a PersonaMemoryError says so; after a StoreError all wait as before.
        """
        if self._store.shared and not self._learner.config.learn:
            return False  # others may learn from them
        first = self._waiting.first(limit)
        if not first:
            return False
        try:
            self._learn_from(first)
        except StoreError:
            raise
        except Exception:  # whatever a turn does to those who read it
            self._learner.take_learned()  # it was undone
            self._learn_one_by_one(first)
        return limit is not None and len(first) == limit

    def _learn_from(self, first: Sequence[UnlearnedTurn]) -> None:
        """Learn from the first of those that wait, all or none of them."""
        learned: dict[str | None, list[str]] = {}
        with self._store.transaction():
            for turn, child in self._waiting.take(first):
                self._learner.learn(turn, Speaker(child=child))
                learned.setdefault(turn.session_id, []).extend(self._learner.take_learned())
        self._waiting.taken(first)
        for session_id, ids in learned.items():
            self._learned.setdefault(session_id, []).extend(ids)

    def _learn_one_by_one(self, first: Sequence[UnlearnedTurn]) -> None:
        failure: Exception | None = None
        for one in first:
            try:
                self._learn_from([one])
            except StoreError:
                raise
            except Exception as error:
                failure = error
                self._learner.take_learned()
                self._leave_out(one)
        if failure is not None:
            raise PersonaMemoryError(f"nothing was learned from a turn: {type(failure).__name__}") from failure

    def _leave_out(self, one: UnlearnedTurn) -> None:
        with self._store.transaction():
            self._waiting.take([one])
        self._waiting.taken([one])

    def take_learned(self) -> dict[str | None, list[str]]:
        """The ids of what was learned late since the last call, by the session in which it was said."""
        learned, self._learned = {session_id: ids for session_id, ids in self._learned.items() if ids}, {}
        return learned
