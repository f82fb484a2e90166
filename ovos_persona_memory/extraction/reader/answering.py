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
KEPT = 1280
"""So many judgements are kept: of sixty-four questions for which the most are made."""
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
    known = {one: _judged.known((question, one)) for one in remarks}
    new = [one for one, share in known.items() if share is None]
    found = dict(zip(new, _found_to_answer(question, new), strict=True))
    for one, share in found.items():
        _judged.note((question, one), share)
    return [found[one] if one in found else known[one] or 0.0 for one in remarks]


def _found_to_answer(question: str, remarks: Sequence[tuple[str, str | None]]) -> Sequence[float]:
    judging, asked = judge() if remarks else None, [word.lower for word in words_of(question)]
    if judging is None or not asked:
        return [0.0] * len(remarks)
    said = [remark_of([word.lower for word in words_of(text)][:LONGEST], name) for text, name in remarks]
    return judging.answers(asked, said)


def _judged_alone(given: tuple[str, tuple[str, str | None]]) -> float:
    question, remark = given
    return _found_to_answer(question, [remark])[0]


_judged = languages.NotedResults(_judged_alone, KEPT)
"""What was found of the last questions: what is foreseen for an utterance is asked again by its persona."""
