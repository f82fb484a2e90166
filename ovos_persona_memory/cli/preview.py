"""What a request to forget would take away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ovos_persona_memory import language
from ovos_persona_memory.cli.reach import Memory
from ovos_persona_memory.cli.times import shown
from ovos_persona_memory.records import Forgotten, Scope

MOST = 1000
"""Hits at most that are looked at for examples."""
EXAMPLES = 5


def preview(memory: Memory, scope: Scope, conditions: Mapping[str, Any]) -> Iterator[str]:
    """Lines for people: the conditions, how much they take of each kind, and a few texts where words were given."""
    whose = "everybody" if scope.user_id is None else scope.user_id
    yield f"To be forgotten, of {whose}: {'; '.join(_words(scope, conditions))}."
    counted = memory.forget_by_kind(scope, preview=True, **conditions)
    yield f"  {in_words(counted)}."
    if not memory.capture(scope, session=scope.session_id is not None).read:
        yield "  Reading is switched off: the texts cannot be shown."
    elif "key" in conditions:
        entry = memory.get(conditions["key"], scope)
        none = "  It is a secret." if counted.memories else "  There is no memory with this key."
        yield f"  {entry.text}" if entry else none
    elif "query" in conditions:
        yield from _holding(memory, scope, conditions)


def in_words(counted: Forgotten) -> str:
    """How much of each kind, as "2 turns, 1 memory"; "nothing" for nothing."""
    named = [f"{number} {_NAMES[kind][number != 1]}" for kind, number in asdict(counted).items() if number]
    return ", ".join(named) or "nothing"


_NAMES = {
    "turns": ("turn", "turns"),
    "memories": ("memory", "memories"),
    "facts": ("fact", "facts"),
    "documents": ("document", "documents"),
    "notes": ("summary of a session", "summaries of sessions"),
    "episodes": ("episode", "episodes"),
    "redacted": ("turn that stays without its words", "turns that stay without their words"),
}


def _words(scope: Scope, conditions: Mapping[str, Any]) -> Iterator[str]:
    said = {
        "key": "the memory {!r}",
        "query": "what holds all words of {!r}",
        "ids": "the records with the ids {!r}",
        "source": "what {!r} said",
    }
    if scope.session_id is not None:
        yield f"what was said in session {scope.session_id!r}"
    if scope.persona_id is not None and "key" not in conditions:
        yield f"what belongs to {scope.persona_id!r} or to no persona"
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
    if texts:
        yield "  Such as:" if len(texts) > EXAMPLES else "  That is:"
        yield from (f"  {text}" for text in texts[:EXAMPLES])
