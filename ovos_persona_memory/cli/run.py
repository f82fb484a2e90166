"""``run``: the daemon."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import rich_click as click
from ovos_utils.log import init_service_logger

from ovos_persona_memory.cli.options import address_options, data_option
from ovos_persona_memory.cli.output import Command, say
from ovos_persona_memory.cli.reach import bus_address, settings, url
from ovos_persona_memory.client import MemoryClient
from ovos_persona_memory.errors import NoAnswer, PersonaMemoryError, StoreBusy
from ovos_persona_memory.service import daemon

FIRST_LOOK_S = 0.02
LONGEST_LOOK_S = 1.0
"""Between two looks whether the daemon is ready: doubled after each."""


@click.command(cls=Command)
@data_option
@address_options
def run(data: Path | None, host: str | None, port: int | None) -> None:
    """Run the daemon: hear the messagebus, keep what was said, answer. Ends on SIGTERM or SIGINT."""
    config, address = settings(data), bus_address(host, port)
    if _status(config.folder) is not None:
        raise StoreBusy(f"a daemon already runs on {config.folder}")
    init_service_logger("persona_memory")
    threading.Thread(target=_say_when_ready, args=(config.folder, url(address)), daemon=True).start()
    daemon.run(config, **address)


def _status(folder: Path) -> dict[str, Any] | None:
    """What the daemon of this folder says; None where none runs."""
    try:
        with MemoryClient.over_door(folder) as client:
            return dict(client.status())
    except NoAnswer:
        return None


def _say_when_ready(folder: Path, bus: str) -> None:
    wait_s, opened = FIRST_LOOK_S, False
    pause = threading.Event()
    while True:
        try:
            status = _status(folder)
        except PersonaMemoryError:
            status = None
        if status is not None and status["bus"]:
            say(f"Ready: data in {folder}, connected to the messagebus at {bus}")
            return
        if status is not None and not opened:
            say(f"The memory in {folder} is open; waiting for the messagebus at {bus}")
            opened = True
        pause.wait(wait_s)
        wait_s = min(wait_s * 2, LONGEST_LOOK_S)
