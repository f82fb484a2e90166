"""What each verb takes, checked at the rim: one struct a verb, one field a line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from ovos_persona_memory.errors import InvalidRequest, UnknownVerb
from ovos_persona_memory.records import (
    LATEST,
    LONGEST_S,
    MAX_DEPTH,
    NO_MOMENT,
    UNCLEAN,
    EpisodeKind,
    Inject,
    ListedStatus,
    Request,
    Role,
    Status,
    StrategyName,
    Unfit,
    is_clean,
    text_of,
)

MAX_TEXT = 16384
MAX_TURNS = 1000
MAX_BLOCKS = 64
MAX_METADATA = 16384
MAX_DIM = 8192

Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
Few = Annotated[int, msgspec.Meta(ge=0, le=1000)]
Threshold = Annotated[int, msgspec.Meta(ge=1, le=1000)]
Embedding = Annotated[list[float], msgspec.Meta(max_length=MAX_DIM)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=LONGEST_S)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
TopicName = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
EpochSeconds = Annotated[float, msgspec.Meta(ge=0, le=LATEST)]
"""When something was said or is asked, seconds since the epoch, UTC."""


class ScopeFields(msgspec.Struct, kw_only=True):
    """Which records; over the bus only what the message itself carries is reached."""

    session_id: Name | None = None
    user_id: Name | None = None
    persona_id: Name | None = None
    site_id: Name | None = None
    task_id: Name | None = None
    any_persona: bool = False
    """For the person rather than for a persona: whichever persona it belongs to, or the one that is named."""
    everyone: bool = False


class ToolCallFields(msgspec.Struct, kw_only=True):
    """One tool invocation."""

    id: Name
    name: Name
    arguments: dict[str, Any] = {}


class TurnFields(msgspec.Struct, kw_only=True):
    """One turn to record."""

    role: Role
    text: Text | Annotated[list[dict[str, Any]], msgspec.Meta(max_length=MAX_BLOCKS)]
    at: EpochSeconds | None = None
    speaker: Name | None = None
    lang: Name | None = None
    tool_calls: Annotated[list[ToolCallFields], msgspec.Meta(max_length=64)] = []
    tool_call_id: Name | None = None
    name: Name | None = None
    is_error: bool = False
    """The tool failed."""

    def __post_init__(self) -> None:
        """Content blocks are read as the text that they are."""
        if isinstance(self.text, str):
            return
        try:
            self.text = text_of(self.text)
        except Unfit as unfit:
            raise unfit.inside("text") from None
        if len(self.text) > MAX_TEXT:
            raise Unfit(f"has {len(self.text)} characters, at most {MAX_TEXT} are kept", ".text")


class FactsAsked(msgspec.Struct, kw_only=True):
    """Ask for the facts."""

    status: ListedStatus = "active"
    slot: Name | None = None
    topic: TopicName | None = None
    """Only those that matter to this."""
    at: EpochSeconds | None = None
    limit: Few = 20
    offset: Count = 0
    scope: ScopeFields | None = None


class HistoryOfFactAsked(msgspec.Struct, kw_only=True):
    """Ask how a fact came about."""

    id: Name
    scope: ScopeFields | None = None


class FactAddRequest(msgspec.Struct, kw_only=True):
    """Keep a fact."""

    text: Text
    confidence: Share | None = None
    """None: as sure as what somebody asks to remember."""
    topics: Annotated[list[TopicName], msgspec.Meta(max_length=16)] = []
    lang: Name | None = None
    scope: ScopeFields | None = None


class FactUpdateRequest(msgspec.Struct, kw_only=True):
    """Set how sure a fact is, or what it matters to."""

    id: Name
    confidence: Share | None = None
    topics: Annotated[list[TopicName], msgspec.Meta(max_length=16)] | None = None
    scope: ScopeFields | None = None


class FactReviewRequest(msgspec.Struct, kw_only=True):
    """Take in a fact that waits, or forget it."""

    id: Name
    accept: bool
    scope: ScopeFields | None = None


class DecisionsAsked(msgspec.Struct, kw_only=True):
    """Ask what was decided, and why."""

    limit: Few = 20
    scope: ScopeFields | None = None


class FactAuditAsked(msgspec.Struct, kw_only=True):
    """Ask what is wrong with facts and memories."""

    scope: ScopeFields | None = None


class EpisodesAsked(msgspec.Struct, kw_only=True):
    """Ask what happened."""

    kinds: Annotated[list[EpisodeKind], msgspec.Meta(max_length=8)] | None = None
    question: Text | None = None
    """Words that name a time: "yesterday", "today at three"."""
    since: Seconds | None = None
    until: Seconds | None = None
    session: bool = False
    """Only what happened in this session."""
    words: bool = False
    """With the words of each one's turn."""
    limit: Few = 20
    lang: Name | None = None
    at: EpochSeconds | None = None
    scope: ScopeFields | None = None


