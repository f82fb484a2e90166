"""``doctor``: whether everything that the memory needs is there, and how to mend what is not."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any, Literal, get_args

import rich_click as click
from rich.text import Text

from ovos_persona_memory import stores
from ovos_persona_memory.cli.connection import settings, url
from ovos_persona_memory.cli.options import address_options, data_option, examples, json_option
from ovos_persona_memory.cli.output import Command, answer_json, answer_text, plain, progress
from ovos_persona_memory.cli.show import waiting_for_store, without_vectors
from ovos_persona_memory.config import MemoryConfig, bus_address, encryption_key, persona_settings, pipeline
from ovos_persona_memory.errors import ConfigError, NoAnswer, PersonaMemoryError, WrongKey
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import Inject, Scope
from ovos_persona_memory.service import open_model

State = Literal["ok", "warning", "problem"]
COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}

PLUGIN = "ovos-persona-memory-plugin"
WRAPPER = "ovos-persona-memory-remember"
OPENAI = "ovos-chat-openai-plugin"
STAGE = "ovos-persona-pipeline-plugin"
IN_SYSTEM = ("system", "system_prompt")
"""Injection modes that put recalled text into the system message."""
PACKAGES = ("ovos-bus-client", "ovos-plugin-manager", "ovos-persona", "ovos-core")
START = "start it: ovos-persona-memory run, or systemctl --user start ovos-persona-memory"
BUS_WITHIN_S, DAEMON_WITHIN_S = 3.0, 2.0
LITTLE_BYTES, TOO_LITTLE_BYTES = 500_000_000, 50_000_000
OLDEST_SQLITE = (3, 40)


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    check: str
    """What was checked."""
    state: State
    found: str
    mend: str = ""
    """How to mend it; empty where nothing is wrong."""


@click.command(cls=Command, epilog=examples("doctor", "doctor --json"))
@data_option
@address_options
@json_option
def doctor(data: Path | None, host: str | None, port: int | None, as_json: bool) -> None:
    """Check the messagebus, the daemon, the store, the settings and the personas. Status 0 where nothing is wrong."""
    with progress("Looking"):
        found = list(examine(data, bus_address(host, port)))
    if as_json:
        answer_json(found)
    else:
        for one in found:
            _show(one)
    sys.exit(1 if any(one.state == "problem" for one in found) else 0)


def _show(one: Check) -> None:
    answer_text(Text.assemble((f"{one.state:<8}", COLOURS[one.state]), f" {one.check}: {plain(one.found)}"))
    if one.mend:
        answer_text(Text(f"         to mend: {plain(one.mend)}", style="dim"))


def examine(data: Path | None, address: dict[str, Any]) -> Iterator[Check]:
    """All checks, in the order in which things depend on each other."""
    config, of_settings = check_settings(data)
    yield of_settings
    yield from check_bus(address)
    door = check_door(config)
    yield door
    yield check_folder(config.folder)
    yield from check_stores(config, in_use=door.state == "ok")
    yield check_disk(config.folder)
    yield check_sqlite()
    yield check_model(config)
    current = has_chat_engines()
    yield check_line(current)
    yield from check_personas(current)


def check_settings(data: Path | None) -> tuple[MemoryConfig, Check]:
    """The settings, the defaults where they cannot be used, and the checks of them."""
    try:
        return settings(data), Check("settings", "ok", "can be used")
    except ConfigError as error:
        usable = replace(MemoryConfig(), data_dir=str(data.expanduser().absolute()) if data else None)
        return usable, Check("settings", "problem", error.reason, "correct it in mycroft.conf")


def check_bus(address: dict[str, Any]) -> Iterator[Check]:
    """The messagebus, and the daemon that answers on it."""
    try:
        client = MemoryClient.over_bus(timeout_s=DAEMON_WITHIN_S, connect_s=BUS_WITHIN_S, **address)
    except NoAnswer:
        mend = "start ovos-messagebus, or correct the section websocket in mycroft.conf"
        yield Check("messagebus", "problem", f"nothing answers at {url(address)}", mend)
        return
    with client:
        yield Check("messagebus", "ok", f"answers at {url(address)}")
        yield _daemon_says("daemon on the bus", client)


def check_door(config: MemoryConfig) -> Check:
    """The daemon at the owner's door."""
    try:
        with MemoryClient.over_door(config.folder, DAEMON_WITHIN_S) as client:
            return _daemon_says("daemon at the owner's door", client)
    except NoAnswer as error:
        return Check("daemon at the owner's door", "problem", error.reason, START)


