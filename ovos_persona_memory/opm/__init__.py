"""Plugins for personas, each in a module of its own, and ``@remember`` for chat engines of others."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ovos_persona_memory.opm.chat import RecallChatEngine
    from ovos_persona_memory.opm.decorator import remember
    from ovos_persona_memory.opm.memory import PersonaMemoryPlugin
    from ovos_persona_memory.opm.persona import SCRIBE
    from ovos_persona_memory.opm.remembering_engine import RememberingChatEngine
    from ovos_persona_memory.opm.remembering_solver import RememberingSolver
    from ovos_persona_memory.opm.retrieval import PersonaMemoryRetrieval
    from ovos_persona_memory.opm.toolbox import PersonaMemoryTools

__all__ = [
    "SCRIBE",
    "PersonaMemoryPlugin",
    "PersonaMemoryRetrieval",
    "PersonaMemoryTools",
    "RecallChatEngine",
    "RememberingChatEngine",
    "RememberingSolver",
    "remember",
]

_PLACES = {
    "PersonaMemoryPlugin": "ovos_persona_memory.opm.memory",
    "PersonaMemoryRetrieval": "ovos_persona_memory.opm.retrieval",
    "PersonaMemoryTools": "ovos_persona_memory.opm.toolbox",
    "RecallChatEngine": "ovos_persona_memory.opm.chat",
    "RememberingChatEngine": "ovos_persona_memory.opm.remembering_engine",
    "RememberingSolver": "ovos_persona_memory.opm.remembering_solver",
    "SCRIBE": "ovos_persona_memory.opm.persona",
    "remember": "ovos_persona_memory.opm.decorator",
}
"""From a name to the module that holds it, or that it is: imported when somebody asks for it."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PLACES[name])
    return getattr(module, name, module)