class WhyAsked(msgspec.Struct, kw_only=True):
    """Ask where a memory comes from."""

    id: Name | None = None
    key: Name | None = None
    scope: ScopeFields | None = None


class RecordRequest(msgspec.Struct, kw_only=True):
    """Add turns."""

    turns: Annotated[list[TurnFields], msgspec.Meta(max_length=MAX_TURNS)]
    as_passed: bool = False
    """Keep them as they were passed, as one update_history call."""
    delivery_id: Name | None = None
    """The same turns sent again under this name are recorded once."""
    metadata: dict[str, Any] | None = None
    """What the turn took: tokens, tools, latency_ms and more."""
    learn: bool = True
    """False: nothing is learned from them, nor from what was heard of them."""
    scope: ScopeFields | None = None


class ContextAsked(msgspec.Struct, kw_only=True):
    """Ask for a persona context."""

    utterance: Text
    max_history: Few | None = 5
    max_rounds: Few | None = None
    max_tokens: Count | None = None
    max_age_s: Seconds | None = None
    strategy: StrategyName | None = None
    summary_threshold: Threshold | None = None
    """With strategy summary: more messages than this, and the older ones are summarised."""
    context_tokens: Count | None = None
    """Tokens at most of the whole answer; None: as the settings say."""
    system_prompt: Text = ""
    recall: Few | None = None
    recall_tokens: Count | None = None
    session: bool = False
    """Recall only what was said in this session."""
    inject: Inject = "system"
    lang: Name | None = None
    at: EpochSeconds | None = None
    timezone: Name | None = None
    preview: bool = False
    """Nobody is handed it: it is looked at, and nothing in it counts as used."""
    asker: Name | None = None
    """The name of who asks, where several speak as one user; None: as the utterance says that is asked about."""
    scope: ScopeFields | None = None


class HistoryAsked(msgspec.Struct, kw_only=True):
    """Ask for a session's history."""

    max_history: Few | None = 5
    max_rounds: Few | None = None
    max_tokens: Count | None = None
    hanging: bool = False
    """Leave the ends as they are: a question without an answer last, an answer first."""
    roles: Annotated[list[Role], msgspec.Meta(max_length=8)] | None = None
    """Only messages of these."""
    all_sessions: bool = False
    """Of all sessions of the user, or of the task in the scope."""
    scope: ScopeFields | None = None


class TurnAsked(msgspec.Struct, kw_only=True):
    """Ask for one turn."""

    id: Name
    scope: ScopeFields | None = None


class TurnsAsked(msgspec.Struct, kw_only=True):
    """Ask for what was said, whoever said it."""

    since: EpochSeconds | None = None
    until: EpochSeconds | None = None
    limit: Few = 50
    offset: Count = 0
    scope: ScopeFields | None = None


class SessionsAsked(msgspec.Struct, kw_only=True):
    """Ask for the sessions."""

    limit: Few = 100
    scope: ScopeFields | None = None


class ActivityAsked(msgspec.Struct, kw_only=True):
    """Ask how much was said on each day."""

    since: Seconds | None = None
    scope: ScopeFields | None = None


