"""Runs tests of the contract on a store with a fault, each time in a process of its own.

The processes are forked from one that has read pytest and the stores already: to read them takes longer than the tests.
"""

from __future__ import annotations

import os
import runpy
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, NoReturn

FOLDER = Path(__file__).parents[1] / "contract"
READ_BEFORE = (
    "pytest",
    "psycopg",
    "redis.asyncio",
    "ovos_persona_memory.memory.persona_memory",
)
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "--tb=native")

_forks = get_context("forkserver")
_forks.set_forkserver_preload(list(READ_BEFORE))


class Run(NamedTuple):
    """How a run ended."""

    code: int | None
    """As pytest's; below 0 where it was ended."""
    output: str


def run_tests(files: Sequence[Path], wanted: str, fault: str, folder: Path, longest_s: float | None = None) -> Run:
    """The tests of these files whose names fit, with this fault; none for an empty name.

    ``folder`` must not exist. What takes longer is ended. Thread-safe.
    """
    folder.mkdir()
    options = [*OPTIONS, "-k", wanted, f"--basetemp={folder / 'run'}", *map(str, files)]
    # not {**os.environ}: pytest takes a name out of it meanwhile, in another thread
    given = {name: value for name in list(os.environ) if (value := os.environ.get(name)) is not None}
    environment = {**given, "PLANTED_FAULT": fault, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    given = {"options": options, "environment": environment, "output": folder / "output"}
    process = _forks.Process(target=runpy.run_path, args=(__file__, {"given": given}, "__main__"))
    process.start()
    process.join(longest_s)
    process.kill()
    process.join()
    return Run(process.exitcode, (folder / "output").read_text("utf-8", "replace"))


def main(options: list[str], environment: Mapping[str, str], output: Path) -> NoReturn:
    """In the process of its own."""
    for stream, descriptor in enumerate([os.open(output, os.O_WRONLY | os.O_CREAT)] * 2, 1):
        os.dup2(descriptor, stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(FOLDER.parents[1])
    import pytest

    raise SystemExit(int(pytest.main(options)))


if __name__ == "__main__":
    main(**globals()["given"])
