"""A memory as one page in Markdown, for people: conversations by day, then memories and facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from ovos_persona_memory.memory.migration import ALL
from ovos_persona_memory.records import Entry, Fact, Scope, Turn, text_of
from ovos_persona_memory.stores import ACTIVE, Store

_STEERS = re.compile(r"([\\`*_{}\[\]<>#|])")


def write_markdown(store: Store, user_id: str | None = None, secrets: bool = False) -> Iterator[str]:
    """The lines of the page, without their ends. ``user_id``: whose; None: everybody's. Times are the device's own."""
    memories = Scope.whole() if secrets else ALL
    yield "# What the assistant remembers"
    turns = [one for one in _turns(store) if user_id in (None, one.user_id)]
    yield from _conversations(turns)
    entries = [one for one in store.entries(memories) if user_id in (None, one.user_id)]
    yield from _list("Memories", [_memory(one) for one in sorted(entries, key=lambda one: one.updated_at)])
    yield from _list("Facts", [_fact(fact) for fact, _ in store.fact_store.held(user_id, ACTIVE)])


def _turns(store: Store) -> Iterator[Turn]:
    return (one for one, _ in store.documents(ALL, frozenset({"turn"})) if isinstance(one, Turn))


def _conversations(turns: Sequence[Turn]) -> Iterator[str]:
    ordered = sorted(turns, key=lambda one: (_day(one), one.seq))
    for day, of_day in groupby(ordered, key=_day):
        yield ""
        yield f"## {day:%A, %-d %B %Y}"
        by_session: dict[tuple[str, str], list[Turn]] = {}
        for one in of_day:
            by_session.setdefault((one.session_id or "", one.site_id or ""), []).append(one)
        for (session, site), said in by_session.items():
            yield ""
            place = f" in {escaped(site)}" if site else ""
            yield f"### {f'Session {escaped(session)}' if session else 'Without a session'}{place}"
            yield ""
            yield from (_turn(one) for one in said)


def _day(turn: Turn) -> datetime:
    return datetime.fromtimestamp(turn.at or 0.0).replace(hour=0, minute=0, second=0, microsecond=0)


def _turn(turn: Turn) -> str:
    name = turn.speaker or (turn.user_id if turn.role == "user" else turn.persona_id or turn.skill_id or turn.role)
    text = "*taken out*" if turn.redacted else escaped(text_of(turn.text))
    return f"- {datetime.fromtimestamp(turn.at or 0.0):%H:%M} **{escaped(name)}**: {text}"


def _memory(entry: Entry) -> str:
    return f"{escaped(entry.text)} ({escaped(entry.key)}, {escaped(entry.user_id)}, {_date(entry.updated_at)})"


def _fact(fact: Fact) -> str:
    return f"{escaped(fact.text)} ({escaped(fact.user_id)}, {_date(fact.last_seen_at)})"


def _date(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%-d %B %Y}"


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"## {title}", "")
        yield from (f"- {line}" for line in lines)


def escaped(text: str) -> str:
    """The text on one line, with nothing in it that Markdown or HTML would take for a sign."""
    return _STEERS.sub(r"\\\1", " ".join(text.split())).replace("&", "&amp;")