def _daemon_says(name: str, client: MemoryClient) -> Check:
    try:
        status = client.ask("status", Scope())
    except NoAnswer as error:
        return Check(name, "problem", error.reason, START)
    except PersonaMemoryError as error:
        return Check(name, "problem", error.reason, "see its log: journalctl --user -u ovos-persona-memory")
    if status.get("waiting") or status.get("degraded"):
        found = f"{status['version']}; {waiting_for_store(status['waiting'])} for the store"
        return Check(name, "warning", found, "they are delivered when it is there again: see the checks of the stores")
    if status.get("last_error"):
        return Check(name, "warning", f"{status['version']}; its last error: {status['last_error']}", "see its log")
    if status["meaning"].get("problem"):
        mend = "see the settings recall.embedder and kinds.semantic in docs/config.md"
        return Check(
            name, "warning", f"{status['version']}; no search by meaning: {status['meaning']['problem']}", mend
        )
    return Check(name, "ok", f"{status['version']} answers{without_vectors(status['index_lag'])}")


def check_folder(folder: Path) -> Check:
    """The data folder: there, writable, closed to others."""
    if not folder.is_dir():
        return Check("data folder", "warning", f"{folder} is not there", "the daemon makes it when it starts")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return Check("data folder", "problem", f"{folder} cannot be written", f"sudo chown -R $USER {folder}")
    if mode := _open_to_others(folder):
        return Check("data folder", "problem", f"{folder} has mode {mode}: others may look", f"chmod 700 {folder}")
    return Check("data folder", "ok", f"{folder} is there, and yours alone")


def _open_to_others(path: Path) -> str:
    """The mode, where other users have any permission."""
    mode = stat.S_IMODE(path.stat().st_mode)
    return f"{mode:04o}" if mode & 0o077 else ""


def check_stores(config: MemoryConfig, in_use: bool) -> Iterator[Check]:
    """Checks of the location of each kind of memory; a location that keeps several kinds is checked once."""
    try:
        places = stores.store_locations(config)
        for place in dict.fromkeys(places.values()):
            kinds = ", ".join(name for name, one in places.items() if one == place)
            folder = stores.folder_of(place, config.folder)
            if folder is None:
                yield check_server(place, kinds)
            else:
                yield check_database(stores.database_in(folder), in_use, place.key)
                yield check_set_aside(folder)
    except ConfigError as error:
        yield Check("stores", "problem", error.reason, "correct it in mycroft.conf")


def check_server(place: stores.StoreLocation, kinds: str) -> Check:
    """Whether a location that is no file can be used."""
    about = f"store for {kinds}"
    try:
        stores.check_location(place)
    except ConfigError as error:
        return Check(about, "problem", error.reason, "see docs/config.md, kinds of memory")
    except PersonaMemoryError as error:
        return Check(
            about, "problem", f"{place}: {error.reason}", "start it, or correct the connection in mycroft.conf"
        )
    return Check(about, "ok", f"{place} can be used")


def check_database(path: Path, in_use: bool, key: str | None = None) -> Check:
    """The database: private and sound. One that a daemon has open was checked by the daemon. ``key``: where it is."""
    if not os.access(path.parent, os.X_OK) or not path.exists():
        return Check("database", "ok", "nothing is kept yet")
    if mode := _open_to_others(path):
        return Check("database", "problem", f"{path} has mode {mode}: others may read it", f"chmod 600 {path}")
    try:
        wrong = None if in_use else stores.inspect(path, encryption_key(key))
    except WrongKey as error:
        return Check("database", "problem", error.reason, "name its key in encryption.key of mycroft.conf")
    if wrong:
        mend = "the next start sets it aside and begins anew; put a backup in its place before that"
        return Check("database", "problem", f"{path}: {wrong}", mend)
    cipher = ", encrypted" if key else ""
    return Check("database", "ok", f"{path}, {path.stat().st_size / 1e6:.1f} MB{cipher}")


