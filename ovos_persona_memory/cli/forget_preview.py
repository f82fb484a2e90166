"""Preview of a request to forget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ovos_persona_memory.cli.connection import Memory
from ovos_persona_memory.cli.time_format import format_time
from ovos_persona_memory.records import Forgotten, Scope
from ovos_persona_memory.text import counted_kinds, languages

MOST = 1000
"""Hits at most that are searched for examples."""
EXAMPLES = 5


def preview(memory: Memory, scope: Scope, conditions: Mapping[str, Any]) -> Iterator[str]:
    """Lines for people: the conditions, how many records of each kind they take, and the newest of the texts."""
    whose = "everybody" if scope.user_id is None else scope.user_id
    yield f"To be forgotten, of {whose}: {'; '.join(_words(scope, conditions))}."
    foreseen = memory.would_forget(scope, **conditions)
    going = foreseen.kinds
    yield f"  {count_phrase(going)}."
    if not memory.capture(scope, session=scope.session_id is not None).read:
        yield "  Reading is switched off: the texts cannot be shown."
    elif "key" in conditions:
        entry = memory.get(conditions["key"], scope)
        none = "  It is a secret." if going.memories else "  There is no memory with this key."
        yield f"  {entry.text}" if entry else none
    elif "query" in conditions:
        yield from _examples(_holding(memory, scope, conditions))
    else:
        yield from _examples([hit.text for hit in foreseen.told])


def count_phrase(forgotten: Forgotten) -> str:
    """The counts of each kind, as "2 turns, 1 memory"; "nothing" for none."""
    return counted_kinds({kind: number for kind, number in asdict(forgotten).items() if number}) or "nothing"


def _words(scope: Scope, conditions: Mapping[str, Any]) -> Iterator[str]:
    said = {
        "key": "the memory {!r}",
        "query": "what holds all words of {!r}",
        "topic": "what is about {!r}",
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
            yield f"what was said {'since' if name == 'since' else 'before'} {format_time(value)}"
    if "everything" in conditions and len(conditions) == 2 and scope.session_id is None:
        yield "everything"


def _holding(memory: Memory, scope: Scope, conditions: Mapping[str, Any]) -> list[str]:
    spoken = languages.for_language(conditions["lang"])
    wanted = set(spoken.content_words(conditions["query"]))
    hits = memory.recall(conditions["query"], scope, MOST, lang=conditions["lang"])
    return [hit.text for hit in hits if wanted <= set(spoken.words(f"{hit.key or ''} {hit.text}"))]


def _examples(texts: Sequence[str]) -> Iterator[str]:
    if texts:
        yield "  Such as:" if len(texts) > EXAMPLES else "  That is:"
        yield from (f"  {text}" for text in texts[:EXAMPLES])
