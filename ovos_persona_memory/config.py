"""The settings of section ``persona_memory`` in mycroft.conf: the only place where they are read."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from ovos_bus_client.conf import load_message_bus_config
from ovos_config import Configuration
from ovos_config.locations import get_xdg_config_save_path
from ovos_utils.xdg_utils import xdg_data_home

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.records import (
    GUEST,
    HOUSEHOLD,
    MAX_HISTORY_TOKENS,
    MAX_USER_ID,
    SUMMARY_THRESHOLD,
    WINDOW_SIZE,
    is_clean,
)

SECTION = "persona_memory"


@dataclass(frozen=True)
class HistoryConfig:
    """Which part of a session's log becomes its history."""

    key: str = "session"
    """session, or site where a hub mints a session for every message."""
    max_age_s: float = 43200.0
    """Nothing older opens a prompt, seconds."""
    strategy: str | None = None
    """How a history is kept short where who asks sets no limits: sliding_window, token_budget or summary."""
    window_size: int = WINDOW_SIZE
    """Of sliding_window: messages at most; of summary: messages that stay when the older ones are summarised."""
    max_tokens: int = MAX_HISTORY_TOKENS
    """Of token_budget, and of summary: tokens at most."""
    summary_threshold: int = SUMMARY_THRESHOLD
    """Of summary: more messages than this, and the older ones are summarised."""
    summary_tokens: int = 400
    """Tokens of a summary at most."""
    context_tokens: int | None = None
    """Tokens at most of a whole context, with system prompt, summary and what is recalled; none: no limit."""
    machine_skills: tuple[str, ...] = (
        "skill-ovos-fallback-unknown.openvoiceos",
        "ovos-skill-fallback-unknown.openvoiceos",
    )
    """Skills whose speech is machine talk and answers nothing."""
    machine_dialogs: tuple[str, ...] = ("persona_error", "no_personas", "unknown_persona", "first_start")
    """Dialogs whose speech is machine talk and answers nothing."""
    redacted_intents: tuple[str, ...] = (
        "ovos-skill-persona-memory.openvoiceos:forget",
        "ovos-skill-persona-memory.openvoiceos:asked_of",
        "ovos-skill-persona-memory.openvoiceos:waiting",
        "ovos-skill-persona-memory.openvoiceos:secret",
    )
    """Prefixes of intents ("skill:intent") and dialogs ("skill:dialog") that are logged without their text."""


@dataclass(frozen=True)
class RecallConfig:
    """How much is recalled into a persona's context."""

    limit: int = 3
    """Hits at most; 0 for none."""
    max_tokens: int = 400
    """Tokens at most, characters / 4."""
    episodes: int = 0
    """Of the hits, this many are the session's newest episodes: skills that were asked, tools that were used."""
    context_entry_limit: int = 0
    """Behind the hits, so many lasting memories that were changed last, whatever is asked."""
    embedder: str = "auto"
    """Search by meaning: auto (e5, else minilm, where installed), none, e5, minilm, static, a folder or a plugin."""


@dataclass(frozen=True)
class IdentityConfig:
    """How the speaker of an utterance is identified."""

    trust: str = "none"
    """none: everybody is one household; configured: as the map says, anybody else is a guest; session: as the session's
    user_id says, a guest where it is missing."""
    map: dict[str, str] = field(default_factory=dict)
    """For trust configured: a session, or else a room (site), mapped to its user."""
    clients: dict[str, str] = field(default_factory=dict)
    """For trust configured: clients of a HiveMind hub, as the hub calls them, mapped to their users. Where any is
    named, neither session nor room tells who speaks through a hub: the client itself states them."""
    children: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Children mapped to the adults who approve: before one does, nothing that lasts is kept of the child."""
    carers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Users mapped to their carers, who may ask what the user asked."""


