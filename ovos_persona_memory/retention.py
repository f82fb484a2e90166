"""What is kept for so many days and no longer: removed in small steps, once a day."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from ovos_persona_memory.config import RetentionConfig
from ovos_persona_memory.records import Scope, Selection
from ovos_persona_memory.transcript import Workings

DAY_S = 86400.0
STEP = 50
"""Records at most that one step removes: some ten milliseconds."""
STATE = "retention"


@dataclass(frozen=True)
class Removed:
    """What one run has removed."""

    at: float
    """When it began, seconds since the epoch, UTC."""
    turns: int = 0
    notes: int = 0
    """Summaries and descriptions of sessions, which may retell the turns that went."""

    @property
    def total(self) -> int:
        """Turns; a note goes with them."""
        return self.turns


class Retention:
    """Removes what is too old: at the start and once a day, a step at a time. Not thread-safe by itself.

    What is removed is forgotten: gone from rows, index, vectors and journal when the run has ended.
    """

    def __init__(self, workings: Workings, config: RetentionConfig) -> None:
        self._workings = workings
        self._store = workings.store
        self._days = config.turns_days
        self.told: Callable[[Removed], None] = lambda removed: None
        """Hears of each run that has ended and removed something."""
        self._next_at = 0.0
        self._run: Removed | None = None

    def due_in_s(self) -> float | None:
        """Seconds until there is something to do, 0 for now; None where everything is kept for good."""
        if self._days is None:
            return None
        return 0.0 if self._run else max(self._next_at - self._workings.clock(), 0.0)

    def last(self) -> Mapping[str, float] | None:
        """What the last run that has ended removed, and when; None where there was none."""
        kept = self._store.state(STATE)
        found: dict[str, float] | None = json.loads(kept) if kept else None
        return found

    def step(self) -> bool:
        """Do a little of what is due; whether more is left."""
        if self.due_in_s() != 0.0:
            return False
        run = self._run or Removed(self._workings.clock())
        before = run.at - (self._days or 0.0) * DAY_S
        turns = self._store.oldest_turns(before, STEP)
        if turns:
            gone = self._store.delete(Selection(Scope.everyone(), ids=tuple(turns), kinds=frozenset({"turn"})))
            self._run = Removed(run.at, run.turns + gone.turns, run.notes + gone.notes)
            return True
        self._end(run, before)
        return False

    def _end(self, run: Removed, before: float) -> None:
        old = [names for *names, note in self._store.notes(Scope.everyone()) if note.updated_at < before]
        with self._store.transaction():
            notes = self._store.delete_notes([(user_id, session_id) for user_id, session_id in old])
            done = Removed(run.at, run.turns, run.notes + notes)
            self._store.put_state(STATE, json.dumps(asdict(done)))
        self._run, self._next_at = None, run.at + DAY_S
        self._workings.purge_if(done.total + done.notes > 0)
        if done.total + done.notes:
            self.told(done)
