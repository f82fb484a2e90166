"""WHERE clauses of SQL statements, composed condition by condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ovos_persona_memory.records import ACCEPTED, SECRET_LEVEL, Scope

OWNER = "coalesce('=' || r.persona_id, '')"
"""The owner of an entry among those of its user, in the form of ``owner_name``."""
PLACES = ["session_id", "persona_id", "site_id", "task_id"]
"""Columns of every record that scopes compare."""


def owner_name(persona_id: str | None) -> str:
    """The name of a persona in the index of keys; "no persona" has a name there, too."""
    return "" if persona_id is None else f"={persona_id}"


@dataclass(frozen=True)
class Where:
    """Conditions on the rows ``r`` of one table, and the values that they bind."""

    conditions: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()
    mark: str = "?"
    """The placeholder of a value in this dialect."""

    def also(self, condition: str, *values: Any) -> Where:
        """A copy with one more condition."""
        return replace(self, conditions=(*self.conditions, condition), values=(*self.values, *values))

    def __str__(self) -> str:
        return f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""


def is_whole_session(scope: Scope) -> bool:
    """Whether the scope names a user and a session and nothing else."""
    others = (scope.persona_id, scope.site_id, scope.task_id, scope.status)
    return not any(one is not None for one in others) and scope.user_id is not None and scope.session_id is not None


def narrowed(where: Where, scope: Scope, kind: str = "turn") -> Where:
    """Conditions for everything that a scope asks for besides its user, on turns, memories or facts."""
    mark = where.mark
    if kind != "turn":
        where = known(where, scope)
    if scope.status is not None and kind == "memory":
        where = where.also(f"r.status = {mark}", scope.status)
    elif not scope.takes(ACCEPTED):
        where = where.also("1 = 0")
    for column in ("session_id", "site_id", "task_id"):
        if getattr(scope, column) is not None:
            where = where.also(f"r.{column} = {mark}", getattr(scope, column))
    if scope.persona_id is not None:
        where = where.also(f"(r.persona_id IS NULL OR r.persona_id = {mark})", scope.persona_id)
    return where


def known(where: Where, scope: Scope) -> Where:
    """Conditions for the rows that the asking user may know, by the column ``private``."""
    level = SECRET_LEVEL - 1 if scope.auth_level is None else min(scope.auth_level, SECRET_LEVEL - 1)
    if not scope.secrets:
        return where.also(f"r.private <= {where.mark}", level)
    if level == SECRET_LEVEL - 1:
        return where
    return where.also(f"(r.private <= {where.mark} OR r.private = {SECRET_LEVEL:d})", level)


def holding_parts(where: Where, place: str, parts: Sequence[str]) -> Where:
    """Condition for rows that hold one of these parts of words, anything for none; ``place``: where it stands, 0 for
    nowhere."""
    return where.also(f"({' OR '.join(f'{place} > 0' for _ in parts)})", *parts) if parts else where


def between(where: Where, column: str, since: float | None, until: float | None) -> Where:
    """Condition for rows whose column is in [since, until)."""
    if since is not None:
        where = where.also(f"r.{column} >= {where.mark}", since)
    return where if until is None else where.also(f"r.{column} < {where.mark}", until)
