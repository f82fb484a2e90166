"""The judge of answers: how likely a remark answers a question, by the judge's model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ovos_persona_memory.extraction.reader.judge_model import JudgeModel
from ovos_persona_memory.extraction.reader.reader import model
from ovos_persona_memory.extraction.reader.words import words_of
from ovos_persona_memory.text import languages

FILE = Path(__file__).parents[1] / "models" / "judge.model"
KEPT = 64
LONGEST = 40
"""Words of a remark at most; of a longer one the beginning is judged."""
_loading = threading.Lock()


def judge() -> JudgeModel | None:
    """The model that the package brings; None where a file is missing. It is loaded once, at the first call."""
    with _loading:
        return _loaded(FILE)


@lru_cache(maxsize=1)
def _loaded(path: Path) -> JudgeModel | None:
    reader = model()
    return JudgeModel.load(path, reader) if reader is not None and path.is_file() else None


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
    judging, asked = judge(), [word.lower for word in words_of(question)]
    if judging is None or not asked or not remarks:
        return [0.0] * len(remarks)
    said = [remark_of([word.lower for word in words_of(text)][:LONGEST], name) for text, name in remarks]
    return judging.answers(asked, said)


_judged = languages.lru_cached(_found_to_answer, KEPT)
"""What was found of the last questions: what is foreseen for an utterance is asked again by its persona."""
