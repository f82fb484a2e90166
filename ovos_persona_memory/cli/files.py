"""Files that commands write: whole or not at all, and for their owner alone to read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import rich_click as click

from ovos_persona_memory.errors import InvalidRequest

output_option = click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write it there, for you alone to read, in place of what was there.",
)
key_option = click.option(
    "--key", metavar="KEY", help="Where the key of the file is: file:PATH, env:NAME, keyring:SERVICE or prompt."
)


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write the parts to a file, one after the other; InvalidRequest that names it where it cannot be written."""
    try:
        _replace(path, parts)
    except OSError as error:
        raise InvalidRequest(str(path), f"cannot be written: {error.strerror}") from None


def _replace(path: Path, parts: Iterable[bytes]) -> None:
    # mkstemp makes a file that nobody else may read
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink()
        raise
