"""The records that rooms hand to each other: plain frozen data, no behaviour beyond reading it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from ovos_persona_memory.records.content_blocks import TextOrBlocks

HOUSEHOLD = "household"
"""The user of an utterance whose speaker is not known in particular."""
GUEST = "guest"
"""The user of an unknown speaker on a device that tells people apart. Guests share nothing but the name."""

Role = Literal["system", "developer", "user", "assistant", "tool"]
Source = Literal["heard", "record", "query"]
HitKind = Literal["turn", "memory", "fact", "episode"]
Status = Literal["draft", "accepted", "discard"]
"""The status of a lasting memory. It changes in this order only: from draft to accepted, from either to discard."""
ACCEPTED: Status = "accepted"
NO_PERSONA = ""
"""The persona of a scope that holds only records of no persona; no persona has this name."""
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
    """A copy of the record with other values in these fields, as ``dataclasses.replace`` makes it.

    It takes a tenth of the time, since no field is set one by one: it serves what happens with every utterance.
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
    """The scope of a persona holds its own records and those of no persona; the scope of ``NO_PERSONA`` only the
    latter."""
    site_id: str | None = None
    task_id: str | None = None
    auth_level: int | None = None
    """How surely the asking user is known, 0 to 5; a private record needs its level. None: the owner asks."""
    blind: bool = False
    """Nothing may be read: reading is paused, or a guest asks for records of a user."""
    secrets: bool = False
    """Whether kept secrets are in scope; no other scope reaches them, whoever asks."""
    status: Status | None = None
    """Only memories of this status; a record without a status, a turn or a fact, counts as accepted. None: any
    status."""
    assumed_persona: bool = False
    """The request named no persona: the default one is assumed."""
    any_persona: bool = False
    """For a request over the bus without a persona, which is otherwise the default persona's: the scope is the person's
    and reaches the records of every persona, or of the one named here. Other requests do so in any case."""

    @classmethod
    def everyone(cls) -> Scope:
        """All records of all users but their secrets: for the owner's edges alone."""
        return cls(user_id=None)

    @classmethod
    def whole(cls) -> Scope:
        """Everything that a store holds: for maintenance, which hands out no record."""
        return cls(user_id=None, secrets=True)

    def may_know(self, private: int) -> bool:
        """Whether the asking user's level reaches a record of this level; for a secret, whether secrets are in
        scope."""
        if private >= SECRET_LEVEL:
            return self.secrets
        return self.auth_level is None or private <= self.auth_level

    def takes(self, status: str) -> bool:
        """Whether a memory of this status is in scope; a record without a status is passed as ``ACCEPTED``."""
        return self.status in (None, status)

    @property
    def owner(self) -> str | None:
        """The persona that owns what is written in this scope; None for no persona."""
        return self.persona_id or None


@dataclass(frozen=True)
class Claim:
    """The speaker that a message names: a hint, until it is weighed by what this device trusts."""

    user_id: str | None = None
    """None: no user is named, or the name cannot be read."""
    auth_level: int = 0
    """0 to 5 (OVOS-USER-ID-1, section 3)."""
    client: str | None = None
    """The client through which it came, as the HiveMind hub calls it: "" where its name cannot be read, None without a
    hub. Unlike all else in a message it is no word of the sender's: the hub writes it."""


NOBODY = Claim()


@dataclass(frozen=True)
class Person:
    """The user whose words an utterance is taken for, and how surely that is known."""

    user_id: str = HOUSEHOLD
    auth_level: int = 0
    """0 to 5."""
    name: str | None = None
    """The name that a recogniser gives who speaks, where several speak as one user: a hint, which decides nothing about
    who may read or change what. None: nobody is named, or the user is."""


@dataclass(frozen=True)
class Turn:
    """One speaker's contribution, as heard or as handed in."""

    role: Role
    text: TextOrBlocks
    at: float | None = None
    """When it was said, seconds since the epoch, UTC; None: now."""
    speaker: str | None = None
    """A name for the speaker, where one is known."""
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
    """The skill that spoke, for an assistant turn heard on the bus."""
    expects_reply: bool = False
    announcement: bool = False
    """Spoken by itself (a timer), not to answer anybody."""
    machine: bool = False
    """Machine talk (an error dialog): answers nothing."""
    linked: bool = False
    """A persona's own record of this turn has been matched with it."""
    batch: str | None = None
    """The id that turns handed in together share; they are kept as they were passed."""
    redacted: bool = False
    """The words were taken out on purpose; the text is empty."""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    """Tool name on a tool result."""
    is_error: bool = False
    """The tool failed, and the text says how. Of a tool result."""
    unlearned: bool = False
    """Nothing is learned from it: whoever recorded it asked for that."""


