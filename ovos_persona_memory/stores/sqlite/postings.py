"""The inverted index of the SQLite store: postings for each user, and the search over them.

One table of postings (word, document, times, length) instead of FTS5. Measured 2026-11-22 on 1,000,000 turns of 10
words: search p50 1.3 ms (FTS5 with rank and rescoring 2.1), no `optimize` of 0.5 s after each deletion, and no text in
the index that would have to be scrubbed; twice the size on disk.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ovos_persona_memory.records import Scope
from ovos_persona_memory.stores.base.bm25 import Bm25, set_of, words_of
from ovos_persona_memory.stores.base.score_accumulator import Posting, ScoreAccumulator, ScoredDocument
from ovos_persona_memory.stores.base.store import ExcludedTurn, Statistics
from ovos_persona_memory.stores.sql.where_clause import Where, narrowed
from ovos_persona_memory.stores.sqlite.postings_buffer import PostingsBuffer
from ovos_persona_memory.stores.sqlite.rows import hash_of, within

BUDGET = 1000
"""A search reads about this many postings, those of the rarest terms first."""
RESCORED = 200
"""At least this many of the best documents so far are scored with all terms."""
INSPECTED = 20_000
"""A search in a narrow scope inspects at most this many postings of one term."""

WAITING, AT_ONCE = 10_000, 20
"""Turns buffered at most, and how many are entered when the buffer is full."""
NEAR = 1000
"""A scope with fewer documents is scanned document by document when all terms are common."""

COUNTED = (
    "INSERT INTO word (hash, owner, n) SELECT CAST(key AS INTEGER), ?, value FROM json_each(?) WHERE true"
    " ON CONFLICT (hash, owner) DO UPDATE SET n = n + excluded.n RETURNING num, hash"
)
NOT_ENTERED = (
    "SELECT r.owner, r.seq, b.words FROM turn r CROSS JOIN body b ON b.num = r.body WHERE r.seq > ? ORDER BY r.seq"
)
TABLES = {"turn": "turn", "memory": "entry"}


@dataclass(frozen=True)
class SqlitePostingsQuery:
    """A search over one user's documents."""

    scope: Scope
    kinds: tuple[str, ...]
    limit: int
    budget: int = BUDGET
    without: Sequence[ExcludedTurn] = ()
    """Turns of this user that are left out."""


@dataclass(frozen=True)
class _SqliteTerm:
    word: str
    num: int | None
    """Its number in the index on disk; None where only the buffer holds it."""
    owner: int
    frequency: int
    """Document frequency of the term over all documents of the user, entered or buffered, but for those left out."""


