"""The judge of answers: how likely a remark answers a question, by the layers of the reader and a head of its own."""

from __future__ import annotations

from collections.abc import Sequence

from ovos_persona_memory.extraction.reader.reader import model
from ovos_persona_memory.extraction.reader.words import words_of
from ovos_persona_memory.text import languages

KEPT = 64
LONGEST = 40
"""Words of a remark at most; of a longer one the beginning is judged."""


def remark_of(words: Sequence[str], name: str | None) -> tuple[str, ...]:
    """The words of a remark as they are judged: behind the name of who said it, None where that is the asker."""
    return tuple(words) if name is None else (name.lower(), ":", *words)


def answering(question: str, remarks: Sequence[tuple[str, str | None]]) -> list[float]:
    """The probability that each remark answers the question, in order, 0 to 1; 0 for all where there is no model.

    ``remarks``: each with the name of who said it, None where that is who asks. Thread-safe.
    """
    return list(_judged((question, tuple(remarks))))


def _found_to_answer(given: tuple[str, tuple[tuple[str, str | None], ...]]) -> Sequence[float]:
    question, remarks = given
    reader, asked = model(), [word.lower for word in words_of(question)]
    if reader is None or not asked or not remarks:
        return [0.0] * len(remarks)
    said = [remark_of([word.lower for word in words_of(text)][:LONGEST], name) for text, name in remarks]
    return reader.answers(asked, said)


_judged = languages.lru_cached(_found_to_answer, KEPT)
"""What was found of the last questions: what is foreseen for an utterance is asked again by its persona."""