def check_set_aside(folder: Path) -> Check:
    """Databases that an earlier start set aside because they could not be used."""
    names = sorted(path.name for path in folder.glob("*.damaged-*") if not path.name.endswith(("-wal", "-shm")))
    if not names:
        return Check("set aside", "ok", "no database was set aside")
    return Check("set aside", "warning", ", ".join(names), f"save what you need of them, then delete them in {folder}")


def check_disk(folder: Path) -> Check:
    """Room on the disk of the data folder."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    state: State = "problem" if free < TOO_LITTLE_BYTES else "warning" if free < LITTLE_BYTES else "ok"
    return Check("disk", state, f"{free / 1e6:.0f} MB free", "" if state == "ok" else "make room on this disk")


def check_sqlite() -> Check:
    """SQLite as Python brings it: new enough, with full-text search."""
    version = sqlite3.sqlite_version
    with closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
        except sqlite3.OperationalError:
            return Check("SQLite", "problem", f"{version} has no FTS5", "use a Python whose SQLite has FTS5")
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Check("SQLite", "warning", f"{version} is older than what was tested", "use a newer Python")
    return Check("SQLite", "ok", f"{version} with FTS5")


MODELS_FOR = {"summary": "for summaries", "introspection": "for introspection", "facts": "for facts"}
"""What a language model is for, by the kind of job."""


def check_model(config: MemoryConfig) -> Check:
    """Which language models work for the memory, and where what they are asked goes to."""
    try:
        models = {kind: open_model(kind, config.models, name) for kind, name in config.named_models.items()}
    except ConfigError as error:
        return Check("language model", "problem", error.reason, "see docs/models.md")
    told = [f"{MODELS_FOR[kind]}: {model.described}" for kind, model in models.items() if model is not None]
    return Check("language model", "ok", "; ".join(told) or "none: nothing that was said goes to one")


def has_chat_engines() -> bool:
    """Whether this is the current line of OVOS: the stable one has no chat engines."""
    if util.find_spec("ovos_plugin_manager.templates.agents") is None:
        return False
    return hasattr(import_module("ovos_plugin_manager.templates.agents"), "ChatEngine")


def check_line(current: bool) -> Check:
    """The installed line of OVOS."""
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    if current:
        return Check("OVOS", "ok", f"current line: {versions}")
    found = f"stable line: {versions}. Personas load no memory here and Scribe is not offered"
    return Check("OVOS", "warning", found, "the daemon records all the same; for personas, install the current line")


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def check_personas(current: bool) -> Iterator[Check]:
    """The user's own personas: whether the memory reaches them."""
    section = persona_settings()
    folder = Path(section["personas_path"])
    files = sorted(folder.glob("*.json"))
    names: list[str] = []
    for path in files:
        persona = _persona(path)
        if persona is None:
            mend = "correct it or move it away: ovos-persona loads no persona at all past such a file"
            wrong = "is no persona: not a JSON object" if path.exists() else f"is a link to {path.readlink()}: missing"
            yield Check(f"persona {path.stem}", "problem", f"{path} {wrong}", mend)
            continue
        names.append(str(persona.get("name") or path.stem))
        if current:
            yield from check_persona(names[-1], persona, path)
    if not files:
        yield Check("personas", "ok", f"none of your own in {folder}; Scribe comes with the memory")
    yield from _check_default(section, names)
    yield check_pipeline(pipeline(), section, wanted=bool(names or section.get("default_persona")))


def check_pipeline(stages: Sequence[str], section: Mapping[str, Any], wanted: bool) -> Check:
    """Whether utterances reach personas. ``wanted``: the user has set one up."""
    named = [stage for stage in stages if stage.startswith(STAGE)]
    if not named:
        mend = f'name "{STAGE}-high" and "{STAGE}-low" in intents.pipeline of mycroft.conf, see docs/personas.md'
        state: State = "problem" if wanted else "warning"
        return Check("pipeline", state, "intents.pipeline does not name ovos-persona: no persona answers", mend)
    missing = _keeps_from_default(named, section) if section.get("default_persona") else ""
    if missing:
        return Check("pipeline", "warning", "the default persona answers only who asks for it by name", missing)
    return Check("pipeline", "ok", f"names {', '.join(named)}")


