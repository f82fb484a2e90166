"""A PostgreSQL connection: reconnecting, transactions, statements."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus

from ovos_persona_memory.errors import StoreError, StoreUnavailable
from ovos_persona_memory.stores.postgres.driver_errors import driver_errors, is_lost, ours
from ovos_persona_memory.stores.postgres.migrations import WAIT_S, migrate

Row = tuple[Any, ...]
BACK_OFF_S = 0.5
"""Pause after a failure to connect, seconds, in which every request is refused at once."""
SESSION = {"jit": "off", "hnsw.iterative_scan": "relaxed_order"}
"""Settings of each connection."""
PATIENT_S = 600
"""Statement timeout for deleting or rebuilding much, seconds."""
ASKED_AGAIN_S = 0.05
"""Interval between two checks whether a lost commit was carried out, seconds."""
STATEMENT, LOCK = 0.9, 0.8
"""Shares of the timeout after which the server itself cancels a statement, and the wait for another daemon's lock: it
replies before the connection is cut."""


CHANGED = (
    "SELECT name, before FROM (SELECT name, value, current_setting(name, true) AS before"
    " FROM unnest(%s::text[], %s::text[]) s (name, value) OFFSET 0) s, set_config(name, value, false)"
)
"""Changes settings of the connection, and returns their values before."""
SILENT = "PostgreSQL does not answer: its server or the way to it hangs"


@dataclass(frozen=True)
class PostgresSettings:
    """Address and options of a PostgreSQL store."""

    url: str
    """``postgresql://user@host/database`` or ``host=… dbname=…``, as libpq reads it; so do PGPASSWORD and ~/.pgpass."""
    household: str = "home"
    """The tenant: several households can share a database without seeing each other."""
    schema: str = "persona_memory"
    """The schema of the tables; made where there is none."""
    timeout_s: float = 5.0
    """Maximum time until a request is answered or refused, reconnecting included, seconds."""


class DeferredWrites(Protocol):
    """Writes that a transaction has gathered and not sent."""

    def write(self) -> None:
        """Send them: called before each statement, and so before the commit."""

    def clear(self) -> None:
        """Drop them: the transaction has ended."""


