"""The storage port: what every backend does, and the plain scans that fast searches are compared with."""

from __future__ import annotations

from ovos_persona_memory.stores.base.bm25 import Bm25, words_of
from ovos_persona_memory.stores.base.documents import StoredDocument, fits
from ovos_persona_memory.stores.base.episodes import EpisodeStore
from ovos_persona_memory.stores.base.facts import ACTIVE, DECISIONS_KEPT, EVERY_STATUS, FactQuery, fact_in_scope
from ovos_persona_memory.stores.base.folder_lock import FolderLock
from ovos_persona_memory.stores.base.learning_queue import LearningQueueStore, UnlearnedTurn
from ovos_persona_memory.stores.base.selection import BOTH, in_scope, redacted
from ovos_persona_memory.stores.base.store import ExcludedTurn, FoundRecord, NeighbourTurn, Statistics, Store
from ovos_persona_memory.stores.base.tombstones import ANSWERED, FORGOTTEN, KEPT
from ovos_persona_memory.stores.base.vector_math import Bytes, Floats, cosines, normalised, quantised
from ovos_persona_memory.stores.base.vectors import NearDocument, PendingText, VectorIndex, VectorStore

__all__ = [
    "ACTIVE",
    "ANSWERED",
    "BOTH",
    "DECISIONS_KEPT",
    "EVERY_STATUS",
    "FORGOTTEN",
    "KEPT",
    "Bm25",
    "Bytes",
    "EpisodeStore",
    "ExcludedTurn",
    "FactQuery",
    "Floats",
    "FolderLock",
    "FoundRecord",
    "LearningQueueStore",
    "NearDocument",
    "NeighbourTurn",
    "PendingText",
    "Statistics",
    "Store",
    "StoredDocument",
    "UnlearnedTurn",
    "VectorIndex",
    "VectorStore",
    "cosines",
    "fact_in_scope",
    "fits",
    "in_scope",
    "normalised",
    "quantised",
    "redacted",
    "words_of",
]
