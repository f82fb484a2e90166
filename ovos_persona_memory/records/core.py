"""The records that rooms hand to each other: plain frozen data, no behaviour beyond reading it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from ovos_persona_memory.records.content_blocks import Said

HOUSEHOLD = "household"
"""The user where nobody in particular is known."""
GUEST = "guest"
"""The user where people are told apart and it is not known who speaks. Guests share nothing but the name."""

Role = Literal["system", "developer", "user", "assistant", "tool"]
Source = Literal["heard", "record", "query"]
HitKind = Literal["turn", "memory", "fact", "episode"]
Status = Literal["draft", "accepted", "discard"]
"""Of a lasting memory, in the only order in which a change may go: from draft to accepted, from either to discard."""
ACCEPTED: Status = "accepted"
NO_PERSONA = ""
"""The persona of a scope that holds only what belongs to no persona; no persona is called so."""
LastingKind = Literal["memory", "fact"]
Inject = Literal["system", "developer", "system_prompt", "user", "tool"]
StrategyName = Literal["sliding_window", "token_budget", "summary"]
"""How the history of a session is kept short."""
WINDOW_SIZE, MAX_HISTORY_TOKENS, SUMMARY_THRESHOLD = 20, 8000, 30
"""What a strategy goes by that is named without its number (Astromesh's memory manager, configuration)."""
DEFAULT_MAX_HISTORY = 5
"""Messages of history where nothing else is asked for."""


Record = TypeVar("Record")


def replace_fast(record: Record, **fields: Any) -> Record:
    """The record with other values in these fields, as ``dataclasses.replace`` gives it.

    In a tenth of the time, for what is done with every utterance: nothing is set field by field.
    """
    new = object.__new__(type(record))
    new.__dict__.update(record.__dict__, **fields)
    return new


@dataclass(frozen=True)
class ToolCall:
    """One tool invocation that an assistant asked for."""

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scope:
    """Which records a call is about. A field that is None limits nothing within that user."""

    session_id: str | None = None
    user_id: str | None = HOUSEHOLD
    """None reaches everybody's records: only ``everyone()`` makes it, for the owner's edges."""
    persona_id: str | None = None
    """A persona's scope holds its own records and those of no persona; that of ``NO_PERSONA`` those of none alone."""
    site_id: str | None = None
    task_id: str | None = None
    auth_level: int | None = None
    """How surely the user is known who asks, 0 to 5; what is private needs its level. None: the owner asks."""
    blind: bool = False
    """Nothing may be read: reading is off where it is asked, or a guest asks for what is no guest's."""
    secrets: bool = False
    """Secrets that somebody asked to keep are in it, too: they are in no other, whoever asks."""
    status: Status | None = None
    """Only memories of this status; what has none, a turn or a fact, is as good as accepted. None: of any."""
    assumed_persona: bool = False
    """Nobody named the persona: it is the default one."""
    any_persona: bool = False
    """Over the bus, where a request without a persona is the default persona's: it is the person's instead, and
    reaches what belongs to whichever persona, or to the one named here. Elsewhere that is so in any case."""

    @classmethod
    def everyone(cls) -> Scope:
        """All records of all users but their secrets: for the owner's edges alone."""
        return cls(user_id=None)

    @classmethod
    def whole(cls) -> Scope:
        """Everything that a store holds: for what looks after it, and gives nothing of it to anybody."""
        return cls(user_id=None, secrets=True)

    def may_know(self, private: int) -> bool:
        """Whether whoever asks is known surely enough for what needs this level; of a secret, whether one is meant."""
        if private >= SECRET_LEVEL:
            return self.secrets
        return self.auth_level is None or private <= self.auth_level

    def takes(self, status: str) -> bool:
        """Whether a memory of this status is asked for, or what has none, as ``ACCEPTED``."""
        return self.status in (None, status)

    @property
    def owner(self) -> str | None:
        """The persona to which belongs what is written in this scope; None: to none."""
        return self.persona_id or None


@dataclass(frozen=True)
class Claim:
    """Who a message says is speaking: a hint, until it is weighed by what this device trusts."""

    user_id: str | None = None
    """None: nobody, or a name that cannot be read."""
    auth_level: int = 0
    """0 to 5 (OVOS-USER-ID-1, section 3)."""


NOBODY = Claim()


@dataclass(frozen=True)
class Person:
    """Whose words an utterance is taken for, and how surely."""

    user_id: str = HOUSEHOLD
    auth_level: int = 0
    """0 to 5."""


@dataclass(frozen=True)
class Turn:
    """One speaker's contribution, as heard or as handed in."""

    role: Role
    text: Said
    at: float | None = None
    """When it was said, seconds since the epoch, UTC; None: now."""
    speaker: str | None = None
    """A name for who said it, where one is known."""
    lang: str | None = None
    """BCP-47 tag of the text."""
    id: str = ""
    """Given by ``record``; unique across devices."""
    seq: int = 0
    """Order of arrival in the store, given by the store."""
    user_id: str = HOUSEHOLD
    session_id: str | None = None
    persona_id: str | None = None
    site_id: str | None = None
    task_id: str | None = None
    utterance_id: str | None = None
    """OVOS's id of the utterance that this turn is, or answers."""
    source: Source = "heard"
    """heard: from the bus; record: handed in; query: an out-of-band question or its answer."""
    skill_id: str | None = None
    """Who spoke, for an assistant turn heard on the bus."""
    expects_reply: bool = False
    announcement: bool = False
    """Spoken by itself (a timer), not to answer anybody."""
    machine: bool = False
    """Machine talk (an error dialog): answers nothing."""
    linked: bool = False
    """A persona's own record of this turn has been matched with it."""
    batch: str | None = None
    """Turns handed in together, to be kept as they were passed."""
    redacted: bool = False
    """The words were taken out on purpose; the text is empty."""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    """Tool name on a tool result."""


@dataclass(frozen=True)
class ContextMessage:
    """One message of a persona context, ready for a solver."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class Entry:
    """A lasting memory: a key, a text, metadata. User, persona and key together name it."""

    key: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str = ""
    seq: int = 0
    user_id: str = HOUSEHOLD
    session_id: str | None = None
    persona_id: str | None = None
    site_id: str | None = None
    task_id: str | None = None
    lang: str | None = None
    created_at: float = 0.0
    """Seconds since the epoch, UTC."""
    updated_at: float = 0.0
    turn_id: str | None = None
    """The turn in which somebody asked to have it remembered, where that was heard."""
    status: Status = ACCEPTED
    """A draft waits to be accepted; what is no longer to be used is a discard. Neither is recalled unless asked for."""

    @property
    def private(self) -> int:
        """How surely its user must be known to whom it is given, 0 to 5; SECRET_LEVEL of a secret."""
        return level_of(self.metadata)

    @property
    def secret(self) -> bool:
        """Whether it is a secret that somebody asked to keep: given to nobody who does not ask for secrets."""
        return self.private >= SECRET_LEVEL


OUTDATED = "outdated"
"""Metadata of a memory: true where it was called off or denied since. It answers nothing then."""
PRIVATE = "private"
"""Metadata of a memory: true, or from 1 to 5 how surely its user must be known to whom it is given; true is 1."""


SECRET = "secret"
"""Metadata of a memory: true where it is a secret that somebody asked to keep."""
SECRET_LEVEL = 6
"""The level of a secret, above all levels at which somebody may be known: ``Scope.secrets`` alone reaches it."""


def level_of(metadata: Mapping[str, Any]) -> int:
    """How surely a user must be known, 0 to 5, to be given what has these metadata; 5 where they cannot be read, and
    SECRET_LEVEL of a secret."""
    if metadata.get(SECRET) is True:
        return SECRET_LEVEL
    wanted = metadata.get(PRIVATE, 0)
    return int(wanted) if isinstance(wanted, int) and wanted in range(6) else 5


@dataclass(frozen=True)
class Hit:
    """A found record with its score and the reason."""

    id: str
    kind: HitKind
    text: str
    score: float
    """Higher is better; comparable within one answer only."""
    sure: bool
    """True when words and structure make it an answer rather than a neighbour."""
    reason: str
    """In words: why it was found."""
    at: float
    """When it was said or last changed, seconds since the epoch, UTC."""
    role: Role = "user"
    speaker: str | None = None
    session_id: str | None = None
    user_id: str = HOUSEHOLD
    key: str | None = None
    """Of a memory; None for a turn."""
    lang: str | None = None
    persona_id: str | None = None
    """The persona that it belongs to; None: to none. Of a memory it names it together with user and key."""
    answers: bool = False
    """True when it holds by itself all that was asked for, and can be quoted as the answer."""
    outdated: bool = False
    """True when it was corrected, taken back or replaced since: it is never sure, and answers nothing."""
    secret: bool = False
    """True of a secret that somebody asked to keep; it is found where secrets are asked for alone."""


@dataclass(frozen=True)
class Session:
    """What is known of one session without reading its turns."""

    session_id: str
    user_id: str
    turns: int
    first_at: float
    last_at: float
    description: str = ""
    """What it is about, as somebody has put it."""


@dataclass(frozen=True)
class User:
    """How much is kept of one user."""

    user_id: str
    turns: int
    memories: int
    documents: int
    notes: int
    """Sessions with a summary or a description."""
    last_at: float | None
    """When their newest turn was said, seconds since the epoch, UTC; None: they have none."""


@dataclass(frozen=True)
class Moved:
    """How much has got another user."""

    turns: int = 0
    memories: int = 0
    documents: int = 0
    notes: int = 0
    facts: int = 0


@dataclass(frozen=True)
class Note:
    """What is kept of a session beside its turns."""

    summary: str = ""
    """Its working memory: what was said so far, in short."""
    description: str = ""
    trimmed_to: int = 0
    """Turns with a seq up to this are left to the summary: they stay in the log, and are in no history."""
    updated_at: float = 0.0
    """Seconds since the epoch, UTC."""


@dataclass(frozen=True)
class Document:
    """A text with an id and metadata, kept to be found: never mixed with turns and memories."""

    id: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)
    namespace: str = "default"
    user_id: str = HOUSEHOLD
    updated_at: float = 0.0
    """Seconds since the epoch, UTC."""
    score: float = 0.0
    """Of a search: higher is better; comparable within one answer only."""


@dataclass(frozen=True)
class Namespace:
    """Documents of one user that are searched together."""

    user_id: str = HOUSEHOLD
    name: str = "default"


@dataclass(frozen=True)
class Capture:
    """Whether memory may be written and read."""

    write: bool = True
    read: bool = True
    until: float | None = None
    """When this ends by itself, seconds since the epoch, UTC; None: until changed."""
    session_id: str | None = None
    """The one session it is about; where neither this nor a room nor a user is named, it is about everything."""
    site_id: str | None = None
    """The one room."""
    user_id: str | None = None
    """The one user."""


@dataclass(frozen=True)
class Place:
    """What a pause is about: a session, a room, a user, or everything."""

    kind: Literal["everything", "session", "site", "user"] = "everything"
    name: str = ""


@dataclass(frozen=True)
class Pause:
    """A time in which memory is not to be written, or not read."""

    place: Place
    since: float
    """Seconds since the epoch, UTC."""
    until: float | None
    """None: it goes on until it is changed."""
    write: bool
    """Whether memory may be written all the same."""
    read: bool


@dataclass(frozen=True)
class ContextRequest:
    """What a persona asks for before it answers."""

    utterance: str
    scope: Scope = Scope()
    max_history: int | None = DEFAULT_MAX_HISTORY
    """At most so many messages of history; with strategy summary so many stay when the older ones are summarised.

    Where neither this nor another limit nor a strategy is set, ``history.strategy`` of the settings decides.
    """
    max_rounds: int | None = None
    """At most so many rounds; a round starts with a user message."""
    max_tokens: int | None = None
    """At most so many tokens of history."""
    max_age_s: float | None = None
    """No history older than this, seconds; None: no limit."""
    strategy: StrategyName | None = None
    """How the history is kept short; None: by the limits above."""
    summary_threshold: int | None = None
    """With strategy summary: more messages than this, and the older ones go into the summary; None: 30."""
    context_tokens: int | None = None
    """At most so many tokens of all messages together, characters / 4; None: as the settings say."""
    system_prompt: str = ""
    recall: int | None = None
    """At most so many recalled hits, 0 for none; None: as the settings say."""
    recall_tokens: int | None = None
    """At most so many tokens of recalled text; None: as the settings say."""
    session: bool = False
    """Only what was said in the session of the scope is recalled; else in any of the user's."""
    inject: Inject = "system"
    """Where what is recalled stands: with the system prompt; in a developer message; at {memory} in the
    system prompt; before the utterance; or as the result of a tool."""
    lang: str | None = None
    utterance_id: str | None = None
    at: float | None = None
    """The time of asking, seconds since the epoch, UTC; None: now."""
    timezone: str | None = None
    """Of who asks, an IANA name: days are counted and told there; None: the device's own."""


@dataclass(frozen=True)
class Context:
    """A persona context: what a solver is handed."""

    messages: list[ContextMessage]
    """System message first if there is one; the current utterance last."""
    hits: list[Hit]
    tokens: int
    """Estimate for all messages, characters / 4 where no tokenizer is given."""


@dataclass(frozen=True)
class Selection:
    """Which records to forget. Every field that is set narrows; nothing set selects all of the scope."""

    scope: Scope
    keys: tuple[str, ...] | None = None
    """Only memories with one of these keys, and facts with one of these ids (no turns)."""
    owners: tuple[str | None, ...] | None = None
    """With ``keys``: only memories of these personas, None for those of no persona (no facts)."""
    ids: tuple[str, ...] | None = None
    """Only records with one of these ids; a fact goes with the turn that it was learned from, too."""
    since: float | None = None
    until: float | None = None
    """Only what was said or last changed in [since, until), seconds since the epoch, UTC."""
    words: tuple[frozenset[str], ...] | None = None
    """Only what holds at least one index word of each of these groups."""
    spare: tuple[str, ...] = ()
    """No records with these ids; this alone narrows nothing else."""
    kinds: frozenset[str] = frozenset({"turn", "memory", "fact", "episode"})
    source: str | None = None
    """Only turns that this skill or persona spoke."""


@dataclass(frozen=True)
class ForgetConditions:
    """What somebody asks to have forgotten; every condition that is set narrows."""

    key: str | None = None
    """The lasting memory with this key."""
    ids: Sequence[str] | None = None
    """Turns and memories with these ids."""
    query: str | None = None
    """What holds all of its words."""
    topic: str | None = None
    """What is about this, however it is named: inflections and compounds count, and the best of the words are enough
    where nothing holds all. Somebody is to look at what that would be (``preview``) before it goes."""
    since: float | None = None
    until: float | None = None
    """What was said or last changed in [since, until), seconds since the epoch, UTC."""
    source: str | None = None
    """What this skill or persona said."""
    everything: bool = False
    """Needed where nothing else says what to forget."""
    lang: str | None = None
    """Language of the query, a BCP-47 tag."""
    asked_in: Scope | None = None
    """The session, and its user, in which somebody says so aloud."""
    utterance_id: str | None = None
    """The utterance in which it is asked for, where it has an id."""


@dataclass(frozen=True)
class Forgotten:
    """How much was forgotten."""

    turns: int = 0
    memories: int = 0
    documents: int = 0
    notes: int = 0
    redacted: int = 0
    """Turns that stay in the log without their words."""
    facts: int = 0
    """Without those that go with the turn that they were learned from."""
    episodes: int = 0

    @property
    def total(self) -> int:
        """Turns, memories, facts and documents together; a note goes with its session, an episode tells of them."""
        return self.turns + self.memories + self.facts + self.documents


@dataclass(frozen=True)
class Foreseen:
    """What a deletion would take, worked out before anything is changed."""

    kinds: Forgotten
    told: list[Hit]
    """What people told that would go, each thing once, the newest first: what is read back to whoever asks."""
    ids: list[str]
    """Of every turn, memory and fact that would go, questions and answers about it among them."""


@dataclass(frozen=True)
class Referents:
    """What "that" can mean now in a session. Each list holds the newest first; empty: there is nothing."""

    quoted: list[Hit] = field(default_factory=list)
    """What the last answer quoted of the memory."""
    told: list[Hit] = field(default_factory=list)
    """What the person told in this session, never a question."""
    answer: Hit | None = None
    """The last answer itself, where it quoted nothing of the memory."""
    told_last: bool = False
    """Whether the first of ``told`` is the last thing of all that the person said."""

    @property
    def meant(self) -> list[Hit]:
        """What "forget that" means: what the last answer quoted, else the last thing that the person told."""
        return self.quoted or self.told[:1]
