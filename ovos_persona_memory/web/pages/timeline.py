"""The timeline: what was said, by day and talk, and what the device did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from starlette.responses import Response

from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Episode, EpisodeKind, Scope, Turn
from ovos_persona_memory.web import texts
from ovos_persona_memory.web.visit import View, Visit

PAGE = 40
"""Turns of a page."""
DEEDS: frozenset[EpisodeKind] = frozenset({"intent", "tool_call"})
AROUND_S = 120.0
"""A deed begins so long around its turn at most, seconds."""


@dataclass
class Talk:
    """Turns of one session that follow each other on one day."""

    day: str
    user_id: str
    session_id: str | None
    turns: list[Turn]
    deeds: dict[str, list[Episode]] = field(default_factory=dict)
    """From the id of a turn to what the device did for it."""

    @property
    def at(self) -> float:
        """When it began."""
        return self.turns[0].at or 0.0

    @property
    def rooms(self) -> list[str]:
        """Where it took place."""
        return list(dict.fromkeys(turn.site_id for turn in self.turns if turn.site_id))

    @property
    def personas(self) -> list[str]:
        """Who was spoken to, besides the assistant itself."""
        return list(dict.fromkeys(turn.persona_id for turn in self.turns if turn.persona_id))


def timeline(visit: Visit) -> Response:
    """The newest talks first; in each talk the oldest turn first."""
    scope, offset = visit.scope(), visit.number("offset")
    since, until = texts.day_bounds(visit.asked("day")) or (None, None)
    found = visit.memory.turns(scope, since, until, PAGE + 1, offset)
    more, shown = len(found) > PAGE, found[-PAGE:]
    gone, ended = visit.app.going.ids(), visit.app.going.sessions()
    kept = [turn for turn in shown if turn.id not in gone and (turn.user_id, str(turn.session_id)) not in ended]
    values: dict[str, Any] = {
        "talks": list(reversed(talks_of(visit.memory, scope, kept))),
        "earlier": visit.address(offset=offset + PAGE) if more else "",
        "later": visit.address(offset=max(offset - PAGE, 0)) if offset else "",
    }
    if visit.is_part:
        return visit.part("timeline_feed.html", **values)
    narrowed = any(visit.asked(name) for name in ("day", "person", "session", "room", "persona"))
    is_live = not narrowed and not offset
    return visit.page("timeline.html", users=visit.app.users(), is_narrowed=narrowed, is_live=is_live, **values)


def talks_of(memory: MemoryClient, scope: Scope, turns: Sequence[Turn]) -> list[Talk]:
    """Turns as talks, in the order of the turns."""
    ordered = sorted(turns, key=lambda turn: (turn.at or 0.0, turn.seq))
    talks = [
        Talk(day, user_id, session_id, list(of_talk))
        for (day, user_id, session_id), of_talk in groupby(ordered, key=_talk_of)
    ]
    if ordered:
        span = (ordered[0].at or 0.0) - AROUND_S, (ordered[-1].at or 0.0) + AROUND_S
        deeds = memory.episodes(scope, DEEDS, max(span[0], 0.0), span[1], limit=200)
        by_turn = _by_turn(deeds)
        for talk in talks:
            talk.deeds = {turn.id: by_turn[turn.id] for turn in talk.turns if turn.id in by_turn}
    return talks


def talks_of_ids(memory: MemoryClient, ids: Iterable[str]) -> list[Talk]:
    """The turns with these ids as talks, the newest first."""
    everyone = Scope.everyone()
    turns = [turn for id in ids if (turn := memory.turn(id, everyone)) is not None]
    return list(reversed(talks_of(memory, everyone, turns)))


def _talk_of(turn: Turn) -> tuple[str, str, str | None]:
    return texts.day_of(turn.at or 0.0), turn.user_id, turn.session_id


def _by_turn(deeds: Sequence[Episode]) -> dict[str, list[Episode]]:
    found: dict[str, list[Episode]] = {}
    for one in reversed(deeds):
        if one.turn_id is not None and (one.name or one.skill_id):
            found.setdefault(one.turn_id, []).append(one)
    return found


ADDRESSES: tuple[tuple[str, str, View], ...] = (("GET", "/", timeline),)
