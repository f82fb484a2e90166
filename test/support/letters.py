"""An embedder without a model, for tests that need the same vectors everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ovos_persona_memory.search.embedder import Kind
from ovos_persona_memory.stores.base.vector_math import Floats, normalised


class Letters:
    """A vector by the letters of a text."""

    name, dim = "letters", 32
    kind: Kind = "sentence"

    def embed(self, texts: Sequence[str]) -> Floats:
        rows = np.full((len(texts), self.dim), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for sign in text:
                row[ord(sign) % self.dim] += 1
        return normalised(rows)
