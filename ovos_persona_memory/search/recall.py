"""Recall: from a question to hits among turns, memories and facts, best first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum
from functools import cached_property
from itertools import pairwise

from ovos_persona_memory.records import OUTDATED, Entry, Fact, Hit, Scope, Turn
from ovos_persona_memory.search.hits import (
    FACTS,
    Record,
    doc_of,
    hit_of,
    is_of_speaker,
    role_of,
    unsure_if_date_mismatch,
)
from ovos_persona_memory.search.newest import newest_first
from ovos_persona_memory.search.ownership import Ownership
from ovos_persona_memory.search.query import (
    AnalysedQuery,
    Question,
    analyse_question,
    first_name,
    named_speakers,
    without_names,
)
from ovos_persona_memory.search.query_expansion import QueryExpansion, expand_parts, expand_query
from ovos_persona_memory.search.ranking import (
    ASKING,
    COVER,
    COVER_OF,
    HELD,
    OF_ASSISTANT,
    REACH,
    RankedCandidate,
    RankingCandidate,
    is_known,
    rank,
)
from ovos_persona_memory.search.record_terms import asking_words, index_words
from ovos_persona_memory.search.vector_indexer import SemanticSearch
from ovos_persona_memory.stores import (
    BOTH,
    ExcludedTurn,
    FactQuery,
    Floats,
    FoundRecord,
    NearDocument,
    NeighbourTurn,
    Statistics,
    Store,
    in_scope,
    words_of,
)
from ovos_persona_memory.text import Language, correction_in, languages

KINDS = frozenset({"turn", "memory", "fact"})
CALLED_OFF = "says that what was asked for holds no more"
"""The reason of a hit that answers in place of what it called off."""
FEWEST, FOR_EACH = 12, 3
"""Documents that are ranked, at least, and for each wanted hit: more change little (LoCoMo dev, recall@10: 77.6 with
24, 77.9 with 60), and each costs 0.1 ms with its neighbours."""
BY_LIKE_WORDS = 12
"""Further documents that are ranked for synonyms of the question's words."""
NEAREST, NEAREST_FOR_EACH = 10, 2
"""Further documents that are ranked for their vectors, at least, and for each wanted hit."""
ALIKE = 0.05
"""Minimum cosine for a document to count as similar: below, any two texts have as much in common."""
REPEATED = 4
"""For each vector that is wanted so many are fetched: of what was said again and again one is enough."""
TIER = 4.0
"""Added to the score of a hit for each tier that it rises above its neighbours (``_Tier``): more than everything else
comes to."""
SHORT_QUESTION = 12
"""Words at most of a question that tells nothing, and is worth less: longer ones tell what they are about (with all of
them BEAM's recall@10 fell by 7)."""
NEWEST = 4
"""Newest turns of a user that are checked for the question itself, which is recorded before it is answered."""
ROUNDS, WIDER = 3, 4
"""Repeated searches at most where the same question was asked before, and the factor by which each is widened."""
MOST_WORDS = 100
"""Different words of a question that are searched at most, the rarest: the cost of a search grows with them."""
COMPANIONS, NEAR = 10, 0.7
"""For a question about a known topic this many of the best hits are sure; where a hit answers, those with a score >=
this share of the best (measured on LoCoMo dev: 49.2 % recall among sure hits, 90.5 % silence)."""


def recall(  # more than five: the question, and the indexes of the search
    store: Store,
    question: Question,
    scope: Scope,
    k: int,
    kinds: frozenset[str] = KINDS,
    meaning: SemanticSearch | None = None,
) -> list[Hit]:
    """At most ``k`` hits in scope: those that answer first, then by score; empty when nothing is found.

    By words alone where ``meaning`` is None, and where everybody's records are in scope.
    """
    question = _bounded(store, question, scope)
    spoken, words = question.spoken, question.content_words
    if not words or k <= 0:
        return []
    near = max(NEAREST, NEAREST_FOR_EACH * k)
    soon = meaning.soon(question.text) if meaning and scope.user_id else None  # the words are searched meanwhile
    search = _Search(question, words, scope, kinds, max(FEWEST, FOR_EACH * k))
    looked_up = _looked_up(store, search)
    search, forms, found = looked_up.search, looked_up.forms, looked_up.found
    alike = _SemanticResults(meaning, soon, search, near, _speakers_in(found)) if meaning and soon else None
    table = _CandidateTable(store, found, alike, search)
    asked = analyse_question(question, table.speakers(), asks_of_asker(question))
    asked = replace(asked, words=forms.applied(asked.words))
    statistics = forms.counted(_statistics(store, search, forms.searched(asked.words), looked_up))
    if not statistics.mean_length:  # only facts, and turns without text
        statistics = replace(statistics, mean_length=1.0)
    candidates = table.candidates(asked, spoken.time_words, forms)
    ranked = rank(candidates, asked, statistics, alike.kind if alike else None)
    judge = _AnswerClassifier(question, asked, forms, alike.found if alike else {})
    known = is_known(ranked, alike.best(asked.bare) if alike else None, COVER_OF.get(spoken.primary, COVER))
    hits = unsure_if_date_mismatch(forms.unsure(_hits(judge, table, ranked, k, known)), asked.dates, question.zone)
    called_off = _called_off(judge, table, ranked)
    hits = newest_first(_merged(called_off, hits) if called_off else hits, question.content_words)
    return [*hits, *(hit_of(turn, 0.0, False, "asks the same") for turn in looked_up.asked_before)][:k]


