"""A file of lines that is encrypted with a key: an SQLCipher database with one table, which any such tool opens."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.stores.sqlite import driver
from ovos_persona_memory.stores.sqlite.database_file import COMPANIONS, driver_errors, refuse_key


def write_sealed(target: Path, key: str, lines: Iterable[bytes]) -> None:
    """Write the lines to a new file for its owner alone; nothing is seen of it before it is whole."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    part = Path(name)
    try:
        with open(handle, "rb"), driver_errors(target), closing(driver.connect(part, key)) as connection:  # noqa: PTH123  # it closes the handle
            connection.execute("CREATE TABLE line (num INTEGER PRIMARY KEY, text BLOB NOT NULL)")
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO line (text) VALUES (?)", ((line,) for line in lines))
            connection.execute("COMMIT")
        part.replace(target)
    finally:
        for end in ("", *COMPANIONS):
            Path(f"{part}{end}").unlink(missing_ok=True)


def read_sealed(source: Path, key: str) -> Iterator[bytes]:
    """The lines in their order; WrongKey where the key does not fit, InvalidRequest for another file."""
    refuse_key(source, key)
    with driver_errors(source), closing(driver.connect(source, key)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE name = 'line'").fetchone()
        if found is None:
            raise InvalidRequest(str(source), "is no encrypted export")
        for (line,) in connection.execute("SELECT text FROM line ORDER BY num"):
            yield bytes(line)
