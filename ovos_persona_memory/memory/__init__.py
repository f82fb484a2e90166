"""PersonaMemory and its verbs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ovos_persona_memory.memory import archive, importing, markdown
    from ovos_persona_memory.memory.documents import Documents
    from ovos_persona_memory.memory.episodes import named_time
    from ovos_persona_memory.memory.migration import Migration
    from ovos_persona_memory.memory.persona_memory import PersonaMemory
    from ovos_persona_memory.memory.privacy import capture, relatives, tombstones
    from ovos_persona_memory.memory.retention import Removed
    from ovos_persona_memory.memory.tidying import Call, Model, ModelKind, proposals, restatements

__all__ = [
    "Call",
    "Documents",
    "Migration",
    "Model",
    "ModelKind",
    "PersonaMemory",
    "Removed",
    "archive",
    "capture",
    "importing",
    "markdown",
    "named_time",
    "proposals",
    "relatives",
    "restatements",
    "tombstones",
]

_PLACES = {
    "Call": "ovos_persona_memory.memory.tidying",
    "Documents": "ovos_persona_memory.memory.documents",
    "Migration": "ovos_persona_memory.memory.migration",
    "Model": "ovos_persona_memory.memory.tidying",
    "ModelKind": "ovos_persona_memory.memory.tidying",
    "PersonaMemory": "ovos_persona_memory.memory.persona_memory",
    "Removed": "ovos_persona_memory.memory.retention",
    "archive": "ovos_persona_memory.memory.archive",
    "capture": "ovos_persona_memory.memory.privacy.capture",
    "importing": "ovos_persona_memory.memory.importing",
    "markdown": "ovos_persona_memory.memory.markdown",
    "named_time": "ovos_persona_memory.memory.episodes",
    "proposals": "ovos_persona_memory.memory.tidying.proposals",
    "restatements": "ovos_persona_memory.memory.tidying.restatements",
    "relatives": "ovos_persona_memory.memory.privacy",
    "tombstones": "ovos_persona_memory.memory.privacy.tombstones",
}
"""From a name to the module that holds it, or that it is: imported when somebody asks for it."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PLACES[name])
    return getattr(module, name, module)
