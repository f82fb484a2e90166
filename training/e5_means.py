"""Make ovos_persona_memory/search/e5_means.npy: the means of what multilingual-e5-small makes of everyday talk.

Run it as ``python training/e5_means.py``, with the extra ``embeddings`` installed. Each of the ten spoken languages
counts alike, by the talk in this folder.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ovos_persona_memory.evaluation import read_marked
from ovos_persona_memory.search import open_embedder
from ovos_persona_memory.search.e5_embedder import MEANS, E5Embedder
from ovos_persona_memory.stores import Floats
from ovos_persona_memory.text import languages

HERE = Path(__file__).parent
FROM_EACH = 400
"""Texts of a language."""


def sentences(tag: str) -> list[str]:
    """Everyday talk in a language, evenly taken from all there is."""
    files = sorted((HERE / tag).rglob("*.talk"))
    said = [turn.text for file in files for turn in read_marked(file).talk.turns]
    some = [text for text in said if text.strip()]
    return some[:: max(len(some) // FROM_EACH, 1)][:FROM_EACH]


def means(embedder: E5Embedder, tag: str) -> list[Floats]:
    """The mean of a language's talk, read as texts, and that of the questions in it, read as questions."""
    said = sentences(tag)
    asked = [text for text in said if languages.for_language(tag).is_question(text)]
    return [embedder.raw(some, is_question).mean(axis=0) for some, is_question in ((said, False), (asked, True))]


def main() -> None:
    """Write the file."""
    embedder = open_embedder("e5")
    assert isinstance(embedder, E5Embedder)
    np.save(MEANS, np.mean([means(embedder, tag) for tag in languages.shipped()], axis=0).astype(np.float16))


if __name__ == "__main__":
    main()
