"""The memory of an OpenVoiceOS assistant: records what is said and finds it again."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ovos_persona_memory.config import MemoryConfig
    from ovos_persona_memory.errors import PersonaMemoryError
    from ovos_persona_memory.memory import PersonaMemory
    from ovos_persona_memory.protocol import MemoryClient
    from ovos_persona_memory.records import ContextRequest, Entry, Hit, Scope, Turn

__all__ = [
    "ContextRequest",
    "Entry",
    "Hit",
    "MemoryClient",
    "MemoryConfig",
    "PersonaMemory",
    "PersonaMemoryError",
    "Scope",
    "Turn",
]

_PLACES = {
    "ContextRequest": "ovos_persona_memory.records",
    "Entry": "ovos_persona_memory.records",
    "Hit": "ovos_persona_memory.records",
    "MemoryClient": "ovos_persona_memory.protocol",
    "MemoryConfig": "ovos_persona_memory.config",
    "PersonaMemory": "ovos_persona_memory.memory",
    "PersonaMemoryError": "ovos_persona_memory.errors",
    "Scope": "ovos_persona_memory.records",
    "Turn": "ovos_persona_memory.records",
}
"""From a name to the module that holds it, or that it is: imported when somebody asks for it."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PLACES[name])
    return getattr(module, name, module)
