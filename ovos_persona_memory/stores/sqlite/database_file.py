"""The SQLite database as a file: opening, checking, setting aside, schema steps, driver errors."""

from __future__ import annotations

import os
import sqlite3
import stat
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from datetime import datetime, timezone
from pathlib import Path

from ovos_persona_memory.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreUnavailable, WrongKey
from ovos_persona_memory.stores.sqlite import driver

APPLICATION_ID = 0x4F504D31
"""``OPM1`` in the file's header: the mark of our databases."""

CHECKED_BYTES = 64 * 1024 * 1024
"""A file up to this size is checked page by page when it is opened."""

BUSY_TIMEOUT_S = 5.0
JOURNAL_PAGES = 8000
"""Pages (4 KB) in the journal from which on a commit checkpoints it; a quiet moment does so sooner."""
COMPANIONS = ("-wal", "-shm", "-journal")
MAGIC = b"SQLite format 3\0"
TABLES = frozenset({"body", "owner", "turn", "entry", "word", "posting", "state", "pending"})
STEPS = sorted((Path(__file__).parent / "schema").glob("*.sql"))


class driver_errors:  # noqa: N801  # a context manager, read as a verb
    """Turns driver errors into a StoreError that says what to do.

    A ``lock`` is held inside. The object may be entered many times, also within itself: a generator would cost more
    than most of what happens inside.
    """

    def __init__(self, path: Path, lock: AbstractContextManager[bool] | None = None) -> None:
        self._path = path
        self._lock = lock or nullcontext()

    def __enter__(self) -> None:
        self._lock.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        self._lock.__exit__(None, None, None)
        if isinstance(error, Exception) and (
            driver.is_driver_error(error) or isinstance(error, (UnicodeError, OverflowError))
        ):
            raise _ours(error, self._path) from error


def _ours(error: Exception, path: Path) -> StoreError:
    said = str(error).lower()
    if "disk is full" in said:
        return StoreFull(f"no room left for {path}: free some space, nothing was lost")
    if "locked" in said or "busy" in said:
        return StoreBusy(f"another program is using {path}: close it and try again")
    if any(sign in said for sign in ("malformed", "not a database", "corrupt")):
        return StoreDamaged(f"{path} is damaged: restart to have it set aside, then restore a backup")
    if "unable to open" in said or "readonly" in said:
        return StoreUnavailable(f"{path} cannot be opened: let this user write to it and its folder")
    if said.endswith("turn.id"):  # the id of a new turn
        return StoreError("there is a turn with this id already")
    return StoreError(f"{path}: {error}")


# opening


def prepare_folder(folder: Path) -> None:
    """Make the folder (0700) where there is none; StoreUnavailable where it cannot be used."""
    try:
        with _umask(0o077):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise StoreUnavailable(f"{folder} is not a folder: move it away, or choose another data folder") from error
    except OSError as error:
        raise StoreUnavailable(
            f"{folder} cannot be made ({error.strerror}): let this user write there, or choose another data folder"
        ) from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise StoreUnavailable(f"{folder} cannot be written: let this user write to it, or choose another data folder")


@contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def open_database(
    path: Path, clock: Callable[[], float], settle: Callable[[sqlite3.Connection], None], key: str | None = None
) -> tuple[sqlite3.Connection, list[dict[str, str]]]:
    """A connection with every schema step applied, and the files that were set aside on the way: path and reason.

    ``settle`` has the first look at the tables: a file in which it finds damage is set aside too. ``key``: of an
    encrypted file. WrongKey, and nothing is changed, where it does not fit, is missing, or is one too many.
    """
    aside: list[dict[str, str]] = []
    refuse_key(path, key)
    problem = _problem_before(path) if key is None else None
    while True:
        if problem:
            aside.append({"path": str(set_aside(path, clock)), "reason": problem})
        try:
            return _connected(path, settle, key), aside
        except (StoreDamaged, _ForeignDatabase) as error:
            if aside:
                raise
            problem = error.reason


class _ForeignDatabase(StoreDamaged):
    """The file is sound, and not one of ours."""


def _problem_before(path: Path) -> str | None:
    try:
        return _problem_in_header(path)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be read ({error.strerror}): let this user read and write it") from error


def refuse_key(path: Path, key: str | None) -> None:
    """Raise WrongKey unless the file can be read with this key, or as it is where there is none."""
    try:
        if not path.is_file() or not path.stat().st_size:
            return
        with path.open("rb") as file:
            is_plain = file.read(len(MAGIC)) == MAGIC
    except OSError:
        return  # opening it says more
    if key is None:
        if not is_plain and marker(path).exists():
            raise WrongKey(f"{path} is encrypted: name its key in the setting encryption.key")
        return
    if is_plain:
        raise WrongKey(f"{path} is not encrypted, and encryption.key is set: encrypt it with the command encrypt")
    _refuse_wrong_key(path, key)


def _refuse_wrong_key(path: Path, key: str) -> None:
    connection = driver.connect(path, key, timeout=BUSY_TIMEOUT_S)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except Exception as error:
        if driver.is_driver_error(error) and "not a database" in str(error).lower():
            raise WrongKey(f"{path} cannot be read with this key: it is another one, or the file is damaged") from error
        raise _ours(error, path) from error
    finally:
        connection.close()


def marker(path: Path) -> Path:
    """The file that says of a database that it is encrypted: by its bytes it could be a damaged one."""
    return path.with_name(f"{path.name}.encrypted")


def mark(path: Path, encrypted: bool) -> None:
    """Write the mark of an encrypted database, or take it away."""
    if not encrypted:
        marker(path).unlink(missing_ok=True)
    elif not marker(path).exists():
        create_private(marker(path))


