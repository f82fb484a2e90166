"""Vectors: rows of numbers of which near ones mean alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
"""One vector [dim], or one a row [n, dim]; rows normalised to length 1."""


def normalised(rows: Floats) -> Floats:
    """The rows with length 1; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)
