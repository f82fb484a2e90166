"""SQLite's driver: Python's own, or SQLCipher's where the file is encrypted with a key."""

from __future__ import annotations

import sqlite3
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from ovos_persona_memory.errors import ConfigError

EXTRA = "encryption needs sqlcipher3, which is missing: pip install 'ovos-persona-memory[encryption]'"
CIPHER = "sqlcipher3.dbapi2"


def connect(path: Path | str, key: str | None = None, **how: Any) -> sqlite3.Connection:
    """A connection in autocommit; with a ``key`` to an encrypted file.

    A wrong key shows at the first look into the file, as the error that a damaged file gives. ConfigError where a key
    is given and the extra is not installed.
    """
    if key is None:
        plain: sqlite3.Connection = sqlite3.connect(path, isolation_level=None, **how)
        return plain
    return _ciphered(path, key, how)


def _ciphered(path: Path | str, key: str | None, how: dict[str, Any]) -> sqlite3.Connection:
    try:
        module: Any = import_module(CIPHER)
    except ImportError as error:
        raise ConfigError(EXTRA) from error
    connection: sqlite3.Connection = module.connect(str(path), isolation_level=None, **how)
    # it writes on standard error by itself what it raises all the same
    connection.execute("PRAGMA cipher_log_level = NONE")
    if key is not None:
        connection.execute(f"PRAGMA key = {quoted(key)}")
    return connection


def quoted(text: str) -> str:
    """A text as SQL, where no value can be bound."""
    return "'" + text.replace("'", "''") + "'"


def is_driver_error(error: object) -> bool:
    """Whether an error comes out of either driver."""
    if isinstance(error, (sqlite3.Error, sqlite3.Warning)):
        return True
    cipher: Any = sys.modules.get(CIPHER)
    return cipher is not None and isinstance(error, (cipher.Error, cipher.Warning))


def is_damage(error: Exception) -> bool:
    """Whether an error speaks of the file rather than of an operation on it."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return "DatabaseError" in names and "OperationalError" not in names


def copy(source: Path, source_key: str | None, target: Path, target_key: str | None) -> None:
    """Write what a database holds now into another file, which is made, while others read and write the first.

    Nothing that was deleted is in the copy. Keys: None: not encrypted.
    """
    if source_key == target_key:
        connection = connect(source, source_key, timeout=30.0)
        try:
            connection.execute("VACUUM INTO ?", (str(target),))
        finally:
            connection.close()
        return
    connection = _ciphered(source, source_key, {"timeout": 30.0})
    try:
        _convert(connection, target, target_key)
    finally:
        connection.close()


def _convert(connection: sqlite3.Connection, target: Path, key: str | None) -> None:
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # before the other file is attached
    connection.execute("ATTACH DATABASE ? AS target KEY ?", (str(target), key or ""))
    connection.execute("PRAGMA target.synchronous = FULL")
    connection.execute("BEGIN")
    connection.execute("SELECT sqlcipher_export('target')")
    for name in ("user_version", "application_id"):  # these are no part of a schema
        value = connection.execute(f"PRAGMA main.{name}").fetchone()[0]
        connection.execute(f"PRAGMA target.{name} = {value:d}")
    connection.execute("COMMIT")
    connection.execute("DETACH DATABASE target")
