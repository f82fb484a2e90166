"""Deduplication: hits that a persona is given already, by its history, by the summary, or by a better hit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ovos_persona_memory.conversation.window import SHORTENED
from ovos_persona_memory.records import ContextMessage, Hit
from ovos_persona_memory.text import languages

BESIDE_A_CUT = 4
"""Words on each side of an omission by which the text of a shortened message is recognised."""


def without_repeats(hits: Sequence[Hit], history: Sequence[ContextMessage], summary: str) -> list[Hit]:
    """The hits, best first, whose words no message and no other hit holds; case and punctuation are ignored.

    Of two hits of one speaker of which one holds the other, the longer stays; of two speakers, the better.
    """
    held = [_bare(summary), *(text for message in history for text in _shown(message))]
    cuts = [part for message in history for part in _beside_cuts(message)]
    ends = [message.text.split(SHORTENED, 1) for message in history if SHORTENED in message.text]
    fresh: list[Hit] = []
    for hit in hits:
        text = _bare(hit.text)
        told = any(text in other for other in (*held, *(_bare(one.text) for one in fresh)))
        whole = any(_is_cut(hit, before, behind) for before, behind in ends)
        if text.strip() and not told and not whole and not any(part in text for part in cuts):
            fresh = _with(fresh, hit)
    return fresh


def _is_cut(hit: Hit, before: str, behind: str) -> bool:
    """Whether a hit is what an omission cut, by the words beside it; a few letters of long words are enough.

    A fact may hold the beginning of a long text alone.
    """
    holds_end = hit.kind == "fact" or (hit.text.endswith(behind) and len(hit.text) > len(before) + len(behind))
    return holds_end and len(hit.text) > len(before) and hit.text.startswith(before)


def _with(fresh: Sequence[Hit], hit: Hit) -> list[Hit]:
    """The hits with one more, in place of the hit that it repeats, unless that is another speaker's."""
    repeated = [one for one in fresh if _bare(one.text) in _bare(hit.text)]
    if not repeated:
        return [*fresh, hit]
    if any((one.role, one.speaker) != (hit.role, hit.speaker) for one in repeated):
        return list(fresh)
    return [hit if one is repeated[0] else one for one in fresh if one is repeated[0] or one not in repeated]


def _shown(message: ContextMessage) -> Iterator[str]:
    """The words of a message, of the arguments of its calls, and of the texts in a result that is JSON."""
    yield _bare(message.text)
    for call in message.tool_calls:
        yield from map(_bare, _texts(call.arguments))
    if message.role == "tool":
        with suppress(ValueError, RecursionError):
            yield from map(_bare, _texts(json.loads(message.text)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    for inner in held:
        yield from _texts(inner)


def _beside_cuts(message: ContextMessage) -> Iterator[str]:
    """The whole words before and behind each omission in a long message."""
    before, cut, behind = message.text.partition(SHORTENED)
    if cut:
        for words in (before.split()[:-1][-BESIDE_A_CUT:], behind.split()[1:][:BESIDE_A_CUT]):
            if text := _bare(" ".join(words)).strip():
                yield f" {text} "


def _bare(text: str) -> str:
    return f" {' '.join(languages.fold(text))} "
