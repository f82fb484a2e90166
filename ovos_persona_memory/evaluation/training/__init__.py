"""Training samples, and the models that are fitted to them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ovos_persona_memory.evaluation.training.tagger import samples_in

__all__ = ["samples_in"]

_PLACES = {
    "samples_in": "ovos_persona_memory.evaluation.training.tagger",
}
"""From a name to the module that holds it, or that it is: imported when somebody asks for it."""


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_PLACES[name])
    return getattr(module, name, module)
