"""What other memories have kept, as records of ours. Their files are only read.

- ovos-memory-plugins, formats as of 1.2.3a1: a JSON object by session (a summary and recent messages, or facts), an
  SQLite table ``sessions`` of the same, and an FTS5 table of exchanges written "Q: …" and "A: …".
- mem0: the answer of ``get_all`` or an export, a list of objects with ``memory``, bare or under ``results``,
  ``memories``, as of mem0ai 1.0.
- ChatGPT: ``conversations.json`` of a data export, or the zip that holds it: a list of conversations, each a tree of
  messages of which ``current_node`` is the end of what is shown.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import Role, Turn, text_of

ROLES: tuple[Role, ...] = ("user", "assistant")
FTS_COLUMNS = ["doc_id", "session_id", "content"]
LONGEST, TOGETHER, LONGEST_TOGETHER = 16384, 500, 400_000
"""Characters of a turn, turns of a delivery and characters of a delivery at most, so that the daemon takes each."""
NONE_OF_THEIRS = "no file of ovos-memory-plugins, mem0 or ChatGPT"


@dataclass(frozen=True)
class ForeignSession:
    """What a file holds of one session."""

    session_id: str
    turns: tuple[Turn, ...] = ()
    """Oldest first."""
    facts: tuple[str, ...] = ()
    summary: str = ""
    description: str = ""
    learn: bool = True
    """Whether the memory learns from the turns: what was typed to another assistant is often somebody else's text."""

    @property
    def name(self) -> str:
        """The same for the same content: what comes again is known by it."""
        said = [self.session_id, [[turn.role, turn.text] for turn in self.turns]]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]


def read_foreign(path: Path) -> list[ForeignSession]:
    """What a file of theirs holds, session by session; InvalidRequest where it is none of theirs."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
        if start.startswith(b"PK"):
            return list(_from_zip(path))
        return list(_from_sqlite(path) if start.startswith(b"SQLite format 3") else _from_json(path))
    except OSError as error:
        raise InvalidRequest(str(path), f"cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, AttributeError, KeyError, sqlite3.Error, zipfile.BadZipFile) as error:
        raise InvalidRequest("file", f"{path} is {NONE_OF_THEIRS} ({type(error).__name__})") from error


def deliveries(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """The turns in parts that one request can hold; a text that is too long for one is cut."""
    part: list[Turn] = []
    size = 0
    for turn in turns:
        text = text_of(turn.text)
        short = turn if len(text) <= LONGEST else replace(turn, text=f"{text[: LONGEST - 1]}…")
        if part and (len(part) == TOGETHER or size + len(text_of(short.text)) > LONGEST_TOGETHER):
            yield part
            part, size = [], 0
        part.append(short)
        size += len(text_of(short.text))
    if part:
        yield part


def _from_json(path: Path) -> Iterator[ForeignSession]:
    return _of_json(json.loads(path.read_text("utf-8")), path.stat().st_mtime)


def _from_zip(path: Path) -> Iterator[ForeignSession]:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if Path(name).name == "conversations.json"]
        if not names:
            raise ValueError("there is no conversations.json in it")
        for name in names:
            yield from _of_json(json.loads(archive.read(name)), path.stat().st_mtime)


def _of_json(held: Any, changed_at: float) -> Iterator[ForeignSession]:
    if isinstance(held, dict) and (listed := held.get("results", held.get("memories"))) and isinstance(listed, list):
        held = listed
    if isinstance(held, list) and held and all("mapping" in one for one in held):
        return (_of_chatgpt(one, changed_at) for one in held)
    if isinstance(held, list) and held and all(isinstance(one.get("memory"), str) for one in held):
        return iter([ForeignSession("mem0", facts=tuple(one["memory"] for one in held if one["memory"].strip()))])
    if not isinstance(held, dict):
        raise ValueError("its shape is not known")
    return (_session(session_id, record, changed_at) for session_id, record in held.items())


# of ChatGPT


def _of_chatgpt(conversation: Mapping[str, Any], changed_at: float) -> ForeignSession:
    name = str(conversation.get("conversation_id") or conversation.get("id") or conversation["title"])
    at = float(conversation.get("create_time") or changed_at)
    turns = []
    for message in _shown(conversation):
        text = _text(message.get("content") or {})
        role = (message.get("author") or {}).get("role")
        if role in ROLES and text:
            at = float(message.get("create_time") or at)
            turns.append(Turn(role, text, at))
    title = str(conversation.get("title") or "")
    return ForeignSession(f"chatgpt-{name}", tuple(turns), description=title, learn=False)


def _shown(conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages of the branch that is shown, oldest first."""
    nodes: Mapping[str, Any] = conversation["mapping"]
    found: list[Mapping[str, Any]] = []
    here, seen = str(conversation.get("current_node")), set[str]()
    while here in nodes and here not in seen:
        seen.add(here)
        message = nodes[here].get("message")
        hidden = ((message or {}).get("metadata") or {}).get("is_visually_hidden_from_conversation")
        if message and not hidden:
            found.append(message)
        here = str(nodes[here].get("parent"))
    return found[::-1]


def _text(content: Mapping[str, Any]) -> str:
    """The words of a message; pictures, code that was run and what a tool said have none."""
    if content.get("content_type") not in ("text", "multimodal_text"):
        return ""
    return "\n".join(part for part in content.get("parts") or [] if isinstance(part, str)).strip()


# of ovos-memory-plugins


def _session(session_id: str, record: Mapping[str, Any], changed_at: float) -> ForeignSession:
    at = float(record.get("updated_at") or changed_at)
    recent = [one for one in record.get("recent") or [] if one.get("role") in ROLES and one.get("content")]
    turns = (Turn(one["role"], str(one["content"]), at - len(recent) + place) for place, one in enumerate(recent))
    facts = tuple(str(fact) for fact in record.get("facts") or [] if str(fact).strip())
    return ForeignSession(session_id, tuple(turns), facts, str(record.get("summary") or ""))


def _from_sqlite(path: Path) -> Iterator[ForeignSession]:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        known = [name for name in tables if _columns(connection, name) == FTS_COLUMNS]
        if "sessions" not in tables and not known:
            raise ValueError("none of its tables is known")
        if "sessions" in tables:
            rows = connection.execute("SELECT session_id, summary, recent, updated_at FROM sessions ORDER BY rowid")
            for session_id, summary, recent, at in rows:
                record = {"summary": summary, "recent": json.loads(recent or "[]"), "updated_at": at}
                yield _session(session_id, record, path.stat().st_mtime)
        for name in known:
            yield from _exchanges(connection, name, path.stat().st_mtime)


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute("SELECT * FROM pragma_table_info(?)", (table,))]


def _exchanges(connection: sqlite3.Connection, table: str, changed_at: float) -> Iterator[ForeignSession]:
    rows = connection.execute(f'SELECT session_id, content FROM "{table}" ORDER BY rowid').fetchall()
    by_session: dict[str, list[Turn]] = {}
    for place, (session_id, content) in enumerate(rows):
        at = changed_at - 2.0 * (len(rows) - place)
        asked, _, answered = content.removeprefix("Q: ").partition("\nA: ")
        told = ((ROLES[0], asked.strip(), at), (ROLES[1], answered.strip(), at + 1.0))
        by_session.setdefault(session_id, []).extend(Turn(role, text, moment) for role, text, moment in told if text)
    for session_id, turns in by_session.items():
        yield ForeignSession(session_id, tuple(turns))
