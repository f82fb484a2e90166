"""Moving: everything to a file, and from a file."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from starlette.responses import FileResponse, Response, StreamingResponse

from ovos_persona_memory.errors import InvalidRequest, PersonaMemoryError, UnknownEntry
from ovos_persona_memory.protocol import MemoryClient
from ovos_persona_memory.records import HOUSEHOLD, Entry, Fact, Scope, Turn
from ovos_persona_memory.web import texts
from ovos_persona_memory.web.backups import BackupService
from ovos_persona_memory.web.visit import View, Visit

STEP = 500
"""Records that are asked for at once: others are answered in between."""
SMALLEST_S = 0.001
"""A span that is not halved any more, seconds."""
MOST_PROBLEMS = 20


def move(visit: Visit) -> Response:
    """The ways out and in, and the backups."""
    return _page(visit, outcome=None)


def restore(visit: Visit) -> Response:
    """What a backup holds, before it is put back."""
    backups = _backups(visit)
    wanted = visit.asked("name")
    [chosen] = [one for one in backups.listed() if one.name == backups.file(wanted).name]
    return visit.page("restore.html", chosen=chosen, holds=backups.counts(wanted))


def put_back(visit: Visit) -> Response:
    """Put a backup in the memory's place."""
    _backups(visit).put_back(visit.given("name"))
    visit.app.users_changed()
    return visit.back("/move", "restored")


def back_up(visit: Visit) -> Response:
    """Make a backup."""
    _backups(visit).make()
    return visit.back("/move", "backed_up")


def download(visit: Visit) -> Response:
    """The file of a backup."""
    file = _backups(visit).file(visit.places["name"])
    return FileResponse(file, media_type="application/octet-stream", filename=file.name)


def delete_backup(visit: Visit) -> Response:
    """Delete a backup."""
    _backups(visit).delete(visit.given("name"))
    return visit.back("/move", "backup_deleted")


def _backups(visit: Visit) -> BackupService:
    if visit.app.backups is None:
        raise UnknownEntry(visit.texts("gone_already"))
    return visit.app.backups


def _page(visit: Visit, **values: Any) -> Response:
    backups = None if visit.app.backups is None else visit.app.backups.listed()
    return visit.page("move.html", users=visit.app.users(), backups=backups, **values)


def export_jsonl(visit: Visit) -> Response:
    """Everything, one record a line."""
    scope = visit.scope()
    return _file(visit, "jsonl", (msgspec.json.encode(one) + b"\n" for one in _records(visit.memory, scope, visit.now)))


def export_markdown(visit: Visit) -> Response:
    """Everything, to be read."""
    return _file(visit, "md", _markdown(visit))


def take_in(visit: Visit) -> Response:
    """Take in a file; with ``dry`` only say what would be."""
    lines = [line for line in (visit.form.get("file") or [""])[0].splitlines() if line.strip()]
    if not lines:
        raise InvalidRequest("file", visit.texts("file_missing"))
    outcome = _taken_in(visit.memory, lines, is_dry=bool(visit.given("dry")))
    return _page(visit, outcome=outcome, is_dry=bool(visit.given("dry")))


def _file(visit: Visit, ending: str, content: Iterator[bytes]) -> Response:
    name = f"persona-memory-{texts.day_of(visit.now)}.{ending}"
    kind = {"jsonl": "application/x-ndjson", "md": "text/markdown; charset=utf-8"}[ending]
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(content, media_type=kind, headers=headers)


def _records(memory: MemoryClient, scope: Scope, until: float) -> Iterator[dict[str, Any]]:
    for turn in turns_between(memory, scope, 0.0, until):
        yield {"kind": "turn", **msgspec.to_builtins(turn)}
    for entry in _all(lambda limit, offset: memory.list(scope, limit, offset)):
        yield {"kind": "memory", **msgspec.to_builtins(entry)}
    for fact in _all(lambda limit, offset: memory.facts.list(scope, "all", limit=limit, offset=offset)):
        yield {"kind": "fact", **msgspec.to_builtins(fact)}


def turns_between(memory: MemoryClient, scope: Scope, since: float, until: float) -> Iterator[Turn]:
    """Every turn that was said in [since, until), by its time: a span with too many for one answer is halved, since
    the log is in order of arrival and what was told late stands elsewhere."""
    spans = [(since, until)]
    while spans:
        begins, ends = spans.pop()
        found = memory.turns(scope, begins, ends, STEP)
        if len(found) < STEP or ends - begins <= SMALLEST_S:
            yield from sorted(found, key=lambda turn: (turn.at or 0.0, turn.seq))
        else:
            middle = (begins + ends) / 2
            spans += [(middle, ends), (begins, middle)]


