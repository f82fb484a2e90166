"""Vectors in the PostgreSQL store: pgvector's halfvec, compared one by one where they are few, else by HNSW."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ovos_persona_memory.errors import StoreError
from ovos_persona_memory.records import ACCEPTED, Entry, Namespace, Scope, Turn, replace_fast
from ovos_persona_memory.stores.base.vector_math import Bytes, Floats, cosines, quantised
from ovos_persona_memory.stores.base.vectors import (
    NearDocument,
    PendingText,
    VectorIndex,
    VectorStore,
    doc_of,
    entry_text,
)
from ovos_persona_memory.stores.postgres import rows
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase
from ovos_persona_memory.stores.sql.where_clause import PLACES, Where
from ovos_persona_memory.stores.sql.where_clause import known as known_to

SLOTS = (0, 1)
BUCKETS = 16
"""HNSW indexes over which users are spread: the fewer rows of others one holds, the sooner a user's are found."""
EXACT = 35_000
"""Rows that an exact scan compares in the time in which HNSW visits ``WIDTH`` rows."""
WIDTH, WIDTH_OF_EACH = 800, 400
"""Initial size of HNSW's candidate list; for one bucket, and for each where every bucket is searched."""
SPARE = 2
"""Factor of rows taken from HNSW over those wanted: it returns them only nearly in order."""
PATIENCE = 4
"""HNSW may visit this factor of the rows needed on average: where a scope holds few of a user's rows, an exact scan is
quicker."""
LISTED = 4000
"""A narrow scope with no more documents than this is scanned exactly."""
DROPPED = 5000
"""Rows that one statement deletes."""
INDEXED_DIM = 4000
"""Maximum dimension of a halfvec in pgvector's HNSW."""
TABLES = {"turn": "turn", "memory": "entry"}
BOTH = frozenset(TABLES)
VECTOR = "halfvec_send(r.vector)"
# vectors are serialised after the ranking; before it, every row would be
COMPARED = (
    f"SELECT r.doc, {VECTOR} FROM (SELECT r.doc, r.vector FROM vector r{{where}}"
    " ORDER BY r.vector <=> %s::halfvec, abs(r.doc) DESC LIMIT %s) r"
)
MET = (
    f"(SELECT r.doc, {VECTOR} FROM vector r{{where}}"
    " ORDER BY r.vector::halfvec({dim:d}) <=> %s::halfvec({dim:d}) LIMIT %s)"
)
BUCKET = f"(hashtext({{0}}household || {{0}}user_id) & {BUCKETS - 1})"
IN_BUCKETS = (
    "SELECT b.bucket, coalesce(c.reltuples, 0)::bigint FROM (SELECT {bucket} AS bucket) b"
    " LEFT JOIN pg_class c ON c.oid = to_regclass('vector_near_{dim:d}_' || b.bucket)"
)
OF_USER = "SELECT coalesce(sum(r.documents), 0)::bigint FROM person r"
KNOWN = "SELECT slot, dim, done_to FROM vector_index WHERE household = %s AND user_id = '' AND name = %s"
START = (
    "INSERT INTO vector_index (household, name, slot, setting, dim, done_to, started)"
    f" VALUES (%s, %s, %s, %s, %s, 0, {rows.NEXT})"
)
NEW = " UNION ALL ".join(
    f"(SELECT {columns} FROM {table} r WHERE r.household = %s AND r.{version} > %s ORDER BY r.{version} LIMIT %s)"
    for table, version, columns in (
        ("turn", "version", "'turn' AS kind, r.seq, r.version AS version, r.text, NULL AS key, 0 AS private"),
        ("entry", "version", "'memory', -r.seq, r.version, r.text, r.key, r.private"),
        # documents with an embedding of their own need no vector
        ("document", "num", "'document', r.num, r.num, CASE WHEN r.dim IS NULL THEN r.text ELSE '' END, NULL, 0"),
    )
)
LAG = " + ".join(
    f"(SELECT count(*) FROM {table} WHERE household = %s AND {version} > %s)"
    for table, version in (("turn", "version"), ("entry", "version"), ("document", "num"))
)
NEAR = (
    "CREATE INDEX IF NOT EXISTS vector_near_{dim:d}_{bucket:d} ON vector"
    " USING hnsw ((vector::halfvec({dim:d})) halfvec_cosine_ops) WITH (m = 16, ef_construction = 100)"
    f" WHERE dim = {{dim:d}} AND {BUCKET.format('')} = {{bucket:d}}"
)
PUT = (
    "INSERT INTO vector (household, user_id, slot, kind, doc, version, dim, vector, {places}, private, status)"
    " SELECT r.household, r.user_id, %s, %s, g.doc, g.version, %s, g.vector::halfvec, {given}, {more}"
    " FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) g (doc, version, vector)"
    " JOIN {table} r ON r.household = %s AND r.{version} = g.version"
    " ON CONFLICT (household, user_id, slot, kind, doc) DO UPDATE"
    " SET version = excluded.version, vector = excluded.vector"
)
NAMES = ", ".join(PLACES)
PUT_TURNS = PUT.format(
    places=NAMES, given=rows.column_list(PLACES), more=f"0, '{ACCEPTED}'", table="turn", version="version"
)
PUT_ENTRIES = PUT.format(
    places=NAMES, given=rows.column_list(PLACES), more="r.private, r.status", table="entry", version="version"
)
PUT_DOCUMENTS = PUT.format(
    places=NAMES, given="NULL, NULL, NULL, NULL", more=f"0, '{ACCEPTED}'", table="document", version="num"
)
PUTS = {"turn": PUT_TURNS, "memory": PUT_ENTRIES, "document": PUT_DOCUMENTS}
DROP = (
    "DELETE FROM vector r USING (SELECT user_id, kind, doc FROM vector WHERE household = %s AND slot = %s"
    f" LIMIT {DROPPED}) g WHERE r.household = %s AND r.slot = %s AND r.user_id = g.user_id AND r.kind = g.kind"
    " AND r.doc = g.doc"
)
OF_NAMESPACE = (
    f"SELECT d.id, {VECTOR} FROM document d JOIN vector r ON r.household = d.household AND r.user_id = d.user_id"
    " AND r.kind = 'document' AND r.doc = d.num WHERE d.household = %s AND d.user_id = %s"
    " AND d.namespace = %s AND d.dim IS NULL AND r.slot = %s"
)
MOVED = (
    f"UPDATE vector SET user_id = %s, {rows.assigned(PLACES)}, private = %s, status = %s"
    " WHERE household = %s AND user_id = %s AND kind = %s AND doc = %s"
)
GONE = (
    "DELETE FROM vector r USING unnest(%s::text[], %s::text[], %s::bigint[]) g (user_id, kind, doc)"
    " WHERE r.household = %s AND r.user_id = g.user_id AND r.kind = g.kind AND r.doc = g.doc"
)


