"""What a request to forget would take away, as far as it can be told beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ovos_persona_memory import language
from ovos_persona_memory.cli.reach import Memory
from ovos_persona_memory.cli.times import shown
from ovos_persona_memory.records import Entry, Scope, Session

MOST = 1000
"""Sessions and hits at most that are looked at."""
EXAMPLES = 5


def preview(memory: Memory, scope: Scope, conditions: Mapping[str, Any]) -> Iterator[str]:
    """Lines for people: the conditions, and how much they reach at most."""
    whose = "everybody" if scope.user_id is None else scope.user_id
    yield f"To be forgotten, of {whose}: {'; '.join(_words(scope, conditions))}."
    if not memory.capture(scope, session=scope.session_id is not None).read:
        yield "  Reading is switched off: what this reaches cannot be shown."
    elif "key" in conditions:
        entry = memory.get(conditions["key"], scope)
        yield f"  {entry.text}" if entry else "  There is no memory with this key."
    elif "query" in conditions:
        yield from _holding(memory, scope, conditions)
    elif "ids" not in conditions:
        yield from _reach(memory, scope, conditions)


def _words(scope: Scope, conditions: Mapping[str, Any]) -> Iterator[str]:
    said = {
        "key": "the memory {!r}",
        "query": "what holds all words of {!r}",
        "ids": "the records with the ids {!r}",
        "source": "what {!r} said",
    }
    if scope.session_id is not None:
        yield f"what was said in session {scope.session_id!r}"
    for name, value in conditions.items():
        if name in said:
            yield said[name].format(value)
        elif name in ("since", "until"):
            yield f"what was said {'since' if name == 'since' else 'before'} {shown(value)}"
    if "everything" in conditions and len(conditions) == 2 and scope.session_id is None:
        yield "everything"


def _holding(memory: Memory, scope: Scope, conditions: Mapping[str, Any]) -> Iterator[str]:
    spoken = language.of(conditions["lang"])
    wanted = set(spoken.content_words(conditions["query"]))
    hits = memory.recall(conditions["query"], scope, MOST, lang=conditions["lang"])
    texts = [hit.text for hit in hits if wanted <= set(spoken.words(f"{hit.key or ''} {hit.text}"))]
    yield f"  {len(texts)} found" + (", such as:" if len(texts) > EXAMPLES else ":" if texts else ".")
    yield from (f"  {text}" for text in texts[:EXAMPLES])


def _reach(memory: Memory, scope: Scope, conditions: Mapping[str, Any]) -> Iterator[str]:
    since, until = conditions.get("since", 0.0), conditions.get("until", float("inf"))
    sessions = [one for one in memory.sessions(scope, MOST) if one.first_at < until and one.last_at >= since]
    whole = all(one.first_at >= since and one.last_at < until for one in sessions) and "source" not in conditions
    entries = [one for one in _entries(memory, scope) if since <= one.updated_at < until]
    memories = 0 if "source" in conditions else len(entries)
    yield f"  {'' if whole else 'at most '}{_turns(sessions)} turns in {len(sessions)} sessions, {memories} memories"


def _turns(sessions: list[Session]) -> int:
    return sum(one.turns for one in sessions)


def _entries(memory: Memory, scope: Scope) -> Iterator[Entry]:
    offset = 0
    while page := memory.list(scope, MOST, offset):
        yield from page
        offset += len(page)