def _all(listed: Callable[[int, int], Sequence[Entry | Fact]]) -> Iterator[Entry | Fact]:
    offset = 0
    while found := listed(STEP, offset):
        yield from found
        offset += len(found)


def _markdown(visit: Visit) -> Iterator[bytes]:
    spoken, scope, day = visit.texts, visit.scope(), ""
    yield f"# {spoken('name')}\n\n## {spoken('known')}\n\n".encode()
    for listed in (visit.memory.list, functools.partial(_facts, visit.memory)):
        for one in _all(functools.partial(listed, scope)):
            yield f"- {_flat(one.text)} ({one.user_id})\n".encode()
    yield f"\n## {spoken('timeline')}\n".encode()
    for turn in turns_between(visit.memory, scope, 0.0, visit.now):
        if texts.day_of(turn.at or 0.0) != day:
            day = texts.day_of(turn.at or 0.0)
            yield f"\n### {day}\n\n".encode()
        who = (turn.speaker or turn.user_id) if turn.role == "user" else turn.persona_id or turn.role
        yield f"- {spoken.time(turn.at or 0.0)} **{_flat(who)}**: {_flat(str(turn.text))}\n".encode()


def _facts(memory: MemoryClient, scope: Scope, limit: int, offset: int) -> list[Fact]:
    return memory.facts.list(scope, limit=limit, offset=offset)


def _flat(text: str) -> str:
    """A text as one line in which nothing is markup."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|" else c for c in " ".join(text.split()))


def _taken_in(memory: MemoryClient, lines: Sequence[str], is_dry: bool) -> dict[str, Any]:
    done: dict[str, Any] = {"turn": 0, "memory": 0, "fact": 0, "problems": []}
    for number, line in enumerate(lines, 1):
        try:
            read = msgspec.json.decode(line)
            kind = read.get("kind") if isinstance(read, dict) else None
            if kind not in _KEEPS:
                raise InvalidRequest("kind", "must be turn, memory or fact")
            taken = _KEEPS[kind](memory, read, is_dry)
            done[kind] += taken
        except (PersonaMemoryError, msgspec.MsgspecError, TypeError) as error:
            if len(done["problems"]) < MOST_PROBLEMS:
                done["problems"].append((number, str(error)))
    return done


def _keep_turn(memory: MemoryClient, read: dict[str, Any], is_dry: bool) -> int:
    turn = replace(msgspec.convert(read, Turn))  # msgspec leaves out what a line leaves out, and the check wants all
    scope = Scope(turn.session_id, turn.user_id, turn.persona_id, turn.site_id, turn.task_id)
    if turn.redacted:
        return 0
    if not is_dry:
        # under this name the same line is recorded once
        name = hashlib.sha256(f"{turn.id}\n{turn.at}\n{turn.text}".encode()).hexdigest()[:40]
        memory.record([turn], scope, as_passed=True, delivery_id=f"file-{name}", learn=False)
    return 1


def _keep_memory(memory: MemoryClient, read: dict[str, Any], is_dry: bool) -> int:
    entry = msgspec.convert(read, Entry)
    if not is_dry:
        scope = Scope(entry.session_id, entry.user_id, entry.persona_id, entry.site_id, entry.task_id)
        memory.remember(entry.text, scope, entry.key, entry.metadata, entry.lang, status=entry.status)
    return 1


def _keep_fact(memory: MemoryClient, read: dict[str, Any], is_dry: bool) -> int:
    fact = msgspec.convert(read, Fact)
    if fact.status != "active":
        return 0
    if not is_dry:
        scope = Scope(fact.session_id, fact.user_id or HOUSEHOLD, fact.persona_id, fact.site_id, fact.task_id)
        memory.facts.add(fact.text, scope, fact.confidence, fact.topics, fact.lang)
    return 1


_KEEPS = {"turn": _keep_turn, "memory": _keep_memory, "fact": _keep_fact}

ADDRESSES: tuple[tuple[str, str, View], ...] = (
    ("GET", "/move", move),
    ("GET", "/move/export.jsonl", export_jsonl),
    ("GET", "/move/export.md", export_markdown),
    ("POST", "/move/import", take_in),
    ("GET", "/move/restore", restore),
    ("POST", "/move/restore", put_back),
    ("POST", "/move/backup", back_up),
    ("GET", "/move/backup/{name}", download),
    ("POST", "/move/backup/delete", delete_backup),
)
