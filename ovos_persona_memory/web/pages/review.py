"""The review: what is uncertain, what contradicts, and what a language model proposed."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import HOUSEHOLD, Fact, Scope
from ovos_persona_memory.web.visit import View, Visit

MOST = 50
CHANGED = 20
"""Replaced facts that are shown at most, the last changed first."""


@dataclass(frozen=True)
class Pair:
    """A fact, and the one that says something else of the same thing."""

    one: Fact
    other: Fact | None


def review(visit: Visit) -> Response:
    """Everything that waits for somebody to decide."""
    scope, gone = visit.scope(), visit.app.going.ids()
    waiting = [fact for fact in visit.memory.facts.list(scope, "waiting", limit=MOST) if fact.id not in gone]
    replaced = [fact for fact in visit.memory.facts.list(scope, "superseded", limit=CHANGED) if fact.superseded_by]
    return visit.page(
        "review.html",
        users=visit.app.users(),
        waiting=[Pair(fact, _held(visit, fact)) for fact in waiting],
        drafts=[one for one in visit.memory.list(scope, MOST, status="draft") if one.id not in gone],
        replaced=[Pair(fact, other) for fact in replaced if (other := _successor(visit, fact)) is not None],
        looks=visit.memory.introspect(scope, look=False),
    )


def decide(visit: Visit) -> Response:
    """Take in or forget what waits, accept or set aside a draft."""
    scope, accept = Scope(user_id=visit.given("person") or HOUSEHOLD), visit.given("answer") == "yes"
    if visit.given("kind") == "draft":
        own = Scope(user_id=scope.user_id, persona_id=visit.given("persona") or None)
        visit.memory.update(visit.given("key"), own, status="accepted" if accept else "discard")
    else:
        visit.memory.facts.review(visit.given("id"), accept, scope)
    return visit.back("/review", "decided")


def put_back(visit: Visit) -> Response:
    """What a fact said before holds again."""
    scope = Scope(user_id=visit.given("person") or HOUSEHOLD)
    visit.memory.correct(visit.given("id"), visit.given("text"), scope, lang=visit.given("speech") or None)
    return visit.back("/review", "changed")


def undo_look(visit: Visit) -> Response:
    """Put back what a look of the language model changed."""
    if not visit.given("id"):
        raise InvalidRequest("id", "is missing")
    scope = Scope(user_id=visit.given("person") or HOUSEHOLD)
    visit.memory.introspect(scope, undo=visit.given("id"))
    return visit.back("/review", "undone")


def _held(visit: Visit, fact: Fact) -> Fact | None:
    """What holds now of the same thing."""
    if fact.slot is None:
        return None
    active = visit.memory.facts.list(Scope(user_id=fact.user_id), "active", slot=fact.slot, limit=100)
    return next((other for other in active if other.place == fact.place and other.id != fact.id), None)


def _successor(visit: Visit, fact: Fact) -> Fact | None:
    story = visit.memory.facts.history(fact.id, Scope(user_id=fact.user_id))
    return next((one for one in story.facts if one.id == fact.superseded_by and one.status == "active"), None)


ADDRESSES: tuple[tuple[str, str, View], ...] = (
    ("GET", "/review", review),
    ("POST", "/review", decide),
    ("POST", "/review/put-back", put_back),
    ("POST", "/review/undo", undo_look),
)
