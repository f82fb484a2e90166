"""Where records are kept: the only place where backends are named."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ovos_persona_memory.config import MemoryConfig, encryption_key, secret
from ovos_persona_memory.errors import ConfigError, StoreUnavailable
from ovos_persona_memory.stores.backup_list import (
    OWN,
    PLAIN,
    BackupNote,
    change_backups,
    listed_backups,
    note_backup,
)
from ovos_persona_memory.stores.base import (
    ACTIVE,
    ANSWERED,
    BOTH,
    DECISIONS_KEPT,
    EVERY_STATUS,
    FORGOTTEN,
    KEPT,
    Bm25,
    Bytes,
    EpisodeStore,
    ExcludedTurn,
    FactQuery,
    Floats,
    FoundRecord,
    LearningQueueStore,
    NearDocument,
    NeighbourTurn,
    PendingText,
    Statistics,
    StoredDocument,
    UnlearnedTurn,
    VectorIndex,
    VectorStore,
    bm25,
    cosines,
    fact_in_scope,
    fits,
    in_scope,
    normalised,
    quantised,
    redacted,
    words_of,
)
from ovos_persona_memory.stores.base.folder_lock import LOCK_FILE, WAITING_LOCK_FILE, FolderLock
from ovos_persona_memory.stores.base.store import Store
from ovos_persona_memory.stores.sql import owner_name
from ovos_persona_memory.stores.sqlite import OfflineQueue, QueuedArrival

if TYPE_CHECKING:
    from ovos_persona_memory.stores.base.vector_backend import TextSource, VectorBackend
    from ovos_persona_memory.stores.chroma.http_client import ChromaServer

__all__ = [
    "ACTIVE",
    "ANSWERED",
    "BACKENDS",
    "BOTH",
    "DECISIONS_KEPT",
    "EVERY_STATUS",
    "FORGOTTEN",
    "KEPT",
    "NEEDS_NO_SERVER",
    "OWN",
    "PLAIN",
    "BackupNote",
    "Bm25",
    "Bytes",
    "EpisodeStore",
    "ExcludedTurn",
    "FactQuery",
    "Floats",
    "FolderLock",
    "FoundRecord",
    "LearningQueueStore",
    "NearDocument",
    "NeighbourTurn",
    "OfflineQueue",
    "PendingText",
    "QueuedArrival",
    "Statistics",
    "Store",
    "StoreLocation",
    "StoredDocument",
    "UnlearnedTurn",
    "VectorIndex",
    "VectorStore",
    "bm25",
    "change_backups",
    "check_location",
    "convert_files",
    "copy_file",
    "copy_live",
    "cosines",
    "counts_in",
    "database_in",
    "encrypted_files",
    "fact_in_scope",
    "fits",
    "folder_of",
    "in_scope",
    "inspect",
    "is_encrypted",
    "is_shared",
    "listed_backups",
    "normalised",
    "note_backup",
    "open_backup",
    "open_copy",
    "open_store",
    "open_stores",
    "own",
    "own_waiting",
    "owner_name",
    "parse_location",
    "quantised",
    "read_sealed",
    "redacted",
    "restore_backup",
    "scratch_store",
    "sqlite_folder",
    "store_locations",
    "waiting_in",
    "words_of",
    "write_backup",
    "write_sealed",
]

BACKENDS = ("inmemory", "sqlite", "postgres", "redis", "chroma")
OTHER_NAMES = {"memory": "inmemory", "pgvector": "postgres"}
"""What others call them (Astromesh's memory manager, backend options)."""
EVERYTHING = "everything"
COLLECTION = "persona_memory"
"""The default collection of a server."""
SERVERS = {
    "postgres": "postgresql://user@host/database",
    "redis": "redis://host:6379/0",
    "chroma": "http://host:8000 or the absolute path of a folder",
}
"""The backends that need a server, with an example of their URL."""
SCHEMES = {
    "postgresql": "postgres",
    "postgres": "postgres",
    "redis": "redis",
    "rediss": "redis",
    "unix": "redis",
}
"""URL schemes mapped to backends."""
NEEDS_NO_SERVER = ("inmemory", "sqlite")
SHARED = ("postgres", "redis")
"""The backends that several devices share: each device goes on alone while its server is away."""


@dataclass(frozen=True)
class StoreLocation:
    """The location of a store. Equal locations are one store."""

    backend: str
    connection: str | None = field(default=None, repr=False)
    """The URL of a server, or the folder of sqlite; None: the backend's own default."""
    collection: str | None = None
    """The name of the collection; None: the backend's own default."""
    ttl_s: float | None = field(default=None, compare=False)
    """Time to live of turns after they were written, seconds; None: they do not expire."""
    key: str | None = field(default=None, repr=False, compare=False)
    """Where the key of an encrypted SQLite file is, as in the setting; None: it is not encrypted."""

    def __str__(self) -> str:
        """Backend and address for people, without user and password."""
        where = secret(self.connection)
        if where is None or self.backend == "inmemory":
            return self.backend
        if self.backend == "sqlite" or (self.backend == "chroma" and "://" not in where):
            return f"{self.backend} in {where}"
        parts = urlsplit(where)
        at = f" at {parts.hostname or 'localhost'}:{parts.port or 'its usual port'}{parts.path}"
        return f"{self.backend}{at}" + (f", {self.collection}" if self.collection else "")


def database_in(folder: Path) -> Path:
    """The database file of the sqlite backend in a folder."""
    return folder / "memory.db"


def waiting_in(folder: Path) -> Path:
    """The file of the offline queue in a folder."""
    return folder / "waiting.db"


def inspect(path: Path, key: str | None = None) -> str | None:
    """The problem of a database file; None where none is found. Changes nothing. ``key``: of an encrypted file."""
    from ovos_persona_memory.stores.sqlite import database_file

    return database_file.inspect(path, key)


def sqlite_folder(config: MemoryConfig) -> Path | None:
    """The folder of the one SQLite file that keeps everything; None where the settings say otherwise."""
    place = store_locations(config).get(EVERYTHING)
    return None if place is None else folder_of(place, config.folder)


@contextmanager
def open_copy(config: MemoryConfig) -> Iterator[Store]:
    """A store of what the settings' store holds now, to read from, while a daemon goes on writing.

    Of SQLite files a copy is made, which goes at the end of the context; what is on a server is read there.
    ConfigError where nothing is kept.
    """
    from ovos_persona_memory.stores.sqlite import copies

    folder = sqlite_folder(config)
    if folder is None:
        with closing(open_stores(config)) as store:
            yield store
        return
    if not database_in(folder).exists():
        raise ConfigError(f"there is no memory in {folder}")
    key = encryption_key(config.encryption.key)
    with copies.copied_folder(database_in(folder), key) as copied:
        place = StoreLocation("sqlite", str(copied), key=config.encryption.key)
        with closing(open_store("sqlite", None, place=place)) as store:
            yield store


def write_backup(config: MemoryConfig, target: Path, key: str | None) -> None:
    """Copy the SQLite file that keeps everything to another file, encrypted with ``key``, while a daemon goes on.

    ConfigError where the settings keep it otherwise, or nothing is kept.
    """
    from ovos_persona_memory.stores.sqlite import copies

    folder = sqlite_folder(config)
    if folder is None or not database_in(folder).exists():
        raise ConfigError(f"there is no memory in {folder or config.folder}")
    copies.write_copy(database_in(folder), encryption_key(config.encryption.key), target, key)


@contextmanager
def scratch_store(folder: Path, key: str | None) -> Iterator[tuple[Store, Path]]:
    """An empty store in a file of its own, and that file, which go at the end of the context."""
    from ovos_persona_memory.stores.sqlite import copies

    with copies.scratch_folder(folder) as held, closing(_sqlite_store(held, key)) as store:
        yield store, database_in(held)


def copy_file(source: Path, target: Path, key: str | None) -> None:
    """Copy an SQLite file with its key, whole or not at all."""
    from ovos_persona_memory.stores.sqlite import copies

    copies.write_copy(source, key, target, key)


def counts_in(file: Path, key: str | None) -> dict[str, int]:
    """How many turns, memories and facts a backup holds; StoreDamaged where it is none of ours or not sound."""
    from ovos_persona_memory.stores.sqlite import copies

    return copies.counts_in(file, key)


def write_sealed(target: Path, key: str, lines: Iterable[bytes]) -> None:
    """Write lines to a file that is encrypted with a key."""
    from ovos_persona_memory.stores.sqlite import sealed_lines

    sealed_lines.write_sealed(target, key, lines)


def read_sealed(source: Path, key: str) -> Iterator[bytes]:
    """The lines of a file that ``write_sealed`` wrote; WrongKey where the key does not fit."""
    from ovos_persona_memory.stores.sqlite import sealed_lines

    return sealed_lines.read_sealed(source, key)


@contextmanager
def open_backup(file: Path, key: str | None, folder: Path) -> Iterator[Store]:
    """The store in a backup, to read from: of a copy in ``folder``, which goes at the end of the context.

    StoreDamaged where the file is none of ours or not sound.
    """
    from ovos_persona_memory.stores.sqlite import copies

    with copies.scratch_folder(folder) as held:
        copies.put_in_place(file, key, database_in(held), key)
        with closing(_sqlite_store(held, key)) as store:
            yield store


def copy_live(folder: Path, key: str | None, target: Path, target_key: str | None) -> None:
    """Copy the SQLite file of a folder that this process may have open; keys as in the setting."""
    from ovos_persona_memory.stores.sqlite import copies

    copies.write_copy(database_in(folder), encryption_key(key), target, encryption_key(target_key))


def restore_backup(config: MemoryConfig, file: Path, key: str | None) -> None:
    """Put a backup in the place of the SQLite file that keeps everything, encrypted as the settings say.

    StoreBusy where another process has the memory open, StoreDamaged where the file is none of ours or not sound:
    nothing is changed then. ``key``: of the backup.
    """
    from ovos_persona_memory.stores.sqlite import copies

    folder = sqlite_folder(config)
    if folder is None:
        raise ConfigError("the settings keep the memory on a server: restore into a folder, and migrate from there")
    lock = _locked(folder, LOCK_FILE)
    try:
        copies.put_in_place(file, key, database_in(folder), encryption_key(config.encryption.key))
    finally:
        lock.release()


def encrypted_files(config: MemoryConfig) -> list[Path]:
    """The SQLite files that the setting ``encryption.key`` is about, those that exist."""
    folders = {folder_of(place, config.folder) for place in text_locations(store_locations(config)).values()}
    folders |= {config.folder, config.folder / "vectors"}
    every = [database_in(folder) for folder in sorted(filter(None, folders))] + [waiting_in(config.folder)]
    return [file for file in every if file.exists()]


def convert_files(files: Sequence[Path], key: str | None, new_key: str | None) -> None:
    """Encrypt SQLite files, decrypt them or give them another key; keys: None: not encrypted.

    StoreBusy where another process has one open. Each file is the old one or the new one, whenever it is cut short.
    """
    from ovos_persona_memory.stores.sqlite import copies

    with ExitStack() as held:
        for folder in sorted({file.parent for file in files}):
            held.callback(_locked(folder, LOCK_FILE).release)
            held.callback(_locked(folder, WAITING_LOCK_FILE).release)
        for file in files:
            copies.convert(file, key if copies.is_encrypted(file) else None, new_key)


def is_encrypted(file: Path) -> bool:
    """Whether an SQLite file of ours is encrypted."""
    from ovos_persona_memory.stores.sqlite import copies

    return copies.is_encrypted(file)


def open_stores(config: MemoryConfig, clock: Callable[[], float] = time.time) -> Store:
    """The store that the settings name: one for everything, or one that joins the stores of each kind.

    ConfigError for a setting that cannot be used or needs an extra; a StoreError where a store cannot be opened.
    """
    kinds = store_locations(config)
    if any(kinds[name].backend == "redis" for name in (EVERYTHING, "semantic") if name in kinds):
        raise ConfigError("the redis backend keeps neither documents nor vectors: name another for kinds.semantic")
    if EVERYTHING in kinds:
        return open_store(kinds[EVERYTHING].backend, config.folder, clock, kinds[EVERYTHING])
    from ovos_persona_memory.stores.composite.store import StoreOpener, compose

    def opened(place: StoreLocation) -> Store:
        return open_store(place.backend, config.folder, clock, place)

    opening = StoreOpener(opened, lambda place: opened(_aside(place, config.folder)), _shelf_of(kinds.get("semantic")))
    return compose(text_locations(kinds), opening)


def text_locations(kinds: Mapping[str, StoreLocation]) -> dict[str, StoreLocation]:
    """The locations of the texts of each kind: where Chroma has the vectors, documents move beside other texts.

    ConfigError where there are no texts for them to stand beside.
    """
    if kinds.get("semantic", StoreLocation("")).backend != "chroma":
        return dict(kinds)
    others = [place for name, place in kinds.items() if name != "semantic"]
    if not others:
        raise ConfigError("the chroma backend keeps vectors alone: name backends for the other kinds, too")
    able = [place for place in others if place.backend != "redis"]
    return {**kinds, "semantic": able[0] if able else StoreLocation("sqlite", key=kinds["semantic"].key)}


def _shelf_of(place: StoreLocation | None) -> Callable[[TextSource], VectorBackend] | None:
    if place is None or place.backend != "chroma":
        return None
    from ovos_persona_memory.stores.chroma.vectors import ChromaVectors, refuse_collection_name
    from ovos_persona_memory.stores.chroma.write_behind import WriteBehind

    name = place.collection or COLLECTION
    refuse_collection_name(name)

    def made(texts: TextSource) -> VectorBackend:
        server = _chroma_at(place)
        try:
            return WriteBehind(ChromaVectors(server, name, texts), texts)
        except BaseException:
            server.close()
            raise

    return made


def _chroma_at(place: StoreLocation) -> ChromaServer:
    from ovos_persona_memory.stores.chroma.http_client import ChromaServer, settings_of

    if (folder := _chroma_folder(place)) is None:
        return ChromaServer(settings_of(_url_of(place)))
    from ovos_persona_memory.stores.chroma.own_server import OwnServer

    return OwnServer(folder)


def _chroma_folder(place: StoreLocation) -> Path | None:
    """The folder over which a Chroma server of our own is to run; None where the connection is a URL."""
    where = Path(_url_of(place)).expanduser()
    return where if where.is_absolute() else None


def _aside(place: StoreLocation, folder: Path) -> StoreLocation:
    """The location of a store of vectors alone, beside the store at a location."""
    if place.backend == "inmemory":
        return place
    if place.backend == "sqlite":
        return replace(place, connection=str((folder_of(place, folder) or folder) / "vectors"))
    return replace(place, collection=f"{place.collection or COLLECTION}_vectors")


def store_locations(config: MemoryConfig) -> dict[str, StoreLocation]:
    """The location of each kind that is on; ``EVERYTHING`` alone where no kind has a location of its own."""
    kinds, key = config.kinds.chosen, config.encryption.key
    if not kinds:
        ttl_s = config.kinds.conversational.ttl
        return {EVERYTHING: StoreLocation(_known(config.backend), config.connection, config.collection, ttl_s, key)}
    named = ((name, _known(one.backend or ""), one) for name, one in kinds.items())
    return {name: StoreLocation(backend, one.connection, one.collection, one.ttl, key) for name, backend, one in named}


def _known(backend: str) -> str:
    return OTHER_NAMES.get(backend, backend)


def is_shared(config: MemoryConfig) -> bool:
    """Whether turns are kept on a server, which may be away and to which other devices may write."""
    return any(place.backend in SHARED for place in store_locations(config).values())


def own(config: MemoryConfig) -> FolderLock | None:
    """The lock of the data folder, which is made where there is none.

    None where a store in it holds the lock, or none is needed.

    StoreBusy where another process holds it: two daemons would answer every request twice.
    """
    used = text_locations(store_locations(config)).values()
    if all(place.backend == "inmemory" for place in used) or any(
        place.backend == "sqlite" and place.connection is None for place in used
    ):
        return None
    return _locked(config.folder, LOCK_FILE)


def own_waiting(config: MemoryConfig) -> FolderLock:
    """The lock of the offline queue in the data folder; the folder is made where there is none.

    StoreBusy where another process holds it: while the store is away nothing else tells two daemons apart.
    """
    return _locked(config.folder, WAITING_LOCK_FILE)


def _locked(folder: Path, name: str) -> FolderLock:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"the folder {folder} cannot be made ({error.strerror})") from error
    return FolderLock(folder, name)


