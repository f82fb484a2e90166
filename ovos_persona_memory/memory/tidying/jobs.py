"""The queue of jobs that wait until nobody talks: on disk, one a session and kind, tried again when it fails."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf
from typing import Any

from ovos_persona_memory.errors import PersonaMemoryError, StoreError
from ovos_persona_memory.stores import Store

STATE = "jobs"
"""Name of the small value in the store that holds the queue, as JSON."""
FIRST_RETRY_S, LONGEST_RETRY_S = 30.0, 3600.0
"""After the first failure a job waits so long, after each further one twice as long, and never longer, seconds."""
IN_HAND_S = 600.0
"""Where several devices share a store, a job that one of them has in hand is left to it for so long, seconds."""


@dataclass(frozen=True)
class Job:
    """Something to be done about one session."""

    kind: str
    user_id: str
    session_id: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    """Numbers that the job goes by; never what was said."""
    added_at: float = 0.0
    """Seconds since the epoch, UTC."""
    not_before: float = 0.0
    attempts: int = 0
    """How often it has failed in a row."""
    problem: str = ""
    """What went wrong the last time; never what was said."""
    holder: str = ""
    """The process that has it in hand; empty: nobody."""
    held_until: float = 0.0

    @property
    def name(self) -> tuple[str, str, str]:
        """What the job is known by: there is one of a kind for a session."""
        return self.kind, self.user_id, self.session_id


class Postponed(PersonaMemoryError):
    """The job cannot be done now, for no fault of its own."""

    code = "postponed"

    def __init__(self, reason: str, for_s: float) -> None:
        super().__init__(reason)
        self.for_s = for_s


Handler = Callable[[Job], None]
"""Does a job; Postponed where that cannot be now, another PersonaMemoryError where it failed."""


class JobQueue:
    """The jobs of one store. Thread-safe: each change is a short transaction of the store."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock
        self._me = uuid.uuid4().hex
        self._in_hand: set[tuple[str, str, str]] = set()
        """Names of the jobs that threads of this process do now; changed within transactions of the store, or at the
        end of the only thread that has the job."""

    def waiting(self) -> list[Job]:
        """Every job that is not done, the one that was added first first."""
        kept = self._store.state(STATE)
        return [Job(**told) for told in json.loads(kept)] if kept else []

    def add(self, job: Job) -> None:
        """Have a job wait; one of its kind for its session that waits already gets its detail, and no more."""
        with self._store.transaction():
            jobs = self.waiting()
            known = next((one for one in jobs if one.name == job.name), None)
            if known is None:
                self._put([*jobs, replace(job, added_at=self._clock())])
            elif known.detail != job.detail:
                self._put([replace(one, detail=job.detail) if one is known else one for one in jobs])

    def move(self, job: Job) -> None:
        """Have a job wait as ``add`` does, until its ``not_before``, also where it waits already for another time.

        One that is due already stays due, and one that nobody could do is tried again when that was to be.
        """
        with self._store.transaction():
            self.add(job)
            jobs = self.waiting()
            known = next(one for one in jobs if one.name == job.name)
            if known.not_before not in (0.0, job.not_before) and not known.problem:
                self._put([replace(one, not_before=job.not_before) if one is known else one for one in jobs])

    def due_in_s(self) -> float | None:
        """Seconds until a job is due, 0 for now; None where none waits."""
        now = self._clock()
        free_at = [at for job in self.waiting() if (at := self._free_at(job)) < inf]
        return max(min(free_at) - now, 0.0) if free_at else None

    def step(self, handlers: Mapping[str, Handler]) -> bool:
        """Do the job that has been due longest, if there is one; whether there was one.

        A job that fails waits, longer each time; what it did in a transaction of the store is undone with that. A
        StoreError is raised: then the queue cannot be written either, and the job is tried again when it can.
        """
        job = self._take()
        if job is None:
            return False
        try:
            self._change(job, self._done(job, handlers.get(job.kind)))
        finally:
            self._in_hand.discard(job.name)
        return True

    def _done(self, job: Job, handler: Handler | None) -> Job | None:
        """Do a job: None where that is done, else the job as it waits for the next time."""
        try:
            if handler is None:
                raise Postponed("nobody does such jobs here", LONGEST_RETRY_S)
            handler(job)
        except StoreError:
            raise
        except Postponed as later:
            return replace(job, holder="", not_before=self._clock() + later.for_s, problem=later.reason)
        except PersonaMemoryError as error:
            wait_s = min(FIRST_RETRY_S * 2**job.attempts, LONGEST_RETRY_S)
            later_at = self._clock() + wait_s
            return replace(job, holder="", attempts=job.attempts + 1, not_before=later_at, problem=error.reason)
        return None

    def keep(self, is_wanted: Callable[[Job], bool]) -> bool:
        """Drop the jobs that are not wanted any more, whoever has them in hand; whether there were any."""
        if not self.waiting():
            return False
        with self._store.transaction():
            jobs = self.waiting()
            wanted = [job for job in jobs if is_wanted(job)]
            if len(wanted) < len(jobs):
                self._put(wanted)
        return len(wanted) < len(jobs)

    def _take(self) -> Job | None:
        now = self._clock()
        if not any(self._free_at(job) <= now for job in self.waiting()):
            return None
        with self._store.transaction():
            jobs = self.waiting()
            due = [job for job in jobs if self._free_at(job) <= now]
            if not due:
                return None
            taken = replace(min(due, key=self._free_at), holder=self._me, held_until=now + IN_HAND_S)
            self._put([taken if job.name == taken.name else job for job in jobs])
            self._in_hand.add(taken.name)
        return taken

    def _free_at(self, job: Job) -> float:
        """When the job may be taken; what a process had in hand that has ended is free, where nobody else works."""
        if job.holder == self._me:
            return inf if job.name in self._in_hand else job.not_before
        return max(job.not_before, job.held_until) if job.holder and self._store.shared else job.not_before

    def _change(self, job: Job, changed: Job | None) -> None:
        """Put a job that this process had in hand back, or take it out; one that was dropped meanwhile stays away."""
        with self._store.transaction():
            jobs = self.waiting()
            if not any(one.name == job.name and one.holder == self._me for one in jobs):
                return
            kept = [one for one in jobs if one.name != job.name]
            self._put([*kept, changed] if changed is not None else kept)

    def _put(self, jobs: Sequence[Job]) -> None:
        in_order = sorted(jobs, key=lambda job: job.added_at)
        self._store.put_state(STATE, json.dumps([asdict(job) for job in in_order]) if jobs else "")