def _bounded(store: Store, question: Question, scope: Scope) -> Question:
    """The question; a long one is cut to its beginning, and to the rarest of its known words."""
    if len(question.text) < 2 * MOST_WORDS:
        return question
    text, spoken = languages.beginning(question.text), question.spoken
    bare = spoken.bare_words(question.text)
    if len(bare) <= MOST_WORDS and text == question.text:
        return question
    stem = {word: next(iter(spoken.words(word)), word) for word in bare}
    known = _frequency(store, question, list(stem.values()), scope.user_id)
    rarest = frozenset(sorted(bare, key=lambda word: (stem[word] not in known, known.get(stem[word], 0)))[:MOST_WORDS])
    terms = tuple(word for word in bare if word in rarest)
    return replace(question, text=text, terms=terms, said=question.text)


def _frequency(store: Store, question: Question, words: Sequence[str], user_id: str | None) -> Mapping[str, int]:
    """Document frequency of each word for a user, without the question itself; no words for nobody."""
    if user_id is None:
        return {}
    itself = [_excluded(turn, held) for turn, held in store.latest(user_id, NEWEST) if question.is_itself(turn)]
    return store.statistics(words, user_id, itself).frequency


@dataclass(frozen=True)
class _Search:
    """The parameters of one search."""

    question: Question
    words: Sequence[str]
    scope: Scope
    kinds: frozenset[str]
    number: int
    without: Sequence[ExcludedTurn] = ()
    """The question itself as a turn, and turns that asked the same: they hold no answer."""

    @property
    def documents(self) -> frozenset[str]:
        """The kinds that the index of documents finds."""
        return self.kinds - {"fact"}

    def but_for(self, records: Sequence[Record]) -> list[Record]:
        """The records without the question itself, and without turns that asked the same."""
        left_out = {one.seq for one in self.without}
        return [one for one in records if not (isinstance(one, Turn) and self._asks(one, left_out))]

    def _asks(self, turn: Turn, left_out: Set[int]) -> bool:
        return turn.seq in left_out or self.question.is_itself(turn)


@dataclass(frozen=True)
class _LexicalResults:
    """The results of the search by words."""

    search: _Search
    """The parameters of the last search made."""
    forms: QueryExpansion
    found: list[Record]
    asked_before: list[Turn]
    """Turns in scope that asked the same question before, newest first."""


