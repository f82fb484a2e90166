"""The command line: each command reads its options, calls one verb and shows the answer."""

from __future__ import annotations

import contextlib
import os
import sys


def main() -> None:
    """Run the command line and end the process with its status."""
    # numpy reads it once, when it is imported; with more threads small products are 20 times slower
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with contextlib.redirect_stdout(sys.stderr):  # ovos_config logs to standard output while it is imported
        from ovos_utils.log import LOG

        LOG.set_level(os.environ.get("OVOS_DEFAULT_LOG_LEVEL") or "ERROR")
        from ovos_persona_memory.cli.program import program
    program(prog_name="ovos-persona-memory")
