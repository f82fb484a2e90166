"""Forgetting: how much, and in which words, before anything is deleted."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import Scope
from ovos_persona_memory.web.visit import View, Visit

SPANS = {"minutes": 300.0, "hour": 3600.0, "day": 86400.0}
"""Names of spans, and their lengths in seconds."""
WAYS = (*SPANS, "session", "person", "about", "everything")
SHOWN = 20
"""Texts that are shown at most."""
MOST_IDS = 10_000
"""Of more records than that the conditions are used, not the ids."""


def forget(visit: Visit) -> Response:
    """The ways to forget; with one of them chosen what would go."""
    way = visit.asked("way")
    if way not in WAYS:
        return visit.page("forget.html", ways=WAYS, users=visit.app.users(), way="", foreseen=None)
    wanted = _conditions(visit, way)
    found = visit.memory.ask("forget", _scope(visit), preview=True, **wanted)
    values = {"way": way, "foreseen": found, "shown": found["told"][:SHOWN], "conditions": wanted}
    return visit.page("forget.html", ways=WAYS, users=visit.app.users(), **values)


def forget_it(visit: Visit) -> Response:
    """What was shown goes, unless it is undone."""
    way = visit.given("way")
    if way not in WAYS:
        raise InvalidRequest("way", f"must be one of {', '.join(WAYS)}")
    seen = visit.given("until")
    data = _conditions(visit, way, float(seen) if seen.replace(".", "", 1).isdecimal() else None)
    scope = _scope(visit)
    found = visit.memory.ask("forget", scope, preview=True, **data)
    # what was read is what goes: with words and spans that are looked for anew something else could
    if len(found["ids"]) <= MOST_IDS and way not in ("everything", "person") and found["ids"]:
        data = {"ids": found["ids"]}
    number = int(found["forgotten"])
    if not number:
        return visit.back("/forget", "nothing")
    visit.app.going.add("forget", {**data, "scope": _wire(scope)}, number)
    return visit.back("/forget", "going")


def _field(visit: Visit, name: str) -> str:
    return visit.given(name) if visit.method == "POST" else visit.asked(name)


def _conditions(visit: Visit, way: str, seen_at: float | None = None) -> dict[str, Any]:
    until = visit.now if seen_at is None else min(seen_at, visit.now)
    if way in SPANS:
        return {"since": until - SPANS[way], "until": until}
    if way == "about":
        words = _field(visit, "about")
        if not words:
            raise InvalidRequest("about", visit.texts("about_missing"))
        return {"topic": words, "lang": visit.texts.tag, "until": until}
    if way == "session" and not _field(visit, "session"):
        raise InvalidRequest("session", visit.texts("session_missing"))
    if way == "person" and not _field(visit, "person"):
        raise InvalidRequest("person", visit.texts("person_missing"))
    return {"everything": True, "until": until}


def _scope(visit: Visit) -> Scope:
    way = _field(visit, "way")
    session = _field(visit, "session") if way == "session" else ""
    return Scope(session_id=session or None, user_id=(_field(visit, "person") or None) if way != "everything" else None)


def _wire(scope: Scope) -> dict[str, Any]:
    whose = {"user_id": scope.user_id} if scope.user_id else {"everyone": True}
    return whose | ({"session_id": scope.session_id} if scope.session_id else {})


ADDRESSES: tuple[tuple[str, str, View], ...] = (("GET", "/forget", forget), ("POST", "/forget", forget_it))
