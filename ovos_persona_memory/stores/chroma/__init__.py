"""Vectors in a Chroma server, beside the texts of another backend."""

from __future__ import annotations

from ovos_persona_memory.stores.chroma.http_client import ChromaServer, settings_of
from ovos_persona_memory.stores.chroma.vectors import ChromaVectors, refuse_collection_name
from ovos_persona_memory.stores.chroma.write_behind import WriteBehind

__all__ = ["ChromaServer", "ChromaVectors", "WriteBehind", "refuse_collection_name", "settings_of"]
