"""Episodes in the PostgreSQL store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ovos_persona_memory.records import Episode, EpisodesWanted
from ovos_persona_memory.stores.base.episodes import FIELDS, EpisodeStore
from ovos_persona_memory.stores.base.store import refuse_unstorable
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase
from ovos_persona_memory.stores.postgres.rows import NEXT, column_list, marks, of_household, within
from ovos_persona_memory.stores.sql.where_clause import Where, between

EPISODES = f"SELECT r.seq, r.words, r.data, r.used, {column_list(FIELDS)} FROM episode r"
ADD = (
    f"INSERT INTO episode (household, seq, words, data, used, {', '.join(FIELDS)})"
    f" VALUES (%s, {NEXT}, %s, %s, %s::text[], {marks(len(FIELDS))}) RETURNING seq"
)
FINISH = "UPDATE episode SET outcome = %s, latency_ms = %s, turn_id = %s WHERE household = %s AND id = %s"


class PostgresEpisodes(EpisodeStore):
    """Runs in the store's transactions."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._db, self._home = database, database.settings.household

    def add(self, episode: Episode, words: str = "") -> Episode:
        refuse_unstorable(episode, words, *map(str, episode.detail.values()))
        data = json.dumps(dict(episode.detail)) if episode.detail else None
        values = [getattr(episode, name) for name in FIELDS]
        with self._db.transaction():
            (seq,) = self._db.one(ADD, self._home, words, data, list(episode.used), *values)
        return replace(episode, seq=seq)

    def finish(self, episode: Episode) -> None:
        with self._db.transaction():
            self._db.run(FINISH, episode.outcome, episode.latency_ms, episode.turn_id, self._home, episode.id)

    def episodes(self, wanted: EpisodesWanted) -> list[Episode]:
        if wanted.scope.task_id is not None:
            return []
        where = within(self._home, wanted.scope).also("r.kind = ANY(%s)", sorted(wanted.kinds))
        where = between(where, "at", wanted.since, wanted.until)
        return [one for one, _ in self._read(where, "ORDER BY r.at DESC, r.seq DESC LIMIT %s", wanted.limit)]

    def last_use(self, record_id: str) -> Episode | None:
        found = self._read(self._using(record_id), "ORDER BY r.seq DESC LIMIT 1")
        return found[0][0] if found else None

    def uses(self, record_id: str) -> int:
        where = self._using(record_id)
        return int(self._db.one(f"SELECT count(*) FROM episode r{where}", *where.values)[0])

    def held(self, user_id: str | None) -> Sequence[tuple[Episode, str]]:
        where = self._mine()
        return self._read(where if user_id is None else where.also("r.user_id = %s", user_id), "ORDER BY r.seq")

    def _mine(self) -> Where:
        return of_household(self._home)

    def _using(self, record_id: str) -> Where:
        return self._mine().also("r.used @> %s::text[]", [record_id])

    def _read(self, where: Where, order: str, *more: Any) -> list[tuple[Episode, str]]:
        return [_episode_of(row) for row in self._db.all(f"{EPISODES}{where} {order}", *where.values, *more)]

    def delete(self, ids: Sequence[str]) -> int:
        return self._delete(self._mine().also("r.id = ANY(%s)", list(ids)))

    def ids_of_turns(self, turn_ids: Sequence[str]) -> list[str]:
        return self._ids(self._mine().also("r.turn_id = ANY(%s)", list(turn_ids)))

    def ids_of_utterances(self, utterance_ids: Sequence[str]) -> list[str]:
        return self._ids(self._mine().also("r.utterance_id = ANY(%s)", list(utterance_ids)))

    def _ids(self, where: Where) -> list[str]:
        return [one for (one,) in self._db.all(f"SELECT r.id FROM episode r{where} ORDER BY r.seq", *where.values)]

    def delete_before(self, at: float) -> int:
        return self._delete(self._mine().also("r.at < %s", at))

    def _delete(self, where: Where) -> int:
        with self._db.transaction(), self._db.patiently():
            return self._db.run(f"DELETE FROM episode r{where}", *where.values)

    def rename_user(self, user_id: str, into: str) -> int:
        refuse_unstorable(None, user_id, into)
        with self._db.transaction(), self._db.patiently():
            sql = "UPDATE episode SET user_id = %s WHERE household = %s AND user_id = %s"
            return self._db.run(sql, into, self._home, user_id)


def _episode_of(row: tuple[Any, ...]) -> tuple[Episode, str]:
    seq, words, data, used, *values = row
    fields = dict(zip(FIELDS, values, strict=True))
    return Episode(seq=seq, detail=json.loads(data) if data else {}, used=tuple(used), **fields), words
