"""The queue of turns from which something is still to be learned; it is kept over a restart."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from ovos_persona_memory.errors import PersonaMemoryError, StoreError
from ovos_persona_memory.memory.learning.learner import Learner, Speaker
from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores import LearningQueueStore, Store, UnlearnedTurn

STEP = 64
"""Turns at most that one call of ``catch_up`` learns from."""
STATE = "unlearned_from"
"""Name of a small value in the store: the ``seq`` of the first turn that waits; empty where none does."""
READ = 64
"""So many turns are looked at first when the process starts."""


def never() -> bool:
    """Nobody waits."""
    return False


class LearningQueue:
    """Turns are put in within the transaction that keeps them, and learned from after its commit.

    Adding is not thread-safe by itself: the store's transactions are. Learning is; what it reads of a turn it reads
    outside the store's lock, and holds the lock only to write what it found.
    """

    def __init__(self, store: Store, learner: Learner) -> None:
        """What waited when the process ended waits again."""
        self._store = store
        self._learner = learner
        self._waiting = pending_turns(store, learner.children)
        self._depth = 0
        self._is_crowded = False
        self._learning = threading.Lock()
        self._learned: dict[str | None, list[str]] = {}
        self._learned_elsewhere: deque[tuple[str | None, Sequence[str]]] = deque()

    @property
    def may_grow(self) -> bool:
        """Whether turns can wait: they are read again, and where other devices write, too, from a list in the store."""
        return self._store.keeps_turns and (not self._store.shared or self._store.unlearned is not None)

    @property
    def waits(self) -> bool:
        """Whether any turn of this process may wait."""
        return self._waiting.may_wait()

    @contextmanager
    def group(self, crowded: bool = False) -> Iterator[None]:
        """Turns that are added within one transaction; one inside another is a part of that.

        ``crowded``: they wait in any case.
        """
        self._depth += 1
        try:
            if self._depth == 1:
                self._is_crowded = crowded
                self._waiting.begin()
            yield
            if self._depth == 1:
                self._waiting.keep()
        finally:
            self._depth -= 1
            self._is_crowded = self._is_crowded and self._depth > 0

    def add(self, turn: Turn, as_said: Turn) -> list[str]:
        """Have a turn that was just kept wait; of one that is kept without its words it is noted at once why.

        ``as_said``: the turn with its words. The ids of the facts that were learned at once.
        """
        if turn.redacted and as_said.text:
            self._learner.leave_secret(as_said)
            return []
        waits = self._store.keeps_turns and (self.may_grow or self._is_crowded or self.waits)
        if turn.redacted or not self._learner.config.learn or not waits:
            return self._learner.learn(as_said)
        child = turn.user_id in self._learner.children
        self._waiting.add(UnlearnedTurn(turn.id, turn.seq, child), self._depth > 0)
        return []

    def settle(self) -> None:
        """Learn from all that wait of this process; as ``catch_up`` does."""
        if self.waits:
            self.catch_up(None)

    def catch_up(self, limit: int | None = STEP, gives_way: Callable[[], bool] = never) -> bool:
        """Learn from at most ``limit`` of those that wait, the oldest first, None: from all; whether more are left.

        A turn that was forgotten or changed meanwhile counts as it is now. A turn from which nothing can be learned
        for a failure inside is left out, and a PersonaMemoryError says so; after a StoreError it waits as before.
        ``gives_way`` is asked between two turns: true ends the call.
        """
        if self._store.shared and not self._learner.config.learn:
            return False  # others may learn from them
        failure: Exception | None = None
        with self._learning:
            first = self._waiting.first(limit)
            more = limit is not None and len(first) == limit
            for number, one in enumerate(first):
                if number and gives_way():
                    more = True
                    break
                try:
                    self._learn_from(one)
                except StoreError:
                    raise
                except Exception as error:  # whatever a turn does to those who read it
                    failure = error
                    self._leave_out(one)
        if failure is not None:
            raise PersonaMemoryError(f"nothing was learned from a turn: {type(failure).__name__}") from failure
        return more

    def _learn_from(self, one: UnlearnedTurn) -> None:
        turn = self._store.turn(one.id)
        said = None if turn is None else self._learner.read(turn, Speaker(child=one.child))
        learned: dict[str | None, list[str]] = {}
        with self._store.unsynced():  # nobody is told: after a loss of power the turn waits again
            for kept, child in self._waiting.take([one]):
                if said is None or kept != turn:  # changed meanwhile
                    said = self._learner.read(kept, Speaker(child=child))
                learned[kept.session_id] = self._learner.write(said)
        self._waiting.taken([one])
        for session_id, ids in learned.items():
            self._learned.setdefault(session_id, []).extend(ids)

    def _leave_out(self, one: UnlearnedTurn) -> None:
        with self._store.transaction():
            self._waiting.take([one])
        self._waiting.taken([one])

    @property
    def has_learned(self) -> bool:
        """Whether anything was learned since the last ``take_learned``."""
        return bool(self._learned or self._learned_elsewhere)

    def note_learned(self, session_id: str | None, ids: Sequence[str]) -> None:
        """What was learned of a session by others, to be told with the rest; any thread may call it."""
        if ids:
            self._learned_elsewhere.append((session_id, ids))

    def take_learned(self) -> dict[str | None, list[str]]:
        """The ids of what was learned since the last call, by the session in which it was said."""
        learned, self._learned = {session_id: ids for session_id, ids in self._learned.items() if ids}, {}
        while self._learned_elsewhere:
            session_id, ids = self._learned_elsewhere.popleft()
            learned.setdefault(session_id, []).extend(ids)
        return learned


class PendingTurns(ABC):
    """In the order in which they were said. Not thread-safe by itself: the store's transactions are."""

    @abstractmethod
    def begin(self) -> None:
        """A transaction begins in which some may come."""

    @abstractmethod
    def add(self, turn: UnlearnedTurn, grouped: bool) -> None:
        """One more waits, within the transaction that keeps it; ``grouped``: ``keep`` comes before its end."""

    @abstractmethod
    def keep(self) -> None:
        """Have in the store what came since ``begin``."""

    @abstractmethod
    def may_wait(self) -> bool:
        """Whether any turn of this process may wait."""

    @abstractmethod
    def first(self, limit: int | None) -> list[UnlearnedTurn]:
        """The oldest that wait, at most so many."""

    @abstractmethod
    def take(self, first: Sequence[UnlearnedTurn]) -> list[tuple[Turn, bool]]:
        """Within a transaction: these wait no more. Those that are kept still, and whether a child said each."""

    @abstractmethod
    def taken(self, first: Sequence[UnlearnedTurn]) -> None:
        """That transaction has ended well."""


