"""Authorization: the scope of a request. Over the bus it is the session and person of its message, at the owner's door
everything."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import msgspec

from ovos_persona_memory.config import IdentityConfig, MemoryConfig
from ovos_persona_memory.errors import InvalidRequest, NeedsApproval, NotAllowed
from ovos_persona_memory.memory import relatives
from ovos_persona_memory.protocol import ScopeFields, requests, topics
from ovos_persona_memory.records import GUEST, HOUSEHOLD, NO_PERSONA, Person, Request, Scope, replace_fast

OF_USER = frozenset(
    {
        "recall",
        "turn",
        "get",
        "list",
        "forget",
        "episodes",
        "facts",
        "facts.history",
        "facts.update",
        "facts.review",
        "facts.decisions",
        "facts.audit",
    }
)
"""Verbs that reach all of the person's records over the bus, whatever their session."""
OWNERS = frozenset({"turns", "users.list", "users.merge", "introspect", "activity"})
"""Verbs that are for the owner's door alone."""
AS_CARRIED = frozenset({"record", "session.restore", "remember", "update", "correct", "capture", "facts.add"})
"""Verbs that note the session, room and persona of the message, or are about them."""
LASTING = frozenset({"remember", "update", "correct", "document.upsert", "facts.review", "facts.update"})
"""Verbs that keep something that lasts: for a child they wait for an adult (``identity.children``)."""
GUESTS_IN_VAIN = frozenset({"recall", "get", "list", "document.search", "document.get", "document.list", "facts"})
"""Verbs that a guest may use, and that find nothing."""
GUESTS_OWN_SESSION = frozenset(
    {
        "context",
        "record",
        "history",
        "turn",
        "sessions",
        "session.update",
        "session.snapshot",
        "session.restore",
        "session.to_summarise",
        "session.trim",
        "session.clear",
        "forget",
        "referents",
        "why",
        "episodes",
        "capture",
        "status",
        "users",
    }
)
"""Verbs that a guest may use, for the guest's own session. A verb that is neither here nor in ``GUESTS_IN_VAIN`` is
refused to a guest: so is a verb that nobody has classified yet."""


def bus_scope(asked: Request, fields: Any, person: Person, config: MemoryConfig) -> Scope:
    """The scope of a request on the bus; NotAllowed where it asks for more than its message carries."""
    if config.bus.changes == "closed" and changes_something(asked):
        raise NotAllowed("changes over the bus are switched off (bus.changes)")
    if asked.verb in OWNERS:
        raise NotAllowed(f"{asked.verb} is for the owner alone, not for the bus")
    if asked.verb in LASTING and person.user_id in config.identity.children:
        raise NeedsApproval()
    carried = _carried(asked, fields, person, config)
    return _guests(asked, fields, carried) if person.user_id == GUEST else _reach(asked, fields, carried, config)


def owner_scope(fields: Any) -> Scope:
    """The scope of a request at the owner's door; InvalidRequest where it is about a session and names none."""
    scope = _owners_scope(getattr(fields, "scope", None))
    if getattr(fields, "session", False) and scope.session_id is None:
        raise InvalidRequest("session", "needs a scope with a session_id")
    return scope


def changes_something(asked: Request) -> bool:
    """Whether the request writes, rather than only reads."""
    return requests.changes(asked.verb, asked.data)


def request_fingerprint(asked: Request, fields: Any) -> bytes | None:
    """The identity of a request that keeps a text, by which a repeated delivery is recognised; None where a different
    request may look the same."""
    if asked.verb not in requests.KEEPS or asked.request_id is None:
        return None
    told = msgspec.json.encode([asked.verb, asked.scope.session_id, asked.request_id, fields], order="deterministic")
    return hashlib.blake2b(told, digest_size=16).digest()


def _carried(asked: Request, given: Any, person: Person, config: MemoryConfig) -> Scope:
    """The scope of the message; without a persona it has the default one, unless the request is for the person."""
    scope = replace_fast(asked.scope, user_id=person.user_id, auth_level=person.auth_level)
    if scope.persona_id is None:
        scope = replace_fast(scope, persona_id=config.default_persona or NO_PERSONA, assumed_persona=True)
    fields: ScopeFields | None = getattr(given, "scope", None)
    if fields is None:
        return scope
    if fields.any_persona:
        scope = replace_fast(scope, persona_id=fields.persona_id, assumed_persona=False)
    for name in ("session_id", "site_id", "persona_id"):
        wanted = getattr(fields, name)
        if wanted is not None and wanted != getattr(scope, name):
            raise NotAllowed(f"scope.{name}: over the bus only what the message carries is reached")
    of_another = fields.user_id not in (None, person.user_id)
    if fields.everyone or (of_another and not _may_reach(asked.verb, given, fields.user_id, person, config.identity)):
        raise NotAllowed("scope.user_id: over the bus only the user of the message's session is reached")
    return replace(scope, task_id=fields.task_id, user_id=fields.user_id or scope.user_id)


def _may_reach(verb: str, given: Any, whose: str | None, person: Person, identity: IdentityConfig) -> bool:
    """Whether a user may reach another's records: an adult a child's waiting requests, a carer a user's questions."""
    if person.user_id == GUEST or verb not in topics.OF_OTHERS:
        return False
    if verb == "facts" and (given.status != "waiting" or given.at is not None):
        return False
    return whose in relatives(identity, topics.OF_OTHERS[verb], person.user_id)


def _reach(asked: Request, fields: Any, carried: Scope, config: MemoryConfig) -> Scope:
    """The records that a verb reaches: a search covers all of the person's records, history only the session's."""
    if asked.verb in AS_CARRIED:
        return carried
    named = getattr(fields, "scope", None)
    if getattr(fields, "all_sessions", False):
        return replace_fast(carried, session_id=None, site_id=named.site_id if named is not None else None)
    if asked.verb in OF_USER and not getattr(fields, "session", False):
        return replace_fast(carried, session_id=None, site_id=None)
    by_room = config.history.key == "site" or (named is not None and named.site_id is not None)
    return carried if by_room else replace_fast(carried, site_id=None)


def _guests(asked: Request, fields: Any, carried: Scope) -> Scope:
    """The scope of a guest: the guest's own session, and nothing that lasts longer."""
    if asked.verb not in GUESTS_OWN_SESSION and asked.verb not in GUESTS_IN_VAIN:
        raise NotAllowed(f"a guest keeps nothing and changes nothing that lasts ({asked.verb})")
    if asked.verb == "capture" and changes_something(asked) and not fields.session:
        raise NotAllowed("a guest switches memory for the own session alone (session: true)")
    if asked.verb in GUESTS_IN_VAIN:
        return replace(carried, blind=True)
    return carried if asked.verb in AS_CARRIED else replace(carried, site_id=None)


def _owners_scope(fields: ScopeFields | None) -> Scope:
    if fields is None:
        return Scope()
    return Scope(
        session_id=fields.session_id,
        user_id=None if fields.everyone else fields.user_id or HOUSEHOLD,
        persona_id=fields.persona_id,
        site_id=fields.site_id,
        task_id=fields.task_id,
    )
