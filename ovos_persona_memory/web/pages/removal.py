"""Deleting with ten seconds to undo it, from whatever page."""

from __future__ import annotations

from starlette.responses import Response

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.web.visit import View, Visit

MOST = 1000


def delete(visit: Visit) -> Response:
    """Have records with these ids deleted, or a session."""
    ids = visit.all_given("ids")[:MOST]
    session, person = visit.given("session"), visit.given("person")
    if session:
        waits = visit.app.going.add("session.clear", {"scope": {"session_id": session, "user_id": person}}, 0)
    elif ids:
        scope = {"user_id": person} if person else {"everyone": True}
        asked = {"ids": ids, "scope": scope}
        number = int(visit.app.transport.carry("forget", {**asked, "preview": True}, 30.0).get("forgotten", 0))
        waits = visit.app.going.add("forget", asked, max(number, len(ids)))
    else:
        raise InvalidRequest("ids", visit.texts("choose_some"))
    if visit.is_part:
        return visit.part("removed.html", ids=ids, newest=waits.id)
    return visit.back()


def undo(visit: Visit) -> Response:
    """Leave it as it is."""
    undone = visit.app.going.undo(visit.places["id"])
    return visit.back("", "undone" if undone else "too_late")


def going(visit: Visit) -> Response:
    """What waits to be deleted."""
    return visit.part("going.html", newest="")


ADDRESSES: tuple[tuple[str, str, View], ...] = (
    ("POST", "/delete", delete),
    ("POST", "/undo/{id}", undo),
    ("GET", "/going", going),
)