class _SemanticResults:
    """The results of the search by meaning."""

    def __init__(  # more than five: the question, and the index of the search
        self, meaning: SemanticSearch, asked: Future[Floats], search: _Search, number: int, speakers: Set[str]
    ) -> None:
        """``asked``: the vector of the question, as it was said; ``speakers``: the folded names that it may mean."""
        self._meaning, self._asked, self._search, self._number = meaning, asked, search, number
        self._text = without_names(named_speakers(search.question, speakers), search.question.text)
        self.kind = meaning.kind

    @cached_property
    def _query(self) -> Floats:
        """The vector of the question without the names of speakers, whom their own turns do not name: with them a
        greeting is nearest (LoCoMo dev, multilingual-e5-small alone, recall@10: 30.3 with names, 67.7 without)."""
        return self._asked.result() if self._text == self._search.question.text else self._embedded(self._text)

    def _embedded(self, text: str) -> Floats:
        return self._meaning.embed_question(text)

    @cached_property
    def near(self) -> list[NearDocument]:
        """The nearest documents, nearest first, each text once."""
        found = self._nearest(self._query, REPEATED * self._number)
        once = {tuple(languages.fold(one.record.text)): one for one in reversed(found)}
        return [one for one in found if once[tuple(languages.fold(one.record.text))] is one][: self._number]

    @cached_property
    def found(self) -> dict[int, float]:
        """Their numbers and cosines."""
        return {doc_of(one.record): one.cosine for one in self.near}

    def _nearest(self, query: Floats, number: int) -> list[NearDocument]:
        search = self._search
        if not search.documents:
            return []
        near = self._meaning.nearest(query, search.scope, search.documents, number + len(search.without))
        left = {one.id for one in search.but_for([one.record for one in near])}
        return [one for one in near if one.cosine >= ALIKE and one.record.id in left][:number]

    def cosines(self, docs: Sequence[int]) -> Mapping[int, float]:
        """The cosines of those of these documents that have a vector."""
        return self._meaning.cosines(self._query, docs, self._search.scope.user_id or "")

    def best(self, bare: str) -> float:
        """The best cosine of everything in scope; ``bare``: the question without names, which are in every greeting."""
        near = self.near if bare == self._text else self._nearest(self._embedded(bare), FEWEST)
        return max((one.cosine for one in near), default=0.0)


def _looked_up(store: Store, search: _Search) -> _LexicalResults:
    """The results of the question's words, as if it had never been asked before, and were not in the log yet."""
    question, words, number = search.question, search.words, search.number
    askings = _QuestionTurns(store, question, search.scope.user_id)
    for left in reversed(range(ROUNDS + 1)):
        kinds, unheard = search.documents or BOTH, [*askings.turns, *askings.answers]
        asked = question.bare_words, question.spoken, search.scope, kinds, unheard
        forms = expand_query(store, *asked)
        forms = expand_parts(store, forms, *asked) if question.names_words else forms
        forms = replace(forms, known=None) if askings.answers else forms  # answers do count in term weights
        search = replace(search, words=forms.searched(words), without=[*askings.turns])
        holding = _documents(store, search, search.words, number)
        again = askings.take(holding) if left else ()
        if not again:
            break
        number *= WIDER if holding[-1].record.id in again else 1
    before = [turn for turn in askings.before if "turn" in search.kinds and in_scope(turn, search.scope)]
    before.sort(key=lambda turn: -turn.seq)
    found = _found(store, search, [one.record for one in holding[: search.number]])
    return _LexicalResults(search, forms, found, before)


class _QuestionTurns:
    """The turns that ask the question, now and before: they hold no answer, and count in no statistics."""

    def __init__(self, store: Store, question: Question, user_id: str | None) -> None:
        """Checks the user's newest turns: in the running assistant the question is one of them."""
        self._store, self._question = store, question
        self._itself: list[Turn] = []
        self.before: list[Turn] = []
        """Turns that asked the same before."""
        self.turns: list[ExcludedTurn] = []
        """All turns that ask the question."""
        self.answers: list[ExcludedTurn] = []
        """The assistant's turns right behind them: "I know nothing about your dentist" makes no word known."""
        newest = store.latest(user_id, NEWEST)
        asking = {turn.id for turn in self._asking([turn for turn, _ in newest])}
        open_in: set[str] = set()
        for turn, words in reversed(newest):
            excluded, session = _excluded(turn, words), f"{turn.user_id}/{turn.session_id}"
            if turn.id in asking:
                self.turns.append(excluded)
                open_in.add(session)
            elif session in open_in:
                self.answers += [excluded] if turn.role == "assistant" else []
                open_in.discard(session)

    def take(self, found: Sequence[FoundRecord]) -> set[str]:
        """Add those of the found documents that ask the same, too; their ids."""
        words = self._question.content_words
        turns = [one.record for one in found if isinstance(one.record, Turn) and one.words.issuperset(words)]
        asking = self._asking(turns)
        for turn, talk in zip(asking, self._store.around(asking, 1) if asking else (), strict=True):
            said = [(one, replace(_excluded(turn, one.words), seq=one.seq)) for one in talk if one.seq >= turn.seq]
            self.turns += [excluded for one, excluded in said if one.seq == turn.seq]
            self.answers += [excluded for one, excluded in said if one.seq > turn.seq and one.role == "assistant"]
        return {turn.id for turn in asking}

    def _asking(self, turns: Sequence[Turn]) -> list[Turn]:
        itself = [turn for turn in turns if self._question.is_itself(turn)]
        self._itself += itself
        before = [turn for turn in turns if turn not in itself and self._question.was_asked(turn, self._itself)]
        self.before += before
        return itself + before


