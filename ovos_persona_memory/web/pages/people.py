"""The people: who is known, how much is kept of each, and one person out of two names."""

from __future__ import annotations

from starlette.responses import Response

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.web.shared import FORGET_WITHIN_S
from ovos_persona_memory.web.visit import View, Visit


def people(visit: Visit) -> Response:
    """Everybody; with two of them chosen what would move from the one to the other."""
    known = visit.memory.users.list()
    one, other = visit.asked("from"), visit.asked("into")
    chosen = next((user for user in known if user.user_id == one), None)
    if one or other:
        _refuse_same(visit, one, other)
    return visit.page("people.html", known=known, chosen=chosen if other else None, into=other)


def merge(visit: Visit) -> Response:
    """Make everything of the one the memory of the other, for good."""
    one, other = visit.given("from"), visit.given("into")
    _refuse_same(visit, one, other)
    MemoryClient(visit.app.transport, FORGET_WITHIN_S).users.merge(one, other)
    visit.app.users_changed()
    return visit.back("/people", "merged")


def _refuse_same(visit: Visit, one: str, other: str) -> None:
    if not one or not other or one == other:
        raise InvalidRequest("into", visit.texts("merge_same"))


ADDRESSES: tuple[tuple[str, str, View], ...] = (("GET", "/people", people), ("POST", "/people/merge", merge))
