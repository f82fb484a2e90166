"""Documents in the PostgreSQL store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ovos_persona_memory.records import Document, Namespace
from ovos_persona_memory.stores.base.documents import DocumentStore, StoredDocument, free_name
from ovos_persona_memory.stores.base.store import refuse_unstorable
from ovos_persona_memory.stores.base.vector_math import Floats
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase
from ovos_persona_memory.stores.postgres.rows import NEXT, holding, name_hash, of_household
from ovos_persona_memory.stores.postgres.vectors import PostgresVectors
from ovos_persona_memory.stores.sql.where_clause import Where

HELD = "SELECT r.id, r.text, r.data, r.updated_at, r.words, r.embedding FROM document r"
PUT = (
    "INSERT INTO document (household, user_id, num, namespace, id, text, words, data, dim, embedding, updated_at)"
    f" VALUES (%s, %s, {NEXT}, %s, %s, %s, %s, %s, %s, %s, %s)"
)


MOVE = (
    f"UPDATE document SET user_id = %s, id = %s, num = {NEXT}, dim = CASE WHEN %s THEN dim END,"
    " embedding = CASE WHEN %s THEN embedding END WHERE household = %s AND user_id = %s AND num = %s"
)


class PostgresDocuments(DocumentStore):
    """Runs in the store's transactions. A search reads the whole namespace: the plain scans."""

    def __init__(self, database: PostgresDatabase, vectors: PostgresVectors) -> None:
        self._db, self._home, self._vectors = database, database.settings.household, vectors

    def put(self, document: Document, words: str, embedding: Floats | None) -> None:
        refuse_unstorable(document, words)
        space = Namespace(document.user_id, document.namespace)
        with self._db.transaction():
            self.delete(space, [document.id])
            packed = None if embedding is None else embedding.astype("<f4").tobytes()
            dim = None if embedding is None else len(embedding)
            values = (document.text, words, json.dumps(document.metadata), dim, packed, document.updated_at)
            self._db.run(PUT, self._home, space.user_id, name_hash(space.name), document.id, *values)
            self._vectors.wake()

    def get(self, space: Namespace, document_id: str) -> StoredDocument | None:
        refuse_unstorable(space, document_id)
        found = self._read(self._named(space, [document_id]), space)
        return found[0] if found else None

    def held(self, space: Namespace) -> Iterator[StoredDocument]:
        return iter(self._read(self._in(space), space))

    def dimension(self, space: Namespace) -> int | None:
        return self._dimension(space.user_id, name_hash(space.name))

    def _mine(self, user_id: str | None) -> Where:
        where = of_household(self._home)
        return where if user_id is None else where.also("r.user_id = %s", user_id)

    def _in(self, space: Namespace) -> Where:
        return self._mine(space.user_id).also("r.namespace = %s", name_hash(space.name))

    def _named(self, space: Namespace, ids: Sequence[str]) -> Where:
        where = self._in(space).also("md5(r.id) = ANY(SELECT md5(i) FROM unnest(%s::text[]) i)", list(ids))
        return where.also("r.id = ANY(%s)", list(ids))

    def _read(self, where: Where, space: Namespace) -> list[StoredDocument]:
        found = self._db.all(f"{HELD}{where} ORDER BY r.num", *where.values)
        return [_held(row, space) for row in found]

    # forgetting

    def delete(self, space: Namespace, ids: Sequence[str] | None = None) -> int:
        refuse_unstorable(space, *(ids or ()))
        return self._delete(self._in(space) if ids is None else self._named(space, ids))

    def delete_of_user(self, user_id: str | None) -> int:
        return self._delete(self._mine(user_id))

    def delete_numbered(self, numbers: Sequence[int]) -> int:
        return self._delete(self._mine(None).also("r.num = ANY(%s)", list(numbers)))

    def _delete(self, where: Where) -> int:
        with self._db.transaction(), self._db.patiently():
            gone = self._db.all(f"DELETE FROM document r{where} RETURNING r.user_id, r.num", *where.values)
            self._vectors.deleted_documents(gone)
        return len(gone)

    def count(self, user_id: str | None) -> int:
        where = self._mine(user_id)
        return int(self._db.one(f"SELECT count(*) FROM document r{where}", *where.values)[0])

    def holding(self, user_id: str | None, groups: Sequence[frozenset[str]]) -> list[int]:
        where = holding(self._mine(user_id), tuple(groups))
        return [num for (num,) in self._db.all(f"SELECT r.num FROM document r{where} ORDER BY r.num", *where.values)]

    def oldest(self, before: float, limit: int) -> list[int]:
        where = self._mine(None).also("r.updated_at < %s", before)
        sql = f"SELECT r.num FROM document r{where} ORDER BY r.updated_at, r.num LIMIT %s"
        return [num for (num,) in self._db.all(sql, *where.values, limit)]

    # from one user to another

    def merge_user(self, user_id: str, into: str) -> int:
        with self._db.transaction():
            where = self._mine(user_id)
            sql = f"SELECT r.num, r.namespace, r.id, r.dim, r.updated_at FROM document r{where} ORDER BY r.num"
            moving = self._db.all(sql, *where.values)
            for num, space, name, dim, updated_at in moving:
                fits = dim in (None, self._dimension(into, space) or dim)
                self._put_at(user_id, num, into, self._free(into, space, name, updated_at), fits)
        return len(moving)

    def _dimension(self, user_id: str, space: str) -> int | None:
        where = self._mine(user_id).also("r.namespace = %s", space).also("r.dim IS NOT NULL")
        row = self._db.one(f"SELECT r.dim FROM document r{where} LIMIT 1", *where.values)
        return row[0] if row else None

    def _free(self, user_id: str, space: str, name: str, updated_at: float) -> str:
        """The name under which a document moves in; an older document with this name is renamed."""
        other = self._at(user_id, space, name)
        if other is None:
            return name
        free = free_name(name, lambda one: self._at(user_id, space, one) is None)
        if other[1] >= updated_at:
            return free
        self._put_at(user_id, other[0], user_id, free, True)
        return name

    def _at(self, user_id: str, space: str, name: str) -> tuple[int, float] | None:
        where = self._mine(user_id).also("r.namespace = %s", space)
        where = where.also("md5(r.id) = md5(%s)", name).also("r.id = %s", name)
        found: tuple[int, float] | None = self._db.one(
            f"SELECT r.num, r.updated_at FROM document r{where}", *where.values
        )
        return found

    def _put_at(self, user_id: str, num: int, into: str, name: str, with_embedding: bool) -> None:
        """Put a document anew, under this user and name."""
        self._vectors.deleted_documents([(user_id, num)])
        self._db.run(MOVE, into, name, with_embedding, with_embedding, self._home, user_id, num)
        self._vectors.wake()


def _held(row: tuple[Any, ...], space: Namespace) -> StoredDocument:
    document_id, text, data, updated_at, words, packed = row
    document = Document(document_id, text, json.loads(data), space.name, space.user_id, updated_at)
    return StoredDocument(document, words, None if packed is None else np.frombuffer(packed, dtype="<f4"))
