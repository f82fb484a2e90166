"""What the plugins of ovos-memory-plugins have kept, as records of ours. Their files are only read.

Their formats as of 1.2.3a1: a JSON object by session (a summary and recent messages, or facts), an SQLite table
``sessions`` of the same, and an FTS5 table of exchanges written "Q: …" and "A: …".
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.records import Role, Turn

ROLES: tuple[Role, ...] = ("user", "assistant")
FTS_COLUMNS = ["doc_id", "session_id", "content"]


@dataclass(frozen=True)
class ForeignSession:
    """What a file holds of one session."""

    session_id: str
    turns: tuple[Turn, ...] = ()
    """Oldest first."""
    facts: tuple[str, ...] = ()
    summary: str = ""

    @property
    def name(self) -> str:
        """The same for the same content: what comes again is known by it."""
        said = [self.session_id, [[turn.role, turn.text] for turn in self.turns]]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]


def read_foreign(path: Path) -> list[ForeignSession]:
    """What a file of theirs holds, session by session; InvalidRequest where it is none of theirs."""
    try:
        with path.open("rb") as file:
            is_database = file.read(16).startswith(b"SQLite format 3")
        return list(_from_sqlite(path) if is_database else _from_json(path))
    except OSError as error:
        raise InvalidRequest(str(path), f"cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, AttributeError, sqlite3.Error) as error:
        raise InvalidRequest("file", f"{path} is no file of ovos-memory-plugins ({type(error).__name__})") from error


def _from_json(path: Path) -> Iterator[ForeignSession]:
    held: Mapping[str, Mapping[str, Any]] = json.loads(path.read_text("utf-8"))
    for session_id, record in held.items():
        yield _session(session_id, record, path.stat().st_mtime)


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