@dataclass(frozen=True)
class ContextMessage:
    """One message of a persona context, ready for a solver."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    is_error: bool = False
    """The tool failed. Of a tool result."""


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
    """A draft waits to be accepted; a discard is no longer to be used. Neither is recalled unless asked for."""

    @property
    def speaker(self) -> str | None:
        """The name of who asked to have it remembered; None where none is known."""
        name = self.metadata.get(SPEAKER)
        return name if isinstance(name, str) and name else None

    @property
    def private(self) -> int:
        """The level, 0 to 5, that its user must be known with to be given it; SECRET_LEVEL for a secret."""
        return level_of(self.metadata)

    @property
    def secret(self) -> bool:
        """Whether it is a secret that the user asked to keep: no scope holds it but one with ``secrets``."""
        return self.private >= SECRET_LEVEL


OUTDATED = "outdated"
"""Metadata of a memory: true where it was retracted or denied later. It answers no question then."""
PINNED = "pinned"
"""Metadata of a memory, and topic of a fact, that is to be in the context of its person whatever is asked."""
SPEAKER = "speaker"
"""Metadata of a memory: the name of who asked to have it remembered, where one is known; as a turn has it."""
PRIVATE = "private"
"""Metadata of a memory: true, or the level from 1 to 5 that its user must be known with to be given it; true is 1."""


SECRET = "secret"
"""Metadata of a memory: true where it is a secret that the user asked to keep."""
SECRET_LEVEL = 6
"""The level of a secret, above every level that a person can have: ``Scope.secrets`` alone reaches it."""


def level_of(metadata: Mapping[str, Any]) -> int:
    """The level, 0 to 5, that a user must be known with to be given a record with these metadata; 5 where they cannot
    be read, and SECRET_LEVEL for a secret."""
    if metadata.get(SECRET) is True:
        return SECRET_LEVEL
    wanted = metadata.get(PRIVATE, 0)
    return int(wanted) if isinstance(wanted, int) and wanted in range(6) else 5


MAY_BELONG_FROM = 0.15
"""What may be a part of an answer in several parts is offered behind them with such a confidence, >=."""


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
    """One phrase for people: why the record was found."""
    at: float
    """When it was said or last changed, seconds since the epoch, UTC."""
    role: Role = "user"
    speaker: str | None = None
    session_id: str | None = None
    user_id: str = HOUSEHOLD
    key: str | None = None
    """The key of a memory; None for a turn."""
    lang: str | None = None
    persona_id: str | None = None
    """The persona that owns the record; None for no persona. User, persona and key together name a memory."""
    answers: bool = False
    """True when the record alone holds everything that was asked for, and can be quoted as the answer."""
    outdated: bool = False
    """True when it was corrected, retracted or replaced later: it is never sure, and answers nothing."""
    secret: bool = False
    """True for a kept secret; it is found only in a scope with ``secrets``."""
    confidence: float | None = None
    """How likely it answers the question, 0 to 1, by the judge of answers; None where the judge did not look at it."""
    part: bool = False
    """True where several things are asked for, and it is one of them: all such hits are the answer."""
    may_answer: bool = False
    """True where it does not answer surely enough, and is worth telling if it is said that this is not sure."""
    goes_on: bool = False
    """True where it was said later of what the next hit tells, and may have changed it: the two are told together."""


Reply = Literal["yes", "no", "neither"]


@dataclass(frozen=True)
class QuestionKind:
    """Of what kind an utterance is, beside the many that state or ask for one thing."""

    asks_about: str = ""
    """What it asks for everything about, of which somebody stated something, in folded words: "boiler" for "show me
    all about the boiler"; empty where it asks for something else, or nobody did."""
    asks_what_was_said: bool = False
    """Whether it asks what somebody told the assistant: "what did ray tell you last night"."""
    to_forget: str | None = None
    """What it wants forgotten, in its words: "the thing with the ring" of "nobody needs to know the thing with the ring
    so out with it"; empty where it only points, "you never heard that"; None where it wants nothing forgotten."""
    reply: Reply | None = None
    """What it says to whether something is to be deleted; None in a language in which that is not known."""
    surely_to_forget: bool = False
    """Whether it surely wants something forgotten, so that it is answered whether that is known or not."""
    wants_all: bool = False
    """Whether it surely asks for several things, for all about something or for what was said, be it as an order: "tell
    me everything there is to buy"."""


