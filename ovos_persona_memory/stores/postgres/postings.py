"""The inverted index of the PostgreSQL store: postings and document frequencies, for each user separately.

Not a tsvector: that knows no user, so that neither a term's document frequency for one user nor the newest of their
turns that hold it can be read from its index. The terms of a new turn stay in the turn itself until a quiet moment
enters some turns at once; a search scans those that wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ovos_persona_memory.records import Scope
from ovos_persona_memory.stores.base.bm25 import Bm25, set_of, words_of
from ovos_persona_memory.stores.base.score_accumulator import Posting, ScoreAccumulator, ScoredDocument
from ovos_persona_memory.stores.base.store import ExcludedTurn, Statistics
from ovos_persona_memory.stores.postgres.connection import PostgresDatabase
from ovos_persona_memory.stores.postgres.rows import ANY_ROW, within
from ovos_persona_memory.stores.sql.where_clause import Where, narrowed

BUDGET = 1000
"""A search reads about this many postings, those of the rarest terms first."""
RESCORED = 200
"""At least this many of the best documents so far are scored with all terms."""
INSPECTED = 20_000
"""A search in a narrow scope inspects at most this many postings of one term."""
NEAR = 1000
"""A scope with fewer documents is scanned document by document when all terms are common."""
WAITING = 200
"""Turns of one process that wait at most."""
TABLES = {"turn": "turn", "memory": "entry"}
MARK = "coalesce((SELECT seq FROM entered WHERE household = %s AND user_id = ''), 0)"
NOT_ENTERED = (
    "SELECT r.user_id, r.seq, r.words, r.lang FROM turn r WHERE r.household = %s AND r.seq > %s ORDER BY r.seq LIMIT %s"
)
SPLIT = (
    "WITH given AS (SELECT * FROM unnest(%s::text[], %s::bigint[], %s::text[]) g (user_id, doc, words)),"
    " split AS (SELECT user_id, doc, hashtextextended(w, 0) AS hash, count(*)::integer AS times FROM given,"
    " unnest(string_to_array(words, ' ')) w WHERE w <> '' GROUP BY 1, 2, 3),"
    " sized AS (SELECT user_id, doc, sum(times)::integer AS length FROM split GROUP BY 1, 2),"
    " people AS (SELECT g.user_id, count(*) AS documents, coalesce(sum(s.length), 0) AS words"
    " FROM given g LEFT JOIN sized s USING (user_id, doc) GROUP BY 1),"
    " counted AS (SELECT user_id, hash, count(*) AS n FROM split GROUP BY 1, 2)"
)
ENTER = (
    f"{SPLIT}, postings AS (INSERT INTO posting (household, user_id, hash, doc, times, length)"
    " SELECT %s, user_id, hash, doc, times, length FROM split JOIN sized USING (user_id, doc)),"
    " persons AS (INSERT INTO person AS p (household, user_id, documents, words)"
    " SELECT %s, user_id, documents, words FROM people ON CONFLICT (household, user_id)"
    " DO UPDATE SET documents = p.documents + excluded.documents, words = p.words + excluded.words)"
    " INSERT INTO word AS w (household, user_id, hash, n) SELECT %s, user_id, hash, n FROM counted"
    " ON CONFLICT (household, user_id, hash) DO UPDATE SET n = w.n + excluded.n"
)
REMOVE = (
    f"{SPLIT}, postings AS (DELETE FROM posting p USING split s WHERE p.household = %s"
    " AND p.user_id = s.user_id AND p.hash = s.hash AND p.doc = s.doc),"
    " persons AS (UPDATE person p SET documents = p.documents - e.documents, words = p.words - e.words"
    " FROM people e WHERE p.household = %s AND p.user_id = e.user_id)"
    " UPDATE word w SET n = w.n - c.n FROM counted c"
    " WHERE w.household = %s AND w.user_id = c.user_id AND w.hash = c.hash"
)
GONE = {
    "word": "DELETE FROM word WHERE household = %s AND user_id = ANY(%s) AND n <= 0",
    "person": "DELETE FROM person WHERE household = %s AND user_id = ANY(%s) AND documents <= 0",
    "language": "DELETE FROM language l WHERE household = %s AND user_id = ANY(%s) AND NOT EXISTS"
    " (SELECT 1 FROM turn t WHERE t.household = l.household AND t.user_id = l.user_id) AND NOT EXISTS"
    " (SELECT 1 FROM entry e WHERE e.household = l.household AND e.user_id = l.user_id)",
}
TERMS = (
    "SELECT a.word, a.hash, coalesce(w.n, 0), coalesce(p.documents, 0), coalesce(p.words, 0), a.mark"
    f" FROM (SELECT word, hashtextextended(word, 0) AS hash, {MARK} AS mark FROM unnest(%s::text[]) word) a"
    " LEFT JOIN word w ON w.household = %s AND w.user_id = %s AND w.hash = a.hash"
    " LEFT JOIN person p ON p.household = %s AND p.user_id = %s"
)
KNOW_LANGUAGES = (
    "INSERT INTO language (household, user_id, lang)"
    " SELECT %s, user_id, lang FROM unnest(%s::text[], %s::text[]) g (user_id, lang) ON CONFLICT DO NOTHING"
)
LANGUAGES = (
    "SELECT lang FROM language WHERE household = %s AND user_id = %s"
    f" UNION SELECT lang FROM turn WHERE household = %s AND user_id = %s AND seq > {MARK}"
)
SPOKEN = (
    "SELECT l FROM unnest(%s::text[]) l WHERE EXISTS (SELECT 1 FROM turn t WHERE t.household = %s AND t.user_id = %s"
    " AND t.lang = l AND NOT t.seq = ANY(%s)) OR EXISTS (SELECT 1 FROM entry e WHERE e.household = %s"
    " AND e.user_id = %s AND e.lang = l)"
)
LISTED = (
    "SELECT t.n, p.doc, p.times, p.length FROM unnest(%s::integer[], %s::bigint[], %s::integer[]) t (n, hash, most)"
)
OF_WORD = "FROM posting p WHERE p.household = %s AND p.user_id = %s AND p.hash = t.hash"
LOOK_UP = (
    "SELECT t.n, p.doc, p.times, p.length FROM unnest(%s::integer[], %s::bigint[]) t (n, hash)"
    " CROSS JOIN unnest(%s::bigint[]) d (doc) JOIN posting p"
    " ON p.household = %s AND p.user_id = %s AND p.hash = t.hash AND p.doc = d.doc"
)
Document = tuple[str, int, str]
"""User, number (a turn's seq, or minus an entry's) and index terms."""


@dataclass(frozen=True)
class PostgresPostingsQuery:
    """A search over one user's documents."""

    user_id: str
    scope: Scope
    kinds: tuple[str, ...]
    limit: int
    budget: int = BUDGET
    without: Sequence[ExcludedTurn] = ()
    """Turns of this user that are left out."""