@dataclass(frozen=True)
class _HnswSearch:
    """Parameters of an HNSW search."""

    buckets: list[int]
    width: int
    most: int
    """Rows visited in each bucket at most, where there are more than ``width``."""

    @property
    def settings(self) -> dict[str, str]:
        """Settings of the connection during the search; without them the planner might not use HNSW."""
        most = max(self.width, self.most)
        return {"enable_sort": "off", "hnsw.ef_search": f"{self.width:d}", "hnsw.max_scan_tuples": f"{most:d}"}


class PostgresVectors(VectorStore):
    """Runs in the store's transactions. Nothing is cached: several daemons may write."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._db, self._home = database, database.settings.household

    # notifications of the store

    def changed(self, kind: str, user_id: str, record: Turn | Entry, same_text: bool) -> None:
        """Take note of a changed turn or memory, which was this user's."""
        if not same_text:
            self._delete([(user_id, kind, doc_of(record))])
            self.wake()
            return
        places = [getattr(record, name) for name in PLACES]
        more = (record.private, record.status) if isinstance(record, Entry) else (0, ACCEPTED)
        self._db.run(MOVED, record.user_id, *places, *more, self._home, user_id, kind, doc_of(record))

    def deleted(self, gone: Sequence[Turn | Entry]) -> None:
        """Take note of deleted turns and memories."""
        self._delete([(one.user_id, "turn" if isinstance(one, Turn) else "memory", doc_of(one)) for one in gone])

    def deleted_documents(self, gone: Sequence[tuple[Any, ...]]) -> None:
        """Take note of deleted documents: user and number of each."""
        self._delete([(user_id, "document", num) for user_id, num in gone])

    def _delete(self, gone: Sequence[tuple[str, str, int]]) -> None:
        if gone:
            self._db.run(GONE, *(list(column) for column in zip(*gone, strict=True)), self._home)

    # indexes

    def indexes(self) -> list[VectorIndex]:
        sql = "SELECT name, setting, dim FROM vector_index WHERE household = %s ORDER BY started"
        return [VectorIndex(*row) for row in self._db.all(sql, self._home)]

    def start(self, index: VectorIndex) -> None:
        with self._db.transaction():
            taken = self._db.all("SELECT name, slot FROM vector_index WHERE household = %s", self._home)
            if index.name in {name for name, _ in taken}:
                return
            free = [slot for slot in SLOTS if slot not in {slot for _, slot in taken}]
            if free:
                self._db.run(START, self._home, index.name, free[0], index.setting, index.dim)
                self._prepare(index.dim)
        if not free:
            raise StoreError("there are two indexes already")

    def _prepare(self, dim: int) -> None:
        """Make an HNSW index for vectors of this dimension, of whichever household."""
        if dim <= INDEXED_DIM:
            for bucket in range(BUCKETS):
                self._db.run(NEAR.format(dim=dim, bucket=bucket))

    def drop(self, name: str) -> bool:
        with self._db.transaction():
            known = self._known(name)
            if known is None:
                return True
            if self._db.run(DROP, self._home, known[0], self._home, known[0]) == DROPPED:
                return False
            self._db.run("DELETE FROM vector_index WHERE household = %s AND name = %s", self._home, name)
        return True

    def _known(self, name: str | None) -> tuple[int, int, int] | None:
        """Slot, dimension and progress of an index."""
        found: tuple[int, int, int] | None = self._db.one(KNOWN, self._home, name)
        return found

    # taking up

    def lag(self, name: str | None) -> int:
        known = self._known(name)
        done_to = known[2] if known else 0
        return int(self._db.one(f"SELECT {LAG}", *[self._home, done_to] * 3)[0])

    def pending(self, name: str, limit: int) -> list[PendingText]:
        known = self._known(name)
        done_to = known[2] if known else 0
        found = self._db.all(f"{NEW} ORDER BY version LIMIT %s", *[self._home, done_to, limit] * 3, limit)
        return [
            PendingText(kind, doc, version, entry_text(key, text, private) if kind == "memory" else text)
            for kind, doc, version, text, key, private in found
        ]

    def put(self, name: str, taken: Sequence[PendingText], vectors: Bytes) -> None:
        hurried = self._db.depth > 0
        with self._db.transaction():
            known = self._known(name)
            if known is None or not taken:
                return
            if not hurried:  # vectors lost in a crash of the server are embedded again
                self._db.run("SET LOCAL synchronous_commit = off")
            for kind, sql in PUTS.items():
                some = [(n, one) for n, one in enumerate(taken) if one.kind == kind and vectors[n].any()]
                if some:
                    docs, versions = [one.doc for _, one in some], [one.version for _, one in some]
                    texts = [_written(vectors[n]) for n, _ in some]
                    self._db.run(sql, known[0], kind, known[1], docs, versions, texts, self._home)
            done = "UPDATE vector_index SET done_to = greatest(done_to, %s) WHERE household = %s AND name = %s"
            self._db.run(done, taken[-1].version, self._home, name)

    # finding

    def held(self, name: str, scope: Scope, kinds: frozenset[str]) -> Iterator[tuple[Turn | Entry, Bytes]]:
        where = self._where(name, scope, kinds)
        found = self._db.all(f"SELECT r.doc, {VECTOR} FROM vector r{where}", *where.values)
        records = self.records([doc for doc, _ in found], scope.user_id)
        return iter([(records[doc], _read(packed)) for doc, packed in found if doc in records])

    def _where(self, name: str, scope: Scope, kinds: frozenset[str]) -> Where:
        known = self._known(name)
        return self._placed(known[0] if known else -1, scope, kinds)

    def _placed(self, slot: int, scope: Scope, kinds: frozenset[str]) -> Where:
        where = rows.within(self._home, replace_fast(scope, status=None)).also("r.slot = %s", slot)
        if scope.status is not None:
            where = where.also("r.status = %s", scope.status)
        where = known_to(where, scope)
        return where.also("r.kind = ANY(%s)", sorted(kinds))

    def records(self, docs: Sequence[int], user_id: str | None) -> dict[int, Turn | Entry]:
        """The turns and memories with these numbers, of this user or of anybody; deleted ones are left out."""
        found: dict[int, Turn | Entry] = {}
        for sign, select, read in ((1, rows.TURNS, rows.turn_of), (-1, rows.ENTRIES, rows.entry_of)):
            seqs = [sign * doc for doc in docs if sign * doc > 0]
            where = rows.within(self._home, Scope(user_id=user_id)).also("r.seq = ANY(%s)", seqs)
            if seqs:
                records = [read(row)[0] for row in self._db.all(f"{select}{where}", *where.values)]
                found |= {doc_of(record): record for record in records}
        return found

    def nearest(self, name: str, query: Floats, scope: Scope, kinds: frozenset[str], limit: int) -> list[NearDocument]:
        known = self._known(name)
        if limit <= 0 or known is None:
            return []
        if not query.any():  # pgvector has no cosine for a vector of zeros
            return super().nearest(name, query, scope, kinds, limit)
        found = self._candidates(known, query, (scope, kinds), limit)
        scores = cosines(np.stack([_read(packed) for _, packed in found]), query).tolist() if found else []
        best = sorted(zip(scores, (doc for doc, _ in found), strict=True), key=lambda one: (-one[0], -abs(one[1])))
        records = self.records([doc for _, doc in best[:limit]], scope.user_id)
        return [NearDocument(records[doc], score) for score, doc in best[:limit] if doc in records]

    def _candidates(
        self, known: tuple[int, int, int], query: Floats, within: tuple[Scope, frozenset[str]], limit: int
    ) -> list[tuple[int, bytes]]:
        """Numbers and vectors of the nearest documents and some more."""
        slot, dim, _ = known
        asked = _written(quantised(query[None, :])[0])
        listed = self._listed(*within)
        near = None if listed is not None or dim > INDEXED_DIM else self._near(dim, within[0].user_id, SPARE * limit)
        if near is None:
            return self._compared(slot, asked, within, listed, limit)
        where, sql, values = self._placed(slot, *within).also(f"r.dim = {dim:d}"), [], []
        for bucket in near.buckets:  # as a literal, from which the planner knows the index
            part = where.also(f"{BUCKET.format('r.')} = {bucket:d}")
            sql.append(MET.format(where=part, dim=dim))
            values += [*part.values, asked, SPARE * limit]
        with self._db.apply_settings(near.settings):
            found = self._db.all(" UNION ALL ".join(sql), *values)
        return found if len(found) >= limit else self._compared(slot, asked, within, None, limit)

    def _compared(
        self, slot: int, asked: str, within: tuple[Scope, frozenset[str]], docs: list[int] | None, limit: int
    ) -> list[tuple[int, bytes]]:
        """The nearest of these documents by an exact scan; ``docs`` None: of all in scope."""
        where = self._placed(slot, *within)
        where = where if docs is None else where.also("r.doc = ANY(%s)", docs)
        return self._db.all(COMPARED.format(where=where), *where.values, asked, limit)

    def _listed(self, scope: Scope, kinds: frozenset[str]) -> list[int] | None:
        """The documents in a narrow scope; None where it is not narrow, or they are many."""
        if (scope.session_id, scope.site_id, scope.task_id) == (None, None, None):
            return None
        docs: list[int] = []
        for kind in sorted(kinds & TABLES.keys()):
            sign, where = "-" if kind == "memory" else "", rows.within(self._home, scope, kind)
            sql = f"SELECT {sign}r.seq FROM {TABLES[kind]} r{where} LIMIT {LISTED + 1}"
            docs += [doc for (doc,) in self._db.all(sql, *where.values)]
        return docs if len(docs) <= LISTED else None

    def _near(self, dim: int, user_id: str | None, wanted: int) -> _HnswSearch | None:
        """The parameters of an HNSW search for this many of a user's documents, or of everybody's; None where an exact
        scan is quicker."""
        where = rows.within(self._home, Scope(user_id=user_id))
        (own,) = self._db.one(f"{OF_USER}{where}", *where.values)
        if user_id is None:
            bucket, values, width = f"generate_series(0, {BUCKETS - 1})", [], WIDTH_OF_EACH
        else:
            bucket, values, width = "hashtext(%s || %s) & %s", [self._home, user_id, BUCKETS - 1], WIDTH
        found = self._db.all(IN_BUCKETS.format(bucket=bucket, dim=dim), *values)
        meets = int(wanted * max(sum(size for _, size in found), own) / max(own, 1))
        if own * WIDTH <= EXACT * len(found) * max(width, meets):
            return None
        return _HnswSearch([bucket for bucket, _ in found], width, PATIENCE * meets)

    def documents(self, name: str, space: Namespace) -> list[tuple[str, Bytes]]:
        known = self._known(name)
        slot = known[0] if known else -1
        found = self._db.all(OF_NAMESPACE, self._home, space.user_id, rows.name_hash(space.name), slot)
        return [(document_id, _read(packed)) for document_id, packed in found]

    def cosines(self, name: str, query: Floats, docs: Iterable[int], user_id: str) -> Mapping[int, float]:
        where = self._where(name, Scope(user_id=user_id), frozenset(TABLES)).also("r.doc = ANY(%s)", list(docs))
        found = self._db.all(f"SELECT r.doc, {VECTOR} FROM vector r{where}", *where.values)
        if not found:
            return {}
        scores = cosines(np.stack([_read(packed) for _, packed in found]), query).tolist()
        return dict(zip((doc for doc, _ in found), scores, strict=True))


def _written(vector: Bytes) -> str:
    return str(vector.tolist())


def _read(packed: bytes) -> Bytes:
    """The vector in the output of halfvec_send: two 16-bit numbers, then the components, all in network order."""
    return np.frombuffer(packed, dtype=">f2", offset=4).astype(np.int8)
