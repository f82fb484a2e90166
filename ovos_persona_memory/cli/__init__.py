"""The command line: each command reads its options, calls one verb and shows the answer."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process with its status."""
    # numpy reads it once, when it is imported; with more threads small products are 20 times slower
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    is_daemon = sys.argv[1:2] == ["run"]
    with contextlib.redirect_stdout(sys.stderr):  # ovos_config logs to standard output while it is imported
        from ovos_utils.log import LOG

        from ovos_persona_memory.cli.options import HELP, NAME

        LOG.set_level(os.environ.get("OVOS_DEFAULT_LOG_LEVEL") or "ERROR")
        command = _daemon() if is_daemon else _program()
    arguments, name = (sys.argv[2:], f"{NAME} run") if is_daemon else (sys.argv[1:], NAME)
    command(arguments, name, **HELP)


def _daemon() -> Any:
    """Run the daemon, which stays in memory, without importing the other commands.

    The collector waits until it is ready: what imports make lives as long as the process.
    """
    gc.disable()
    from ovos_persona_memory.cli.run import run

    return run


def _program() -> Any:
    from ovos_persona_memory.cli.program import program

    return program
