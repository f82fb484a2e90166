"""Query expansion: other index terms for a question's words: a stem of another language, a part of a compound, a near
word.

A turn is stemmed in its own language and a question in the asker's, and an index term is known by its hash alone
(docs/recall.md, "Languages").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ovos_persona_memory.records import Hit, Scope
from ovos_persona_memory.stores import ExcludedTurn, Statistics, Store, words_of
from ovos_persona_memory.text import Language, languages

COMPOUNDING = frozenset({"da", "de", "nl", "no", "nb", "nn", "sv", "is", "fi", "hu"})
"""Languages that write compounds as one word."""
PART, COMPOUND = 4, 8
"""Letters at least of a part, and of a compound."""
LETTERS = 3
"""Letters at least that are looked for inside of words."""
ENDING = 2
"""Letters at most that the stemmer may have taken off a word that ends with a part: "dishwash" of "dishwasher"."""
REST = 3
"""Letters at least that remain of a compound beside a part: "raum" is no part of "traum"."""
LOOKED_THROUGH, LOOKED_THROUGH_FOR_ONE = 2000, 300
"""Newest documents that are scanned where no word of the question is known, and where only some are unknown."""
WHOLE = 1
MOST = 8
"""Index terms at most that stand for one word."""


@dataclass(frozen=True)
class QueryExpansion:
    """The index terms to search for besides the question's own."""

    others: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Index term of the question mapped to terms that stand for it."""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Index term of an unknown compound mapped to the parts that are searched in its place."""
    near: frozenset[str] = frozenset()
    """Those of ``others`` that only share the beginning or end of the word: no hit is sure by them."""
    asked_for: frozenset[str] = field(default=frozenset(), compare=False)
    """Terms whose statistics were requested from the store to find these."""
    known: Statistics | None = field(default=None, compare=False)
    """The statistics of those terms; None where the store was not asked."""

    def applied(self, words: Sequence[str]) -> tuple[str, ...]:
        """The question's terms, compounds split into their parts."""
        return tuple(dict.fromkeys(part for word in words for part in self.parts.get(word, (word,))))

    def searched(self, words: Sequence[str]) -> list[str]:
        """All index terms to search for."""
        own = self.applied(words)
        return list(dict.fromkeys([*own, *(other for word in own for other in sorted(self.variants(word)))]))

    def variants(self, word: str) -> frozenset[str]:
        """The terms that stand for a term, without itself."""
        return self.others.get(word, frozenset())

    def counted(self, known: Statistics) -> Statistics:
        """The statistics with the document frequency of each term over all its forms; ``known`` holds those of all
        forms."""
        if not self.others:
            return known
        frequency = dict(known.frequency)
        for word, others in self.others.items():
            found = sum(known.frequency.get(one, 0) for one in {word, *others})
            frequency[word] = min(found, known.documents)
        return replace(known, frequency={word: n for word, n in frequency.items() if n})

    def statistics(self, words: Sequence[str]) -> Statistics | None:
        """The store's statistics of these terms; None where it was not asked for all of them."""
        return self.known if self.asked_for.issuperset(words) else None

    def unsure(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits, none of them sure where terms were only near, unless a hit holds a whole part of a compound."""
        if not self.near:
            return list(hits)
        whole = {other for others in self.others.values() for other in others} - self.near
        return [hit if whole & _held(hit) else replace(hit, sure=False, answers=False) for hit in hits]


NONE = QueryExpansion()


def _held(hit: Hit) -> set[str]:
    return set(languages.for_text(hit.lang, hit.text).words(hit.text))


@dataclass(frozen=True)
class _QueryTerm:
    """A word of the question: folded, and as an index term."""

    bare: str
    word: str


def expand_query(  # more than five: the question, and the scope of the search
    store: Store,
    question: Sequence[str],
    spoken: Language,
    scope: Scope,
    kinds: frozenset[str],
    without: Sequence[ExcludedTurn] = (),
) -> QueryExpansion:
    """The expansion of a question for the index of the scope's user; empty where everybody's records are in scope.

    ``question``: its content words, folded. ``without``: turns whose words do not count as known: the question is in
    the log before it is answered.
    """
    if scope.user_id is None:
        return NONE
    user_id = scope.user_id
    asked = [_QueryTerm(bare, word) for bare in question for word in spoken.words(bare)[:1]]
    foreign = [one for one in without if languages.for_language(one.lang).primary != spoken.primary]
    abroad = _abroad(asked, spoken, store.languages(user_id, foreign))
    wanted = [one.word for one in asked] + [other for others in abroad.values() for other in others]
    wanted += [alike for one in asked for alike in spoken.alike(one.word)]
    counted = store.statistics(wanted, user_id, without)
    known = counted.frequency.keys()
    unknown = [one for one in asked if not known & {one.word, *abroad.get(one.word, ()), *spoken.alike(one.word)}]
    abroad = {word: here for word, others in abroad.items() if (here := others & known)}
    compounding = spoken.primary in COMPOUNDING
    parts = _parts(lambda words: store.statistics(words, user_id, without), unknown, spoken) if compounding else {}
    forms = QueryExpansion(abroad, parts, asked_for=frozenset(wanted), known=counted)
    left = [one for one in unknown if one.word not in parts and not spoken.uses_bigrams and len(one.bare) >= PART]
    some = len(unknown) < len(asked) or bool(parts)
    if not left or (some and not compounding):
        return forms
    texts = store.newest_words(scope, kinds, LOOKED_THROUGH_FOR_ONE if some else LOOKED_THROUGH, without)
    return _looked_up(left, _vocabulary(texts), forms, WHOLE if compounding else 0)


def _vocabulary(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in words_of(text)}


def expand_parts(  # more than five: the question, and the scope of the search
    store: Store,
    forms: QueryExpansion,
    question: Sequence[str],
    spoken: Language,
    scope: Scope,
    kinds: frozenset[str],
    without: Sequence[ExcludedTurn] = (),
) -> QueryExpansion:
    """The expansion and, where no word of a question is known, the terms that hold its words anywhere inside.

    For what is nothing but words, which may be parts of words: "struct". All documents are searched, not the newest
    alone; that takes 40 to 80 ms for 100,000 on SQLite.
    """
    asked = [_QueryTerm(bare, word) for bare in question for word in spoken.words(bare)[:1] if len(bare) >= LETTERS]
    counted = forms.known.frequency if forms.known else {}
    if spoken.uses_bigrams or forms.others or forms.parts or counted or scope.user_id is None or not asked:
        return forms
    texts = store.newest_words(scope, kinds, LOOKED_THROUGH_FOR_ONE, without, [_inside(one) for one in asked])
    vocabulary = _vocabulary(texts)
    found = {one.word: sorted(other for other in vocabulary if _is_inside(one, other))[:MOST] for one in asked}
    others = {word: frozenset(terms) for word, terms in found.items() if terms}
    return replace(forms, others=others, near=frozenset(term for terms in others.values() for term in terms))


def _inside(one: _QueryTerm) -> str:
    """The letters that a word with this one in it certainly holds, whatever endings were taken off."""
    return one.bare[: max(len(one.bare) - ENDING, LETTERS)]


def _abroad(asked: Iterable[_QueryTerm], spoken: Language, tags: Iterable[str]) -> dict[str, frozenset[str]]:
    """The index terms of each word in the other languages that are spoken here."""
    others = [tag for tag in tags if languages.for_language(tag).primary != spoken.primary]
    if not others or spoken.uses_bigrams:
        return {}
    found = {one.word: languages.forms(one.bare, spoken, others) - {one.word} for one in asked}
    return {word: forms for word, forms in found.items() if forms}


def _parts(
    counted: Callable[[Sequence[str]], Statistics], unknown: Sequence[_QueryTerm], spoken: Language
) -> dict[str, tuple[str, ...]]:
    """For each compound the two parts that are known here, or the known one, behind the word itself."""
    splits = {one.word: list(_splits(one.bare, spoken)) for one in unknown if len(one.bare) >= COMPOUND}
    candidates = [part for pairs in splits.values() for pair in pairs for part in pair]
    known = counted(candidates).frequency if candidates else {}
    found: dict[str, tuple[str, ...]] = {}
    for word, pairs in splits.items():
        both = [pair for pair in pairs if all(part in known for part in pair)]
        single = [part for pair in pairs for part in pair if part in known and len(part) > PART]
        if both:
            found[word] = max(both, key=lambda pair: min(map(len, pair)))
        elif single:
            found[word] = (word, max(single, key=len))
    return found


def _splits(bare: str, spoken: Language) -> Iterator[tuple[str, str]]:
    for place in range(PART, len(bare) - REST + 1):
        left, right = spoken.words(bare[:place]), spoken.words(bare[place:])
        if left and right and min(len(left[0]), len(right[0])) >= REST:
            yield left[0], right[0]


def _looked_up(
    left: Iterable[_QueryTerm], vocabulary: Iterable[str], forms: QueryExpansion, whole: int
) -> QueryExpansion:
    """The expansion and, for each word, the terms of a vocabulary that contain it, are contained in it, or begin like
    it.

    Terms of a grade <= ``whole`` count as the word itself.
    """
    found: dict[str, frozenset[str]] = {}
    near: set[str] = set()
    for one in left:
        graded = sorted((grade, other) for other in vocabulary if (grade := _grade(one, other)))
        best = [(grade, other) for grade, other in graded if grade == graded[0][0]][:MOST]
        if best:
            found[one.word] = frozenset(other for _, other in best)
            near.update(other for grade, other in best if grade > whole)
    return replace(forms, others={**forms.others, **found}, near=frozenset(near))


def _grade(asked: _QueryTerm, other: str) -> int:
    """1 (WHOLE): one word is a part of the other; 2: one begins or ends the other; 3: they begin alike; 0: no
    relation."""
    word = asked.word
    if len(other) < PART or len(asked.bare) < PART or (len(word) < PART and len(asked.bare) == PART):
        return 0
    longer, shorter = (word, other) if len(word) > len(other) else (other, word)
    rest = len(longer) - len(shorter)
    if rest and longer.startswith(shorter):
        return WHOLE if rest >= REST else 2
    if rest > 1 and longer.endswith(shorter):
        return WHOLE if rest >= REST else 2
    begins = max(PART + 1, len(longer) - 2)
    return 3 if len(shorter) > begins - 1 and longer[:begins] == shorter[:begins] else 0


def _is_inside(asked: _QueryTerm, other: str) -> bool:
    """Whether the letters stand in a word, all of them, or as many as a stemmer leaves at its end."""
    if asked.bare in other or (len(asked.word) >= LETTERS and asked.word in other):
        return True
    shortest = max(len(asked.bare) - ENDING, PART)
    return any(other.endswith(asked.bare[:end]) for end in range(shortest, len(asked.bare)))
