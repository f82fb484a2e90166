"""The owner's page as a part of the daemon: whether it is served at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ovos_utils.log import LOG

from ovos_persona_memory import stores, web
from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.service.backups import FolderBackups, Swap

if TYPE_CHECKING:
    from ovos_persona_memory.web import PageServer


def page_of(
    config: MemoryConfig, put: Callable[[bytes, Callable[[bytes], None]], None], swap: Callable[[Swap], None]
) -> PageServer | None:
    """The page, to be started; None where the settings do not want it or the extra is not installed.

    ``swap``: puts a backup in the memory's place.
    """
    if not config.web.enabled:
        return None
    if not web.is_installed():
        LOG.debug("no page is served: the extra web is not installed")
        return None
    backups = None if stores.sqlite_folder(config) is None else FolderBackups(config, swap)
    return web.PageServer(config, put, backups)
