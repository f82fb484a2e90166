"""Embedders by name, OVOS plugins included."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.search import Embedder, Kind, embedding
from ovos_persona_memory.stores import Floats, normalised

OURS = ("e5", "minilm", "static")


class PluginEmbedder:
    """An embedder plugin of ``opm.embeddings.text``."""

    kind: Kind = "sentence"

    def __init__(self, name: str, plugin: Any) -> None:
        self._plugin = plugin
        self.name = f"plugin {name}"
        self.dim = int(self.embed(["one"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Floats:
        """See Embedder."""
        together = getattr(self._plugin, "get_embeddings_batch", None)  # older plugin managers have none
        rows = together(list(texts)) if together else [self._plugin.get_embeddings(text) for text in texts]
        return normalised(np.asarray(rows, dtype=np.float32).reshape(len(texts), -1))


def open_embedder(name: str) -> Embedder:
    """Load an embedder of ours, of a folder, or of a plugin; ConfigError where it cannot be loaded."""
    if name in OURS or os.sep in name or Path(name).is_dir():
        return embedding.open_embedder(name)
    try:
        from ovos_plugin_manager.embeddings import load_text_embeddings_plugin
    except ImportError as error:
        raise ConfigError("recall.embedder: this OVOS plugin manager knows no text embeddings") from error
    plugin = load_text_embeddings_plugin(name)
    if plugin is None:
        raise ConfigError(
            f"recall.embedder: {name!r} is none of auto, none, e5, minilm, static, no folder and no plugin"
        )
    return PluginEmbedder(name, plugin())
