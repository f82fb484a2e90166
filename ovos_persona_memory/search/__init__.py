"""From a question to hits: query analysis, postings, ranking, vectors."""

from __future__ import annotations

from ovos_persona_memory.search import embedding, episode_search, record_terms, topic_search
from ovos_persona_memory.search.embedder import Embedder, Kind, question_vector
from ovos_persona_memory.search.embedding import open_embedder
from ovos_persona_memory.search.hits import Record, hit_of
from ovos_persona_memory.search.prefetch import Prefetch, recalled_scope
from ovos_persona_memory.search.query import Question
from ovos_persona_memory.search.recall import ALIKE
from ovos_persona_memory.search.record_terms import PIN, index_words
from ovos_persona_memory.search.topic_search import (
    is_about,
    is_told_by_person,
    says_the_same,
    told_about,
    topic_of_question,
)
from ovos_persona_memory.search.vector_indexer import Indexer, SemanticSearch

__all__ = [
    "ALIKE",
    "PIN",
    "Embedder",
    "Indexer",
    "Kind",
    "Prefetch",
    "Question",
    "Record",
    "SemanticSearch",
    "embedding",
    "episode_search",
    "hit_of",
    "index_words",
    "is_about",
    "is_told_by_person",
    "open_embedder",
    "question_vector",
    "recalled_scope",
    "record_terms",
    "says_the_same",
    "told_about",
    "topic_of_question",
    "topic_search",
]
