"""The owner's page as a part of the daemon: whether it is served at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ovos_utils.log import LOG

from ovos_persona_memory import web
from ovos_persona_memory.config import MemoryConfig

if TYPE_CHECKING:
    from ovos_persona_memory.web import PageServer


def page_of(config: MemoryConfig, put: Callable[[bytes, Callable[[bytes], None]], None]) -> PageServer | None:
    """The page, to be started; None where the settings do not want it or the extra is not installed."""
    if not config.web.enabled:
        return None
    if not web.is_installed():
        LOG.debug("no page is served: the extra web is not installed")
        return None
    return web.PageServer(config, put)
