"""Remembering: whether anything is kept and used, for everybody, a person, a room or a session."""

from __future__ import annotations

from starlette.responses import Response

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import HOUSEHOLD, Capture, Scope
from ovos_persona_memory.web.visit import View, Visit

SPANS = {"always": None, "hour": 3600.0, "evening": 6 * 3600.0, "day": 86400.0, "week": 7 * 86400.0}
"""Names of how long a setting holds, in seconds; None: until it is changed."""
PLACES = ("person", "room", "session")
SWITCHES = {"on": (True, True), "pause": (False, True), "off": (False, False)}
"""Names of settings: whether it is kept, and whether what was kept is used."""
MOST_PEOPLE = 20
LOOKED_AT = 200
"""Newest turns whose rooms are offered."""


def remembering(visit: Visit) -> Response:
    """How it is, and the switches."""
    config = visit.app.config
    people = [user.user_id for user in visit.app.users()][:MOST_PEOPLE]
    newest = visit.memory.turns(Scope.everyone(), limit=LOOKED_AT)
    rooms = sorted({turn.site_id for turn in newest if turn.site_id})[:MOST_PEOPLE]
    return visit.page(
        "remembering.html",
        of_people=_apart([(name, visit.memory.capture(Scope(user_id=name), person=True)) for name in people]),
        of_rooms=_apart([(name, visit.memory.capture(Scope(site_id=name), site=True)) for name in rooms]),
        people=people,
        rooms=rooms,
        spans=SPANS,
        retention=config.retention,
        exclusions=config.capture,
        learns=config.facts.learn,
    )


def switch(visit: Visit) -> Response:
    """Set it."""
    wanted, place, name = visit.given("switch"), visit.given("place"), visit.given("name")
    if wanted not in SWITCHES:
        raise InvalidRequest("switch", f"must be one of {', '.join(SWITCHES)}")
    if place in PLACES and not name:
        raise InvalidRequest("name", visit.texts("name_missing"))
    length = SPANS.get(visit.given("span"))
    write, read = SWITCHES[wanted]
    scope = Scope(
        session_id=name if place == "session" else None,
        site_id=name if place == "room" else None,
        user_id=name if place == "person" else HOUSEHOLD,
    )
    until = None if length is None else visit.now + length
    about = {"session": place == "session", "site": place == "room", "person": place == "person"}
    visit.memory.capture(scope, write, read, until, **about)
    return visit.back("/remembering", "changed")


def _apart(found: list[tuple[str, Capture]]) -> list[tuple[str, Capture]]:
    """Those for whom it is not as usual."""
    return [(name, setting) for name, setting in found if not (setting.write and setting.read)]


ADDRESSES: tuple[tuple[str, str, View], ...] = (
    ("GET", "/remembering", remembering),
    ("POST", "/remembering", switch),
)
