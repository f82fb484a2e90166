"""Episodes in the SQLite store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from ovos_persona_memory.records import Episode, EpisodesWanted
from ovos_persona_memory.stores.base.episodes import FIELDS, EpisodeStore
from ovos_persona_memory.stores.base.store import refuse_unstorable
from ovos_persona_memory.stores.sql.where_clause import Where, between, narrowed
from ovos_persona_memory.stores.sqlite.rows import add_body, empty_bodies

ADD = f"INSERT INTO episode (body, {', '.join(FIELDS)}) VALUES ({', '.join('?' * (len(FIELDS) + 1))})"
EPISODES = (
    f"SELECT r.seq, b.data, coalesce(b.words, ''), {', '.join('r.' + name for name in FIELDS)}"
    " FROM episode r LEFT JOIN body b ON b.num = r.body"
)
LAST_USE = "SELECT max(u.episode), count(*) FROM episode_used u WHERE u.record = ?"
Context = Callable[[], AbstractContextManager[None]]


class SqliteEpisodes(EpisodeStore):
    """Works on the store's connection, within the store's transactions and under its lock."""

    def __init__(self, connection: sqlite3.Connection, transaction: Context, reading: Context) -> None:
        self._sql = connection
        self._transaction = transaction
        self._reading = reading

    def add(self, episode: Episode, words: str = "") -> Episode:
        refuse_unstorable(episode, words, *map(str, episode.detail.values()))
        told = {"detail": dict(episode.detail), "used": list(episode.used)}
        with self._transaction():
            body = (
                add_body(self._sql, ("", words, None, None, json.dumps(told))) if words or any(told.values()) else None
            )
            values = [getattr(episode, name) for name in FIELDS]
            seq = self._sql.execute(ADD, (body, *values)).lastrowid or 0
            self._sql.executemany(
                "INSERT OR IGNORE INTO episode_used (record, episode) VALUES (?, ?)",
                [(record, seq) for record in episode.used],
            )
        return _with_seq(episode, seq)

    def finish(self, episode: Episode) -> None:
        with self._transaction():
            self._sql.execute(
                "UPDATE episode SET outcome = ?, latency_ms = ?, turn_id = ? WHERE id = ?",
                (episode.outcome, episode.latency_ms, episode.turn_id, episode.id),
            )

    def episodes(self, wanted: EpisodesWanted) -> list[Episode]:
        if wanted.scope.task_id is not None:
            return []
        where = narrowed(Where(), wanted.scope)
        if wanted.scope.user_id is not None:
            where = where.also("r.user_id = ?", wanted.scope.user_id)
        where = where.also("r.kind IN (SELECT value FROM json_each(?))", json.dumps(sorted(wanted.kinds)))
        where = between(where, "at", wanted.since, wanted.until)
        limit = -1 if wanted.limit is None else wanted.limit
        with self._reading():
            sql = f"{EPISODES}{where} ORDER BY r.at DESC, r.seq DESC LIMIT ?"
            return [_episode_of(row)[0] for row in self._sql.execute(sql, (*where.values, limit))]

    def last_use(self, record_id: str) -> Episode | None:
        with self._reading():
            (seq, _) = self._sql.execute(LAST_USE, (record_id,)).fetchone()
            row = self._sql.execute(f"{EPISODES} WHERE r.seq = ?", (seq,)).fetchone()
        return _episode_of(row)[0] if row else None

    def uses(self, record_id: str) -> int:
        with self._reading():
            return int(self._sql.execute(LAST_USE, (record_id,)).fetchone()[1])

    def held(self, user_id: str | None) -> Sequence[tuple[Episode, str]]:
        where = Where() if user_id is None else Where(("r.user_id = ?",), (user_id,))
        with self._reading():
            return [_episode_of(row) for row in self._sql.execute(f"{EPISODES}{where} ORDER BY r.seq", where.values)]

    def delete(self, ids: Sequence[str]) -> int:
        return self._delete_where("id IN (SELECT value FROM json_each(?))", json.dumps(list(ids)))

    def ids_of_turns(self, turn_ids: Sequence[str]) -> list[str]:
        sql = "SELECT r.id FROM json_each(?) j CROSS JOIN episode r ON r.turn_id = j.value"
        with self._reading():
            return [one for (one,) in self._sql.execute(sql, (json.dumps(list(turn_ids)),))]

    def ids_of_utterances(self, utterance_ids: Sequence[str]) -> list[str]:
        sql = "SELECT id FROM episode WHERE utterance_id IN (SELECT value FROM json_each(?))"
        with self._reading():
            return [one for (one,) in self._sql.execute(sql, (json.dumps(list(utterance_ids)),))]

    def delete_before(self, at: float) -> int:
        return self._delete_where("at < ?", at)

    def _delete_where(self, condition: str, value: Any) -> int:
        with self._transaction():
            gone = self._sql.execute(f"SELECT seq, body FROM episode WHERE {condition}", (value,)).fetchall()
            if gone:
                empty_bodies(self._sql, [body for _, body in gone if body is not None])
                seqs = [(seq,) for seq, _ in gone]
                self._sql.executemany("DELETE FROM episode_used WHERE episode = ?", seqs)
                self._sql.executemany("DELETE FROM episode WHERE seq = ?", seqs)
        return len(gone)

    def rename_user(self, user_id: str, into: str) -> int:
        refuse_unstorable(None, user_id, into)
        with self._transaction():
            return self._sql.execute("UPDATE episode SET user_id = ? WHERE user_id = ?", (into, user_id)).rowcount


def _with_seq(episode: Episode, seq: int) -> Episode:
    return Episode(**{**vars(episode), "seq": seq})


def _episode_of(row: tuple[Any, ...]) -> tuple[Episode, str]:
    seq, data, words, *values = row
    told = json.loads(data) if data else {"detail": {}, "used": []}
    fields = dict(zip(FIELDS, values, strict=True))
    return Episode(seq=seq, detail=told["detail"], used=tuple(told["used"]), **fields), words
