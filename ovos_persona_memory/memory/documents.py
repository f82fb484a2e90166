"""Documents as memory: texts with an id and metadata, found by words and by embeddings, apart from what was said."""

from __future__ import annotations

import builtins
import uuid
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ovos_persona_memory.errors import InvalidRequest
from ovos_persona_memory.memory.transcript import MemoryParts
from ovos_persona_memory.records import HOUSEHOLD, Document, Namespace, Scope, checked
from ovos_persona_memory.search import ALIKE, SemanticSearch
from ovos_persona_memory.stores import Floats, fits, normalised
from ovos_persona_memory.text import counted, languages

Embed = Callable[[list[str]], Floats]
"""From texts to their embeddings, float32 [texts, dim]."""

RRF = 60
"""Reciprocal rank fusion's constant: Cormack, Clarke and Buettcher, SIGIR 2009."""
FUSED = 100
"""So many of the best by words and of the nearest are put together at least."""


@dataclass(frozen=True)
class DocumentScope:
    """Where a caller's documents are."""

    scope: Scope = Scope()
    """Its user owns the documents; its session only says whether memory is switched off there."""
    namespace: str = "default"
    lang: str | None = None
    """Language of texts and questions, a BCP-47 tag."""
    embed: Embed | None = None
    """Gives embeddings where a caller gives none; None: the memory's own search by meaning, where it has one."""
    meaning: Callable[[], SemanticSearch | None] = lambda: None
    """That search: of namespaces in which nobody gave embeddings."""


