"""Documents in the SQLite store: texts in ``body``, words and embeddings in tables of their own."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np

from ovos_persona_memory.records import Document, Namespace
from ovos_persona_memory.stores.base.bm25 import Bm25, words_of
from ovos_persona_memory.stores.base.documents import ALONG, DocumentStore, StoredDocument, fits, free_name
from ovos_persona_memory.stores.base.store import refuse_unstorable
from ovos_persona_memory.stores.base.vector_math import Floats
from ovos_persona_memory.stores.sql.where_clause import Where
from ovos_persona_memory.stores.sqlite.rows import add_body, empty_bodies, hash_of

CHUNK, PART = 1000, 100
HELD = (
    "SELECT d.num, b.name, b.text, b.data, d.updated_at, b.words, e.embedding FROM {source}"
    " CROSS JOIN body b ON b.num = d.body LEFT JOIN document_embedding e ON e.num = d.body"
)
OF_SPACE = HELD.format(source="document d")
LISTED = HELD.format(source="json_each(?) j CROSS JOIN document d ON d.num = j.value")
POSTINGS = (
    "SELECT p.doc, p.times, p.length FROM document_word w CROSS JOIN document_posting p ON p.word = w.num"
    " WHERE w.num = ?"
)
EMBEDDINGS = (
    "SELECT d.num, e.embedding FROM document d CROSS JOIN document_embedding e ON e.num = d.body"
    " WHERE d.namespace = ? AND d.dim = ?"
)
_Row = tuple[Any, ...]
"""Id, text, metadata, updated_at, words and embedding of a document, as columns hold them."""
Context = Callable[[], AbstractContextManager[None]]


class SqliteDocuments(DocumentStore):
    """Works on the store's connection, within the store's transactions and under its lock."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        transaction: Context,
        reading: Context,
        written: Callable[[], None] = lambda: None,
    ) -> None:
        """``written`` is called after a text was written."""
        self._sql = connection
        self._transaction = transaction
        self._reading = reading
        self._written = written

    def put(self, document: Document, words: str, embedding: Floats | None) -> None:
        refuse_unstorable(document, words)
        metadata = json.dumps(document.metadata)
        space = Namespace(document.user_id, document.namespace)
        with self._transaction():
            self.delete(space, [document.id])
            packed = None if embedding is None else embedding.astype("<f4").tobytes()
            row = (document.id, document.text, metadata, document.updated_at, words, packed)
            self._insert(self._number_made(space), row)

    def _insert(self, space: int, row: _Row) -> None:
        document_id, text, metadata, updated_at, words, packed = row
        body = add_body(self._sql, (text, words, None, document_id, metadata))
        dim = None
        if packed is not None:
            dim = len(packed) // 4
            self._sql.execute("INSERT INTO document_embedding VALUES (?, ?)", (body, packed))
        added = self._sql.execute(
            "INSERT INTO document (namespace, id_hash, body, dim, updated_at) VALUES (?, ?, ?, ?, ?)",
            (space, hash_of(document_id), body, dim, updated_at),
        )
        self._enter(space, added.lastrowid or 0, words_of(words))
        self._written()

    def get(self, space: Namespace, document_id: str) -> StoredDocument | None:
        refuse_unstorable(space, document_id)
        with self._reading():
            sql = f"{OF_SPACE} WHERE d.namespace = ? AND d.id_hash = ?"
            row = self._sql.execute(sql, (self._number(space), hash_of(document_id))).fetchone()
        return _held(row, space) if row else None

    def held(self, space: Namespace) -> Iterator[StoredDocument]:
        with self._reading():
            sql = "SELECT num FROM document WHERE namespace = ? ORDER BY num"
            nums = [num for (num,) in self._sql.execute(sql, (self._number(space),))]
        yield from self._listed(nums, space)

    def dimension(self, space: Namespace) -> int | None:
        with self._reading():
            return self._dimension(self._number(space))

    def _dimension(self, space: int | None) -> int | None:
        row = self._sql.execute(
            "SELECT dim FROM document WHERE namespace = ? AND dim IS NOT NULL LIMIT 1", (space,)
        ).fetchone()
        return row[0] if row else None

    # from one user to another

    def merge_user(self, user_id: str, into: str) -> int:
        with self._transaction():
            moved = self.count(user_id)
            spaces = self._sql.execute("SELECT num, name_hash FROM namespace WHERE user_id = ?", (user_id,)).fetchall()
            for num, name_hash in spaces:
                sql = "SELECT num FROM namespace WHERE user_id = ? AND name_hash = ?"
                other = self._sql.execute(sql, (into, name_hash)).fetchone()
                if other is None:
                    self._sql.execute("UPDATE namespace SET user_id = ? WHERE num = ?", (into, num))
                else:
                    self._merge_space(num, other[0])
        return moved

    def _merge_space(self, space: int, into: int) -> None:
        dim = self._dimension(into)
        for row in self._sql.execute(f"{OF_SPACE} WHERE d.namespace = ? ORDER BY d.num", (space,)).fetchall():
            num, *moving = row
            self._take_away(space, [num])
            self._move(moving, into, dim)

    def _move(self, moving: list[Any], space: int, dim: int | None) -> None:
        other = self._named(space, moving[0])
        if other is not None:
            free = free_name(moving[0], lambda name: self._named(space, name) is None)
            num, *kept = other
            if kept[3] >= moving[3]:
                moving[0] = free
            else:
                # the namespace stays: the moved documents are inserted at once
                self._insert(space, (free, *kept[1:]))
                self._take_away(space, [num])
        if moving[5] is not None and dim not in (None, len(moving[5]) // 4):
            moving[5] = None
        self._insert(space, tuple(moving))

    def _named(self, space: int, document_id: str) -> tuple[Any, ...] | None:
        sql = f"{OF_SPACE} WHERE d.namespace = ? AND d.id_hash = ?"
        row: tuple[Any, ...] | None = self._sql.execute(sql, (space, hash_of(document_id))).fetchone()
        return row

    # namespaces

    def _number(self, space: Namespace) -> int | None:
        row = self._sql.execute(
            "SELECT num FROM namespace WHERE user_id = ? AND name_hash = ?", (space.user_id, hash_of(space.name))
        ).fetchone()
        return row[0] if row else None

    def _number_made(self, space: Namespace) -> int:
        names = (space.user_id, hash_of(space.name))
        self._sql.execute("INSERT INTO namespace (user_id, name_hash) VALUES (?, ?) ON CONFLICT DO NOTHING", names)
        return self._number(space) or 0

    # words

    def _enter(self, space: int, doc: int, words: Sequence[str]) -> None:
        for word, times in Counter(words).items():
            (num,) = self._sql.execute(
                "INSERT INTO document_word (namespace, hash, n) VALUES (?, ?, 1)"
                " ON CONFLICT (namespace, hash) DO UPDATE SET n = n + 1 RETURNING num",
                (space, hash_of(word)),
            ).fetchone()
            self._sql.execute("INSERT INTO document_posting VALUES (?, ?, ?, ?)", (num, doc, times, len(words)))
        self._sql.execute(
            "UPDATE namespace SET documents = documents + 1, words = words + ? WHERE num = ?", (len(words), space)
        )

    def _take_out(self, space: int, doc: int, words: Sequence[str]) -> None:
        hashes = [(space, hash_of(word)) for word in set(words)]
        self._sql.executemany(
            "DELETE FROM document_posting WHERE doc = ?"
            " AND word = (SELECT num FROM document_word WHERE namespace = ? AND hash = ?)",
            [(doc, *one) for one in hashes],
        )
        self._sql.executemany("UPDATE document_word SET n = n - 1 WHERE namespace = ? AND hash = ?", hashes)
        self._sql.executemany("DELETE FROM document_word WHERE namespace = ? AND hash = ? AND n <= 0", hashes)
        self._sql.execute(
            "UPDATE namespace SET documents = documents - 1, words = words - ? WHERE num = ?", (len(words), space)
        )

    # finding

    def by_words(
        self, words: Sequence[str], space: Namespace, limit: int, wanted: Mapping[str, Any] | None = None
    ) -> list[Document]:
        with self._reading():
            scores = self._scores({hash_of(word) for word in words}, space)
            return self._best(scores, space, limit, wanted)

    def _scores(self, hashes: set[int], space: Namespace) -> dict[int, float]:
        row = self._sql.execute(
            "SELECT num, documents, words FROM namespace WHERE num = ?", (self._number(space),)
        ).fetchone()
        if not row:
            return {}
        formula = Bm25(row[1], row[2] / row[1])
        parts: dict[int, list[float]] = {}
        for one in sorted(hashes):
            sql = "SELECT num, n FROM document_word WHERE namespace = ? AND hash = ?"
            for word, frequency in self._sql.execute(sql, (row[0], one)).fetchall():
                weight = formula.weight(frequency)
                for doc, times, length in self._sql.execute(POSTINGS, (word,)):
                    parts.setdefault(doc, []).append(formula.part(weight, times, formula.damping(length)))
        return {doc: fsum(each) for doc, each in parts.items()}

    def nearest(
        self, embedding: Floats, space: Namespace, limit: int, wanted: Mapping[str, Any] | None = None
    ) -> list[Document]:
        scores: dict[int, float] = {}
        with self._reading():
            rows = self._sql.execute(EMBEDDINGS, (self._number(space), len(embedding)))
            while part := rows.fetchmany(CHUNK):
                held = np.frombuffer(b"".join(packed for _, packed in part), dtype="<f4").reshape(len(part), -1)
                cosines = (held @ embedding).tolist()
                scores |= {num: score for (num, _), score in zip(part, cosines, strict=True) if score > ALONG}
            return self._best(scores, space, limit, wanted)

    def _best(
        self, scores: Mapping[int, float], space: Namespace, limit: int, wanted: Mapping[str, Any] | None
    ) -> list[Document]:
        ranked = sorted(scores, key=lambda num: (-scores[num], -num))
        found: list[Document] = []
        for held, num in zip(self._listed(ranked, space), ranked, strict=True):
            if len(found) >= limit:
                break
            if fits(held.document, wanted):
                found.append(replace(held.document, score=scores[num]))
        return found

    def _listed(self, nums: Sequence[int], space: Namespace) -> Iterator[StoredDocument]:
        for start in range(0, len(nums), PART):
            with self._reading():
                rows = self._sql.execute(LISTED, (json.dumps(nums[start : start + PART]),)).fetchall()
            yield from (_held(row, space) for row in rows)

    # forgetting

    def delete(self, space: Namespace, ids: Sequence[str] | None = None) -> int:
        refuse_unstorable(space, *(ids or ()))
        with self._transaction():
            num = self._number(space)
            if num is None:
                return 0
            return self._delete_all(num) if ids is None else self._delete_some(num, ids)

    def delete_of_user(self, user_id: str | None) -> int:
        with self._transaction():
            where = Where() if user_id is None else Where(("user_id = ?",), (user_id,))
            spaces = self._sql.execute(f"SELECT num FROM namespace{where}", where.values).fetchall()
            return sum(self._delete_all(num) for (num,) in spaces)

    def count(self, user_id: str | None) -> int:
        with self._reading():
            where = Where() if user_id is None else Where(("user_id = ?",), (user_id,))
            sql = f"SELECT coalesce(sum(documents), 0) FROM namespace{where}"
            return int(self._sql.execute(sql, where.values).fetchone()[0])

    def holding(self, user_id: str | None, groups: Sequence[frozenset[str]]) -> list[int]:
        held: set[int] | None = None
        mine = "" if user_id is None else " AND n.user_id = ?"
        sql = (
            "SELECT p.doc FROM json_each(?) j CROSS JOIN namespace n CROSS JOIN document_word w"
            f" ON w.namespace = n.num AND w.hash = j.value{mine} CROSS JOIN document_posting p ON p.word = w.num"
        )
        with self._reading():
            for group in groups:
                hashes = json.dumps(sorted(hash_of(word) for word in group))
                docs = {doc for (doc,) in self._sql.execute(sql, (hashes,) if user_id is None else (hashes, user_id))}
                held = docs if held is None else held & docs
        return sorted(held or ())

    def oldest(self, before: float, limit: int) -> list[int]:
        sql = "SELECT num FROM document WHERE updated_at < ? ORDER BY updated_at, num LIMIT ?"
        with self._reading():
            return [num for (num,) in self._sql.execute(sql, (before, limit))]

    def delete_numbered(self, numbers: Sequence[int]) -> int:
        with self._transaction():
            sql = "SELECT namespace, num FROM document WHERE num IN (SELECT value FROM json_each(?))"
            found = self._sql.execute(sql, (json.dumps(list(numbers)),)).fetchall()
            for space in {space for space, _ in found}:
                self._take_away(space, [num for of_space, num in found if of_space == space])
        return len(found)

    def _delete_some(self, space: int, ids: Sequence[str]) -> int:
        hashes = json.dumps(sorted({hash_of(one) for one in ids}))
        sql = "SELECT d.num FROM json_each(?) j CROSS JOIN document d ON d.namespace = ? AND d.id_hash = j.value"
        return self._take_away(space, [num for (num,) in self._sql.execute(sql, (hashes, space))])

    def _take_away(self, space: int, nums: Sequence[int]) -> int:
        gone = self._sql.execute(
            "SELECT d.num, d.body, b.words FROM json_each(?) j"
            " CROSS JOIN document d ON d.num = j.value JOIN body b ON b.num = d.body",
            (json.dumps(nums),),
        ).fetchall()
        for num, _, words in gone:
            self._take_out(space, num, words_of(words))
        self._sql.executemany("DELETE FROM document WHERE num = ?", [(num,) for num, _, _ in gone])
        self._empty([body for _, body, _ in gone])
        self._sql.execute("DELETE FROM namespace WHERE num = ? AND documents <= 0", (space,))
        return len(gone)

    def _delete_all(self, space: int) -> int:
        bodies = [body for (body,) in self._sql.execute("SELECT body FROM document WHERE namespace = ?", (space,))]
        self._empty(bodies)
        words = "SELECT num FROM document_word WHERE namespace = ?"
        self._sql.execute(f"DELETE FROM document_posting WHERE word IN ({words})", (space,))
        for table in ("document_word", "document"):
            self._sql.execute(f"DELETE FROM {table} WHERE namespace = ?", (space,))
        self._sql.execute("DELETE FROM namespace WHERE num = ?", (space,))
        return len(bodies)

    def _empty(self, bodies: Sequence[int]) -> None:
        if bodies:
            empty_bodies(self._sql, bodies)
            self._sql.executemany(
                "UPDATE document_embedding SET embedding = NULL WHERE num = ?", [(body,) for body in bodies]
            )


def _held(row: tuple[Any, ...], space: Namespace) -> StoredDocument:
    _, document_id, text, metadata, updated_at, words, packed = row
    document = Document(document_id, text, json.loads(metadata), space.name, space.user_id, updated_at)
    return StoredDocument(
        document, words, None if packed is None else np.frombuffer(packed, dtype="<f4").astype(np.float32)
    )