def _keeps_from_default(named: Sequence[str], section: Mapping[str, Any]) -> str:
    """What to do so that the default persona answers what no skill took; empty where it does."""
    if f"{STAGE}-low" not in named:
        return f'name "{STAGE}-low" in intents.pipeline of mycroft.conf, too'
    return "" if section.get("handle_fallback") else 'write "handle_fallback": true in intents.persona of mycroft.conf'


def _persona(path: Path) -> dict[str, Any] | None:
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return read if isinstance(read, dict) else None


def check_persona(name: str, persona: Mapping[str, Any], path: Path) -> Iterator[Check]:
    """Whether the memory reaches one persona completely."""
    about = f"persona {name}"
    module = persona.get("memory_module")
    remembering = [name for name in (PLUGIN, WRAPPER) if name == module or name in _handlers(persona)]
    if not remembering:
        found = f"its memory_module is {module}" if module else "it names no memory_module"
        yield Check(about, "warning", f"{found}: it does not remember", f'write "memory_module": "{PLUGIN}" in {path}')
        return
    wrong = [one for name in remembering for one in _dropped(about, persona, path, name)]
    wrong += _misplaced(about, persona, path) if module == PLUGIN else []
    yield from wrong or [Check(about, "ok", "remembers")]


def _dropped(about: str, persona: Mapping[str, Any], path: Path, name: str) -> Iterator[Check]:
    """What of the memory's messages a chat engine leaves out. ``name``: of the plugin that hands them on."""
    block = _block(persona, name)
    inject = block.get("inject_mode") or get_args(Inject)[0]
    if inject not in get_args(Inject):
        mend = f'write one of {", ".join(get_args(Inject))} in the block "{name}" of {path}'
        yield Check(about, "problem", f"inject_mode {inject!r} is none: the memory is not loaded", mend)
    if all(engine.get("allow_system_prompts") for engine in _engines(persona)):
        return
    allow = f'write "allow_system_prompts": true in the block "{OPENAI}" of {path}'
    if inject in IN_SYSTEM:
        mend = f'{allow}, or "inject_mode": "user" in the block "{name}"'
        yield Check(about, "problem", f"{OPENAI} drops what is remembered", mend)
    elif block.get("system_prompt"):
        mend = f"{allow}, or move the system_prompt into that block"
        yield Check(about, "warning", f"{OPENAI} drops the system_prompt of the memory plugin", mend)


def _misplaced(about: str, persona: Mapping[str, Any], path: Path) -> Iterator[Check]:
    in_engine = any(engine.get("system_prompt") for engine in _engines(persona))
    if persona.get("system_prompt") and not _block(persona, PLUGIN).get("system_prompt") and not in_engine:
        mend = f'move it into the block "{PLUGIN}" of {path}'
        yield Check(about, "warning", "its system_prompt does not reach the memory plugin", mend)


def _engines(persona: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The settings of each chat engine that may drop system messages: a handler, or the brain of one."""
    for handler in _handlers(persona):
        block = _block(persona, str(handler))
        if handler == OPENAI:
            yield block
        if block.get("brain") == OPENAI:
            yield _block(block, OPENAI)


def _handlers(persona: Mapping[str, Any]) -> list[Any]:
    return list(persona.get("handlers") or persona.get("solvers") or [])


def _block(persona: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    block = persona.get(name)
    return block if isinstance(block, dict) else {}


def _check_default(section: Mapping[str, Any], names: list[str]) -> Iterator[Check]:
    chosen = section.get("default_persona")
    offered = [*names, *(entry.name for entry in metadata.entry_points(group="opm.plugin.persona"))]
    if chosen and chosen not in offered:
        found = f"intents.persona.default_persona is {chosen!r}, which is none of {', '.join(offered) or 'those here'}"
        yield Check("default persona", "warning", found, "correct it in mycroft.conf")
    elif chosen:
        yield Check("default persona", "ok", str(chosen))
