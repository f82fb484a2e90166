"""The PostgreSQL backend."""

from __future__ import annotations

from ovos_persona_memory.stores.postgres.connection import PostgresSettings
from ovos_persona_memory.stores.postgres.store import open_postgres

__all__ = ["PostgresSettings", "open_postgres"]
