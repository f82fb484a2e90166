"""Excerpts: the part of a long text that bears on a question."""

from __future__ import annotations

import re

from ovos_persona_memory.text import Language, beginning

LEFT_OUT = "…"
"""The mark of an omission."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


def excerpt(text: str, question: str, spoken: Language, most: int) -> str:
    """The text; of one with more than ``most`` characters the sentences around the one with most of the question's
    words, with a mark at each omission; a longer sentence without its middle."""
    if len(text) <= most:
        return text
    sentences = [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]
    wanted = set(spoken.content_words(beginning(question)))
    best = max(range(len(sentences)), key=lambda n: len(wanted.intersection(spoken.words(sentences[n]))), default=0)
    room = most - 2 * (len(LEFT_OUT) + 1)
    if not sentences or len(sentences[best]) > room:
        return _without_middle(sentences[best] if sentences else text, most)
    first, last = _widened(sentences, best, room)
    before, behind = first > 0, last < len(sentences)
    return " ".join([*[LEFT_OUT] * before, *sentences[first:last], *[LEFT_OUT] * behind])


def _widened(sentences: list[str], best: int, room: int) -> tuple[int, int]:
    """The range of sentences that fits around the best one: those that follow it first, then those before it."""
    first, last = best, best + 1
    room -= len(sentences[best])
    while last < len(sentences) and len(sentences[last]) < room:
        room -= len(sentences[last]) + 1
        last += 1
    while first > 0 and len(sentences[first - 1]) < room:
        first -= 1
        room -= len(sentences[first]) + 1
    return first, last


def _without_middle(text: str, most: int) -> str:
    half = max((most - len(LEFT_OUT) - 2) // 2, 0)
    return f"{text[:half]} {LEFT_OUT} {text[len(text) - half :]}" if most > len(LEFT_OUT) + 2 else ""
