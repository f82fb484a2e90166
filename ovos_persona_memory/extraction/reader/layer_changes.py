"""Layers of a model's own in a file: how they differ from those of the reader, or all that they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory.extraction.reader.encoder import DENSE, NORMS, ChangedDense, Dense, Layer, Norm

Arrays = dict[str, NDArray[Any]]


def packed_change(layer: Layer, base: Layer, number: int, ranks: int) -> Arrays:
    """What a layer has in another way than ``base``, by the names that ``changed`` reads.

    Of weights it is the nearest matrix of so many ranks, as two that have so many columns and rows (Hu et al., "LoRA",
    2022). ``number``: that of the layer.
    """
    kept: Arrays = {}
    for name in DENSE:
        dense, before = getattr(layer, name), getattr(base, name)
        left, sizes, right = np.linalg.svd(dense.weights - before.weights, full_matrices=False)
        roots = np.sqrt(sizes[:ranks])
        kept[f"{number}_{name}_left"] = (left[:, :ranks] * roots).astype(np.float16)
        kept[f"{number}_{name}_right"] = (roots[:, None] * right[:ranks]).astype(np.float16)
        kept[f"{number}_{name}_shift"] = dense.shift.astype(np.float16)
    return kept | _packed_norms(layer, number)


def changed(kept: Mapping[str, NDArray[Any]], base: Layer, number: int) -> Layer:
    """The layer of ``packed_change``; KeyError where it is not there."""
    parts: dict[str, Any] = {}
    for name in DENSE:
        before: Dense = getattr(base, name)
        left, right, shift = (kept[f"{number}_{name}_{part}"] for part in ("left", "right", "shift"))
        parts[name] = ChangedDense.upon(before, left, right, shift.astype(np.float32))
    return Layer(**parts, **_norms(kept, number))


def packed_whole(layer: Layer, number: int) -> Arrays:
    """All that a layer is, by the names that ``whole`` reads; ``number``: that of the layer."""
    kept: Arrays = {}
    for name in DENSE:
        dense: Dense = getattr(layer, name)
        kept[f"{number}_{name}"], kept[f"{number}_{name}_scales"] = dense.rows, dense.scales
        kept[f"{number}_{name}_shift"] = dense.shift.astype(np.float16)
    return kept | _packed_norms(layer, number)


def whole(kept: Mapping[str, NDArray[Any]], number: int) -> Layer:
    """The layer of ``packed_whole``; KeyError where it is not there."""
    parts: dict[str, Any] = {}
    for name in DENSE:
        rows, scales, shift = (kept[f"{number}_{name}{part}"] for part in ("", "_scales", "_shift"))
        parts[name] = Dense(rows, scales, shift.astype(np.float32))
    return Layer(**parts, **_norms(kept, number))


def _packed_norms(layer: Layer, number: int) -> Arrays:
    norms = {name: getattr(layer, name) for name in NORMS}
    return {f"{number}_{name}_scale": norm.scale for name, norm in norms.items()} | {
        f"{number}_{name}_shift": norm.shift for name, norm in norms.items()
    }


def _norms(kept: Mapping[str, NDArray[Any]], number: int) -> dict[str, Any]:
    return {name: Norm(kept[f"{number}_{name}_scale"], kept[f"{number}_{name}_shift"]) for name in NORMS}
