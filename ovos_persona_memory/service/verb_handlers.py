"""Verb handlers: from a request to its answer, one small function for each verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ovos_persona_memory.config import MemoryConfig
from ovos_persona_memory.errors import NotAllowed
from ovos_persona_memory.memory import Documents, PersonaMemory, named_time, relatives
from ovos_persona_memory.protocol import TurnFields, now, requests
from ovos_persona_memory.records import ContextRequest, Fact, Request, Scope, ToolCall, Turn, replace_fast, text_of
from ovos_persona_memory.service import authorization

Answer = dict[str, Any]


def answer(memory: PersonaMemory, config: MemoryConfig, asked: Request, owner: bool) -> Answer:
    """The result of a verb, ready for the wire. Every refusal and failure is a PersonaMemoryError.

    ``owner``: the request came through the owner's door and may reach everything.
    """
    fields = requests.read_request(asked)
    if owner:
        return _VERBS[asked.verb](memory, asked, fields, authorization.owner_scope(fields), config)
    person = memory.transcript.people.of_request(asked)
    scope = authorization.bus_scope(asked, fields, person, config)
    # the search covers more than the session and room in which reading is paused
    here = replace_fast(asked.scope, user_id=person.user_id, blind=scope.blind)
    scope = replace_fast(scope, blind=not memory.captures.may_read(here))
    comes_again = authorization.request_fingerprint(asked, fields)
    if comes_again is not None and memory.transcript.ledger.is_answered(comes_again):
        raise NotAllowed("this very request was carried out before something was forgotten: give it a new request_id")
    answered = _VERBS[asked.verb](memory, asked, fields, scope, config)
    if comes_again is not None:
        memory.transcript.ledger.note_answered(comes_again)
    return answered


def _record(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    turns = [_turn(turn, asked.lang) for turn in fields.turns]
    delivery_id = fields.delivery_id or asked.id or None
    ids = memory.record(
        turns,
        scope,
        fields.as_passed,
        delivery_id,
        asked.utterance_id,
        learn=fields.learn,
        metadata=fields.metadata,
    )
    return {"ids": ids, "learned": memory.transcript.learned if ids else []}


def _turn(given: TurnFields, lang: str | None) -> Turn:
    return Turn(
        role=given.role,
        text=text_of(given.text),
        at=given.at,
        speaker=given.speaker,
        lang=given.lang or lang,
        tool_calls=tuple(ToolCall(call.id, call.name, call.arguments) for call in given.tool_calls),
        tool_call_id=given.tool_call_id,
        name=given.name,
        is_error=given.is_error,
    )


def _context(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, config: MemoryConfig) -> Answer:
    request = ContextRequest(
        utterance=fields.utterance,
        scope=scope,
        max_history=fields.max_history,
        max_rounds=fields.max_rounds,
        max_tokens=fields.max_tokens,
        max_age_s=config.history.max_age_s if fields.max_age_s is None else fields.max_age_s,
        strategy=fields.strategy,
        summary_threshold=fields.summary_threshold,
        context_tokens=fields.context_tokens,
        system_prompt=fields.system_prompt,
        recall=fields.recall,
        recall_tokens=fields.recall_tokens,
        session=fields.session,
        inject=fields.inject,
        lang=fields.lang or asked.lang,
        utterance_id=asked.utterance_id,
        at=fields.at,
        timezone=fields.timezone or asked.timezone,
        preview=fields.preview,
        asker=_asker(memory, asked, fields),
    )
    known = memory.context(request)
    return {"messages": _wire(known.messages), "hits": _wire(known.hits), "tokens": known.tokens}


def _asker(memory: PersonaMemory, asked: Request, fields: Any) -> str | None:
    """The name of who asks, as a hint: that of the utterance that the request is about."""
    return fields.asker or memory.transcript.people.of_request(asked).name


def _history(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    found = memory.history(
        scope,
        fields.max_history,
        fields.max_rounds,
        fields.max_tokens,
        hanging=fields.hanging,
        roles=fields.roles,
        utterance_id=asked.utterance_id,
    )
    return {"messages": _wire(found)}


def _one_turn(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"turn": _wire(memory.turn(fields.id, scope))}


def _turns(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"turns": _wire(memory.turns(scope, fields.since, fields.until, fields.limit, fields.offset))}


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
    if fields.max_tokens is not None:
        return {"trimmed": memory.trim_to_fit(scope, fields.max_tokens)}
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
        timezone=fields.timezone or asked.timezone,
        asked_in=replace_fast(asked.scope, user_id=scope.user_id) if asked.utterance_id is not None else None,
        secrets=fields.secrets,
        withheld=fields.withheld,
        status=fields.status,
        about=fields.about,
        asker=_asker(memory, asked, fields),
        by_words=fields.by_words,
        since=fields.since,
        until=fields.until,
    )
    if fields.about or fields.by_words or fields.since is not None or fields.until is not None:
        return {"hits": _wire(hits)}
    given = (fields.question, fields.lang or asked.lang)
    asks = {
        "asks": memory.asks,
        "surely_asks": memory.surely_asks,
        "may_ask": memory.may_ask,
    }
    told = {name: whether(*given) for name, whether in asks.items()}
    kind = memory.question_kind(*given, scope, asked.utterance_id)
    told |= {"asks_what_was_said": kind.asks_what_was_said, "wants_all": kind.wants_all}
    told["surely_to_forget"] = kind.surely_to_forget
    of_kind = {"asks_about": kind.asks_about or None, "to_forget": kind.to_forget, "reply": kind.reply}
    return {"hits": _wire(hits), **told, **of_kind}


def _remember(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    lang = fields.lang or asked.lang
    key = fields.key or asked.id[:12] or None
    about = (asked.utterance_id, fields.secret, fields.status)
    kept = memory.remember(fields.text, scope, key, fields.metadata, lang, *about)
    return {"memory": _wire(kept)}


def _get(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"memory": _wire(memory.get(fields.key, scope, fields.secrets))}


def _list(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    kinds = set(fields.kinds or ("memory",))
    return {"memories": _wire(memory.list(scope, fields.limit, fields.offset, kinds, fields.secrets, fields.status))}


def _update(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"memory": _wire(memory.update(fields.key, scope, fields.text, fields.metadata, fields.status))}


def _correct(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    corrected = memory.correct(fields.id, fields.text, scope, fields.lang or asked.lang, asked.utterance_id)
    return {"memory": _wire(corrected)}


def _referents(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return dict(_wire(memory.referents(scope, asked.utterance_id, fields.said)))


def _forget(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    names = ("key", "ids", "query", "topic", "since", "until", "source", "everything")
    wanted = {name: getattr(fields, name) for name in names} | {"lang": fields.lang or asked.lang}
    wanted |= {"asked_in": _asked_in(asked, scope), "utterance_id": asked.utterance_id}
    if fields.preview:
        foreseen = memory.would_forget(scope, **wanted)
        told = {"told": _wire(foreseen.told), "ids": foreseen.ids}
        return {"forgotten": foreseen.kinds.total, "kinds": _wire(foreseen.kinds), "preview": True, **told}
    forgotten = memory.forget_by_kind(scope, **wanted)
    return {"forgotten": forgotten.total, "kinds": _wire(forgotten), "preview": False, "told": [], "ids": []}


def _asked_in(asked: Request, scope: Scope) -> Scope | None:
    """The session of a request that may have been spoken; None at the owner's door."""
    return Scope(session_id=asked.scope.session_id, user_id=scope.user_id) if asked.context else None