@dataclass(frozen=True)
class CaptureConfig:
    """Exclusions from recording."""

    exclude_skills: tuple[str, ...] = ()
    """Skills whose speech, and the utterances that they answer, are not recorded."""
    exclude_users: tuple[str, ...] = ()
    """Users of whom nothing is recorded."""


@dataclass(frozen=True)
class FactsConfig:
    """How facts about people are learned."""

    learn: bool = True
    """Whether facts are learned from what people say."""
    half_life_d: float = 730.0
    """Half-life, in days, of the confidence of tastes, home and work; saying a fact again renews it."""
    place_half_life_d: float = 21.0
    """Half-life, in days, of the confidence of where a thing was put."""
    mood_half_life_d: float = 2.0
    """Half-life, in days, of the confidence of a mood."""


@dataclass(frozen=True)
class RetentionConfig:
    """How long records are kept."""

    turns_days: float | None = None
    """Retention of turns, days; none: until they are forgotten. Memories and facts stay in any case."""
    episodes_days: float | None = None
    """Retention of episodes, days; none: until they are forgotten."""
    documents_days: float | None = None
    """Retention of documents, days since they were last put; none: until they are deleted."""
    decisions_days: float | None = None
    """Retention of decisions about facts, days; none: 30, and 1,000 decisions at most."""


@dataclass(frozen=True)
class SecretsConfig:
    """Passwords, PINs and codes that a user asks to have remembered."""

    offer: bool = True
    """Whether a secret may be kept, after a question and a clear yes; false: it is refused."""


@dataclass(frozen=True)
class ModelsConfig:
    """Language models that work for the memory in the background, where the owner names any."""

    summary: str | None = None
    """The plugin that writes summaries; none: sentences are picked without a model."""
    facts: str | None = None
    """The plugin that restates what was said, for facts to be learned from it; none: no model does."""
    plugins: dict[str, dict[str, Any]] = field(default_factory=dict, repr=False)
    """From the name of a plugin to its own settings; a text env:NAME or file:PATH is read from there."""
    at_once: int = 1
    """Jobs at most that are done at a time."""
    calls_per_day: int | None = 200
    """Calls at most in a day (UTC); none: no limit."""
    tokens_per_day: int | None = 200_000
    """Tokens asked and answered at most in a day, characters / 4; none: no limit."""
    timeout_s: float = 120.0
    """How long an answer is waited for, seconds."""
    quiet_s: float = 10.0
    """Jobs wait until nobody has talked for so long, seconds."""
    piece_tokens: int = 2000
    """Of a long talk, tokens at most that a model is asked to summarise in one go."""


@dataclass(frozen=True)
class IntrospectionConfig:
    """When a language model looks at what was said, and how much it may propose."""

    enabled: bool = True
    """Whether it does, where a model is named."""
    turn_interval: int = 5
    """After so many things that a person said in a session."""
    idle_timeout_minutes: float = 10.0
    """Or when nobody has said anything in it for so long, minutes."""
    max_tool_calls: int = 10
    """So many proposals of one look are carried out at most."""
    model: str | None = None
    """The plugin that is asked; none: no model looks at anything."""

    @property
    def wanted(self) -> str | None:
        """The plugin that is asked; None where none is to be."""
        return self.model if self.enabled else None


@dataclass(frozen=True)
class BusConfig:
    """What requests over the bus may do."""

    changes: str = "open"
    """open, or closed: over the bus nothing can be changed, only read."""


@dataclass(frozen=True)
class WebConfig:
    """The owner's page, where the extra ``web`` is installed."""

    enabled: bool = True
    """Whether the daemon serves it."""
    host: str = "127.0.0.1"
    """The address that it is served on; there is no TLS, whatever it is."""
    port: int = 8188
    """Its port; 0: any that is free."""
    names: tuple[str, ...] = ()
    """Host names under which it may be asked for, besides localhost and addresses in digits."""


@dataclass(frozen=True)
class EncryptionConfig:
    """Whether the files in the data folder are encrypted."""

    key: str | None = field(default=None, repr=False)
    """Where the key is: file:PATH, env:NAME, keyring, keyring:SERVICE or prompt; none: nothing is encrypted."""