def _excluded(turn: Turn, words: str) -> ExcludedTurn:
    return ExcludedTurn(turn.seq, turn.user_id, turn.lang, words)


def _found(store: Store, search: _Search, holding: Sequence[Record]) -> list[Record]:
    """The records that hold the question's words, ``holding``; then those with synonyms, and facts of the kind asked
    for."""
    words, spoken = search.words, search.question.spoken
    alike = [other for word in words for other in sorted(spoken.alike(word)) if other != word]
    facts = _facts(store, search, words, search.number)
    more: list[Record] = []
    if alike:
        with_alike = [*words, *alike]
        more += [one.record for one in _documents(store, search, with_alike, BY_LIKE_WORDS)]
        more += _facts(store, search, with_alike, BY_LIKE_WORDS)
    every = (*holding, *facts, *more, *_asked_for(store, search))
    return search.but_for(list({(type(one), one.id): one for one in every}.values()))


def _asked_for(store: Store, search: _Search) -> list[Fact]:
    """The facts of the kind that the whole question asks for, however they were told: "what is my job"."""
    if "fact" not in search.kinds or search.question.asks_hearer:
        return []
    slots = [slot for slot, words in search.question.spoken.asking_words.items() if words.issuperset(search.words)]
    facts = (store.fact_store.facts(FactQuery(search.scope, slot=slot, limit=search.number)) for slot in slots)
    return [fact for one in facts for fact in one if not fact.subject]


def _each_once(records: Sequence[Record]) -> list[Record]:
    """The records without facts that are subsumed by the turn from which they were learned."""
    sources = {one.turn_id for one in records if isinstance(one, Fact)}
    said = {one.id: languages.fold(one.text) for one in records if isinstance(one, Turn) and one.id in sources}
    return [
        one
        for one in records
        if not (isinstance(one, Fact) and said.get(one.turn_id or "") == languages.fold(one.text))
    ]


def _documents(store: Store, search: _Search, words: Sequence[str], number: int) -> list[FoundRecord]:
    return store.search(words, search.scope, search.documents, number, search.without) if search.documents else []


def _facts(store: Store, search: _Search, words: Sequence[str], number: int) -> list[Record]:
    if "fact" not in search.kinds:
        return []
    return [one.record for one in store.fact_store.search(words, search.scope, number)]


def _statistics(store: Store, search: _Search, words: Sequence[str], looked_up: _LexicalResults) -> Statistics:
    known = looked_up.forms.statistics(words)
    user_id = search.scope.user_id or _user_of(looked_up.found)
    return known or store.statistics(words, user_id, search.without)


def _user_of(found: Sequence[Record]) -> str:
    # with everybody's records in scope the statistics are those of the user with most hits
    return Counter(one.user_id for one in found).most_common(1)[0][0] if found else ""


