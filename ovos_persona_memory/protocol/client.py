"""MemoryClient: the verbs of PersonaMemory, asked of the daemon."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ovos_persona_memory.conversation import MessageLike, Snapshot, turns_of
from ovos_persona_memory.errors import InvalidRequest, NoAnswer, PersonaMemoryError, from_wire
from ovos_persona_memory.protocol.transport import BusTransport, DoorTransport, Patience, Transport, wire_turn
from ovos_persona_memory.records import (
    Activity,
    Capture,
    Context,
    ContextMessage,
    ContextRequest,
    Decision,
    Document,
    Entry,
    Episode,
    EpisodeKind,
    Fact,
    Foreseen,
    ForgetConditions,
    Forgotten,
    Hit,
    HitKind,
    Introspection,
    LastingKind,
    ListedStatus,
    Moved,
    Note,
    Origin,
    Person,
    QuestionKind,
    Referents,
    Relatives,
    Role,
    Scope,
    Session,
    Share,
    Status,
    Story,
    Trouble,
    Turn,
    User,
    checked,
    refuse_unusable,
)

Embed = Callable[[builtins.list[str]], Any]
"""From texts to the rows of an array."""

T = TypeVar("T")


class MemoryClient:
    """The verbs of PersonaMemory with the same names, shapes and errors; NoAnswer where nobody answers in time, of
    the kind Unanswered where what was asked may have been done all the same.

    Over the bus a call reaches the session of its scope, or of the message that is being handled,
    and the records of that session's user. Thread-safe. ``timeout_s``, ``busy_s``, ``bus_s``: see Patience.
    ``of_person``: it speaks for the person rather than for a persona, and over the bus, too, reaches what
    belongs to whichever persona.
    """

    def __init__(
        self,
        transport: Transport,
        timeout_s: float = 5.0,
        busy_s: float = 0.0,
        bus_s: float = 0.0,
        of_person: bool = False,
    ) -> None:
        self._transport = transport
        self._of_person = of_person
        self._patience = Patience(timeout_s, busy_s, bus_s)
        self.degraded = False
        """Whether the last answer held only what the daemon's device knows, since its store is away."""
        self.was_degraded = False
        """Whether any answer did."""

    @classmethod
    def over_bus(cls, timeout_s: float = 5.0, connect_s: float = 10.0, **address: Any) -> MemoryClient:
        """A client with a bus connection of its own; NoAnswer when the bus is not reached in ``connect_s``."""
        transport = BusTransport(**address)
        transport.bus.start()
        if not transport.wait_connected(connect_s):
            transport.close()
            raise NoAnswer("the messagebus is away")
        return cls(transport, timeout_s)

    @classmethod
    def over_door(cls, folder: Path, timeout_s: float = 30.0) -> MemoryClient:
        """A client at the owner's door of this data folder; NoAnswer where no daemon runs."""
        return cls(DoorTransport(folder), timeout_s)

    def __enter__(self) -> MemoryClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the connection."""
        self._transport.close()

    def ask(self, verb: str, scope: Scope, **data: Any) -> dict[str, Any]:
        """The data of one verb's answer; fields that are None are left out. The error that it names is raised."""
        return self._ask(verb, {name: value for name, value in data.items() if value is not None}, scope)

    def _ask(self, verb: str, data: dict[str, Any], scope: Scope) -> dict[str, Any]:
        reached = replace(scope, any_persona=True) if self._of_person else scope
        answer = self._transport.ask(verb, data, reached, self._patience)
        if answer.get("ok") is not True:
            raise from_wire(str(answer.get("error")), str(answer.get("reason")))
        self.degraded = answer.get("degraded") is True
        self.was_degraded = self.was_degraded or self.degraded
        return answer

    @checked
    def record(
        self,  # more than five: these are the protocol's fields
        turns: Sequence[Turn],
        scope: Scope = Scope(),
        as_passed: bool = False,
        delivery_id: str | None = None,
        learn: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """See PersonaMemory.record."""
        told = {"turns": [wire_turn(t) for t in turns], "as_passed": as_passed, "delivery_id": delivery_id}
        extra = {"learn": learn, "metadata": None if metadata is None else dict(metadata)}
        answer = self.ask("record", scope, **told, **extra)
        return _as(list[str], answer["ids"])

    @checked
    def recall(
        self,  # more than five: these are the protocol's fields
        question: str,
        scope: Scope = Scope(),
        k: int = 5,
        kinds: Collection[HitKind] | None = None,
        at: float | None = None,
        lang: str | None = None,
        timezone: str | None = None,
        secrets: bool = False,
        withheld: bool = False,
        status: Status | None = None,
        about: bool = False,
        asker: str | None = None,
        by_words: bool = False,
        since: float | None = None,
        until: float | None = None,
    ) -> list[Hit]:
        """See PersonaMemory.recall. Over the bus the whole memory of the session's user is searched; who asks is told
        by the utterance."""
        chosen = sorted(kinds) if kinds is not None else None
        wanted = {"question": question, "k": k, "kinds": chosen, "at": at, "lang": lang, "timezone": timezone}
        switches = {"secrets": secrets, "withheld": withheld, "about": about, "by_words": by_words}
        wanted |= {name: True for name, is_set in switches.items() if is_set}
        wanted |= {name: at for name, at in (("since", since), ("until", until)) if at is not None}
        wanted |= {"status": status} | ({} if asker is None else {"asker": asker})
        return _as(list[Hit], self._ask("recall", wanted, scope)["hits"])

    @checked
    def asks(self, text: str, lang: str | None = None) -> bool:
        """See PersonaMemory.asks."""
        answer = self._ask("recall", {"question": text, "k": 0, "lang": lang}, Scope())
        return bool(answer.get("asks"))

    @checked
    def surely_asks(self, text: str, lang: str | None = None) -> bool:
        """See PersonaMemory.surely_asks."""
        return bool(self._ask("recall", {"question": text, "k": 0, "lang": lang}, Scope()).get("surely_asks"))

    @checked
    def may_ask(self, text: str, lang: str | None = None) -> bool:
        """See PersonaMemory.may_ask."""
        return bool(self._ask("recall", {"question": text, "k": 0, "lang": lang}, Scope()).get("may_ask"))

    @checked
    def question_kind(self, text: str, lang: str | None = None) -> QuestionKind:
        """See PersonaMemory.question_kind."""
        found = self._ask("recall", {"question": text, "k": 0, "lang": lang}, Scope())
        about, was_said = found.get("asks_about") or "", bool(found.get("asks_what_was_said"))
        surely, wants_all = bool(found.get("surely_to_forget")), bool(found.get("wants_all"))
        return QuestionKind(about, was_said, found.get("to_forget"), found.get("reply"), surely, wants_all)

    @checked
    def context(self, request: ContextRequest) -> Context:
        """See PersonaMemory.context. A ``recall`` of None leaves it to the daemon's settings."""
        names = set(ContextRequest.__dataclass_fields__) - {"scope", "utterance_id"}
        return _as(Context, self._ask("context", {name: getattr(request, name) for name in names}, request.scope))

    @checked
    def history(
        self,  # more than five: these are the protocol's fields
        scope: Scope,
        max_history: int | None = 5,
        max_rounds: int | None = None,
        max_tokens: int | None = None,
        hanging: bool = False,
        roles: Collection[Role] | None = None,
    ) -> list[ContextMessage]:
        """See PersonaMemory.history."""
        window = {"max_history": max_history, "max_rounds": max_rounds, "max_tokens": max_tokens, "hanging": hanging}
        chosen = {"roles": None if roles is None else sorted(roles)}
        # over the bus every message has a session
        every = {"all_sessions": scope.session_id is None and scope.site_id is None}
        return _as(list[ContextMessage], self._ask("history", {**window, **chosen, **every}, scope)["messages"])

    @checked
    def turn(self, id: str, scope: Scope = Scope()) -> Turn | None:
        """See PersonaMemory.turn. Over the bus a session in the scope limits nothing."""
        found = self.ask("turn", scope, id=id)["turn"]
        return None if found is None else _as(Turn, found)

    @checked
    def turns(
        self,
        scope: Scope = Scope(),
        since: float | None = None,
        until: float | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> builtins.list[Turn]:
        """See PersonaMemory.turns. For the owner's door alone."""
        answer = self.ask("turns", scope, since=since, until=until, limit=limit, offset=offset)
        return _as(builtins.list[Turn], answer["turns"])

    @checked
    def activity(self, scope: Scope = Scope(), since: float | None = None) -> builtins.list[Activity]:
        """See PersonaMemory.activity. For the owner's door alone."""
        return _as(builtins.list[Activity], self.ask("activity", scope, since=since)["days"])

    @checked
    def sessions(self, scope: Scope = Scope(), limit: int = 100) -> list[Session]:
        """See PersonaMemory.sessions."""
        return _as(list[Session], self.ask("sessions", scope, limit=limit)["sessions"])

    @checked
    def update_session(self, scope: Scope, summary: str | None = None, description: str | None = None) -> Note:
        """See PersonaMemory.update_session."""
        return _as(Note, self.ask("session.update", scope, summary=summary, description=description)["note"])

    @checked
    def snapshot(self, scope: Scope, max_history: int | None = 1000) -> Snapshot:
        """See PersonaMemory.snapshot. Never more than 1000 messages."""
        answer = self.ask("session.snapshot", scope, max_history=max_history)
        return {"messages": _as(list[ContextMessage], answer["messages"]), "summary": answer["summary"]}

    @checked
    def restore(self, taken: Mapping[str, Any] | Sequence[MessageLike], scope: Scope) -> list[str]:
        """See PersonaMemory.restore. At most 1000 messages."""
        turns, summary = turns_of(taken)
        messages = [wire_turn(turn) for turn in turns]
        return _as(list[str], self.ask("session.restore", scope, messages=messages, summary=summary or None)["ids"])

    @checked
    def to_summarise(self, scope: Scope, keep_recent: int = 6) -> list[ContextMessage]:
        """See PersonaMemory.to_summarise."""
        answer = self.ask("session.to_summarise", scope, keep_recent=keep_recent)
        return _as(list[ContextMessage], answer["messages"])

    @checked
    def trim(self, scope: Scope, keep_recent: int = 6) -> int:
        """See PersonaMemory.trim."""
        return int(self.ask("session.trim", scope, keep_recent=keep_recent)["trimmed"])

    @checked
    def trim_to_fit(self, scope: Scope, max_tokens: int) -> int:
        """See PersonaMemory.trim_to_fit."""
        return int(self.ask("session.trim", scope, max_tokens=max_tokens)["trimmed"])

    @checked
    def clear_session(self, scope: Scope) -> int:
        """See PersonaMemory.clear_session."""
        return int(self.ask("session.clear", scope)["forgotten"])

    @checked
    def remember(
        self,  # more than five: these are the protocol's fields
        text: str,
        scope: Scope = Scope(),
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        lang: str | None = None,
        secret: bool = False,
        status: Status | None = None,
    ) -> Entry:
        """See PersonaMemory.remember."""
        data = dict(metadata) if metadata is not None else None
        told = {"text": text, "key": key, "metadata": data, "lang": lang, "secret": secret or None, "status": status}
        return _as(Entry, self.ask("remember", scope, **told)["memory"])

    @checked
    def get(self, key: str, scope: Scope = Scope(), secrets: bool = False) -> Entry | None:
        """See PersonaMemory.get."""
        found = self.ask("get", scope, key=key, secrets=secrets or None).get("memory")
        return None if found is None else _as(Entry, found)

    @checked
    def list(  # more than five: these are the protocol's fields
        self,
        scope: Scope = Scope(),
        limit: int = 20,
        offset: int = 0,
        kinds: Collection[LastingKind] = frozenset({"memory"}),
        secrets: bool = False,
        status: Status | None = None,
    ) -> list[Entry]:
        """See PersonaMemory.list."""
        wanted = {"limit": limit, "offset": offset, "kinds": sorted(kinds), "secrets": secrets or None}
        return _as(list[Entry], self.ask("list", scope, **wanted, status=status)["memories"])

    @checked
    def update(  # more than five: these are the protocol's fields
        self,
        key: str,
        scope: Scope = Scope(),
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        status: Status | None = None,
    ) -> Entry:
        """See PersonaMemory.update."""
        data = dict(metadata) if metadata is not None else None
        return _as(Entry, self.ask("update", scope, key=key, text=text, metadata=data, status=status)["memory"])

    @checked
    def documents(
        self, scope: Scope = Scope(), namespace: str = "default", lang: str | None = None, embed: Embed | None = None
    ) -> DocumentsClient:
        """See PersonaMemory.documents. ``embed`` runs here, not at the daemon."""
        return DocumentsClient(self, scope, namespace, lang, embed)

    def forget(self, scope: Scope = Scope(), **wanted: Any) -> int:
        """See PersonaMemory.forget."""
        return self.forget_by_kind(scope, **wanted).total

    @checked
    def forget_by_kind(self, scope: Scope = Scope(), preview: bool = False, **wanted: Any) -> Forgotten:
        """See PersonaMemory.forget_by_kind."""
        return _as(Forgotten, self._forget(scope, preview, wanted)["kinds"])

    @checked
    def would_forget(self, scope: Scope = Scope(), **wanted: Any) -> Foreseen:
        """See PersonaMemory.would_forget."""
        answer = self._forget(scope, True, wanted)
        return _as(Foreseen, {name: answer[name] for name in ("kinds", "told", "ids")})

    def _forget(self, scope: Scope, preview: bool, wanted: dict[str, Any]) -> dict[str, Any]:
        asked = ForgetConditions(**wanted)
        refuse_unusable(asked)
        # over the bus a key is the user's, wherever it was kept; anything else keeps to the session of its scope
        session = scope.session_id is not None and asked.key is None
        return self.ask("forget", scope, session=session, preview=preview or None, **wanted)

    @checked
    def correct(self, id: str, text: str, scope: Scope = Scope(), lang: str | None = None) -> Entry:
        """See PersonaMemory.correct."""
        return _as(Entry, self.ask("correct", scope, id=id, text=text, lang=lang)["memory"])

    @checked
    def referents(self, scope: Scope, said: str | None = None) -> Referents:
        """See PersonaMemory.referents."""
        answer = self.ask("referents", scope, said=said)
        return _as(Referents, {name: answer[name] for name in Referents.__dataclass_fields__})

    @checked
    def why(self, scope: Scope = Scope(), id: str | None = None, key: str | None = None) -> Origin | None:
        """See PersonaMemory.why."""
        found = self.ask("why", scope, id=id, key=key)["origin"]
        return None if found is None else _as(Origin, found)

    @checked
    def episodes(
        self,  # more than five: these are the protocol's conditions
        scope: Scope = Scope(),
        kinds: Collection[EpisodeKind] | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 20,
        words: bool = False,
    ) -> builtins.list[Episode]:
        """See PersonaMemory.episodes. Over the bus a session in the scope limits nothing."""
        asked = {"kinds": None if kinds is None else sorted(kinds), "since": since, "until": until, "limit": limit}
        asked["words"] = words or None
        return _as(builtins.list[Episode], self.ask("episodes", scope, **asked)["episodes"])

    @checked
    def capture(
        self,  # more than five: these are the protocol's fields
        scope: Scope = Scope(),
        write: bool | None = None,
        read: bool | None = None,
        until: float | None = None,
        session: bool = False,
        site: bool = False,
        person: bool = False,
    ) -> Capture:
        """See PersonaMemory.capture."""
        about = {"session": session, "site": site, "person": person}
        return _as(Capture, self.ask("capture", scope, write=write, read=read, until=until, **about)["capture"])

    @checked
    def introspect(self, scope: Scope = Scope(), undo: str | None = None, look: bool = True) -> Sequence[Introspection]:
        """See PersonaMemory.introspect. For the owner's door alone."""
        return _as(builtins.list[Introspection], self.ask("introspect", scope, undo=undo, look=look)["introspections"])

    @property
    def facts(self) -> FactsClient:
        """See PersonaMemory.facts."""
        return FactsClient(self)

    @property
    def users(self) -> UsersClient:
        """See PersonaMemory.users."""
        return UsersClient(self)

    def status(self) -> Mapping[str, Any]:
        """See PersonaMemory.status."""
        return self.ask("status", Scope())


class FactsClient:
    """The verbs of Facts, asked of the daemon."""

    def __init__(self, client: MemoryClient) -> None:
        self._client = client

    @checked
    def history(self, fact_id: str, scope: Scope = Scope()) -> Story:
        """See Facts.history."""
        answer = self._client.ask("facts.history", scope, id=fact_id)
        return _as(Story, {name: answer[name] for name in ("facts", "changes")})

    @checked
    def add(
        self,  # more than five: these are the protocol's fields
        text: str,
        scope: Scope = Scope(),
        confidence: Share | None = None,
        topics: Collection[str] = (),
        lang: str | None = None,
    ) -> Fact:
        """See Facts.add."""
        told = {"text": text, "confidence": confidence, "topics": [*topics] or None, "lang": lang}
        return _as(Fact, self._client.ask("facts.add", scope, **told)["fact"])

    @checked
    def update(
        self,
        fact_id: str,
        scope: Scope = Scope(),
        confidence: Share | None = None,
        topics: Collection[str] | None = None,
    ) -> Fact:
        """See Facts.update."""
        told = {"confidence": confidence, "topics": None if topics is None else [*topics]}
        return _as(Fact, self._client.ask("facts.update", scope, id=fact_id, **told)["fact"])

    @checked
    def review(self, fact_id: str, accept: bool, scope: Scope = Scope()) -> Fact | None:
        """See Facts.review."""
        found = self._client.ask("facts.review", scope, id=fact_id, accept=accept)["fact"]
        return None if found is None else _as(Fact, found)

    @checked
    def decisions(self, scope: Scope = Scope(), limit: int = 20) -> list[Decision]:
        """See Facts.decisions."""
        return _as(list[Decision], self._client.ask("facts.decisions", scope, limit=limit)["decisions"])

    @checked
    def audit(self, scope: Scope = Scope()) -> list[Trouble]:
        """See Facts.audit."""
        return _as(list[Trouble], self._client.ask("facts.audit", scope)["troubles"])

    @checked
    def list(  # more than five: these are the protocol's fields
        self,
        scope: Scope = Scope(),
        status: ListedStatus = "active",
        slot: str | None = None,
        at: float | None = None,
        limit: int = 20,
        offset: int = 0,
        topic: str | None = None,
    ) -> list[Fact]:
        """See Facts.list."""
        wanted = {"status": status, "slot": slot, "topic": topic, "at": at, "limit": limit, "offset": offset}
        answer = self._client.ask("facts", scope, **wanted)
        return _as(list[Fact], answer["facts"])


class UsersClient:
    """The verbs of Users, asked of the daemon."""

    def __init__(self, client: MemoryClient) -> None:
        self._client = client

    @checked
    def which(self, scope: Scope = Scope()) -> Person:
        """Whom a request in this scope is made for, and how surely that is known."""
        answer = self._client.ask("users", scope)
        return Person(str(answer["user_id"]), int(answer["auth_level"] or 0), answer.get("name"))

    @checked
    def relatives(self, scope: Scope = Scope()) -> Relatives:
        """For whom the asker approves, and after whom the asker looks; as ``identity.children`` and ``.carers`` say."""
        answer = self._client.ask("users", scope)
        return Relatives(tuple(answer["approves_for"]), tuple(answer["cares_for"]))

    @checked
    def list(self, counted: bool = True) -> list[User]:
        """See Users.list. For the owner's door alone."""
        return _as(list[User], self._client.ask("users.list", Scope(), counted=counted)["users"])

    @checked
    def merge(self, user_id: str, into: str) -> Moved:
        """See Users.merge. For the owner's door alone."""
        return _as(Moved, self._client.ask("users.merge", Scope(), user_id=user_id, into=into)["moved"])


class DocumentsClient:
    """The verbs of Documents, asked of the daemon."""

    def __init__(
        self, client: MemoryClient, scope: Scope, namespace: str, lang: str | None, embed: Embed | None
    ) -> None:
        self._client = client
        self._scope = scope
        self._shelf = {"namespace": namespace, "lang": lang}
        self._embed = embed

    @checked
    def upsert(
        self,
        text: str,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        embedding: Sequence[float] | None = None,
    ) -> Document:
        """See Documents.upsert."""
        data = dict(metadata) if metadata is not None else None
        answer = self._ask("upsert", text=text, id=id, metadata=data, embedding=self._embedding(embedding, text))
        return _as(Document, answer["document"])

    @checked
    def search(
        self,
        query: str,
        k: int = 5,
        filter: Mapping[str, Any] | None = None,
        embedding: Sequence[float] | None = None,
    ) -> builtins.list[Document]:
        """See Documents.search."""
        wanted = dict(filter) if filter is not None else None
        answer = self._ask("search", query=query, k=k, filter=wanted, embedding=self._embedding(embedding, query))
        return _as(builtins.list[Document], answer["documents"])

    @checked
    def get(self, id: str) -> Document | None:
        """See Documents.get."""
        found = self._ask("get", id=id).get("document")
        return None if found is None else _as(Document, found)

    @checked
    def list(self, limit: int = 20, offset: int = 0) -> builtins.list[Document]:
        """See Documents.list."""
        return _as(builtins.list[Document], self._ask("list", limit=limit, offset=offset)["documents"])

    @checked
    def delete(self, ids: Sequence[str]) -> int:
        """See Documents.delete."""
        return int(self._ask("delete", ids=list(ids))["forgotten"])

    def clear(self) -> int:
        """See Documents.clear."""
        return int(self._ask("clear")["forgotten"])

    def _ask(self, verb: str, **data: Any) -> dict[str, Any]:
        return self._client.ask(f"document.{verb}", self._scope, **self._shelf, **data)

    def _embedding(self, given: Sequence[float] | None, text: str) -> builtins.list[float] | None:
        if given is None and self._embed and text.strip():
            given = [float(number) for number in self._embed([text])[0]]
        try:
            return None if given is None else [float(one) for one in _no_text(given)]
        except (TypeError, ValueError) as error:
            raise InvalidRequest("embedding", "must be a list of numbers") from error


def _no_text(numbers: Sequence[float]) -> Sequence[float]:
    if isinstance(numbers, (str, bytes)):
        raise TypeError("a text is no list")
    return numbers


def _as(shape: type[T], value: Any) -> T:
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise PersonaMemoryError(f"the daemon's answer cannot be read: {error}") from error
