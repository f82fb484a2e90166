"""The timeline: what was said, by day and talk, and what the device did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Episode, EpisodeKind, Scope, Turn
from ovos_persona_memory.web import texts
from ovos_persona_memory.web.visit import View, Visit

PAGE = 40
"""Turns of a page."""
STEP, MOST_STEPS = 500, 40
"""Turns that are looked through at once for talks with a persona, and how often at most for one page."""
PAUSE_S = 1800.0
"""After such a pause in a session another talk begins, seconds."""
DEEDS: frozenset[EpisodeKind] = frozenset({"intent", "tool_call"})
AROUND_S = 120.0
"""A deed begins so long around its turn at most, seconds."""


@dataclass
class Talk:
    """Turns of one user in one session, on one day and without a long pause."""

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

    def takes(self, turn: Turn) -> bool:
        """Whether a turn that follows in its session goes on with it."""
        is_near = (turn.at or 0.0) - (self.turns[-1].at or 0.0) <= PAUSE_S
        return is_near and (self.day, self.user_id) == (texts.day_of(turn.at or 0.0), turn.user_id)

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
    offset = visit.number("offset")
    talks, following = _page(visit, offset)
    back = STEP if visit.asked("persona") else PAGE
    values: dict[str, Any] = {
        "talks": talks,
        "earlier": visit.address(offset=following) if following else "",
        "later": visit.address(offset=max(offset - back, 0)) if offset else "",
    }
    if visit.is_part:
        return visit.part("timeline_feed.html", **values)
    narrowed = any(visit.asked(name) for name in ("day", "person", "session", "room", "persona"))
    is_live = not offset and not visit.asked("day")
    return visit.page("timeline.html", users=visit.app.users(), is_narrowed=narrowed, is_live=is_live, **values)


def _page(visit: Visit, offset: int) -> tuple[list[Talk], int]:
    """The talks of a page, the newest first, and the offset of the next page; 0 where it is the last one."""
    scope, persona = visit.scope(), visit.asked("persona")
    since, until = texts.day_bounds(visit.asked("day")) or (None, None)
    gone, ended = visit.app.going.ids(), visit.app.going.sessions()
    length = STEP if persona else PAGE
    talks: list[Talk] = []
    for _ in range(MOST_STEPS):
        found = visit.memory.turns(scope, since, until, length + 1, offset)
        more, shown = len(found) > length, found[-length:]
        offset += length
        kept = [turn for turn in shown if turn.id not in gone and (turn.user_id, str(turn.session_id)) not in ended]
        # the scope of a persona reaches what was said to nobody in particular, too
        talks = [one for one in talks_of(visit.memory, scope, kept) if not persona or persona in one.personas]
        if talks or not more:
            break
    return list(reversed(talks)), offset if more else 0


def talks_of(memory: MemoryClient, scope: Scope, turns: Sequence[Turn]) -> list[Talk]:
    """Turns as talks, the one that went on last at the end. What is said in two rooms at once is apart."""
    ordered = sorted(turns, key=lambda turn: (turn.at or 0.0, turn.seq))
    talks: list[Talk] = []
    open_in: dict[str | None, Talk] = {}
    for turn in ordered:
        talk = open_in.get(turn.session_id)
        if talk is None or not talk.takes(turn):
            talk = open_in[turn.session_id] = Talk(texts.day_of(turn.at or 0.0), turn.user_id, turn.session_id, [])
            talks.append(talk)
        talk.turns.append(turn)
    talks.sort(key=lambda talk: talk.turns[-1].at or 0.0)
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


def _by_turn(deeds: Sequence[Episode]) -> dict[str, list[Episode]]:
    found: dict[str, list[Episode]] = {}
    for one in reversed(deeds):
        if one.turn_id is not None and (one.name or one.skill_id):
            found.setdefault(one.turn_id, []).append(one)
    return found


ADDRESSES: tuple[tuple[str, str, View], ...] = (("GET", "/", timeline),)
