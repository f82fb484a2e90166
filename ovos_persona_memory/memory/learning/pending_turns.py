"""Which turns wait for somebody to learn from them, and how that is known after a restart."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from itertools import islice

from ovos_persona_memory.records import Scope, Turn
from ovos_persona_memory.stores import LearningQueueStore, Store, UnlearnedTurn

STATE = "unlearned_from"
"""Name of a small value in the store: the ``seq`` of the first turn that waits; empty where none does."""
READ = 64
"""So many turns are looked at first when the process starts."""


class WaitingTurns(ABC):
    """In the order in which they were said. Not thread-safe by itself: the store's transactions are."""

    @abstractmethod
    def begin(self) -> None:
        """A transaction begins in which some may come."""

    @abstractmethod
    def add(self, turn: UnlearnedTurn, crowded: bool) -> None:
        """One more waits, within the transaction that keeps it; of a crowd ``keep`` comes before its end."""

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


class OwnTurns(WaitingTurns):
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

    def add(self, turn: UnlearnedTurn, crowded: bool) -> None:
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


class EverybodysTurns(WaitingTurns):
    """Of a store into which several processes write: in a list of its own, and whoever has time learns from them."""

    def __init__(self, listed: LearningQueueStore) -> None:
        self._listed = listed
        self._new: list[UnlearnedTurn] = []
        self._may_wait = bool(listed.oldest(1))

    def begin(self) -> None:
        self._new = []

    def add(self, turn: UnlearnedTurn, crowded: bool) -> None:
        self._may_wait = True
        self._new.append(turn)
        if not crowded:
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


def waiting_turns(store: Store, children: frozenset[str]) -> WaitingTurns:
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