class RecallAsked(msgspec.Struct, kw_only=True):
    """Search."""

    question: Text
    k: Few = 5
    kinds: Annotated[list[Literal["turn", "memory", "fact", "episode"]], msgspec.Meta(max_length=8)] | None = None
    session: bool = False
    """Only what was said in this session."""
    lang: Name | None = None
    at: EpochSeconds | None = None
    timezone: Name | None = None
    secrets: bool = False
    """Secrets that somebody asked to keep are found, too."""
    withheld: bool = False
    """They are found without their words: somebody may hear them who should not."""
    status: Status | None = None
    """Only memories of it; None: accepted ones, and what has no status."""
    about: bool = False
    """The question is a topic: everything that people stated about it, the newest first."""
    by_words: bool = False
    """The question is a list of words: it is neither searched by meaning nor judged."""
    since: EpochSeconds | None = None
    """What people stated then or later, and before ``until``, whatever the question."""
    until: EpochSeconds | None = None
    asker: Name | None = None
    """The name of who asks, where several speak as one user; None: as the utterance says that is asked about."""
    scope: ScopeFields | None = None


class RememberRequest(msgspec.Struct, kw_only=True):
    """Keep a lasting memory."""

    text: Text
    key: Name | None = None
    metadata: dict[str, Any] | None = None
    lang: Name | None = None
    secret: bool = False
    """Its person was asked and wants it kept, though it is a secret."""
    status: Status | None = None
    """None: accepted."""
    scope: ScopeFields | None = None


class GetAsked(msgspec.Struct, kw_only=True):
    """Ask for one memory."""

    key: Name
    secrets: bool = False
    """Also a secret that somebody asked to keep."""
    scope: ScopeFields | None = None


class ListAsked(msgspec.Struct, kw_only=True):
    """Ask for the memories."""

    limit: Few = 20
    offset: Count = 0
    kinds: Annotated[list[Literal["memory", "fact"]], msgspec.Meta(max_length=8)] | None = None
    """None: memories alone."""
    secrets: bool = False
    """Also secrets that somebody asked to keep."""
    status: Status | None = None
    """Only memories of it; None: of any."""
    scope: ScopeFields | None = None


class UpdateRequest(msgspec.Struct, kw_only=True):
    """Change a memory."""

    key: Name
    text: Text | None = None
    metadata: dict[str, Any] | None = None
    status: Status | None = None
    scope: ScopeFields | None = None


class CorrectRequest(msgspec.Struct, kw_only=True):
    """Put a text in the place of what was told."""

    id: Name
    text: Text
    lang: Name | None = None
    scope: ScopeFields | None = None


class ReferentsAsked(msgspec.Struct, kw_only=True):
    """Ask what "that" means now in the session."""

    said: Text | None = None
    """The words of the utterance that asks, where it has no id."""
    scope: ScopeFields | None = None


class ForgetRequest(msgspec.Struct, kw_only=True):
    """Forget; every field that is set narrows, and at least one must be."""

    key: Name | None = None
    ids: Annotated[list[Name], msgspec.Meta(max_length=10_000)] | None = None
    query: Text | None = None
    topic: Text | None = None
    """What is about this, however it is named; to be looked at with ``preview`` before it goes."""
    since: Seconds | None = None
    until: Seconds | None = None
    session: bool = False
    """Everything of this session."""
    source: Name | None = None
    everything: bool = False
    preview: bool = False
    """Only say how much that would be."""
    lang: Name | None = None
    scope: ScopeFields | None = None


class DocumentUpsertRequest(msgspec.Struct, kw_only=True):
    """Keep a document."""

    text: Text
    id: Name | None = None
    metadata: dict[str, Any] | None = None
    embedding: Embedding | None = None
    namespace: Name = "default"
    lang: Name | None = None
    scope: ScopeFields | None = None


class DocumentSearchAsked(msgspec.Struct, kw_only=True):
    """Search the documents."""

    query: Text
    k: Few = 5
    filter: dict[str, Any] | None = None
    """Only documents whose metadata hold all of these pairs."""
    embedding: Embedding | None = None
    namespace: Name = "default"
    lang: Name | None = None
    scope: ScopeFields | None = None


class DocumentGetAsked(msgspec.Struct, kw_only=True):
    """Ask for one document."""

    id: Name
    namespace: Name = "default"
    scope: ScopeFields | None = None


class DocumentListAsked(msgspec.Struct, kw_only=True):
    """Ask for the documents of a namespace."""

    limit: Few = 20
    offset: Count = 0
    namespace: Name = "default"
    scope: ScopeFields | None = None