@dataclass(frozen=True)
class KindConfig:
    """Where one kind of memory is kept."""

    backend: str | None = None
    """Name of the backend; none: that of ``backend`` where no kind names one, else this kind is off."""
    connection: str | None = field(default=None, repr=False)
    """Connection of the backend; env:NAME or file:PATH where it is a secret."""
    collection: str | None = None
    """Name of the collection in the backend."""
    ttl: float | None = None
    """Time to live, seconds; none: until it is forgotten."""
    top_k: int | None = None
    """Recalled records of this kind in a persona's context at most; of semantic and
    episodic: in place of recall.limit and recall.episodes."""


@dataclass(frozen=True)
class KindsConfig:
    """Where each kind of memory is kept."""

    conversational: KindConfig = field(default_factory=KindConfig)
    """Turns, and the summaries of sessions."""
    semantic: KindConfig = field(default_factory=KindConfig)
    """The vectors of search by meaning, and documents."""
    episodic: KindConfig = field(default_factory=KindConfig)
    """Episodes."""
    facts: KindConfig = field(default_factory=KindConfig)
    """Lasting memories, and facts about people."""

    @property
    def chosen(self) -> dict[str, KindConfig]:
        """The kinds that name a backend; empty where all kinds share one."""
        every = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: kind for name, kind in every.items() if kind.backend is not None}


@dataclass(frozen=True)
class MemoryConfig:
    """All settings."""

    data_dir: str | None = None
    """The data folder; none: ovos_persona_memory in the user's XDG data folder."""
    backend: str = "sqlite"
    """The backend of all records, unless ``kinds`` says otherwise."""
    connection: str | None = field(default=None, repr=False)
    """Connection of a backend that is a server; env:NAME or file:PATH where it is a secret."""
    collection: str | None = None
    """Name of the collection in the backend."""
    default_persona: str | None = None
    """The persona of a request over the bus that names none; none: intents.persona.default_persona."""
    announce: bool = True
    """Whether the first start says aloud that it remembers."""
    history: HistoryConfig = field(default_factory=HistoryConfig)
    recall: RecallConfig = field(default_factory=RecallConfig)
    identity: IdentityConfig = field(default_factory=IdentityConfig)
    capture: CaptureConfig = field(default_factory=CaptureConfig)
    facts: FactsConfig = field(default_factory=FactsConfig)
    retention: RetentionConfig = field(default_factory=RetentionConfig)
    secrets: SecretsConfig = field(default_factory=SecretsConfig)
    models: ModelsConfig = field(default_factory=ModelsConfig)
    introspection: IntrospectionConfig = field(default_factory=IntrospectionConfig)
    bus: BusConfig = field(default_factory=BusConfig)
    web: WebConfig = field(default_factory=WebConfig)
    kinds: KindsConfig = field(default_factory=KindsConfig)
    encryption: EncryptionConfig = field(default_factory=EncryptionConfig)

    @property
    def named_models(self) -> dict[str, str]:
        """From a kind of job to the plugin that the settings name for it."""
        facts = self.models.facts if self.facts.learn else None
        named = {"summary": self.models.summary, "introspection": self.introspection.wanted, "facts": facts}
        return {kind: name for kind, name in named.items() if name is not None}

    @property
    def folder(self) -> Path:
        """The data folder."""
        return Path(self.data_dir).expanduser() if self.data_dir else default_folder()


CHOICES = {
    "history.key": ("session", "site"),
    "history.strategy": ("sliding_window", "token_budget", "summary"),
    "identity.trust": ("none", "configured", "session"),
    "bus.changes": ("open", "closed"),
}


