"""The owner's page: what is remembered, to see and to correct in a browser, and the same verbs as JSON.

One request passes: web/server -> web/guard -> web/app -> web/views -> protocol -> service/daemon, and back.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ovos_persona_memory.web.backups import Backup, BackupService

if TYPE_CHECKING:
    from ovos_persona_memory.web.access import entry_link, token_of
    from ovos_persona_memory.web.server import PageServer

__all__ = ["NEEDED", "Backup", "BackupService", "PageServer", "entry_link", "is_installed", "token_of"]

NEEDED = ("starlette", "uvicorn", "jinja2")
"""The packages of the extra ``web``."""
_PLACES = {
    "PageServer": "ovos_persona_memory.web.server",
    "entry_link": "ovos_persona_memory.web.access",
    "token_of": "ovos_persona_memory.web.access",
}
"""From a name to the module that holds it: imported when somebody asks for it, since the extra may be missing."""


def is_installed() -> bool:
    """Whether the extra ``web`` is there."""
    return all(find_spec(name) is not None for name in NEEDED)


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
