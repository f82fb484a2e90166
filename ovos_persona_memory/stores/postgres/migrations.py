"""Schema migrations of the PostgreSQL store: numbered steps, each applied once, by whichever daemon comes first."""

from __future__ import annotations

from pathlib import Path

import psycopg
from psycopg import sql

from ovos_persona_memory.errors import StoreDamaged, StoreUnavailable

STEPS = sorted((Path(__file__).parent / "schema").glob("*.sql"))
MIGRATING = 0x4F504D31
"""The advisory lock that is held while steps are applied."""
WAIT_S = 120
"""Maximum wait for another daemon that applies them, seconds."""


def migrate(connection: psycopg.Connection, schema: str) -> None:
    """Apply the missing steps, all or none of them; ``connection`` is in autocommit, its search path is set.

    Two migrations at once wait for each other. StoreUnavailable where pgvector is missing, StoreDamaged where the
    tables are newer than this version.
    """
    if _is_current(connection, schema):
        return
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = '{WAIT_S}s'")
        connection.execute(f"SET LOCAL statement_timeout = '{WAIT_S}s'")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
        if _is_current(connection, schema):
            return
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
        _need_vectors(connection)
        connection.execute("CREATE TABLE IF NOT EXISTS schema_step (step integer PRIMARY KEY)")
        done = schema_step(connection)
        for number, step in enumerate(STEPS, start=1):
            if number > done:
                connection.execute(step.read_bytes())
                connection.execute("INSERT INTO schema_step (step) VALUES (%s)", (number,))


def schema_step(connection: psycopg.Connection) -> int:
    """The number of the newest step that was applied; 0 for none."""
    row = connection.execute("SELECT coalesce(max(step), 0) FROM schema_step").fetchone()
    return int(row[0]) if row else 0


def _is_current(connection: psycopg.Connection, schema: str) -> bool:
    found = connection.execute("SELECT to_regclass(%s)", (sql.Identifier(schema, "schema_step").as_string(),))
    row = found.fetchone()
    if row is None or row[0] is None:
        return False
    step = schema_step(connection)
    if step > len(STEPS):
        raise StoreDamaged(f"the tables are too new: step {step}, this version knows {len(STEPS)}")
    return step == len(STEPS)


def _need_vectors(connection: psycopg.Connection) -> None:
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except psycopg.errors.FeatureNotSupported as error:
        raise StoreUnavailable("PostgreSQL has no pgvector: install it (Debian: postgresql-17-pgvector)") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreUnavailable("let a superuser run CREATE EXTENSION vector in this database once") from error
