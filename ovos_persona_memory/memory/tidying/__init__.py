"""What is done about the talk when nobody talks: jobs in a queue on disk, summaries, the models that write them."""

from __future__ import annotations

from ovos_persona_memory.memory.tidying import introspection, proposals, summaries
from ovos_persona_memory.memory.tidying.introspection import Introspector
from ovos_persona_memory.memory.tidying.jobs import Job, JobQueue, Postponed
from ovos_persona_memory.memory.tidying.models import Call, Model, ModelCalls, ModelFailed, ModelKind
from ovos_persona_memory.memory.tidying.summaries import Summaries

__all__ = [
    "Call",
    "Introspector",
    "Job",
    "JobQueue",
    "Model",
    "ModelCalls",
    "ModelFailed",
    "ModelKind",
    "Postponed",
    "Summaries",
    "introspection",
    "proposals",
    "summaries",
]
