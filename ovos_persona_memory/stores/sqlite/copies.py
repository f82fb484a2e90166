"""Copies of a database file: a backup, a copy to read from, a database put in the place of another."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ovos_persona_memory.errors import StoreBusy, StoreDamaged, StoreUnavailable, WrongKey
from ovos_persona_memory.stores.base.folder_lock import FolderLock
from ovos_persona_memory.stores.sqlite import driver
from ovos_persona_memory.stores.sqlite.database_file import (
    COMPANIONS,
    MAGIC,
    driver_errors,
    inspect,
    mark,
    prepare_folder,
    refuse_key,
    set_aside,
)

COPY = ".copy-"
"""The beginning of the names of folders that hold a copy to read from."""
NEW = ".db.new"
"""The end of the name of a database that is to come."""
LEFT_BEHIND_S = 60.0
"""A copy that is older and that nobody has open was left behind by a process that was killed."""
STEP_BYTES = 1024 * 1024


def write_copy(source: Path, source_key: str | None, target: Path, target_key: str | None) -> None:
    """Copy what a database holds now to another file, of which nothing is seen before it is whole and on the disk.

    Others may go on writing the database, also this process: the file itself is opened by SQLite alone, whose locks
    closing it would release (sqlite.org/howtocorrupt.html, 2.2). The copy is for its owner alone to read, and replaces
    what was there. StoreUnavailable where it cannot be written, WrongKey where the source cannot be read.
    """
    _sweep_parts(target)
    try:
        # mkstemp makes a file that nobody else may read
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
        os.close(handle)
    except OSError as error:
        raise StoreUnavailable(f"{target} cannot be written: {error.strerror}") from error
    part = Path(name)
    try:
        with driver_errors(source):
            _copied(source, source_key, part, target_key)
        part.chmod(0o600)
        _sync(part)
        part.replace(target)
        _sync(target.parent)
    except OSError as error:
        raise StoreUnavailable(f"{target} cannot be written: {error.strerror}") from error
    finally:
        for end in ("", *COMPANIONS):
            Path(f"{part}{end}").unlink(missing_ok=True)


def _sweep_parts(target: Path) -> None:
    """Delete what was written of this copy by a process that was killed."""
    for part in target.parent.glob(f".{target.name}-*"):
        with suppress(OSError):
            if _is_old(part):
                part.unlink()


def _copied(source: Path, source_key: str | None, part: Path, target_key: str | None) -> None:
    try:
        driver.copy(source, source_key, part, target_key)
    except Exception as error:
        if driver.is_driver_error(error) and "not a database" in str(error).lower():
            raise WrongKey(f"{source} cannot be read with this key, or without one; or it is damaged") from error
        raise


@contextmanager
def copied_folder(database: Path, key: str | None) -> Iterator[Path]:
    """A folder beside a database that holds a copy of it, with the same key, and goes at the end of the context."""
    with scratch_folder(database.parent) as folder:
        with closing(_Held(folder)):
            write_copy(database, key, folder / database.name, key)
        yield folder


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """A folder for a copy, which goes at the end of the context; ``sweep_copies`` deletes one that was left behind."""
    prepare_folder(parent)
    folder = Path(tempfile.mkdtemp(dir=parent, prefix=COPY))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Held:
    """The lock of a folder, for ``closing``."""

    def __init__(self, folder: Path) -> None:
        self._lock = FolderLock(folder)

    def close(self) -> None:
        self._lock.release()


def sweep_copies(folder: Path) -> None:
    """Delete what a process left behind when it was killed: copies to read from, and databases that were to come.

    The caller holds the folder's lock, which whoever writes a database that is to come holds, too.
    """
    for begun in (*folder.glob(f".*{NEW}-*"), *folder.glob(f"*{NEW}")):
        begun.unlink(missing_ok=True)
    for copy in folder.glob(f"{COPY}*"):
        with suppress(OSError, StoreBusy, StoreUnavailable):
            _sweep_copy(copy)


def _sweep_copy(copy: Path) -> None:
    """Delete a copy to read from that is old; StoreBusy where somebody has it open."""
    if not _is_old(copy):
        return
    with closing(_Held(copy)):
        shutil.rmtree(copy)


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > LEFT_BEHIND_S


def put_in_place(source: Path, source_key: str | None, database: Path, key: str | None) -> None:
    """Make what another file holds the database of a folder, whatever was there; after a crash it is the one or the
    other.

    The caller holds the folder's lock. StoreDamaged, which names the trouble, where the other file is no sound database
    of ours: then nothing is changed.
    """
    prepare_folder(database.parent)
    if problem := inspect(source, source_key):
        raise StoreDamaged(f"{source} cannot be used: {problem}")
    new = database.with_name(f"{database.stem}{NEW}")
    write_copy(source, source_key, new, key)
    _swap(new, database, key)


def convert(database: Path, key: str | None, new_key: str | None) -> None:
    """Encrypt a database, decrypt it or give it another key. The caller holds the folder's lock.

    The bytes of the file that goes are overwritten first, as far as the file system writes in place.
    """
    new = database.with_name(f"{database.stem}{NEW}")
    write_copy(database, key, new, new_key)
    with database.open("r+b") as old:
        _swap(new, database, new_key, key)
        _overwrite(old.fileno())


def is_encrypted(file: Path) -> bool:
    """Whether a file that is there and holds something is no plain SQLite database."""
    if not file.is_file() or not file.stat().st_size:
        return False
    with file.open("rb") as opened:
        return opened.read(len(MAGIC)) != MAGIC


def counts_in(file: Path, key: str | None) -> dict[str, int]:
    """How many turns, memories and facts a file that nobody has open holds; StoreDamaged where it cannot be used."""
    if problem := inspect(file, key):
        raise StoreDamaged(f"{file} cannot be used: {problem}")
    uri = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    with driver_errors(file), closing(driver.connect(uri, key, uri=True)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        counted = {"turns": "turn", "memories": "entry", "facts": "fact"}
        return {
            name: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] if table in tables else 0
            for name, table in counted.items()
        }


def _swap(new: Path, database: Path, key: str | None, old_key: str | None = None) -> None:
    if database.exists():
        _end_journal(database, old_key)
    if key is not None:
        mark(database, encrypted=True)  # before: a file without its mark could be taken for a damaged one
    try:
        new.replace(database)
        _sync(database.parent)
    except OSError as error:
        raise StoreUnavailable(f"{database} cannot be written: {error.strerror}") from error
    if key is None:
        mark(database, encrypted=False)


def _end_journal(database: Path, key: str | None) -> None:
    """A journal that stays behind would be read into the database that comes: what is in it goes where it belongs, or
    with a database that cannot be opened it is set aside."""
    if not any(Path(f"{database}{end}").exists() for end in COMPANIONS):
        return
    try:
        refuse_key(database, key)
        with closing(driver.connect(database, key, timeout=5.0)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    except Exception as error:
        if not driver.is_driver_error(error) and not isinstance(error, StoreUnavailable):
            raise
    if any(Path(f"{database}{end}").exists() for end in COMPANIONS):
        set_aside(database, time.time)


def _overwrite(file: int) -> None:
    size, zeros = os.fstat(file).st_size, bytes(STEP_BYTES)
    for start in range(0, size, STEP_BYTES):
        os.pwrite(file, zeros[: min(STEP_BYTES, size - start)], start)
    os.fsync(file)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