LEAST = {
    "history.window_size": 0,
    "history.max_tokens": 0,
    "history.summary_threshold": 1,
    "history.summary_tokens": 32,
    "history.context_tokens": 32,
    "recall.context_entry_limit": 0,
    "models.at_once": 1,
    "models.calls_per_day": 0,
    "models.tokens_per_day": 0,
    "models.timeout_s": 0.1,
    "models.quiet_s": 0,
    "models.piece_tokens": 200,
    "introspection.turn_interval": 1,
    "introspection.idle_timeout_minutes": 0,
    "introspection.max_tool_calls": 0,
    "web.port": 0,
}
"""Settings that are numbers, and the least that each may be."""
HIGHEST_PORT = 65535
ALSO = {"context_entry_limit": "recall", "introspection": ""}
"""Settings that may stand in the section ``memory``, too, each with the group that it belongs to; empty: to none."""


def default_folder() -> Path:
    """The data folder where none is set. Not under mycroft/, which OVOS's uninstaller deletes."""
    return Path(xdg_data_home()) / "ovos_persona_memory"


def load() -> MemoryConfig:
    """The settings of this device; ConfigError naming the setting that cannot be used."""
    loaded = parse(dict(Configuration().get(SECTION) or {}))
    persona = loaded.default_persona or persona_settings().get("default_persona")
    return replace(loaded, default_persona=str(persona) if persona else None)


def parse(section: dict[str, Any]) -> MemoryConfig:
    """Settings from a mapping; ConfigError naming the setting that is unknown or of the wrong type."""
    section = _in_their_groups(section)
    _refuse_unknown(section, MemoryConfig, "")
    try:
        config = msgspec.convert(section, MemoryConfig)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$.")
        raise ConfigError(f"{SECTION}.{path.rstrip('`')}: {problem}") from error
    for name, allowed in CHOICES.items():
        group, setting = name.split(".")
        value = getattr(getattr(config, group), setting)
        if value is not None and value not in allowed:
            raise ConfigError(f"{SECTION}.{name}: {value!r} is none of {', '.join(allowed)}")
    _refuse_unusable_numbers(config)
    _refuse_unusable_kinds(config.kinds)
    for setting in ("map", "clients"):
        for place, user_id in getattr(config.identity, setting).items():
            _refuse_unusable(f"{setting}.{place}", user_id)
    for relation in ("children", "carers"):
        for user_id, others in getattr(config.identity, relation).items():
            _check_relation(config.identity, f"{relation}.{user_id}", user_id, others)
    return config


def _in_their_groups(section: dict[str, Any]) -> dict[str, Any]:
    """The settings with those of a section ``memory`` in their groups; ConfigError naming one that is given twice."""
    also = section.get("memory")
    if not isinstance(also, dict):
        return section
    moved = {name: value for name, value in section.items() if name != "memory"}
    for name, value in also.items():
        if name not in ALSO:
            raise ConfigError(f"{SECTION}.memory.{name}: there is no such setting")
        group = moved.get(ALSO[name], {}) if ALSO[name] else moved
        if not isinstance(group, dict) or name in group:
            raise ConfigError(f"{SECTION}.memory.{name}: {'.'.join(filter(None, (ALSO[name], name)))} is set, too")
        moved |= {ALSO[name]: {**group, name: value}} if ALSO[name] else {name: value}
    return moved


def _refuse_unusable_numbers(config: MemoryConfig) -> None:
    for name in ("turns_days", "episodes_days", "decisions_days"):
        days = getattr(config.retention, name)
        if days is not None and days <= 0:
            raise ConfigError(f"{SECTION}.retention.{name}: must be above 0")
    for name, least in LEAST.items():
        group, setting = name.split(".")
        value = getattr(getattr(config, group), setting)
        if value is not None and value < least:
            raise ConfigError(f"{SECTION}.{name}: must not be below {least}")
    if config.web.port > HIGHEST_PORT:
        raise ConfigError(f"{SECTION}.web.port: must not be above {HIGHEST_PORT}")


