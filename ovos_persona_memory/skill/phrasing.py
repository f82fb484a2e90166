"""Phrasing: from a stored text to a sentence that can be spoken; pure functions over texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache

from ovos_persona_memory.text import Language, beginning, fold, languages, time_expressions, until_its_end

YES, FEW = 8, 4
"""Words at most of a reply that begins with a yes, and of a reply that ends with it."""
LONGEST = 240
"""Characters at most of one quoted memory."""
LONGEST_TIME = 12
"""Words at most of a time expression: "the last three quarters of an hour"."""

# OVOS-INTENT-2: none of ()[]{}| in spoken text; the rest is mark-up, which a voice would read out
_UNSPEAKABLE = re.compile(r"[()\[\]{}|<>*_`~^\\#\"„“”«»]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff]+")


def speakable(text: str, longest: int = LONGEST) -> str:
    """The text on one line, without characters that no voice can read, and without its last full stop; cut after a
    whole word."""
    plain = _plain(text)
    if len(plain) > longest:
        plain = plain[: longest + 1].rpartition(" ")[0] or plain[:longest]
    return plain.rstrip(" .,;:!")


def _plain(text: str) -> str:
    return " ".join(_UNSPEAKABLE.sub(" ", _CONTROL.sub(" ", text)).split())


def own_words(text: str, spoken: Language) -> str:
    """A memory as it is quoted: speakable, without "remember that" before it, up to where a statement ends."""
    return until_its_end(_plain(spoken.without_lead(text)), spoken, LONGEST)


def turned(phrase: str, spoken: Language) -> str:
    """The phrase in the second person: "my car" becomes "your car"."""
    swaps = spoken.swaps
    return " ".join(swaps.get(word.casefold(), word) for word in phrase.split())


def whole_topic(topic: str, utterance: str, spoken: Language) -> str:
    """The topic with the possessive or the article that stood before it: "car" becomes "my car", "hose" "the hose"."""
    before, found, _ = utterance.casefold().rpartition(" " + topic.casefold())
    word = before.split()[-1] if found and before.split() else ""
    if word in spoken.swaps:
        return f"{word} {topic}"
    article = _articles(spoken.tag).get(word)
    return f"{article} {topic}" if article else topic


@lru_cache(maxsize=64)
def _articles(tag: str) -> dict[str, str]:
    """The words of a language that stand before a name, as they are said, mapped to those that are said back."""
    lines = (line.partition(":") for line in languages.for_language(tag).lines("articles.list"))
    return {said.strip(): shown.strip() or said.strip() for said, _, shown in lines}


def time_words(utterance: str, spoken: Language, now: datetime) -> str:
    """The time expression of an utterance: "today", "the last hour"; the whole utterance where none is found."""
    words = beginning(utterance).strip(" .!?,").split()
    meant = time_expressions.parse_time_span(utterance, spoken, now)
    if meant is None:
        return " ".join(words)
    ends = range(len(words), 0, -1)
    windows = [(first, last) for last in ends for first in range(last - 1, max(last - LONGEST_TIME, 0) - 1, -1)]
    fitting = [
        one
        for one in windows
        if time_expressions.parse_time_span(" ".join(words[one[0] : one[1]]), spoken, now) == meant
    ]
    first, last = min(fitting, key=lambda one: one[1] - one[0], default=(0, len(words)))
    known = {word for line in spoken.lines("time_words.list") for word in fold(line)}
    if first and fold(words[first - 1])[:1] and fold(words[first - 1])[0] in known:
        first -= 1
        small = {word for line in spoken.lines("stop_words.list") for word in fold(line)}
        first -= bool(first and fold(words[first - 1]) and set(fold(words[first - 1])) <= small)
    return " ".join(words[first:last])


def distinct(texts: Iterable[str], spoken: Language) -> list[str]:
    """The texts without repetitions, in order: two are the same where they have the same words."""
    seen: dict[tuple[str, ...], str] = {}
    for text in texts:
        words = tuple(fold(own_words(text, spoken)))
        if words:
            seen.setdefault(words, text)
    return list(seen.values())


def is_said(phrases: Sequence[str], reply: str) -> bool:
    """Whether the reply contains one of the phrases, as whole words."""
    said = f" {' '.join(fold(reply))} "
    return any(f" {' '.join(fold(phrase))} " in said for phrase in phrases)


def behind_yes(reply: str, spoken: Language) -> str:
    """The rest of a reply behind its leading yes; empty where it begins with none, or nothing follows."""
    words = fold(reply)
    starts = [fold(phrase) for phrase in spoken.phrases("yes.voc")]
    length = max((len(one) for one in starts if words[: len(one)] == one), default=0)
    return " ".join(words[length:]) if length else ""


def agrees(reply: str, spoken: Language) -> bool | None:
    """True for a yes, False for a no or a "forget it", None for anything else.

    A yes stands first, or last in a few words, and alone: a reply that goes on with "but" or "wait" is no agreement.
    """
    if is_said(spoken.phrases("no.voc"), reply) or is_said(spoken.phrases("cancel.voc"), reply):
        return False
    words = fold(reply)
    starts = [fold(phrase) for phrase in spoken.phrases("yes.voc")]
    opens = len(words) <= YES and any(words[: len(start)] == start for start in starts)
    ends = len(words) <= FEW and any(words[-len(start) :] == start for start in starts)
    return True if opens or ends else None