def parse_location(text: str) -> StoreLocation:
    """The location in a text: a server's URL, with a collection behind a #, or the folder of an SQLite file."""
    named = secret(text) or ""
    backend = SCHEMES.get(named.partition("://")[0]) if "://" in named else "sqlite"
    if backend is None:
        raise ConfigError(f"{named.partition('://')[0]}:// is the beginning of no place that is known")
    url, _, collection = named.partition("#") if backend != "sqlite" else (named, "", "")
    return StoreLocation(backend, url, collection or None)


def folder_of(place: StoreLocation, folder: Path) -> Path | None:
    """The folder of an SQLite file; None for every other location."""
    return Path(secret(place.connection) or folder).expanduser() if place.backend == "sqlite" else None


def check_location(place: StoreLocation) -> None:
    """Open the store at a location and close it; an error of ours where that fails."""
    if place.backend == "chroma":
        return _check_chroma(place)
    return open_store(place.backend, None, place=place).close()


def _check_chroma(place: StoreLocation) -> None:
    if (folder := _chroma_folder(place)) is not None:
        from ovos_persona_memory.stores.chroma import own_server

        return own_server.check(folder)  # a daemon may have a server over it, and there is one at a time
    with closing(_chroma_at(place)) as server:
        return server.check()


def open_store(
    backend: str, folder: Path | None, clock: Callable[[], float] = time.time, place: StoreLocation | None = None
) -> Store:
    """The store of this backend in the data folder (None where it needs none), or at a location of its own.

    ConfigError for an unknown name or a missing folder; a StoreError where it cannot be opened.
    """
    place = place or StoreLocation(backend)
    if backend in NEEDS_NO_SERVER and place.collection is not None:
        raise ConfigError(f"the {backend} backend knows no collections")
    if backend == "inmemory":
        from ovos_persona_memory.stores.inmemory.store import InMemoryStore

        return InMemoryStore()
    if backend in SERVERS:
        return _on_server(place)
    if backend != "sqlite":
        raise ConfigError(f"there is no storage backend named {backend!r}; choose one of {', '.join(BACKENDS)}")
    kept_in = secret(place.connection)
    if folder is None and kept_in is None:
        raise ConfigError("the sqlite backend needs a data folder")
    from ovos_persona_memory.stores.sqlite.store import SqliteStore

    kept = Path(kept_in).expanduser() if kept_in else Path(folder or "")
    return SqliteStore(kept, clock, encryption_key(place.key))


