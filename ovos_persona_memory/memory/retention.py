"""What is kept for so many days and no longer: removed in small steps, once a day."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import get_args

from ovos_persona_memory.config import RetentionConfig
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import EpisodeKind, EpisodesWanted, Scope, Selection

DAY_S = 86400.0
STEP = 50
"""Records at most that one step removes: some ten milliseconds."""
PARTS, SOONEST_S = 24, 60.0
"""Where something is kept for less than so many days, a run comes as many times as often as that, but not sooner
after the last than this, seconds."""
STATE = "retention"
EVERY_KIND = frozenset(get_args(EpisodeKind))


@dataclass(frozen=True)
class Removed:
    """What one run has removed."""

    at: float
    """When it began, seconds since the epoch, UTC."""
    turns: int = 0
    episodes: int = 0
    documents: int = 0
    decisions: int = 0
    """About what becomes a fact and what does not."""
    notes: int = 0
    """Summaries and descriptions of sessions, which may retell the turns that went."""

    @property
    def total(self) -> int:
        """Turns, episodes, documents and decisions; a note goes with its session."""
        return self.turns + self.episodes + self.documents + self.decisions


class Retention:
    """Removes what is too old: at the start and once a day, a step at a time. Not thread-safe by itself.

    What is removed is forgotten: gone from rows, index, vectors and journal when the run has ended.
    """

    def __init__(self, workings: MemoryParts, config: RetentionConfig) -> None:
        self._workings = workings
        self._store = workings.store
        self._config = config
        self.told: Callable[[Removed], None] = lambda removed: None
        """Hears of each run that has ended and removed something."""
        self._next_at = 0.0
        self._run: Removed | None = None

    def due_in_s(self) -> float | None:
        """Seconds until there is something to do, 0 for now; None where everything is kept for good."""
        if self._config == RetentionConfig():
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
        gone = self._turns(run) or self._episodes(run) or self._documents(run)
        if gone is None:
            self._end(run)
        else:
            self._run = gone
        return gone is not None

    def _every_s(self) -> float:
        """Once a day, and where something is kept for hours, as often as it takes to be in time by and large."""
        days: list[float] = [day for day in asdict(self._config).values() if day is not None]
        return min(max(min(days) * DAY_S / PARTS, SOONEST_S), DAY_S)

    def _turns(self, run: Removed) -> Removed | None:
        """The run with the next turns removed; None where none is too old."""
        before = _before(run, self._config.turns_days)
        turns = self._store.oldest_turns(before, STEP) if before is not None else []
        if not turns:
            return None
        gone = self._store.delete(Selection(Scope.everyone(), ids=tuple(turns), kinds=frozenset({"turn"})))
        return replace(run, turns=run.turns + gone.turns, notes=run.notes + gone.notes)

    def _episodes(self, run: Removed) -> Removed | None:
        before, log = _before(run, self._config.episodes_days), self._store.episode_store
        if before is None:
            return None
        old = log.episodes(EpisodesWanted(Scope.everyone(), EVERY_KIND, until=before, limit=STEP))
        return replace(run, episodes=run.episodes + log.delete([one.id for one in old])) if old else None

    def _documents(self, run: Removed) -> Removed | None:
        before, shelf = _before(run, self._config.documents_days), self._store.document_store
        if before is None:
            return None
        with self._store.transaction():  # one that is put anew meanwhile may get the number of the old one
            old = shelf.oldest(before, STEP)
            gone = shelf.delete_numbered(old) if old else 0
        return replace(run, documents=run.documents + gone) if gone else None

    def _decisions(self, run: Removed) -> int:
        """How many were removed: there are 1,000 at most, which is one step."""
        before = _before(run, self._config.decisions_days)
        return 0 if before is None else self._store.fact_store.delete_decisions_before(before)

    def _end(self, run: Removed) -> None:
        before, notes = _before(run, self._config.turns_days), self._store.notes(Scope.everyone())
        old = [(user, session) for user, session, note in notes if before is not None and note.updated_at < before]
        with self._store.transaction():
            done = replace(run, notes=run.notes + self._store.delete_notes(old), decisions=self._decisions(run))
            self._store.put_state(STATE, json.dumps(asdict(done)))
        self._run, self._next_at = None, run.at + self._every_s()
        self._workings.purge_if(done.total + done.notes > 0)
        if done.total + done.notes:
            self.told(done)


def _before(run: Removed, days: float | None) -> float | None:
    return None if days is None else run.at - days * DAY_S