def _refuse_unusable_kinds(kinds: KindsConfig) -> None:
    for name in (one.name for one in fields(kinds)):
        kind, place = getattr(kinds, name), f"{SECTION}.kinds.{name}"
        if kind.ttl is not None and name == "facts":
            raise ConfigError(f"{place}.ttl: what is known of people and what is to be kept does not expire")
        if (kind.ttl is not None and kind.ttl <= 0) or (kind.top_k is not None and kind.top_k < 0):
            raise ConfigError(f"{place}: ttl must be above 0, and top_k not below 0")
        if kind.backend is None and (kind.connection or kind.collection):
            raise ConfigError(f"{place}.backend: is missing, though a connection or a collection is given")


def settled(config: MemoryConfig) -> MemoryConfig:
    """The settings with the consequences of the kinds' own settings: what is off, retention and limits."""
    kinds, chosen = config.kinds, config.kinds.chosen
    kept = config.retention
    turns, episodes = _shorter(kept.turns_days, kinds.conversational), _shorter(kept.episodes_days, kinds.episodic)
    documents = _shorter(kept.documents_days, kinds.semantic)
    limit = config.recall.limit if kinds.semantic.top_k is None else kinds.semantic.top_k
    lately = config.recall.episodes if kinds.episodic.top_k is None else kinds.episodic.top_k
    embedder = "none" if chosen and "semantic" not in chosen else config.recall.embedder
    return replace(
        config,
        retention=replace(kept, turns_days=turns, episodes_days=episodes, documents_days=documents),
        recall=replace(config.recall, limit=limit, episodes=lately, embedder=embedder),
        facts=replace(config.facts, learn=config.facts.learn and not (chosen and "facts" not in chosen)),
    )


def _shorter(days: float | None, kind: KindConfig) -> float | None:
    ttl_days = None if kind.ttl is None else kind.ttl / 86400
    return min((one for one in (days, ttl_days) if one is not None), default=None)


def secret(setting: str | None) -> str | None:
    """A setting that may be stored in the environment (``env:NAME``) or in a file (``file:PATH``).

    ConfigError, which never quotes what was read, where there is none.
    """
    where, _, name = (setting or "").partition(":")
    if where == "env":
        if not (found := os.environ.get(name)):
            raise ConfigError(f"the environment variable {name}, which a setting is to be read from, is not set")
        return found
    if where != "file":
        return setting
    try:
        return Path(name).expanduser().read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        problem = "is missing" if isinstance(error, FileNotFoundError) else "cannot be read"
        raise ConfigError(f"the file {name}, which a setting is to be read from, {problem}") from error


KEYRING_SERVICE, KEYRING_USER = "ovos-persona-memory", "encryption"
"""Under which names the keyring keeps the key, unless the setting names another service."""
_TYPED: dict[str, str] = {}
"""Keys that were typed, by what was asked: nobody types one twice in a process."""


def encryption_key(setting: str | None, asking: str = "Key of the memory") -> str | None:
    """The key that ``encryption.key``, or an option of that form, points to; None where it is not set.

    ConfigError, which never quotes a key, where there is none, or where others could read it.
    """
    if setting is None:
        return None
    key = _key_at(setting, asking)
    if not key:
        raise ConfigError(f"the key at {setting} is empty")
    return key


def _key_at(setting: str, asking: str) -> str | None:
    where, _, name = setting.partition(":")
    if where == "file":
        _refuse_open_to_others(Path(name).expanduser())
    if where in ("file", "env"):
        return secret(setting)
    if where == "keyring":
        return _from_keyring(name or KEYRING_SERVICE)
    if setting == "prompt":
        return _typed(asking)
    raise ConfigError("a key is not written here: say where it is, file:PATH, env:NAME, keyring or prompt")


def _refuse_open_to_others(path: Path) -> None:
    with suppress(OSError):  # reading it says more
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"the file {path} holds a key, and others may read it: chmod 600 {path}")