class PostgresDatabase:
    """One connection, opened again when it is lost. Thread-safe: its lock is held during a transaction.

    Outside a transaction, a read is repeated on a new connection where the first was lost, and so is the beginning of a
    transaction. A connection lost within one raises StoreUnavailable, and nothing of it is kept.
    """

    def __init__(self, settings: PostgresSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings = settings
        self.lock = threading.RLock()  # guards the connection and everything below
        self._clock = clock
        self._connection: psycopg.Connection | None = None
        self._closed = False
        self._depth = 0
        self._failed = False
        self._transaction_id: str | None = None
        self.late: DeferredWrites | None = None
        self._line: socket.socket | None = None
        self._until: float | None = None
        self._longest_s: float = settings.timeout_s
        self._ended = threading.Event()
        self._down_until = 0.0
        self._down: StoreError | None = None
        threading.Thread(target=self._watch, name="postgres", daemon=True).start()
        try:
            with driver_errors():
                self._migrate()
        except BaseException:
            self.close()
            raise

    def _migrate(self) -> None:
        with self._in_time():
            connection = self._connected()
        with self._in_time(2 * WAIT_S):
            migrate(connection, self.settings.schema)

    def close(self) -> None:
        """End the connection; a second call does nothing."""
        with self.lock:
            self._closed = True
            self._ended.set()
            self._drop()

    @property
    def depth(self) -> int:
        """How many transactions are open, nested ones included."""
        return self._depth

    def details(self) -> dict[str, Any]:
        """Location, size and versions, for the owner. Without any secret."""
        known = conninfo_to_dict(self.settings.url)
        size = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = %s::regnamespace"
        (taken, version, step) = self.one(
            f"SELECT ({size} AND relkind = 'r'), current_setting('server_version'),"
            " (SELECT max(step) FROM schema_step)",
            f'"{self.settings.schema}"',
        )
        place = {name: str(known[name]) for name in ("host", "port", "dbname", "user") if name in known}
        home = {"household": self.settings.household, "schema_name": self.settings.schema}
        return place | home | {"bytes": int(taken or 0), "postgresql": version, "schema": step}

    # statements

    def all(self, sql: str, *values: Any) -> list[Row]:
        """The rows of a query."""
        with self.lock, driver_errors(), self._in_time():
            try:
                return self._execute(sql, values).fetchall()
            except psycopg.Error as error:
                if self._depth or not self._lost(error):
                    raise
            return self._execute(sql, values).fetchall()

    def one(self, sql: str, *values: Any) -> Any:
        """The first row of a query; None where there is none."""
        found = self.all(sql, *values)
        return found[0] if found else None

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement that changes rows, within a transaction; the number of rows changed."""
        with driver_errors(), self._in_time():
            return self._execute(sql, values).rowcount

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Statements in this context, within a transaction, have the timeout for much data."""
        before, self._longest_s = self._longest_s, PATIENT_S
        self.all("SELECT set_config('statement_timeout', %s, true)", f"{STATEMENT * PATIENT_S:.0f}s")
        try:
            yield
        finally:
            self._longest_s = before

    @contextmanager
    def apply_settings(self, settings: Mapping[str, str]) -> Iterator[None]:
        """Queries in this context are planned and run under other settings."""
        with self.lock:
            before: dict[str, str | None] = dict(self.all(CHANGED, list(settings), list(settings.values())))
            try:
                yield
            finally:
                with suppress(StoreError):
                    self.all(CHANGED, list(before), list(before.values()))

    def _write_late(self) -> None:
        try:
            if self.late is not None:
                self.late.write()
        except BaseException:
            self._failed = True  # even if a caller catches it, nothing is committed without the deferred writes
            raise

    def _execute(self, sql: str, values: Sequence[Any] | None = None) -> psycopg.Cursor[Row]:
        if self._depth:
            self._write_late()
        return self._in_use().execute(sql, values)

    @contextmanager
    def _in_time(self, longest_s: float | None = None) -> Iterator[None]:
        """Requests in this context are answered, or given up, after at most this time."""
        before = self._until
        if before is None:
            self._until = self._clock() + (longest_s or self._longest_s)
        try:
            yield
        finally:
            self._until = before

    def _left(self) -> float:
        """Seconds until the current request must be answered."""
        return self.settings.timeout_s if self._until is None else self._until - self._clock()

    def _watch(self) -> None:
        """Cut the connection where a statement gets no reply, not even a timeout: the connection is dead."""
        wait = longest = self.settings.timeout_s
        while not self._ended.wait(wait):
            until, line = self._until, self._line
            wait = longest if until is None else min(until - self._clock(), longest)
            if wait > 0:
                continue  # requests in the meantime get at least as much time
            wait = longest
            if line is not None:
                with suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)

    # transactions

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """See Store.transaction. Writers of one household take turns, whichever daemon they belong to."""
        with self.lock, driver_errors():
            if not self._depth:
                self._begin()
            self._depth += 1
            try:
                yield
                if self._depth == 1:
                    self._commit()
            except BaseException:
                self._failed = True
                raise
            finally:
                self._depth -= 1
                if not self._depth:
                    self._end()

    def _begin(self) -> None:
        with self._in_time():
            try:
                self._began()
            except psycopg.Error as error:
                if not self._lost(error):
                    self._rolled_back()
                    raise
                self._began()

    def _began(self) -> None:
        lock = household_lock(self.settings)
        found = self._execute(f"BEGIN; SELECT pg_advisory_xact_lock({lock:d}); SELECT pg_current_xact_id()::text")
        while found.nextset():
            pass
        row = found.fetchone()
        self._transaction_id = str(row[0]) if row else None

    def _commit(self) -> None:
        connection = self._in_use()
        if self._failed or connection.pgconn.transaction_status == TransactionStatus.INERROR:
            raise StoreError("a part of the transaction failed")
        with self._in_time():
            try:
                self._execute("COMMIT")
            except psycopg.Error as error:
                if not self._lost(error) or not self._was_committed():
                    raise

    def _was_committed(self) -> bool:
        """Whether a transaction whose connection was lost during the commit was committed all the same."""
        while True:
            with suppress(psycopg.Error, StoreUnavailable):
                found = self._connected().execute("SELECT pg_xact_status(%s::xid8)", (self._transaction_id,)).fetchone()
                if found and found[0] != "in progress":
                    return bool(found[0] == "committed")
            if self._left() <= 0:
                raise StoreUnavailable("PostgreSQL was lost at the end of a change: whether it was kept is not known")
            self._down = None
            time.sleep(ASKED_AGAIN_S)

    def _end(self) -> None:
        self._failed = False
        if self.late is not None:
            self.late.clear()
        self._transaction_id = None
        self._rolled_back()

    def _rolled_back(self) -> None:
        connection = self._connection
        if connection is None or connection.pgconn.transaction_status == TransactionStatus.IDLE:
            return
        try:
            with self._in_time():
                connection.execute("ROLLBACK")
        except psycopg.Error:
            self._drop()

    # the connection

    def _in_use(self) -> psycopg.Connection:
        if self._depth and self._connection is None:
            raise StoreUnavailable("PostgreSQL was lost during a change: nothing of it was kept")
        return self._connected()

    def _connected(self) -> psycopg.Connection:
        if self._connection is not None:
            return self._connection
        if self._closed:
            raise StoreUnavailable("the store is closed")
        if self._down is not None and self._clock() < self._down_until:
            raise self._down
        try:
            self._connection = self._opened()
            self._line = socket.socket(fileno=os.dup(self._connection.fileno()))
            self._set_up(self._connection)
        except (psycopg.Error, StoreError) as error:
            self._drop()
            self._down = error if isinstance(error, StoreError) else ours(error)
            self._down_until = self._clock() + BACK_OFF_S
            raise
        self._down = None
        return self._connection

    def _opened(self) -> psycopg.Connection:
        """A new connection, in the time that is left.

        Another thread waits for it: libpq counts whole seconds, two at least, and for each address of a host anew.
        """
        left = self._left()
        if left <= 0:
            raise StoreUnavailable(SILENT)
        given: futures.Future[psycopg.Connection] = futures.Future()
        threading.Thread(target=_connect, args=(self.settings, given), name="postgres connects", daemon=True).start()
        try:
            return given.result(left)
        except futures.TimeoutError:
            given.add_done_callback(_close)
            raise StoreUnavailable(SILENT) from None

    def _set_up(self, connection: psycopg.Connection) -> None:
        longest = 1000 * self.settings.timeout_s
        session = SESSION | {
            "search_path": f'"{self.settings.schema}", public',
            "statement_timeout": f"{STATEMENT * longest:.0f}ms",
            "lock_timeout": f"{LOCK * longest:.0f}ms",
        }
        connection.execute(
            "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) s (name, value)",
            (list(session), list(session.values())),
        )

    def _lost(self, error: Exception) -> bool:
        """Whether the connection is gone; it is then dropped."""
        if self._connection is None or not (self._connection.closed or is_lost(error)):
            return False
        self._drop()
        return True

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        line, self._line = self._line, None
        if line is not None:
            line.close()
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()