@dataclass(frozen=True)
class _PostgresTerm:
    word: str
    hash: int
    entered: int
    """Document frequency of the term among entered documents."""
    frequency: int
    """Document frequency of the term over all documents, entered in the index or still waiting, but for those left
    out."""


@dataclass(frozen=True)
class _UserTerms:
    """The terms and documents of the user searched."""

    terms: list[_PostgresTerm]
    documents: int
    length: int
    """Terms of all documents together."""
    waiting: list[tuple[int, str, bool]]
    """Turns that wait and are not left out: number, terms, and whether they are in scope."""


class PostgresPostings:
    """Runs in the store's transactions."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._db, self._home = database, database.settings.household
        self._waiting = 0

    # keeping

    def added(self) -> None:
        """Take note of a new turn: it waits, unless too many do."""
        self._waiting += 1
        if self._waiting > WAITING:
            self.enter(WAITING)

    def enter(self, number: int) -> int:
        """Enter at most this many waiting turns, of any daemon, the oldest first; how many were entered."""
        (mark,) = self._db.one(f"SELECT {MARK}", self._home)
        found = self._db.all(NOT_ENTERED, self._home, mark, number)
        if found:
            self.put([(user_id, seq, words) for user_id, seq, words, _ in found])
            self.know_languages([(user_id, lang) for user_id, *_, lang in found])
            self._db.run(
                "INSERT INTO entered (household, seq) VALUES (%s, %s)"
                " ON CONFLICT (household, user_id) DO UPDATE SET seq = excluded.seq",
                *(self._home, found[-1][1]),
            )
        self._waiting = max(self._waiting - len(found), 0) if len(found) == number else 0
        return len(found)

    def any_waiting(self) -> bool:
        """Whether a turn of any daemon waits."""
        sql = f"SELECT EXISTS (SELECT 1 FROM turn WHERE household = %s AND seq > {MARK})"
        return bool(self._db.one(sql, self._home, self._home)[0])

    def put(self, documents: Sequence[Document]) -> None:
        """Enter documents."""
        self._db.run(ENTER, *_columns(documents), self._home, self._home, self._home)

    def know_languages(self, spoken: Sequence[tuple[str, str | None]]) -> None:
        """Note the language tags of users; those of waiting turns are read from the turns."""
        known = sorted({(user_id, lang) for user_id, lang in spoken if lang})
        if known:
            users, langs = zip(*known, strict=True)
            self._db.run(KNOW_LANGUAGES, self._home, list(users), list(langs))

    def languages(self, user_id: str, without: Sequence[ExcludedTurn] = ()) -> frozenset[str]:
        """See Store."""
        home = self._home
        found = self._db.all(LANGUAGES, home, user_id, home, user_id, home)
        known = frozenset(lang for (lang,) in found if lang)
        doubtful = sorted(known & {one.lang for one in without if one.user_id == user_id})
        if not doubtful:
            return known
        seqs = [one.seq for one in without]
        still = {lang for (lang,) in self._db.all(SPOKEN, doubtful, home, user_id, seqs, home, user_id)}
        return known - (set(doubtful) - still)

    def remove(self, documents: Sequence[Document]) -> None:
        """Delete the postings of documents, given as they were put; waiting turns need nothing."""
        (mark,) = self._db.one(f"SELECT {MARK}", self._home)
        entered = [one for one in documents if one[1] <= mark]
        if entered:
            self._db.run(REMOVE, *_columns(entered), self._home, self._home, self._home)

    def clean(self, users: Sequence[str]) -> None:
        """Delete the terms that no document of these users holds any more, and users without documents."""
        for sql in GONE.values():
            self._db.run(sql, self._home, list(users))

    def changed(self, old: Document, new: Document) -> None:
        """Replace the postings of a document whose text or user changed."""
        if old == new:
            return
        (mark,) = self._db.one(f"SELECT {MARK}", self._home)
        if old[1] <= mark:
            self.remove([old])
            self.put([new])
        self.clean([old[0]])

    def works(self) -> bool:
        """Whether the newest entered turn and memory are found by each of their terms."""
        (mark,) = self._db.one(f"SELECT {MARK}", self._home)
        sql = "SELECT r.user_id, {sign}r.seq, r.words FROM {table} r WHERE r.household = %s AND r.seq <= %s"
        newest = [
            self._db.one(f"{sql.format(table=table, sign=sign)} ORDER BY r.seq DESC LIMIT 1", self._home, most)
            for table, sign, most in (("turn", "", mark), ("entry", "-", 2**62))
        ]
        return all(self._holds(*one) for one in newest if one)

    def _holds(self, user_id: str, doc: int, words: str) -> bool:
        wanted = list(set(words_of(words)))
        hashes = "SELECT hashtextextended(w, 0) FROM unnest(%s::text[]) w"
        sql = f"SELECT count(*) FROM posting WHERE household = %s AND user_id = %s AND doc = %s AND hash IN ({hashes})"
        return bool(self._db.one(sql, self._home, user_id, doc, wanted)[0] == len(wanted))

    def rebuild(self, documents: Sequence[Document]) -> None:
        """Rebuild the index with these documents; every turn waits."""
        for table in ("posting", "word", "person", "entered"):
            self._db.run(f"DELETE FROM {table} WHERE household = %s", self._home)
        self.put(documents)

    # finding

    def statistics(self, user_id: str, words: Sequence[str], without: Sequence[ExcludedTurn] = ()) -> Statistics:
        """See Store; ``without``: turns of this user."""
        query = PostgresPostingsQuery(user_id, Scope(user_id=user_id), ("turn",), 0, without=without)
        known = self._known(query, list(dict.fromkeys([*words, ""])))
        frequency = {term.word: term.frequency for term in known.terms}
        return Statistics(known.documents, known.length / known.documents if known.documents else 0.0, frequency)

    def users_of(self, words: Sequence[str]) -> list[str]:
        """The users who have any of the terms, or waiting turns."""
        sql = (
            "SELECT DISTINCT user_id FROM word WHERE household = %s"
            " AND hash IN (SELECT hashtextextended(w, 0) FROM unnest(%s::text[]) w)"
            f" UNION SELECT user_id FROM turn WHERE household = %s AND seq > {MARK}"
        )
        return sorted(one for (one,) in self._db.all(sql, self._home, list(words), self._home, self._home))

    def search(self, words: Sequence[str], query: PostgresPostingsQuery) -> list[ScoredDocument]:
        """The user's best documents, best first."""
        known = self._known(query, words)
        terms = sorted(known.terms, key=lambda term: (term.frequency, term.word))
        if not terms:
            return []
        gone = [one.seq for one in query.without]
        scores = ScoreAccumulator(Bm25(known.documents, known.length / known.documents), gone)
        if "turn" in query.kinds:
            _score(terms, [(doc, text) for doc, text, inside in known.waiting if inside], scores)
        if not self._near(terms, query, scores):
            self._walk(terms, query, scores)
        return scores.best(query.limit)

    def _known(self, query: PostgresPostingsQuery, words: Sequence[str]) -> _UserTerms:
        """The terms and documents of the user searched."""
        home, user_id = self._home, query.user_id
        found = self._db.all(TERMS, home, list(words), home, user_id, home, user_id)
        if not found:
            return _UserTerms([], 0, 0, [])
        documents, length, mark = found[0][3:]
        where = narrowed(ANY_ROW, query.scope)
        inside = " AND ".join(where.conditions) or "true"
        own = within(home, Scope(user_id=user_id)).also("r.seq > %s", mark)
        waiting = self._db.all(f"SELECT r.seq, r.words, {inside} FROM turn r{own}", *where.values, *own.values)
        held = Counter(word for _, text, _ in waiting for word in set_of(text))
        held.subtract(Counter(word for one in query.without for word in set_of(one.words)))
        length += sum(len(words_of(text)) for _, text, _ in waiting)
        length -= sum(len(words_of(one.words)) for one in query.without)
        documents += len(waiting) - len(query.without)
        terms = [
            _PostgresTerm(word, number, n, n + held[word])
            for word, number, n, *_ in found
            if word and n + held[word] > 0
        ]
        gone = {one.seq for one in query.without}
        left = [(doc, text, bool(yes)) for doc, text, yes in waiting if doc not in gone]
        return _UserTerms(terms, documents, length, left)

    def _near(self, terms: Sequence[_PostgresTerm], query: PostgresPostingsQuery, scores: ScoreAccumulator) -> bool:
        """Scan the newest documents of a narrow scope for common terms; whether those were all."""
        scope = query.scope
        if (scope.session_id, scope.site_id, scope.task_id) == (None, None, None):
            return False
        if sum(term.frequency for term in terms) <= query.budget:
            return False
        whole = True
        for kind in query.kinds:
            sign = "-" if kind == "memory" else ""
            where = within(self._home, scope, kind)
            sql = f"SELECT {sign}r.seq, r.words FROM {TABLES[kind]} r{where} ORDER BY r.seq DESC LIMIT {NEAR}"
            found = self._db.all(sql, *where.values)
            _score(terms, found, scores)
            whole = whole and len(found) < NEAR
        return whole

    def _walk(self, terms: Sequence[_PostgresTerm], query: PostgresPostingsQuery, scores: ScoreAccumulator) -> None:
        """Read postings, rarest term and newest document first, until the budget is spent."""
        left, limits, cut_short = query.budget, [], []
        for term in terms:
            wanted = max(min(left, RESCORED) if term.entered > left else term.entered, 0)
            limits.append(wanted)
            left -= wanted
            if wanted < term.entered or term.entered > INSPECTED:
                cut_short.append(term)
        for kind in query.kinds:
            for n, *posting in self._postings(terms, limits, kind, query):
                scores.add(terms[n].word, terms[n].frequency, [(posting[0], posting[1], posting[2])])
        if cut_short:
            self._look_up(cut_short, scores.leaders(max(RESCORED, 4 * query.limit)), query, scores)

    def _postings(
        self, terms: Sequence[_PostgresTerm], limits: list[int], kind: str, query: PostgresPostingsQuery
    ) -> list[tuple[Any, ...]]:
        sign, direction = (">", "DESC") if kind == "turn" else ("<", "ASC")
        scope = narrowed(ANY_ROW, query.scope, kind)
        newest = f"SELECT p.doc, p.times, p.length {OF_WORD} AND p.doc {sign} 0 ORDER BY p.doc {direction}"
        values: tuple[Any, ...] = (self._home, query.user_id)
        if scope.conditions:
            row = Where(("r.household = %s", "r.seq = abs(p.doc)"))
            inside = Where(("r.user_id = %s", *scope.conditions))
            # by number alone: before the first ANALYZE every index seems to give one row
            newest = (
                f"SELECT p.* FROM ({newest} LIMIT {INSPECTED}) p CROSS JOIN LATERAL"
                f" (SELECT * FROM {TABLES[kind]} r{row} OFFSET 0) r{inside} ORDER BY p.doc {direction}"
            )
            values = (*values, self._home, query.user_id, *scope.values)
        sql = f"{LISTED} CROSS JOIN LATERAL ({newest} LIMIT t.most) p"
        return self._db.all(sql, list(range(len(terms))), [term.hash for term in terms], limits, *values)

    def _look_up(
        self,
        terms: Sequence[_PostgresTerm],
        docs: Sequence[int],
        query: PostgresPostingsQuery,
        scores: ScoreAccumulator,
    ) -> None:
        """Add the scores of these terms to these documents."""
        hashes = [term.hash for term in terms]
        found = self._db.all(LOOK_UP, list(range(len(terms))), hashes, list(docs), self._home, query.user_id)
        for n, *posting in found:
            scores.add(terms[n].word, terms[n].frequency, [(posting[0], posting[1], posting[2])])


def _columns(documents: Sequence[Document]) -> tuple[list[str], list[int], list[str]]:
    users, docs, words = zip(*documents, strict=True) if documents else ((), (), ())
    return list(users), list(docs), list(words)


def _score(terms: Sequence[_PostgresTerm], documents: Sequence[tuple[Any, ...]], scores: ScoreAccumulator) -> None:
    """Score documents, number and terms, by scanning them."""
    rows: dict[str, list[Posting]] = {term.word: [] for term in terms}
    for doc, text in documents:
        held = Counter(words_of(text))
        length = held.total()
        for word in rows.keys() & held.keys():
            rows[word].append((doc, held[word], length))
    for term in terms:
        scores.add(term.word, term.frequency, rows[term.word])