class _CandidateTable:
    """The found records and their neighbours, by ``doc``: a turn's ``seq``, minus a memory's, or a fact's number."""

    def __init__(self, store: Store, found: Sequence[Record], alike: _SemanticResults | None, search: _Search) -> None:
        scope = search.scope
        self._store, self._zone = store, search.question.zone  # the day of a turn is that in the asker's time zone
        self._closed = scope.site_id is not None or scope.task_id is not None
        near = [one.record for one in alike.near] if alike else []
        self._learned = {one.turn_id: one for one in found if isinstance(one, Fact) and one.turn_id}
        self._records = {doc_of(record): record for record in _each_once([*found, *near])}
        self._besides: dict[int, tuple[NeighbourTurn, str]] = {}
        self._before: dict[int, int] = {}
        self._after: dict[int, int] = {}
        self.words: dict[int, str] = {}
        """Index terms of each document, a blank before and after each; for facts also the terms that ask for them."""
        self._added: dict[int, int] = {}
        """Number of those terms that only ask for the fact."""
        turns = [record for record in self._records.values() if isinstance(record, Turn)]
        memories = [record for record in self._records.values() if isinstance(record, Entry)]
        called_off = {doc_of(one): "" for one in memories if one.metadata.get(OUTDATED)}
        self._outdated = {**outdated_turns(store, turns), **called_off}
        around = store.around(turns, REACH, scope.persona_id, search.without)
        for turn, talk in zip(turns, around, strict=True):
            self._lay_out(turn, talk)
        for doc, record in self._records.items():
            if not isinstance(record, Turn):
                self._put(doc, index_words(record), record)
        self._cosines = self._with_facts(alike) if alike else {}

    def _put(self, doc: int, words: str, record: Record | None) -> None:
        more = asking_words(record)
        self.words[doc], self._added[doc] = f" {words} {more}", more.count(" ")

    def _with_facts(self, alike: _SemanticResults) -> Mapping[int, float]:
        """The cosine of each document; a fact has the cosine of the turn from which it was learned."""
        facts = {doc: record for doc, record in self._records.items() if isinstance(record, Fact)}
        turns = {doc: self._store.turn(fact.turn_id) for doc, fact in facts.items() if fact.turn_id}
        sources = {doc: turn.seq for doc, turn in turns.items() if turn is not None}
        cosines = alike.cosines([*(doc for doc in self.words if doc > -FACTS), *sources.values()])
        return {**cosines, **{doc: cosines[seq] for doc, seq in sources.items() if seq in cosines}}

    def _lay_out(self, turn: Turn, talk: Sequence[NeighbourTurn]) -> None:
        session = f"{turn.user_id}/{turn.session_id}" if turn.session_id is not None else f"{turn.seq}"
        for beside in talk:
            self._besides[beside.seq] = (beside, session)
            self._put(beside.seq, beside.words, self._learned.get(beside.id))
        for earlier, later in pairwise(talk):
            self._after[earlier.seq] = later.seq
            self._before[later.seq] = earlier.seq

    def speakers(self) -> set[str]:
        """The folded first names of all speakers."""
        return {name for beside, _ in self._besides.values() if (name := first_name(beside.speaker))}

    def candidates(
        self, asked: AnalysedQuery, time_words: frozenset[str], forms: QueryExpansion
    ) -> list[RankingCandidate]:
        """All records as ranking candidates."""
        wanted = [(word, f" {form} ") for word in asked.words for form in (word, *forms.variants(word))]
        times = time_words if asked.asks_time else frozenset[str]()
        return [self._candidate(doc, text, wanted, times, asked.names) for doc, text in self.words.items()]

    def _candidate(
        self, doc: int, text: str, wanted: Sequence[tuple[str, str]], time_words: frozenset[str], names: frozenset[str]
    ) -> RankingCandidate:
        beside, session = self._besides.get(doc, (None, f"memory {doc}"))
        cosine = self._cosines.get(doc)
        return RankingCandidate(
            doc=doc,
            times=_times(text, wanted),
            length=max(text.count(" ") - 1 - self._added.get(doc, 0), 0),
            at=beside.at if beside else None,
            day=datetime.fromtimestamp(beside.at, self._zone).date() if beside else None,
            speaker=first_name(beside.speaker if beside else self._records[doc].speaker),
            by_user=role_of(self._records[doc]) == "user" if beside is None else beside.role == "user",
            names_asked=bool(names) and not names.isdisjoint(words_of(text)),
            has_time=bool(time_words) and not time_words.isdisjoint(words_of(text)),
            session=session,
            before=self._before.get(doc),
            after=self._after.get(doc),
            cosine=None if cosine is None else cosine * self._tells(doc),
        )

    def _tells(self, doc: int) -> float:
        """The share of its similarity that counts of a document."""
        record = self._records.get(doc)
        if not isinstance(record, Turn) or not record.text:
            return 1.0
        short = record.text.count(" ") < SHORT_QUESTION
        asks = short and languages.for_text(record.lang, record.text).only_asks(record.text)
        nobody = record.role != "user" and not first_name(record.speaker)
        return (ASKING if asks else 1.0) * (OF_ASSISTANT if nobody else 1.0)

    def outdated(self, doc: int) -> bool:
        """Whether the document's statement about its speaker holds no more."""
        return doc in self._outdated

    def called_off_by(self, doc: int) -> Turn | None:
        """The turn that called off, moved or denied the document's statement: it answers in its place. Else None."""
        changes = self._store.fact_store.changes([self._outdated[doc]]) if self._outdated.get(doc) else []
        ids = [one.turn_id for one in changes if one.what == "ended" and one.turn_id is not None]
        turn = self._store.turn(ids[-1]) if ids else None
        if turn is None or not turn.text:
            return None
        ended = self._store.fact_store.of_turns([turn.id]) if outdated_turns(self._store, [turn]) else []
        changes = self._store.fact_store.changes([fact.id for fact in ended])
        if any(one.what == "corrected" for one in changes):
            return None  # what the correction made of the statement answers
        return turn if all(fact.valid_from == fact.valid_until for fact in ended) else None  # a denial never held

    def taught(self, record: Record) -> bool:
        """Whether a turn is, word by word, a fact that was learned from it: "no walnuts for my sister"."""
        fact = self._learned.get(record.id)
        return fact is not None and languages.fold(fact.text) == languages.fold(record.text)

    def record(self, doc: int) -> Record | None:
        """The record of a candidate; None where it is only a neighbour."""
        if doc in self._records or self._closed:
            return self._records.get(doc)
        return self._store.turn(self._besides[doc][0].id)