def _why(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"origin": _wire(memory.why(scope, fields.id, fields.key))}


def _episodes(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    since, until = fields.since, fields.until
    if fields.question is not None:
        at = now() if fields.at is None else fields.at
        since, until = named_time(fields.question, fields.lang or asked.lang, asked.timezone, at)
    found = memory.episodes(scope, fields.kinds, since, until, fields.limit, fields.words)
    return {"episodes": _wire(found), "since": since, "until": until}


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


def _list_documents(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"documents": _wire(_documents(memory, asked, fields, scope).list(fields.limit, fields.offset))}


def _delete(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"forgotten": _documents(memory, asked, fields, scope).delete(fields.ids)}


def _clear_documents(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    return {"forgotten": _documents(memory, asked, fields, scope).clear()}


def _capture(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    about = (fields.session, fields.site, fields.person)
    setting = memory.capture(scope, fields.write, fields.read, fields.until, *about)
    return {"capture": _wire(setting)}


def _user(memory: PersonaMemory, asked: Request, _f: Any, scope: Scope, config: MemoryConfig) -> Answer:
    relations = {name: relatives(config.identity, name, scope.user_id) for name in ("children", "carers")}
    told = {"user_id": scope.user_id, "auth_level": scope.auth_level, "trust": config.identity.trust}
    told["name"] = memory.transcript.people.of_request(asked).name
    return told | {"approves_for": relations["children"], "cares_for": relations["carers"]}


def _facts(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    found = memory.facts.list(scope, fields.status, fields.slot, fields.at, fields.limit, fields.offset, fields.topic)
    return {"facts": _wire(found)}


def _fact_history(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return dict(_wire(memory.facts.history(fields.id, scope)))


def _fact_add(memory: PersonaMemory, asked: Request, fields: Any, scope: Scope, _: MemoryConfig) -> Answer:
    kept = memory.facts.add(fields.text, scope, fields.confidence, fields.topics, fields.lang or asked.lang)
    return {"fact": _wire(kept), "learned": _learned(kept)}


def _fact_update(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"fact": _wire(memory.facts.update(fields.id, scope, fields.confidence, fields.topics))}


def _fact_review(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    kept = memory.facts.review(fields.id, fields.accept, scope)
    return {"fact": _wire(kept), "learned": _learned(kept)}


def _learned(kept: Fact | None) -> list[str]:
    return [] if kept is None or kept.status == "waiting" else [kept.id]


def _decisions(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"decisions": _wire(memory.facts.decisions(scope, fields.limit))}


def _audit(memory: PersonaMemory, _a: Request, _f: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"troubles": _wire(memory.facts.audit(scope))}


def _activity(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"days": _wire(memory.activity(scope, fields.since))}


def _users(memory: PersonaMemory, _a: Request, fields: Any, _s: Scope, _c: MemoryConfig) -> Answer:
    return {"users": _wire(memory.users.list(fields.counted))}


def _merge(memory: PersonaMemory, _a: Request, fields: Any, _s: Scope, _c: MemoryConfig) -> Answer:
    return {"moved": _wire(memory.users.merge(fields.user_id, fields.into))}


def _introspect(memory: PersonaMemory, _a: Request, fields: Any, scope: Scope, _c: MemoryConfig) -> Answer:
    return {"introspections": _wire(memory.introspect(scope, fields.undo, fields.look))}


def _status(memory: PersonaMemory, _a: Request, _f: Any, _s: Scope, _c: MemoryConfig) -> Answer:
    return dict(memory.status())


_VERBS: dict[str, Callable[[PersonaMemory, Request, Any, Scope, MemoryConfig], Answer]] = {
    "context": _context,
    "record": _record,
    "history": _history,
    "turn": _one_turn,
    "turns": _turns,
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
    "correct": _correct,
    "referents": _referents,
    "forget": _forget,
    "why": _why,
    "episodes": _episodes,
    "activity": _activity,
    "document.upsert": _upsert,
    "document.search": _search,
    "document.get": _document,
    "document.list": _list_documents,
    "document.delete": _delete,
    "document.clear": _clear_documents,
    "capture": _capture,
    "facts": _facts,
    "facts.history": _fact_history,
    "facts.add": _fact_add,
    "facts.update": _fact_update,
    "facts.review": _fact_review,
    "facts.decisions": _decisions,
    "facts.audit": _audit,
    "users": _user,
    "users.list": _users,
    "users.merge": _merge,
    "introspect": _introspect,
    "status": _status,
}


def _wire(value: Any) -> Any:
    return msgspec.to_builtins(value)