class Documents:
    """One user's documents in one namespace. Thread-safe."""

    def __init__(self, workings: MemoryParts, shelf: DocumentScope) -> None:
        self._workings = workings
        self._store = workings.store.document_store
        self._shelf = shelf
        self._space = Namespace(shelf.scope.user_id or HOUSEHOLD, shelf.namespace)

    @checked
    def upsert(
        self,
        text: str,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        embedding: Sequence[float] | None = None,
    ) -> Document:
        """Keep a document, in place of the one with its id; without an id it is given one.

        Metadata that are not given stay as they were, and so does the embedding of an unchanged text.
        InvalidRequest where an embedding cannot be used or has not the dimension of the others;
        CapturePaused while remembering is off.
        """
        self._workings.captures.refuse_while_paused(self._shelf.scope)
        if not text.strip() and embedding is None:
            raise InvalidRequest("text", "is empty")
        vector = self._vector(embedding, text)
        self._check_dimension(vector)  # a refusal inside would spoil a commit that is shared
        with self._workings.store.transaction():
            known = self._store.get(self._space, id) if id is not None else None
            if known and vector is None and known.document.text == text:
                vector = known.embedding
            if metadata is None:
                metadata = known.document.metadata if known else {}
            document = Document(
                id=id or uuid.uuid4().hex,
                text=text,
                metadata=deepcopy(dict(metadata)),
                namespace=self._space.name,
                user_id=self._space.user_id,
                updated_at=self._workings.clock(),
            )
            self._store.put(document, " ".join(self._language.words(text)), vector)
        self._workings.purge_if(known is not None)
        return document

    @checked
    def search(
        self,
        query: str,
        k: int = 5,
        filter: Mapping[str, Any] | None = None,
        embedding: Sequence[float] | None = None,
    ) -> builtins.list[Document]:
        """At most ``k`` documents with their scores, best first; none while reading is off.

        By the words of ``query`` (BM25), by an embedding (cosine), by both together where there are
        both. What has nothing in common with the question is not found. ``filter``: only documents
        whose metadata hold all of these pairs.
        """
        if k <= 0 or not self._may_read():
            return []
        vector = self._vector(embedding, query)
        words = self._language.content_words(query) or self._language.words(query)
        if vector is None:
            return self._by_words_and_meaning(query, words, k, filter)
        self._check_dimension(vector)
        depth = max(4 * k, FUSED)
        near = self._store.nearest(vector, self._space, depth, filter)
        return _fused(self._store.by_words(words, self._space, depth, filter), near)[:k] if words else near[:k]

    def _by_words_and_meaning(
        self, query: str, words: Sequence[str], k: int, wanted: Mapping[str, Any] | None
    ) -> builtins.list[Document]:
        meaning = self._shelf.meaning()
        if meaning is None or not query.strip() or self._store.dimension(self._space) is not None:
            return self._store.by_words(words, self._space, k, wanted)
        depth = max(4 * k, FUSED)
        near = self._near(meaning, query, depth, wanted)
        return _fused(self._store.by_words(words, self._space, depth, wanted), near)[:k]

    def _near(
        self, meaning: SemanticSearch, query: str, number: int, wanted: Mapping[str, Any] | None
    ) -> builtins.list[Document]:
        held = meaning.vectors.documents(meaning.index, self._space)
        scores = meaning.compared(query, [vector for _, vector in held])
        near = sorted(((score, one) for (one, _), score in zip(held, scores, strict=True)), reverse=True)
        found: builtins.list[Document] = []
        for score, document_id in near:
            if score < ALIKE or len(found) >= number:
                break
            one = self._store.get(self._space, document_id)
            if one is not None and fits(one.document, wanted):
                found.append(replace(one.document, score=score))
        return found

    @checked
    def get(self, id: str) -> Document | None:
        """The document with this id; None where there is none, and while reading is off."""
        found = self._store.get(self._space, id) if self._may_read() else None
        return found.document if found else None

    @checked
    def list(self, limit: int = 20, offset: int = 0) -> builtins.list[Document]:
        """The documents, the last changed first; none while reading is off."""
        if not self._may_read():
            return []
        latest = sorted((one.document for one in self._store.held(self._space)), key=lambda one: -one.updated_at)
        return latest[max(offset, 0) :][: max(limit, 0)]

    @checked
    def delete(self, ids: Sequence[str]) -> int:
        """Forget the documents with these ids; how many there were."""
        return self._gone(self._store.delete(self._space, ids))

    def clear(self) -> int:
        """Forget all documents of this namespace; how many there were."""
        return self._gone(self._store.delete(self._space))

    def _gone(self, forgotten: int) -> int:
        self._workings.purge_if(forgotten > 0)
        return forgotten

    @property
    def _language(self) -> languages.Language:
        return languages.for_language(self._shelf.lang)

    def _may_read(self) -> bool:
        return self._workings.captures.may_read(self._shelf.scope)

    def _vector(self, embedding: Sequence[float] | None, text: str) -> Floats | None:
        if embedding is None:
            made = self._shelf.embed([text])[0] if self._shelf.embed and text.strip() else None
            return None if made is None else normalised(np.asarray(made, dtype=np.float32))
        given = _numbers(embedding)
        if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or not given.any():
            raise InvalidRequest("embedding", "must be a list of finite numbers that are not all zero")
        return normalised((given / np.abs(given).max()).astype(np.float32))

    def _check_dimension(self, vector: Floats | None) -> None:
        others = self._store.dimension(self._space) if vector is not None else None
        if vector is not None and others is not None and others != len(vector):
            raise InvalidRequest(
                "embedding", f"has {counted(len(vector), 'number')}, the others in this namespace have {others}"
            )


def _numbers(embedding: Sequence[float]) -> NDArray[np.float64]:
    try:
        return np.asarray(embedding, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidRequest("embedding", "must be a list of numbers") from error


def _fused(*rankings: Sequence[Document]) -> list[Document]:
    """The rankings as one, by reciprocal rank fusion."""
    scores: dict[str, float] = {}
    found: dict[str, Document] = {}
    for ranking in rankings:
        for place, document in enumerate(ranking, start=1):
            scores[document.id] = scores.get(document.id, 0.0) + 1 / (RRF + place)
            found.setdefault(document.id, document)
    ranked = sorted(scores, key=lambda one: -scores[one])
    return [replace(found[one], score=scores[one]) for one in ranked]