def _from_keyring(service: str) -> str:
    try:
        keyring: Any = import_module("keyring")
    except ImportError as error:
        raise ConfigError("the package keyring is missing: pip install 'ovos-persona-memory[encryption]'") from error
    try:
        found = keyring.get_password(service, KEYRING_USER)
    except keyring.errors.KeyringError as error:
        raise ConfigError(f"the keyring cannot be opened: {error}") from error
    if found is None:
        raise ConfigError(f"the keyring holds no key: keyring set {service} {KEYRING_USER}")
    return str(found)


def _typed(asking: str) -> str:
    if asking not in _TYPED:
        if not sys.stdin.isatty():
            raise ConfigError("the key is to be typed, and nobody can be asked here: use file:PATH or keyring")
        _TYPED[asking] = getpass.getpass(f"{asking}: ", sys.stderr)
    return _TYPED[asking]


def _check_relation(identity: IdentityConfig, name: str, user_id: str, others: tuple[str, ...]) -> None:
    """Raise ConfigError unless both sides are users who are told apart, and they differ."""
    for one in (user_id, *others):
        _refuse_unusable(name, one)
        if one in (HOUSEHOLD, GUEST):
            raise ConfigError(f"{SECTION}.identity.{name}: {one} is nobody in particular")
    if user_id in others:
        raise ConfigError(f"{SECTION}.identity.{name}: nobody does that for themselves")
    if identity.trust == "none":
        raise ConfigError(f"{SECTION}.identity.{name}: needs identity.trust, else nobody is told apart")


def _refuse_unusable(name: str, user_id: str) -> None:
    if not user_id.strip() or not is_clean(user_id) or len(user_id) > MAX_USER_ID:
        raise ConfigError(f"{SECTION}.identity.{name}: {user_id[:40]!r} cannot be the name of a user")


def persona_settings() -> dict[str, Any]:
    """ovos-persona's own settings, with ``personas_path``, the folder of the user's personas."""
    section = (Configuration().get("intents") or {}).get("persona") or {}
    return {"personas_path": get_xdg_config_save_path("ovos_persona")} | dict(section)


def pipeline() -> tuple[str, ...]:
    """The stages of the intent pipeline, in their order."""
    stages = (Configuration().get("intents") or {}).get("pipeline")
    return tuple(map(str, stages)) if isinstance(stages, list) else ()


def bus_address(host: str | None = None, port: int | None = None) -> dict[str, Any]:
    """The address of the messagebus: host, port, route and ssl by ovos-config, unless given."""
    configured: dict[str, Any] = load_message_bus_config()._asdict()
    return configured | ({"host": host} if host else {}) | ({"port": port} if port else {})


def device_language() -> str:
    """The language that the assistant speaks by default, a BCP-47 tag."""
    return str(Configuration().get("lang") or "en-US")


def device_languages() -> tuple[str, ...]:
    """The languages that the assistant understands, BCP-47 tags, its default language first."""
    others = Configuration().get("secondary_langs")
    return (device_language(), *map(str, others if isinstance(others, list) else ()))


def device_timezone() -> str | None:
    """The time zone of the device's location, an IANA name; None where the settings name none."""
    named = (Configuration().get("location") or {}).get("timezone") or {}
    return str(named["code"]) if isinstance(named, dict) and named.get("code") else None


def seconds(block: Mapping[str, Any], name: str, default: float) -> float:
    """A span in a plugin's block; ConfigError naming it where it is no number above 0."""
    value = block.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ConfigError(f"{name}: {value!r} is no number of seconds above 0")
    return float(value)


def _refuse_unknown(section: dict[str, Any], cls: type, prefix: str) -> None:
    known = {f.name: f for f in fields(cls)}
    for name, value in section.items():
        if name not in known:
            raise ConfigError(f"{SECTION}.{prefix}{name}: there is no such setting")
        group = known[name].default_factory
        if isinstance(group, type) and is_dataclass(group) and isinstance(value, dict):
            _refuse_unknown(value, group, f"{prefix}{name}.")