def unsure_answers(hits: Iterable[Hit]) -> list[Hit]:
    """Those that people said and that may answer, in their order."""
    return [hit for hit in hits if hit.may_answer and hit.role == "user"]


def belonging_perhaps(hits: Iterable[Hit]) -> list[Hit]:
    """Those that people said and that may be a part of an answer in several parts, the likeliest first."""
    others = (hit for hit in hits if hit.role == "user" and not hit.answers)
    likely = [hit for hit in others if hit.confidence is not None and hit.confidence >= MAY_BELONG_FROM]
    return sorted(likely, key=lambda hit: -(hit.confidence or 0.0))


def answers_to_tell(hits: Sequence[Hit]) -> list[Hit]:
    """What is told of the hits of a question: the best that answers, and where none does what may, behind what was said
    of it later; where several things are asked for all that answer, and behind them what may be a part of the answer:
    alone it mostly is none."""
    answers = [hit for hit in hits if hit.answers]
    if any(hit.part for hit in answers):
        return [*answers, *belonging_perhaps(hits)]
    told = answers or unsure_answers(hits)
    return told[: 2 if told and told[0].goes_on else 1]


@dataclass(frozen=True)
class Session:
    """A summary of one session that needs none of its turns."""

    session_id: str
    user_id: str
    turns: int
    first_at: float
    last_at: float
    description: str = ""
    """The topic of the session, as a client has set it."""


@dataclass(frozen=True)
class User:
    """How many records are kept of one user."""

    user_id: str
    turns: int
    memories: int
    documents: int
    notes: int
    """Number of sessions with a summary or a description."""
    last_at: float | None
    """When the user's newest turn was said, seconds since the epoch, UTC; None where there is no turn."""


@dataclass(frozen=True)
class Moved:
    """How many records moved from one user to another."""

    turns: int = 0
    memories: int = 0
    documents: int = 0
    notes: int = 0
    facts: int = 0


@dataclass(frozen=True)
class Note:
    """What is kept of a session beside its turns."""

    summary: str = ""
    """The working memory of the session: a summary of the conversation so far."""
    description: str = ""
    trimmed_to: int = 0
    """The summary replaces the turns with a seq <= this: they stay in the log, and are in no history."""
    updated_at: float = 0.0
    """When the summary or the description was last set, seconds since the epoch, UTC."""
    summarised_at: float = 0.0
    """When the summary was set, likewise; 0: that is not kept."""

    @property
    def summary_at(self) -> float:
        """When the summary was set, at the latest."""
        return self.summarised_at or self.updated_at


@dataclass(frozen=True)
class Document:
    """A text with an id and metadata, kept for search; never mixed with turns and memories."""

    id: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)
    namespace: str = "default"
    user_id: str = HOUSEHOLD
    updated_at: float = 0.0
    """Seconds since the epoch, UTC."""
    score: float = 0.0
    """The score of a search: higher is better; comparable within one answer only."""


@dataclass(frozen=True)
class Namespace:
    """A collection of one user's documents that are searched together."""

    user_id: str = HOUSEHOLD
    name: str = "default"


@dataclass(frozen=True)
class Capture:
    """Whether memory may be written and read."""

    write: bool = True
    read: bool = True
    until: float | None = None
    """When this state ends by itself, seconds since the epoch, UTC; None: until it is changed."""
    session_id: str | None = None
    """The session that it is limited to; it is global where neither session nor room nor user is named."""
    site_id: str | None = None
    """The room that it is limited to."""
    user_id: str | None = None
    """The user that it is limited to."""


@dataclass(frozen=True)
class Place:
    """The target of a pause: a session, a room, a user, or everything."""

    kind: Literal["everything", "session", "site", "user"] = "everything"
    name: str = ""


@dataclass(frozen=True)
class Pause:
    """A period in which memory is not written, or not read."""

    place: Place
    since: float
    """Seconds since the epoch, UTC."""
    until: float | None
    """None: the pause goes on until it is changed."""
    write: bool
    """Whether memory may be written during the pause."""
    read: bool


