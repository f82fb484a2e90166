"""Vectors on a Chroma server, which receives numbers alone: no text, no name, no id that is not hashed."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from ovos_persona_memory.errors import ConfigError
from ovos_persona_memory.stores.base.vector_backend import TextSource, VectorBackendAway, VectorLabel
from ovos_persona_memory.stores.base.vector_math import Bytes, Floats, quantised
from ovos_persona_memory.stores.chroma.http_client import QUESTION_S, WORK_S, ChromaServer, CollectionMissing

KEY = "vectors_key"
"""Name of the store's small value, the key by which users and texts are hashed for the server; it stays here."""
PAGE = 2_000
"""Labels that one request of a full comparison reads."""
TOGETHER = 500
"""Vectors that one request carries."""
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)
COSINE = {"hnsw": {"space": "cosine"}}


def refuse_collection_name(collection: str) -> None:
    """ConfigError for a name that Chroma does not accept."""
    if not _NAME.fullmatch(collection):
        raise ConfigError(
            "collection: Chroma takes letters, digits, -, _ and . alone, at the beginning a letter or digit"
        )


class ChromaVectors:
    """The vectors of one memory on a server: a collection for each index, and an id for each document of a user.

    Every method raises VectorBackendAway where the server cannot be used. Thread-safe.
    """

    def __init__(self, server: ChromaServer, collection: str, texts: TextSource) -> None:
        self.server = server
        self._key = _key_of(texts)
        # memories with the same collection name on one server do not share vectors
        self._name = f"{collection}-{self._hash('memory')[:12]}"
        self._known: dict[str, str] = {}

    # names

    def collection(self, index: str) -> str:
        """The name of an index's collection."""
        return f"{self._name}-{self._hash('index', index)[:12]}"

    def id_of(self, user_id: str, doc: int) -> str:
        """The id of a document's vector on the server."""
        return self._hash("doc", user_id, str(doc))

    def stored_label(self, label: VectorLabel) -> VectorLabel:
        """The label in the form in which the server returns it."""
        return replace(label, digest=self._hash("text", label.digest))

    def _hash(self, *parts: str) -> str:
        return hashlib.blake2b("\n".join(parts).encode(), key=self._key, digest_size=16).hexdigest()

    # vectors

    def keep(self, index: str, labels: Sequence[VectorLabel], rows: Bytes, within_s: float = WORK_S) -> None:
        """See VectorBackend.keep."""
        for start in range(0, len(labels), TOGETHER):
            some = labels[start : start + TOGETHER]
            body = {
                "ids": [self.id_of(label.user_id, label.doc) for label in some],
                "embeddings": rows[start : start + TOGETHER].tolist(),
                "metadatas": [self._metadata(label) for label in some],
            }
            self._ask(index, "upsert", body, within_s)

    def _metadata(self, label: VectorLabel) -> dict[str, Any]:
        return {
            "user": self._hash("user", label.user_id),
            "kind": label.kind,
            "record": label.id,
            "doc": label.doc,
            "digest": self.stored_label(label).digest,
        }

    def remove(self, index: str, pairs: Sequence[tuple[str, str]], within_s: float = WORK_S) -> None:
        """Delete vectors by id and digest: one that was made of another text meanwhile stays."""
        for start in range(0, len(pairs), TOGETHER):
            ids, digests = zip(*pairs[start : start + TOGETHER], strict=True)
            where = {"digest": {"$in": list(dict.fromkeys(digests))}}
            self._ask(index, "delete", {"ids": list(dict.fromkeys(ids)), "where": where}, within_s)

    def nearest(self, index: str, user_id: str, query: Floats, limit: int) -> list[tuple[VectorLabel, Bytes]]:
        """See VectorBackend.nearest."""
        body = {
            "query_embeddings": [quantised(query[None, :])[0].tolist()],
            "n_results": limit,
            "where": {"user": self._hash("user", user_id)},
            "include": ["embeddings", "metadatas"],
        }
        found = self._ask(index, "query", body, QUESTION_S)
        with _understood():
            return list(_labelled(user_id, found["metadatas"][0], found["embeddings"][0]))

    def held(self, index: str, user_id: str, docs: Sequence[int]) -> Mapping[int, tuple[VectorLabel, Bytes]]:
        """See VectorBackend.held."""
        wanted = {self.id_of(user_id, doc): doc for doc in docs}
        if not wanted:
            return {}
        body = {"ids": list(wanted), "include": ["embeddings", "metadatas"]}
        found = self._ask(index, "get", body, QUESTION_S)
        with _understood():
            labelled = list(_labelled(user_id, found["metadatas"], found["embeddings"]))
        return {label.doc: (label, row) for label, row in labelled}

    def mend(self, index: str, wanted: Callable[[], Iterable[VectorLabel]]) -> list[VectorLabel]:
        """See VectorBackend.mend."""
        if not self._count(index):
            return list(wanted())
        there, lacking, wrong = 0, list[VectorLabel](), list[tuple[str, str]]()
        every = iter(wanted())
        while some := list(islice(every, PAGE)):
            held = self._digests(index, some)
            there += len(held)
            for label in some:
                digest = held.get(self.id_of(label.user_id, label.doc))
                if digest != self.stored_label(label).digest:
                    lacking.append(label)
                    wrong += [] if digest is None else [(self.id_of(label.user_id, label.doc), digest)]
        if self._count(index) != there:
            return self._mend_all(index, wanted)
        self.remove(index, wrong)
        return lacking

    def _mend_all(self, index: str, wanted: Callable[[], Iterable[VectorLabel]]) -> list[VectorLabel]:
        """As ``mend``, where the server has vectors of unknown texts: every vector is listed.

        The time for each page grows with the size of the collection.
        """
        held = dict(self._every(index))
        lacking = [
            label
            for label in wanted()
            if held.pop(self.id_of(label.user_id, label.doc), None) != self.stored_label(label).digest
        ]
        wrong = set(held.items())
        self.remove(index, list(wrong))
        return lacking

    def _count(self, index: str) -> int:
        return int(self._ask(index, "count", None, WORK_S, "GET"))

    def _digests(self, index: str, labels: Sequence[VectorLabel]) -> dict[str, str]:
        """Ids and digests of those of these vectors that the server has."""
        ids = list({self.id_of(label.user_id, label.doc) for label in labels})
        found = self._ask(index, "get", {"ids": ids, "include": ["metadatas"]}, WORK_S)
        with _understood():
            return dict(_pairs(found))

    def _every(self, index: str) -> Iterator[tuple[str, str]]:
        """Every id of an index and its digest."""
        read = 0
        while True:
            body = {"limit": PAGE, "offset": read, "include": ["metadatas"]}
            found = self._ask(index, "get", body, WORK_S)
            with _understood():
                part = _pairs(found)
            yield from part
            read += PAGE
            if len(part) < PAGE:
                return

    def drop(self, index: str, within_s: float = WORK_S) -> None:
        """Delete a whole collection; a missing one is no error."""
        name = self.collection(index)
        self._known.pop(name, None)
        with suppress(CollectionMissing):
            self.server.ask("DELETE", f"/{name}", None, within_s)

    def _ask(self, index: str, what: str, body: object, within_s: float, method: str = "POST") -> Any:
        name = self.collection(index)
        try:
            return self.server.ask(method, f"/{self._found(name, within_s)}/{what}", body, within_s)
        except CollectionMissing:
            self._known.pop(name, None)
            raise

    def _found(self, name: str, within_s: float) -> str:
        if name not in self._known:
            body = {"name": name, "get_or_create": True, "configuration": COSINE}
            made = self.server.ask("POST", "", body, within_s)
            with _understood():
                self._known[name] = str(made["id"])
        return self._known[name]


@contextmanager
def _understood() -> Iterator[None]:
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise VectorBackendAway("the server answers what Chroma does not") from error


def _pairs(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Ids and digests in a reply."""
    told = zip(found["ids"], found["metadatas"], strict=True)
    return [(str(one), str((of_it or {}).get("digest"))) for one, of_it in told]


def _labelled(user_id: str, told: Sequence[Any], rows: Sequence[Any]) -> Iterator[tuple[VectorLabel, Bytes]]:
    """The labels and vectors in a reply, still to be compared with the texts."""
    for one, row in zip(told, rows, strict=True):
        if one is not None and row is not None:
            label = VectorLabel(int(one["doc"]), user_id, str(one["kind"]), str(one["record"]), str(one["digest"]))
            # the server keeps float32; our components are whole numbers
            yield label, np.rint(np.asarray(row, dtype=np.float32)).astype(np.int8)


def _key_of(texts: TextSource) -> bytes:
    if (known := texts.state(KEY)) is None:
        with texts.transaction():
            known = texts.state(KEY) or secrets.token_hex(32)
            texts.put_state(KEY, known)
    return bytes.fromhex(known)
