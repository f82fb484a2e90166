"""Queries over turns in the PostgreSQL store: sessions, their newest turns, the neighbours of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ovos_persona_memory.records import HOUSEHOLD, Scope, Session, Turn
from ovos_persona_memory.stores.base.store import ExcludedTurn, NeighbourTurn
from ovos_persona_memory.stores.postgres import rows
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase
from ovos_persona_memory.stores.sql.where_clause import is_whole_session, narrowed

BESIDE = (
    "SELECT r.id, r.seq, r.at, r.role, r.speaker, r.words FROM turn r"
    " WHERE r.household = %s AND r.user_id = t.user_id AND "
)
AROUND = (
    "SELECT t.place, b.* FROM unnest(%s::text[], %s::text[], %s::bigint[])"
    " WITH ORDINALITY t (user_id, session, seq, place) CROSS JOIN LATERAL"
    f" (({BESIDE}r.session_id = t.session AND r.seq < t.seq{{also}} ORDER BY r.seq DESC LIMIT %s)"
    f" UNION ALL ({BESIDE}r.session_id = t.session AND r.seq >= t.seq{{also}} ORDER BY r.seq LIMIT %s)"
    f" UNION ALL ({BESIDE}t.session IS NULL AND r.seq = t.seq)) b ORDER BY t.place, b.seq"
)
SESSIONS = (
    "SELECT s.session_id, s.user_id, s.turns, s.first_at, s.last_at, coalesce(n.description, '') FROM"
    " (SELECT r.user_id, r.session_id, count(*) turns, min(r.at) first_at, max(r.at) last_at, max(r.seq) newest"
    " FROM turn r{where} GROUP BY r.user_id, r.session_id ORDER BY newest DESC LIMIT %s) s"
    " LEFT JOIN note n ON n.household = %s AND n.user_id = s.user_id AND n.session_id = s.session_id"
    " ORDER BY s.newest DESC"
)
TALK = f"{rows.TOLD} WHERE r.household = %s AND r.user_id = %s AND r.session_id = %s ORDER BY r.seq DESC LIMIT %s"
"""The newest turns of a user's session."""


def talk(db: PostgresDatabase, scope: Scope, limit: int | None) -> tuple[list[Turn], int]:
    """See Store.talk: turns and note with one round trip."""
    home = db.settings.household
    noted = (home, scope.user_id or HOUSEHOLD, scope.session_id)
    if is_whole_session(scope):  # by far the most common
        found = db.all(TALK, *noted, *noted, limit)
    else:
        where = rows.within(home, scope)
        found = db.all(f"{rows.TOLD}{where} ORDER BY r.seq DESC LIMIT %s", *noted, *where.values, limit)
    found.reverse()
    return rows.turns_from(found), found[0][-1] if found else 0


def sessions(db: PostgresDatabase, scope: Scope, limit: int | None) -> list[Session]:
    """See Store.sessions."""
    where = rows.within(db.settings.household, scope).also("r.session_id IS NOT NULL")
    found = db.all(SESSIONS.format(where=where), *where.values, limit, db.settings.household)
    return [Session(*row) for row in found]


@dataclass(frozen=True)
class PostgresNeighbourQuery:
    """The parameters of Store.around: reach, persona and turns left out."""

    reach: int
    persona_id: str | None
    without: Sequence[ExcludedTurn]


def around(db: PostgresDatabase, turns: Sequence[Turn], walk: PostgresNeighbourQuery) -> list[list[NeighbourTurn]]:
    """See Store.around; of at least one turn."""
    home, reach = db.settings.household, walk.reach
    asked = [[getattr(turn, name) for turn in turns] for name in ("user_id", "session_id", "seq")]
    persona = narrowed(rows.ANY_ROW, Scope(user_id=None, persona_id=walk.persona_id))
    narrower = rows.but_for(persona, walk.without)
    also = "".join(f" AND {condition}" for condition in narrower.conditions)
    near = (home, *narrower.values, reach, home, *narrower.values, reach + 1, home)
    beside: list[list[NeighbourTurn]] = [[] for _ in turns]
    for place, *row in db.all(AROUND.format(also=also), *asked, *near):
        beside[place - 1].append(NeighbourTurn(*row))
    return beside