def _sqlite_store(folder: Path, key: str | None) -> Store:
    from ovos_persona_memory.stores.sqlite.store import SqliteStore

    return SqliteStore(folder, key=key)


def _url_of(place: StoreLocation) -> str:
    if url := secret(place.connection):
        return url
    raise ConfigError(f"the {place.backend} backend needs a connection, such as {SERVERS[place.backend]}")


def _on_server(place: StoreLocation) -> Store:
    url = _url_of(place)
    if place.backend == "chroma":
        raise ConfigError(
            "the chroma backend keeps vectors alone: it can be named for kinds.semantic, and nowhere else"
        )
    try:
        return _opened_on_server(place, url)
    except ImportError as error:
        extra = f"pip install 'ovos-persona-memory[{place.backend}]'"
        raise ConfigError(f"the {place.backend} backend needs {error.name}, which is missing: {extra}") from error


def _opened_on_server(place: StoreLocation, url: str) -> Store:
    if place.backend == "redis":
        from ovos_persona_memory.stores.redis.connection import RedisSettings
        from ovos_persona_memory.stores.redis.store import open_redis

        return open_redis(RedisSettings(url, place.collection or COLLECTION, place.ttl_s))
    from ovos_persona_memory.stores.postgres.connection import PostgresSettings
    from ovos_persona_memory.stores.postgres.store import open_postgres

    settings = PostgresSettings(url)
    return open_postgres(replace(settings, household=place.collection) if place.collection else settings)
