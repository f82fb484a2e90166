"""Conditions of an SQL statement, put together one by one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Where:
    """Conditions on the rows ``r`` of one table, and the values that they bind."""

    conditions: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()

    def also(self, condition: str, *values: Any) -> Where:
        """These conditions and one more."""
        return replace(self, conditions=(*self.conditions, condition), values=(*self.values, *values))

    def __str__(self) -> str:
        return f" WHERE {' AND '.join(self.conditions)}" if self.conditions else ""
