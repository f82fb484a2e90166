"""What backends that speak SQL share: WHERE clauses and rows of turns."""

from __future__ import annotations

from ovos_persona_memory.stores.sql.turn_rows import turns_of
from ovos_persona_memory.stores.sql.where_clause import Where, owner_name

__all__ = ["Where", "owner_name", "turns_of"]