class OwnTurns(PendingTurns):
    """Of a store into which one process writes: in memory, and where they begin is noted."""

    def __init__(self, store: Store, children: frozenset[str]) -> None:
        self._store = store
        self._waiting: deque[UnlearnedTurn] = deque()
        self._noted = False
        first = store.state(STATE)
        for turn in _since(store, int(first)) if first else ():
            self._waiting.append(UnlearnedTurn(turn.id, turn.seq, turn.user_id in children))

    def begin(self) -> None:
        self._noted = False  # an earlier note may have been undone with its transaction

    def add(self, turn: UnlearnedTurn, grouped: bool) -> None:
        self._waiting.append(turn)
        if not self._noted:
            self._note(0)
            self._noted = True

    def keep(self) -> None:
        pass

    def may_wait(self) -> bool:
        return bool(self._waiting)

    def first(self, limit: int | None) -> list[UnlearnedTurn]:
        return list(islice(self._waiting, limit))

    def take(self, first: Sequence[UnlearnedTurn]) -> list[tuple[Turn, bool]]:
        self._note(len(first))
        found = ((self._store.turn(one.id), one.child) for one in first)
        return [(turn, child) for turn, child in found if turn is not None]

    def taken(self, first: Sequence[UnlearnedTurn]) -> None:
        for _ in first:
            self._waiting.popleft()

    def _note(self, after: int) -> None:
        """Keep where the waiting ones begin, but for so many of them."""
        following = next(islice(self._waiting, after, None), None)
        self._store.put_state(STATE, str(following.seq) if following else "")


class EverybodysTurns(PendingTurns):
    """Of a store into which several processes write: in a list of its own, and whoever has time learns from them."""

    def __init__(self, listed: LearningQueueStore) -> None:
        self._listed = listed
        self._new: list[UnlearnedTurn] = []
        self._may_wait = bool(listed.oldest(1))

    def begin(self) -> None:
        self._new = []

    def add(self, turn: UnlearnedTurn, grouped: bool) -> None:
        self._may_wait = True
        self._new.append(turn)
        if not grouped:
            self.keep()

    def keep(self) -> None:
        new, self._new = self._new, []
        if new:
            self._listed.put(new)

    def may_wait(self) -> bool:
        return self._may_wait

    def first(self, limit: int | None) -> list[UnlearnedTurn]:
        found = self._listed.oldest(limit)
        self._may_wait = bool(found)
        return found

    def take(self, first: Sequence[UnlearnedTurn]) -> list[tuple[Turn, bool]]:
        return self._listed.take([one.seq for one in first])

    def taken(self, first: Sequence[UnlearnedTurn]) -> None:
        pass


def pending_turns(store: Store, children: frozenset[str]) -> PendingTurns:
    """Those of a store. ``children``: users of whom nothing is taken in before somebody reviews it."""
    return OwnTurns(store, children) if store.unlearned is None else EverybodysTurns(store.unlearned)


def _since(store: Store, first: int) -> list[Turn]:
    """The turns from this ``seq`` on, oldest first."""
    limit = READ
    while True:
        newest = sorted(store.turns(Scope.everyone(), limit=limit), key=lambda turn: turn.seq)
        if len(newest) < limit or newest[0].seq < first:
            return [turn for turn in newest if turn.seq >= first]
        limit *= 4
