"""Insert batching: turns that a PostgreSQL transaction writes together, before its next statement or its commit."""

from __future__ import annotations

from collections.abc import Sequence

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import Turn, replace_fast
from ovos_persona_memory.stores.postgres import rows
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase, Row

AHEAD = 256
"""Sequence numbers reserved ahead at most."""
NUMBERS = f"SELECT {rows.NEXT} FROM generate_series(1, %s)"


class InsertBatch:
    """The unwritten turns of the store's transaction."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._db, self._home = database, database.settings.household
        self._rows: list[Row] = []
        self._numbers: list[int] = []
        self._is_fetching = False
        self.added = 0
        """Number of turns added in this transaction."""
        database.late = self

    def add(self, turns: Sequence[tuple[Turn, str]]) -> list[Turn]:
        """Add turns with their words; they come back with their seq."""
        kept = list(zip(self._next(len(turns)), turns, strict=True))
        self._rows += [(seq, turn.user_id, *rows.turn_values(turn, words)) for seq, (turn, words) in kept]
        self.added += len(turns)
        return [replace_fast(turn, seq=seq) for seq, (turn, _) in kept]

    def _next(self, count: int) -> list[int]:
        """Numbers above all that were given out before; the larger the batch, the more are reserved at once."""
        if len(self._numbers) < count:
            wanted = max(count - len(self._numbers), min(2 * len(self._rows), AHEAD))
            self._is_fetching = True
            try:
                self._numbers += [number for (number,) in self._db.all(NUMBERS, wanted)]
            finally:
                self._is_fetching = False
        given, self._numbers = self._numbers[:count], self._numbers[count:]
        return given

    def write(self) -> None:
        """Write the batch; a StoreError where one of its ids is known."""
        if self._is_fetching:
            return
        # unused numbers are dropped, too: the next statement may give out higher ones
        given, self._rows, self._numbers = self._rows, [], []
        if given:
            columns = map(list, zip(*given, strict=True))
            if self._db.run(rows.ADD_TURNS, self._home, *columns) < len(given):
                raise StoreError("there is a turn with this id already")

    def clear(self) -> None:
        """Drop the batch: the transaction has ended."""
        self._rows, self._numbers, self.added = [], [], 0
