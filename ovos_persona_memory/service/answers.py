"""From a request to its answer: one small function a verb."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec

from ovos_persona_memory import requests
from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.documents import Documents
from ovos_persona_memory.errors import InvalidRequest, NotAllowed
from ovos_persona_memory.memory import PersonaMemory
from ovos_persona_memory.messages import Request
from ovos_persona_memory.records import HOUSEHOLD, ContextRequest, Scope, ToolCall, Turn

Answer = dict[str, Any]


def answer(memory: PersonaMemory, config: MemoryConfig, asked: Request, owner: bool) -> Answer:
    """What the verb gives, ready for the wire. Every refusal and failure is a PersonaMemoryError.

    ``owner``: the request came through the owner's door and may reach everything.
    """
    fields = requests.read(asked)
    if owner:
        scope = _owners_scope(getattr(fields, "scope", None))
        if getattr(fields, "session", False) and scope.session_id is None:
            raise InvalidRequest("session", "needs a scope with a session_id")
    else:
        if config.bus.changes == "closed" and changes_something(asked):
            raise NotAllowed("changes over the bus are switched off (bus.changes)")
        scope = _reach(asked, fields, _carried(asked, getattr(fields, "scope", None)), config)
        if asked.verb in _NOTHING and not memory.transcript.may_read(asked.scope.session_id):
            return dict(_NOTHING[asked.verb])  # the search covers more than the session in which reading is off
    return _VERBS[asked.verb](memory, asked, fields, scope, config)


def changes_something(asked: Request) -> bool:
    """Whether the request is to write, or only to read."""
    if asked.verb == "capture":
        return any(asked.data.get(name) is not None for name in ("write", "read"))
    return asked.verb in requests.CHANGES


def _carried(asked: Request, fields: requests.ScopeFields | None) -> Scope:
    """What a message on the bus carries; NotAllowed where its request asks for more."""
    if fields is None:
        return asked.scope
    for name in ("session_id", "site_id", "persona_id"):
        wanted = getattr(fields, name)
        if wanted is not None and wanted != getattr(asked.scope, name):
            raise NotAllowed(f"scope.{name}: over the bus only what the message carries is reached")
    if fields.everyone or fields.user_id not in (None, asked.scope.user_id):
        raise NotAllowed("scope.user_id: over the bus only the user of the message's session is reached")
    return replace(asked.scope, task_id=fields.task_id)


def _reach(asked: Request, fields: Any, carried: Scope, config: MemoryConfig) -> Scope:
    """Over the bus a search covers all of the session's user, wherever it was said; history is of the session."""
    if asked.verb in ("record", "session.restore", "remember", "update", "capture"):
        return carried
    if asked.verb in _OF_USER and not getattr(fields, "session", False):
        return replace(carried, session_id=None, site_id=None)
    named = getattr(fields, "scope", None)
    by_room = config.history.key == "site" or (named is not None and named.site_id is not None)
    return carried if by_room else replace(carried, site_id=None)


_OF_USER = frozenset({"recall", "get", "list", "forget"})
_NOTHING: dict[str, Answer] = {"recall": {"hits": []}, "get": {"memory": None}, "list": {"memories": []}}


def _owners_scope(fields: requests.ScopeFields | None) -> Scope:
    if fields is None:
        return Scope()
    return Scope(
        session_id=fields.session_id,
        user_id=None if fields.everyone else fields.user_id or HOUSEHOLD,
        persona_id=fields.persona_id,
        site_id=fields.site_id,
        task_id=fields.task_id,
    )


