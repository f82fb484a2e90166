"""``run``: the daemon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click
from ovos_utils.log import init_service_logger

from ovos_persona_memory.cli.connection import settings, url
from ovos_persona_memory.cli.options import address_options, data_option, examples
from ovos_persona_memory.cli.output import Command, say
from ovos_persona_memory.config import bus_address
from ovos_persona_memory.errors import NoAnswer, StoreBusy
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.service import process


@click.command(cls=Command, epilog=examples("run", "run --data /srv/memory --port 8182"))
@data_option
@address_options
def run(data: Path | None, host: str | None, port: int | None) -> None:
    """Run the daemon: hear the messagebus, keep what was said, answer. Ends on SIGTERM or SIGINT."""
    config, address = settings(data), bus_address(host, port)
    if _status(config.folder) is not None:
        raise StoreBusy(f"a daemon already runs on {config.folder}")
    init_service_logger("persona_memory")
    process.run(config, lambda: _say_ready(config.folder, url(address)), **address)


def _say_ready(folder: Path, bus: str) -> None:
    say(f"Ready: data in {folder}, connected to the messagebus at {bus}")


def _status(folder: Path) -> dict[str, Any] | None:
    """The status of the daemon of this folder; None where none runs."""
    try:
        with MemoryClient.over_door(folder) as client:
            return dict(client.status())
    except NoAnswer:
        return None