def _connect(settings: PostgresSettings, given: futures.Future[psycopg.Connection]) -> None:
    try:
        given.set_result(psycopg.connect(autocommit=True, **connection_settings(settings)))
    except BaseException as error:
        given.set_exception(error)


def _close(given: futures.Future[psycopg.Connection]) -> None:
    if not given.exception():
        given.result().close()


def connection_settings(settings: PostgresSettings) -> dict[str, Any]:
    """The parameters of libpq: those of the URL, and timeouts so that no connection hangs for long."""
    seconds = max(round(settings.timeout_s), 2)
    known = {
        "application_name": "ovos-persona-memory",
        "connect_timeout": seconds,
        "keepalives_idle": seconds,
        "keepalives_interval": 2,
        "keepalives_count": 2,
        "tcp_user_timeout": 1000 * seconds,
    }
    try:
        return known | conninfo_to_dict(settings.url)
    except psycopg.Error as error:
        raise StoreUnavailable("the url of the PostgreSQL store cannot be read") from error


def household_lock(settings: PostgresSettings) -> int:
    """The number of the advisory lock under which a household is written."""
    named = f"{settings.schema}\n{settings.household}".encode()
    return int.from_bytes(hashlib.blake2b(named, digest_size=8).digest(), "big", signed=True)
