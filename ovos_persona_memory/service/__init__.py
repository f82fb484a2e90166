"""The daemon: hears the bus, keeps what was said, answers at two doors.

One utterance passes: protocol/bus_connection -> service/daemon -> protocol/messages -> memory/transcript -> stores.
One context request: the same way in, service/verb_handlers -> memory -> conversation, search -> and back.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ovos_persona_memory.service import announcement, date_parser, process
    from ovos_persona_memory.service.daemon import Daemon
    from ovos_persona_memory.service.embedder_plugins import open_embedder
    from ovos_persona_memory.service.model_plugins import open_model

__all__ = ["Daemon", "announcement", "date_parser", "open_embedder", "open_model", "process"]

_PLACES = {
    "Daemon": "ovos_persona_memory.service.daemon",
    "announcement": "ovos_persona_memory.service.announcement",
    "date_parser": "ovos_persona_memory.service.date_parser",
    "open_embedder": "ovos_persona_memory.service.embedder_plugins",
    "open_model": "ovos_persona_memory.service.model_plugins",
    "process": "ovos_persona_memory.service.process",
}
"""From a name to the module that holds it, or that it is: imported when somebody asks for it."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PLACES[name])
    return getattr(module, name, module)