@dataclass(frozen=True)
class ContextRequest:
    """A persona's request for its context, before it answers."""

    utterance: str
    scope: Scope = Scope()
    max_history: int | None = DEFAULT_MAX_HISTORY
    """At most so many messages of history; with strategy summary so many stay when the older ones are summarised.

    Where neither this nor another limit nor a strategy is set, ``history.strategy`` of the settings decides.
    """
    max_rounds: int | None = None
    """Rounds of history at most; a round starts with a user message."""
    max_tokens: int | None = None
    """Tokens of history at most."""
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
    """Recalled hits at most, 0 for none; None: as the settings say."""
    recall_tokens: int | None = None
    """Tokens of recalled text at most; None: as the settings say."""
    session: bool = False
    """Whether recall is limited to the scope's session; else it covers all of the user's sessions."""
    inject: Inject = "system"
    """Where recalled text is placed: with the system prompt; in a developer message; at {memory} in the system prompt;
    before the utterance; or as the result of a tool."""
    lang: str | None = None
    utterance_id: str | None = None
    at: float | None = None
    """The time of asking, seconds since the epoch, UTC; None: now."""
    timezone: str | None = None
    """The asker's time zone, an IANA name, for days in questions and answers; None: the device's own."""
    preview: bool = False
    """Whether nobody is handed the answer: it is looked at, and nothing in it counts as used."""
    asker: str | None = None
    """The name of who asks, where several speak as one user; None: it is not known."""


@dataclass(frozen=True)
class Activity:
    """What was said in one day."""

    day: str
    """The day in the device's time zone, 2026-11-21."""
    turns: int
    users: int
    """Of the turns, what people said."""


@dataclass(frozen=True)
class Context:
    """A persona context: the messages handed to a solver."""

    messages: list[ContextMessage]
    """System message first if there is one; the current utterance last."""
    hits: list[Hit]
    tokens: int
    """Estimate for all messages, characters / 4 where no tokenizer is given."""


@dataclass(frozen=True)
class Selection:
    """Which records to forget. Every field that is set narrows; with no field set it selects the whole scope."""

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
    """Only records that hold at least one index word of each of these groups."""
    spare: tuple[str, ...] = ()
    """Never the records with these ids; this field alone does not narrow the selection."""
    kinds: frozenset[str] = frozenset({"turn", "memory", "fact", "episode"})
    source: str | None = None
    """Only turns that this skill or persona spoke."""


@dataclass(frozen=True)
class ForgetConditions:
    """The conditions of a request to forget; every condition that is set narrows."""

    key: str | None = None
    """The lasting memory with this key."""
    ids: Sequence[str] | None = None
    """Turns and memories with these ids."""
    query: str | None = None
    """Only records that hold all of these words."""
    topic: str | None = None
    """Only records about this topic, however it is named: inflections and compounds count, and some of the words are
    enough where no record holds all. The asker should look at ``preview`` before anything is deleted."""
    since: float | None = None
    until: float | None = None
    """Only records that were said or last changed in [since, until), seconds since the epoch, UTC."""
    source: str | None = None
    """Only turns that this skill or persona spoke."""
    everything: bool = False
    """Must be true where no other condition is set."""
    lang: str | None = None
    """Language of the query, a BCP-47 tag."""
    asked_in: Scope | None = None
    """The session and user of a spoken request."""
    utterance_id: str | None = None
    """The id of the utterance that asks, where it has one."""


@dataclass(frozen=True)
class Forgotten:
    """How many records were forgotten."""

    turns: int = 0
    memories: int = 0
    documents: int = 0
    notes: int = 0
    redacted: int = 0
    """Turns that stay in the log without their text."""
    facts: int = 0
    """Facts, without those that were deleted with the turn from which they were learned."""
    episodes: int = 0

    @property
    def total(self) -> int:
        """Turns, memories, facts and documents together; notes and episodes go with these and are not counted."""
        return self.turns + self.memories + self.facts + self.documents


@dataclass(frozen=True)
class Foreseen:
    """A preview of a deletion: what it would take, while nothing is changed yet."""

    kinds: Forgotten
    told: list[Hit]
    """Statements of people that would go, each once, the newest first: these are read back to the asker."""
    ids: list[str]
    """Ids of every turn, memory and fact that would go, including questions and answers about it."""


@dataclass(frozen=True)
class Referents:
    """The antecedents that "that" can have now in a session. Each list holds the newest first; it may be empty."""

    quoted: list[Hit] = field(default_factory=list)
    """The records that the last answer quoted."""
    told: list[Hit] = field(default_factory=list)
    """The person's statements in this session; questions are left out."""
    answer: Hit | None = None
    """The last answer itself, where it quoted no record."""
    told_last: bool = False
    """Whether the first of ``told`` is the person's very last utterance."""
    about: list[Hit] | None = None
    """Where the last utterance asked about something: what was told of that, empty for nothing. None where it did
    not."""

    @property
    def meant(self) -> list[Hit]:
        """The antecedent in "forget that": what the last answer quoted, else the person's last statement."""
        return self.quoted or self.told[:1]