def _times(text: str, wanted: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The frequency of each word, in any of its forms, in a text."""
    times: dict[str, int] = {}
    for word, padded in wanted:
        if found := text.count(padded):
            times[word] = times.get(word, 0) + found
    return times


def outdated_turns(store: Store, turns: Sequence[Turn]) -> dict[int, str]:
    """The ``seq`` of the turns whose facts have all been superseded since, each with the last of these facts.

    What a turn itself says to be over was never told by it: "no more cider in the evening" holds.
    """
    seqs = {turn.id: turn.seq for turn in turns}
    facts = store.fact_store.of_turns(list(seqs)) if seqs else []
    denied = [fact.id for fact in facts if _never_held(fact)]
    called_off = {change.fact_id for change in store.fact_store.changes(denied)} if denied else set()
    facts = [fact for fact in facts if not _never_held(fact) or fact.id in called_off]
    holding = {fact.turn_id for fact in facts if fact.status != "superseded"}
    return {seqs[fact.turn_id]: fact.id for fact in facts if fact.turn_id and fact.turn_id not in holding}


def _never_held(fact: Fact) -> bool:
    """Whether a fact was taken back when it was told; by another turn where it has changes."""
    return fact.status == "superseded" and fact.superseded_by is None and fact.valid_until == fact.valid_from


def _speakers_in(records: Sequence[Record]) -> set[str]:
    return {name for one in records if isinstance(one, Turn) and (name := first_name(one.speaker))}


def asks_of_asker(question: Question) -> bool:
    """Whether it is known who asks, and they ask about themselves: "my", "I"."""
    if question.asker is None:
        return False
    alike = {word: [f" {word} "] for word in question.content_words}
    return Ownership(question.text, question.spoken, alike).asks_of_speaker


def names_asker(record: Record | Hit, question: Question) -> bool:
    """Whether another person names who asks: "nora takes size 38", for Nora's own question."""
    name, speaker = first_name(question.asker), record.speaker if not isinstance(record, Entry) else None
    return name is not None and speaker != question.asker and name in languages.fold(record.text)


def is_another_persons(
    record: Record | Hit, asker: str | None, ownership: Ownership, text: str, spoken: Language
) -> bool:
    """Whether it is known that another than who asks said it, of themselves: "my size is 45"."""
    speaker = None if isinstance(record, Entry) else record.speaker
    return None not in (speaker, asker) and speaker != asker and ownership.is_of_its_speaker(text, spoken)


def tells_of_another(hit: Hit, question: Question, ownership: Ownership) -> bool:
    """Whether a hit tells of somebody else what the question asks about its speaker."""
    text, spoken = languages.beginning(hit.text), languages.for_text(hit.lang, hit.text)
    if is_another_persons(hit, question.asker, ownership, text, spoken):
        return True
    return not names_asker(hit, question) and ownership.is_all_of_another(text, spoken)


class _AnswerClassifier:
    """Decides whether a record answers the question, and states why it was found."""

    def __init__(
        self, question: Question, asked: AnalysedQuery, forms: QueryExpansion, near: Mapping[int, float]
    ) -> None:
        """``near``: the documents that the search by meaning found, with their cosines."""
        self._question, self._asked, self._near = question, asked, near
        alike = question.spoken.alike
        self._alike = {word: [f" {other} " for other in alike(word) | forms.variants(word)] for word in asked.words}
        self._forms = forms
        spoken, named = question.spoken, (word for span in asked.dates for word in span.words)
        self._date_words = {index for word in named for index in spoken.words(word)}
        self._needed = question.spoken.asks_for(question.text)
        self._names_words = len(asked.words) == 1 or question.names_words
        self._ownership = Ownership(question.text, spoken, self._alike)

    @property
    def asks_enough(self) -> bool:
        """Whether the question has enough words for a text that shares most of them to be about the same."""
        return len(self._alike) >= HELD

    def holds_all(self, candidate: RankingCandidate) -> bool:
        """Whether it holds what is looked for itself, in any of its forms: no neighbour, and no synonym.

        Only where nothing but words is given ("Berlin"), or one word: to a whole question a neighbour often is the
        answer, and a long page holds any words (with every question BEAM's recall@10 fell from 55.9 to 54.5).
        """
        return self._names_words and candidate.times.keys() >= self._alike.keys()

    def covered(self, text: str) -> list[str]:
        """The words of the question that a text holds, itself or as a synonym."""
        return [word for word in self._alike if self._is_covered(word, text)]

    def _is_covered(self, word: str, text: str) -> bool:
        return any(other in text for other in self._alike[word])

    def may_answer(self, candidate: RankingCandidate, text: str) -> bool:
        """Whether a person, the one asked about or who names that one, said everything that is asked for; the sentence
        type is checked later."""
        if not (candidate.by_user or candidate.speaker):
            return False
        is_of_other = self._asked.speaker is not None and candidate.speaker not in (None, self._asked.speaker)
        if is_of_other and self._asked.names.isdisjoint(words_of(text)):
            return False
        wanted = set(self._alike)
        if any(span.short and span.holds(candidate.day) for span in self._asked.dates):
            wanted -= self._date_words
        return all(self._is_covered(word, text) for word in wanted) and self._fits(text)

    def _fits(self, text: str) -> bool:
        return self._needed is None or not self._needed.isdisjoint(words_of(text))

    def tells(self, record: Record, taught: bool) -> bool:
        """Whether the record is a statement; for a question about the hearer, not one about its speaker. ``taught``: it
        is a fact, word by word."""
        if self._question.asks_hearer and is_of_speaker(record):
            return False
        text, lang = languages.beginning(record.text), languages.for_text(record.lang, record.text)
        if not taught and isinstance(record, Turn) and not _states(text, lang):
            return False
        if is_another_persons(record, self._question.asker, self._ownership, text, lang):
            return False
        named = names_asker(record, self._question)
        is_of_another = not named and self._ownership.is_of_another(text, lang)
        return not (is_of_another or self._ownership.is_of_another_thing(text, lang))

    def is_of_another(self, hit: Hit) -> bool:
        """Whether a person tells of somebody else what the question asks about its speaker."""
        return hit.role == "user" and tells_of_another(hit, self._question, self._ownership)

    def is_itself(self, record: Record) -> bool:
        """Whether the record is the question itself, as a neighbour of a hit."""
        return isinstance(record, Turn) and self._question.is_itself(record)

    def _named(self, word: str, text: str) -> str:
        """A word of the question, and the form in which a text holds it."""
        held = [] if f" {word} " in text else [one for one in sorted(self._forms.variants(word)) if f" {one} " in text]
        return f"{word} ({'near to' if held[0] in self._forms.near else 'as'} {held[0]})" if held else word

    def reason(self, doc: int, text: str) -> str:
        """The reason, in words, why a document was found."""
        covered = [self._named(word, text) for word in self.covered(text)]
        if len(covered) == len(self._alike):
            return f"has all that was asked for: {', '.join(covered)}"
        held = f"has some of it: {', '.join(covered)}" if covered else ""
        if doc in self._near:
            alike = f"means something alike ({self._near[doc]:.2f})"
            return f"{held}; {alike}" if held else alike
        return held or "stands beside what has some of it"


def _hits(
    judge: _AnswerClassifier, table: _CandidateTable, ranked: Sequence[RankedCandidate], k: int, known: bool
) -> list[Hit]:
    """Hits that answer first; for a question about a known topic (``known``), the best are sure too."""
    best = max((one.score for one in ranked), default=0.0)
    repeated = _repeated(ranked, table)
    order = sorted(
        ranked,
        key=lambda one: (
            not _may_answer(judge, table, one),
            not judge.holds_all(one.candidate),
            one.candidate.doc in repeated,
        ),
    )
    answers: list[Hit] = []
    others: list[Hit] = []
    for one in order:
        text = table.words[one.candidate.doc]
        candidate, holds_all = _may_answer(judge, table, one), judge.holds_all(one.candidate)
        if not candidate and not holds_all and len(answers) + len(others) >= k:
            break
        record = table.record(one.candidate.doc)
        if record is None or not record.text or judge.is_itself(record):
            continue
        answers_it = candidate and judge.tells(record, table.taught(record))
        reason, outdated = judge.reason(one.candidate.doc, text), table.outdated(one.candidate.doc)
        tier = _tier(record, answers_it, holds_all)
        tier = _Tier.REPEATS if not tier and one.candidate.doc in repeated else tier
        hit = hit_of(record, one.score + TIER * tier, answers_it, reason, outdated)
        (answers if hit.answers else others).append(hit)
    others.sort(key=lambda hit: -hit.score)
    return _with_sure([*answers, *others][:k], judge, known, best if answers else None)


def _repeated(ranked: Sequence[RankedCandidate], table: _CandidateTable) -> set[int]:
    """The numbers of those that say word by word what a better one of the same speaker says."""
    best: dict[tuple[str | None, bool, str], int] = {}
    for one in ranked:
        best.setdefault(_said(one.candidate, table), one.candidate.doc)
    return {one.candidate.doc for one in ranked} - set(best.values())


def _said(candidate: RankingCandidate, table: _CandidateTable) -> tuple[str | None, bool, str]:
    return candidate.speaker, candidate.by_user, table.words[candidate.doc]


class _Tier(IntEnum):
    """What comes before what, whatever the scores: a score may come from neighbours alone."""

    REPEATS = -1
    """Lacks a word, and says what another hit says word by word."""
    BESIDE = 0
    """Lacks a word of the question, or all of them."""
    ASKS = 1
    """Holds every word itself, and only asks."""
    HOLDS = 2
    """Holds every word itself, and says something."""
    ANSWERS = 3


def _tier(record: Record, answers: bool, holds_all: bool) -> _Tier:
    if answers:
        return _Tier.ANSWERS
    if not holds_all:
        return _Tier.BESIDE
    return _Tier.ASKS if languages.for_text(record.lang, record.text).only_asks(record.text) else _Tier.HOLDS


def _may_answer(judge: _AnswerClassifier, table: _CandidateTable, one: RankedCandidate) -> bool:
    doc = one.candidate.doc
    return not table.outdated(doc) and judge.may_answer(one.candidate, table.words[doc])


def _merged(called_off: Sequence[Hit], hits: Sequence[Hit]) -> list[Hit]:
    """The hits with these among them, each once: those that answer first, the newest of them first."""
    ids = {one.id for one in called_off}
    others = [hit for hit in hits if hit.id not in ids]
    answers = sorted((*called_off, *(hit for hit in others if hit.answers)), key=lambda hit: -hit.at)
    return [*answers, *(hit for hit in others if not hit.answers)]


def _called_off(judge: _AnswerClassifier, table: _CandidateTable, ranked: Sequence[RankedCandidate]) -> list[Hit]:
    """Hits of the statements that called off another which would answer: they answer in its place."""
    found: dict[str, Hit] = {}
    for one in ranked:
        doc = one.candidate.doc
        if table.outdated(doc) and judge.may_answer(one.candidate, table.words[doc]):
            by = table.called_off_by(doc)
            if by is not None and by.id not in found:
                found[by.id] = hit_of(by, one.score + TIER * _Tier.ANSWERS, True, CALLED_OFF)
    return list(found.values())


def _states(text: str, spoken: Language) -> bool:
    """Whether a text is a statement, or corrects one: "no, the plumber comes on Monday"."""
    if spoken.is_statement(text):
        return True
    corrected = correction_in(text, spoken)
    return corrected is not None and spoken.is_statement(corrected.text)


def _with_sure(hits: Sequence[Hit], judge: _AnswerClassifier, known: bool, best: float | None) -> list[Hit]:
    """The hits with those marked sure that qualify. ``best``: the best score where a hit answers; None where none
    does."""
    nearly = best is not None and judge.asks_enough
    near = [known or (nearly and hit.score >= NEAR * (best or 0.0)) for hit in hits]
    sure = [
        hit.answers or (place < COMPANIONS and near[place] and _tells(hit) and not judge.is_of_another(hit))
        for place, hit in enumerate(hits)
    ]
    return [replace(hit, sure=one) for hit, one in zip(hits, sure, strict=True)]


def _tells(hit: Hit) -> bool:
    """Whether a hit is a statement that holds: no question, and not called off or corrected since."""
    return not hit.outdated and not languages.for_text(hit.lang, hit.text).only_asks(hit.text)