def _connected(path: Path, settle: Callable[[sqlite3.Connection], None], key: str | None = None) -> sqlite3.Connection:
    unclean = _waiting(path) > 0
    create_private(path)
    if key is not None:
        mark(path, encrypted=True)
    with driver_errors(path):
        connection = driver.connect(path, key, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
        try:
            if problem := _problem_inside(connection, path, unclean):
                raise _ForeignDatabase(problem)
            configure(connection)
            _migrate(connection)
            settle(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def create_private(path: Path) -> None:
    """Make an empty private file: SQLite gives -wal and -shm the mode of the database, so that mode is set first."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be written ({error.strerror}): let this user write to it") from error
    try:
        if stat.S_IMODE(os.fstat(handle).st_mode) != 0o600:
            os.fchmod(handle, 0o600)
        for companion in _companions(path):
            companion.chmod(0o600)
    finally:
        os.close(handle)


def configure(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA temp_store = MEMORY")  # a sorter's temporary file would hold people's texts
    connection.execute("PRAGMA cache_size = -8000")
    connection.execute(f"PRAGMA wal_autocheckpoint = {JOURNAL_PAGES:d}")


def _migrate(connection: sqlite3.Connection) -> None:
    for number, step in enumerate(STEPS, start=1):
        if schema_step(connection) >= number:
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            if schema_step(connection) < number:  # another process may have migrated first
                _apply(connection, number, step)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _apply(connection: sqlite3.Connection, number: int, step: Path) -> None:
    for statement in step.read_text(encoding="utf-8").split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {number:d}")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")


def schema_step(connection: sqlite3.Connection) -> int:
    """The number of the newest schema step that was applied; 0 for a fresh file."""
    step: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return step


# checking


def inspect(path: Path, key: str | None = None) -> str | None:
    """The problem of a database file, None where nothing is found; changes nothing.

    Not for a file that this process has open: closing it here would drop SQLite's own locks. With a journal waiting to
    be read, only the header is looked at. ``key``: of an encrypted file; WrongKey where it does not fit.
    """
    try:
        refuse_key(path, key)
        problem = _problem_in_header(path) if key is None else None
        if problem or not path.exists() or not path.stat().st_size or _waiting(path):
            return problem
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(driver.connect(uri, key, uri=True)) as connection:
            return _problem_inside(connection, path, unclean=True)
    except Exception as error:
        if not driver.is_driver_error(error):
            raise
        return f"damaged: {error}"


def _problem_in_header(path: Path) -> str | None:
    """A problem in the first bytes, which SQLite would not notice until much later."""
    if path.is_dir():
        return "a folder is in its place"
    size = path.stat().st_size if path.exists() else 0
    if not size:
        return None
    with path.open("rb") as file:
        header = file.read(100)
    if len(header) < 100 or not header.startswith(MAGIC):
        return "damaged: this is not a SQLite database"
    (page_size,) = struct.unpack_from(">H", header, 16)
    page_size = 65536 if page_size == 1 else page_size
    changes, pages = struct.unpack_from(">II", header, 24)
    (valid_for,) = struct.unpack_from(">I", header, 92)
    if not _waiting(path) and changes == valid_for and size < pages * page_size:
        return f"damaged: it ends after {size} of {pages * page_size} bytes"
    return None


def _problem_inside(connection: sqlite3.Connection, path: Path, unclean: bool) -> str | None:
    try:
        if problem := _not_ours(connection):
            return problem
        size = path.stat().st_size
        if size <= CHECKED_BYTES or (unclean and size <= 4 * CHECKED_BYTES):
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            return None if found == "ok" else f"damaged: {found}"
    except Exception as error:
        if driver.is_driver_error(error) and isinstance(_ours(error, path), StoreDamaged):
            return f"damaged: {error}"
        raise
    return None


def _not_ours(connection: sqlite3.Connection) -> str | None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID:
        return "foreign: another program's database" if tables else None
    step = schema_step(connection)
    if step > len(STEPS):
        return f"too new: schema step {step}, this version knows {len(STEPS)}"
    held = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return "damaged: tables are missing" if TABLES - held else None


def _waiting(path: Path) -> int:
    """Bytes in the write-ahead journal."""
    with suppress(FileNotFoundError):
        return path.with_name(f"{path.name}-wal").stat().st_size
    return 0


# setting aside


def set_aside_before(path: Path, now: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Files that an earlier start set aside and that still exist, besides those set aside ``now``."""
    named = {aside["path"] for aside in now}
    lying = sorted(path.parent.glob(f"{path.name}.damaged-*"))
    old = [file for file in lying if str(file) not in named and not file.name.endswith(COMPANIONS)]
    return [{"path": str(file), "reason": "set aside at an earlier start"} for file in old]


def set_aside(path: Path, clock: Callable[[], float]) -> Path:
    """Rename the database and its companions together, never over another file; the new path."""
    stamp = datetime.fromtimestamp(clock(), timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    new = path.with_name(f"{path.name}.damaged-{stamp}")
    number = 1
    while any(os.path.lexists(f"{new}{end}") for end in ("", *COMPANIONS)):
        number += 1
        new = path.with_name(f"{path.name}.damaged-{stamp}-{number}")
    try:
        for companion in _companions(path):
            companion.rename(f"{new}{companion.name[len(path.name) :]}")
        path.rename(new)
    except OSError as error:
        raise StoreUnavailable(f"{path} is damaged and cannot be renamed ({error.strerror})") from error
    return new


def _companions(path: Path) -> list[Path]:
    return [path.with_name(path.name + end) for end in COMPANIONS if path.with_name(path.name + end).exists()]
