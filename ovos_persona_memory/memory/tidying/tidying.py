"""All that is done about the talk when nobody talks: what there is to do, and how a job is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.conversation import strategies
from ovos_persona_memory.memory.sessions import Sessions
from ovos_persona_memory.memory.tidying import fact_reading, introspection, summaries
from ovos_persona_memory.memory.tidying.fact_reading import FactReader
from ovos_persona_memory.memory.tidying.introspection import Introspector
from ovos_persona_memory.memory.tidying.jobs import Job, JobQueue
from ovos_persona_memory.memory.tidying.models import Model, ModelCalls, ModelFailed
from ovos_persona_memory.memory.tidying.summaries import Summaries
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import Scope, Turn

if TYPE_CHECKING:
    from ovos_persona_memory.memory.entries import Entries

KINDS = (summaries.KIND, introspection.KIND, fact_reading.KIND)
"""The kinds of jobs."""


class Tidying:
    """The jobs of one memory. Thread-safe."""

    def __init__(self, workings: MemoryParts, sessions: Sessions, entries: Entries, config: MemoryConfig) -> None:
        self._store, self._config = workings.store, config
        self.jobs = JobQueue(workings.store, workings.clock)
        self.calls = ModelCalls(workings.store, workings.clock, config.models)
        self.models: dict[str, Model] = {}
        """From a kind of job to the language model for it, put here by whoever loads plugins."""
        self.wanted: Callable[[], None] = lambda: None
        """Called when ``work`` may have something new to do, after what that is about is committed; it never waits."""
        self._summaries = Summaries(workings, sessions, self.jobs, config.history)
        parts = (workings, sessions, entries, self.jobs)
        self.introspector = Introspector(*parts, config.introspection, config.history.summary_tokens)
        self._reader = FactReader(workings, self.jobs, config.models.facts if config.facts.learn else None)
        self._looks = (self._summaries, self.introspector, self._reader)

    def talked_in(self, said: Sequence[Turn]) -> None:
        """These turns are committed: there may be something to do about their sessions."""
        for one in self._looks:
            one.talked_in(said)
        if any(one.waits for one in self._looks):
            self.wanted()

    def overflows(self, user_id: str | None, session_id: str | None, overflow: strategies.Overflow) -> None:
        """A persona asks in a session that it wants summarised when it overflows."""
        self._summaries.touch(user_id, session_id, overflow)
        self.wanted()

    @property
    def may_summarise_at_once(self) -> bool:
        """Whether there is a session to be looked at, and no language model that would take its time."""
        return self._summaries.waits and not self._config.named_models and not self.models

    def work(self) -> bool:
        """See PersonaMemory.work."""
        for one in self._looks:
            one.look()
        return self.jobs.step(
            {
                summaries.KIND: self._summarise,
                introspection.KIND: self._with_model(introspection.KIND, self.introspector.carry_out),
                fact_reading.KIND: self._with_model(fact_reading.KIND, self._reader.carry_out),
            }
        )

    def _summarise(self, job: Job) -> None:
        model, wanted = self.models.get(summaries.KIND), self._config.models.summary
        if model is None and wanted is not None:
            raise ModelFailed(f"{wanted}, which models.summary names, is not loaded")
        self._summaries.carry_out(job, model, self.calls, self._config.models.piece_tokens)

    def _with_model(
        self, kind: str, carry_out: Callable[[Job, Model | None, ModelCalls, int], None]
    ) -> Callable[[Job], None]:
        return lambda job: carry_out(job, self.models.get(kind), self.calls, self._config.models.piece_tokens)

    def keep(self) -> None:
        """Let go of what names a user and a session of whom nothing is left; before each purge."""
        self.jobs.keep(lambda job: bool(self._store.turns(Scope(job.session_id, job.user_id), limit=1)))
        self.introspector.keep()
        self._reader.keep()

    def status(self) -> Mapping[str, Any]:
        """The language models, what waits, what was used today, and what goes wrong."""
        jobs, used = self.jobs.waiting(), self.calls.used()
        problems = [job.problem for job in jobs if job.problem]
        return {
            **{kind: self._of_model(kind) for kind in KINDS},
            "jobs": len(jobs),
            "calls": used.calls,
            "tokens": used.tokens,
            "problem": problems[0] if problems else None,
        }

    def _of_model(self, kind: str) -> Mapping[str, Any]:
        model = self.models.get(kind)
        if model is not None:
            return {"plugin": model.name, "where": model.where, "leaves_device": model.leaves_device}
        return {"plugin": self._config.named_models.get(kind), "where": "", "leaves_device": None}