def _record(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    turns = [_turn(turn, asked.lang) for turn in fields.turns]
    ids = memory.record(turns, scope, fields.as_passed, fields.delivery_id, asked.utterance_id)
    return {"ids": ids}


def _turn(given: requests.TurnFields, lang: str | None) -> Turn:
    return Turn(
        role=given.role,
        text=given.text,
        at=given.at,
        speaker=given.speaker,
        lang=given.lang or lang,
        tool_calls=tuple(ToolCall(call.id, call.name, call.arguments) for call in given.tool_calls),
        tool_call_id=given.tool_call_id,
        name=given.name,
    )


def _context(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, config: MemoryConfig) -> Answer:
    request = ContextRequest(
        utterance=fields.utterance,
        scope=scope,
        max_history=fields.max_history,
        max_rounds=fields.max_rounds,
        max_tokens=fields.max_tokens,
        max_age_s=config.history.max_age_s if fields.max_age_s is None else fields.max_age_s,
        system_prompt=fields.system_prompt,
        recall=fields.recall,
        recall_tokens=fields.recall_tokens,
        inject=fields.inject,
        lang=fields.lang or asked.lang,
        utterance_id=asked.utterance_id,
        at=fields.at,
    )
    known = memory.context(request)
    return {"messages": _wire(known.messages), "hits": _wire(known.hits), "tokens": known.tokens}


def _history(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    found = memory.history(scope, fields.max_history, fields.max_rounds, fields.max_tokens, fields.hanging)
    return {"messages": _wire(found)}


def _sessions(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"sessions": _wire(memory.sessions(scope, fields.limit))}


def _session_update(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"note": _wire(memory.update_session(scope, fields.summary, fields.description))}


def _snapshot(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return dict(_wire(memory.snapshot(scope, fields.max_history)))


def _restore(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    turns = [_turn(turn, asked.lang) for turn in fields.messages]
    return {"ids": memory.restore({"messages": turns, "summary": fields.summary}, scope)}


def _to_summarise(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"messages": _wire(memory.to_summarise(scope, fields.keep_recent))}


def _trim(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"trimmed": memory.trim(scope, fields.keep_recent)}


def _clear(memory: PersonaMemory, _a: Request, _f: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"forgotten": memory.clear_session(scope)}


def _recall(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    kinds = None if fields.kinds is None else frozenset(fields.kinds)
    hits = memory.recall(
        fields.question,
        scope,
        fields.k,
        kinds,
        at=fields.at,
        lang=fields.lang or asked.lang,
        utterance_id=asked.utterance_id,
    )
    return {"hits": _wire(hits)}


def _remember(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    kept = memory.remember(fields.text, scope, fields.key, fields.metadata, fields.lang or asked.lang)
    return {"memory": _wire(kept)}


def _get(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"memory": _wire(memory.get(fields.key, scope))}


def _list(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"memories": _wire(memory.list(scope, fields.limit, fields.offset))}


def _update(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"memory": _wire(memory.update(fields.key, scope, fields.text, fields.metadata))}


def _forget(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    forgotten = memory.forget(
        scope,
        key=fields.key,
        ids=fields.ids,
        query=fields.query,
        since=fields.since,
        until=fields.until,
        source=fields.source,
        everything=fields.everything,
        lang=fields.lang or asked.lang,
    )
    return {"forgotten": forgotten}


def _documents(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope) -> Documents:
    return memory.documents(scope, fields.namespace, getattr(fields, "lang", None) or asked.lang)


def _upsert(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    documents = _documents(memory, asked, fields, scope)
    return {"document": _wire(documents.upsert(fields.text, fields.id, fields.metadata, fields.embedding))}


def _search(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    documents = _documents(memory, asked, fields, scope)
    return {"documents": _wire(documents.search(fields.query, fields.k, fields.filter, fields.embedding))}


def _document(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"document": _wire(_documents(memory, asked, fields, scope).get(fields.id))}


def _delete(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"forgotten": _documents(memory, asked, fields, scope).delete(fields.ids)}


def _clear_documents(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"forgotten": _documents(memory, asked, fields, scope).clear()}


def _capture(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    setting = memory.capture(scope, fields.write, fields.read, fields.until, fields.session)
    return {"capture": _wire(setting)}


def _status(memory: PersonaMemory, _a: Request, _f: Any, _s: Scope, _c: MemoryConfig) -> Answer:
    return dict(memory.status())


_VERBS: dict[str, Callable[[PersonaMemory, Request, Any, Scope, MemoryConfig], Answer]] = {
    "context": _context,
    "record": _record,
    "history": _history,
    "sessions": _sessions,
    "session.update": _session_update,
    "session.snapshot": _snapshot,
    "session.restore": _restore,
    "session.to_summarise": _to_summarise,
    "session.trim": _trim,
    "session.clear": _clear,
    "recall": _recall,
    "remember": _remember,
    "get": _get,
    "list": _list,
    "update": _update,
    "forget": _forget,
    "document.upsert": _upsert,
    "document.search": _search,
    "document.get": _document,
    "document.delete": _delete,
    "document.clear": _clear_documents,
    "capture": _capture,
    "status": _status,
}


def _wire(value: Any) -> Any:
    return msgspec.to_builtins(value)
