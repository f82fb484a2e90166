"""Where a sentence of what was said ends and the next begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ovos_persona_memory.extraction.templates import loader
from ovos_persona_memory.extraction.templates.loader import Templates
from ovos_persona_memory.records import Turn
from ovos_persona_memory.text import languages

MARKS = '"\u201c\u201d\u201e\u00ab\u00bb'
SINGLE = "'\u2018\u2019\u201a"
WRITTEN = re.compile(r"[!;()\[\]\n]|https?://")
"""What stands in letters and not in what was said: models are trained on what was said."""
SEVERAL = 2
"""Sentences from which on a text may be a letter rather than something said to an assistant."""
SAID = 3
"""Sentences at most that somebody says to an assistant at once."""
LENGTH = 19
"""A text of several sentences with more words than this is treated as a letter, not as speech."""
TAG = 3
"""Words at most of a question that belongs to the statement before it: "..., isn't it?"."""
TOLD = 3
"""Words at least of a statement before a question."""
LAST_CUT = 4
"""Texts whose sentences are kept in memory."""
Span = tuple[int, int]
"""Where something begins and ends, characters."""
_ASIDE = re.compile(r"\[[^\]]*\]|\([^)]*\)|https?://\S+")
_END = re.compile(
    rf"(?<=[!?\u2026;\n])\s+|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)(?<=[^\W\d_]{{2}})\.+\s+|(?<=[)\"\u201d])\.\s+|\n+|(?<!\s)\s+[\u2013\u2014-]{{1,2}}\s+"
    rf"|[^\w\s,.;:!?&%/$\u20ac\u00b7#@*+()\-{MARKS}{SINGLE}]+"
)
_NUMBER_END = re.compile(r"(?<=\d)\.\s+(?=[^\W\d_])")
_COMMA = re.compile(r",\s+")
_OPENING = ("pronoun", "speaker", "he_she", "own", "asking", "article", "finite", "joint")
"""Lists of words that no number stands before with a dot, which some languages set behind it: "am 3. mai"."""


@dataclass(frozen=True)
class LanguageResources:
    """A language, and its templates."""

    language: languages.Language
    templates: Templates

    @classmethod
    def of(cls, turn: Turn) -> LanguageResources:
        """The language of a turn."""
        known = languages.for_text(turn.lang, turn.text)
        return cls(known, loader.for_language(known.tag))


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, without links and what stands in brackets. Those of the last few texts are kept in
    memory: each is asked for at every fact that a text tells."""
    return _sentences(text)


def _cut(text: str) -> tuple[str, ...]:
    parts = [part.strip() for part in _END.split(_ASIDE.sub(" . ", text)) if part and part.strip()]
    return tuple(part for part in parts if languages.fold(part))


_sentences = languages.lru_cached(_cut, LAST_CUT)


def said(spoken: LanguageResources, text: str) -> list[str]:
    """The sentences of an utterance; a statement and the question behind it are two: "I'm cold, can you heat?"."""
    numbered = (part for sentence in sentences(text) for part in _at_numbers(spoken.templates, sentence))
    return [part for sentence in numbered for part in _before_question(spoken.language, sentence)]


def is_written(text: str) -> bool:
    """Whether a text has marks that a recogniser hardly sets."""
    return WRITTEN.search(text) is not None


def is_letter(text: str, parts: Sequence[str]) -> bool:
    """Whether a text of these sentences was written rather than said."""
    if len(parts) < SEVERAL:
        return False
    return len(parts) > SAID or len(text.split()) > LENGTH or is_written(text)


def bounds_of(spoken: LanguageResources, text: str, span: Span) -> Span:
    """Where the sentence begins and ends in which a place of a text lies."""
    offset = 0
    for part in said(spoken, text):
        place = text.find(part, offset)
        if place < 0:
            break
        offset = place + len(part)
        if place <= span[0] < offset:
            return place, offset
    return 0, len(text)


def around(spoken: LanguageResources, text: str, span: Span) -> tuple[str, Span]:
    """The sentence of a text in which a place lies, and where in it that is."""
    first, last = bounds_of(spoken, text, span)
    return text[first:last], (span[0] - first, span[1] - first)


def _at_numbers(known: Templates, sentence: str) -> Iterator[str]:
    """A sentence cut behind numbers where another begins: "she is 71. she still climbs"; not in "am 3. mai"."""
    first = 0
    for end in _NUMBER_END.finditer(sentence):
        following = known.words_of(sentence[end.end() :]).folded[:1]
        if following and known.has_word(_OPENING, following[0]):
            yield sentence[first : end.start()]
            first = end.end()
    yield sentence[first:]


def _before_question(tongue: languages.Language, sentence: str) -> Iterator[str]:
    """What is told before a question, and the question; both as they stand where it is one only by its mark."""
    if sentence.rstrip().endswith("?") and not tongue.is_question(sentence.rstrip(" ?")):
        for comma in _COMMA.finditer(sentence):
            told, asked = sentence[: comma.start()], sentence[comma.end() :].rstrip(" ?")
            if len(told.split()) >= TOLD and len(asked.split()) > TAG and tongue.is_question(asked):
                yield from (told, sentence[comma.end() :])
                return
    yield sentence
