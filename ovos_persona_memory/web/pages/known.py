"""What I know: memories and facts, to search, add, edit, pin, join and keep private."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ovos_persona_memory.errors import InvalidRequest, UnknownEntry
from ovos_persona_memory.records import (
    ACCEPTED,
    HOUSEHOLD,
    PINNED,
    PRIVATE,
    Entry,
    Fact,
    FactStatus,
    Hit,
    HitKind,
    Scope,
    Status,
)
from ovos_persona_memory.web import texts
from ovos_persona_memory.web.visit import View, Visit

PAGE = 30
FOUND = 20
"""Hits of a search at most: twice as many took twice as long, too long to search while somebody types."""
MOST_LISTED = 1000
KINDS: Mapping[str, frozenset[HitKind]] = {
    "memory": frozenset({"memory"}),
    "fact": frozenset({"fact"}),
    "turn": frozenset({"turn"}),
}
BOTH: frozenset[HitKind] = frozenset({"memory", "fact"})
STATES: Mapping[str, Status] = {"accepted": "accepted", "draft": "draft", "discard": "discard"}
FACT_STATES: Mapping[Status, FactStatus] = {"accepted": "active", "draft": "waiting", "discard": "superseded"}
"""From the status of a memory to that of a fact that means the same."""
MARKS = (PRIVATE, PINNED)


@dataclass(frozen=True)
class Known:
    """Something that is known, as a row shows it."""

    id: str
    kind: str
    text: str
    at: float
    user_id: str
    key: str = ""
    lang: str | None = None
    state: str = "accepted"
    """accepted, draft or discard; of a fact the state that means the same."""
    persona_id: str | None = None
    session_id: str | None = None
    speaker: str | None = None
    is_private: bool = False
    is_pinned: bool = False
    confidence: float | None = None
    score: float | None = None
    reason: str = ""
    is_sure: bool = True


def known(visit: Visit) -> Response:
    """The list, or what a search finds."""
    question = visit.asked("q")[:1000]
    found = _search(visit, question) if question else _listed(visit)
    gone, narrow = visit.app.going.ids(), _narrowing(visit)
    kept = [one for one in found if one.id not in gone and narrow(one)]
    offset = 0 if question else visit.number("offset", MOST_LISTED)
    shown = kept if question else kept[offset : offset + PAGE]
    values: dict[str, Any] = {
        "items": shown,
        "question": question,
        "earlier": visit.address(offset=offset + PAGE) if not question and len(kept) > offset + PAGE else "",
        "later": visit.address(offset=max(offset - PAGE, 0)) if offset else "",
        "is_narrowed": any(visit.asked(name) for name in ("q", "person", "kind", "state", "speech", "since", "source")),
    }
    if visit.is_part and visit.headers.get("hx-target") == "items":
        return visit.part("known_items.html", **values)
    return visit.page("known.html", users=visit.app.users(), kinds=tuple(KINDS), states=tuple(STATES), **values)


def one(visit: Visit) -> Response:
    """Where one thing comes from, how it changed and where it was last used."""
    scope, id = Scope(user_id=visit.asked("person") or HOUSEHOLD), visit.places["id"]
    origin = visit.memory.why(scope, id=id)
    if origin is None:
        raise UnknownEntry(visit.texts("gone_already"))
    story = visit.memory.facts.history(id, scope) if origin.kind == "fact" else None
    entry = visit.memory.get(origin.key, scope) if origin.key else None
    values: dict[str, Any] = {"origin": origin, "story": story, "entry": entry}
    return visit.part("origin.html", **values) if visit.is_part else visit.page("one.html", **values)


def add(visit: Visit) -> Response:
    """Keep something."""
    if not visit.given("text"):
        raise InvalidRequest("text", visit.texts("text_missing"))
    scope = Scope(user_id=visit.given("person") or HOUSEHOLD)
    metadata = {PRIVATE: True} if visit.given(PRIVATE) else None
    visit.memory.remember(visit.given("text"), scope, metadata=metadata, lang=visit.texts.tag)
    return visit.back("/known", "kept")


def edit(visit: Visit) -> Response:
    """Put another text in place."""
    text, scope = visit.given("text"), Scope(user_id=visit.given("person") or HOUSEHOLD)
    if not text:
        raise InvalidRequest("text", visit.texts("text_missing"))
    if visit.given("kind") == "memory":
        own = Scope(user_id=scope.user_id, persona_id=visit.given("persona") or None)
        visit.memory.update(visit.given("key"), own, text)
    else:
        visit.memory.correct(visit.given("id"), text, scope, lang=visit.given("speech") or visit.texts.tag)
    return visit.back("", "changed")


def mark(visit: Visit) -> Response:
    """Pin a memory or a fact, or keep a memory private; or no longer."""
    name = visit.given("mark")
    if name not in MARKS:
        raise InvalidRequest("mark", f"must be one of {', '.join(MARKS)}")
    scope = Scope(user_id=visit.given("person") or HOUSEHOLD, persona_id=visit.given("persona") or None)
    is_set = visit.given("value") == "on"
    if visit.given("kind") == "fact":
        _pin_fact(visit, scope, is_set)
        return visit.back("", "changed")
    visit.memory.update(visit.given("key"), scope, metadata={name: is_set if name == PINNED else int(is_set)})
    return visit.back("", "changed")


def _pin_fact(visit: Visit, scope: Scope, is_set: bool) -> None:
    facts, id = visit.memory.facts, visit.given("id")
    fact = _fact(visit, id, scope)
    if fact is None or visit.given("mark") != PINNED:
        raise UnknownEntry(visit.texts("gone_already"))
    others = [topic for topic in fact.topics if topic != PINNED]
    facts.update(id, scope, topics=[*others, PINNED] if is_set else others)


def _fact(visit: Visit, id: str, scope: Scope) -> Fact | None:
    return next((one for one in visit.memory.facts.history(id, scope).facts if one.id == id), None)


def join(visit: Visit) -> Response:
    """Make one memory of several: first to be looked at, then for good."""
    ids = visit.all_given("ids")
    if not visit.given("text"):
        everyone = Scope.everyone()
        told = [found for id in ids if (found := visit.memory.why(everyone, id=id)) is not None]
        if len(told) < 2 or len({one.user_id for one in told}) > 1:
            raise InvalidRequest("ids", visit.texts("join_two"))
        text = "\n".join(dict.fromkeys(one.text for one in told))
        return visit.page("join.html", joined=text, ids=[one.id for one in told], person=told[0].user_id)
    scope = Scope(user_id=visit.given("person") or HOUSEHOLD)
    visit.memory.remember(visit.given("text"), scope, lang=visit.texts.tag)
    visit.app.going.add("forget", {"ids": ids, "scope": {"user_id": scope.user_id}}, len(ids))
    return visit.back("/known", "changed")


def _search(visit: Visit, question: str) -> list[Known]:
    kinds = KINDS.get(visit.asked("kind"), BOTH)
    status = STATES.get(visit.asked("state"))
    hits = visit.memory.recall(question, visit.scope(), FOUND, kinds, lang=visit.texts.tag, status=status)
    return [_of_hit(visit, hit) for hit in hits]


def _listed(visit: Visit) -> list[Known]:
    scope, status = visit.scope(), STATES.get(visit.asked("state"), ACCEPTED)
    kinds = KINDS.get(visit.asked("kind"), BOTH)
    found: list[Known] = []
    if "memory" in kinds:  # all that are listed: what is pinned may stand anywhere
        found += [_of_entry(entry) for entry in visit.memory.list(scope, MOST_LISTED, status=status)]
    if "fact" in kinds:
        found += [of_fact(fact) for fact in visit.memory.facts.list(scope, FACT_STATES[status], limit=MOST_LISTED)]
    return sorted(found, key=lambda one: (not one.is_pinned, -one.at))


def _narrowing(visit: Visit) -> Callable[[Known], bool]:
    speech, source = visit.asked("speech").lower(), visit.asked("source").lower()
    bounds = texts.day_bounds(visit.asked("since"))

    def fits(one: Known) -> bool:
        says = ((one.speaker or "").lower(), (one.session_id or "").lower(), (one.persona_id or "").lower())
        return (
            (not speech or (one.lang or "").lower().startswith(speech))
            and (not source or source in says)
            and (bounds is None or one.at >= bounds[0])
        )

    return fits


def _of_entry(entry: Entry) -> Known:
    return Known(
        id=entry.id,
        kind="memory",
        text=entry.text,
        at=entry.updated_at,
        user_id=entry.user_id,
        key=entry.key,
        lang=entry.lang,
        state=entry.status,
        persona_id=entry.persona_id,
        session_id=entry.session_id,
        is_private=entry.private > 0,
        is_pinned=entry.metadata.get(PINNED) is True,
    )


def of_fact(fact: Fact) -> Known:
    """A fact as a row shows it."""
    means = {state: same for same, state in FACT_STATES.items()}
    return Known(
        id=fact.id,
        kind="fact",
        text=fact.text,
        at=fact.last_seen_at,
        user_id=fact.user_id,
        lang=fact.lang,
        state=means[fact.status],
        persona_id=fact.persona_id,
        session_id=fact.session_id,
        speaker=fact.speaker,
        is_private=fact.private > 0,
        is_pinned=PINNED in fact.topics,
        confidence=fact.confidence,
    )


def _of_hit(visit: Visit, hit: Hit) -> Known:
    scope = Scope(user_id=hit.user_id, persona_id=hit.persona_id)
    entry = visit.memory.get(hit.key, scope) if hit.kind == "memory" and hit.key else None
    fact = _fact(visit, hit.id, scope) if hit.kind == "fact" else None
    kept = _of_entry(entry) if entry else of_fact(fact) if fact else None
    return Known(
        id=hit.id,
        kind=hit.kind,
        text=hit.text,
        at=hit.at,
        user_id=hit.user_id,
        key=hit.key or "",
        lang=hit.lang,
        state=entry.status if entry else "discard" if hit.outdated else "accepted",
        persona_id=hit.persona_id,
        session_id=hit.session_id,
        speaker=hit.speaker,
        is_private=kept is not None and kept.is_private,
        is_pinned=kept is not None and kept.is_pinned,
        score=hit.score,
        reason=hit.reason,
        is_sure=hit.sure,
    )


ADDRESSES: tuple[tuple[str, str, View], ...] = (
    ("GET", "/known", known),
    ("GET", "/known/{id}", one),
    ("POST", "/known/add", add),
    ("POST", "/known/edit", edit),
    ("POST", "/known/mark", mark),
    ("POST", "/known/join", join),
)