class SqlitePostings:
    """Works on the store's connection, within the store's transactions and under its lock."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection
        self._loaded: tuple[PostingsBuffer, int] | None = None

    # keeping

    @property
    def _waiting(self) -> PostingsBuffer:
        return self._waiting_after()[0]

    @property
    def entered_to(self) -> int:
        """Turns with a seq above this are buffered."""
        return self._waiting_after()[1]

    def _waiting_after(self) -> tuple[PostingsBuffer, int]:
        if self._loaded is None:
            waiting = PostingsBuffer()
            (mark,) = self._sql.execute("SELECT turn FROM entered").fetchone()
            for owner, seq, words in self._sql.execute(NOT_ENTERED, (mark,)):
                waiting.add(owner, seq, words)
            self._loaded = waiting, mark
        return self._loaded

    def undone(self) -> None:
        """Called after a rollback: the buffer is read from the turns again."""
        self._loaded = None

    def add(self, owner: int, doc: int, words: str) -> None:
        """Index a document of a user: a new turn is buffered, anything else is entered at once."""
        waiting, mark = self._waiting_after()
        if doc <= mark:
            self._enter(owner, [(doc, words)])
            return
        waiting.add(owner, doc, words)
        if len(waiting) > WAITING:
            self.enter(AT_ONCE)

    def enter(self, number: int) -> int:
        """Enter at most this many buffered turns, the oldest first; how many are still buffered."""
        waiting, mark = self._waiting_after()
        by_owner: dict[int, list[tuple[int, str]]] = {}
        for owner, doc, words in waiting.oldest(number):
            by_owner.setdefault(owner, []).append((doc, words))
            waiting.remove(doc)
            mark = doc
        for owner, documents in by_owner.items():
            self._enter(owner, documents)
        self._mark(mark)
        return len(waiting)

    def _mark(self, seq: int) -> None:
        self._sql.execute("UPDATE entered SET turn = ?", (seq,))
        self._loaded = self._waiting, seq

    def _enter(self, owner: int, documents: Sequence[tuple[int, str]]) -> None:
        held = [(doc, Counter(map(hash_of, words_of(words)))) for doc, words in documents]
        frequency = Counter(number for _, times in held for number in times)
        # in the order of the table, so that neighbours share a page
        counted = json.dumps({number: frequency[number] for number in sorted(frequency)})
        nums = {number: num for num, number in self._sql.execute(COUNTED, (owner, counted))}
        postings = [(nums[number], doc, n, times.total()) for doc, times in held for number, n in times.items()]
        self._sql.executemany("INSERT INTO posting (word, doc, times, length) VALUES (?, ?, ?, ?)", sorted(postings))
        length = sum(times.total() for _, times in held)
        self._sql.execute(
            "UPDATE owner SET documents = documents + ?, words = words + ? WHERE num = ?", (len(held), length, owner)
        )

    def remove(self, owner: int, documents: Sequence[tuple[int, str]]) -> None:
        """Delete the postings of documents of a user: number and terms, as they were added."""
        waiting = self._waiting
        for doc, _ in documents:
            if doc in waiting:
                waiting.remove(doc)
        held = [(doc, words_of(words)) for doc, words in documents if doc <= self.entered_to]
        frequency = Counter(word for _, words in held for word in set(words))
        nums = self._numbers(owner, frequency)
        gone = sorted((nums[word], doc) for doc, words in held for word in set(words) if word in nums)
        fewer = [(frequency[word], num) for word, num in nums.items()]
        length = sum(len(words) for _, words in held)
        self._sql.executemany("DELETE FROM posting WHERE word = ? AND doc = ?", gone)
        self._sql.executemany("UPDATE word SET n = n - ? WHERE num = ?", fewer)
        self._sql.executemany("DELETE FROM word WHERE num = ? AND n <= 0", [(num,) for num in nums.values()])
        self._sql.execute(
            "UPDATE owner SET documents = documents - ?, words = words - ? WHERE num = ?", (len(held), length, owner)
        )

    def drop_owner(self, owner: int) -> None:
        """Delete a user without documents."""
        if not self._waiting.size(owner)[0]:
            self._sql.execute("DELETE FROM owner WHERE num = ? AND documents <= 0", (owner,))

    def clear(self) -> None:
        """Delete all postings, the users stay; no existing turn is buffered any more."""
        self._loaded = PostingsBuffer(), 0
        self._mark(self._sql.execute("SELECT coalesce(max(seq), 0) FROM turn").fetchone()[0])
        for table in ("posting", "word"):
            self._sql.execute(f"DELETE FROM {table}")
        self._sql.execute("UPDATE owner SET documents = 0, words = 0")

    def holds(self, owner: int, doc: int, words: str) -> bool:
        """Whether the document is found by each of its terms."""
        wanted = set(words_of(words))
        nums = self._numbers(owner, wanted)
        found = self._sql.execute(
            "SELECT count(*) FROM json_each(?) j CROSS JOIN posting p ON p.word = j.value AND p.doc = ?",
            (json.dumps(list(nums.values())), doc),
        ).fetchone()[0]
        return bool(found == len(wanted))

    def holding(self, groups: Sequence[frozenset[str]], owner: int | None) -> set[int]:
        """The documents that hold at least one term of each group, of a user, or of everybody (None)."""
        held: set[int] | None = None
        entered = ((group, self._entered_terms(group, owner)) for group in groups)
        # the rarest first: of the others only those documents are looked up that are left
        for group, terms in sorted(entered, key=lambda one: sum(n for _, n in one[1])):
            docs = self._holding_any(terms, held) | self._waiting.holding(group, owner)
            held = docs if held is None else held & docs
            if not held:
                break
        return held or set()

    def _entered_terms(self, words: Iterable[str], owner: int | None) -> list[tuple[int, int]]:
        """Number and frequency of each of the terms that a user, or anybody, has on disk."""
        mine = "" if owner is None else " AND w.owner = ?"
        hashes = json.dumps(sorted(hash_of(word) for word in words))
        return self._sql.execute(
            f"SELECT w.num, w.n FROM json_each(?) j CROSS JOIN word w ON w.hash = j.value{mine}",
            (hashes,) if owner is None else (hashes, owner),
        ).fetchall()

    def _holding_any(self, terms: Sequence[tuple[int, int]], among: set[int] | None) -> set[int]:
        """The documents on disk that hold any of the terms, at least of those ``among`` which it is asked."""
        nums = json.dumps([num for num, _ in terms])
        if among is None or len(among) * len(terms) > sum(n for _, n in terms):
            found = self._sql.execute(
                "SELECT p.doc FROM json_each(?) j CROSS JOIN posting p ON p.word = j.value", (nums,)
            )
        else:
            found = self._sql.execute(
                "SELECT p.doc FROM json_each(?) h CROSS JOIN json_each(?) j"
                " CROSS JOIN posting p ON p.word = j.value AND p.doc = h.value",
                (json.dumps(list(among)), nums),
            )
        return {doc for (doc,) in found}

    def documents(self) -> int:
        """Number of documents of all users."""
        entered = self._sql.execute("SELECT coalesce(sum(documents), 0) FROM owner").fetchone()[0]
        return int(entered) + self._waiting.size()[0]

    # finding

    def owners_of(self, words: Sequence[str]) -> list[int]:
        """The users who have any of the terms."""
        hashes = json.dumps([hash_of(word) for word in words])
        rows = self._sql.execute(
            "SELECT DISTINCT owner FROM word WHERE hash IN (SELECT value FROM json_each(?))", (hashes,)
        )
        return sorted({owner for (owner,) in rows} | self._waiting.owners_of(words))

    def statistics(self, owner: int, words: Sequence[str], without: Sequence[ExcludedTurn] = ()) -> Statistics:
        """See Store; ``without``: turns of this user."""
        documents, length = self._size(owner, without)
        frequency = {term.word: term.frequency for term in self._terms(owner, words, without)}
        return Statistics(documents, length / documents if documents else 0.0, frequency)

    def _size(self, owner: int, without: Sequence[ExcludedTurn]) -> tuple[int, int]:
        """Number of a user's documents, and of their terms."""
        row = self._sql.execute("SELECT documents, words FROM owner WHERE num = ?", (owner,)).fetchone() or (0, 0)
        waiting = self._waiting.size(owner)
        gone = sum(len(words_of(one.words)) for one in without)
        return row[0] + waiting[0] - len(without), row[1] + waiting[1] - gone

    def search(self, owner: int, words: Sequence[str], query: SqlitePostingsQuery) -> list[ScoredDocument]:
        """The user's best documents, best first."""
        terms = sorted(self._terms(owner, words, query.without), key=lambda term: (term.frequency, term.word))
        if not terms:
            return []
        documents, length = self._size(owner, query.without)
        scores = ScoreAccumulator(Bm25(documents, length / documents), [one.seq for one in query.without])
        near = self._near(owner, terms, query)
        if near is None or len(near) >= NEAR:
            self._walk(terms, query, scores)
        if near is not None and (len(near) < NEAR or not scores.parts):
            self._look_up(terms, near, scores)
        return scores.best(query.limit)

    def _near(self, owner: int, terms: Sequence[_SqliteTerm], query: SqlitePostingsQuery) -> list[int] | None:
        """The newest documents of a narrow scope, for common terms; None where reading postings is quicker."""
        scope = query.scope
        if (scope.session_id, scope.site_id, scope.task_id) == (None, None, None):
            return None
        if sum(term.frequency for term in terms) <= query.budget:
            return None
        docs: list[int] = []
        for kind in query.kinds:
            where = within(scope, owner, kind)
            sign, index = ("-", "") if kind == "memory" else ("", f" INDEXED BY {_index(scope)}")
            found = self._sql.execute(
                f"SELECT {sign}r.seq FROM {TABLES[kind]} r{index}{where} ORDER BY r.seq DESC LIMIT {NEAR}", where.values
            )
            docs += [doc for (doc,) in found]
        return docs

    def _walk(self, terms: Sequence[_SqliteTerm], query: SqlitePostingsQuery, scores: ScoreAccumulator) -> None:
        """Read postings, rarest term and newest document first, until the budget is spent."""
        left, cut_short = query.budget, []
        of_scope = [(kind, narrowed(Where(), query.scope, kind)) for kind in query.kinds]
        for term in terms:
            wanted = left if term.frequency <= left else min(left, RESCORED - len(scores.parts))
            wanted += len(query.without) if wanted > 0 else 0  # buffered postings count, too
            read = 0
            for kind, where in of_scope if wanted > 0 else ():
                found = self._postings(term, kind, where, wanted)
                scores.add(term.word, term.frequency, found)
                read += len(found)
            if read >= wanted or term.frequency > INSPECTED:
                cut_short.append(term)
            left -= read
        if cut_short:
            self._look_up(cut_short, scores.leaders(max(RESCORED, 4 * query.limit)), scores)

    def _postings(self, term: _SqliteTerm, kind: str, of_scope: Where, limit: int) -> list[Posting]:
        """The newest documents in scope that hold the term; buffered ones are newer than all on disk."""
        newest = self._in_scope(self._waiting.postings(term.owner, term.word), of_scope) if kind == "turn" else []
        return newest[:limit] + self._entered(term, kind, of_scope, limit - len(newest))

    def _in_scope(self, postings: list[Posting], of_scope: Where) -> list[Posting]:
        if not postings or not of_scope.conditions:
            return postings
        listed = json.dumps([doc for doc, _, _ in postings])
        sql = f"SELECT r.seq FROM json_each(?) j CROSS JOIN turn r ON r.seq = j.value{of_scope}"
        inside = {seq for (seq,) in self._sql.execute(sql, (listed, *of_scope.values))}
        return [posting for posting in postings if posting[0] in inside]

    def _entered(self, term: _SqliteTerm, kind: str, of_scope: Where, limit: int) -> list[Posting]:
        if term.num is None or limit <= 0:
            return []
        sign, direction, nearer = (">", "DESC", ">=") if kind == "turn" else ("<", "ASC", "<=")
        where = Where((f"p.word = ? AND p.doc {sign} 0",), (term.num,))
        if of_scope.conditions and term.frequency > INSPECTED:
            last = f"SELECT doc FROM posting WHERE word = ? AND doc {sign} 0 ORDER BY doc {direction} LIMIT 1 OFFSET ?"
            where = where.also(f"p.doc {nearer} coalesce(({last}), 0)", term.num, INSPECTED)
        where = Where((*where.conditions, *of_scope.conditions), (*where.values, *of_scope.values))
        joined = f" CROSS JOIN {TABLES[kind]} r ON r.seq = abs(p.doc)" if of_scope.conditions else ""
        return self._sql.execute(
            f"SELECT p.doc, p.times, p.length FROM posting p{joined}{where} ORDER BY p.doc {direction} LIMIT ?",
            (*where.values, limit),
        ).fetchall()

    def _look_up(self, terms: Sequence[_SqliteTerm], docs: Sequence[int], scores: ScoreAccumulator) -> None:
        """Add the scores of these terms to these documents."""
        listed = json.dumps(docs)
        for term in terms:
            scores.add(term.word, term.frequency, self._waiting.postings(term.owner, term.word, docs))
            rows = self._sql.execute(
                "SELECT p.doc, p.times, p.length FROM json_each(?) j"
                " CROSS JOIN posting p ON p.word = ? AND p.doc = j.value",
                (listed, term.num),
            )
            scores.add(term.word, term.frequency, rows)

    def _terms(self, owner: int, words: Sequence[str], without: Sequence[ExcludedTurn]) -> list[_SqliteTerm]:
        """Those of the terms that any document of the user holds."""
        entered = self._entered_words(owner, words)
        waiting = self._waiting.frequencies(owner, words)
        gone = Counter(word for one in without for word in set_of(one.words))
        known = dict.fromkeys(word for word in words if word in entered or word in waiting)
        found = [(word, *entered.get(word, (None, 0))) for word in known]
        terms = [_SqliteTerm(word, num, owner, n + waiting.get(word, 0) - gone[word]) for word, num, n in found]
        return [term for term in terms if term.frequency > 0]

    def _numbers(self, owner: int, words: Iterable[str]) -> dict[str, int]:
        return {word: num for word, (num, _) in self._entered_words(owner, list(words)).items()}

    def _entered_words(self, owner: int, words: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Number and frequency of those of the terms that are on disk."""
        by_hash = {hash_of(word): word for word in words if word}
        rows = self._sql.execute(
            "SELECT w.hash, w.num, w.n FROM json_each(?) j CROSS JOIN word w ON w.hash = j.value AND w.owner = ?",
            (json.dumps(list(by_hash)), owner),
        )
        return {by_hash[number]: (num, n) for number, num, n in rows if n > 0}


def _index(scope: Scope) -> str:
    if scope.session_id is not None:
        return "turn_session"
    return "turn_site" if scope.site_id is not None else "turn_task"
