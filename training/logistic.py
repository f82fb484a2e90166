"""Logistic regression by Newton's method, with a penalty on the squares of the weights."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

STEPS = 50
PARTS, SEED = 4, 5


def fitted(
    rows: NDArray[np.floating], wanted: NDArray[np.float64], penalty: float, times: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], float]:
    """Weights and bias from rows of signs, [rows, signs], to what is wanted of each, 0 or 1.

    The signs are scaled to a spread of 1 for the penalty; the weights are those of the signs as they are given.
    ``times``: how often each row counts; None: once.
    """
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = np.column_stack([(rows - middle) / spread, np.ones(len(rows))])
    weights, squares = np.zeros(scaled.shape[1]), np.full(scaled.shape[1], penalty)
    squares[-1] = 0.0
    counts = np.ones(len(rows)) if times is None else times
    for _ in range(STEPS):
        share = 1 / (1 + np.exp(-scaled @ weights))
        curve = scaled.T @ (scaled * (counts * share * (1 - share))[:, None]) + np.diag(squares + 1e-9)
        step = np.linalg.solve(curve, scaled.T @ (counts * (share - wanted)) + squares * weights)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    own = weights[:-1] / spread
    return own, float(weights[-1] - own @ middle)


def left_out_shares(
    rows: NDArray[np.floating],
    wanted: NDArray[np.float64],
    sources: Sequence[str],
    penalty: float,
    times: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The probability of each row, fitted to the rows of other sources: a quarter of them is left out in turn."""
    every = sorted(set(sources))
    random.Random(SEED).shuffle(every)
    part = np.array([every.index(one) % PARTS for one in sources])
    shares = np.zeros(len(rows))
    for left_out in range(PARTS):
        weights, bias = fitted(rows[part != left_out], wanted[part != left_out], penalty, times[part != left_out])
        shares[part == left_out] = 1 / (1 + np.exp(-(rows[part == left_out] @ weights + bias)))
    return shares
