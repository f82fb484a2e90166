"""Commands that look: status, history, turn, sessions, recall, list, get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import rich_click as click

from ovos_persona_memory.cli.connection import Memory, open_memory
from ovos_persona_memory.cli.options import (
    data_option,
    everyone_option,
    examples,
    json_option,
    lang_option,
    persona_option,
    scope_of,
    secrets_option,
    status_option,
    user_option,
)
from ovos_persona_memory.cli.output import Command, answer, answer_json, answer_rows, say
from ovos_persona_memory.cli.time_format import format_time
from ovos_persona_memory.config import device_language
from ovos_persona_memory.errors import InvalidRequest, UnknownEntry
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import ACCEPTED, Entry, Hit, Role, Status
from ovos_persona_memory.text import counted, counted_kinds


@click.command(cls=Command, epilog=examples("status", "status --json"))
@data_option
@json_option
def status(data: Path | None, as_json: bool) -> None:
    """How the memory is: version, how much it holds, whether it remembers."""
    with open_memory(data) as memory:
        found = {**memory.status(), "daemon": isinstance(memory, MemoryClient)}
    if as_json:
        return answer_json(found)
    for name, value in _status_lines(found):
        answer(f"{name + ':':<12} {value}")
    return None


def by_meaning(found: Mapping[str, Any]) -> str:
    """The state of search by meaning, for people; ``found``: the answer of ``status``."""
    meaning, lag = found.get("meaning", {}), found["index_lag"]
    if meaning.get("problem"):
        return f"no: {meaning['problem']}"
    if meaning.get("embedder", "none") == "none":
        return "no: no embedder is chosen or installed"
    return f"{meaning['answering'] or meaning['embedder'] + ', not loaded'}{without_vectors(lag)}"


def without_vectors(lag: int) -> str:
    """How many texts search by meaning does not find yet, behind a semicolon; empty where it finds all."""
    return f"; {counted(lag, 'text waits for its vector', 'texts wait for their vectors')}" if lag else ""


def waiting_for_store(waiting: int) -> str:
    """How many arrivals the daemon has queued until its store is there again."""
    return counted(waiting, "turn or event waits", "turns and events wait")


def _status_lines(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    counts, store, capture = found["counts"], found["store"], found["capture"]
    until = f" until {format_time(capture['until'])}" if capture["until"] is not None else ""
    size = f", {store['bytes'] / 1e6:.1f} MB" if "bytes" in store else ""
    size += ", encrypted" if store.get("encrypted") else ""
    lines = [
        ("version", str(found["version"])),
        ("daemon", "running" if found["daemon"] else "not running"),
        ("store", f"{store.get('path', found['backend'])}{size}"),
        ("holds", counted_kinds(counts)),
        ("remembers", f"{_yes(capture['write'])}{until}"),
        ("recalls", f"{_yes(capture['read'])}{until}"),
    ]
    if found["daemon"]:
        lines.append(("messagebus", "connected" if found.get("bus") else "away"))
    lines.append(("by meaning", by_meaning(found)))
    lines += _of_models(found.get("models", {}))
    stale = [one["path"] for one in found.get("backups", ()) if one["stale"]]
    lines += [("backup", f"{path} still holds what was forgotten since: delete it") for path in stale]
    lines += [("set aside", f"{aside['path']}: {aside['reason']}") for aside in store.get("set_aside", ())]
    if found.get("waiting") or found.get("degraded"):
        lines.append(("store", f"away; {waiting_for_store(found['waiting'])} for it"))
    if found.get("last_error"):
        lines.append(("last error", str(found["last_error"])))
    return lines


def _of_models(models: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Which language models work for the memory and where to; nothing where none does."""
    names = {"summary": "summaries", "introspection": "introspection", "facts": "facts by a model"}
    named = [(shown_as, models[kind]) for kind, shown_as in names.items() if models.get(kind, {}).get("plugin")]
    if not named:
        return []
    used = f"{counted(models['calls'], 'call', 'calls')} today; {counted(models['jobs'], 'job waits', 'jobs wait')}"
    lines = [*((shown_as, _model(one)) for shown_as, one in named), ("models", used)]
    return [*lines, ("model fails", str(models["problem"]))] if models["problem"] else lines


def _model(one: Mapping[str, Any]) -> str:
    to = f", asked at {one['where']}" if one["where"] else ""
    return f"{one['plugin']}{to}{'; what was said leaves this device' if one['leaves_device'] else ''}"


def _yes(switch: bool) -> str:
    return "yes" if switch else "no"