class DocumentDeleteRequest(msgspec.Struct, kw_only=True):
    """Forget documents."""

    ids: Annotated[list[Name], msgspec.Meta(max_length=10_000)]
    namespace: Name = "default"
    scope: ScopeFields | None = None


class DocumentClearRequest(msgspec.Struct, kw_only=True):
    """Forget all documents of a namespace."""

    namespace: Name = "default"
    scope: ScopeFields | None = None


class CaptureRequest(msgspec.Struct, kw_only=True):
    """Read the capture setting, or set what is given."""

    write: bool | None = None
    read: bool | None = None
    until: Seconds | None = None
    session: bool = False
    """About this session alone."""
    site: bool = False
    """About this room alone."""
    person: bool = False
    """About this user alone."""
    scope: ScopeFields | None = None


class SessionUpdateRequest(msgspec.Struct, kw_only=True):
    """Set what is kept of this session beside its turns."""

    summary: Text | None = None
    description: Text | None = None
    scope: ScopeFields | None = None


class SnapshotAsked(msgspec.Struct, kw_only=True):
    """Take this session out."""

    max_history: Few = MAX_TURNS
    scope: ScopeFields | None = None


class RestoreRequest(msgspec.Struct, kw_only=True):
    """Put a session in place of this one."""

    messages: Annotated[list[TurnFields], msgspec.Meta(max_length=MAX_TURNS)]
    summary: Text | None = None
    scope: ScopeFields | None = None


class ToSummariseAsked(msgspec.Struct, kw_only=True):
    """Ask for what a summary should take up."""

    keep_recent: Few = 6
    scope: ScopeFields | None = None


class TrimRequest(msgspec.Struct, kw_only=True):
    """Leave the older part of this session to its summary."""

    keep_recent: Few = 6
    max_tokens: Count | None = None
    """In place of ``keep_recent``: as many messages stay as fit."""
    scope: ScopeFields | None = None


class ClearRequest(msgspec.Struct, kw_only=True):
    """Forget the turns of this session."""

    scope: ScopeFields | None = None


class UsersAsked(msgspec.Struct, kw_only=True):
    """Ask which user one is."""

    scope: ScopeFields | None = None


class UsersListAsked(msgspec.Struct, kw_only=True):
    """Ask who there is."""

    counted: bool = True
    """False: only who they are, without numbers."""


class UsersMergeRequest(msgspec.Struct, kw_only=True):
    """Make everything of one user another's."""

    user_id: Name
    into: Name


class IntrospectRequest(msgspec.Struct, kw_only=True):
    """Have the language model look at what is new, or undo what a look changed."""

    undo: Name | None = None
    """The id of the look to be undone; None: look."""
    look: bool = True
    """False: only say what was looked at lately."""
    scope: ScopeFields | None = None


class StatusAsked(msgspec.Struct, kw_only=True):
    """Ask how the memory is."""


FIELDS: dict[str, type[msgspec.Struct]] = {
    "context": ContextAsked,
    "record": RecordRequest,
    "history": HistoryAsked,
    "turn": TurnAsked,
    "turns": TurnsAsked,
    "sessions": SessionsAsked,
    "session.update": SessionUpdateRequest,
    "session.snapshot": SnapshotAsked,
    "session.restore": RestoreRequest,
    "session.to_summarise": ToSummariseAsked,
    "session.trim": TrimRequest,
    "session.clear": ClearRequest,
    "recall": RecallAsked,
    "remember": RememberRequest,
    "get": GetAsked,
    "list": ListAsked,
    "update": UpdateRequest,
    "correct": CorrectRequest,
    "referents": ReferentsAsked,
    "forget": ForgetRequest,
    "why": WhyAsked,
    "episodes": EpisodesAsked,
    "activity": ActivityAsked,
    "document.upsert": DocumentUpsertRequest,
    "document.search": DocumentSearchAsked,
    "document.get": DocumentGetAsked,
    "document.list": DocumentListAsked,
    "document.delete": DocumentDeleteRequest,
    "document.clear": DocumentClearRequest,
    "facts": FactsAsked,
    "facts.history": HistoryOfFactAsked,
    "facts.add": FactAddRequest,
    "facts.update": FactUpdateRequest,
    "facts.review": FactReviewRequest,
    "facts.decisions": DecisionsAsked,
    "facts.audit": FactAuditAsked,
    "capture": CaptureRequest,
    "users": UsersAsked,
    "users.list": UsersListAsked,
    "users.merge": UsersMergeRequest,
    "introspect": IntrospectRequest,
    "status": StatusAsked,
}
FORGETS = frozenset(
    {
        "introspect",
        "forget",
        "session.restore",
        "session.clear",
        "document.delete",
        "document.clear",
        "users.merge",
        "facts.review",
    }
)
"""Verbs that have what they delete gone from the files when they answer."""
KEEPS = frozenset(
    {
        *("record", "remember", "update", "correct", "session.update", "session.restore", "document.upsert"),
        *("facts.add", "facts.update"),
    }
)
"""Verbs that keep a text they are given."""
CHANGES = FORGETS | KEEPS | {"session.trim", "capture"}
"""Verbs that change something."""
SETS = {"capture": ("write", "read"), "session.update": ("summary", "description")}
"""Verbs that only read where none of these fields is given."""


