"""Errors of PostgreSQL and its driver, as errors of ours that say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from ovos_persona_memory.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreUnavailable

LOST = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03"})
"""SQLSTATE codes after which the server has closed the connection, or is about to."""

_BY_CODE: dict[str, tuple[type[StoreError], str]] = {
    "25006": (StoreUnavailable, "PostgreSQL is read-only at the moment: what is known can be read, nothing is kept"),
    "25007": (StoreUnavailable, "PostgreSQL is read-only at the moment: what is known can be read, nothing is kept"),
    "28000": (StoreUnavailable, "PostgreSQL refuses this user: check the user and pg_hba.conf"),
    "28P01": (StoreUnavailable, "PostgreSQL refuses the password"),
    "3D000": (StoreUnavailable, "PostgreSQL has no such database: make it with createdb"),
    "3F000": (StoreUnavailable, "the tables are gone from the database: restart to have them made"),
    "40001": (StoreBusy, "PostgreSQL could not bring two changes in line: try again"),
    "40P01": (StoreBusy, "PostgreSQL could not bring two changes in line: try again"),
    "42501": (StoreUnavailable, "PostgreSQL does not let this user do that: grant it the schema"),
    "42P01": (StoreUnavailable, "the tables are gone from the database: restart to have them made"),
    "53100": (StoreFull, "no room left where PostgreSQL keeps its data: free some space, nothing was lost"),
    "53200": (StoreUnavailable, "PostgreSQL has no memory left"),
    "53300": (StoreUnavailable, "PostgreSQL has no connection left: raise max_connections, or end what holds them"),
    "55P03": (StoreBusy, "another daemon of this household holds the database for too long: try again"),
    "57014": (StoreUnavailable, "PostgreSQL took too long to answer"),
    "57P03": (StoreUnavailable, "PostgreSQL is starting or stopping"),
    "XX001": (StoreDamaged, "PostgreSQL says that its files are damaged: restore a backup"),
    "XX002": (StoreDamaged, "PostgreSQL says that an index is damaged: run REINDEX"),
}


@contextmanager
def driver_errors() -> Iterator[None]:
    """Turn driver errors in this context into a StoreError."""
    try:
        yield
    except (psycopg.Error, UnicodeError, OverflowError) as error:
        raise ours(error) from error


def ours(error: Exception) -> StoreError:
    """The error of ours for a driver error."""
    code = getattr(error, "sqlstate", None) or _code_said(str(error))
    if code in _BY_CODE:
        kind, reason = _BY_CODE[code]
        return kind(reason)
    said = str(error).strip().split("\n")[0]
    if "during recovery" in said:
        return StoreUnavailable("PostgreSQL is a standby, which can only be read")
    if is_lost(error):
        return StoreUnavailable(f"PostgreSQL cannot be reached ({said})")
    return StoreError(f"PostgreSQL: {said}")


def is_lost(error: Exception) -> bool:
    """Whether the connection is gone: its transaction was rolled back, unless it was being committed."""
    code = getattr(error, "sqlstate", None)
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and (code is None or code in LOST)


def _code_said(said: str) -> str | None:
    """The SQLSTATE code in an error message; a refused connection comes without its code."""
    signs = {
        "too many clients": "53300",
        "too many connections": "53300",
        "remaining connection slots": "53300",
        "password authentication failed": "28P01",
        "no password supplied": "28P01",
        "no pg_hba.conf entry": "28000",
        "the database system is": "57P03",
    }
    found = next((code for sign, code in signs.items() if sign in said), None)
    missing = '" does not exist' in said
    if found is None and missing and 'database "' in said:
        return "3D000"
    return "28000" if found is None and missing and 'role "' in said else found
