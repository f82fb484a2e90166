"""Queries over turns and sessions of the SQLite store, each along the index that ends soonest."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ovos_persona_memory.records import Scope, Selection, Turn
from ovos_persona_memory.stores.base.store import ExcludedTurn, NeighbourTurn
from ovos_persona_memory.stores.sql.where_clause import Where, narrowed
from ovos_persona_memory.stores.sqlite.rows import TOLD, but_for, chosen_turns, turns_from

FEW = 2000
"""A time window with fewer turns of a user is read whole and sorted."""

SESSIONS = (
    "SELECT s.session_id, o.user_id, s.turns, s.first_at, s.last_at, coalesce(b.name, '') FROM"
    " (SELECT r.owner, r.session_id, count(*) turns, min(r.at) first_at, max(r.at) last_at, max(r.seq) newest"
    " FROM turn r{where} GROUP BY r.owner, r.session_id) s JOIN owner o ON o.num = s.owner"
    " LEFT JOIN note n ON n.user_id = o.user_id AND n.session_id = s.session_id LEFT JOIN body b ON b.num = n.body"
    " ORDER BY s.newest DESC LIMIT ?"
)


BESIDE = "SELECT r.id, r.seq, r.at, r.role, b.speaker, b.words FROM turn r{} CROSS JOIN body b ON b.num = r.body WHERE "
ALONE = f"{BESIDE.format('')}r.seq = ?"
IN_SESSION = f"{BESIDE.format(' INDEXED BY turn_session')}r.owner = ? AND r.session_id = ? AND r.seq "
AROUND = (
    f"SELECT * FROM ({IN_SESSION}< ?{{also}} ORDER BY r.seq DESC LIMIT ?)"
    f" UNION ALL SELECT * FROM ({IN_SESSION}>= ?{{also}} ORDER BY r.seq LIMIT ?)"
)


def newest_turns(sql: sqlite3.Connection, selection: Selection, owner: int | None, limit: int | None) -> list[int]:
    """The ``seq`` of the newest turns of a selection, newest first; ``owner`` None: everybody's."""
    index = _index(sql, selection, owner)
    seqs: list[int] = []
    for where in _walks(selection, owner, index):
        found = sql.execute(
            f"SELECT r.seq FROM turn r {index}{where} ORDER BY r.seq DESC LIMIT ?",
            (*where.values, -1 if limit is None else limit),
        )
        seqs += [seq for (seq,) in found]
    seqs.sort(reverse=True)
    return seqs if limit is None else seqs[:limit]


def talk(sql: sqlite3.Connection, scope: Scope, limit: int | None) -> tuple[list[Turn], int]:
    """See Store.talk, for a scope that names a user and a session and nothing else: turns and note with one
    statement."""
    found = sql.execute(TOLD, (scope.user_id, scope.session_id, -1 if limit is None else limit)).fetchall()
    found.reverse()
    return turns_from(found), found[0][-1] if found else 0


@dataclass(frozen=True)
class SqliteNeighbourQuery:
    """The parameters of Store.around: reach, persona and turns left out."""

    reach: int
    persona_id: str | None
    without: Sequence[ExcludedTurn]


def around(
    sql: sqlite3.Connection, turns: Sequence[tuple[Turn, int]], walk: SqliteNeighbourQuery
) -> list[list[NeighbourTurn]]:
    """See Store.around; each turn with the number of its user."""
    where = but_for(narrowed(Where(), Scope(user_id=None, persona_id=walk.persona_id)), walk.without)
    statement = AROUND.format(also="".join(f" AND {condition}" for condition in where.conditions))
    found = []
    for turn, owner in turns:
        if turn.session_id is None:
            rows = sql.execute(ALONE, (turn.seq,)).fetchall()
        else:
            own = (owner, turn.session_id, turn.seq, *where.values)
            rows = sql.execute(statement, (*own, walk.reach, *own, walk.reach + 1)).fetchall()
        found.append(sorted((NeighbourTurn(*row) for row in rows), key=_seq))
    return found


_seq = attrgetter("seq")


def _walks(selection: Selection, owner: int | None, index: str) -> Sequence[Where]:
    """One index range, or two where the turns of a persona and of no persona are apart in the index."""
    whole = chosen_turns(selection, owner)
    if whole is None:
        return ()
    if "turn_persona" not in index:
        return (whole,)
    return (whole.also("r.persona_id IS NULL"), whole.also("r.persona_id = ?", selection.scope.persona_id))


def _index(sql: sqlite3.Connection, selection: Selection, owner: int | None) -> str:
    scope = selection.scope
    if selection.ids is not None:
        return "INDEXED BY sqlite_autoindex_turn_1"
    if owner is None:
        return "NOT INDEXED"
    if selection.since is not None and _few_since(sql, owner, selection.since):
        return "INDEXED BY turn_at"
    if scope.session_id is not None:
        return "INDEXED BY turn_persona" if scope.persona_id is not None else "INDEXED BY turn_session"
    if scope.site_id is not None:
        return "INDEXED BY turn_site"
    return "INDEXED BY turn_task" if scope.task_id is not None else "INDEXED BY turn_owner"


def _few_since(sql: sqlite3.Connection, owner: int, since: float) -> bool:
    counted: tuple[Any, ...] = sql.execute(
        f"SELECT count(*) FROM (SELECT 1 FROM turn WHERE owner = ? AND at >= ? LIMIT {FEW})", (owner, since)
    ).fetchone()
    return bool(counted[0] < FEW)
