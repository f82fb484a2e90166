"""What is done about the talk when nobody talks: jobs in a queue on disk, summaries, the models that write them."""

from __future__ import annotations

from ovos_persona_memory.memory.tidying import proposals, restatements
from ovos_persona_memory.memory.tidying.jobs import Job, JobQueue, Postponed
from ovos_persona_memory.memory.tidying.models import Call, Model, ModelCalls, ModelFailed, ModelKind
from ovos_persona_memory.memory.tidying.tidying import Tidying

__all__ = [
    "Call",
    "Job",
    "JobQueue",
    "Model",
    "ModelCalls",
    "ModelFailed",
    "ModelKind",
    "Postponed",
    "Tidying",
    "proposals",
    "restatements",
]
