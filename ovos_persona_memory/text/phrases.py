"""Phrase lists, indexed by one word of each phrase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Phrases = Mapping[str, tuple[tuple[str, ...], ...]]
"""Phrases by their first word, or by their last."""


def by_word(phrases: Sequence[str], place: int) -> Phrases:
    """Phrases by the word at this position."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for phrase in phrases:
        words = tuple(phrase.split())
        if words:
            found[words[place]] = (*found.get(words[place], ()), words)
    return found