def changes(verb: str, data: Mapping[str, Any]) -> bool:
    """Whether a request with this data is to change something, or only to read."""
    if verb in SETS:
        return any(data.get(name) is not None for name in SETS[verb])
    if verb == "forget" and data.get("preview") is True:
        return False
    return verb in CHANGES


_PATH = re.compile(r" - at `(.*)`$")
_TOO_LATE = f"<= {LATEST}"
"""So msgspec tells of a moment that is later than any can be."""


def read_request(asked: Request) -> Any:
    """The request's fields as its verb's struct.

    InvalidRequest naming the first field that is missing, of the wrong type, too large, nested
    too deeply or holding what cannot be kept; UnknownVerb where no verb has this name.
    """
    if asked.verb not in FIELDS:
        raise UnknownVerb(f"there is no verb {asked.verb[:80]!r}")
    if asked.unreadable:
        field, _, problem = asked.unreadable.partition(": ")
        raise InvalidRequest(field, problem)
    if asked.request_id is not None and not _is_name(asked.request_id):
        raise InvalidRequest("request_id", "must be a text of at most 256 characters")
    known = FIELDS[asked.verb].__struct_fields__
    data = {name: value for name, value in asked.data.items() if name in known}
    for name, value in data.items():
        _check_texts(value, name, 0)
    try:
        return msgspec.convert(data, FIELDS[asked.verb])
    except msgspec.ValidationError as error:
        raise _named(error) from error


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 256 and is_clean(value)


def _check_texts(value: Any, field: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidRequest(field, f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, str):
        _check_text(value, field)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidRequest(field, "must be a finite number")
    if field == "metadata" and isinstance(value, Mapping) and len(str(value)) > MAX_METADATA:
        raise InvalidRequest(field, f"has more than {MAX_METADATA} characters")
    for name, inner in _inside(value, field):
        _check_texts(inner, name[:200], depth + 1)


def _inside(value: Any, field: str) -> Iterator[tuple[str, Any]]:
    """What an object or an array holds, each with the name of its field: also the names in an object."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from ((field, name), (f"{field}.{name}", inner))
    elif isinstance(value, list):
        yield from ((f"{field}[{number}]", inner) for number, inner in enumerate(value))


def _check_text(text: str, field: str) -> None:
    if len(text) > MAX_TEXT:
        raise InvalidRequest(field, f"has {len(text)} characters, at most {MAX_TEXT} are kept")
    if not is_clean(text):
        raise InvalidRequest(field, UNCLEAN)


def _named(error: msgspec.ValidationError) -> InvalidRequest:
    text = str(error)
    path = _PATH.search(text)
    problem = _PATH.sub("", text)
    missing = re.search(r"missing required field `(.*?)`", problem)
    field = path.group(1).removeprefix("$.") if path else ""
    if isinstance(error.__cause__, Unfit):
        return InvalidRequest(field + error.__cause__.place, error.__cause__.problem)
    if missing:
        return InvalidRequest(".".join(filter(None, (field, missing.group(1)))), "is missing")
    return InvalidRequest(field or "request", NO_MOMENT if problem.endswith(_TOO_LATE) else problem[:200])
