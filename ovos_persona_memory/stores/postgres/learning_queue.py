"""The learning queue in the PostgreSQL store: turns from which facts are still to be learned."""

from __future__ import annotations

from collections.abc import Sequence

from ovos_persona_memory.records import Turn
from ovos_persona_memory.stores.base.learning_queue import LearningQueueStore, UnlearnedTurn
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase
from ovos_persona_memory.stores.postgres.rows import TURN_COLUMNS, turns_from

PUT = (
    "INSERT INTO unlearned (household, seq, id, child)"
    " SELECT %s, seq, id, child FROM unnest(%s::bigint[], %s::text[], %s::bool[]) g (seq, id, child)"
)
OLDEST = "SELECT id, seq, child FROM unlearned WHERE household = %s AND user_id = '' ORDER BY seq LIMIT %s"
TAKE = (
    "WITH taken AS (DELETE FROM unlearned WHERE household = %s AND user_id = '' AND seq = ANY(%s) RETURNING id, child)"
    f" SELECT {TURN_COLUMNS}, t.child FROM taken t CROSS JOIN LATERAL"
    " (SELECT * FROM turn WHERE household = %s AND id = t.id LIMIT 1) r ORDER BY r.seq"
)
"""One index look-up for each row: a join would rather read the whole table, while that is small."""


class PostgresLearningQueue(LearningQueueStore):
    """See LearningQueueStore. Writers of one household take turns, so that each turn is taken once."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._db, self._home = database, database.settings.household

    def put(self, turns: Sequence[UnlearnedTurn]) -> None:
        columns = [[one.seq for one in turns], [one.id for one in turns], [one.child for one in turns]]
        self._db.run(PUT, self._home, *columns)

    def oldest(self, limit: int | None) -> list[UnlearnedTurn]:
        return [UnlearnedTurn(*row) for row in self._db.all(OLDEST, self._home, limit)]

    def take(self, seqs: Sequence[int]) -> list[tuple[Turn, bool]]:
        found = self._db.all(TAKE, self._home, list(seqs), self._home)
        return [(turn, row[-1]) for turn, row in zip(turns_from(found), found, strict=True)]