@click.command(
    cls=Command,
    epilog=examples("history kitchen-1", "history --all-sessions --limit 100", "history kitchen-1 --role user"),
)
@click.argument("session", required=False)
@click.option("--session", "named", help="The same as the argument.")
@click.option("--all-sessions", is_flag=True, help="Of every session of the user, instead.")
@click.option("--role", "roles", type=click.Choice(get_args(Role)), multiple=True, help="Only messages of this role.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Messages at most.")
@user_option
@everyone_option
@data_option
@json_option
def history(  # one parameter an option
    session: str | None,
    named: str | None,
    all_sessions: bool,
    roles: tuple[Role, ...],
    limit: int,
    user: str | None,
    everyone: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """The newest messages of a SESSION as a persona gets them, oldest first."""
    session_id = session or named
    if bool(session_id) == all_sessions:
        problem = "cannot be given with --all-sessions" if session_id else "is missing; the command sessions lists them"
        raise InvalidRequest("SESSION", problem)
    scope = scope_of(user, everyone, session_id)
    with open_memory(data) as memory:
        messages = memory.history(scope, max_history=limit, hanging=True, roles=roles or None)
        say_if_not_read(memory, session_id, messages)
    if as_json:
        return answer_json({"messages": messages})
    if not messages:
        say("Nothing was said there." if session_id else "Nothing was said yet.")
    for message in messages:
        answer(f"{message.role}: {message.text}")
    return None


@click.command(cls=Command, epilog=examples("turn f8251a0ad58a41e39997f680ac95e79d --everyone"))
@click.argument("id")
@user_option
@everyone_option
@data_option
@json_option
def turn(id: str, user: str | None, everyone: bool, data: Path | None, as_json: bool) -> None:
    """One turn by its ID: when it was said, in which session, by whom, and its words."""
    with open_memory(data) as memory:
        found = memory.turn(id, scope_of(user, everyone))
        if found is None:
            say_if_not_read(memory, None, ())
            raise UnknownEntry(f"there is no turn with the id {id!r}")
    if as_json:
        return answer_json({"turn": found})
    row = [format_time(found.at or 0.0), found.user_id, found.session_id or "", found.speaker or found.role, found.text]
    return answer_rows(["when", "user", "session", "from", "text"], [row], "")


@click.command(cls=Command, epilog=examples("sessions", "sessions --everyone --limit 100"))
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Sessions at most.")
@user_option
@everyone_option
@data_option
@json_option
def sessions(limit: int, user: str | None, everyone: bool, data: Path | None, as_json: bool) -> None:
    """The sessions, the one that was last talked in first."""
    with open_memory(data) as memory:
        found = memory.sessions(scope_of(user, everyone), limit)
    if as_json:
        return answer_json({"sessions": found})
    rows = [
        [format_time(one.first_at), format_time(one.last_at), str(one.turns), one.user_id, one.session_id]
        for one in found
    ]
    return answer_rows(["first", "last", "turns", "user", "session"], rows, "Nobody has talked yet.")


@click.command(
    cls=Command,
    epilog=examples(
        'recall "what is my cat called"',
        'recall "the dentist" -k 20 --everyone',
        'recall "la poubelle" --lang fr-FR --json',
    ),
)
@click.argument("question")
@click.option("-k", type=click.IntRange(1, 1000), default=5, show_default=True, help="Hits at most.")
@click.option("--session", help="Only what was said in this session.")
@status_option("Only memories of this status; unless given accepted ones, and what was said.")
@lang_option
@user_option
@persona_option
@everyone_option
@data_option
@json_option
def recall(  # one parameter an option
    question: str,
    k: int,
    session: str | None,
    status: Status | None,
    lang: str | None,
    user: str | None,
    persona: str | None,
    everyone: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """Search for what answers a QUESTION, best first."""
    scope = scope_of(user, everyone, session, persona)
    with open_memory(data) as memory:
        hits = memory.recall(question, scope, k, lang=lang or device_language(), status=status)
        say_if_not_read(memory, session, hits)
    if as_json:
        return answer_json({"hits": hits})
    names = ["when", "sure", "score", "from", "text (why it was found)"]
    return answer_rows(names, [_hit_row(hit) for hit in hits], "Nothing was found.")


def _hit_row(hit: Hit) -> list[str]:
    origin = f"memory {hit.key}" if hit.key else hit.speaker or hit.role
    return [format_time(hit.at), _yes(hit.sure), f"{hit.score:.2f}", origin, f"{hit.text} ({hit.reason})"]


@click.command("list", cls=Command, epilog=examples("list", "list --everyone --limit 100", "list --status draft"))
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Memories at most.")
@click.option("--offset", type=click.IntRange(0, 1_000_000), default=0, help="Leave out so many first.")
@secrets_option
@status_option("Only those of this status.")
@user_option
@persona_option
@everyone_option
@data_option
@json_option
def list_(  # one parameter an option
    limit: int,
    offset: int,
    with_secrets: bool,
    status: Status | None,
    user: str | None,
    persona: str | None,
    everyone: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """The lasting memories, the last changed first."""
    with open_memory(data) as memory:
        entries = memory.list(
            scope_of(user, everyone, persona=persona), limit, offset, secrets=with_secrets, status=status
        )
        say_if_not_read(memory, None, entries)
    if as_json:
        return answer_json({"memories": entries})
    rows = [[format_time(entry.updated_at), entry.user_id, entry.key, _with_metadata(entry)] for entry in entries]
    return answer_rows(
        ["changed", "user", "key", "text"],
        rows,
        "There are no memories there." if not offset else "There are no more memories.",
    )


@click.command(cls=Command, epilog=examples("get bins", "get bins --user alice --json"))
@click.argument("key")
@secrets_option
@user_option
@persona_option
@data_option
@json_option
def get(  # one parameter an option
    key: str, with_secrets: bool, user: str | None, persona: str | None, data: Path | None, as_json: bool
) -> None:
    """One lasting memory."""
    with open_memory(data) as memory:
        entry = memory.get(key, scope_of(user, persona=persona), secrets=with_secrets)
        if entry is None:
            say_if_not_read(memory, None, ())
            raise UnknownEntry(f"there is no memory with the key {key!r}")
    return answer_json({"memory": entry}) if as_json else answer(_with_metadata(entry))


def _with_metadata(entry: Entry) -> str:
    told = [("persona", entry.persona_id), ("status", None if entry.status == ACCEPTED else entry.status)]
    given = [(name, value) for name, value in told if value is not None] + list(entry.metadata.items())
    metadata = " ".join(f"{name}={value}" for name, value in given)
    return f"{entry.text} [{metadata}]" if metadata else entry.text


def say_if_not_read(memory: Memory, session_id: str | None, found: Sequence[object]) -> None:
    """Tell why an answer is empty where reading is paused, which is easily overlooked."""
    if not found and not memory.capture(scope_of(None, session_id=session_id), session=session_id is not None).read:
        say("Reading is switched off; the command capture shows for how long.")
